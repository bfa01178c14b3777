"""Training: leeway run of programs/checkpoints.py, with checkpoints in the test's folder, for several tests."""

import contextlib
import json
import re
import sys

import numpy as np
from cli_process import Leeway
from job import HANG_S, PROGRAMS

ITERATIONS = 160


class Training(Leeway):
    """A job whose workers end with the same bits, however often it goes back to a checkpoint."""

    def __init__(self, folder, *flags, servers=2, every=10, pause_s=0.03, iterations=ITERATIONS,
                 program="checkpoints", apply="aggregate:reduce=ordered"):
        """`every` 0: no folder for checkpoints. With the usual iterations and a pause, the job does not end before hurry()."""
        self.checkpoints = folder / "checkpoints"
        self.summary_file = folder / "summary.json"
        where = ["--checkpoint-dir", self.checkpoints, "--checkpoint-every", every] if every else []
        super().__init__(folder, "run", "-w", 2, "-s", servers, "--sync", "bsp", "--apply",
                         apply, "--block-bytes", "4KiB", "--summary-json", self.summary_file,
                         *where, *flags, "--", sys.executable, PROGRAMS / f"{program}.py", folder, iterations,
                         pause_s, int(pause_s > 0 and iterations == ITERATIONS))

    def wait_for_iteration(self, iteration, limit_s=HANG_S):
        self.wait_for(lambda: f"is in iteration {iteration}" in self.out(), f"iteration {iteration}", limit_s)

    def hurry(self):
        """No pauses from here on: what the test does to the job is done."""
        (self.folder / "hurry").touch()

    def summary(self):
        return json.loads(self.summary_file.read_text())

    def events(self, kind):
        """(who, what) of each event of this kind in the summary."""
        return [(event["who"], event["what"]) for event in self.summary()["events"] if event["kind"] == kind]

    def manifests(self):
        """The contents of the checkpoints, from the oldest to the newest."""
        found = []
        for path in sorted(self.checkpoints.glob("*/manifest.json")):
            with contextlib.suppress(OSError):  # an old one may go while this looks
                found.append(json.loads(path.read_text()))
        return found

    def wait_for_checkpoint(self, limit_s=HANG_S):
        """Until the scheduler knows of one: a manifest can be seen before it does, the next one's only after."""
        self.wait_for(lambda: len(self.manifests()) > 1, "checkpoint", limit_s)

    def role(self, *words):
        """The process of a role, found by the words of its command line."""
        for pid in self.family():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    command = file.read().split(b"\0")
            except OSError:
                continue
            wanted = [word.encode() for word in words]
            at = command.index(wanted[1]) if len(wanted) > 1 and wanted[1] in command else None
            if command[1:2] == wanted[:1] and (len(wanted) == 1 or (at and command[at:at + 2] == wanted[1:])):
                return pid
        raise AssertionError(f"no process of {words}")

    def began(self):
        return [int(at) for at in re.findall(r"\[w0\] begins in iteration (\d+)", self.out())]

    def finals(self):
        return [np.load(self.folder / f"final.{rank}.npy") for rank in range(2)]
