"""leeway run with checkpoints: going on from one, and back to one when a server or the scheduler dies."""

import os
import re
import signal
import sys

import numpy as np
import pytest
from cli_process import Leeway, leeway
from job import PROGRAMS

ITERATIONS = 160


class Training(Leeway):
    """A job of programs/checkpoints.py that writes its checkpoints into the test's folder."""

    def __init__(self, folder, *flags, servers=2, every=10, pause_s=0.01):
        self.checkpoints = folder / "checkpoints"
        super().__init__(folder, "run", "-w", 2, "-s", servers, "--sync", "bsp", "--apply",
                         "aggregate:reduce=ordered", "--block-bytes", "4KiB", "--checkpoint-dir", self.checkpoints,
                         "--checkpoint-every", every, *flags, "--", sys.executable, PROGRAMS / "checkpoints.py", folder,
                         ITERATIONS, pause_s)

    def wait_for_checkpoint(self, limit_s=30):
        self.wait_for(lambda: list(self.checkpoints.glob("*/manifest.json")), "checkpoint", limit_s)

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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What a job that nothing happens to ends with, and its last checkpoints."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with Training(folder, pause_s=0.002) as training:
        assert training.wait(60) == 0, training.err()
        assert training.began() == [0]
        finals = training.finals()
    assert np.array_equal(finals[0], finals[1])
    return folder, finals[0]


def test_checkpoints_are_whole_and_the_last_two_stay(undisturbed):
    folder, _ = undisturbed
    found = sorted(path.parent.name for path in (folder / "checkpoints").glob("*/manifest.json"))
    # (The job may end before the third last is removed.)
    assert 2 <= len(found) <= 3, found
    result = leeway("checkpoint", "verify", folder / "checkpoints")
    assert result.returncode == 0, result


def test_a_job_goes_on_from_a_checkpoint_with_another_number_of_servers(undisturbed, tmp_path):
    folder, final = undisturbed
    with Training(tmp_path, "--resume", folder / "checkpoints", servers=3, pause_s=0) as training:
        assert training.wait(60) == 0, training.err()
        assert training.began()[0] >= 10
        for mine in training.finals():
            assert np.array_equal(mine, final)


def test_a_torn_checkpoint_is_named_and_the_one_before_is_taken(undisturbed, tmp_path):
    folder, final = undisturbed
    newest = sorted((folder / "checkpoints").glob("*/manifest.json"))[-1].parent
    shard = sorted(newest.glob("shard-*.lwc"))[0]
    good = shard.read_bytes()
    spoiled = bytearray(good)
    spoiled[len(spoiled) // 2] ^= 1
    shard.write_bytes(spoiled)
    try:
        with Training(tmp_path, "--resume", folder / "checkpoints", pause_s=0) as training:
            assert training.wait(60) == 0, training.err()
            assert newest.name in training.err() and "cannot be used" in training.err()
            for mine in training.finals():
                assert np.array_equal(mine, final)
    finally:
        shard.write_bytes(good)


@pytest.mark.parametrize("role", [("server", "--server", "1"), ("scheduler",)], ids=["server", "scheduler"])
def test_the_job_goes_back_to_its_checkpoint_when_a_role_dies(undisturbed, tmp_path, role):
    _, final = undisturbed
    with Training(tmp_path) as training:
        training.wait_for_checkpoint()
        os.kill(training.role(*role), signal.SIGKILL)
        assert training.wait(90) == 0, training.err()
        assert "goes back to" in training.err()
        began = training.began()
        assert len(began) == 2 and began[1] >= 10, began
        for mine in training.finals():
            assert np.array_equal(mine, final)
        training.expect_nothing_left()


def test_with_fail_a_dead_server_ends_the_job(tmp_path):
    with Training(tmp_path, "--on-server-loss", "fail") as training:
        training.wait_for_checkpoint()
        os.kill(training.role("server", "--server", "1"), signal.SIGKILL)
        assert training.wait(20) >= 128
        assert "server 1 ended with" in training.err() and "--resume" in training.err(), training.err()
        training.expect_nothing_left()


def test_without_a_checkpoint_a_dead_server_ends_the_job(tmp_path):
    with Training(tmp_path, every=100000) as training:
        training.wait_for(lambda: "is in iteration 20" in training.out(), "iteration", 20)
        os.kill(training.role("server", "--server", "0"), signal.SIGKILL)
        assert training.wait(20) >= 128


@pytest.mark.parametrize("flags, words", [
    (["--checkpoint-every", "5"], "--checkpoint-dir"),
    (["--resume", "/no/such/folder"], "--resume"),
    (["--checkpoint-dir", "/proc/no"], "--checkpoint-dir"),
    (["--on-server-loss", "pray"], "rollback or fail"),
])
def test_flags_that_cannot_work_are_refused_before_anything_starts(flags, words):
    result = leeway("run", "-w", 1, *flags, "--", "true")
    assert 0 < result.returncode < 128 and words in result.stderr, result
