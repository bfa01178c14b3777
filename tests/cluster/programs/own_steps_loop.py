"""The models, losses and optimizers of own_steps.py: the test trains the same in one process."""

import torch
from torch import nn

ROUNDS = 4


def make_models():
    torch.manual_seed(5)
    return {name: nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1)) for name in "DG"}


def make_optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def loss(model, rank, step):
    values = torch.randn(8, 3, generator=torch.Generator().manual_seed(100 * rank + step))
    return (model(values).squeeze(1) - values.sum(1)).pow(2).mean()
