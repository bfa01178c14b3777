"""One worker under relay whose data, life or beginning differs from that of the others; saves the parameters that it ends with.

    relay_ends.py FOLDER STEPS DIES_AT PART

It trains until iteration STEPS, or kills itself in the backward pass of iteration DIES_AT. PART `joins` comes to a job that runs,
and PART `waits` goes on near its end only when that one is there.
"""

import os
import signal
import sys
import time
from pathlib import Path

import torch
from relay_setup import Lamb, Model, loss

import leeway.torch as lw

folder, steps, dies_at, part = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
joining = folder / "joining"
torch.set_num_threads(1)
lw.init()
rank = lw.rank()
model = Model(3 + rank, False)
optimizer = lw.DistributedOptimizer(Lamb(model.parameters(), lr=0.02), model.named_parameters())
lw.broadcast_parameters(model.state_dict(), root_rank=0)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + 0.1 * step))
lw.register_state("schedule", schedule)
if part == "joins":
    assert lw.iteration() > 1
    joining.touch()
while lw.iteration() < steps:
    while part == "waits" and lw.iteration() == steps - 5 and not joining.exists():
        time.sleep(0.01)
    print(f"iteration {lw.iteration()}", flush=True)
    optimizer.zero_grad()
    value = loss(model, rank, lw.iteration())
    if lw.iteration() == dies_at:
        model.last.weight.register_hook(lambda gradient: os.kill(os.getpid(), signal.SIGKILL))
    value.backward()
    optimizer.step()
    schedule.step()
lw.shutdown()
torch.save([p.detach().clone() for p in model.parameters()], folder / f"end.{rank}.pt")
