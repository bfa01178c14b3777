"""leeway run when servers and the scheduler are killed: the job goes on, and ends with what it would have ended with."""

import contextlib
import json
import os
import re
import signal
import sys

import numpy as np
import pytest
from checkpointed import Training as ExactTraining
from cli_process import Leeway
from job import HANG_S, PROGRAMS

SYNCS = ["bsp", "ssp:2", "asp"]
ITERATIONS, PAUSE_S = 300, 0.03
HELD = ITERATIONS - 20  # as blobs.py has it: no worker goes further before end_well()


class Training(Leeway):
    """A job of programs/blobs.py: three workers, two servers, a checkpoint now and then."""

    def __init__(self, folder, sync, *flags, pause_s=PAUSE_S, expel_after="3s"):
        self.checkpoints = folder / "checkpoints"
        self.summary_file = folder / "summary.json"
        super().__init__(folder, "run", "-w", 3, "-s", 2, "--sync", sync, "--block-bytes", 128, "--expel-after",
                         expel_after, "--checkpoint-dir", self.checkpoints, "--checkpoint-every", 20, "--summary-json",
                         self.summary_file, *flags, "--", sys.executable, PROGRAMS / "blobs.py", folder, ITERATIONS, pause_s)

    def role(self, role, index=None):
        """The present process of a role; None while the role has no process."""
        for pid in self.family():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().decode().split("\0")
            except OSError:
                continue
            if words[1:2] == [role] and (index is None or words[words.index("--server") + 1] == str(index)):
                return pid
        return None

    def kill(self, role, index=None):
        os.kill(self.role(role, index), signal.SIGKILL)

    def iteration(self, rank):
        """The last iteration that the worker printed; 0 before the first."""
        said = re.findall(rf"\[w{rank}\] life \d+ pid \d+ iteration (\d+)", self.out())
        return int(said[-1]) if said else 0

    def wait_until_training(self):
        self.wait_for(lambda: all(self.iteration(rank) for rank in range(3)), "training")
        self.wait_for(lambda: list(self.checkpoints.glob("*/manifest.json")), "checkpoint")

    def iterations(self):
        return [self.iteration(rank) for rank in range(3)]

    def wait_for_progress(self, limit_s=HANG_S, before=None):
        """Until every worker has come further than it was before (at the call), or where it is held."""
        wanted = [min(at + 20, HELD) for at in before or self.iterations()]
        self.wait_for(lambda: all(now >= least for now, least in zip(self.iterations(), wanted)), "progress", limit_s)

    def end_well(self, least):
        """Lets it end, without a pause from here on; its summary."""
        (self.folder / "hurry").touch()
        assert self.wait() == 0, self.err()
        self.expect_nothing_left()
        told = json.loads(self.summary_file.read_text())
        assert told["exit_code"] == 0 and told["why"] == "" and "Job done" in self.out()
        accuracies = [float(right) for right in re.findall(r"accuracy ([0-9.]+)", self.out())]
        assert len(accuracies) == 3 and min(accuracies) >= least, (accuracies, least)
        changed = [int(at) for at in re.findall(r"all parts changed in iteration (\d+)", self.out())]
        assert len(changed) == 3 and min(changed) >= ITERATIONS - 20, f"parameters that nobody trains: {changed}"
        return told


def wait_for_progress_of_all(jobs):
    """From where each is now: a job that is looked at last may be done by then."""
    before = [job.iterations() for job in jobs]
    for job, at in zip(jobs, before):
        job.wait_for_progress(before=at)


def events(told, kind):
    return [event["who"] for event in told["events"] if event["kind"] == kind]


@contextlib.contextmanager
def at_once(folder, *jobs, **options):
    """Jobs that run at the same time, each with (its folder's name, sync, flags...): what these tests do is wait."""
    with contextlib.ExitStack() as stack:
        started = []
        for name, *arguments in jobs:
            (folder / name).mkdir()
            started.append(stack.enter_context(Training(folder / name, *arguments, **options)))
        yield started


def each_sync(folder, **options):
    return at_once(folder, *((sync, sync) for sync in SYNCS), **options)


def each_transport(folder, sync, *flags, **options):
    return at_once(folder, *((name, sync, *flags, "--transport", name) for name in ("auto", "tcp")), **options)


@pytest.fixture(scope="module")
def least(tmp_path_factory):
    """Of each of SYNCS: the accuracy that a job nothing happens to reaches, less a little."""
    with each_sync(tmp_path_factory.mktemp("undisturbed"), pause_s=0.002) as jobs:
        for job in jobs:
            assert job.end_well(0.5)["events"] == []
        return [min(float(right) for right in re.findall(r"accuracy ([0-9.]+)", job.out())) - 0.03 for job in jobs]


def test_a_server_that_was_killed_is_replaced_and_the_job_ends_right(tmp_path, least):
    with each_sync(tmp_path) as jobs:
        before = []
        for job in jobs:
            job.wait_until_training()
            before.append(job.role("server", 1))
            job.kill("server", 1)
        for job in jobs:
            job.wait_for(lambda: "server 1 ended with exit code 137 (signal 9, Killed); starting it again in 200ms "
                         "(restart 1 of 100)" in job.err(), "restart")
        for job, killed in zip(jobs, before):
            job.wait_for(lambda: job.role("server", 1) not in (None, killed), "new server")
        wait_for_progress_of_all(jobs)
        for job, enough in zip(jobs, least):
            told = job.end_well(enough)
            assert events(told, "lost") == ["server 1"] and events(told, "restart") == ["server 1"]
            assert re.search(r"server 1 +restart 1 of 100", job.out()), job.out()


def test_a_scheduler_that_was_killed_goes_on_from_its_log(tmp_path, least):
    with each_sync(tmp_path) as jobs:
        before = []
        for job in jobs:
            job.wait_until_training()
            before.append(job.role("scheduler"))
            job.kill("scheduler")
        for job in jobs:
            job.wait_for(lambda: "scheduler ended with exit code 137 (signal 9, Killed); starting it again in 200ms (restart 1 "
                         "of 100)" in job.err(), "restart")
        for job, killed in zip(jobs, before):
            job.wait_for(lambda: job.role("scheduler") not in (None, killed), "new scheduler")
        wait_for_progress_of_all(jobs)
        for job, enough in zip(jobs, least):
            told = job.end_well(enough)
            assert events(told, "lost") == events(told, "restart") == ["scheduler"]
            assert [worker["state"] for worker in told["status"]["workers"]] == 3 * ["left"]


def test_a_worker_a_server_and_the_scheduler_killed_at_once(tmp_path):
    with each_transport(tmp_path, "asp", "--restarts", 1) as jobs:
        for job in jobs:
            job.wait_until_training()
            worker = int(re.findall(r"\[w2\] life 0 pid (\d+)", job.out())[-1])
            job.kill("scheduler")
            job.kill("server", 0)
            os.kill(worker, signal.SIGKILL)
        for job in jobs:
            job.wait_for(lambda: "[w2] life 1" in job.out(), "second life of worker 2")
        for job in jobs:
            told = job.end_well(0.7)
            assert sorted(events(told, "lost")) == sorted(events(told, "restart")) == ["scheduler", "server 0", "worker 2"]


def test_nothing_is_lost_with_a_scheduler(tmp_path):
    """Bit by bit: a job under bsp with an ordered sum, beside one that nothing happens to."""
    alone, killed = tmp_path / "alone", tmp_path / "killed"
    for folder in (alone, killed):
        folder.mkdir()
    with ExactTraining(alone, pause_s=0) as job:
        assert job.wait() == 0, job.err()
        final = job.finals()[0]
    with ExactTraining(killed, "--log", "info") as job:
        job.wait_for_checkpoint()
        os.kill(job.role("scheduler"), signal.SIGKILL)
        job.wait_for(lambda: "the job goes on from the log" in job.err(), "next scheduler")
        job.hurry()
        assert job.wait() == 0, job.err()
        job.expect_nothing_left()
        assert job.began() == [0], "scripts do not begin again"
        for mine in job.finals():
            assert np.array_equal(mine, final)


def test_pushes_and_pulls_go_on_without_a_scheduler(tmp_path):
    with Training(tmp_path, "bsp", "--log", "info") as job:
        job.wait_until_training()
        scheduler = job.role("scheduler")
        os.kill(scheduler, signal.SIGSTOP)  # as good as dead for the nodes, and nobody starts another
        try:
            for _ in range(4):  # for longer than it takes to notice that nothing is heard of it
                job.wait_for_progress()
        finally:
            os.kill(scheduler, signal.SIGCONT)
        job.end_well(0.5)


def test_a_limit_on_restarts_ends_the_job_and_names_the_checkpoint(tmp_path):
    roles = [("server", 1), ("scheduler", None)]
    with at_once(tmp_path, *((role, "bsp", f"--{role}-restarts", 1) for role, _ in roles), pause_s=0.05) as jobs:
        before = []
        for job, role in zip(jobs, roles):
            job.wait_until_training()
            before.append(job.role(*role))
            job.kill(*role)
        for job, role, killed in zip(jobs, roles, before):
            job.wait_for(lambda: job.role(*role) not in (None, killed), "restart")
            job.wait_for_progress()
            job.kill(*role)
        for job in jobs:
            assert job.wait() == 137
            assert "which is the limit" in job.err() and re.search(r"--resume \S+/checkpoint-\d+ ", job.err()), job.err()
            job.expect_nothing_left()


def test_a_server_that_stands_still_for_too_long_is_replaced(tmp_path):
    with each_transport(tmp_path, "bsp", expel_after="2s") as jobs:
        stopped = []
        for job in jobs:
            job.wait_until_training()
            stopped.append(job.role("server", 0))
            os.kill(stopped[-1], signal.SIGSTOP)
        for job, before in zip(jobs, stopped):
            job.wait_for(lambda: job.role("server", 0) not in (None, before), "another server 0")
        for job in jobs:
            told = job.end_well(0.5)
            assert "server 0" in events(told, "restart")


def test_under_fail_the_job_ends_before_the_server_is_missed(tmp_path):
    # The launcher sees the death itself: what tells others of a silence comes after the limit of this test.
    with Training(tmp_path, "asp", "--on-server-loss", "fail", expel_after="10m") as job:
        job.wait_until_training()
        job.kill("server", 0)
        assert job.wait() >= 128, job.err()
        assert "server 0 ended with" in job.err() and re.search(r"--resume \S+/checkpoint-\d+ ", job.err()), job.err()
        job.expect_nothing_left()
