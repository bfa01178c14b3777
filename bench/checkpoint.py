"""The job of `leeway bench checkpoint`: trains the CNN of examples/fashion_mnist.py by its own loop, in turns.

Rank 0 waits for a line on one pipe ("with" or "without"), trains a turn together with the others, and writes the seconds that
it took to the other pipe. In a turn with checkpoints it asks the launcher for one (SIGUSR1) every so many of its iterations.
The time is that between two barriers of all workers: neither the start of the job nor its first iterations nor its end are in
it. The first checkpoint of a turn is asked for half an interval after its beginning, so that the last is whole before its end.
"""

import argparse
import math
import os
import signal
import sys
import time
from pathlib import Path

import torch

import leeway.data
import leeway.torch as lw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
import fashion_mnist  # noqa: E402


class AskingPool:
    """A BatchPool that asks the launcher for a checkpoint in the middle of every so many batches."""

    def __init__(self, pool, every, launcher):
        self._pool, self._every, self._launcher = pool, every, launcher

    def __getattr__(self, name):
        return getattr(self._pool, name)

    def __len__(self):
        return len(self._pool)

    def __iter__(self):
        for number, indices in enumerate(self._pool):
            if number % self._every == self._every // 2:
                os.kill(self._launcher, signal.SIGUSR1)
            yield indices


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--steps", type=int, required=True, help="batches of the job in each turn")
    parser.add_argument("--turns", type=int, required=True, help="how many")
    parser.add_argument("--warm-up", type=int, default=40, help="batches before the first turn (%(default)s)")
    parser.add_argument("--every", type=int, required=True, help="iterations of rank 0 between checkpoints")
    parser.add_argument("--launcher", type=int, required=True, help="the process that is asked for them")
    parser.add_argument("--go", required=True, help="the pipe that says when to train")
    parser.add_argument("--took", required=True, help="the pipe for the seconds of each turn")
    parser.add_argument("--batch", type=int, default=64, help="samples in a batch (%(default)s)")
    parser.add_argument("--lr", type=float, default=0.004, help="highest learning rate (%(default)s)")
    parser.add_argument("--data", help="the folder with the IDX files, if not the Debian package's")
    arguments = parser.parse_args()
    arguments.evaluate_every, arguments.history = math.inf, None

    torch.set_num_threads(1)
    torch.manual_seed(1)
    lw.init()
    train_set = leeway.data.fashion_mnist(arguments.data)
    model = fashion_mnist.make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.lr)
    optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters())
    lw.broadcast_parameters(model.state_dict(), root_rank=0)

    def train(batches, writes):
        pool = lw.BatchPool(min(batches * arguments.batch, len(train_set)), arguments.batch, seed=1)
        lw.barrier()
        began = time.perf_counter()
        pool = AskingPool(pool, arguments.every, arguments.launcher) if writes else pool
        fashion_mnist.train(arguments, model, optimizer, pool, train_set, None, fashion_mnist.History())
        lw.barrier()
        return time.perf_counter() - began

    train(arguments.warm_up, False)
    if lw.rank() == 0:
        go, told = open(arguments.go, encoding="utf-8"), open(arguments.took, "w", encoding="utf-8")
        print("ready", file=told, flush=True)
    for _ in range(arguments.turns):
        # The others wait in the barrier.
        writes = lw.rank() == 0 and go.readline() == "with\n"
        took = train(arguments.steps, writes)
        if lw.rank() == 0:
            print(took, file=told, flush=True)
    lw.shutdown()


if __name__ == "__main__":
    main()
