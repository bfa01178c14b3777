"""One worker of a job that uses everything that ranks do together besides training."""

import sys
import time

import numpy as np
import torch
from models import batch, cnn
from torch.nn import functional as F

import leeway.torch as lw

folder = sys.argv[1]
torch.set_num_threads(1)
lw.init()
rank, size = lw.rank(), lw.size()
result = {"rank": rank, "size": size}

# push_pull: mean and sum, under one name again and again.
result["mean"] = [lw.push_pull(torch.full((3, 2), float(rank + 10 * i)), name="m") for i in range(3)]
result["sum"] = [lw.push_pull(torch.tensor(float(rank + 1 + i)), name="s", average=False) for i in range(3)]

# A broadcast from another rank than 0, of tensors of several types and without a table.
odd = {"f": torch.full((2, 3), float(rank)), "i": torch.tensor([rank, 1 << 40]), "b": torch.tensor([rank == 1, True, False]),
       "nan": torch.tensor(float("nan") if rank == 1 else 0.0), "double": torch.tensor([rank + 0.1], dtype=torch.float64)}
lw.broadcast_parameters(odd, root_rank=1)
result["odd"] = odd

# Every sample of every epoch in exactly one batch.
drawn = [[] for _ in range(3)]
pool = lw.BatchPool(samples=103, batch=8, epochs=3, seed=5)
for indices in pool:
    drawn[pool.epoch].append(np.array(indices))
    time.sleep(0.02)  # the others draw too
result["drawn"] = drawn
lw.barrier()

# A tensor that is not finite counts in no sum, whatever its size (the large one is of two blocks), and nobody hangs.
for name, elements in (("n", 1), ("large n", 1_500_000)):
    sums = result[name] = []
    for i in range(3):
        tensor = torch.ones(elements)
        if i == 1 and rank == 1:
            tensor[0] = float("nan")
        try:
            sums.append(lw.push_pull(tensor, name=name, average=False).unique().tolist())
        except lw.LeewayError as error:
            sums.append(error.code)

# Two micro-batches under no_sync are one iteration and equal a batch twice as large.
for name in ("accumulated", "large"):
    model = cnn(7)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters(prefix=name), sync="bsp", apply="aggregate:reduce=ordered")
    lw.broadcast_parameters(model.state_dict())
    before = lw.iteration()
    for step in range(5):
        x, y = batch(rank, step, 16)
        optimizer.zero_grad(set_to_none=step % 2 == 0)
        if name == "large":
            F.cross_entropy(model(x), y).backward()
        else:
            with lw.no_sync():
                (F.cross_entropy(model(x[:8]), y[:8]) / 2).backward()
            (F.cross_entropy(model(x[8:]), y[8:]) / 2).backward()
        optimizer.step()
    optimizer.synchronize()
    result[name] = [parameter.detach().clone() for parameter in model.parameters()]
    result["iterations"] = lw.iteration() - before
torch.save(result, f"{folder}/result.{rank}.pt")

# The last rank leaves; the others' sum is then over the others.
if rank != size - 1:
    lw.barrier("before the last leaves")
    result["sum of the rest"] = lw.push_pull(torch.tensor(1.0), name="s", average=False)
    torch.save(result, f"{folder}/result.{rank}.pt")
else:
    lw.barrier("before the last leaves")
lw.shutdown()
