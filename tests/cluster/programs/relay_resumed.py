"""A worker under relay that goes on from checkpoints: an optimizer of its own with state, and a schedule.

    relay_resumed.py FOLDER ITERATIONS PAUSE_S HELD

It pauses after every iteration until the folder holds `hurry`, and, with HELD 1, does not begin its last iterations without it.
"""

import sys
import time
from pathlib import Path

import torch
from relay_setup import Lamb, Model, loss

import leeway.torch as lw

LAST = 10  # iterations
folder, iterations, pause_s, held = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4] == "1"
hurry = folder / "hurry"
torch.set_num_threads(1)
lw.init()
model = Model(3 + lw.rank(), False)
optimizer = lw.DistributedOptimizer(Lamb(model.parameters(), lr=0.02), model.named_parameters())
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + 0.1 * step))
lw.register_state("schedule", schedule)
lw.broadcast_parameters(model.state_dict())
if lw.iteration() > 0:
    for parameter in model.parameters():
        parameter.data.fill_(0.25)  # the checkpoint counts
print(f"begins in iteration {lw.iteration()}", flush=True)
for iteration in lw.iterations(iterations):
    while held and iteration >= iterations - LAST and not hurry.exists():
        time.sleep(0.005)
    optimizer.zero_grad()
    loss(model, lw.rank(), iteration).backward()
    optimizer.step()
    schedule.step()
    if not hurry.exists():
        time.sleep(pause_s)
lw.shutdown()
torch.save([p.detach().clone() for p in model.parameters()], folder / f"end.{lw.rank()}.pt")
