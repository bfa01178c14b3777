"""Checkpoints that someone asks for: leeway ctl, SIGUSR1 and SIGTERM of leeway run and of a scheduler by itself."""

import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from checkpointed import Training
from cli_process import leeway
from job import BUILD, HANG_S, Job

LONG = 100_000  # iterations: until the test ends it


def variables_of(job):
    """How ctl finds the scheduler of a run, and proves that it may ask: the files that its nodes read."""
    files = list(job.temporary.glob("*/scheduler.address"))
    assert len(files) == 1, files
    return {"LEEWAY_SCHEDULER": f"file:{files[0]}", "LEEWAY_SECRET_FILE": str(files[0].parent / "secret")}


def test_a_checkpoint_by_ctl_while_training_goes_on(tmp_path):
    with Training(tmp_path, every=LONG, iterations=LONG) as training:
        training.wait_for_iteration(20)
        variables = variables_of(training)
        where, secret = variables["LEEWAY_SCHEDULER"], variables["LEEWAY_SECRET_FILE"]
        got = leeway("ctl", "checkpoint", "--wait", **variables)
        assert got.returncode == 0, got
        folder = got.stdout.strip()
        assert folder.startswith(str(training.checkpoints)) and "is whole" in got.stderr, got
        assert leeway("checkpoint", "verify", folder).returncode == 0
        iteration = int(re.search(r"of iteration (\d+)", got.stderr)[1])
        training.wait_for_iteration((iteration // 20 + 2) * 20)

        told = json.loads(leeway("ctl", "status", "--json", "--scheduler", where, "--secret-file", secret).stdout)
        assert told["phase"] == "running" and told["checkpoints"]["completed"] == 1
        assert told["checkpoints"]["last"]["folder"] == folder and told["checkpoints"]["last"]["iteration"] == iteration
        text = leeway("ctl", "status", "--scheduler", where, "--secret-file", secret).stdout
        assert "running" in text and folder in text and re.search(r"^  w1 +\d+ ", text, re.MULTILINE), text

        asked = leeway("ctl", "checkpoint", "--scheduler", where, "--secret-file", secret)
        assert asked.returncode == 0 and "--wait prints its folder" in asked.stdout, asked
        training.wait_for(lambda: len(list(training.checkpoints.glob("*/manifest.json"))) == 2, "second checkpoint")


def test_a_status_that_cannot_be_written_is_an_error(tmp_path):
    with Training(tmp_path, every=LONG, iterations=LONG) as training, open("/dev/full", "w") as full:
        training.wait_for_iteration(20)
        for flags in ([], ["--json"], ["--watch"]):
            shown = subprocess.run([str(BUILD / "leeway"), "ctl", "status", *flags], stdout=full, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **variables_of(training)}, timeout=HANG_S, check=False)
            assert shown.returncode == 6 and "cannot write standard output: No space left on device" in shown.stderr, shown
            assert shown.stderr.count("\n") == 1, shown


def test_where_there_can_be_none_ctl_says_why(tmp_path):
    assert "LEEWAY_SCHEDULER" in leeway("ctl", "status", LEEWAY_SCHEDULER="").stderr
    nobody = leeway("ctl", "status", "--scheduler", "127.0.0.1:1", "--timeout", "1s", "--insecure")
    assert nobody.returncode >= 128 and "127.0.0.1:1" in nobody.stderr, nobody
    slow = leeway("ctl", "status", "--scheduler", "127.0.0.1:1", "--timeout", "4s", "--insecure")
    assert slow.stderr.startswith("leeway: waiting for the scheduler at 127.0.0.1:1 (--timeout 4s)\n"), slow
    with Training(tmp_path, every=0, iterations=LONG) as training:
        training.wait_for_iteration(20)
        refused = leeway("ctl", "checkpoint", "--wait", **variables_of(training))
        assert refused.returncode == 5 and "--checkpoint-dir" in refused.stderr, refused
        os.kill(training.process.pid, signal.SIGUSR1)
        training.wait_for(lambda: "no checkpoint: --checkpoint-dir is not given" in training.err(), "line")
        assert training.process.poll() is None


def test_sigusr1_writes_a_checkpoint_and_the_job_goes_on(tmp_path):
    with Training(tmp_path, every=LONG, iterations=1000, pause_s=0.02) as training:
        training.wait_for_iteration(20)
        os.kill(training.process.pid, signal.SIGUSR1)
        training.wait_for(lambda: re.search(r"checkpoint \d+ of iteration \d+ is at \S+", training.err()), "line")
        training.hurry()
        assert training.wait() == 0, training.err()
        assert len(training.events("checkpoint")) == 1
        assert "checkpoints: 1 whole" in training.out()
        training.expect_nothing_left()


def test_sigterm_ends_the_job_after_a_checkpoint_from_which_it_goes_on(tmp_path):
    alone, drained = tmp_path / "alone", tmp_path / "drained"
    for folder in (alone, drained):
        folder.mkdir()
    many = 600  # iterations: SIGTERM comes well before the end
    with Training(alone, pause_s=0, iterations=many) as training:
        assert training.wait() == 0, training.err()
        final = training.finals()[0]
    with Training(drained, every=LONG, iterations=many) as training:
        training.wait_for_iteration(40)
        os.kill(training.process.pid, signal.SIGTERM)
        assert training.wait() == 143
        last = training.err().splitlines()[-1]
        assert re.search(r"leeway run --resume \S+/checkpoint-\d+ ", last), training.err()
        training.expect_nothing_left()
        assert training.summary()["exit_code"] == 143
    with Training(drained, "--resume", drained / "checkpoints", pause_s=0, iterations=many) as training:
        assert training.wait() == 0, training.err()
        assert training.began()[0] >= 40
        for mine in training.finals():
            assert np.array_equal(mine, final)


def standing_still(training):
    """A job that cannot come to its checkpoint: one worker is stopped, and the other waits for it."""
    for pid in training.family():
        with open(f"/proc/{pid}/environ", "rb") as file:
            if b"LEEWAY_RANK=1" in file.read().split(b"\0"):
                os.kill(pid, signal.SIGSTOP)


def test_sigterm_waits_no_longer_than_the_grace(tmp_path):
    with Training(tmp_path, "--grace", "1s", "--expel-after", "60s", every=LONG, iterations=LONG) as training:
        training.wait_for_iteration(20)
        standing_still(training)
        os.kill(training.process.pid, signal.SIGTERM)
        assert training.wait() == 143
        assert "without a new checkpoint" in training.err(), training.err()
        training.expect_nothing_left()


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_the_job_at_once(tmp_path, second):
    with Training(tmp_path, "--grace", "10m", "--expel-after", "60s", every=LONG, iterations=LONG) as training:
        training.wait_for_iteration(20)
        standing_still(training)
        os.kill(training.process.pid, signal.SIGTERM)
        training.wait_for(lambda: "ends after a checkpoint" in training.err(), "drain")
        os.kill(training.process.pid, second)
        assert training.wait() == 128 + second
        training.expect_nothing_left()


def test_without_a_grace_sigterm_ends_the_job_at_once(tmp_path):
    with Training(tmp_path, "--grace", "0s", every=LONG, iterations=LONG) as training:
        training.wait_for_iteration(20)
        os.kill(training.process.pid, signal.SIGTERM)
        assert training.wait() == 143
        assert not list(training.checkpoints.glob("*/manifest.json"))


def test_a_scheduler_by_itself_takes_the_same_signals(tmp_path):
    checkpoints = tmp_path / "checkpoints"
    with Job(tmp_path, workers=2, servers=2, checkpoint_dir=checkpoints, checkpoint_keep=9) as job:
        scheduler = job._processes[0]
        workers = [job.start_worker(rank, "checkpoints", LONG, 0.01) for rank in range(2)]
        deadline = time.monotonic() + HANG_S
        while not all("is in iteration 20" in worker.log.read_text() for worker in workers):
            assert time.monotonic() < deadline, job.logs()
            time.sleep(0.02)
        scheduler.send_signal(signal.SIGUSR1)
        while json.loads(leeway("ctl", "status", "--json", "--scheduler", job.scheduler, "--secret-file", job.secret_file).stdout)["checkpoints"]["completed"] < 1:
            assert time.monotonic() < deadline + HANG_S, job.logs()
            time.sleep(0.02)
        scheduler.send_signal(signal.SIGTERM)
        job.expect_end([scheduler], code=143)
        assert len(list(checkpoints.glob("*/manifest.json"))) == 2
        assert "go on with --resume" in scheduler.log.read_text(), job.logs()
