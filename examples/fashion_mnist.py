"""Trains a small CNN on Fashion-MNIST, all workers drawing batches from one pool.

    leeway run -w 4 -s 2 --sync asp --slow-worker 3:4x examples/fashion_mnist.py
    python3 examples/fashion_mnist.py                     # alone: a job of one process

The synchronization model is the job's (--sync). With one worker that stays slow, asp keeps all others busy: under bsp
each iteration takes as long as the slow worker's, and ssp only lets the others run a few iterations ahead before they
wait as well. The pool makes it safe: the slow worker draws fewer batches, and no data is left out.
"""

import argparse
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

import leeway.data
import leeway.torch as lw

KEPT_TEST_IMAGES = 2500  # of every snapshot; on all 10,000 the looking would take as long as the training

NEXT = """
What to try next:
  make train SYNC=bsp         everyone waits for the slow worker, each iteration
  make train SYNC=ssp:3       at most 3 iterations ahead of it
  build/leeway run --help     all that a job can be told
  docs/pytorch.md             your own model, in five lines"""


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))


@torch.no_grad()
def accuracy(model, test_set, images=None):
    """The share of the test images, or of the first `images` of them, that the model gets right."""
    model.eval()
    data, targets = test_set.data[:images], test_set.targets[:images]
    right = sum((model(test_set.normalize(x)).argmax(1) == y).sum().item() for x, y in zip(data.split(250), targets.split(250)))
    model.train()
    return right / len(targets)


class History:
    """Rank 0's measurements over time, for the picture."""

    def __init__(self):
        self.began = self.looked = time.monotonic()
        self.losses, self.accuracies = [], []  # (seconds, value)
        self.snapshots = []  # (seconds, parameters): evaluated when training is over

    def seconds(self):
        return time.monotonic() - self.began

    def is_due(self, every_s):
        if time.monotonic() - self.looked < every_s:
            return False
        self.looked = time.monotonic()
        return True

    @torch.no_grad()
    def keep(self, model):
        self.snapshots.append((self.seconds(), [parameter.detach().clone() for parameter in model.parameters()]))

    @torch.no_grad()
    def evaluate_kept(self, model, test_set):
        for at, parameters in self.snapshots:
            for parameter, kept in zip(model.parameters(), parameters):
                parameter.copy_(kept)
            self.accuracies.append((at, accuracy(model, test_set, images=KEPT_TEST_IMAGES)))
        self.snapshots.clear()


def job_progress(pool):
    """How far the job is, from 0 to 1.

    Workers that keep step share the iteration, which gives them the same learning rate in it; the pool's progress is that
    of this worker's own batch. Where some workers run ahead (ssp, asp), iterations differ and the pool knows better.
    """
    by_iteration = lw.iteration() * lw.size() / len(pool)
    return min(1.0, by_iteration if abs(by_iteration - pool.progress) < 0.1 else pool.progress)


def learning_rate(highest, progress):
    """Rises over the first 5 % of the job's batches, then falls to zero."""
    return highest * min(progress / 0.05, (1 - progress) / 0.95)


def train(arguments, model, optimizer, pool, train_set, test_set, history):
    is_chief = lw.rank() == 0
    for indices in pool:
        optimizer.zero_grad()
        optimizer.samples = len(indices)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(arguments.lr, job_progress(pool))
        loss = F.cross_entropy(model(train_set.normalize(train_set.data[indices])), train_set.targets[indices])
        loss.backward()
        if is_chief and arguments.history and history.is_due(arguments.evaluate_every):
            history.keep(model)  # what this batch was computed on
        optimizer.step()
        if is_chief:
            history.losses.append((history.seconds(), loss.item()))
            if not arguments.history and history.is_due(arguments.evaluate_every):
                reached = accuracy(model, test_set, images=1000)
                history.accuracies.append((history.seconds(), reached))
                print(f"{history.seconds():5.1f} s  epoch {pool.epoch + 1}/{pool.epochs}  loss {loss.item():.3f}  "
                      f"accuracy {100 * reached:.1f} % (on 1,000 test images)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--epochs", type=int, default=3, help="passes of the job over the training set (%(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="samples in a batch (%(default)s)")
    parser.add_argument("--lr", type=float, default=0.004, help="highest learning rate (%(default)s)")
    parser.add_argument("--evaluate-every", type=float, default=5.0, metavar="S",
                        help="seconds between evaluations (%(default)s)")
    parser.add_argument("--min-accuracy", type=float, default=0.0, metavar="A", help="exit with 1 below this: 0.88")
    parser.add_argument("--plot", default="fashion_mnist.png", help="where the picture goes (%(default)s)")
    parser.add_argument("--history", metavar="FILE", help="writes loss and accuracy over time as JSON; accuracies on "
                        f"{KEPT_TEST_IMAGES:,} test images, the last one on all, found when training is over, so that looking "
                        "slows nobody down")
    parser.add_argument("--samples", type=int, default=0, help="of the training set to train on; 0: all (%(default)s)")
    parser.add_argument("--data", help="the folder with the IDX files, if not the Debian package's")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(1)
    lw.init()
    train_set = leeway.data.fashion_mnist(arguments.data)
    test_set = leeway.data.fashion_mnist(arguments.data, train=False)
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.lr)
    optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters())
    lw.broadcast_parameters(model.state_dict(), root_rank=0)
    images = min(arguments.samples or len(train_set), len(train_set))
    pool = lw.BatchPool(images, arguments.batch, arguments.epochs, seed=1)

    history = History()
    train(arguments, model, optimizer, pool, train_set, test_set, history)
    lw.join()  # the pool is used up: leave, wait for the last one, take the final parameters
    is_chief, size = lw.rank() == 0, lw.size()
    took = history.seconds()
    lw.shutdown()
    if not is_chief:
        return 0

    reached = accuracy(model, test_set)
    history.evaluate_kept(model, test_set)
    history.accuracies.append((took, reached))
    samples = images * arguments.epochs
    print(f"\ntest accuracy {100 * reached:.2f} % (epochs: {arguments.epochs}) after {took:.1f} s, "
          f"{samples / took:,.0f} samples/s over {size} worker{'s' if size > 1 else ''}")
    if arguments.history:
        with open(arguments.history, "w", encoding="utf-8") as out:
            json.dump({"seconds": took, "samples": samples, "accuracy": reached, "losses": history.losses,
                       "accuracies": history.accuracies}, out)
    import fashion_mnist_plot
    fashion_mnist_plot.draw(history, arguments, size, arguments.plot)
    print(f"loss and accuracy over time: {arguments.plot}")
    if reached < arguments.min_accuracy:
        print(f"below the accuracy asked for, {100 * arguments.min_accuracy:.2f} %", file=sys.stderr)
        return 1
    print(NEXT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
