"""A GAN of points on a line, with the loop of DCGAN: two optimizers, and gradients of the discriminator that nobody uses."""

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.manual_seed(0)
first = torch.randn(160)
data = TensorDataset(torch.stack([2 + 0.2 * first, 1 - 0.2 * first], 1))
net_d = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
net_g = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
opt_d = torch.optim.Adam(net_d.parameters(), lr=0.01, betas=(0.5, 0.99))
opt_g = torch.optim.Adam(net_g.parameters(), lr=0.01, betas=(0.5, 0.99))
sampler = DistributedSampler(data, 1, 0)
noise = torch.Generator().manual_seed(0)
losses = []
for epoch in range(4):
    sampler.set_epoch(epoch)
    for (real,) in DataLoader(data, batch_size=20, sampler=sampler):
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        net_d.zero_grad()
        F.binary_cross_entropy_with_logits(net_d(real), ones).backward()
        fake = net_g(torch.randn(len(real), 2, generator=noise))
        F.binary_cross_entropy_with_logits(net_d(fake.detach()), zeros).backward()
        opt_d.step()
        net_g.zero_grad()
        F.binary_cross_entropy_with_logits(net_d(fake), ones).backward()
        opt_g.step()
        losses.append((fake.detach().mean(0) - torch.tensor([2.0, 1.0])).norm().item())
values = {f"{name}.{key}": value for name, net in (("d", net_d), ("g", net_g)) for key, value in net.state_dict().items()}
torch.save({"values": values, "losses": losses}, Path(sys.argv[1]) / "result.pt")
