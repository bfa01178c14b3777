"""A worker that trains nets with BatchNorm, one for each kind of buffers=. Rank r sees r + 1 batches before the end.

    buffers.py FOLDER
"""

import sys
from pathlib import Path

import torch
from torch import nn

import leeway.torch as lw

KINDS = ("mean", "chief", "local")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.last = nn.Linear(3, 1)
        self.register_buffer("untouched", torch.linspace(0.01, 1, 300).sqrt())
        self.register_buffer("mask", torch.ones(2000, dtype=torch.bool))
        self.register_buffer("count", torch.tensor([0, 0]))
        self.register_buffer("precise", torch.tensor([0.0], dtype=torch.float64))
        self.register_buffer("secret", torch.full((2,), float(lw.rank() + 1)), persistent=False)

    def forward(self, x):
        self.count -= torch.tensor([1, 1 << 40])
        self.precise += lw.rank() + 1
        return self.last(self.norm(x))


folder = Path(sys.argv[1])
torch.set_num_threads(1)
lw.init()
results = {}
for kind in KINDS:
    torch.manual_seed(lw.rank())
    net = Net()
    opt = lw.DistributedOptimizer(torch.optim.SGD(net.parameters(), lr=0.1), net)
    lw.broadcast_parameters(net, buffers=kind)
    for step in range(lw.rank() + 1):
        opt.zero_grad()
        net(torch.randn(8, 3)).sum().backward()
        opt.step()
    results[kind] = net, {name: buffer.clone() for name, buffer in net.named_buffers()}
    for _ in range(lw.size() - 1 - lw.rank()):
        opt.step()
lw.shutdown()
torch.save({kind: (before, dict(net.named_buffers())) for kind, (net, before) in results.items()}, folder / f"result.{lw.rank()}.pt")
