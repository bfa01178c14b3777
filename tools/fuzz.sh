#!/usr/bin/env bash
# tools/fuzz.sh FOLDER RUNS [TARGET...]: gives RUNS inputs to each libFuzzer program of a build folder (all of tests/fuzz, or
# the named ones), one program after another, each on a scratch copy of its corpus. Prints a row for each, and stops at the
# first finding with the input and the line that replays it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 runs=$2
shift 2

# The longest input of each: room for what the kept corpus has, and short enough for thousands of inputs a second.
declare -A bytes_max=([formula]=256 [frames]=512 [greeting]=512 [job_file]=1024 [job_record]=4096 [manifest]=2048 [messages]=512 [records]=2048 [rule]=512
                     [scenario_file]=2048 [scheduler_log]=1024 [shared_notes]=512 [spec]=256)
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || mapfile -t targets < <(printf '%s\n' "${!bytes_max[@]}" | sort)

# An input may take 10 s and the whole program 1 GiB. Most of the time goes into the traces of allocations, which a replay
# has in full; leaks are looked for by libFuzzer after each input that allocates more than it frees.
limits=(-timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=256)
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=2:quarantine_size_mb=16:detect_stack_use_after_return=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

row() { printf '%-14s %12s %10s %8s %9s %9s %8s %9s\n' "$@"; }
figure() { sed -nE "s/^stat::$1: +//p" "$2"; }

row target runs exec/s seconds coverage features new 'peak MB'
for target in "${targets[@]}"; do
  [[ -v bytes_max[$target] ]] || { echo "fuzz: unknown target \"$target\"; known: ${!bytes_max[*]}" >&2; exit 2; }
  program=$folder/tests/fuzz/leeway_fuzz_$target scratch=$folder/fuzz/$target
  rm -rf "$scratch"
  mkdir -p "$scratch/found"
  cp -r "tests/fuzz/corpus/$target" "$scratch/corpus"
  began=$SECONDS code=0
  "$program" "${limits[@]}" -runs="$runs" -max_len="${bytes_max[$target]}" -reload=0 -print_final_stats=1 \
    -artifact_prefix="$scratch/found/" "$scratch/corpus" >"$scratch/log" 2>&1 || code=$?
  if (( code != 0 )); then
    found=$(ls -t "$scratch"/found/{crash,leak,oom,timeout}-* 2>/dev/null | head -n 1 || true)
    tail -n 60 "$scratch/log" >&2
    echo "fuzz: $target failed with $code; all it said is in $scratch/log" >&2
    [[ -z $found ]] || echo "fuzz: the input is $found; see it again with: $program $found" >&2
    exit 1
  fi
  last=$(grep -E '^#[0-9]+.*cov: ' "$scratch/log" | tail -n 1)
  row "$target" "$(figure number_of_executed_units "$scratch/log")" "$(figure average_exec_per_sec "$scratch/log")" \
    $((SECONDS - began)) "$(sed -E 's/.* cov: ([0-9]+).*/\1/' <<<"$last")" "$(sed -E 's/.* ft: ([0-9]+).*/\1/' <<<"$last")" \
    "$(figure new_units_added "$scratch/log")" "$(figure peak_rss_mb "$scratch/log")"
done
