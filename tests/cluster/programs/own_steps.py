"""A worker with two optimizers that steps them in a given order; rank 1 begins when rank 0 has made some steps by itself.

    own_steps.py FOLDER PATTERN ALONE

PATTERN names the optimizer of each step, such as DG; it is run through ROUNDS times. Rank 0 writes FOLDER/stepped after ALONE
steps, and rank 1 waits for that file before its first step. The models are independent of each other.
"""

import sys
import time
from pathlib import Path

import torch
from own_steps_loop import ROUNDS, loss, make_models, make_optimizer

import leeway.torch as lw

folder, pattern, alone = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
torch.set_num_threads(1)
lw.init()
models = make_models()
optimizers = {name: lw.DistributedOptimizer(make_optimizer(model), model.named_parameters()) for name, model in models.items()}
for model in models.values():
    lw.broadcast_parameters(model.state_dict())
for model in models.values():
    model(torch.zeros(1, 3))  # with the first pass in training mode the ranks agree on the first values
while lw.rank() == 1 and not (folder / "stepped").exists():
    time.sleep(0.005)
for step, name in enumerate(pattern * ROUNDS):
    optimizers[name].zero_grad()
    loss(models[name], lw.rank(), step).backward()
    optimizers[name].step()
    if lw.rank() == 0 and step + 1 == alone:
        (folder / "stepped").touch()
assert lw.iteration() == len(pattern) * ROUNDS
assert [optimizers[name].steps for name in "DG"] == [pattern.count(name) * ROUNDS for name in "DG"]
lw.shutdown()
torch.save({name: [p.detach() for p in model.parameters()] for name, model in models.items()}, folder / f"result.{lw.rank()}.pt")
