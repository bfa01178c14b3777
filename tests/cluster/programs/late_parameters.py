"""A worker whose optimizer gets parameters while training runs: a head of its own, and a layer that thaws.

    late_parameters.py FOLDER [alone]

With `alone` rank 0 adds the head and rank 1 does not. The head has other initial values on each rank.
"""

import sys
from pathlib import Path

import torch
from torch import nn

import leeway.torch as lw

folder, alone = Path(sys.argv[1]), sys.argv[2:] == ["alone"]
torch.set_num_threads(1)
lw.init()
torch.manual_seed(lw.rank())
body, frozen, head = nn.Linear(4, 4), nn.Linear(4, 4).requires_grad_(False), nn.Linear(4, 2)
model = nn.Sequential(body, frozen)
opt = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), model.named_parameters())
lw.broadcast_parameters(model.state_dict())


def train(net, steps):
    for step in steps:
        x = torch.randn(3, 4, generator=torch.Generator().manual_seed(10 * step + lw.rank()))
        opt.zero_grad()
        net(x).pow(2).sum().backward()
        opt.step()


train(model, range(3))
net = nn.Sequential(model, head)
began = {name: value.clone() for name, value in net.state_dict().items()}
if not alone or lw.rank() == 0:
    opt.add_param_group({"params": head.parameters(), "lr": 0.05})
train(net, range(3, 6))
frozen.requires_grad_(True)
train(net, range(6, 9))
lw.shutdown()
torch.save({"began": began, "ended": net.state_dict(), "tables": [table.name for table in opt.tables]}, folder / f"result.{lw.rank()}.pt")
