"""One worker of the equivalence test: trains each case on its own batches and saves what it ends with."""

import sys

import torch
import torch.nn.functional as F
from equivalence_setup import CASES, STEPS, make, samples, schedule
from models import batch

import leeway.torch as lw

folder = sys.argv[1]
torch.set_num_threads(1)
lw.init()
result = {}
for case in CASES:
    # Ranks start apart: the broadcast must make them equal.
    model, optimizer = make(case, seed=3 + lw.rank())
    named = [(f"{case}.{name}", parameter) for name, parameter in model.named_parameters()]
    optimizer = lw.DistributedOptimizer(optimizer, named, sync="bsp", apply="aggregate:reduce=ordered")
    lw.broadcast_parameters(model.state_dict(), root_rank=0)
    scheduler = schedule(optimizer)
    for step in range(STEPS):
        count = samples(lw.rank(), step)
        optimizer.samples = count
        x, y = batch(lw.rank(), step, count)
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        scheduler.step()
    optimizer.synchronize()
    result[case] = [parameter.detach().clone() for parameter in model.parameters()]
torch.save(result, f"{folder}/result.{lw.rank()}.pt")
lw.shutdown()
