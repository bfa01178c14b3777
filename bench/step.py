"""Measures how much time Leeway adds to a training step of PyTorch.

Every worker trains a CNN (under bsp unless told otherwise), in turns with plain PyTorch in the same process: a turn of the
one, a turn of the other, all workers the same kind at a time, so that whatever else the machine does meets both. Turns are short, since
the machine drifts; one of each kind make a pair, which kind goes first changes from pair to pair, and what counts is the median of the
ratios of the pairs: of the time of a step, as the mean over the workers.

The first step of a turn does not count: it finds the caches as the other kind has left them, and processes that share a core come
one after the other out of the barrier. A plain process goes on after its last step for a while, since unconnected processes do not wait for
each other's end, and one that stopped would leave its core to the others. (With Leeway they stop: under bsp all at once; under a model that lets
some run ahead, the last steps of the others are a little faster for it.)

Where workers have to wait for each other (several of them under bsp) there is a third kind: plain PyTorch whose processes meet after every
step and exchange nothing. It shows the cost of waiting for each other on this machine, without the other work of a parameter server.

Alone it brings its own scheduler and server (threads of this process); `leeway bench step` makes them processes of their own.
"""

import argparse
import json
import os
import statistics
import textwrap
import time

import torch
from torch import nn
from torch.nn import functional as F

import leeway.torch as lw
from leeway import environment
from meeting import Meeting

PHASES = ("push_s", "wait_s", "step_s")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
# How long a plain turn lasts, in turns of the slowest kind.
PLAIN_TURN = 1.25


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
    """One kind of turn: its model, its optimizer, and what comes after each step of it."""

    def __init__(self, model, optimizer, batch, after_step=None):
        self.model, self.optimizer, self.batch, self.after_step = model, optimizer, batch, after_step
        self.forget()

    def step(self):
        x, y = self.batch
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(x), y).backward()
        stepping = time.perf_counter()
        self.optimizer.step()
        self.optimizer_s += time.perf_counter() - stepping
        if self.after_step is not None:
            self.after_step()
        self.steps += 1
        return time.perf_counter()

    def turn(self, steps, seconds=0.0):
        """One step that does not count and `steps` that do; then goes on until it has lasted `seconds`. Gives the seconds
        of a step."""
        lw.barrier()
        cpu_before_s = job_cpu_s() if lw.rank() == 0 else 0.0
        all_before, idle_before = machine_ticks()
        lw.barrier()
        began = time.perf_counter()
        counting = ended = self.step()
        spent_before = self.spent()
        for _ in range(steps):
            ended = self.step()
        self.spent_s = [sum(parts) for parts in zip(self.spent_s, self.since(spent_before))]
        now = ended
        while now - began < seconds:
            now = self.step()
        lw.barrier()
        all_after, idle_after = machine_ticks()
        self.ticks, self.idle_ticks = self.ticks + all_after - all_before, self.idle_ticks + idle_after - idle_before
        self.cpu_s += job_cpu_s() - cpu_before_s if lw.rank() == 0 else 0.0
        self.counted, self.seconds = self.counted + steps, self.seconds + ended - counting
        return (ended - counting) / steps

    def spent(self):
        """Seconds so far in step() of the optimizer, and in the phases of Leeway. (Its figures() would ask the worker's
        thread, in the middle of a turn.)"""
        phases = getattr(self.optimizer, "_phases", None)
        return [self.optimizer_s] + ([getattr(phases, name) for name in PHASES] if phases else [])

    def since(self, before):
        return [now - then for now, then in zip(self.spent(), before)]

    def forget(self):
        """Counts over all turns. steps and cpu_s cover all turns; cpu_s is the job's, and known to rank 0."""
        self.steps, self.counted, self.seconds, self.optimizer_s, self.cpu_s = 0, 0, 0.0, 0.0, 0.0
        self.ticks, self.idle_ticks = 0, 0
        self.spent_s = [0.0] * (1 + len(PHASES))

    def step_ms(self):
        return 1e3 * self.seconds / self.counted

    def spent_ms(self):
        """Of a step that counts."""
        return [1e3 * seconds / self.counted for seconds in self.spent_s]

    def idle(self):
        """The share of the machine that nobody used in these turns."""
        return self.idle_ticks / max(1, self.ticks)


def make_sides(arguments):
    """By name, in the order of their turns."""
    generator = torch.Generator().manual_seed(1 + lw.rank())
    batch = (torch.randn(arguments.batch, 1, 28, 28, generator=generator),
             torch.randint(0, 10, (arguments.batch,), generator=generator))
    model = make_model()
    sides = {"plain": Side(model, make_optimizer(model), batch)}
    model = make_model()
    sides["leeway"] = Side(model, lw.DistributedOptimizer(make_optimizer(model), model.named_parameters(), sync=arguments.sync),
                           batch)
    lw.broadcast_parameters(model.state_dict())
    if lw.size() > 1 and arguments.sync == "bsp":
        model = make_model()
        sides["met"] = Side(model, make_optimizer(model), batch, Meeting(lw.rank(), lw.size(), lw.barrier))
    return sides


def measure(arguments):
    sides = make_sides(arguments)
    plain, ours = sides["plain"], sides["leeway"]
    for _ in range(2):  # to warm up, and to see how long a turn is
        step_s = [side.turn(arguments.turn) for side in sides.values()]
    plain_turn_s = 0.0
    if lw.size() > 1:
        plain_turn_s = PLAIN_TURN * (1 + arguments.turn) * lw.push_pull(torch.tensor(step_s)).max().item()
    for side in sides.values():
        side.forget()
    before = ours.optimizer.figures()
    ticks_before, cpu_before_s = machine_ticks(), job_cpu_s()
    step_s = torch.zeros(len(sides), arguments.pairs)
    kinds = list(enumerate(sides.values()))
    for pair in range(arguments.pairs):
        for kind, side in kinds:
            step_s[kind, pair] = side.turn(arguments.turn, plain_turn_s if side is plain else 0.0)
        kinds.append(kinds.pop(0))
    after = ours.optimizer.figures()
    during = others_share(ticks_before, machine_ticks(), job_cpu_s() - cpu_before_s)
    # Means over the workers.
    step_s = lw.push_pull(step_s, name="step_s").tolist()
    result = summary(dict(zip(sides, step_s)), arguments.batch * lw.size())
    own = torch.tensor([side.step_ms() for side in sides.values()] + plain.spent_ms()[:1] + ours.spent_ms()[1:])
    own_ms = lw.push_pull(own, name="own").tolist()
    sides_ms = dict(zip(sides, own_ms))
    plain_optimizer_ms, *phases_ms = own_ms[len(sides):]
    used = torch.tensor([[side.steps, side.cpu_s] for side in sides.values()])
    cpu_ms = {name: 1e3 * cpu_s / steps
              for name, (steps, cpu_s) in zip(sides, lw.push_pull(used, name="cpu", average=False).tolist())}
    compute_ms = sides_ms["leeway"] - sum(phases_ms)
    plain_compute_ms = sides_ms["plain"] - plain_optimizer_ms
    result.update({
        "workers": lw.size(),
        "pairs": arguments.pairs,
        "turn_steps": arguments.turn,
        "sync": arguments.sync,
        "batch": arguments.batch,
        "parameters": sum(p.numel() for p in ours.model.parameters()),
        "tables": len(list(ours.model.parameters())),
        "plain_ms": sides_ms["plain"],
        "leeway_ms": sides_ms["leeway"],
        # Processor time of the whole job per step of a worker, servers and scheduler with it: hardly moved by what others do.
        "plain_cpu_ms": cpu_ms["plain"],
        "cpu_ms": cpu_ms["leeway"],
        "cpu_ratio": cpu_ms["leeway"] / cpu_ms["plain"],
        # The idle share of the machine. With more workers than cores: workers that wait, while no other can run.
        "plain_idle": plain.idle(),
        "idle": ours.idle(),
        # Where a step goes: forward and backward with the hooks in them, then what Leeway does in place of torch's.
        "plain_compute_ms": plain_compute_ms,
        "plain_optimizer_ms": plain_optimizer_ms,
        "compute_ms": compute_ms,
        "compute_added_ms": compute_ms - plain_compute_ms,
        **dict(zip(("push_ms", "wait_ms", "clock_and_flip_ms"), phases_ms)),
        "bytes_each_way_per_step": (after["bytes_sent"] - before["bytes_sent"]) / ours.steps,
        "copied_gradients": after["copied_gradients"] - before["copied_gradients"],
        "rebound_parameters": after["rebound_parameters"] - before["rebound_parameters"],
    })
    if "met" in sides:
        result.update({"met_ms": sides_ms["met"], "met_idle": sides["met"].idle(),
                       "cpu_over_met": cpu_ms["leeway"] / cpu_ms["met"]})
    lw.shutdown()
    return result, during


def summary(step_s, samples):
    """Of the seconds of a step, by kind and pair; in a step all workers together have so many samples."""
    ratios = ratios_of(step_s, "leeway")
    low, middle, high = quartiles(ratios)
    result = {
        "samples_s": samples / statistics.median(step_s["leeway"]),
        "plain_samples_s": samples / statistics.median(step_s["plain"]),
        "ratio": middle, "ratio_p25": low, "ratio_p75": high, "ratio_min": ratios[0], "ratio_max": ratios[-1],
        "ratio_spread": (ratios[-1] - ratios[0]) / middle,
        "ratio_error": median_error(ratios),
        "added_percent": 100 * (middle - 1),
        "lost_percent": 100 * (1 - 1 / middle),
    }
    if "met" in step_s:
        met, over = ratios_of(step_s, "met"), ratios_of(step_s, "leeway", "met")
        result.update({"met_ratio": statistics.median(met), "met_ratio_error": median_error(met),
                       "met_lost_percent": 100 * (1 - 1 / statistics.median(met)),
                       "over_met": statistics.median(over), "over_met_error": median_error(over)})
    return result


def ratios_of(step_s, kind, to="plain"):
    return sorted(own / other for own, other in zip(step_s[kind], step_s[to]))


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else 3 * values


def median_error(ratios):
    """The standard error of their median, from what lies between the quartiles: a run that is made again differs by about as much."""
    low, _, high = quartiles(ratios)
    return 0.93 * (high - low) / len(ratios) ** 0.5


def busy_share(seconds=0.5):
    """The share of the machine that others use, as the other benches have it."""
    before = machine_ticks()
    time.sleep(seconds)
    return others_share(before, machine_ticks(), 0.0)


def others_share(before, after, own_s):
    """The use of the machine between two looks at its ticks, less the job's own processor time."""
    (all_before, idle_before), (all_after, idle_after) = before, after
    used = all_after - all_before - (idle_after - idle_before) - own_s / TICK_S
    return min(1.0, max(0.0, used / max(1, all_after - all_before)))


def text(result):
    lines = [f"{result['workers']} worker{'s' if result['workers'] != 1 else ''} under {result['sync']}, {result['pairs']} pairs of turns of {result['turn_steps']} steps, batch "
             f"{result['batch']}",
             f"plain PyTorch {result['plain_samples_s']:9.0f} samples/s  {result['plain_ms']:.2f} ms a step",
             f"with Leeway   {result['samples_s']:9.0f} samples/s  {result['leeway_ms']:.2f} ms a step",
             f"time ratio {result['ratio']:.3f} \u00b1 {result['ratio_error']:.3f} (half of the pairs: {result['ratio_p25']:.3f} to "
             f"{result['ratio_p75']:.3f}; all: {result['ratio_min']:.3f} to {result['ratio_max']:.3f}): adds "
             f"{result['added_percent']:.1f} %, loses {result['lost_percent']:.1f} % of samples/s"]
    if "met_ratio" in result:
        lines.append(f"plain PyTorch that waits for the others after each step: time ratio {result['met_ratio']:.3f} \u00b1 "
                     f"{result['met_ratio_error']:.3f}, loses {result['met_lost_percent']:.1f} %; idle: "
                     f"{100 * result['met_idle']:.1f} % of the machine; Leeway takes {result['over_met']:.3f} \u00b1 "
                     f"{result['over_met_error']:.3f} of its time")
    lines.append(f"processor time of all processes for one step of one worker: {result['cpu_ms']:.2f} ms with Leeway, "
                 f"{result['plain_cpu_ms']:.2f} ms plain, ratio {result['cpu_ratio']:.3f}; idle: {100 * result['idle']:.1f} % of the "
                 f"machine with Leeway, {100 * result['plain_idle']:.1f} % plain")
    lines.append("a step with Leeway is longer than a plain one by")
    lines += [f"  {sign * result[key]:8.3f} ms  {what}" for key, sign, what in (
        ("compute_added_ms", 1, "more in forward and backward (hooks, a busier machine)"), ("push_ms", 1, "handing gradients over"),
        ("wait_ms", 1, "waiting for values"), ("clock_and_flip_ms", 1, "the rest of step(): clock, buffers"),
        ("plain_optimizer_ms", -1, "torch's own step, which the servers make"))]
    if result["busy"] > 0.1:
        lines.append(f"others used {100 * result['busy_before']:.0f} % of this machine just before the run and "
                     f"{100 * result['busy_during']:.0f} % during it: these are not the figures of a quiet one")
    return "\n".join(line if len(line) <= 80 else textwrap.fill(line, 80, subsequent_indent="  ") for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--batch", type=int, default=64, help="samples in a batch (%(default)s)")
    parser.add_argument("--turn", type=int, default=4, help="steps of a turn that count (%(default)s)")
    parser.add_argument("--pairs", type=int, default=100, help="turns of each kind (%(default)s)")
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
