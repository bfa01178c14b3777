"""Models and data of the tests: small, seeded, without BatchNorm."""

import torch
from torch import nn


def cnn(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(16 * 5 * 5, 64), nn.ReLU(), nn.Linear(64, 10))


def batch(rank, step, count):
    """`count` images and labels that only depend on rank and step."""
    generator = torch.Generator().manual_seed(1000 * rank + step)
    x = torch.randn(count, 1, 28, 28, generator=generator)
    return x, torch.randint(0, 10, (count,), generator=generator)
