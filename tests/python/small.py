"""A small model and its data, and training it with and without Leeway."""

import torch
from torch import nn
from torch.nn import functional as F

import leeway.torch as lw


def model(seed=1):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 10), nn.LayerNorm(10))


def batch(step, count=6):
    generator = torch.Generator().manual_seed(step)
    return torch.randn(count, 1, 8, 8, generator=generator), torch.randint(0, 10, (count,), generator=generator)


def loss(model, step):
    x, y = batch(step)
    return F.cross_entropy(model(x), y)


def sgd(model, **options):
    return torch.optim.SGD(model.parameters(), **{"lr": 0.1, "momentum": 0.9, **options})


def distributed(model, optimizer=None, **options):
    """The model's optimizer, wrapped and broadcast."""
    optimizer = lw.DistributedOptimizer(optimizer or sgd(model), model.named_parameters(), **options)
    lw.broadcast_parameters(model.state_dict())
    return optimizer


def close(a, b, tolerance=1e-5):
    return all((x - y).norm() <= tolerance * y.norm() + 1e-7 for x, y in zip(a.parameters(), b.parameters()))
