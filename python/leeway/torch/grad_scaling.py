"""A GradScaler with DistributedOptimizer: scaler.step(opt) hands itself to opt.step(), which unscales, and skips on infinities.

Under bsp all ranks skip together, as with DDP, whose ranks see the same sum. Under other models a rank skips by itself: its
gradients are absent from that iteration, and it waits for nobody. Ranks that step by themselves (relay) tell each other of
infinities in their lockstep: see relay.py.
"""

import torch

from leeway.errors import FailedPrecondition
from leeway.torch.push_pull import push_pull


def unscale(optimizer, scaler):
    """Unscales the gradients unless the script has. Returns where the scaler has noted infinities: a tensor for each device."""
    for table in optimizer.tables:
        if table.gradient.pushed:
            raise FailedPrecondition(f"step() with a GradScaler: backward() has pushed the gradient of {table.name} before it was "
                                     "unscaled; give DistributedOptimizer overlap=False, or leave overlap= out and use the "
                                     "scaler from the first step on")
    # torch has no public call for it; the scaler passes itself to be asked.
    state = scaler._per_optimizer_states[id(optimizer)]
    if not state["found_inf_per_device"]:
        scaler.unscale_(optimizer)
    return list(state["found_inf_per_device"].values())


def must_skip(optimizer, scaler, together):
    """Unscales the gradients unless the script has; returns whether this step is to be skipped."""
    found = unscale(optimizer, scaler)
    skips = has_infinity(found)
    if together:
        skips = push_pull(torch.tensor([float(skips)]), name="found_inf", average=False).item() > 0
        note(found, skips)
    return skips


def has_infinity(found):
    return any(one.item() for one in found)


def note(found, skips):
    """Tells the scaler what all ranks do: each of them lowers its scale if one has found an infinity."""
    for one in found:
        one.fill_(float(skips))
