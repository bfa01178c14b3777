#!/usr/bin/env bash
# tools/deps.sh [train|test|lint|PACKAGE]...: installs what is missing of the Debian packages for these purposes, and of the ones
# that are named. Without an argument: for all purposes. Does nothing when all are there, and says what it does when not.
set -euo pipefail

# To build the program and the Python binding.
build=(
  make g++ cmake ninja-build
  protobuf-compiler libprotobuf-dev libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libxxhash-dev libmuparser-dev libhwy-dev
  libeigen3-dev libopenblas-serial-dev zlib1g-dev libssl-dev pybind11-dev python3-dev libjs-chart.js
)
# To run scripts: torch with a BLAS that uses vector units, and the data and the plot of the main job.
run=(python3-torch python3-numpy python3-xxhash libopenblas0-pthread python3-matplotlib dataset-fashion-mnist)
# ccache and mold make the builds of one who changes the code fast; one build needs neither.
test=(libgtest-dev libgmock-dev python3-pytest git ccache mold)
lint=(git clang-format clang-tidy)

packages=()
[[ $# -gt 0 ]] || set -- train test lint
for word in "$@"; do
  case $word in
    train) packages+=("${build[@]}" "${run[@]}") ;;
    test) packages+=("${build[@]}" "${run[@]}" "${test[@]}") ;;
    lint) packages+=("${build[@]}" "${run[@]}" "${test[@]}" "${lint[@]}") ;;
    *) packages+=("$word") ;;
  esac
done

missing=()
while read -r package; do
  status=$(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done < <(printf '%s\n' "${packages[@]}" | sort -u)
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "deps: not root and no sudo; install them as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi

# How much there is to fetch, those included that the missing ones need; with what it takes to unpack them.
say_how_long() {
  local bytes
  bytes=$(apt-get install --print-uris --yes -qq --no-install-recommends "${missing[@]}" 2>/dev/null | awk '{ sum += $3 } END { printf "%d", sum }') || return 0
  (( bytes > 0 )) || return 0
  echo "deps: $(( bytes / 1000000 )) MB to fetch: about $(( (bytes / 1000000) * (100 + 60) / 1000 + 5 )) s at 10 MB/s, with the unpacking" >&2
}

install() {
  say_how_long
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"
}

echo "deps: installing ${#missing[@]} missing Debian packages: ${missing[*]}" >&2
# The package lists of a fresh machine are empty, those of an old one out of date: fetch them when the first try fails.
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1 || ! install; then
  echo "deps: fetching the package lists" >&2
  "${as_root[@]}" apt-get update
  install
fi
