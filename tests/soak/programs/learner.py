"""A worker of the soak: a small network on images of clothes, batches from one pool, until the folder holds `stop`.

    learner.py FOLDER

The images are the smaller part of the set that `make train` uses: 8,000 to learn from, 2,000 to look how well. Says now and
then how far it is, and at its end how much of the 2,000 the job's parameters get right.
"""

import os
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

import leeway.data
import leeway.torch as lw

PAUSE_S = 0.01  # beside a step: the machine has others to start meanwhile
stop = Path(sys.argv[1]) / "stop"
life = os.environ.get("LEEWAY_RESTART", "0")
torch.set_num_threads(1)
torch.manual_seed(1)
lw.init()
clothes = leeway.data.fashion_mnist(train=False)
images, labels = clothes.data, clothes.targets
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters())
lw.broadcast_parameters(model.state_dict(), root_rank=0)
for indices in lw.BatchPool(8_000, 32, epochs=10_000, seed=3):
    optimizer.zero_grad()
    optimizer.samples = len(indices)
    F.cross_entropy(model(clothes.normalize(images[indices])), labels[indices]).backward()
    optimizer.step()
    time.sleep(PAUSE_S)
    if lw.iteration() % 20 == 0:
        print(f"life {life} iteration {lw.iteration()}")
    if stop.exists():
        break
lw.join()
lw.shutdown()
with torch.no_grad():
    right = (model(clothes.normalize(images[8_000:])).argmax(1) == labels[8_000:]).float().mean().item()
print(f"accuracy {right:.4f}")
