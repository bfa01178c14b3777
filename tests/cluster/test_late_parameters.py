"""Parameters that come while two ranks train: both make their tables in the same step, with the values of rank 0."""

import os

import pytest
import torch
from job import Job
from torch import nn

RANKS = 2


def train_in_one_process(began):
    """The same steps with the mean of both ranks' gradients, from what rank 0 began with."""
    torch.manual_seed(0)
    body, frozen, head = nn.Linear(4, 4), nn.Linear(4, 4).requires_grad_(False), nn.Linear(4, 2)
    model = nn.Sequential(body, frozen)
    net = nn.Sequential(model, head)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(9):
        if step == 3:
            optimizer.add_param_group({"params": head.parameters(), "lr": 0.05})
            assert all(torch.allclose(value, began[name], atol=1e-6) for name, value in net.state_dict().items())
        if step == 6:
            frozen.requires_grad_(True)
        optimizer.zero_grad()
        for rank in range(RANKS):
            x = torch.randn(3, 4, generator=torch.Generator().manual_seed(10 * step + rank))
            ((model if step < 3 else net)(x).pow(2).sum() / RANKS).backward()
        optimizer.step()
    return net.state_dict()


@pytest.mark.parametrize("sync", ["bsp", "asp"] if os.environ.get("LEEWAY_LONG") == "1" else ["bsp"])
def test_late_parameters_are_trained_by_all_ranks(tmp_path, sync):
    with Job(tmp_path, workers=RANKS, servers=2, sync=sync) as job:
        job.run("late_parameters")
    mine, other = (torch.load(tmp_path / f"result.{rank}.pt") for rank in range(RANKS))
    assert mine["tables"] == other["tables"] == ["0.weight", "0.bias", "group1.0", "group1.1", "1.weight", "1.bias"]
    for name, value in mine["ended"].items():
        assert torch.equal(value, other["ended"][name]), name
    if sync == "bsp":
        for name, wanted in train_in_one_process(mine["began"]).items():
            torch.testing.assert_close(mine["ended"][name], wanted, rtol=1e-5, atol=1e-6)


def test_a_rank_that_adds_nothing_is_named(tmp_path):
    with Job(tmp_path, workers=RANKS, servers=1, sync="bsp", beat="100ms") as job:
        workers = [job.start_worker(rank, "late_parameters", "alone") for rank in range(RANKS)]
        assert [worker.wait() for worker in workers] == [5, 5]
        for worker in workers:
            text = worker.log.read_text()
            assert "parameters added to the optimizer: group1.0, group1.1" in text and "FailedPrecondition" in text, text


def test_a_job_that_goes_on_makes_the_tables_again(tmp_path):
    options = {"sync": "bsp", "apply": "aggregate:reduce=ordered"}
    checkpoints = tmp_path / "checkpoints"

    def run(name, *args, **more):
        with Job(tmp_path / name, workers=RANKS, servers=1, **options, **more) as job:
            job.run("late_resumed", *args)
        return [torch.load(tmp_path / name / f"result.{rank}.pt") for rank in range(RANKS)]

    whole = run("whole", 9)
    run("first", 7, checkpoints, checkpoint_dir=checkpoints, checkpoint_every=6)
    resumed = run("resumed", 9, resume=checkpoints)
    assert [result["began"] for result in whole + resumed] == [0, 0, 6, 6]
    for wanted, got in zip(whole, resumed):
        for name, value in wanted["ended"].items():
            assert torch.equal(got["ended"][name], value), name
