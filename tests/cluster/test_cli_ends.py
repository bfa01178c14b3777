"""leeway run: which Python it takes, what it shows of scripts, and how a job ends that is stopped or fails."""

import os
import signal
import sys

import pytest
from cli_process import NOBODY_JOINED, Leeway, leeway
from job import PROGRAMS, Job

ENDS = PROGRAMS / "ends.py"


@pytest.fixture
def poor_python(tmp_path):
    """A PATH whose python3 has no torch."""
    folder = tmp_path / "bin"
    folder.mkdir()
    python = folder / "python3"
    python.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'torch'\" >&2\nexit 1\n")
    python.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize("dashes", [[], ["--"]])
def test_a_script_is_run_by_the_python_of_the_build(poor_python, dashes):
    result = leeway("run", "-w", 1, "-s", 1, *dashes, ENDS, "bar", PATH=poor_python)
    assert result.returncode == 0 and "Job done" in result.stdout, result


def test_a_python_without_torch_is_told_apart_from_the_right_one(poor_python):
    result = leeway("run", "-w", 1, "--", "python3", ENDS, "bar", PATH=poor_python)
    assert result.returncode == 1, result
    assert f"cannot import torch; the Python of this build is {sys.executable}" in result.stderr, result.stderr


@pytest.fixture
def script_with_flags(tmp_path):
    """A script that takes --epochs, and ends before it joins a job."""
    script = tmp_path / "train.py"
    script.write_text("import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--epochs')\nparser.parse_args()\n")
    return script


@pytest.mark.parametrize("flags, named", [(["-w", 4], "-w is a flag"), (["--epochs", 3, "--sync=ssp:3"], "--sync is a flag")])
def test_a_flag_of_run_after_the_script_is_told_its_place(script_with_flags, flags, named):
    result = leeway("run", "-w", 2, "-s", 1, script_with_flags, *flags)
    assert result.returncode == 2, result
    assert result.stderr.count(f"leeway: {named} of leeway run: put it before the script") == 1, result.stderr


def test_a_wrong_flag_of_the_script_is_not_taken_for_one_of_run(script_with_flags):
    result = leeway("run", "-w", 1, "-s", 1, script_with_flags, "--epoch-count", 3, "-v")
    assert result.returncode == 2 and "flag of leeway run" not in result.stderr, result


def test_a_script_that_was_asked_for_help_needs_not_join(script_with_flags):
    result = leeway("run", "-w", 1, "-s", 1, script_with_flags, "--help")
    assert result.returncode == 0 and "--epochs" in result.stdout and "lw.init()" not in result.stdout + result.stderr, result
    assert leeway("run", "-w", 1, "-s", 1, script_with_flags).returncode == NOBODY_JOINED


def test_a_progress_bar_stays_one_line(poor_python):
    result = leeway("run", "-w", 1, "-s", 1, "--quiet", ENDS, "bar")
    assert result.returncode == 0, result
    lines = [line for line in result.stderr.splitlines() if "/400" in line]
    assert len(lines) < 40 and lines[-1] == "[w0] 400/400 |#####", lines


@pytest.mark.parametrize("workers", [1, 2])
def test_after_an_error_of_a_script_its_traceback_comes_last(workers):
    result = leeway("run", "-w", workers, "-s", 1, ENDS, "fail", 0)
    assert result.returncode == 1, result
    *_, error, last = result.stderr.splitlines()
    assert error == "[w0] RuntimeError: a mistake in the script", result.stderr
    assert last.startswith("leeway: job failed after") and last.endswith(": worker 0 ended with exit code 1"), last
    assert "workers died" not in result.stderr and "Job" not in result.stdout, result


def test_after_ctrl_c_scripts_may_leave_and_evaluate(tmp_path):
    with Leeway(tmp_path, "run", "-w", 2, "-s", 1, "--grace", "60s", ENDS, "interrupted", tmp_path / "found") as job:
        job.wait_for(lambda: job.out().count("training") == 2, "training")
        os.kill(job.process.pid, signal.SIGINT)
        assert job.wait() == 130, job.err()
        job.expect_nothing_left()
        assert [(tmp_path / f"found.{rank}").read_text() for rank in (0, 1)] == 2 * ["evaluated"]
        assert "Job stopped" in job.out() and "failed" not in job.out() + job.err(), job.err()


def test_a_scheduler_by_itself_ends_with_a_summary_of_its_job(tmp_path):
    with Job(tmp_path, workers=1) as job:
        job.run("ends")
        scheduler = (tmp_path / "scheduler.log").read_text()
        assert "Job done after" in scheduler and "  w0 " in scheduler, scheduler
        line = (tmp_path / "server-0.log").read_text().splitlines()[-1]
        assert " pushes, " in line and " DPRs, " in line, line
