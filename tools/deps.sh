#!/usr/bin/env bash
# tools/deps.sh [PACKAGE...]: installs what is missing of the Debian packages that Leeway is built, tested and run with, and
# of the ones that are named. Does nothing when all are there, and says what it does when not.
set -euo pipefail

packages=(
  # to build
  make g++ cmake ninja-build ccache mold
  protobuf-compiler libprotobuf-dev libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libxxhash-dev libmuparser-dev libhwy-dev
  libeigen3-dev libopenblas-serial-dev zlib1g-dev libssl-dev
  # to test and to lint
  libgtest-dev libgmock-dev python3-pytest git clang-format clang-tidy
  # Python: the binding, torch with a BLAS that uses vector units, the data and the plot of the main job
  pybind11-dev python3-dev python3-torch python3-numpy python3-xxhash libopenblas0-pthread python3-matplotlib dataset-fashion-mnist
  "$@"
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

echo "deps: installing ${#missing[@]} missing Debian packages: ${missing[*]}" >&2
as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "deps: not root and no sudo; install them as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi

install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"
}

# The package lists of a fresh machine are empty, those of an old one out of date: fetch them when the first try fails.
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1 || ! install; then
  echo "deps: fetching the package lists" >&2
  "${as_root[@]}" apt-get update
  install
fi
