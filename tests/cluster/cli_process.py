"""Leeway: the program as a child of a test, with everything that it starts found by a mark in its environment."""

import os
import signal
import subprocess
import time
import uuid
from pathlib import Path

from job import BUILD, HANG_S

MARK = "CLI_TEST_MARK"
NOBODY_JOINED = 5  # how a job ends whose workers all ended well and never joined


def command(args):
    """The program with these arguments. A busy machine may need longer than the default for workers to import torch."""
    words = [str(arg) for arg in args]
    if words[:1] == ["run"] and len(words) > 2 and "--gather-timeout" not in words:
        words[1:1] = ["--gather-timeout", f"{HANG_S}s"]
    return [str(BUILD / "leeway"), *words]


def leeway(*args, limit_s=HANG_S, **variables):
    """Runs the program to its end: CompletedProcess with text output."""
    return subprocess.run(command(args), capture_output=True, text=True, timeout=limit_s,
                          stdin=subprocess.DEVNULL, env={**os.environ, **variables}, check=False)


class Leeway:
    """The program under way, with its output in files. Use it in a with statement: nothing of it outlives that."""

    def __init__(self, folder, *args, ignored=()):
        """`ignored`: the signals that it finds ignored when it starts; no others, however this test was started."""
        def set_signals():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD):
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

        self.folder = Path(folder)
        self._mark = uuid.uuid4().hex
        self._out, self._err = self.folder / f"{self._mark}.out", self.folder / f"{self._mark}.err"
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        env = {**os.environ, MARK: self._mark, "TMPDIR": str(self.temporary)}
        with open(self._out, "wb") as out, open(self._err, "wb") as err:
            self.process = subprocess.Popen(command(args), stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL, env=env, start_new_session=True,
                                            preexec_fn=set_signals)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.family():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def out(self):
        return self._out.read_text()

    def err(self):
        return self._err.read_text()

    def family(self):
        """Every live process that carries this run's mark: children, their children, the guard."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if f"{MARK}={self._mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                pass  # gone meanwhile
        return found

    def commands(self):
        """The words of each command line of the family, by process."""
        found = {}
        for pid in self.family():
            try:
                found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            except OSError:
                pass  # gone meanwhile
        return found

    def wait(self, limit_s=HANG_S):
        """The exit code."""
        return self.process.wait(timeout=limit_s)

    def wait_for(self, condition, what, limit_s=HANG_S):
        deadline = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < deadline, f"no {what} after {limit_s} s\n{self.out()}\n{self.err()}"
            time.sleep(0.01)

    def expect_nothing_left(self, limit_s=HANG_S):
        self.wait_for(lambda: not self.family(), "end of all processes", limit_s)
        assert list(self.temporary.iterdir()) == []
