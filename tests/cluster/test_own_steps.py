"""Each optimizer has iterations of its own: how far a rank runs ahead is counted in the steps of the optimizer alone."""

import pytest
import torch
from job import Job
from own_steps_loop import ROUNDS, loss, make_models, make_optimizer

RANKS = 2


def train_in_one_process(pattern):
    """The mean of the gradients of all ranks, as bsp takes it."""
    models = make_models()
    optimizers = {name: make_optimizer(model) for name, model in models.items()}
    for step, name in enumerate(pattern * ROUNDS):
        optimizers[name].zero_grad()
        (sum(loss(models[name], rank, step) for rank in range(RANKS)) / RANKS).backward()
        optimizers[name].step()
    return models


# How many steps rank 0 makes by itself: under ssp:2 each optimizer makes three before its fourth read waits, under bsp one. By
# the job's clock they would be three and one in all, and rank 0 would never write the file that rank 1 waits for.
@pytest.mark.parametrize("sync, pattern, alone", [("ssp:2", "DG", 6), ("ssp:2", "GDDDDD", 4), ("bsp", "DG", 2), ("bsp", "GDDDDD", 2)])
def test_a_rank_runs_ahead_by_the_steps_of_each_optimizer(tmp_path, sync, pattern, alone):
    with Job(tmp_path, workers=RANKS, servers=2, sync=sync) as job:
        job.run("own_steps", pattern, alone)
    results = [torch.load(tmp_path / f"result.{rank}.pt") for rank in range(RANKS)]
    plain = train_in_one_process(pattern)
    for name, model in plain.items():
        for got, other, expected in zip(results[0][name], results[1][name], model.parameters()):
            assert torch.equal(got, other), f"{name}: the ranks must agree"
            if sync == "bsp":
                assert torch.allclose(got, expected, atol=1e-4), f"{name}: {(got - expected).norm()}"
