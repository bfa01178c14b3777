"""Rank 1 reads the first values late: rank 0 could have trained meanwhile.

    late_reader.py FOLDER

Nothing was loaded, so no rank may say or find that another has loaded something.
"""

import sys
import time
from pathlib import Path

import torch

import leeway.torch as lw
from leeway.torch import first_values

WAIT_S = 3  # how long rank 1 waits for a step that must not come: longer finds more, and proves no more

stepped = Path(sys.argv[1]) / "stepped"
lw.init()
weight = torch.nn.Parameter(torch.ones(4))
optimizer = lw.DistributedOptimizer(torch.optim.SGD([weight], lr=0.1), [("weight", weight)])
lw.broadcast_parameters({"weight": weight})
compare = first_values._compare


def compare_late(*args):
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and not stepped.exists():
        time.sleep(0.01)
    compare(*args)


first_values._compare = compare_late
for _ in range(3):
    optimizer.zero_grad()
    weight.sum().backward()
    optimizer.step()
    if lw.rank() == 0:
        stepped.touch()
lw.shutdown()
