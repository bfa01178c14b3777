"""One worker of a job that would hang if anyone waited for a gradient that never comes.

Its model has an unused parameter, a frozen layer and a branch that only some ranks take; one rank pushes a NaN; ranks have
different amounts of data and join when theirs ends.
"""

import sys
import warnings

import torch
from torch import nn

import leeway.torch as lw

folder, sync = sys.argv[1], sys.argv[2]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.frozen = nn.Linear(8, 8)
        self.branch = nn.Linear(8, 8)
        self.unused = nn.Linear(3, 3)
        self.last = nn.Linear(8, 2)
        self.register_buffer("seen", torch.zeros(1))
        for parameter in self.frozen.parameters():
            parameter.requires_grad_(False)

    def forward(self, x, branch):
        x = torch.relu(self.frozen(torch.relu(self.first(x))))
        if branch:
            x = x + self.branch(x)
        return self.last(x)


torch.set_num_threads(1)
lw.init()
rank = lw.rank()
torch.manual_seed(rank)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters(), sync=sync)
lw.broadcast_parameters(model.state_dict())
began = {name: tensor.clone() for name, tensor in model.state_dict().items()}
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for step in range(8 + 6 * rank):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 6), branch=rank == 1 or step % 3 == rank).pow(2).mean()
        if rank == 1 and step == 4:
            loss = loss * float("nan")
        loss.backward()
        optimizer.step()
    lw.join()
refusals = [str(warning.message) for warning in said if "refused" in str(warning.message)]
torch.save({"began": began, "ended": model.state_dict(), "figures": optimizer.figures(), "refusals": refusals},
           f"{folder}/result.{rank}.pt")
lw.shutdown()
