"""The runs of tools/compare_sync.py: what each one is, what it costs, and those that an earlier call has finished."""

import ctypes
import dataclasses
import hashlib
import json
import os
import signal
import statistics
import subprocess

END_S = 15  # what a job may take to end by itself
PR_SET_PDEATHSIG = 1
SAME, OWN, TUNE = "same", "own", "tune"  # every model alike; its own apply mode and rate; the search for that rate


@dataclasses.dataclass(frozen=True)
class Run:
    """One training. Two equal ones are the same run, whenever they are made."""
    setting: str
    pattern: str   # a name; empty: no worker is slow
    slow: str      # as --slow-worker takes it; empty: no worker is slow
    model: str
    apply: str     # empty: the model's own mode
    rate: float
    number: int    # of the round; also the seed of the pattern, so a round has the same slowness under every model
    workers: int
    servers: int
    epochs: int
    samples: int   # of the training set; 0: all
    target: float  # accuracy
    evaluate_every: float
    program: str   # what trains, as program_mark() has it

    @property
    def name(self):
        """A name for a file; other settings may have the same name, and replace the run."""
        model = "".join(letter if letter.isalnum() or letter == "." else "-" for letter in self.model)
        return f"{self.setting}.{self.pattern or 'none'}.{model}.{self.rate:g}.{self.number}"

    def command(self, leeway, python, script, folder):
        slow = ["--slow-worker", self.slow] if self.slow else []
        apply = ["--apply", self.apply] if self.apply else []
        return [str(word) for word in (
            leeway, "run", "-w", self.workers, "-s", self.servers, "--sync", self.model, *apply, *slow, "--seed", self.number + 1,
            "--summary-json", folder / "summary.json", "--", python, script, "--epochs", self.epochs, "--samples", self.samples,
            "--lr", self.rate, "--evaluate-every", self.evaluate_every, "--history", folder / "history.json",
            "--plot", folder / "run.png")]


def program_mark(files):
    """Changes with the contents of the files that train."""
    mark = hashlib.sha256()
    for file in files:
        mark.update(file.read_bytes())
    return mark.hexdigest()[:16]


def figures(history, summary, target):
    """The figures of a run, from what it wrote."""
    totals = summary["status"]["totals"]
    reached = [at for at, accuracy in history["accuracies"] if accuracy >= target]
    return {"to_target_s": reached[0] if reached else None, "to_end_s": history["seconds"], "accuracy": history["accuracy"],
            "dprs": totals["server.dpr"], "wait_s": totals["worker.wait_values_s"],
            # Of blocks: dropped by servers, or not sent, since it was known to be late.
            "late": totals["worker.late_dropped"] + totals["worker.skipped_late"],
            "late_applied": totals["server.late_applied"], "curve": history["accuracies"]}


def end_with_parent():
    """Even a killed comparison, or one stopped while a run begins, leaves no run behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end(process):
    """Lets a job end its processes and remove its files; kills it if that takes too long."""
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def train(run, leeway, python, script, folder, limit_s):
    """Returns the figures of a run, or raises RuntimeError with the end of what it said. Leaves no process, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    # A session of its own: Ctrl-C reaches it through us alone.
    with subprocess.Popen(run.command(leeway, python, script, folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True, preexec_fn=end_with_parent) as process:
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"took longer than {limit_s:g} s") from None
        finally:
            if process.poll() is None:
                end(process)
    if process.returncode != 0:
        raise RuntimeError(f"ended with {process.returncode}\n{out[-2000:]}{err[-2000:]}")
    history, summary = (json.loads((folder / name).read_text(encoding="utf-8")) for name in ("history.json", "summary.json"))
    return figures(history, summary, run.target)


class KeptRuns:
    """Keeps a file per finished run, with all its settings. A run with another setting or program is another run."""

    def __init__(self, folder):
        self._folder = folder
        self._took_s = []
        folder.mkdir(parents=True, exist_ok=True)

    def _file(self, run):
        return self._folder / f"{run.name}.json"

    def find(self, run):
        """The figures, or None."""
        try:
            kept = json.loads(self._file(run).read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        if kept.get("run") != dataclasses.asdict(run):
            return None
        return kept["figures"]

    def keep(self, run, figures_of_run, took_s):
        self._took_s.append(took_s)
        text = json.dumps({"run": dataclasses.asdict(run), "took_s": took_s, "figures": figures_of_run})
        new = self._file(run).with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        os.replace(new, self._file(run))  # a call that is stopped leaves no half of a file

    def took_s(self):
        """The mean time of the runs in this folder; None before the first."""
        if not self._took_s:
            for file in self._folder.glob("*.json"):
                try:
                    self._took_s.append(json.loads(file.read_text(encoding="utf-8"))["took_s"])
                except (json.JSONDecodeError, KeyError):
                    continue
        return statistics.fmean(self._took_s) if self._took_s else None
