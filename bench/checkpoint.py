"""One of the two jobs of `leeway bench checkpoint`: trains the CNN of examples/fashion_mnist.py by its own loop, in turns.

Rank 0 waits for a line on one pipe, trains a turn together with the others, and writes the seconds that it took to the other
pipe. The time is that between two barriers of all workers: neither the start of the job nor its first
iterations nor its end are in it.
"""

import argparse
import math
import sys
import time
from pathlib import Path

import torch

import leeway.torch as lw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
import fashion_mnist  # noqa: E402
from fashion_mnist_data import load  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--steps", type=int, required=True, help="batches of the job in each turn")
    parser.add_argument("--turns", type=int, required=True, help="how many")
    parser.add_argument("--warm-up", type=int, default=40, help="batches before the first turn (%(default)s)")
    parser.add_argument("--go", required=True, help="the pipe that says when to train")
    parser.add_argument("--took", required=True, help="the pipe for the seconds of each turn")
    parser.add_argument("--batch", type=int, default=64, help="samples in a batch (%(default)s)")
    parser.add_argument("--lr", type=float, default=0.004, help="highest learning rate (%(default)s)")
    parser.add_argument("--data", help="the folder with the IDX files, if not the Debian package's")
    arguments = parser.parse_args()
    arguments.evaluate_every = math.inf

    torch.set_num_threads(1)
    torch.manual_seed(1)
    lw.init()
    train_set = load("train", arguments.data)
    model = fashion_mnist.make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.lr)
    optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters())
    lw.broadcast_parameters(model.state_dict(), root_rank=0)

    def train(batches):
        pool = lw.BatchPool(min(batches * arguments.batch, len(train_set[1])), arguments.batch, seed=1)
        lw.barrier()
        began = time.perf_counter()
        fashion_mnist.train(arguments, model, optimizer, pool, train_set, None, fashion_mnist.History())
        lw.barrier()
        return time.perf_counter() - began

    train(arguments.warm_up)
    if lw.rank() == 0:
        go, told = open(arguments.go, encoding="utf-8"), open(arguments.took, "w", encoding="utf-8")
        print("ready", file=told, flush=True)
    for _ in range(arguments.turns):
        if lw.rank() == 0:
            go.readline()  # the others wait in the barrier
        took = train(arguments.steps)
        if lw.rank() == 0:
            print(took, file=told, flush=True)
    lw.shutdown()


if __name__ == "__main__":
    main()
