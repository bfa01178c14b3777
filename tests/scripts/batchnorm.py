"""A small convolutional net with BatchNorm, on images of stripes."""

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.manual_seed(0)
labels = torch.arange(128) % 2
rows = torch.randint(0, 8, (128,))
images = 0.5 * torch.randn(128, 1, 8, 8)
for image, label, row in zip(images, labels, rows):
    (image[0, row] if label else image[0, :, row]).add_(1.5)
data = TensorDataset(images, labels)
model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(), nn.Linear(216, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
sampler = DistributedSampler(data, 1, 0)
losses = []
for epoch in range(3):
    sampler.set_epoch(epoch)
    for x, y in DataLoader(data, batch_size=16, sampler=sampler):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    schedule.step()
torch.save({"values": model.state_dict(), "losses": losses}, Path(sys.argv[1]) / "result.pt")
