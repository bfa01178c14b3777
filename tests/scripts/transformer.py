"""A character transformer with warm-up of its learning rate and a tied output layer."""

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

TEXT = "the quick brown fox jumps over the lazy dog; " * 12
LENGTH = 16
torch.manual_seed(0)
letters = sorted(set(TEXT))
codes = torch.tensor([letters.index(letter) for letter in TEXT])
data = TensorDataset(codes.unfold(0, LENGTH + 1, 4))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(letters), 16)
        self.position = nn.Parameter(0.02 * torch.randn(LENGTH, 16))
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True), 2)
        self.out = nn.Linear(16, len(letters), bias=False)
        self.out.weight = self.embedding.weight
        self.register_buffer("mask", torch.triu(torch.full((LENGTH, LENGTH), float("-inf")), 1), persistent=False)

    def forward(self, x):
        return self.out(self.body(self.embedding(x) + self.position, self.mask))


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 4))
sampler = DistributedSampler(data, 1, 0)
losses = []
for epoch in range(2):
    sampler.set_epoch(epoch)
    for (x,) in DataLoader(data, batch_size=10, sampler=sampler):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
torch.save({"values": model.state_dict(), "losses": losses}, Path(sys.argv[1]) / "result.pt")
