#!/usr/bin/env bash
# Prints the interpreter that imports torch, and says on stderr which was taken. python3 on PATH may be one without it;
# Debian's torch lives with Debian's own interpreter. LEEWAY_PYTHON_EXECUTABLE names the one to take: that one or none.
set -euo pipefail

candidates=(python3 /usr/bin/python3)
[[ -z ${LEEWAY_PYTHON_EXECUTABLE:-} ]] || candidates=("$LEEWAY_PYTHON_EXECUTABLE")
tried=()
for candidate in "${candidates[@]}"; do
  path=$(command -v "$candidate" || true)
  [[ -n $path ]] || continue
  if version=$("$path" -c 'import numpy, torch; print(torch.__version__)' 2>/dev/null); then
    echo "python: $path (torch $version)" >&2
    echo "$path"
    exit 0
  fi
  tried+=("$path")
done
if [[ -n ${LEEWAY_PYTHON_EXECUTABLE:-} ]]; then
  why=$([[ ${#tried[@]} -eq 0 ]] && echo "is no program" || echo "does not import torch and numpy")
  echo "python: LEEWAY_PYTHON_EXECUTABLE=$LEEWAY_PYTHON_EXECUTABLE $why; unset it to have one looked for" >&2
else
  echo "python: none of these imports torch and numpy: ${tried[*]:-none found}; install python3-torch and python3-numpy" >&2
fi
exit 1
