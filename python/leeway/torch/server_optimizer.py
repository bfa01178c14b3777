"""torch's optimizers as the servers know them: which row steps a parameter group, with which hyper-parameters."""

import torch

from leeway._leeway import Hyper
from leeway.errors import InvalidArgument

SUPPORTED = "torch.optim.SGD (momentum, dampening, weight_decay, nesterov), torch.optim.Adam and torch.optim.AdamW"

# Options that change what an optimizer computes, or how in this process, and that the servers do not have.
_REFUSED = ("amsgrad", "maximize", "foreach", "capturable", "differentiable", "fused")


def check(optimizer):
    """Raises unless the servers can step as `optimizer` does, in all its parameter groups."""
    kind = type(optimizer)
    if kind not in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        raise InvalidArgument(f"DistributedOptimizer: the servers cannot step as {kind.__module__}.{kind.__qualname__} "
                              f"does; supported: {SUPPORTED}")
    for index, group in enumerate(optimizer.param_groups):
        for option in _REFUSED:
            if group.get(option):
                raise InvalidArgument(f"DistributedOptimizer: {kind.__name__} with {option}={group[option]} (parameter "
                                      f"group {index}) is not supported; supported: {SUPPORTED}, without {option}")


def spec(optimizer, group):
    """The spec string of the servers' optimizer for one parameter group."""
    if isinstance(optimizer, torch.optim.AdamW):
        return "adamw"
    if isinstance(optimizer, torch.optim.Adam):
        return "adam"
    if group["nesterov"]:
        return "nesterov"
    return "momentum" if group["momentum"] else "sgd"


def hyper(group):
    """What travels in every push: the group's values as they are now, so schedules need no server state."""
    betas = group.get("betas")
    if betas:
        return Hyper(group["lr"], group["weight_decay"], betas[0], betas[1], group["eps"])
    return Hyper(group["lr"], group["weight_decay"], group["momentum"], dampening=group["dampening"])
