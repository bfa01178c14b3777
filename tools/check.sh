#!/usr/bin/env bash
# tools/check.sh FOLDER PART...: runs `make PART` for every part that has not passed yet with these very files, and goes on where
# it was stopped. FOLDER/check/PART holds the state of the files (tools/tree_state.sh) with which the part last passed.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1/check
shift
mkdir -p "$folder"
# How much a part does is given by these (make check SEEDS=500): a smaller run does not stand for a larger one.
# make passes what it was given on to the environment.
amounts="${SEEDS-} ${RUNS-} ${LINT-} ${ARGS-} ${SOAK_SECONDS-} ${FROM-}"
state="$(tools/tree_state.sh) $amounts"
for part in "$@"; do
  if [[ $(cat "$folder/$part" 2>/dev/null) == "$state" ]]; then
    echo "check: $part passed before with these files (remove $folder/$part to run it again)"
    continue
  fi
  echo "check: $part"
  SECONDS=0
  make --no-print-directory "$part"
  echo "check: $part passed in $SECONDS s"
  # A part that was run while someone changed a file says nothing of the files as they are now.
  [[ "$(tools/tree_state.sh) $amounts" != "$state" ]] || echo "$state" >"$folder/$part"
done
