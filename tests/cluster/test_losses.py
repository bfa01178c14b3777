"""leeway run when workers die, stand still and come back, under each family of synchronization models."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from cli_process import Leeway, leeway
from job import BUILD, HANG_S, PROGRAMS

SYNCS = ["bsp", "ssp:2", "asp"]


class Training(Leeway):
    """A job of programs/losses.py, with what its workers say of themselves."""

    def __init__(self, folder, *flags, workers=3, sync="bsp", expel_after="2s", command=None, accepts_losses=True):
        self.summary_file = folder / "summary.json"
        told = [] if "--on-worker-loss" in flags or not accepts_losses else ["--on-worker-loss", "shrink"]
        super().__init__(folder, "run", "-w", workers, "-s", 1, "--sync", sync, "--expel-after", expel_after,
                         "--summary-json", self.summary_file, *told, *flags, "--",
                         *(command or [sys.executable, PROGRAMS / "losses.py", folder]))

    def said(self, rank, life):
        """(pid, steps, iteration) that this life said last; None before."""
        found = re.findall(rf"\[w{rank}\] life {life} pid (\d+) steps (\d+) iteration (\d+)", self.out())
        return tuple(map(int, found[-1])) if found else None

    def wait_until_training(self, rank, life=0):
        """Its pid, once it has pushed and pulled."""
        self.wait_for(lambda: self.said(rank, life), f"step of worker {rank} in life {life}")
        return self.said(rank, life)[0]

    def wait_for_progress(self, rank, life=0):
        """Until it has come further than it was at the call."""
        before = self.said(rank, life)[1]
        self.wait_for(lambda: self.said(rank, life)[1] >= before + 40, f"progress of worker {rank}")

    def all_training(self, workers=3):
        return [self.wait_until_training(rank) for rank in range(workers)]

    def wait_for_error(self, text, limit_s=HANG_S):
        self.wait_for(lambda: text in self.err(), f"line with {text!r}", limit_s)

    def end_well(self):
        """Lets the workers end; the lives of each in the summary."""
        (self.folder / "stop").touch()
        assert self.wait() == 0, self.err()
        self.expect_nothing_left()
        told = self.summary()
        assert told["exit_code"] == 0 and told["why"] == "" and "Job done" in self.out()
        return told

    def summary(self):
        return json.loads(self.summary_file.read_text())


def lives(summary, rank):
    """[(began, ended, exit code)] of a worker."""
    return [(life["began"], life["ended"], life["exit_code"]) for life in summary["workers"][rank]["lives"]]


# Processes of one host share memory by themselves; a peer that dies or stands still looks different over TCP.
@pytest.mark.parametrize("sync, transport", [*((sync, "auto") for sync in SYNCS), ("bsp", "tcp")])
def test_a_job_goes_on_without_those_that_were_killed_or_stand_still_too_long(tmp_path, sync, transport):
    with Training(tmp_path, "--transport", transport, sync=sync) as job:
        pids = job.all_training()
        os.kill(pids[1], signal.SIGKILL)
        os.kill(pids[2], signal.SIGSTOP)
        job.wait_for_error("worker 1 ended with exit code 137 (signal 9, Killed); the job goes on without it")
        for rank in (1, 2):
            job.wait_for_error(f"worker {rank} is dead")  # the scheduler's word
        job.wait_for_progress(0)
        os.kill(pids[2], signal.SIGCONT)
        job.wait_for_error("worker 2 ended with exit code 131")
        told = job.end_well()
        assert lives(told, 0) == [("start", "done", 0)]
        assert lives(told, 1) == [("start", "lost", 137)]
        assert lives(told, 2) == [("start", "lost", 131)]
        assert [w["state"] for w in told["status"]["workers"]] == ["left", "dead", "dead"]
        assert "2 of 3 workers lost" in job.out() and "lost: exit code 137" in job.out()


def test_a_worker_that_is_seen_to_die_is_not_waited_for_and_its_loss_is_no_success(tmp_path):
    with Training(tmp_path, workers=2, expel_after="600s", accepts_losses=False) as job:
        pids = job.all_training(2)
        os.kill(pids[1], signal.SIGKILL)
        job.wait_for_error("worker 1 is dead: its process has ended")
        job.wait_for_progress(0)
        (tmp_path / "stop").touch()
        assert job.wait() == 137, job.err()
        job.expect_nothing_left()
        assert "Job done" in job.out() and "1 of 2 workers lost" in job.out()
        last = job.err().splitlines()[-1]
        assert "without worker 1" in last and "--on-worker-loss" in last, last
        assert job.summary()["exit_code"] == 137


@pytest.mark.parametrize("sync, rank, transport", [*zip(SYNCS, (0, 1, 2), 3 * ["auto"]), ("asp", 1, "tcp")])
def test_a_worker_that_was_killed_is_started_again_and_joins(tmp_path, sync, rank, transport):
    with Training(tmp_path, "--restarts", 1, "--transport", transport, sync=sync) as job:
        pids = job.all_training()
        killed_at = job.said(rank, 0)[2]
        os.kill(pids[rank], signal.SIGKILL)
        job.wait_for_error("starting it again in 500ms (restart 1 of 1)")
        job.wait_until_training(rank, life=1)
        assert job.said(rank, 1)[2] > killed_at, "it begins where the job is"
        job.wait_for_progress(rank, life=1)
        for other in {0, 1, 2} - {rank}:
            job.wait_for_progress(other)
        told = job.end_well()
        assert lives(told, rank) == [("start", "lost", 137), ("restart", "done", 0)]
        assert told["workers"][rank]["restarts"] == 1
        assert told["status"]["workers"][rank]["incarnation"] == 2


@pytest.mark.parametrize("sync", SYNCS)
def test_under_fail_a_death_ends_the_job(tmp_path, sync):
    with Training(tmp_path, "--on-worker-loss", "fail", sync=sync) as job:
        pids = job.all_training()
        os.kill(pids[1], signal.SIGKILL)
        assert job.wait() == 137
        assert "worker 1 ended with exit code 137" in job.err()
        job.expect_nothing_left()
        assert lives(job.summary(), 1) == [("start", "lost", 137)]


@pytest.mark.parametrize("sync", SYNCS)
def test_with_rejoin_one_that_was_declared_dead_is_started_again(tmp_path, sync):
    with Training(tmp_path, "--rejoin", sync=sync) as job:
        pids = job.all_training()
        os.kill(pids[1], signal.SIGSTOP)
        job.wait_for_error("worker 1 is dead")
        os.kill(pids[1], signal.SIGCONT)
        job.wait_until_training(1, life=1)
        job.wait_for_progress(0)
        told = job.end_well()
        assert lives(told, 1) == [("start", "lost", 131), ("rejoin", "done", 0)]
        assert (told["workers"][1]["restarts"], told["workers"][1]["rejoins"]) == (0, 1)


def test_what_never_wakes_or_comes_back_too_late_ends_with_the_job(tmp_path):
    script = f'[ "$LEEWAY_RESTART" = 1 ] && exec sleep 600; exec "{sys.executable}" "{PROGRAMS}/losses.py" "{tmp_path}"'
    with Training(tmp_path, "--restarts", 1, sync="asp", command=["sh", "-c", script]) as job:
        pids = job.all_training()
        os.kill(pids[1], signal.SIGSTOP)
        os.kill(pids[2], signal.SIGKILL)
        told = job.end_well()
        assert lives(told, 1) == [("start", "lost", 137)]
        assert lives(told, 2) == [("start", "lost", 137), ("restart", "late", 137)]
        assert "worker 1 is no member of the job and has not ended with it; killing it" in job.err()
        assert "worker 2 came back when the job was over" in job.err()


def test_under_fail_one_that_stands_still_ends_the_job(tmp_path):
    with Training(tmp_path, "--on-worker-loss", "fail", workers=2) as job:
        os.kill(job.all_training(2)[1], signal.SIGSTOP)
        assert job.wait() == 128
        assert "worker 1 died: silent for 2.0 s" in job.err()
        job.expect_nothing_left()


def test_under_wait_the_place_is_kept_for_one_started_by_hand(tmp_path):
    with Training(tmp_path, "--on-worker-loss", "wait", workers=2) as job:
        pids = job.all_training(2)
        os.kill(pids[1], signal.SIGKILL)
        job.wait_for_error("its place is kept for 5m")
        place = dict(re.findall(r"(LEEWAY_\w+)=(\S+)", job.err()))
        assert place["LEEWAY_RANK"] == "1"
        job.wait_for_error("the job keeps the place of worker 1")
        before = job.said(0, 0)[1]
        with open(tmp_path / "by-hand", "wb") as out:
            another = subprocess.Popen([sys.executable, PROGRAMS / "losses.py", tmp_path], stdout=out, stderr=out,
                                       env={**os.environ, **place, "PYTHONPATH": str(BUILD / "python")})
        try:
            job.wait_for(lambda: job.said(0, 0)[1] >= before + 40, "progress with another in its place")
            (tmp_path / "stop").touch()
            assert job.wait() == 0, job.err()
            assert another.wait(HANG_S) == 0, (tmp_path / "by-hand").read_text()
        finally:
            another.kill()
            another.wait()


def test_a_job_that_lost_all_workers_fails(tmp_path):
    with Training(tmp_path, workers=2) as job:
        for pid in job.all_training(2):
            os.kill(pid, signal.SIGKILL)
        assert job.wait() == 137
        assert "the last one" in job.err().splitlines()[-1] and "Job failed" in job.out()
        assert "the last one" not in job.out(), "the reason stands once"
        job.expect_nothing_left()
        assert [lives(job.summary(), rank) for rank in (0, 1)] == 2 * [[("start", "lost", 137)]]


def test_an_error_of_the_script_is_no_loss():
    script = 'if [ "$LEEWAY_RANK" = 1 ]; then exit 3; fi; sleep 600'
    result = leeway("run", "-w", 2, "--restarts", 5, "--", "sh", "-c", script)
    assert result.returncode == 3 and "starting it again" not in result.stderr, result


def test_a_loss_before_the_job_has_begun_ends_it():
    script = 'if [ "$LEEWAY_RANK" = 1 ]; then kill -9 $$; fi; sleep 600'
    result = leeway("run", "-w", 2, "--", "sh", "-c", script)
    assert result.returncode == 137 and "before the job had begun" in result.stderr, result


def test_killing_the_launcher_leaves_nothing_behind_whatever_state_workers_are_in(tmp_path):
    with Training(tmp_path, "--restarts", 1) as job:
        pids = job.all_training()
        os.kill(pids[1], signal.SIGKILL)
        job.wait_until_training(1, life=1)
        os.kill(pids[2], signal.SIGSTOP)
        # Launcher, guard, scheduler, server, 3 workers with a child each.
        job.wait_for(lambda: len(job.family()) >= 10, "all processes")
        os.kill(job.process.pid, signal.SIGKILL)
        assert job.wait() == -9
        job.expect_nothing_left()


def test_sigquit_shows_who_waits_for_what_and_the_job_goes_on(tmp_path):
    with Training(tmp_path, workers=2, expel_after="60s") as job:
        pids = job.all_training(2)
        os.kill(pids[1], signal.SIGSTOP)

        def told():
            os.kill(job.process.pid, signal.SIGQUIT)
            return re.search(r"^  w0 +\d+ +\S+  waits for w1, \S+ s \(w on s0\): ", job.err(), re.MULTILINE)
        job.wait_for(told, "table with what worker 0 waits for")
        assert "Who waits for what (the job is running)" in job.err()
        assert re.search(r"^  s0 shard 0 +up", job.err(), re.MULTILINE)
        os.kill(pids[1], signal.SIGCONT)
        job.wait_for_progress(0)
        job.end_well()


def test_sigquit_of_a_scheduler_by_itself(tmp_path):
    with Leeway(tmp_path, "scheduler", "--listen", "127.0.0.1:0", "--insecure") as job:
        job.wait_for(lambda: "listening" in job.err(), "scheduler")
        os.kill(job.process.pid, signal.SIGQUIT)
        job.wait_for(lambda: "Who waits for what (the job is gathering)" in job.err(), "table")
        assert job.process.poll() is None
        os.kill(job.process.pid, signal.SIGTERM)
        assert job.wait() == 143


@pytest.mark.parametrize("flags, names", [
    (["--on-worker-loss", "panic"], '--on-worker-loss: got "panic", wanted shrink, wait or fail'),
    (["--min-workers", "3"], "--min-workers: got 3, wanted at most 2"),
    (["--restarts", "-1"], '--restarts: got "-1"'),
])
def test_what_cannot_work_is_refused_before_anything_starts(flags, names):
    result = leeway("run", "-w", 2, *flags, "--", "echo", "ran")
    assert result.returncode == 2 and names in result.stderr and "ran" not in result.stdout, result
