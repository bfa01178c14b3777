"""A variational autoencoder of points on a circle, in double precision."""

import sys
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
angles = 6.28 * torch.rand(160)
data = TensorDataset(torch.stack([angles.cos(), angles.sin(), angles.cos() * angles.sin(), angles.sin() ** 2], 1))
encoder = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4))
decoder = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 4))
model = nn.ModuleDict({"encoder": encoder, "decoder": decoder})
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
sampler = DistributedSampler(data, 1, 0)
noise = torch.Generator().manual_seed(0)
losses = []
for epoch in range(3):
    sampler.set_epoch(epoch)
    for (x,) in DataLoader(data, batch_size=20, sampler=sampler):
        mean, log_variance = encoder(x).chunk(2, 1)
        z = mean + (0.5 * log_variance).exp() * torch.randn(mean.shape, generator=noise)
        divergence = 0.5 * (mean ** 2 + log_variance.exp() - 1 - log_variance).sum(1).mean()
        loss = ((decoder(z) - x) ** 2).sum(1).mean() + 0.05 * divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
torch.save({"values": model.state_dict(), "losses": losses}, Path(sys.argv[1]) / "result.pt")
