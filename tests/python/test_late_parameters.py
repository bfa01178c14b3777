"""Parameters that are added to an optimizer later, and frozen ones that thaw: as with plain torch."""

import pytest
import small
import torch
from torch import nn

import leeway.torch as lw
from leeway import errors
from leeway.torch import local_state

STEPS = range(3)


class Grown(nn.Module):
    """A model that gets a part of its own later; the root has a parameter too."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.scale = nn.Parameter(torch.ones(1))
        self.shift = nn.Parameter(torch.zeros(1), requires_grad=False)
        self.body = small.model()
        self.head = nn.Linear(10, 10).requires_grad_(False)

    def forward(self, x):
        return self.head(self.body(x)) * self.scale + self.shift


def train(model, optimizer, steps=STEPS):
    for step in steps:
        optimizer.zero_grad()
        small.loss(model, step).backward()
        optimizer.step()


def of_group(model, lr=0.1):
    return {"params": list(model.head.parameters()), "lr": lr}


@pytest.mark.parametrize("overlap", [None, True, False])
def test_frozen_parameters_that_thaw_are_trained_from_then_on(alone, overlap):
    plain, model = Grown(), Grown()
    for net, wrap in ((plain, lambda given: given), (model, lambda given: small.distributed(model, given, overlap=overlap))):
        optimizer = wrap(torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9))
        train(net, optimizer)
        net.head.requires_grad_(True)
        train(net, optimizer)
        net.shift.requires_grad_(True)
        train(net, optimizer)
    assert {table.name for table in optimizer.tables} == {name for name, _ in model.named_parameters()}
    lw.shutdown()
    assert small.close(model, plain)
    assert not torch.equal(model.head.weight, Grown().head.weight) and model.shift.item() != 0


@pytest.mark.parametrize("before", [0, 3], ids=["before training", "while training"])
def test_a_group_that_is_added_later_is_trained_with_its_own_options(alone, before):
    plain, model = Grown(), Grown()
    for net, wrap in ((plain, lambda given: given), (model, lambda given: small.distributed(model, given))):
        optimizer = wrap(torch.optim.SGD(net.body.parameters(), lr=0.1, momentum=0.9))
        train(net, optimizer, range(before))
        net.head.requires_grad_(True)
        optimizer.add_param_group(of_group(net, lr=0.02))
        train(net, optimizer)
    state = optimizer.state_dict()
    assert [group["lr"] for group in state["param_groups"]] == [0.1, 0.02] and len(state["state"]) == 8
    lw.shutdown()
    assert small.close(model, plain)


def test_a_parameter_without_a_name_is_named_by_its_place(alone):
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer)
    added = nn.Parameter(torch.ones(3))
    optimizer.add_param_group({"params": [added], "lr": 0.5})
    added.sum().backward()
    optimizer.step()
    assert optimizer.tables[-1].name == "group1.0" and added.tolist() == [0.5] * 3


def test_a_late_parameter_overlaps_as_the_others_do(alone):
    model = Grown()
    optimizer = small.distributed(model, torch.optim.SGD(model.body.parameters(), lr=0.1))
    train(model, optimizer)
    model.head.requires_grad_(True)
    optimizer.add_param_group(of_group(model))
    optimizer.zero_grad()
    small.loss(model, 0).backward()
    assert all(table.gradient.pushed for table in optimizer.tables)
    assert all(optimizer._use_hooks.watches(table) for table in optimizer.tables)
    optimizer.step()


def test_an_optimizer_of_nothing_yet_gets_its_values_by_the_broadcast(alone):
    model = Grown()
    optimizer = lw.DistributedOptimizer(torch.optim.SGD([model.scale], lr=0.1), model.named_parameters())
    optimizer.add_param_group({"params": list(model.body.parameters())})
    lw.broadcast_parameters(model.state_dict())
    train(model, optimizer)
    assert len(optimizer.tables) == 7


@pytest.mark.parametrize("group, says", [
    ({"params": [nn.Parameter(torch.ones(2, dtype=torch.complex64))]}, "group1.0.*complex64"),
    ({"params": [nn.Parameter(torch.ones(2))], "maximize": True}, "maximize"),
    ({"params": [nn.Parameter(torch.ones(2), requires_grad=False)], "maximize": True}, "maximize")], ids=["complex", "maximize", "frozen"])
def test_a_group_that_cannot_be_added_changes_nothing(alone, group, says):
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer)
    with pytest.raises(errors.InvalidArgument, match=says):
        optimizer.add_param_group(group)
    assert len(optimizer.param_groups) == 1
    group["params"][0].requires_grad_(True)
    train(model, optimizer)
    assert len(optimizer.tables) == 6


def test_nothing_can_be_added_after_the_job():
    lw.init()
    model = Grown()
    optimizer = small.distributed(model, torch.optim.SGD(model.body.parameters(), lr=0.1))
    train(model, optimizer)
    lw.join()
    with pytest.raises(errors.FailedPrecondition, match="added after the end of the job"):
        optimizer.add_param_group({"params": [nn.Parameter(torch.ones(2))]})
    lw.shutdown()


def test_a_parameter_of_another_optimizer_cannot_be_added(alone):
    first, second = small.model(), small.model()
    optimizer = small.distributed(first)
    small.distributed(second)
    with pytest.raises(errors.AlreadyExists, match="is in another DistributedOptimizer"):
        optimizer.add_param_group({"params": [second[0].weight]})
    assert len(optimizer.param_groups) == 1


def test_a_group_that_comes_later_has_the_options_of_the_checkpoint(alone):
    model = Grown()
    optimizer = lw.DistributedOptimizer(torch.optim.SGD(model.body.parameters(), lr=0.1), model.named_parameters())
    session = optimizer._session
    saved = local_state.of(session).save()
    saved["groups"][0].append({**saved["groups"][0][0], "lr": 0.7})
    session.state._restored_own["torch"] = saved
    lw.broadcast_parameters(model.state_dict())
    model.head.requires_grad_(True)
    optimizer.add_param_group(of_group(model, lr=0.02))
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.7]
