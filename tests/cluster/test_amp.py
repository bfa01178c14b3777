"""A GradScaler and bf16 autocast with two ranks: a step that one rank must skip is skipped by both."""

import pytest
import torch
from amp_loop import STEPS, make_model, train
from job import Job
from own_scaler import OwnScaler

RANKS = 2


def run(folder, sync):
    with Job(folder, workers=RANKS, servers=2, sync=sync) as job:
        job.run("amp")
    return [torch.load(folder / f"result.{rank}.pt") for rank in range(RANKS)]


def test_ranks_skip_together_under_bsp(tmp_path):
    torch.set_num_threads(1)
    mine, other = run(tmp_path, "bsp")
    model, scaler = make_model(), OwnScaler(4096.0)
    train(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), scaler, range(RANKS))
    assert mine["scale"] == other["scale"] == scaler.get_scale() == 1024.0
    assert mine["steps"] == other["steps"] == STEPS
    for name, wanted in model.state_dict().items():
        assert torch.equal(mine["ended"][name], other["ended"][name])
        torch.testing.assert_close(mine["ended"][name], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sync", ["asp"])
def test_a_rank_skips_alone_where_nobody_waits(tmp_path, sync):
    mine, other = run(tmp_path, sync)
    assert (mine["scale"], other["scale"]) == (4096.0, 1024.0)
    assert mine["steps"] == other["steps"] == STEPS
    assert all(torch.equal(value, other["ended"][name]) and value.isfinite().all() for name, value in mine["ended"].items())
