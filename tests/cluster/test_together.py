"""Calls that ranks make together: push_pull, broadcast, barrier, batches from one pool, gradient accumulation."""

import numpy as np
import pytest
import torch
from job import Job

RANKS = 3


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    with Job(folder, workers=RANKS, servers=2) as job:
        job.run("together")
    return [torch.load(folder / f"result.{rank}.pt") for rank in range(RANKS)]


def test_rank_and_size(results):
    assert [(result["rank"], result["size"]) for result in results] == [(rank, RANKS) for rank in range(RANKS)]


def test_push_pull_gives_the_mean_of_each_call(results):
    for result in results:
        for i, mean in enumerate(result["mean"]):
            assert torch.allclose(mean, torch.full((3, 2), 1.0 + 10 * i))


def test_push_pull_gives_the_sum_of_each_call(results):
    for result in results:
        assert [total.item() for total in result["sum"]] == pytest.approx([6.0 + 3 * i for i in range(3)])


def test_a_member_that_left_is_not_in_the_sum(results):
    assert [result["sum of the rest"].item() for result in results[:-1]] == pytest.approx([RANKS - 1] * (RANKS - 1))


@pytest.mark.parametrize("name", ["n", "large n"])
def test_a_tensor_that_is_not_finite_is_in_no_sum(results, name):
    for rank, result in enumerate(results):
        assert result[name][::2] == [[RANKS]] * 2
        assert result[name][1] == ([pytest.approx(RANKS - 1)] if rank != 1 else "invalid_argument")


def test_broadcast_carries_every_type_bit_by_bit(results):
    for result in results:
        odd = result["odd"]
        assert odd["f"].tolist() == [[1.0] * 3] * 2
        assert odd["i"].tolist() == [1, 1 << 40]
        assert odd["b"].tolist() == [True, True, False]
        assert odd["nan"].isnan()
        assert odd["double"].item() == 1.1


def test_the_pool_gives_every_sample_once_per_epoch(results):
    for epoch in range(3):
        batches = [b for result in results for b in result["drawn"][epoch]]
        assert sorted(len(b) for b in batches) == [103 % 8] + [8] * (103 // 8)
        assert sorted(np.concatenate(batches).tolist()) == list(range(103))
    assert sum(bool(result["drawn"][0] or result["drawn"][1] or result["drawn"][2]) for result in results) >= 2


def test_epochs_are_different_permutations(results):
    first = [sorted(b.tolist()) for result in results for b in result["drawn"][0]]
    second = [sorted(b.tolist()) for result in results for b in result["drawn"][1]]
    assert sorted(first) != sorted(second)


def test_accumulation_under_no_sync_equals_the_large_batch(results):
    for result in results:
        assert result["iterations"] == 5
        for small, large in zip(result["accumulated"], result["large"]):
            assert (small - large).norm() <= 1e-5 * large.norm()
