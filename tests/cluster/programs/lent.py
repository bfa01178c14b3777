"""A worker whose gradients are known, and overwritten by zero_grad() as soon as step() returns."""

import sys

import torch
from torch import nn

import leeway.torch as lw

STEPS = 6
folder, table_elements = sys.argv[1], int(sys.argv[2])
lw.init()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(table_elements))

    def forward(self, scale):
        return (self.weight * scale).sum()


model = Model()
optimizer = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=1.0), model.named_parameters(), sync="asp")
lw.broadcast_parameters(model.state_dict())
for step in range(STEPS):
    model(float(2**step)).backward()
    optimizer.step()
    optimizer.zero_grad()
    model.weight.grad.fill_(1e6)  # neither zero_grad() nor the next backward may touch a gradient that is on loan
    optimizer.zero_grad()
figures = optimizer.figures()
lw.join()
torch.save({"weight": model.weight.detach(), "figures": {**figures, **optimizer.figures()}}, f"{folder}/result.pt")
lw.shutdown()
