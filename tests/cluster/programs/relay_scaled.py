"""A worker under relay with a GradScaler: rank 1 has two more batches, and finds an infinity in its second one.

    relay_scaled.py FOLDER
"""

import sys
from pathlib import Path

import torch
from own_scaler import OwnScaler
from relay_setup import Model, loss

import leeway.torch as lw


class Odd(torch.optim.SGD):
    """Has a set in its state: no plain value, so ranks cannot hand the state over."""

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["kept"] = {1}
                p.sub_(p.grad * group["lr"])


torch.set_num_threads(1)
lw.init()
rank = lw.rank()
model, scaler = Model(3 + rank, False), OwnScaler(128.0)
optimizer = lw.DistributedOptimizer(Odd(model.parameters(), lr=0.1), model.named_parameters())
lw.broadcast_parameters(model.state_dict())
moved = []
for step in range(3 + 2 * rank):
    before = model.last.weight.detach().clone()
    optimizer.zero_grad()
    value = loss(model, rank, step)
    scaler.scale(value * float("inf") if step == rank == 1 else value).backward()
    scaler.step(optimizer)
    scaler.update()
    moved.append(not torch.equal(model.last.weight, before))
lw.join()
torch.save({"parameters": [p.detach().clone() for p in model.parameters()], "scale": scaler.get_scale(), "moved": moved,
            "iterations": lw.iteration()}, Path(sys.argv[1]) / f"end.{rank}.pt")
lw.shutdown()
