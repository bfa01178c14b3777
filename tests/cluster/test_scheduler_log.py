"""The scheduler is killed, alone, and started again on its log: training goes on meanwhile, and the job ends well."""

import re
import signal
import time

import pytest
from job import HANG_S, Job


class LoggedJob(Job):
    """A job of programs/losses.py whose scheduler keeps a log."""

    def __init__(self, folder, **options):
        super().__init__(folder, workers=2, servers=1, log_dir=folder / "log", **options)
        self._scheduler = self._processes[0]
        self._workers = [self.start_worker(rank, "losses", LEEWAY_RESTART="0") for rank in range(2)]

    def steps(self, rank):
        found = re.findall(r"steps (\d+)", self._workers[rank].log.read_text())
        return int(found[-1]) if found else 0

    def wait_for_steps(self, more=40, limit_s=HANG_S):
        deadline = time.monotonic() + limit_s
        wanted = [self.steps(rank) + more for rank in range(2)]
        while any(self.steps(rank) < wanted[rank] for rank in range(2)):
            assert time.monotonic() < deadline, [worker.log.read_text() for worker in self._workers]
            time.sleep(0.02)

    def kill_scheduler(self):
        self._scheduler.send_signal(signal.SIGKILL)
        self._scheduler.wait()
        self._processes.remove(self._scheduler)

    def restart_scheduler(self, *more):
        self._scheduler = self._start("scheduler again", [*self._scheduler.args, *more])

    def scheduler_says(self, text, limit_s=HANG_S):
        deadline = time.monotonic() + limit_s
        while text not in self._scheduler.log.read_text():
            assert time.monotonic() < deadline, self._scheduler.log.read_text()
            time.sleep(0.02)

    def end_well(self):
        (self.folder / "stop").touch()
        self.expect_end()


@pytest.mark.parametrize("sync", ["bsp", "asp", "ssp:2"])
def test_training_goes_on_without_it_and_the_job_with_the_next(tmp_path, sync):
    with LoggedJob(tmp_path, sync=sync) as job:
        job.wait_for_steps()
        for _ in range(2):
            job.kill_scheduler()
            job.wait_for_steps()
            job.restart_scheduler()
            job.scheduler_says("the job goes on from the log")
            job.wait_for_steps()
        job.end_well()


def test_a_log_of_another_shape_is_refused_and_the_job_goes_on(tmp_path):
    with LoggedJob(tmp_path) as job:
        job.wait_for_steps()
        job.kill_scheduler()
        right = job._scheduler.args
        job._scheduler.args = ["3" if before == "--workers" else word for before, word in zip(["", *right], right)]
        job.restart_scheduler()
        job.scheduler_says("workers: got 3, wanted 2 as in the log")
        assert job._scheduler.wait(HANG_S) != 0
        job._processes.remove(job._scheduler)
        job._scheduler.args = right
        job.restart_scheduler()
        job.scheduler_says("the job goes on from the log")
        job.end_well()


def test_a_second_scheduler_with_the_same_log_is_refused_and_harms_nothing(tmp_path):
    status = tmp_path / "status.json"
    with LoggedJob(tmp_path, status_file=status) as job:
        job.wait_for_steps()
        address = (tmp_path / "scheduler").read_text()
        second = job._start("second scheduler", job._scheduler.args)
        assert 0 < second.wait(HANG_S) < 128, second.log.read_text()
        job._processes.remove(second)
        assert "another process has it" in second.log.read_text() and str(tmp_path / "log") in second.log.read_text()
        assert (tmp_path / "scheduler").read_text() == address and not status.exists()
        job.kill_scheduler()
        job.restart_scheduler()
        job.scheduler_says("the job goes on from the log")
        job.end_well()
