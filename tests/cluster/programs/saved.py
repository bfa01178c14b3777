"""A training script that saves and resumes as PyTorch's imagenet example does: model, optimizer and epoch in one torch.save, by
rank 0 alone, and loaded by every rank after Leeway's lines. Once for every optimizer that the servers know.

    saved.py FOLDER PHASE FILES [WHO]

PHASE: first (trains and saves into FILES), or resume (loads from there and trains on). WHO loads: both (every rank for one
optimizer, the root alone for the next, and so on), or other (all but the root).
"""

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

STEPS = 3
SGD, RMSprop = torch.optim.SGD, torch.optim.RMSprop


def kinds(lars):
    return {"sgd": (SGD, {"lr": 0.1}),
            "momentum": (SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
            "dampening": (SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
            "nesterov": (SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
            "adam": (torch.optim.Adam, {"lr": 0.01}),
            "adamw": (torch.optim.AdamW, {"lr": 0.01}),
            "adagrad": (torch.optim.Adagrad, {"lr": 0.05, "lr_decay": 0.1, "initial_accumulator_value": 0.1}),
            "rmsprop": (RMSprop, {"lr": 0.01}),
            "rmsprop-centered": (RMSprop, {"lr": 0.01, "centered": True, "momentum": 0.9}),
            "lars": (lars, {"lr": 0.5, "momentum": 0.9, "weight_decay": 0.01, "trust": 0.1})}


def make_model(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def batch(step, rank=0, size=1):
    """This rank's part of the batch of a step."""
    generator = torch.Generator().manual_seed(step)
    x, y = torch.randn(12, 6, generator=generator), torch.randn(12, 3, generator=generator)
    return x.chunk(size)[rank], y.chunk(size)[rank]


def train(model, optimizer, steps, rank=0, size=1):
    losses = []
    for step in steps:
        x, y = batch(step, rank, size)
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def save(path, model, optimizer):
    torch.save({"epoch": 1, "state_dict": model.state_dict(), "optimizer": optimizer.state_dict()}, path)


def load(path, model, optimizer):
    checkpoint = torch.load(path)
    model.load_state_dict(checkpoint["state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"]


def main(folder, phase, files, who="both"):
    import leeway.torch as lw
    torch.set_num_threads(1)
    lw.init()
    rank, size = lw.rank(), lw.size()
    losses = {}
    for index, (name, (kind, options)) in enumerate(kinds(lw.LARS).items()):
        model = make_model(rank + (1 if phase == "first" else 50))
        optimizer = kind(model.parameters(), **options)
        optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters(prefix=name))
        lw.broadcast_parameters(model.state_dict(), root_rank=0)
        epoch = 0
        loads = rank > 0 if who == "other" else rank == 0 or index % 2 == 0
        if phase == "resume" and loads:
            epoch = load(Path(files) / f"{name}.pt", model, optimizer)
        losses[name] = train(model, optimizer, range(STEPS if phase == "resume" else 0, STEPS * (2 if phase == "resume" else 1)),
                             rank, size)
        if phase == "first" and rank == 0:
            save(Path(files) / f"{name}.pt", model, optimizer)
        assert epoch == 0 or phase == "resume"
    torch.save(losses, Path(folder) / f"losses.{rank}.pt")
    lw.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
