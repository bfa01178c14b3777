#!/usr/bin/env bash
# tools/build.sh PRESET FOLDER JOBS [configure|train]: configures with a preset of CMakePresets.json into FOLDER, and builds
# everything; with `train` only the program and the Python binding; with `configure` nothing. Says how long the build will take.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 folder=$2 jobs=$3 what=${4:-build}

cached() {  # VARIABLE: its value in the cache of the folder
  sed -nE "s/^$1:[A-Z]+=(.*)/\1/p" "$folder/CMakeCache.txt" 2>/dev/null
}

# The lists of sources are globs that the build itself checks, so one configure is enough until a CMake file changes.
configure=()
if [[ ! -f $folder/build.ninja ]]; then
  configure=(--preset "$preset" -B "$folder")
  # The tests need gtest, which whoever trains need not have.
  [[ $what != train ]] || configure+=(-DLEEWAY_TESTS=OFF)
elif [[ ! $(cached CMAKE_HOME_DIRECTORY) -ef . || ! $(cached CMAKE_CACHEFILE_DIR) -ef $folder ]]; then
  # A folder that was copied with its tree would build the tree that it was copied from.
  echo "build: $folder was configured for $(cached CMAKE_HOME_DIRECTORY); configuring it anew for $PWD" >&2
  tests=$(cached LEEWAY_TESTS)
  configure=(--fresh --preset "$preset" -B "$folder")
  [[ $what != train || $tests == ON ]] || configure+=(-DLEEWAY_TESTS=OFF)
elif [[ $what != train && $(cached LEEWAY_TESTS) == OFF ]]; then
  configure=(-B "$folder" -DLEEWAY_TESTS=ON)
fi
if [[ ${#configure[@]} -gt 0 ]]; then
  if [[ $preset == release || $preset == dev ]]; then
    LEEWAY_PYTHON_EXECUTABLE=$(tools/find_python.sh)
    export LEEWAY_PYTHON_EXECUTABLE
  fi
  cmake "${configure[@]}"
fi
[[ $what != configure ]] || exit 0

targets=(all)
[[ $what != train ]] || targets=(leeway _leeway)
if [[ $preset == release ]]; then
  objects=0
  while read -r object; do
    [[ -f $folder/$object ]] || objects=$((objects + 1))
  done < <(ninja -C "$folder" -t inputs "${targets[@]}" | grep '\.o$')
  object_s=9  # of one processor: what an object of a unity build takes on average
  (( objects == 0 )) || echo "build: $objects objects to compile, about $(( objects * object_s / jobs + 5 )) s with $jobs jobs; less with ccache" >&2
fi
SECONDS=0
cmake --build "$folder" -j "$jobs" --target "${targets[@]}"
(( SECONDS < 10 )) || echo "build: took $SECONDS s" >&2
