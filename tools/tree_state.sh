#!/usr/bin/env bash
# Prints a hash of all that is built, tested and looked at here: the same for the same files, whatever the commit is called.
set -euo pipefail
cd "$(dirname "$0")/.."
find CMakeLists.txt CMakePresets.json Makefile README.md .clang-format .clang-tidy docs include src apps bench examples python tests tools cmake scenarios \
  -name __pycache__ -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16
