#!/usr/bin/env python3
"""Runs suites again and again beside busy processes, and says which tests ever failed.

    test_repeat.py BUILD [--rounds 20] [--suites REGEX] [--jobs N] [--busy 2]

A test that depends on the speed of the machine, on the time or on its neighbours fails now and then; one run seldom shows it.
Every result is written to BUILD/test-repeat/results as it comes: a call that was stopped goes on there, as long as no file of
the tree has changed. A round that is complete is not run again. The output of what failed is kept beside it. Ends with 1 if
anything has failed in any round. The next call after the last round begins anew.
"""

import argparse
import collections
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
SUITES = r"^(cluster_.*|python_.*|leeway_process_test|soak|chaos)$"
# "  3/35 Test  #12: cluster_ctl ......   Passed   12.30 sec", or ***Failed, ***Timeout, ***Exception: SegFault
RESULT = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) \.*\s*(\**)(\S.*?)\s+[\d.]+ sec")
# The names of failed tests in the output of pytest and gtest, and the problems of the soak and of chaos.
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::\S+|\S+\.py)|^\[  FAILED  \] (\w+[./]\S+?)(?:,| \(|$)|^(bad: --seed \d+)", re.MULTILINE)
# It ends with the one that started it, whatever ends that.
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    for _ in range(100_000): pass"


class Results:
    """The results of rounds so far: round -> suite -> the tests that failed, none if it passed."""

    def __init__(self, folder, state):
        self._file, self._state = folder / "results", state
        self.rounds = collections.defaultdict(dict)
        if self._file.exists():
            for line in self._file.read_text().splitlines():
                known, number, suite, *failed = line.split("\t")
                if known == state:
                    self.rounds[int(number)][suite] = failed

    def add(self, number, suite, failed):
        self.rounds[number][suite] = failed
        with open(self._file, "a", encoding="utf-8") as file:
            print(self._state, number, suite, *failed, sep="\t", file=file)

    def clear(self):
        self._file.unlink(missing_ok=True)


def names_of_failures(suite, how, output):
    """The tests that failed; the suite itself if its output names none."""
    names = sorted({next(filter(None, match)).strip() for match in FAILED.findall(output)})
    return [f"{suite} {name}" for name in names] or [f"{suite} ({how})"]


def list_suites(build, regex):
    told = subprocess.run(["ctest", "--test-dir", str(build), "-N", "-R", regex], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s*Test\s+#\d+: (\S+)", told, re.MULTILINE)


def run_round(build, jobs, number, suites, results, folder):
    """Runs the suites once; every result is written down as soon as ctest tells of it."""
    regex = "^(" + "|".join(map(re.escape, suites)) + ")$"
    ctest = subprocess.Popen(["ctest", "--test-dir", str(build), "-j", str(jobs), "--output-on-failure", "-R", regex],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                             # A shell starts background commands with SIGINT ignored, and ctest would not hear it below.
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    failing, output = None, []

    def close():
        if failing:
            suite, how = failing
            text = "".join(output)
            (folder / f"{suite}.{number}.log").write_text(text)
            results.add(number, suite, names_of_failures(suite, how, text))
            print(f"round {number}: {suite} failed; its output is in {folder / f'{suite}.{number}.log'}", flush=True)

    try:
        for line in ctest.stdout:
            result = RESULT.match(line)
            if result:
                close()
                suite, stars, how = result.groups()
                failing, output = ((suite, how) if stars or how != "Passed" else None), []
                if not failing:
                    results.add(number, suite, [])
            elif failing and "% tests passed" in line:
                close()
                failing = None
            output.append(line)
        close()
        ctest.wait()
    finally:
        if ctest.poll() is None:
            os.killpg(ctest.pid, signal.SIGINT)  # to its tests too, which end what they have started
            ctest.wait()


def report(results, rounds, suites):
    """The number of failures, said."""
    counts = collections.Counter(name for known in results.rounds.values() for failed in known.values() for name in failed)
    done = sum(len(set(suites) & set(known)) for known in results.rounds.values())
    print(f"\ntest-repeat: {done} of {rounds * len(suites)} runs of {len(suites)} suites, {rounds} rounds")
    for name, count in counts.most_common():
        print(f"  failed {count} of {rounds}: {name}")
    if not counts:
        print("  nothing failed")
    return len(counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--suites", default=SUITES, help="a regex for ctest -R")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--busy", type=int, default=2, help="processes that compute beside the tests")
    args = parser.parse_args()
    suites = list_suites(args.build, args.suites)
    if not suites:
        print(f"test-repeat: no suite of {args.build} matches {args.suites}; ctest --test-dir {args.build} -N lists them", file=sys.stderr)
        return 2
    folder = args.build / "test-repeat"
    folder.mkdir(exist_ok=True)
    state = subprocess.run([str(TOOLS / "tree_state.sh")], capture_output=True, text=True, check=True).stdout.strip()
    results = Results(folder, state)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that it passes through `finally`
    busy = []
    try:
        for number in range(1, args.rounds + 1):
            left = [suite for suite in suites if suite not in results.rounds[number]]
            print(f"test-repeat: round {number} of {args.rounds}: {len(left)} suites to run, {len(suites) - len(left)} run before", flush=True)
            if not left:
                continue
            while len(busy) < args.busy:
                busy.append(subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())]))
            run_round(args.build, args.jobs, number, left, results, folder)
    except KeyboardInterrupt:
        report(results, args.rounds, suites)
        print("test-repeat: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    finally:
        for process in busy:
            process.kill()
            process.wait()
    failures = report(results, args.rounds, suites)
    if any(set(suites) - set(results.rounds[number]) for number in range(1, args.rounds + 1)):
        print("test-repeat: ctest has not run all suites; the same command goes on from here", file=sys.stderr)
        return 1
    results.clear()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
