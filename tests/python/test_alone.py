"""A script that nobody launched is a job of one process."""

import numpy as np
import pytest
import small
import torch

import leeway.torch as lw
from leeway import batch_pool


def test_one_process_has_rank_0_of_1(alone):
    assert (alone.rank(), alone.size(), alone.iteration()) == (0, 1, 0)
    alone.init()  # again: nothing happens
    alone.barrier()


def test_jobs_follow_one_another_in_one_process():
    for _ in range(3):
        lw.init()
        model = small.model()
        optimizer = small.distributed(model)
        small.loss(model, 0).backward()
        optimizer.step()
        lw.shutdown()
        assert type(model[0]._parameters).__name__ == "OrderedDict"
        lw.shutdown()  # again: nothing happens


def test_push_pull_of_one_is_the_tensor(alone):
    for value in (1.0, 2.5):
        assert alone.push_pull(torch.full((2, 2), value)).tolist() == [[value] * 2] * 2
        assert alone.push_pull(torch.tensor(value), average=False).item() == value


def test_push_pull_refuses_a_nan_and_goes_on(alone):
    with pytest.raises(alone.LeewayError):
        alone.push_pull(torch.tensor([float("nan")]), name="x")
    assert alone.push_pull(torch.ones(1), name="x").item() == 1.0


def test_the_pool_is_a_permutation_per_epoch_with_a_short_last_batch(alone):
    batches = list(alone.BatchPool(samples=10, batch=4, epochs=2, seed=3))
    assert [len(b) for b in batches] == [4, 4, 2] * 2
    first, second = np.concatenate(batches[:3]), np.concatenate(batches[3:])
    assert sorted(first) == sorted(second) == list(range(10)) and list(first) != list(second)
    again = list(alone.BatchPool(samples=10, batch=4, epochs=2, seed=3))
    assert all((a == b).all() for a, b in zip(batches, again))
    other = list(alone.BatchPool(samples=10, batch=4, epochs=2, seed=4))
    assert any((a != b).any() for a, b in zip(batches, other))
    assert batch_pool.BatchPool(5, 2, 3).batches == 9


def test_a_pool_goes_on_where_a_loop_was_left(alone):
    pool = alone.BatchPool(samples=10, batch=1)
    drawn = []
    for indices in pool:
        drawn.append(indices)
        break
    drawn += list(pool)
    assert sorted(np.concatenate(drawn)) == list(range(10))


def test_a_slowed_worker_takes_its_factor_longer(monkeypatch):
    monkeypatch.setenv("LEEWAY_SLOWDOWN", "3")
    lw.init()
    model = small.model()
    optimizer = small.distributed(model)
    for step in range(20):
        optimizer.zero_grad()
        small.loss(model, step).backward()
        optimizer.step()
    figures = optimizer.figures()
    lw.shutdown()
    assert figures["slowed_s"] > 1.0 * figures["compute_s"] * 0.5


def test_evaluation_after_join_sees_the_final_values(alone):
    model = small.model()
    optimizer = small.distributed(model)
    small.loss(model, 0).backward()
    optimizer.step()
    alone.join()
    assert not small.close(model, small.model(), 1e-3)
    with torch.no_grad():
        small.loss(model, 1)
    with pytest.raises(alone.LeewayError):
        optimizer.step()
