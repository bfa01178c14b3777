"""Runs cells: every resolved scenario and seed once, a few processes at a time, and those in the cache not at all.

Measurements come last, one at a time, with nothing beside them."""

import collections
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

from progress import Progress

POLL_S = 0.05
END_S = 5  # what a process may take to end by itself


@dataclass
class Job:
    """One process. Several cells may ask for it."""
    key: str
    name: str
    scenario: str  # resolved
    seed: int
    weight: float  # how much work it is, compared with others
    start: object  # (out, err) -> process
    read: object  # what it printed -> its run, or None
    alone: bool = False  # nothing may run beside it
    is_worth_keeping: object = lambda run: True
    has_figures: bool = True  # its run has the figures of a simulation


@dataclass
class Results:
    runs: dict = field(default_factory=dict)  # key of a job -> its run, if it ended well
    errors: dict = field(default_factory=dict)  # key of a job -> why it has none
    cached: int = 0


@dataclass
class _Running:
    job: Job
    process: object
    out: object
    err: object
    began: float


class Runner:
    def __init__(self, cache, processes, on_first=lambda run: None):
        """`on_first` sees the first run that is there, and may refuse what asks it for figures that it has not."""
        self._cache, self._processes = cache, processes
        self._on_first = on_first
        self._running = []
        self._seen = False  # a run with the figures of a simulation
        self._results = Results()

    def run(self, jobs, out=None):
        """The results of all jobs. However it ends, no process of it is left."""
        waiting = collections.deque()
        for job in {job.key: job for job in jobs}.values():
            run = self._cache.get(job.key)
            if run is None:
                waiting.append(job)
            else:
                self._results.cached += 1
                self._take(job, run)
        waiting = collections.deque(sorted(waiting, key=lambda job: job.alone))
        progress = Progress(len(waiting), sum(job.weight for job in waiting), out)
        try:
            while waiting or self._running:
                while waiting and self._has_room(waiting[0]):
                    self._start(waiting.popleft())
                time.sleep(POLL_S)
                for running in [each for each in self._running if each.process.poll() is not None]:
                    self._running.remove(running)
                    self._end(running, progress)
        finally:
            progress.close()
            self._stop()
        return self._results

    def _has_room(self, job):
        return len(self._running) < (1 if job.alone else self._processes)  # those that run alone come last

    def _take(self, job, run):
        if job.has_figures and not self._seen:
            self._seen = True
            self._on_first(run)
        self._results.runs[job.key] = run

    def _start(self, job):
        # Files, not pipes: a run's curve is longer than a pipe, and nobody reads before the end.
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self._running.append(_Running(job, job.start(out, err), out, err, time.monotonic()))

    def _end(self, running, progress):
        job, wall_s = running.job, time.monotonic() - running.began
        with running.out, running.err:
            texts = []
            for file in (running.out, running.err):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
        run = job.read(texts[0])
        if running.process.returncode == 0 and run is not None and not run.get("errors"):
            if job.is_worth_keeping(run):
                self._cache.put(job.key, job.scenario, job.seed, wall_s, run)
            self._take(job, run)
        else:
            said = "; ".join(run["errors"]) if run and run.get("errors") else texts[1].strip()
            self._results.errors[job.key] = said or f"ended with {running.process.returncode} and said nothing"
        progress.finished(job.name, job.weight, wall_s)

    def _stop(self):
        for running in self._running:
            running.process.terminate()
        deadline = time.monotonic() + END_S
        for running in self._running:
            try:
                running.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                running.process.kill()
                running.process.wait()
            running.out.close()
            running.err.close()
        self._running = []
