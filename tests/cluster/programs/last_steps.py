"""One worker of a job whose values tell by how many members each step was divided.

Every gradient is 1 and lr is the number of workers, so a push that is one of N moves the values by size/N. The job
applies pushes to `immediate` as they come, and sums those to `aggregate`. Nobody waits in either, so that the last rank
may stand still while the others empty the pool.
"""

import sys

import torch

import leeway.torch as lw

folder, story, count = sys.argv[1], sys.argv[2], int(sys.argv[3])


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.immediate = torch.nn.Parameter(torch.zeros(1))
        self.aggregate = torch.nn.Parameter(torch.zeros(1))

    def forward(self):
        return (self.immediate + self.aggregate).sum()


torch.set_num_threads(1)
lw.init()
rank, size = lw.rank(), lw.size()
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=float(size))
optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters())
lw.broadcast_parameters(model.state_dict())
model()  # all ranks meet at the first forward pass, which the story below begins at different times
batches = iter(lw.BatchPool(samples=count, batch=1))
pushed = 0


def step():
    global pushed
    optimizer.zero_grad()
    model().backward()
    optimizer.step()
    pushed += 1


if rank < size - 1:
    # Ends when the last rank has come, or has left.
    lw.barrier("leased")
    for _ in batches:
        step()
elif story == "straggles":
    # Half of the work: no other rank comes so far, so that this one is alone in its last iterations.
    for _ in range(count // 2):
        next(batches)
        step()
    next(batches)  # leases some more with it
    lw.barrier("leased")
    lw.barrier("alone")  # the others do not come here: it ends when they have left
    step()
    for _ in batches:
        step()
else:
    next(batches)
    step()  # and leaves what it has leased to the others
lw.join()
torch.save({"immediate": model.immediate.item(), "aggregate": model.aggregate.item(), "pushed": pushed},
           f"{folder}/result.{rank}.pt")
lw.shutdown()
