"""Every option of the optimizers that the servers know, over 50 steps, against torch's own (LARS: against its own step
in one process)."""

import itertools

import pytest
import small
import torch

import leeway.torch as lw

STEPS = 50


def _cases(kind, **options):
    return [pytest.param(kind, dict(zip(options, values)), id="-".join([kind.__name__, *map(str, values)]))
            for values in itertools.product(*options.values())]


CASES = [
    *_cases(torch.optim.SGD, lr=[0.05], momentum=[0.0, 0.9], weight_decay=[0.0, 1e-2], dampening=[0.0, 0.3]),
    *_cases(torch.optim.SGD, lr=[0.05], momentum=[0.9], weight_decay=[0.0, 1e-2], nesterov=[True]),
    *_cases(torch.optim.Adam, lr=[3e-3], betas=[(0.9, 0.999), (0.8, 0.9)], weight_decay=[0.0, 1e-2]),
    *_cases(torch.optim.AdamW, lr=[3e-3], betas=[(0.9, 0.999), (0.8, 0.9)], weight_decay=[0.0, 1e-2]),
    *_cases(torch.optim.Adagrad, lr=[0.01], lr_decay=[0, 1e-2], weight_decay=[0, 1e-2], initial_accumulator_value=[0, 0.1]),
    *_cases(torch.optim.Adagrad, lr=[0.01], eps=[1e-3]),
    *_cases(torch.optim.RMSprop, lr=[1e-3], alpha=[0.99, 0.9], weight_decay=[0, 1e-2], momentum=[0, 0.9],
            centered=[False, True]),
    *_cases(torch.optim.RMSprop, lr=[1e-3], eps=[1e-3]),
    *_cases(lw.LARS, lr=[0.5], momentum=[0.0, 0.9], weight_decay=[0.0, 1e-2], dampening=[0.0, 0.3], trust=[0.02],
            exclude_1d=[True, False]),
    *_cases(lw.LARS, lr=[0.5], momentum=[0.9], weight_decay=[1e-2], nesterov=[True], trust=[0.001, 0.02], eps=[1e-8, 1e-2]),
]


def _train(model, optimizer):
    for step in range(STEPS):
        optimizer.zero_grad()
        small.loss(model, step).backward()
        optimizer.step()


def _norm(tensors):
    return torch.cat([t.detach().flatten().double() for t in tensors]).norm()


@pytest.mark.parametrize(["kind", "options"], CASES)
def test_steps_as_in_one_process(alone, kind, options):
    plain, model, start = small.model(), small.model(), small.model()
    _train(plain, kind(plain.parameters(), **options))
    _train(model, small.distributed(model, kind(model.parameters(), **options)))
    alone.shutdown()
    differs = [a - b for a, b in zip(model.parameters(), plain.parameters())]
    moved = [a - b for a, b in zip(plain.parameters(), start.parameters())]
    assert _norm(moved) > 1e-2 * _norm(start.parameters()), "nothing was trained"
    assert _norm(differs) <= 1e-5 * _norm(plain.parameters())


@pytest.mark.parametrize(["kind", "options", "name"], [
    (torch.optim.Adagrad, {"maximize": True}, "maximize"),
    (torch.optim.RMSprop, {"maximize": True}, "maximize"),
    (torch.optim.RMSprop, {"differentiable": True}, "differentiable"), (torch.optim.Adam, {"amsgrad": True}, "amsgrad")])
def test_what_the_servers_cannot_do_is_refused_by_name(alone, kind, options, name):
    model = small.model()
    with pytest.raises(alone.LeewayError, match=f"{kind.__name__} with {name}=True"):
        small.distributed(model, kind(model.parameters(), **options), apply="aggregate")


@pytest.mark.parametrize("kind", [torch.optim.Adamax, torch.optim.ASGD, torch.optim.Rprop, torch.optim.LBFGS])
def test_other_optimizers_are_refused_by_name(alone, kind):
    model = small.model()
    with pytest.raises(alone.LeewayError, match=rf"{kind.__name__} does.*they can step as: .*RMSprop.*leeway\.torch\.LARS"):
        small.distributed(model, kind(model.parameters()), apply="aggregate")


@pytest.mark.parametrize(["kind", "options", "change"], [
    (torch.optim.RMSprop, {"lr": 1e-3}, {"momentum": 0.9}), (torch.optim.RMSprop, {"lr": 1e-3}, {"centered": True}),
    (torch.optim.Adagrad, {"lr": 1e-3}, {"lr_decay": 0.1}), (lw.LARS, {"lr": 0.1}, {"trust": 0.1})])
def test_what_decides_the_servers_state_cannot_change_later(alone, kind, options, change):
    model = small.model()
    optimizer = small.distributed(model, kind(model.parameters(), **options))
    optimizer.param_groups[0].update(change)
    small.loss(model, 0).backward()
    with pytest.raises(alone.LeewayError, match="cannot be changed later"):
        optimizer.step()


def test_lars_follows_a_schedule(alone):
    plain, model = small.model(), small.model()
    for net, wrap in ((plain, lambda net, optimizer: optimizer), (model, small.distributed)):
        optimizer = wrap(net, lw.LARS(net.parameters(), lr=1.0, trust=0.02))
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.5)
        for step in range(20):
            optimizer.zero_grad()
            small.loss(net, step).backward()
            optimizer.step()
            scheduler.step()
    alone.shutdown()
    assert small.close(model, plain)


def test_lars_without_trust_scaling_is_sgd():
    """With every parameter of one dimension excluded, it is torch.optim.SGD without weight decay."""
    nets = []
    for make in (lambda p: lw.LARS(p, lr=0.1, momentum=0.9, dampening=0.2, weight_decay=0.5),
                 lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.2)):
        torch.manual_seed(0)
        weight = torch.nn.Parameter(torch.randn(9))
        optimizer = make([weight])
        for step in range(5):
            optimizer.zero_grad()
            (weight.sin() * (step + 1)).sum().backward()
            optimizer.step()
        nets.append(weight.detach())
    assert torch.allclose(*nets, rtol=1e-6)


def test_lars_scales_by_the_norms():
    weight = torch.nn.Parameter(torch.tensor([[3.0, 4.0]]))
    optimizer = lw.LARS([weight], lr=2.0, momentum=0.0, weight_decay=0.1, trust=0.01, eps=0.0)
    weight.grad = torch.tensor([[0.0, 10.0]])
    optimizer.step()
    ratio = 0.01 * 5.0 / (10.0 + 0.1 * 5.0)
    wanted = torch.tensor([[3.0 - 2.0 * ratio * 0.3, 4.0 - 2.0 * ratio * 10.4]])
    assert torch.allclose(weight.detach(), wanted, rtol=1e-6)


@pytest.mark.parametrize("options", [{"lr": -1}, {"lr": 1, "momentum": -0.1}, {"lr": 1, "trust": 0},
                                     {"lr": 1, "nesterov": True, "momentum": 0}, {"lr": 1, "nesterov": True, "dampening": 0.1}])
def test_lars_refuses_what_makes_no_sense(options):
    with pytest.raises(ValueError, match="LARS: .*wanted"):
        lw.LARS([torch.nn.Parameter(torch.ones(1))], **options)
