"""A worker that thaws a layer in iteration 3 and adds a head in iteration 4, in a job that may begin later than that.

    late_resumed.py FOLDER ITERATIONS [CHECKPOINTS]

In its last iteration it waits until there is a checkpoint in CHECKPOINTS.
"""

import sys
import time
from pathlib import Path

import torch
from torch import nn

import leeway.torch as lw

folder, iterations = Path(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(1)
lw.init()
torch.manual_seed(lw.rank() + 10 * lw.iteration())  # what the servers have must count
body, frozen, head = nn.Linear(4, 4), nn.Linear(4, 4).requires_grad_(False), nn.Linear(4, 2)
model = nn.Sequential(body, frozen, nn.BatchNorm1d(4))
opt = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), model.named_parameters())
lw.broadcast_parameters(model.state_dict())
net, began = model, lw.iteration()
for iteration in lw.iterations(iterations):
    if iteration >= 3:
        frozen.requires_grad_(True)
    if iteration >= 4 and net is model:
        net = nn.Sequential(model, head)
        opt.add_param_group({"params": head.parameters(), "lr": 0.02})
    while iteration == iterations - 1 and sys.argv[3:] and not list(Path(sys.argv[3]).glob("*/manifest.json")):
        time.sleep(0.01)
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(10 * iteration + lw.rank()))
    opt.zero_grad()
    net(x).pow(2).sum().backward()
    opt.step()
lw.shutdown()
torch.save({"began": began, "ended": net.state_dict()}, folder / f"result.{lw.rank()}.pt")
