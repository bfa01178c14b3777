"""Roles that come back in unusual ways: from another exit code than a signal's, at the same address, late, without the
checkpoint that the job began from; and a job that is told to end when it is about to."""

import contextlib
import os
import re
import signal
import socket
import time

import pytest
from checkpointed import Training
from job import HANG_S, Job

LONG = 100_000  # iterations: until the test ends it


def test_a_scheduler_goes_on_when_the_checkpoint_that_the_job_began_from_is_gone(tmp_path):
    with Training(tmp_path, iterations=20, every=10, pause_s=0.002) as training:
        assert training.wait() == 0, training.err()
    began_from = sorted(tmp_path.glob("checkpoints/*/manifest.json"))[-1].parent
    with Training(tmp_path, "--resume", began_from, "--checkpoint-keep", 1, "--log", "info", iterations=LONG) as training:
        training.wait_for(lambda: not began_from.exists(), "pruning of the first checkpoint")
        before = training.role("scheduler")
        os.kill(before, signal.SIGKILL)
        training.wait_for(lambda: "the job goes on from the log" in training.err(), "next scheduler")
        at = len(training.out())
        training.wait_for(lambda: len(re.findall(r"is in iteration", training.out()[at:])) >= 4, "progress")
        assert training.process.poll() is None and len(training.began()) == 1
        os.kill(training.process.pid, signal.SIGTERM)
        assert training.wait() == 143
        assert [who for who, _ in training.events("restart")] == ["scheduler"]


def test_a_server_that_ends_with_a_code_that_asks_for_another_try_is_started_again(tmp_path):
    with Training(tmp_path) as training:
        training.wait_for_checkpoint()
        os.kill(training.role("server", "--server", "1"), signal.SIGTERM)  # which it takes, and ends by itself
        training.wait_for(lambda: "restart 1 of 100" in training.err(), "restart")
        training.hurry()
        assert training.wait() == 0, training.err()
        training.expect_nothing_left()
        (who, what), = training.events("lost")
        assert who == "server 1" and "signal" not in what and int(re.search(r"exit code (\d+)", what)[1]) >= 128, what
        assert [who for who, _ in training.events("restart")] == ["server 1"]


class Patched(Job):
    """Two workers, and one server that a test kills and starts again by hand; a checkpoint now and then."""

    def __init__(self, folder, *server_flags, **options):
        self.checkpoints = folder / "checkpoints"
        super().__init__(folder, workers=2, servers=1, server_flags=server_flags, sync="bsp", checkpoint_dir=self.checkpoints,
                         checkpoint_every=20, on_server_loss="patch", **options)
        self.scheduler_process, self.server = self._processes
        self.training = [self.start_worker(rank, "losses", LEEWAY_RESTART="0") for rank in range(2)]

    def wait_for(self, condition, what, limit_s=HANG_S):
        deadline = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < deadline, f"no {what} after {limit_s} s{self.logs()}"
            time.sleep(0.01)

    def steps(self):
        """The last step that each worker printed."""
        return [int(([0] + re.findall(r"steps (\d+)", worker.log.read_text()))[-1]) for worker in self.training]

    def wait_for_progress(self):
        before = self.steps()
        self.wait_for(lambda: all(now >= then + 20 for now, then in zip(self.steps(), before)), "progress")

    def kill_server(self):
        self.wait_for_progress()
        self.wait_for(lambda: list(self.checkpoints.glob("*/manifest.json")), "checkpoint")
        self.server.kill()
        self.server.wait()
        self._processes.remove(self.server)

    def end_well(self):
        self.wait_for_progress()
        (self.folder / "stop").touch()
        self.expect_end()


@contextlib.contextmanager
def reserved_port():
    """A port that the system gives to nobody else: this socket is bound to it, and leaves the listening to servers."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def test_a_server_is_replaced_at_the_address_of_the_one_before(tmp_path):
    with reserved_port() as port, Patched(tmp_path, *(listen := ("--listen", f"127.0.0.1:{port}"))) as job:
        job.kill_server()
        job.server = job.start_server(0, *listen, who="server 0 again")
        job.wait_for(lambda: f"at {listen[1]} is replaced by a process at {listen[1]}" in job.scheduler_process.log.read_text(),
                     "replacement")
        job.end_well()


def test_a_server_is_replaced_long_after_it_was_given_up(tmp_path):
    with Patched(tmp_path, suspect_after="1500ms", expel_after="2s") as job:
        job.kill_server()
        # Declared lost, and the workers have looked for it in vain more than once.
        job.wait_for(lambda: "for another process in its place" in job.scheduler_process.log.read_text(), "word of its loss")
        before = job.steps()
        time.sleep(3)
        assert max(now - then for now, then in zip(job.steps(), before)) <= 20, "who trains without a server?"
        assert all(worker.poll() is None for worker in job.training), job.logs()
        job.server = job.start_server(0, who="server 0 again")
        job.end_well()


@pytest.mark.parametrize("left", [0, 10])
def test_a_job_that_is_told_to_end_in_its_last_iterations_ends_well(tmp_path, left):
    """With its own end, or after a checkpoint from which nothing is missing; and not only when the grace is over."""
    with Training(tmp_path, "--grace", "10m", every=LONG, iterations=40 + left, pause_s=0.02) as training:
        training.wait_for_iteration(40)
        os.kill(training.process.pid, signal.SIGTERM)
        code = training.wait()
        training.expect_nothing_left()
        assert training.summary()["exit_code"] == code
        if code == 0:
            assert "Job done" in training.out() and len(training.finals()) == 2
        else:
            assert code == 143, training.err()
            assert re.search(r"--resume \S+/checkpoint-\d+ ", training.err().splitlines()[-1]), training.err()
