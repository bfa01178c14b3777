"""A script that nobody launched is a job of one process."""

import time

import numpy as np
import pytest
import small
import torch

import leeway.torch as lw
from leeway import batch_pool, session, slow_pattern
from leeway.errors import FailedPrecondition


def test_one_process_has_rank_0_of_1(alone):
    assert (alone.rank(), alone.size(), alone.iteration()) == (0, 1, 0)
    alone.init()  # again: nothing happens
    alone.barrier()


@pytest.mark.parametrize("said, wanted", [(None, 0), ("3", 3)])
def test_the_rank_on_its_host_is_the_launchers_or_the_rank(monkeypatch, said, wanted):
    if said is not None:
        monkeypatch.setenv("LEEWAY_LOCAL_RANK", said)
    lw.init()
    assert lw.local_rank() == wanted
    lw.shutdown()
    assert lw.local_rank() == wanted


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


def test_rank_and_size_stay_known_after_the_job():
    lw.init()
    lw.shutdown()
    assert (lw.rank(), lw.size()) == (0, 1)
    with pytest.raises(FailedPrecondition, match="has left its job"):
        lw.barrier()


def test_push_pull_of_one_is_the_tensor(alone):
    for value in (1.0, 2.5):
        assert alone.push_pull(torch.full((2, 2), value)).tolist() == [[value] * 2] * 2
        assert alone.push_pull(torch.tensor(value), average=False).item() == value


def test_who_may_leave_iterations_out_meets_nobody_after_a_step():
    lw.init(sync="drop:1")
    try:
        optimizer = small.distributed(model := small.model())
        assert lw.push_pull(torch.ones(1)).item() == 1.0
        lw.barrier()
        small.loss(model, 0).backward()
        optimizer.step()
        for call in (lambda: lw.push_pull(torch.ones(1)), lw.barrier):
            with pytest.raises(FailedPrecondition, match='(push_pull|barrier "barrier"): table ".*" follows "drop:1"'):
                call()
        lw.set_sync("bsp")
        lw.barrier()
    finally:
        lw.shutdown()


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


def train(model, optimizer, steps):
    for step in range(steps):
        optimizer.zero_grad()
        small.loss(model, step).backward()
        optimizer.step()


def test_a_slowed_worker_takes_its_factor_longer(alone):
    session.current().slow_pattern = slow_pattern.Steady(3.0)
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, 1)  # the first step is never slowed
    before, began = optimizer.figures(), time.perf_counter()
    train(model, optimizer, 20)
    took, after = time.perf_counter() - began, optimizer.figures()
    computed, slowed = (after[name] - before[name] for name in ("compute_s", "slowed_s"))
    assert computed > 0 and slowed == pytest.approx(2 * computed) and took >= computed + slowed


WAIT_S = 1.5


class SlowCalls:
    """Stands in for the worker; calls that wait for other members take more than a second."""

    def __init__(self, worker):
        self._worker = worker

    def __getattr__(self, name):
        if name in ("barrier", "lease_batches", "push_pull"):
            time.sleep(WAIT_S)
        return getattr(self._worker, name)


@pytest.mark.parametrize("call", [lambda: lw.barrier(), lambda: lw.push_pull(torch.ones(1)), lambda: next(iter(lw.BatchPool(4, 1)))],
                         ids=["barrier", "push_pull", "lease"])
def test_waiting_for_others_is_not_computing(alone, call):
    model = small.model()
    optimizer = small.distributed(model)
    began = time.perf_counter()
    train(model, optimizer, 1)
    before = optimizer.figures()["compute_s"]
    session.current().worker = SlowCalls(session.current().worker)
    call()
    train(model, optimizer, 1)
    took = time.perf_counter() - began
    assert optimizer.figures()["compute_s"] - before <= took - WAIT_S


def test_figures_are_the_workers_whichever_optimizer_steps(alone):
    told = {}

    class Told(SlowCalls):
        def set_figure(self, name, value):
            told[name] = value

    session.current().worker = Told(session.current().worker)
    for name in ("first", "second"):
        model = torch.nn.Linear(2, 2)
        optimizer = alone.DistributedOptimizer(small.sgd(model), model.named_parameters(prefix=name), samples=5)
        alone.broadcast_parameters(model.state_dict())
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    alone.join()
    assert told["samples"] == 10


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
