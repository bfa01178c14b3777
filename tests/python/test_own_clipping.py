"""Scripts that clip gradients by themselves, and the three limits that DistributedOptimizer takes."""

import pytest
import small
import torch
from torch import nn

from leeway import errors

STEPS = 5


def clip_norm(parameters):
    nn.utils.clip_grad_norm_(parameters, 0.1)


def clip_value(parameters):
    nn.utils.clip_grad_value_(parameters, 0.01)


def clip_each(parameters):
    for parameter in parameters:
        nn.utils.clip_grad_norm_([parameter], 0.1)


def train(model, optimizer, clip=lambda parameters: None, set_to_none=False):
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=set_to_none)
        small.loss(model, step).backward()
        clip(list(model.parameters()))
        optimizer.step()


@pytest.mark.parametrize("set_to_none", [False, True])
@pytest.mark.parametrize("clip", [clip_norm, clip_value], ids=["norm", "value"])
def test_a_script_that_clips_by_itself_is_noticed_and_trains_as_torch_does(alone, capfd, clip, set_to_none):
    plain, model = small.model(), small.model()
    train(plain, small.sgd(plain), clip, set_to_none)
    train(model, small.distributed(model), clip, set_to_none)
    alone.shutdown()
    assert small.close(model, plain)
    said = [line for line in capfd.readouterr().err.splitlines() if "leave at step()" in line]
    assert len(said) == 1 and "clip_norm_each=" in said[0]


def test_a_script_that_changes_no_gradient_overlaps_from_its_second_iteration_on(alone, capfd):
    model = small.model()
    optimizer = small.distributed(model)
    pushed = []
    for step in range(3):
        optimizer.zero_grad()
        small.loss(model, step).backward()
        pushed.append(all(table.gradient.pushed for table in optimizer.tables))
        optimizer.step()
    assert pushed == [False, True, True]
    assert "leave at step()" not in capfd.readouterr().err


def test_a_skipped_first_iteration_is_no_edit(alone):
    model = small.model()
    optimizer = small.distributed(model)
    for step in range(3):
        optimizer.zero_grad()
        small.loss(model, step).backward()
        optimizer.skip() if step == 0 else optimizer.step()
    assert optimizer.figures()["steps"] == 3


@pytest.mark.parametrize("name, limit, clip", [("clip_norm", 0.1, clip_norm), ("clip_norm_each", 0.1, clip_each),
                                               ("clip_value", 0.01, clip_value)])
def test_limits_do_what_a_script_does_by_itself(alone, name, limit, clip):
    plain, model = small.model(), small.model()
    train(plain, small.sgd(plain), clip)
    optimizer = small.distributed(model, **{name: limit})
    train(model, optimizer)
    optimizer.synchronize()
    assert small.close(model, plain)
    optimizer.zero_grad()
    small.loss(model, 0).backward()
    assert all(table.gradient.pushed for table in optimizer.tables) == (name != "clip_norm")
    optimizer.step()


@pytest.mark.parametrize("given, says", [({"clip_norm_each": 0.0}, "clip_norm_each must be above 0"),
                                         ({"clip_value": -1.0}, "clip_value must be above 0"),
                                         ({"clip_norm": 1.0, "clip_value": 1.0}, "clip_norm and clip_value, wanted at most one")])
def test_limits_that_cannot_be_are_named(alone, given, says):
    with pytest.raises(errors.InvalidArgument, match=says):
        small.distributed(small.model(), **given)


def test_a_sparse_gradient_is_clipped_too(alone):
    model = nn.Embedding(5, 3, sparse=True)
    optimizer = small.distributed(model, torch.optim.SGD(model.parameters(), lr=1.0), clip_value=0.5)
    before = model.weight.detach().clone()
    model(torch.tensor([1, 2])).sum().backward()
    optimizer.step()
    optimizer.synchronize()
    assert torch.allclose(model.weight[[0, 1]], before[[0, 1]] - torch.tensor([[0.0], [0.5]]))
