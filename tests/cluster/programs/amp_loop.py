"""A loop with a GradScaler and bf16 autocast, for a worker and for one process that computes the batches of all."""

import torch
from torch import nn
from torch.nn import functional as F

STEPS = 6
OVERFLOWS = {0: 1, 3: 1}  # step -> the rank that finds infinities


def make_model():
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


def train(model, optimizer, scaler, ranks, clip=False):
    for step in range(STEPS):
        optimizer.zero_grad()
        for rank in ranks:
            generator = torch.Generator().manual_seed(10 * step + rank)
            x, y = torch.randn(5, 6, generator=generator), torch.randint(0, 3, (5,), generator=generator)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.cross_entropy(model(x), y) / len(ranks)
            if OVERFLOWS.get(step) == rank:
                loss = loss * float("inf")
            scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 0.05)
        scaler.step(optimizer)
        scaler.update()
