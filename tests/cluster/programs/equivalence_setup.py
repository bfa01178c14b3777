"""The setup that the workers of the equivalence test and its single process share."""

import torch
from torch import nn

STEPS = 50
CASES = ("sgd", "adam", "adamw")
RANKS = 4
# Above the rounding of a gradient, which Adam would otherwise make as large as a step where a gradient is near 0.
EPS = 1e-6


def samples(rank, step):
    """Batches are of unequal size, so that the weights matter."""
    return 4 + 5 * ((rank + step) % RANKS)


def smooth_cnn(seed):
    """Without a ReLU or a maximum: where rounding, which differs between processors, tips one over, the runs part at once."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(1, 8, 3), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(8, 16, 3), nn.Tanh(), nn.AvgPool2d(2),
                         nn.Flatten(), nn.Linear(16 * 5 * 5, 64), nn.Tanh(), nn.Linear(64, 10))


def make(case, seed=3):
    """A model with its optimizer in two parameter groups, and a schedule."""
    model = smooth_cnn(seed)
    groups = [{"params": list(model[:6].parameters())}, {"params": list(model[6:].parameters()), "lr": 0.02, "weight_decay": 1e-2}]
    if case == "sgd":
        optimizer = torch.optim.SGD(groups, lr=0.05, momentum=0.9, weight_decay=1e-3)
    elif case == "adam":
        groups[1]["lr"] = 5e-4
        optimizer = torch.optim.Adam(groups, lr=1e-3, weight_decay=1e-3, eps=EPS)
    else:
        groups[1]["lr"] = 5e-4
        optimizer = torch.optim.AdamW(groups, lr=1e-3, eps=EPS)
    return model, optimizer


def schedule(optimizer):
    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.7)
