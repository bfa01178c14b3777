"""A training script whose every step depends on state of its rank: dropout, BatchNorm, a learning-rate schedule, a shuffling
sampler, noise from three random generators. However often the job goes back to a checkpoint, it must end with the same bits.

    resumable.py FOLDER ITERATIONS PAUSE_S [HELD]

It pauses after every iteration until the folder holds `hurry`, and, with HELD 1, does not begin its last iterations without it.
"""

import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import leeway.torch as lw

folder, iterations, pause_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
held = sys.argv[4:] == ["1"]
hurry = Path(folder) / "hurry"
SAMPLES, BATCH = 50, 8
LAST = 10  # iterations


class Shuffled:
    """Batches of indices, shuffled anew in every epoch."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.order, self.position = None, SAMPLES

    def next(self):
        if self.position + BATCH > SAMPLES:
            self.order, self.position = torch.randperm(SAMPLES, generator=self.generator), 0
        self.position += BATCH
        return self.order[self.position - BATCH:self.position]

    def state_dict(self):
        return {"generator": self.generator.get_state(), "order": self.order, "position": self.position}

    def load_state_dict(self, state):
        self.generator.set_state(state["generator"])
        self.order, self.position = state["order"], state["position"]


torch.set_num_threads(1)
lw.init()
rank = lw.rank()
for seed in (random.seed, np.random.seed, torch.manual_seed):
    seed(17 + rank)
data = torch.randn(SAMPLES, 12, generator=torch.Generator().manual_seed(rank))
labels = torch.randint(0, 3, (SAMPLES,), generator=torch.Generator().manual_seed(rank))
model = nn.Sequential(nn.Linear(12, 40), nn.BatchNorm1d(40), nn.ReLU(), nn.Dropout(0.3), nn.Linear(40, 3))
opt = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), model.named_parameters())
schedule = torch.optim.lr_scheduler.StepLR(opt, 7, gamma=0.9)
sampler = Shuffled(rank)
lw.register_state("schedule", schedule)
lw.register_state("sampler", sampler)
lw.broadcast_parameters(model.state_dict())
if lw.iteration() > 0:
    # As a script that loads a file of its own: the job's checkpoint counts.
    for parameter in model.parameters():
        parameter.data.fill_(0.25)
print(f"begins in iteration {lw.iteration()}")
for iteration in lw.iterations(iterations):
    while held and iteration >= iterations - LAST and not hurry.exists():
        time.sleep(0.005)
    batch = sampler.next()
    noise = 0.01 * torch.randn(BATCH, 12) + 0.01 * random.random() + 0.01 * np.random.rand()
    loss = F.cross_entropy(model(data[batch] + noise), labels[batch])
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
    if not hurry.exists():
        time.sleep(pause_s)
lw.shutdown()
rest = [schedule.get_last_lr()[0], random.random(), np.random.rand(), torch.rand(1).item(), float(sampler.position)]
final = torch.cat([*(tensor.detach().double().flatten() for tensor in model.state_dict().values()), torch.tensor(rest).double()])
np.save(f"{folder}/final.{rank}.npy", final.numpy())
