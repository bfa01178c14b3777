#!/usr/bin/env bash
# tools/lint.sh FOLDER JOBS: the format of every source file, and clang-tidy on the .cc files that changed since the last
# commit on the main line (LINT=all: on all of them). FOLDER holds compile_commands.json.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 jobs=$2

mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.h' '*.cc')
echo "lint: format of ${#sources[@]} files"
clang-format --dry-run -Werror "${sources[@]}"

base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD~1 2>/dev/null || git rev-parse HEAD)
if [[ ${LINT:-changed} == all ]]; then
  mapfile -t tidied < <(git ls-files 'src/*.cc' 'apps/*.cc' 'bench/*.cc')
else
  mapfile -t tidied < <({ git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard; } |
    grep -E '^(src|apps|bench)/.*\.cc$' | sort -u || true)
fi
# (g++'s own warning flags in the compile commands are strangers to clang.)
# Tests are read by people and run by machines; clang-tidy has little to add, and gtest's macros cost it minutes.
mapfile -t tidied < <(printf '%s\n' "${tidied[@]}" | grep -vE '_test\.cc$|^$' || true)
echo "lint: clang-tidy on ${#tidied[@]} files"
[[ ${#tidied[@]} -eq 0 ]] || printf '%s\0' "${tidied[@]}" | xargs -0 -n 4 -P "$jobs" clang-tidy -p "$folder" --quiet --extra-arg=-Wno-unknown-warning-option
