"""A long wait names once the member that it waits for, and a remedy."""

from job import Job


def test_a_worker_that_waits_for_a_slow_one_names_it(tmp_path):
    with Job(tmp_path, workers=2, servers=2, sync="bsp") as job:
        job.run("stall")
        said = (tmp_path / "worker-0.log").read_text()
        slow = (tmp_path / "worker-1.log").read_text()
    assert said.count("has waited 10.0 s") == 1, said
    for words in ('table "w" block 0 on server', "under bsp, until iteration 3 ends there; it lacks worker 1", "worker 1 (process ",
                  "is in iteration 3, last heard of ", "what to do: see whether process "):
        assert words in said, (words, said)
    assert "has waited" not in slow, slow
