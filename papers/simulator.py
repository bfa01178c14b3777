"""The program as this folder uses it: `leeway sim` for one cell and one seed."""

import ctypes
import hashlib
import json
import signal
import subprocess
from pathlib import Path

from refusal import Refusal

ROOT = Path(__file__).resolve().parent.parent
PR_SET_PDEATHSIG = 1


def end_with_parent():
    """Even a killed parent leaves no run behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Simulator:
    def __init__(self, program):
        self._program = Path(program).resolve()
        try:
            self.fingerprint = hashlib.sha256(self._program.read_bytes()).hexdigest()
        except OSError as error:
            raise Refusal(f"cannot read the program {program}: {error.strerror}; `make build` makes it") from error

    def _words(self, scenario, settings):
        return [str(self._program), "sim", str(scenario), *(word for key, value in settings for word in ("--set", f"{key}={value}"))]

    def resolve(self, scenario, settings):
        """The scenario with every key, as a file, without its name: equal texts are equal runs."""
        ended = subprocess.run([*self._words(scenario, settings), "--dry-run"], cwd=ROOT, capture_output=True, text=True, check=False,
                               stdin=subprocess.DEVNULL)
        if ended.returncode != 0:
            raise Refusal(f"{scenario}: {(ended.stderr or ended.stdout).strip()}")
        return "".join(line for line in ended.stdout.splitlines(keepends=True) if not line.startswith("name = "))

    def start(self, scenario, settings, seed, out, err):
        """A process of its own session: Ctrl-C reaches it through us alone."""
        return subprocess.Popen([*self._words(scenario, settings), "--seed", str(seed), "--seeds", "1", "--threads", "1", "--json"],
                                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, preexec_fn=end_with_parent)


def run_of(text):
    """The one run in what the program printed, or None."""
    try:
        run = json.loads(text)["cells"][0]["runs"][0]
    except (ValueError, LookupError, TypeError):
        return None
    return run if isinstance(run, dict) else None


def figures_of(run):
    """The figures of a run by name: whatever is a number, or none where there is nothing to measure."""
    return {name: value for name, value in run.items() if name != "seed" and (value is None or isinstance(value, (int, float)))}
