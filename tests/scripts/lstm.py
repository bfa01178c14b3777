"""A language model with an LSTM, which clips its gradients; words follow each other by a rule with noise."""

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

WORDS, LENGTH = 9, 12
torch.manual_seed(0)
text = [torch.randint(0, WORDS, (96,))]
for _ in range(LENGTH):
    text.append((2 * text[-1] + torch.randint(0, 2, (96,))) % WORDS)
data = TensorDataset(torch.stack(text, 1))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 12)
        self.lstm = nn.LSTM(12, 16, batch_first=True)
        self.out = nn.Linear(16, WORDS)

    def forward(self, x):
        return self.out(self.lstm(self.embedding(x))[0])


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
sampler = DistributedSampler(data, 1, 0)
losses = []
for epoch in range(3):
    sampler.set_epoch(epoch)
    for (x,) in DataLoader(data, batch_size=12, sampler=sampler):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
torch.save({"values": model.state_dict(), "losses": losses}, Path(sys.argv[1]) / "result.pt")
