"""A seeded script without a sampler: every rank shuffles the same data in the same way."""

import torch
from models import cnn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import leeway.torch as lw

torch.set_num_threads(1)
model = cnn(7)
data = TensorDataset(torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
lw.init()
optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters())
lw.broadcast_parameters(model.state_dict(), root_rank=0)
for x, y in DataLoader(data, batch_size=8, shuffle=True):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
