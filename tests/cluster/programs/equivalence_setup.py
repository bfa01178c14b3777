"""The setup that the workers of the equivalence test and its single process share."""

import torch
from models import cnn

STEPS = 50
CASES = ("sgd", "adam", "adamw")
RANKS = 4


def samples(rank, step):
    """Batches are of unequal size, so that the weights matter."""
    return 4 + 5 * ((rank + step) % RANKS)


def make(case, seed=3):
    """A model with its optimizer in two parameter groups, and a schedule."""
    model = cnn(seed)
    groups = [{"params": list(model[:6].parameters())}, {"params": list(model[6:].parameters()), "lr": 0.02, "weight_decay": 1e-2}]
    if case == "sgd":
        optimizer = torch.optim.SGD(groups, lr=0.05, momentum=0.9, weight_decay=1e-3)
    elif case == "adam":
        groups[1]["lr"] = 5e-4
        optimizer = torch.optim.Adam(groups, lr=1e-3, weight_decay=1e-3)
    else:
        groups[1]["lr"] = 5e-4
        optimizer = torch.optim.AdamW(groups, lr=1e-3)
    return model, optimizer


def schedule(optimizer):
    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.7)
