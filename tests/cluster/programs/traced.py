"""Trains a small model, and uses it in a forked child. Rank 0 stands still in one step until rank 1 waits for it, and kills it."""

import os
import signal
import time
from pathlib import Path

import torch

import leeway.torch as lw

FORKS_IN_STEP = 5
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


def use_in_a_forked_child():
    optimizer.synchronize()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with torch.no_grad():
                model(torch.ones(8, 64))
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


for step in range(STEPS):
    if step == FORKS_IN_STEP and lw.rank() == 0:
        use_in_a_forked_child()
    if step == KILLS_IN_STEP and lw.rank() == 0:
        kill_rank_1_in_its_wait()
    optimizer.zero_grad()
    model(torch.ones(8, 64)).sum().backward()
    optimizer.step()
lw.shutdown()
