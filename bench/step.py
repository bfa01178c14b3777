"""What Leeway adds to a training step of PyTorch.

Every worker trains a CNN (under bsp unless told otherwise), in turns with plain PyTorch in the same process: a turn of the
one, a turn of the other, all workers the same kind at a time, so that whatever else the machine does meets both. Two turns beside each other are a pair,
and each kind goes first in every other one; what counts is the median of the ratios of the pairs.

A plain turn is as long as a turn with Leeway was, in seconds, and counts its steps: unconnected processes do not wait for
each other's end. A turn with Leeway is so many steps, until the values after the last one are there.

Alone it brings its own scheduler and server (threads of this process); `leeway bench step` makes them processes of their own.
"""

import argparse
import json
import os
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

import leeway.torch as lw
from leeway import environment

PHASES = ("push_s", "wait_s", "step_s")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def make_model():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))


def make_optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def machine_ticks():
    """Of all cores since the start: all ticks, and those that were idle."""
    with open("/proc/stat", encoding="utf-8") as stat:
        numbers = [int(word) for word in stat.readline().split()[1:9]]
    return sum(numbers), numbers[3] + numbers[4]


def job_cpu_s():
    """Processor time of the whole job so far: the processes that the launcher of this one has started; alone, this one's."""
    if not environment.read().scheduler:
        return time.process_time()
    parent, ticks = os.getppid(), 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[1]) == parent:
            ticks += int(fields[11]) + int(fields[12])
    return ticks * TICK_S


class Side:
    """One of the two: its model and its optimizer."""

    def __init__(self, model, optimizer, batch):
        self.model, self.optimizer, self.batch = model, optimizer, batch
        self.forget()

    def step(self):
        x, y = self.batch
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(x), y).backward()
        stepping = time.perf_counter()
        self.optimizer.step()
        ended = time.perf_counter()
        self.optimizer_s += ended - stepping
        return ended

    def turn(self, steps=None, seconds=None):
        """So many steps, or as many as begin in so many seconds. Gives steps per second."""
        lw.barrier()
        cpu_before_s = job_cpu_s() if lw.rank() == 0 else 0.0
        all_before, idle_before = machine_ticks()
        lw.barrier()
        began = now = time.perf_counter()
        done = 0
        while done < steps if steps is not None else now - began < seconds:
            now = self.step()
            done += 1
        if hasattr(self.optimizer, "synchronize"):
            self.optimizer.synchronize()
            now = time.perf_counter()
        lw.barrier()
        all_after, idle_after = machine_ticks()
        self.ticks, self.idle_ticks = self.ticks + all_after - all_before, self.idle_ticks + idle_after - idle_before
        self.cpu_s += job_cpu_s() - cpu_before_s if lw.rank() == 0 else 0.0
        self.steps, self.seconds = self.steps + done, self.seconds + now - began
        return done / (now - began)

    def forget(self):
        """What was counted over all turns. cpu_s: of the job, and known to rank 0."""
        self.steps, self.seconds, self.optimizer_s, self.cpu_s = 0, 0.0, 0.0, 0.0
        self.ticks, self.idle_ticks = 0, 0

    def idle(self):
        """The share of the machine that nobody used in these turns."""
        return self.idle_ticks / max(1, self.ticks)


def measure(arguments):
    generator = torch.Generator().manual_seed(1 + lw.rank())
    batch = (torch.randn(arguments.batch, 1, 28, 28, generator=generator),
             torch.randint(0, 10, (arguments.batch,), generator=generator))
    model = make_model()
    plain = Side(model, make_optimizer(model), batch)
    model = make_model()
    ours = Side(model, lw.DistributedOptimizer(make_optimizer(model), model.named_parameters(), sync=arguments.sync), batch)
    lw.broadcast_parameters(model.state_dict())

    for _ in range(2):  # to warm up, and to see how long a turn is
        rate = ours.turn(steps=arguments.turn)
        plain.turn(seconds=arguments.turn / rate)
    seconds = arguments.turn / lw.push_pull(torch.tensor(rate)).item()
    ours.forget()
    plain.forget()
    before = ours.optimizer.figures()
    ticks_before, cpu_before_s = machine_ticks(), job_cpu_s()
    rates = torch.zeros(2, arguments.pairs)  # plain, ours
    for pair in range(arguments.pairs):
        for kind in ((0, 1) if pair % 2 == 0 else (1, 0)):
            rates[kind, pair] = ours.turn(steps=arguments.turn) if kind else plain.turn(seconds=seconds)
    after = ours.optimizer.figures()
    during = others_share(ticks_before, machine_ticks(), job_cpu_s() - cpu_before_s)
    # Of all workers together, and what is per step as the mean over them.
    rates = (arguments.batch * lw.push_pull(rates, name="rates", average=False)).tolist()
    own = torch.tensor([plain.seconds / plain.steps, plain.optimizer_s / plain.steps, ours.seconds / ours.steps]
                       + [(after[name] - before[name]) / ours.steps for name in PHASES])
    plain_ms, plain_optimizer_ms, leeway_ms, *phases_ms = (1e3 * lw.push_pull(own, name="own")).tolist()
    plain_steps, plain_cpu_s, cpu_s = lw.push_pull(torch.tensor([plain.steps, plain.cpu_s, ours.cpu_s]), name="cpu",
                                                   average=False).tolist()
    plain_cpu_ms, cpu_ms = 1e3 * plain_cpu_s / plain_steps, 1e3 * cpu_s / (ours.steps * lw.size())
    result = summary(rates)
    compute_ms = leeway_ms - sum(phases_ms)
    result.update({
        "workers": lw.size(),
        "pairs": arguments.pairs,
        "turn_steps": arguments.turn,
        "sync": arguments.sync,
        "batch": arguments.batch,
        "parameters": sum(p.numel() for p in model.parameters()),
        "tables": len(list(model.parameters())),
        "plain_ms": plain_ms,
        "leeway_ms": leeway_ms,
        # Processor time of the whole job per step of a worker, servers and scheduler with it: hardly moved by what others do.
        "plain_cpu_ms": plain_cpu_ms,
        "cpu_ms": cpu_ms,
        "cpu_ratio": cpu_ms / plain_cpu_ms,
        # What nobody used of the machine. With more workers than cores: who waits for the others, and nobody is left to run.
        "plain_idle": plain.idle(),
        "idle": ours.idle(),
        # Where a step goes: forward and backward with the hooks in them, then what Leeway does in place of torch's.
        "plain_compute_ms": plain_ms - plain_optimizer_ms,
        "plain_optimizer_ms": plain_optimizer_ms,
        "compute_ms": compute_ms,
        "compute_added_ms": compute_ms - (plain_ms - plain_optimizer_ms),
        **dict(zip(("push_ms", "wait_ms", "clock_and_flip_ms"), phases_ms)),
        "bytes_each_way_per_step": (after["bytes_sent"] - before["bytes_sent"]) / ours.steps,
        "copied_gradients": after["copied_gradients"] - before["copied_gradients"],
        "rebound_parameters": after["rebound_parameters"] - before["rebound_parameters"],
    })
    lw.shutdown()
    return result, during


def summary(rates):
    """Of samples per second, by kind and pair. A ratio is time: with Leeway over plain."""
    plain, ours = rates
    ratios = sorted(a / b for a, b in zip(plain, ours))
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else 3 * ratios
    return {
        "samples_s": statistics.median(ours),
        "plain_samples_s": statistics.median(plain),
        "ratio": middle, "ratio_p25": low, "ratio_p75": high, "ratio_min": ratios[0], "ratio_max": ratios[-1],
        "ratio_spread": (ratios[-1] - ratios[0]) / middle,
        "added_percent": 100 * (middle - 1),
        "lost_percent": 100 * (1 - 1 / middle),
    }


def busy_share(seconds=0.5):
    """The share of the machine that others use, as the other benches have it."""
    before = machine_ticks()
    time.sleep(seconds)
    return others_share(before, machine_ticks(), 0.0)


def others_share(before, after, own_s):
    """What was used of the machine between two looks at its ticks, less the job's own processor time."""
    (all_before, idle_before), (all_after, idle_after) = before, after
    used = all_after - all_before - (idle_after - idle_before) - own_s / TICK_S
    return min(1.0, max(0.0, used / max(1, all_after - all_before)))


def text(result):
    lines = [f"{result['workers']} workers under {result['sync']}, {result['pairs']} pairs of turns of {result['turn_steps']} steps, batch "
             f"{result['batch']}",
             f"plain PyTorch {result['plain_samples_s']:9.0f} samples/s  {result['plain_ms']:.2f} ms a step",
             f"with Leeway   {result['samples_s']:9.0f} samples/s  {result['leeway_ms']:.2f} ms a step",
             f"time ratio {result['ratio']:.3f} (half of the pairs: {result['ratio_p25']:.3f} to {result['ratio_p75']:.3f}; all: "
             f"{result['ratio_min']:.3f} to {result['ratio_max']:.3f}): adds {result['added_percent']:.1f} %, loses "
             f"{result['lost_percent']:.1f} % of samples/s"]
    lines.append(f"processor time {result['cpu_ms']:.2f} ms against {result['plain_cpu_ms']:.2f} ms a step, all processes of the "
                 f"job: ratio {result['cpu_ratio']:.3f}; nobody used {100 * result['idle']:.1f} % of the machine against "
                 f"{100 * result['plain_idle']:.1f} %")
    lines += [f"  {result[key]:8.3f} ms  {what}" for key, what in (
        ("compute_added_ms", "more in forward and backward (hooks, a busier machine)"), ("push_ms", "handing gradients over"),
        ("wait_ms", "waiting for values"), ("clock_and_flip_ms", "the rest of step(): clock, buffers"),
        ("plain_optimizer_ms", "saved: torch's own step"))]
    if result["busy"] > 0.1:
        lines.append(f"others used {100 * result['busy_before']:.0f} % of this machine just before the run and "
                     f"{100 * result['busy_during']:.0f} % during it: these are not the figures of a quiet one")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--batch", type=int, default=64, help="samples in a batch (%(default)s)")
    parser.add_argument("--turn", type=int, default=20, help="steps of a turn with Leeway (%(default)s)")
    parser.add_argument("--pairs", type=int, default=25, help="turns of each kind (%(default)s)")
    parser.add_argument("--sync", default="bsp", help="synchronization model (%(default)s)")
    parser.add_argument("--busy", type=float, help="what others used of the machine before the job was started, 0 to 1")
    arguments = parser.parse_args()
    if min(arguments.batch, arguments.turn, arguments.pairs) < 1:
        parser.error(f"--batch {arguments.batch} --turn {arguments.turn} --pairs {arguments.pairs}: wanted at least 1 each")
    torch.set_num_threads(1)
    before = busy_share() if arguments.busy is None else arguments.busy
    lw.init()
    result, during = measure(arguments)
    result.update({"busy": max(before, during), "busy_before": before, "busy_during": during,
                   "cores": len(os.sched_getaffinity(0))})
    if lw.rank() == 0:
        print(json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in result.items()})
              if arguments.json else text(result))


if __name__ == "__main__":
    main()
