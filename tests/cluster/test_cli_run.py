"""leeway run: what workers get, how a job ends, and that nothing stays behind."""

import json
import os
import signal
import sys

import pytest
from cli_process import NOBODY_JOINED, Leeway, leeway
from job import PROGRAMS

SHELL_LOOP = "trap '' INT; echo ready $$; sleep 600 & echo child $!; wait"


def ready(job, workers):
    """All workers have started their child."""
    return lambda: job.out().count("child ") == workers


def test_workers_get_their_place_and_lines_get_a_prefix():
    script = 'echo "$LEEWAY_RANK of $LEEWAY_SIZE slow ${LEEWAY_SLOWDOWN:-not} threads $OMP_NUM_THREADS"; echo oops >&2'
    result = leeway("run", "-w", 3, "-s", 1, "--slow-worker", "2:1.5x", "--", "sh", "-c", script, LEEWAY_RANK="77")
    assert result.returncode == NOBODY_JOINED, result
    lines = result.stdout.splitlines()
    assert "[w0] 0 of 3 slow not threads 1" in lines
    assert "[w1] 1 of 3 slow not threads 1" in lines
    assert "[w2] 2 of 3 slow 1.5 threads 1" in lines
    assert result.stderr.count("oops") == 3 and "[w1] oops" in result.stderr.splitlines()


def test_workers_get_the_pattern_of_slowness_with_the_seed_of_the_job():
    result = leeway("run", "-w", 2, "-s", 1, "--seed", 9, "--slow-worker", "rotate:4x,5-10", "--", "sh", "-c",
                    'echo "${LEEWAY_SLOWDOWN:-not} $LEEWAY_SLOW_PATTERN"')
    assert result.returncode == NOBODY_JOINED, result
    assert sorted(result.stdout.splitlines()) == ["[w0] not rotate 4 5 10 9", "[w1] not rotate 4 5 10 9"]


def test_a_command_without_the_dashes_is_said_to_be_one():
    result = leeway("run", "-w", 1, "python3", "train.py")
    assert result.returncode == 2 and 'unexpected "python3"; the command to run stands after "--"' in result.stderr


def test_a_job_that_nobody_joined_says_so():
    result = leeway("run", "-w", 1, "--", "sleep", "1")
    assert result.returncode == NOBODY_JOINED, result
    assert "no worker joined the job: the script never called lw.init()" in result.stderr.splitlines()[-1], result


def test_output_can_be_left_as_it_is_and_nothing_added():
    result = leeway("run", "-w", 1, "--no-prefix", "--quiet", "--", "sh", "-c", "printf 'one\\ntwo'")
    assert (result.returncode, result.stdout) == (NOBODY_JOINED, "one\ntwo\n")
    assert result.stderr.count("\n") == 1 and "lw.init()" in result.stderr


def test_the_exit_code_of_the_first_failure_is_passed_on_and_everything_ends(tmp_path):
    script = f'if [ "$LEEWAY_RANK" = 1 ]; then exit 3; fi; {SHELL_LOOP}'
    with Leeway(tmp_path, "run", "-w", 3, "-s", 2, "--", "sh", "-c", script) as job:
        assert job.wait() == 3
        assert "worker 1 ended with exit code 3" in job.err()
        job.expect_nothing_left()


def test_a_worker_ended_by_a_signal_gives_128_and_its_number():
    assert leeway("run", "-w", 1, "--quiet", "--", "sh", "-c", "kill -9 $$").returncode == 137


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_ends_everything(tmp_path, number, code):
    # The scripts ignore SIGINT: the end comes with SIGTERM, after the grace.
    with Leeway(tmp_path, "run", "-w", 2, "-s", 2, "--grace", "200ms", "--", "sh", "-c", SHELL_LOOP) as job:
        job.wait_for(ready(job, 2), "workers")
        # Launcher, guard, scheduler, 2 servers, 2 workers with a child each. A process that execs has no environment for a moment.
        job.wait_for(lambda: len(job.family()) >= 9, "all processes")
        os.kill(job.process.pid, number)
        assert job.wait() == code
        assert "Job stopped" in job.out() and "failed" not in job.out() + job.err()
        job.expect_nothing_left()


def test_a_second_ctrl_c_kills_what_does_not_listen(tmp_path):
    with Leeway(tmp_path, "run", "-w", 1, "--grace", "600s", "--", "sh", "-c",
                "trap '' INT TERM; sleep 600 & echo child $!; while :; do wait; done") as job:
        job.wait_for(ready(job, 1), "worker")
        os.kill(job.process.pid, signal.SIGINT)
        job.wait_for(lambda: "once more" in job.err(), "hint")
        os.kill(job.process.pid, signal.SIGINT)
        assert job.wait() == 130  # long before the grace of the first Ctrl-C ends
        job.expect_nothing_left()


def test_killing_the_launcher_leaves_nothing_behind(tmp_path):
    with Leeway(tmp_path, "run", "-w", 2, "-s", 2, "--", "sh", "-c", SHELL_LOOP) as job:
        job.wait_for(ready(job, 2), "workers")
        os.kill(job.process.pid, signal.SIGKILL)
        assert job.wait() == -9
        job.expect_nothing_left()


def test_what_a_worker_leaves_running_ends_with_it(tmp_path):
    with Leeway(tmp_path, "run", "-w", 1, "--", "sh", "-c", "sleep 600 & echo done") as job:
        assert job.wait() == NOBODY_JOINED
        job.expect_nothing_left()


def test_under_fail_the_death_of_a_server_before_the_job_has_begun_ends_it(tmp_path):
    with Leeway(tmp_path, "run", "-w", 1, "-s", 1, "--on-server-loss", "fail", "--", "sh", "-c", SHELL_LOOP) as job:
        job.wait_for(ready(job, 1), "worker")
        def servers():
            return [pid for pid, words in job.commands().items() if words[1:2] == ["server"]]
        job.wait_for(servers, "server")
        os.kill(servers()[0], signal.SIGKILL)
        assert job.wait() == 137
        assert "server 0 ended with exit code 137" in job.err()
        job.expect_nothing_left()


def test_a_training_job_ends_with_its_summary(tmp_path):
    summary = tmp_path / "summary.json"
    with Leeway(tmp_path, "run", "-w", 2, "-s", 2, "--shards", 2, "--block-bytes", "16KiB", "--sync", "bsp", "--summary-json", summary,
                "--", sys.executable, PROGRAMS / "cli_steps.py", tmp_path, 20) as job:
        assert job.wait() == 0, job.err()
        assert "[w0] steps 20" in job.out() and "[w1] steps 20" in job.out()
        table, errors = job.out(), job.err()
        job.expect_nothing_left()
    assert "same first gradients" not in errors, "each rank had batches of its own"
    for word in ("Job done", "worker", "steps", "wait %", "server", "DPRs", "bsp + aggregate"):
        assert word in table, table
    told = json.loads(summary.read_text())
    assert told["exit_code"] == 0 and told["status"]["phase"] == "ended"
    workers, shards = told["status"]["workers"], told["status"]["shards"]
    assert [w["state"] for w in workers] == ["left", "left"] and len(shards) == 4
    assert all(w["iteration"] == 20 for w in workers)
    tables = told["status"]["tables"]
    blocks = sum(t["blocks"] for t in tables)
    assert blocks > len(tables), "16 KiB must cut a table into several blocks"
    summed = sum(s["figures"]["summed"] for s in shards)
    assert summed == 2 * 20 * blocks, "every block of every step of both workers, once"
    assert told["totals"]["samples"] == 2 * 20 * 32
    carriers = told["account"]["connected_over"]
    # All of it is on one host; one that was slow to greet is told of.
    assert sum(carriers.values()) == 2 * 4 and (carriers == {"local": 2 * 4} or "no greeting within" in errors), carriers


def test_a_script_that_raises_passes_on_its_exit_code(tmp_path):
    with Leeway(tmp_path, "run", "-w", 2, "-s", 1, "--", sys.executable, PROGRAMS / "cli_steps.py", tmp_path, 20, 1) as job:
        assert job.wait() == 1
        assert "[w1] RuntimeError: rank 1 was told to fail" in job.err()
        job.expect_nothing_left()
