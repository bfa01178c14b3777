#!/usr/bin/env bash
# tools/build.sh PRESET FOLDER JOBS [configure]: configures with a preset of CMakePresets.json into FOLDER, and builds
# unless told only to configure.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 folder=$2 jobs=$3 what=${4:-build}

# The lists of sources are globs that the build itself checks, so one configure is enough until a CMake file changes.
if [[ ! -f $folder/build.ninja ]]; then
  if [[ $preset == release || $preset == dev ]]; then
    LEEWAY_PYTHON_EXECUTABLE=$(tools/find_python.sh)
    export LEEWAY_PYTHON_EXECUTABLE
  fi
  cmake --preset "$preset" -B "$folder"
fi
[[ $what == configure ]] || cmake --build "$folder" -j "$jobs"
