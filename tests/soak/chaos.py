"""Chaos: real jobs with random faults, and books that tell of every push whether it counted once.

    chaos.py [--runs 150] [--from 1] [--jobs 2] [--json FILE]      many runs, one for each seed
    chaos.py --seed N                                              one of them again

From its seed a run draws the model, the number of workers and servers, checkpoints, restarts, what happens when a server dies,
a pool of batches or none, and one to four faults: kills of one or two processes at once, while the job gathers, trains, writes
a checkpoint or ends; a process that is stopped for a while; SIGTERM of the launcher, after which the job goes on with --resume.
(When exactly a fault comes depends on the machine.) Asked for is: no push counted twice, no acknowledged push missing that was
not reported as lost, no run that goes on for 240 s after its last fault, nothing left behind, no exit code without a reason.
`make chaos` runs it. Runs that are done are kept in the build folder: one that was stopped goes on with those that are not.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(Path(__file__).resolve().parent)]

from chaos_books import anyone_finished, audit, claims  # noqa: E402: found by the line above
from cli_process import Leeway  # noqa: E402
from job import BUILD  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "bookkeeper.py"
MODELS = ["bsp", "ssp:2", "asp"]
LIMIT_S = float(os.environ.get("CHAOS_LIMIT_S", 240))  # for a job to go on, or to end, after a fault
EXPEL_S, GRACE_S = 3, 15
CELLS, BLOCKS = 2048, 2  # a block holds a cell for every push; of each table
UNITS, PAUSE_S = 60, 0.02  # of each worker
LEGS_MAX = 6


@dataclass
class Fault:
    """The faults for one job, and their times."""

    when: str  # gather, train, checkpoint, end
    at: float  # seconds after the start or the end of the first worker; the share of all pushes that are made
    kills: list = field(default_factory=list)  # "worker 1", "server 0", "scheduler"
    stops: str = ""  # one that stands still
    for_s: float = 0.0
    term: bool = False  # SIGTERM of the launcher

    def text(self):
        what = "+".join(self.kills) and "kill " + "+".join(self.kills)
        what = what or (self.stops and f"stop {self.stops} {self.for_s:.1f} s") or "SIGTERM"
        return f"{what} ({self.when} {self.at:.2f})"


class Plan:
    """All that a seed decides."""

    def __init__(self, seed, model=None):
        lots = random.Random(f"chaos {seed}")
        self.seed = seed
        self.sync = lots.choice(MODELS)
        self.sync = model or self.sync
        self.workers, self.servers = lots.randint(2, 4), lots.randint(1, 3)
        self.every = lots.choice([0, 5, 10, 25])
        self.restarts = lots.choice([0, 2, 8])
        self.on_server_loss = lots.choice(["patch", "patch", "rollback", "fail"])
        self.pool, self.barrier = lots.random() < 0.4, lots.random() < 0.5
        # A worker that waits at a barrier pushes nothing, and with a pool other workers may still have to push.
        self.barrier = self.barrier and (not self.pool or self.sync == "asp")
        self.faults = sorted((self._fault(lots) for _ in range(lots.randint(1, 4))),
                             key=lambda fault: (["gather", "train", "checkpoint", "end"].index(fault.when), fault.at))

    def _someone(self, lots):
        role = lots.choice(["worker", "server", "scheduler"])
        count = {"worker": self.workers, "server": self.servers, "scheduler": 0}[role]
        return f"{role} {lots.randrange(count)}" if count else role

    def _fault(self, lots):
        when = lots.choice(["gather", "train", "train", "train", "checkpoint", "end"])
        at = {"gather": lots.uniform(0, 1), "end": lots.uniform(0, 0.2)}.get(when, lots.uniform(0.05, 0.8))
        kind = lots.choice(["kill", "kill", "kill", "two", "two", "stop", "term"])
        if kind == "stop":
            return Fault(when, at, stops=self._someone(lots), for_s=lots.choice([0.5, EXPEL_S / 2, EXPEL_S + 2]))
        if kind == "term":
            return Fault(when, at, term=True)
        return Fault(when, at, kills=sorted({self._someone(lots) for _ in range(2 if kind == "two" else 1)}))

    def text(self):
        return (f"{self.sync} {self.workers}w {self.servers}s every {self.every} restarts {self.restarts} "
                f"{self.on_server_loss}{' pool' if self.pool else ''}{' barrier' if self.barrier else ''}: "
                + "; ".join(fault.text() for fault in self.faults))


class Job(Leeway):
    """One leg of a run: the job from its start, or from a checkpoint, to its end."""

    def __init__(self, folder, plan, resume):
        self.summary_file = folder / "summary.json"
        self.summary_file.unlink(missing_ok=True)
        for path in folder.glob("final.*"):
            path.unlink()
        every = ["--checkpoint-every", plan.every] if plan.every else []
        units = UNITS * plan.workers if plan.pool else UNITS
        super().__init__(folder, "run", "-w", plan.workers, "-s", plan.servers, "--sync", plan.sync, "--block-bytes",
                         4 * CELLS, "--restarts", plan.restarts, "--on-worker-loss", "shrink", "--on-server-loss", plan.on_server_loss, "--expel-after",
                         f"{EXPEL_S}s", "--grace", f"{GRACE_S}s", "--checkpoint-dir", folder / "checkpoints", *every,
                         *(["--resume", folder / "checkpoints"] if resume else []), "--summary-json", self.summary_file,
                         "--", sys.executable, PROGRAM, folder, units, CELLS, BLOCKS, int(plan.pool), int(plan.barrier),
                         PAUSE_S)

    def find(self, name):
        """The present process of "worker 1", "server 0" or "scheduler"; None while the role has no process."""
        role, *index = name.split()
        for pid in self.family():
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
                variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            except OSError:
                continue  # gone meanwhile
            if role == "worker" and words[1:2] == [str(PROGRAM)] and f"LEEWAY_RANK={index[0]}".encode() in variables:
                return pid
            if role != "worker" and words[1:2] == [role] and (not index or
                                                              words[words.index("--server") + 1] == index[0]):
                return pid
        return None

    def summary(self):
        with contextlib.suppress(OSError, ValueError):
            return json.loads(self.summary_file.read_text())
        return {}


def send(pid, number):
    if pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


class Run:
    """One seed: the faults that the job got, and the errors in its result."""

    def __init__(self, plan, folder):
        self.plan, self.folder = plan, folder
        self.done, self.problems, self.codes, self.figures = [], [], [], {}
        self.lost, self.hung, self.left = 0, False, False
        self.excuses = []  # why this leg may end with another code than 0
        self.said = ""     # what the legs said, for whoever looks into it

    def run(self):
        faults, resume = list(self.plan.faults), False
        for _ in range(LEGS_MAX):
            self.excuses = []
            with Job(self.folder, self.plan, resume) as job:
                try:
                    code = self._drive(job, faults, resume)
                finally:
                    self.said += f"--- leg {len(self.codes)}\n{job.out()[-20000:]}\n{job.err()[-20000:]}\n"
                if code is None:
                    return self
                self.codes.append(code)
                try:
                    job.expect_nothing_left(240)
                except AssertionError as left:
                    self.left = True
                    self.problems.append(f"left behind: {str(left)[:100]} {list(job.temporary.iterdir())}")
                self._check_code(job, code)
                told = job.summary()
                totals = told.get("totals", {})
                # A job that goes on from a checkpoint counts what was lost before it, too.
                self.lost = int(totals.get("lost", 0) + totals.get("torn", 0))
            if code == 0:
                lives = [worker["lives"][-1]["ended"] for worker in told.get("workers", [])]
                all_done = len(lives) == self.plan.workers and set(lives) == {"done"}
                units = UNITS * self.plan.workers
                self.figures, problems = audit(self.folder, self.plan.workers, self.plan.pool, all_done, self.lost, units)
                self.problems += problems
                return self
            resume = any((self.folder / "checkpoints").glob("*/manifest.json"))
            if not resume:  # the job begins anew, and so do its books
                shutil.rmtree(self.folder / "books", ignore_errors=True)
                self.lost = 0
        self.problems.append(f"not at its end after {LEGS_MAX} legs")
        return self

    def _drive(self, job, faults, resume):
        """Applies the faults of this leg; returns its exit code, None if it hangs."""
        since, before = time.monotonic(), claims(self.folder)
        while faults:
            fault = faults[0]
            if fault.when == "gather" and resume:
                faults.pop(0)  # its moment is over
                continue
            if not self._wait_until(job, lambda: self._is_due(fault, since, before), since):
                if self.hung:
                    return None
                if job.process.poll() != 0:
                    faults.pop(0)
                break
            faults.pop(0)
            self._do(job, fault)
            since = time.monotonic()
            if fault.term:
                break
        drains = bool(self.done) and "SIGTERM" in self.excuses
        if not drains:  # all faults of this leg are applied
            (self.folder / "hurry").touch()
        if not self._wait_until(job, lambda: False, since + (GRACE_S if drains else 0)) and self.hung:
            return None
        (self.folder / "hurry").unlink(missing_ok=True)
        return job.process.wait()

    def _is_due(self, fault, since, before):
        """`before`: the pushes of the legs before this one."""
        if fault.when == "gather":
            return time.monotonic() - since >= fault.at
        if claims(self.folder) <= before:
            return False
        if fault.when == "end":
            if not anyone_finished(self.folder):
                (self.folder / "hurry").touch()
                return False
            time.sleep(fault.at)
            return True
        return claims(self.folder) >= fault.at * UNITS * self.plan.workers

    def _wait_until(self, job, condition, since):
        """False: the job has ended, or hangs."""
        while job.process.poll() is None:
            if condition():
                return True
            if time.monotonic() - since > LIMIT_S:
                self.hung = True
                self.problems.append(f"goes on {LIMIT_S:.0f} s after: {self.done[-1] if self.done else 'its start'}")
                send(job.process.pid, signal.SIGQUIT)
                time.sleep(1)
                return False
            time.sleep(0.01)
        return False

    def _do(self, job, fault):
        if fault.when == "checkpoint":
            send(job.process.pid, signal.SIGUSR1)
            time.sleep(fault.at / 10)
        whole = any((self.folder / "checkpoints").glob("*/manifest.json"))
        names = fault.kills or ([fault.stops] if fault.stops else [])
        pids = {name: job.find(name) for name in names}
        did = [name for name, pid in pids.items() if send(pid, signal.SIGKILL if fault.kills else signal.SIGSTOP)]
        if fault.stops and did:
            began = time.monotonic()
            time.sleep(fault.for_s)
            send(pids[fault.stops], signal.SIGCONT)
            fault.for_s = time.monotonic() - began  # on a busy machine it is longer than planned
        if fault.term:
            did = ["launcher"]
            send(job.process.pid, signal.SIGTERM)
        self.done.append(fault.text() if did else f"nobody there to {fault.text()}")
        trained = claims(self.folder) > 0
        for name in did:
            self._excuse(name, fault, trained, whole)

    def _excuse(self, name, fault, trained, whole):
        """Notes which ends of the job this fault may be the reason for."""
        plan = self.plan
        if name == "launcher":
            self.excuses.append("SIGTERM")
        elif name.startswith("server") and fault.for_s <= EXPEL_S * 0.8 and not fault.kills:
            return  # it was silent for a moment
        elif name.startswith("server") and (plan.on_server_loss == "fail" or (not whole and (
                trained or plan.on_server_loss == "rollback"))):
            self.excuses.append(f"{name} was lost under {plan.on_server_loss}, {'with' if whole else 'without'} a checkpoint")
        elif name.startswith("worker"):
            lost = sum(done.count("worker") for done in self.done if not done.startswith("nobody"))
            if lost > plan.restarts and (not trained or lost >= plan.workers):
                self.excuses.append(f"{lost} workers were lost, with {plan.restarts} restarts")

    def _check_code(self, job, code):
        said = job.err()
        if code in (143, -signal.SIGTERM) and "SIGTERM" in self.excuses:
            pass  # (by the signal itself: before it could be caught)
        elif code != 0 and (code < 128 or not [why for why in self.excuses if why != "SIGTERM"]):
            self.problems.append(f"exit code {code} without a reason: {job.summary().get('why')}")
        if "no whole checkpoint yet" in said and "leeway run --resume" in said:
            self.problems.append("the launcher says that there is no whole checkpoint, and names one")
        names = "leeway run --resume" in said
        whole = any((self.folder / "checkpoints").glob("*/manifest.json"))
        if code >= 128 and whole and not names and "no whole checkpoint yet" not in said:
            self.problems.append("the launcher does not name the checkpoint to go on from")

    def row(self):
        return {"seed": self.plan.seed, "plan": self.plan.text(), "sync": self.plan.sync, "done": self.done,
                "codes": self.codes, **self.figures, "hung": self.hung, "left": self.left, "problems": self.problems}


def run_seed(seed, model, keep, keep_all):
    """One run in a folder of its own; that of a bad one, or of all, is kept below `keep`."""
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="leeway-chaos-"))
    run = Run(Plan(seed, model), folder)
    try:
        run.run()
    except Exception as error:  # whatever it is belongs into the table
        run.problems.append(f"{type(error).__name__}: {str(error)[:300]}")
    row = {**run.row(), "took_s": round(time.monotonic() - began, 1)}
    if run.problems or keep_all:
        where = keep / f"seed-{seed}"
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(folder, where, symlinks=True, ignore=shutil.ignore_patterns("tmp"))
        (where / "said.txt").write_text(run.said)
        row["kept"] = str(where)
    shutil.rmtree(folder, ignore_errors=True)
    return row


class Results:
    """Finished seeds of this build, in a file."""

    def __init__(self, folder, model):
        self.path = folder / "results.jsonl"
        program = (BUILD / "leeway").stat()
        self.build = f"{program.st_size} {program.st_mtime_ns} {model}"
        self.rows = {}
        folder.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                with contextlib.suppress(ValueError):  # the last one may be cut short
                    row = json.loads(line)
                    if row.get("build") == self.build:
                        self.rows[row["seed"]] = row

    def add(self, row):
        self.rows[row["seed"]] = row
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({**row, "build": self.build}) + "\n")


def say(row, at, runs, terminal):
    result = "bad " if row["problems"] else "good"
    line = (f"{result} seed {row['seed']:>4} {row['took_s']:5.1f} s  codes {row['codes']} pushes {row.get('pushes', '-')} lost "
            f"{row.get('lost', '-')} missing {row.get('missing', '-')} doubled {row.get('doubled', '-')}  {row['plan']}")
    if terminal:
        print("\r\x1b[2K", end="")
    if not terminal or row["problems"]:
        print(line, flush=True)
    for problem in row["problems"]:
        print(f"       seed {row['seed']}: {problem}", flush=True)
    if terminal:
        width = 40 * at // runs
        print(f"[{'#' * width}{'.' * (40 - width)}] {at} of {runs} runs", end="", flush=True)


def table(rows):
    head = ["model", "runs", "faults", "legs", "pushes", "doubled", "missing", "lost", "hangs", "left", "bad"]

    def line(name, some):
        total = lambda key: sum(row.get(key) or 0 for row in some)  # noqa: E731: three words
        return [name, len(some), sum(len(row["done"]) for row in some), sum(len(row["codes"]) for row in some),
                total("pushes"), total("doubled"), total("missing"), total("lost"), total("hung"), total("left"),
                sum(bool(row["problems"]) for row in some)]

    lines = [head] + [line(model, [row for row in rows if row["sync"] == model]) for model in MODELS] + [line("all", rows)]
    lines = [[str(cell) for cell in row] for row in lines]
    widths = [max(len(row[i]) for row in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=150, help="how many seeds (%(default)s)")
    parser.add_argument("--from", type=int, default=1, dest="first", help="the first seed (%(default)s)")
    parser.add_argument("--seed", type=int, action="append", help="this one alone, whether it was run before or not; several "
                        "of them if given several times")
    parser.add_argument("--model", choices=MODELS, help="instead of the one that the seed draws")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time (%(default)s)")
    parser.add_argument("--keep", action="store_true", help="the folders and words of good runs too, not of bad ones alone")
    parser.add_argument("--json", help="a file for the results of all runs")
    arguments = parser.parse_args()
    folder = BUILD / "chaos"
    results = Results(folder, arguments.model)
    wanted = arguments.seed or list(range(arguments.first, arguments.first + arguments.runs))
    rows = {} if arguments.seed else {seed: row for seed, row in results.rows.items() if seed in wanted}
    if rows:
        print(f"chaos: {len(rows)} of {len(wanted)} runs are done already ({results.path})", flush=True)
    terminal = sys.stdout.isatty()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [pool.submit(run_seed, seed, arguments.model, folder, arguments.keep) for seed in wanted if seed not in rows]
        try:
            for run in as_completed(runs):
                row = run.result()
                rows[row["seed"]] = row
                if not arguments.seed:
                    results.add(row)
                say(row, len(rows), len(wanted), terminal)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    rows = [rows[seed] for seed in sorted(rows)]
    print(f"\nFaults, and what became of every push:\n\n{table(rows)}\n", flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")
    bad = [row for row in rows if row["problems"]]
    for row in bad:
        print(f"bad: --seed {row['seed']}{f' --model {arguments.model}' if arguments.model else ''}: {row['problems'][0]}",
              file=sys.stderr)
    if not arguments.seed:
        results.path.unlink(missing_ok=True)  # all of them are done: the next ones begin anew
    print("chaos: " + (f"{len(bad)} of {len(rows)} runs are bad" if bad else f"all {len(rows)} runs are good"), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
