"""A worker that says in a file which layer it has run."""

import sys

import torch
from torch import nn

import leeway.torch as lw

folder = sys.argv[1]
torch.set_num_threads(1)
said = open(f"{folder}/said", "w", buffering=1)
iteration = 0


class Layer(nn.Linear):
    def forward(self, x):
        y = super().forward(x)
        print(f"{iteration} {self.name}", file=said)
        return y


lw.init()
layers = [Layer(4, 10), Layer(10, 11), Layer(11, 7)]
for number, layer in enumerate(layers):
    layer.name = str(number)
model = nn.Sequential(*layers)
optimizer = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model.named_parameters(), sync="bsp")
lw.broadcast_parameters(model.state_dict())
for iteration in range(3):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
lw.shutdown()
print("done", file=said)
