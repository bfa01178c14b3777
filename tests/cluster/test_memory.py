"""The memory of servers and C++ workers: bounds for a large model, and nothing that grows with the iterations.

LEEWAY_LONG=1 runs the flat one over 20,000 iterations instead of 4,000.
"""

import os
import sys
import time
from pathlib import Path

import pytest
from cli_process import Leeway
from job import BUILD

MIB = 1 << 20
TABLES, ELEMENTS = 8, 2 * MIB  # 64 MiB of parameters
MODEL = 4 * TABLES * ELEMENTS
ADAM = 2 * MODEL
WORKERS = 2
LONG = bool(os.environ.get("LEEWAY_LONG"))


def memory(pid):
    """RssAnon and RssShmem together, in bytes; 0 when the process has gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


class Training(Leeway):
    """A job of memory_worker that is looked at while it runs: `peak` has the highest of the server and of any worker."""

    def __init__(self, folder, *flags, tables=TABLES, elements=ELEMENTS, iterations=9, say_every=9):
        self.peak = {"server": 0, "worker": 0}
        self._roles = {}
        self.last = iterations
        super().__init__(folder, "run", "-w", WORKERS, "-s", 1, *flags, "--", BUILD / "tests/cluster/memory_worker",
                         tables, elements, iterations, say_every, folder)
        for iteration in range(2 * say_every, iterations, say_every):  # nobody looks at the workers there
            (folder / str(iteration)).touch()

    def _role(self, pid):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return None
        if words[0].endswith(b"memory_worker"):
            return "worker"
        return "server" if words[1:2] == [b"server"] else None

    def find(self):
        """Until the server and all workers are there."""
        def found():
            self._roles = {pid: role for pid in self.family() if (role := self._role(pid))}
            return sorted(self._roles.values()) == ["server"] + ["worker"] * WORKERS
        self.wait_for(found, "server and workers")

    def look(self):
        """The memory of the server and that of the largest worker, now."""
        now = {"server": 0, "worker": 0}
        for pid, role in self._roles.items():
            now[role] = max(now[role], memory(pid))
        for role, size in now.items():
            self.peak[role] = max(self.peak[role], size)
        return now

    def watch(self, limit_s, enough=lambda: False):
        """To the end of the job, which is a good one, or until `enough`."""
        self.find()
        deadline = time.monotonic() + limit_s
        while self.process.poll() is None:
            rests = "[w0] iteration" in self.out()
            self.look()
            if enough():
                return
            assert time.monotonic() < deadline, f"still running after {limit_s} s\n{self.err()}"
            if rests:
                self.let_go_on(self.last)
            time.sleep(0.005)
        assert self.process.returncode == 0, self.err()

    def let_go_on(self, iteration):
        """The workers rest at an iteration until they are told that they were seen."""
        (self.folder / str(iteration)).touch()

    def highest_after(self, iteration, limit_s):
        """While the workers rest after it."""
        self.wait_for(lambda: f"[w0] iteration {iteration}\n" in self.out(), f"iteration {iteration}", limit_s)
        until = time.monotonic() + 0.2
        highest = {"server": 0, "worker": 0}
        while time.monotonic() < until:
            highest = {role: max(highest[role], size) for role, size in self.look().items()}
            time.sleep(0.005)
        self.let_go_on(iteration)
        return highest


def say(what, peak, bounds):
    for role, bound in bounds.items():
        print(f"{what}: {role} {peak[role] / MIB:.0f} MiB of {bound / MIB:.0f}", file=sys.stderr)


# The gradients that a server holds before it applies them: none, one sum, or those of all workers.
@pytest.mark.parametrize("sync, apply, held", [("asp", "immediate", 0), ("bsp", "aggregate", MODEL),
                                               ("bsp", "aggregate:reduce=ordered", WORKERS * MODEL)])
@pytest.mark.parametrize("checkpoints", [False, True], ids=["plain", "checkpoints"])
def test_a_large_model_stays_within_its_bounds(tmp_path, sync, apply, held, checkpoints):
    flags = ["--sync", sync, "--apply", apply, "--block-bytes", "4MiB"]
    server = 1.3 * (2 * MODEL + ADAM + held) + 64 * MIB
    if checkpoints:
        flags += ["--checkpoint-dir", tmp_path / "checkpoints", "--checkpoint-every", 3, "--checkpoint-keep", 1]
        server += MODEL + ADAM
    bounds = {"server": server, "worker": 5 * MODEL + 64 * MIB}
    # How long one takes to be whole is the disk's affair: with checkpoints the job goes on until one is.
    def whole():
        return bool(list(tmp_path.glob("checkpoints/*/manifest.json")))
    iterations = 10_000 if checkpoints else 9
    with Training(tmp_path, *flags, iterations=iterations, say_every=iterations) as training:
        training.watch(240, enough=whole)
        say(f"{sync} {apply} {'with' if checkpoints else 'without'} checkpoints", training.peak, bounds)
        assert whole() == checkpoints
        for role, bound in bounds.items():
            assert training.peak[role] > MODEL, "it was not seen at all"
            assert training.peak[role] <= bound, role


@pytest.mark.parametrize("sync", ["bsp", "asp"])
def test_memory_does_not_grow_with_the_iterations(tmp_path, sync):
    last = 20_000 if LONG else 4_000
    say_every = last // 10
    checkpoints = ["--checkpoint-dir", tmp_path / "checkpoints", "--checkpoint-every", say_every // 4]
    with Training(tmp_path, "--sync", sync, "--block-bytes", "16KiB", *checkpoints, tables=4, elements=10_000,
                  iterations=last, say_every=say_every) as training:
        training.find()
        early = training.highest_after(say_every, 240)
        late = training.highest_after(last, 600 if LONG else 240)
        assert training.wait() == 0, training.err()
    for role in ("server", "worker"):
        print(f"{sync}: {role} {early[role] / MIB:.2f} MiB after {say_every} iterations, {late[role] / MIB:.2f} after "
              f"{last}", file=sys.stderr)
        assert early[role] > 0 and late[role] <= early[role] + 4 * MIB, role
