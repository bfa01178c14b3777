#!/usr/bin/env bash
# tools/test.sh FOLDER JOBS [CTEST_FLAG...]: every test of a build folder, or those that the flags choose. Each suite has its own
# limit (a TIMEOUT in its CMakeLists); all together have the one here.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 jobs=$2
shift 2
limit_s=3600  # ends a hang; on two idle cores all suites take some 6 minutes

# First report only: a sanitizer that stops at the first error keeps the test's own output readable.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

code=0
# ctest's own limit, since ctest also ends what its tests have started; `timeout` would end ctest alone. SECONDS counts from
# the start of this script. A time of day, which ctest misreads in zones of half hours: hence UTC.
export TZ=UTC0
ctest --test-dir "$folder" -j "$jobs" --output-on-failure --no-tests=error "$@" \
  --stop-time "$(date -d "+$limit_s seconds" '+%H:%M:%S')" || code=$?
if (( SECONDS >= limit_s )); then
  echo "test: not done after $limit_s s, the limit of all suites together" >&2
  (( code != 0 )) || code=124  # what was never started does not count as failed
fi
exit "$code"
