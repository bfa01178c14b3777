"""How long workers wait for each other, and what ends a wait."""

from job import Job

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
