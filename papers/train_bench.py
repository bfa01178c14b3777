"""The program as measured items use it: `leeway bench train` for real, and the same cluster through `leeway sim`."""

import json
import subprocess
import tempfile
from pathlib import Path

from refusal import Refusal
from simulator import ROOT, end_with_parent


class TrainBench:
    """Keeps written scenarios in a folder that ends with it."""

    def __init__(self, program):
        self._program = Path(program).resolve()
        self._folder = tempfile.TemporaryDirectory(prefix="leeway-papers-")
        self._files = {}  # text -> file
        self._why_not = None

    def why_not(self):
        """Why this machine can emulate no network, or an empty text. Asks the program once."""
        if self._why_not is None:
            ended = self._run("--check", "--json", "--machines", "2", "--net", "10mbit")
            try:
                check = json.loads(ended.stdout)
                self._why_not = "" if check["network"] else check["network_error"]
            except (ValueError, LookupError, TypeError):
                self._why_not = ended.stderr.strip() or f"leeway bench train --check ended with {ended.returncode}"
        return self._why_not

    def scenario(self, flags, rows):
        """The same cluster for `leeway sim`. Checks flags and rows."""
        file = Path(self._folder.name) / "new.toml"
        ended = self._run(*_words({**flags, "repeats": 0}, rows), "--write-scenario", str(file))
        if ended.returncode != 0:
            raise Refusal(f"leeway bench train {' '.join(_words(flags, rows))}: {(ended.stderr or ended.stdout).strip()}")
        text = file.read_text(encoding="utf-8")
        self._files.setdefault(text, file.rename(file.with_name(f"{len(self._files)}.toml")))
        return text

    def start(self, flags, rows, out, err):
        return self._start(["bench", "train", *_words(flags, rows), "--json"], out, err)

    def start_simulation(self, scenario, iterations, out, err):
        """`scenario`: a text that scenario() gave."""
        words = ["sim", str(self._files[scenario]), "--set", f"iterations={iterations}", "--seed", "1", "--seeds", "1", "--threads", "1", "--json"]
        return self._start(words, out, err)

    def _run(self, *words):
        return subprocess.run([str(self._program), "bench", "train", *words], cwd=ROOT, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)

    def _start(self, words, out, err):
        return subprocess.Popen([str(self._program), *words], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                start_new_session=True, preexec_fn=end_with_parent)


def _words(flags, rows):
    given = [word for key, value in flags.items() for word in ((f"--{key}",) if value is True else (f"--{key}", str(value)))]
    return [*given, "--rows", "; ".join(rows)]


def report_of(text):
    """What `leeway bench train --json` printed, or None: not whole."""
    try:
        report = json.loads(text)
        return report if report["rows"] and all("steps_s_runs" in row for row in report["rows"]) and not report["stopped"] else None
    except (ValueError, LookupError, TypeError):
        return None


def simulation_of(text):
    """The one run of each cell of `leeway sim --json`, by the cell's label; or None."""
    try:
        runs = {cell["label"]: cell["runs"][0] for cell in json.loads(text)["cells"]}
        errors = [error for run in runs.values() for error in run["errors"]]
        return {"errors": errors} if errors else runs
    except (ValueError, LookupError, TypeError):
        return None
