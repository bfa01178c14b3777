"""Parameters of other types and orders of memory than the servers' tables, and sparse gradients."""

import copy

import pytest
import small
import torch
from torch import nn
from torch.nn import functional as F

import leeway.torch as lw
from leeway import errors

STEPS = 6


def net(dtype=torch.float32, layout=torch.contiguous_format):
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU(), nn.Flatten(), nn.Linear(5 * 16, 3)).to(dtype).to(memory_format=layout)


def loss(model, step):
    generator = torch.Generator().manual_seed(step)
    x = torch.randn(4, 3, 6, 6, generator=generator).to(model[0].weight.dtype)
    return F.cross_entropy(model(x).float(), torch.tensor([0, 1, 2, 0]))


def train(model, optimizer, steps=range(STEPS), set_to_none=False):
    for step in steps:
        optimizer.zero_grad(set_to_none=set_to_none)
        loss(model, step).backward()
        optimizer.step()


def as_servers_do(dtype, layout):
    """Plain torch with values in float32, cast for each forward pass."""
    master, shown = net(dtype).float(), net(dtype, layout)
    optimizer = small.sgd(master)
    for step in range(STEPS):
        shown.zero_grad(set_to_none=True)
        loss(shown, step).backward()
        for mine, other in zip(master.parameters(), shown.parameters()):
            mine.grad = other.grad.float().contiguous()
        optimizer.step()
        with torch.no_grad():
            for mine, other in zip(master.parameters(), shown.parameters()):
                other.copy_(mine)
    return shown


CASES = [(torch.float64, torch.contiguous_format), (torch.bfloat16, torch.contiguous_format), (torch.float32, torch.channels_last),
         (torch.float64, torch.channels_last)]


@pytest.mark.parametrize("set_to_none", [False, True])
@pytest.mark.parametrize("dtype, layout", CASES)
@pytest.mark.parametrize("overlap", [True, False])
def test_a_model_of_another_type_or_layout_trains_as_with_float32_masters(alone, capfd, dtype, layout, set_to_none, overlap):
    model = net(dtype, layout)
    strides = [parameter.stride() for parameter in model.parameters()]
    optimizer = lw.DistributedOptimizer(small.sgd(model), model.named_parameters(), overlap=overlap)
    lw.broadcast_parameters(model.state_dict())
    train(model, optimizer, set_to_none=set_to_none)
    optimizer.synchronize()
    wanted = as_servers_do(dtype, layout)
    for got, other in zip(model.parameters(), wanted.parameters()):
        assert got.dtype == dtype and (got - other).abs().max() <= 2e-6 * (1 if dtype != torch.bfloat16 else 1e4)
    assert [parameter.stride() for parameter in model.parameters()] == strides
    figures = optimizer.figures()
    assert figures["converted_parameters"] == (4 if dtype != torch.float32 else 1)
    assert figures["overwritten_parameters"] == figures["rebound_parameters"] == 0
    said = [line for line in capfd.readouterr().err.splitlines() if "keep and step it in torch.float32" in line]
    assert len(said) == (dtype != torch.float32)
    state = copy.deepcopy(model.state_dict())
    lw.shutdown()
    assert all(torch.equal(state[name], value) for name, value in model.state_dict().items())
    assert [parameter.stride() for parameter in model.parameters()] == strides


def test_a_half_precision_parameter_is_carried(alone):
    weight = nn.Parameter(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float16))
    optimizer = lw.DistributedOptimizer(torch.optim.SGD([weight], lr=2.0 ** -12), [("w", weight)])
    lw.broadcast_parameters({"w": weight})
    for _ in range(8):
        optimizer.zero_grad()
        weight.float().sum().backward()
        optimizer.step()
    # In float16 each step of 2^-12 would be lost beside 1: the servers add them up.
    assert weight.tolist() == [1 - 2 ** -9, 2 - 2 ** -9, 3 - 2 ** -9]


def test_state_of_such_a_parameter_is_as_torch_keeps_it(alone):
    model, plain = net(torch.float64, torch.channels_last), net(torch.float64, torch.channels_last)
    optimizer = small.distributed(model, torch.optim.Adam(model.parameters()))
    train(model, optimizer, range(2))
    state = optimizer.state_dict()
    plain_optimizer = torch.optim.Adam(plain.parameters())
    train(plain, plain_optimizer, range(2))
    for mine, other in zip(state["state"].values(), plain_optimizer.state_dict()["state"].values()):
        assert mine["exp_avg"].dtype == torch.float64 and mine["exp_avg"].stride() == other["exp_avg"].stride()
        assert torch.allclose(mine["exp_avg"], other["exp_avg"], rtol=1e-4, atol=1e-7)


def test_values_that_a_script_sets_in_such_a_parameter_reach_the_servers(alone):
    model = net(torch.float64, torch.channels_last)
    optimizer = small.distributed(model)
    loaded = {name: torch.full_like(value, 0.25) for name, value in model.state_dict().items()}
    model.load_state_dict(loaded)
    train(model, optimizer, range(1))
    with torch.no_grad():
        model[0].weight.fill_(0.5)
    lw.assign(model[0].weight)
    table = next(table for table in optimizer.tables if table.parameter is dict.__getitem__(model[0]._parameters, "weight"))
    assert torch.equal(table.values.read(even_if_known=True), torch.full((5, 3, 3, 3), 0.5, dtype=torch.float64))
    optimizer.synchronize()
    assert (model[3].weight - 0.25).abs().max() < 0.2


def test_a_write_into_such_a_parameter_is_noticed(alone):
    model = net(torch.bfloat16)
    optimizer = small.distributed(model)
    train(model, optimizer, range(1))
    optimizer.synchronize()
    model[0].weight.data.mul_(2)
    with pytest.warns(RuntimeWarning, match="0.weight was written to through .data"):
        optimizer.step()


def test_such_a_parameter_without_a_gradient_is_absent(alone):
    model = net(torch.float64)
    optimizer = small.distributed(model)
    train(model, optimizer, range(2))
    before = optimizer.figures()["absent"]
    optimizer.zero_grad()
    optimizer.step()
    optimizer.synchronize()
    assert optimizer.figures()["absent"] == before + len(optimizer.tables)


def test_editing_what_has_left_of_such_a_parameter_is_an_error(alone):
    model = net(torch.float64)
    optimizer = small.distributed(model, overlap=True)
    loss(model, 0).backward()
    model[0].weight.grad.data.mul_(0.5)
    with pytest.raises(errors.FailedPrecondition, match="0.weight was changed after backward"):
        optimizer.step()


@pytest.mark.parametrize("set_to_none", [False, True])
def test_sparse_gradients_go_out_dense(alone, capfd, set_to_none):
    def make():
        torch.manual_seed(0)
        return nn.Sequential(nn.Embedding(7, 3, sparse=True), nn.Linear(3, 2))

    def run(model, optimizer):
        for step in range(STEPS):
            optimizer.zero_grad(set_to_none=set_to_none)
            model(torch.tensor([step % 7, 3, 3])).pow(2).sum().backward()
            optimizer.step()

    plain, model = make(), make()
    run(plain, torch.optim.SGD(plain.parameters(), lr=0.1))
    optimizer = small.distributed(model, torch.optim.SGD(model.parameters(), lr=0.1))
    run(model, optimizer)
    figures = optimizer.figures()
    lw.shutdown()
    assert small.close(model, plain)
    assert figures["sparse_gradients"] == (STEPS if set_to_none else 1)
    assert capfd.readouterr().err.count("is sparse: it goes out dense") == 1


def test_the_root_too_begins_with_the_values_that_the_servers_have(alone):
    weight = nn.Parameter(torch.tensor([0.1], dtype=torch.float64))
    lw.DistributedOptimizer(torch.optim.SGD([weight], lr=0.1), [("w", weight)])
    lw.broadcast_parameters({"w": weight})
    assert weight.item() == torch.tensor(0.1, dtype=torch.float32).item() != 0.1
