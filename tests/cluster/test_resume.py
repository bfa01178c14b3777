"""Scripts that save with torch.save and resume as PyTorch's imagenet example does, with two workers and servers: the loss goes
on as that of plain torch (programs/saved.py)."""

import copy

import pytest
import saved
import torch
from job import Job

import leeway.torch as lw


@pytest.fixture(scope="module")
def plain():
    """Losses of plain torch before and after it was resumed, by optimizer, and its files' contents."""
    losses, states = {}, {}
    for name, (kind, options) in saved.kinds(lw.LARS).items():
        model = saved.make_model(1)
        optimizer = kind(model.parameters(), **options)
        before = saved.train(model, optimizer, range(saved.STEPS))
        states[name] = copy.deepcopy(optimizer.state_dict())
        losses[name] = before, saved.train(model, optimizer, range(saved.STEPS, 2 * saved.STEPS))
    return losses, states


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The folder with the files that a job of two workers and two servers has saved, and its losses."""
    folder = tmp_path_factory.mktemp("first")
    return folder, run(folder, "first", folder)


def run(folder, *args, servers=2):
    """The mean of the losses of both ranks, by optimizer."""
    with Job(folder, workers=2, servers=servers, sync="bsp", block_bytes=64) as job:
        job.run("saved", *args)
    mine, other = (torch.load(folder / f"losses.{rank}.pt") for rank in range(2))
    return {name: [(a + b) / 2 for a, b in zip(mine[name], other[name])] for name in mine}


def assert_goes_on(got, plain, part):
    for name, losses in plain.items():
        assert got[name] == pytest.approx(losses[part], rel=2e-6), name


def test_the_files_are_those_of_torch(first, plain):
    folder, losses = first
    assert_goes_on(losses, plain[0], 0)
    for name, wanted in plain[1].items():
        got = torch.load(folder / f"{name}.pt")["optimizer"]
        assert got["param_groups"] == wanted["param_groups"], name
        assert list(got["state"]) == list(wanted["state"]), name
        for index, state in wanted["state"].items():
            assert set(got["state"][index]) == set(state), name
            for key, value in state.items():
                mine = got["state"][index][key]
                assert type(mine) is type(value), (name, key)
                torch.testing.assert_close(mine, value, rtol=1e-4, atol=1e-7) if value is not None else None


def test_the_loss_goes_on_as_with_plain_torch(first, plain, tmp_path):
    """On another number of servers; loaded by all ranks or by the root alone."""
    assert_goes_on(run(tmp_path, "resume", first[0], servers=3), plain[0], 1)


def test_what_only_another_rank_has_loaded_is_an_error_before_the_first_step(first, tmp_path):
    with Job(tmp_path, workers=2, servers=1, sync="bsp") as job:
        workers = [job.start_worker(rank, "saved", "resume", first[0], "other") for rank in range(2)]
        assert workers[1].wait() != 0
        text = workers[1].log.read_text()
        assert "rank 1 has loaded values of 4 parameters" in text and "rank 0, whose count, has not" in text, text


def test_nobody_trains_before_everybody_has_read_the_first_values(tmp_path):
    with Job(tmp_path, workers=2, servers=1, sync="asp") as job:
        job.run("late_reader")
        assert "loaded" not in (tmp_path / "worker-1.log").read_text()
