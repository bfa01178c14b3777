"""One worker of a job whose values tell by how many members each step was divided.

Every gradient is 1 and lr is the number of workers, so a push that is one of N moves the values by size/N.
"""

import sys

import torch

import leeway.torch as lw

folder, sync, apply, story = sys.argv[1:]
BATCHES = 40
torch.set_num_threads(1)
lw.init()
rank, size = lw.rank(), lw.size()
model = torch.nn.Linear(1, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=float(size))
optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters(), sync=sync, apply=apply)
model.weight.data.zero_()
lw.broadcast_parameters(model.state_dict())
pool = lw.BatchPool(samples=BATCHES, batch=1)
pushed = 0


def step(_):
    global pushed
    optimizer.zero_grad()
    model(torch.ones(1, 1)).sum().backward()
    optimizer.step()
    pushed += 1


batches = iter(pool)
if rank == size - 1:
    own = next(batches)  # and some more that are leased with it
    if story == "straggler":
        lw.barrier("leased")
        lw.barrier("alone")  # the others come to no second barrier: this one ends when they have left
        step(own)
        for batch in batches:
            step(batch)
    else:
        step(own)  # and leaves the rest to the others
else:
    # Under "hand over" the last rank does not come here: the barrier ends when it has left.
    lw.barrier("leased")
    for batch in batches:
        step(batch)
lw.join()
torch.save({"value": model.weight.item(), "pushed": pushed}, f"{folder}/result.{rank}.pt")
lw.shutdown()
