"""ElasticSampler with DataLoader workers: every sample of each epoch once, also if a rank dies with batches drawn ahead."""

import time
from collections import Counter

import torch
from job import HANG_S, Job

RANKS, SAMPLES, EPOCHS = 2, 61, 2


def results(folder):
    return [torch.load(folder / f"result.{rank}.pt") for rank in range(RANKS)]


def wait_until(condition):
    deadline = time.monotonic() + HANG_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_ranks_share_each_epoch(tmp_path):
    with Job(tmp_path, workers=RANKS, servers=1, sync="asp") as job:
        job.run("elastic")
    both = results(tmp_path)
    assert all(both)
    for epoch in range(EPOCHS):
        samples = [sample for done in both for at, batch in done for sample in batch if at == epoch]
        assert sorted(samples) == list(range(SAMPLES))


def test_batches_that_a_dead_rank_had_drawn_ahead_go_to_another(tmp_path):
    with Job(tmp_path, workers=RANKS, servers=1, sync="asp") as job:
        mine, other = (job.start_worker(rank, "elastic", "die") for rank in range(RANKS))
        job.expect_end([other], code=9)
        wait_until(lambda: "worker 1 is dead" in (tmp_path / "scheduler.log").read_text())
        (tmp_path / "go").touch()
        job.expect_end([mine])
    samples = Counter(sample for done in results(tmp_path) for _, batch in done for sample in batch)
    assert samples == {float(sample): EPOCHS for sample in range(SAMPLES)}
