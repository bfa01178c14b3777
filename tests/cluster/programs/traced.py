"""Trains a small model. Rank 0 stands still in one step until rank 1 waits for it, and kills it."""

import os
import signal
import time
from pathlib import Path

import torch

import leeway.torch as lw

KILLS_IN_STEP = 7
STEPS = 12

lw.init()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.01), model.named_parameters())
lw.broadcast_parameters(model.state_dict(), root_rank=0)


def kill_rank_1_in_its_wait():
    while True:
        for part in Path(os.environ["LEEWAY_TRACE"]).glob("worker-1.*.jsonl"):
            begun = '"name":"wait","args":{"iteration":%d' % (KILLS_IN_STEP + 1)
            if begun in part.read_text():
                os.kill(int(part.name.split(".")[1]), signal.SIGKILL)
                return
        time.sleep(0.01)


for step in range(STEPS):
    if step == KILLS_IN_STEP and lw.rank() == 0:
        kill_rank_1_in_its_wait()
    optimizer.zero_grad()
    model(torch.ones(8, 64)).sum().backward()
    optimizer.step()
lw.shutdown()
