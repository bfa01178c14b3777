"""What Leeway adds to a training step of one-process PyTorch.

One worker trains a CNN under bsp, in turns with plain PyTorch in the same process: some steps of the one, some of the
other, so that whatever else the machine does meets both. Alone it brings its own scheduler and server (threads of this
process); under `leeway run -w 1 -s 1 --sync bsp -- python3 bench/step.py` they are processes of their own.
"""

import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

import leeway.torch as lw


def make_model():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))


def make_optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


class Side:
    """One of the two: its model, its optimizer, its times per step."""

    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.step_ms, self.optimizer_ms = [], []

    def run(self, steps, x, y):
        for _ in range(steps):
            began = time.perf_counter()
            self.optimizer.zero_grad()
            F.cross_entropy(self.model(x), y).backward()
            stepping = time.perf_counter()
            self.optimizer.step()
            ended = time.perf_counter()
            self.step_ms.append(1e3 * (ended - began))
            self.optimizer_ms.append(1e3 * (ended - stepping))


def measure(arguments):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(arguments.batch, 1, 28, 28, generator=generator)
    y = torch.randint(0, 10, (arguments.batch,), generator=generator)
    model = make_model()
    plain = Side(model, make_optimizer(model))
    model = make_model()
    ours = Side(model, lw.DistributedOptimizer(make_optimizer(model), model.named_parameters(), sync="bsp"))
    lw.broadcast_parameters(model.state_dict())

    for side in (plain, ours):
        side.run(arguments.turn, x, y)  # warm up
        side.step_ms.clear()
        side.optimizer_ms.clear()
    before = ours.optimizer.figures()
    for _ in range(arguments.turns):
        plain.run(arguments.turn, x, y)
        ours.run(arguments.turn, x, y)
    after = ours.optimizer.figures()
    lw.shutdown()

    steps = arguments.turn * arguments.turns
    part = {name: 1e3 * (after[name] - before[name]) / steps for name in ("push_s", "wait_s", "step_s")}
    mean_plain, mean_ours = statistics.fmean(plain.step_ms), statistics.fmean(ours.step_ms)
    plain_compute = mean_plain - statistics.fmean(plain.optimizer_ms)
    compute = mean_ours - sum(part.values())
    return {
        "steps": steps,
        "batch": arguments.batch,
        "parameters": sum(p.numel() for p in model.parameters()),
        "tables": len(list(model.parameters())),
        "plain_ms": mean_plain,
        "leeway_ms": mean_ours,
        "ratio": mean_ours / mean_plain,
        "plain_median_ms": statistics.median(plain.step_ms),
        "leeway_median_ms": statistics.median(ours.step_ms),
        "ratio_median": statistics.median(ours.step_ms) / statistics.median(plain.step_ms),
        # Where a step goes: forward and backward with the hooks in them, then what Leeway does in place of torch's.
        "plain_compute_ms": plain_compute,
        "plain_optimizer_ms": mean_plain - plain_compute,
        "compute_ms": compute,
        "compute_added_ms": compute - plain_compute,
        "push_ms": part["push_s"],
        "wait_ms": part["wait_s"],
        "clock_and_flip_ms": part["step_s"],
        "bytes_each_way_per_step": (after["bytes_sent"] - before["bytes_sent"]) / steps,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--batch", type=int, default=64, help="samples in a batch (%(default)s)")
    parser.add_argument("--turn", type=int, default=10, help="steps of one side before the other's turn (%(default)s)")
    parser.add_argument("--turns", type=int, default=12, help="turns of each side (%(default)s)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    lw.init(sync="bsp")
    result = measure(arguments)
    if arguments.json:
        print(json.dumps({key: round(value, 4) for key, value in result.items()}))
        return
    print(f"plain PyTorch {result['plain_median_ms']:.2f} ms a step, with Leeway {result['leeway_median_ms']:.2f} ms: "
          f"ratio {result['ratio_median']:.3f} (medians; means {result['ratio']:.3f})")
    for key, what in (("compute_added_ms", "more in forward and backward (hooks, a busier machine)"),
                      ("push_ms", "handing gradients over"), ("wait_ms", "waiting for values"),
                      ("clock_and_flip_ms", "the rest of step(): clock, buffers"),
                      ("plain_optimizer_ms", "saved: torch's own step")):
        print(f"  {result[key]:8.3f} ms  {what}")


if __name__ == "__main__":
    main()
