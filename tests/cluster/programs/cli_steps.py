"""A worker that trains for a given number of steps (after the test's folder); the rank in the last argument fails half-way."""

import sys

import torch
from models import batch, cnn
from torch.nn import functional as F

import leeway.torch as lw

steps = int(sys.argv[2])
failing = int(sys.argv[3]) if len(sys.argv) > 3 else -1
torch.set_num_threads(1)
lw.init()
model = cnn(7)
optimizer = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), model.named_parameters())
lw.broadcast_parameters(model.state_dict())
for step in range(steps):
    if lw.rank() == failing and step == steps // 2:
        raise RuntimeError(f"rank {failing} was told to fail")
    x, y = batch(lw.rank(), step, 32)
    optimizer.samples = len(y)
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
lw.shutdown()
print(f"steps {steps}")
