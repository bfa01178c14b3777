"""How long workers wait for each other, what ends a wait, and how the account of overlap divides it."""

import json
import time

from cli_process import leeway
from frame_proxy import ANSWERS, proxy_for
from job import HANG_S, Job

# Of the scheduler: it looks at waits ten times a second, so that the tests are short. Limits of waits are several seconds long:
# a busy machine may keep any process from running for a second.
OFTEN = {"sync": "bsp", "beat": "100ms"}


def test_a_worker_that_lives_is_waited_for_beyond_wait_max(tmp_path):
    with Job(tmp_path, workers=2, servers=1, **OFTEN) as job:
        job.run("pauses", "3", "7")


def test_a_worker_that_makes_no_call_for_wait_max_is_given_up_and_the_others_go_on(tmp_path):
    with Job(tmp_path, workers=2, servers=1, wait_max="5s", **OFTEN) as job:
        others = job.start_worker(0, "pauses", "", "")
        idle = job.start_worker(1, "pauses", "", "")
        job.expect_end([others])
        (tmp_path / "go").touch()
        job.expect_end([idle], code=131)
        told = (tmp_path / "worker-1.log").read_text()
        logged = (tmp_path / "scheduler.log").read_text()
    assert "declared dead: it has made no call for " in told and "--wait-max is 5.0 s" in told, told
    assert "worker 1 is dead: it has made no call for " in logged and "worker 0 has waited for it" in logged, logged


def test_ranks_that_wait_for_each_other_are_told_so_with_the_cure(tmp_path):
    with Job(tmp_path, workers=2, servers=1, **OFTEN) as job:
        workers = [job.start_worker(rank, "unequal") for rank in range(2)]
        job.expect_end(workers, code=5)
        job.expect_end(code=5)
        for rank in range(2):
            told = (tmp_path / f"worker-{rank}.log").read_text()
            for words in ("the workers wait for each other, and none computes",
                          'worker 0 waits for the values of table "push_pull/loss"', "which needs worker 1",
                          "worker 1 waits for the values of table ", "which needs worker 0", "join()", "drop_last=True"):
                assert words in told, (words, told)


def test_the_account_tells_the_hold_of_the_model_from_the_way_of_an_answer(tmp_path):
    steps, slow_s, way_s = 4, 1.2, 0.4

    def to_worker(frame, _):
        if frame.kind == ANSWERS:
            time.sleep(way_s)
        return [frame]

    def overlap_of_rank_0(job):
        told = leeway("ctl", "status", "--json", "--scheduler", job.scheduler, "--secret-file", job.secret_file)
        workers = json.loads(told.stdout)["workers"] if told.returncode == 0 else []
        return next((worker["figures"] for worker in workers if worker["rank"] == 0), {})

    with Job(tmp_path, workers=2, servers=1, **OFTEN) as job:
        proxy = proxy_for(job, to_worker=to_worker)
        workers = [job.start_worker(0, "slow_steps", steps, slow_s, scheduler=proxy.address),
                   job.start_worker(1, "slow_steps", steps, slow_s)]
        deadline = time.monotonic() + HANG_S
        while (figures := overlap_of_rank_0(job)).get("overlap.pushes", 0) < steps:
            assert time.monotonic() < deadline, (figures, job.logs())
        (tmp_path / "go").touch()
        job.expect_end(workers)
        proxy.close()
    # A busy machine makes both longer or, where worker 0 is late itself, the hold shorter.
    assert figures["overlap.wire_s"] >= steps * way_s / 2, figures
    assert figures["overlap.held_s"] > 0 and figures["overlap.held.w"] == figures["overlap.held_s"], figures
