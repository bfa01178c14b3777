#!/usr/bin/env bash
# Prints the interpreter that imports torch, and says on stderr which was taken. python3 on PATH may be one without it;
# Debian's torch lives with Debian's own interpreter. LEEWAY_PYTHON_EXECUTABLE names one that is asked first.
set -euo pipefail

tried=()
for candidate in "${LEEWAY_PYTHON_EXECUTABLE:-}" python3 /usr/bin/python3; do
  [[ -n $candidate ]] || continue
  path=$(command -v "$candidate" || true)
  [[ -n $path ]] || continue
  if version=$("$path" -c 'import numpy, torch; print(torch.__version__)' 2>/dev/null); then
    echo "python: $path (torch $version)" >&2
    echo "$path"
    exit 0
  fi
  tried+=("$path")
done
echo "python: none of these imports torch and numpy: ${tried[*]:-none found}; install python3-torch and python3-numpy" >&2
exit 1
