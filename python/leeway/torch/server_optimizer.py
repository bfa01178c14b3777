"""Maps torch's optimizers and LARS to the servers': to a spec string and hyper-parameters."""

import torch

from leeway._leeway import Hyper
from leeway.errors import InvalidArgument
from leeway.torch import lars

_KINDS = {torch.optim.SGD: "torch.optim.SGD (momentum, dampening, weight_decay, nesterov)",
          torch.optim.Adam: "torch.optim.Adam",
          torch.optim.AdamW: "torch.optim.AdamW",
          torch.optim.Adagrad: "torch.optim.Adagrad (lr_decay, weight_decay, initial_accumulator_value)",
          torch.optim.RMSprop: "torch.optim.RMSprop (alpha, weight_decay, momentum, centered)",
          lars.LARS: "leeway.torch.LARS"}
SUPPORTED = ", ".join(_KINDS.values())

# The servers lack these options, which change what an optimizer computes. Others (foreach, fused, capturable) only say how this
# process would compute it.
_REFUSED = ("amsgrad", "maximize", "differentiable")


def lacks(optimizer):
    """Returns what the servers cannot do as `optimizer` does ("torch.optim.adadelta.Adadelta"), or None."""
    kind = type(optimizer)
    if kind not in _KINDS:
        return f"{kind.__module__}.{kind.__qualname__}"
    return next((f"{kind.__name__} with {option}={group[option]}" for group in optimizer.param_groups for option in _REFUSED
                 if group.get(option)), None)


def check_options(kind, groups):
    """Raises if a group has an option that the servers lack. A script can set options at any time."""
    for index, group in enumerate(groups):
        for option in _REFUSED:
            if group.get(option):
                raise InvalidArgument(f"DistributedOptimizer: {kind.__name__} with {option}={group[option]} (parameter "
                                      f"group {index}) is not supported; supported: {SUPPORTED}, without {option}")


def spec(optimizer, group, parameter):
    """Returns the spec string of the servers' optimizer for one parameter of a group. It has all that decides how much state
    there is and how it begins; hyper() has the rest."""
    if isinstance(optimizer, torch.optim.AdamW):
        return "adamw"
    if isinstance(optimizer, torch.optim.Adam):
        return "adam"
    if isinstance(optimizer, torch.optim.Adagrad):
        return f"adagrad:lr_decay={_number(group['lr_decay'])},initial={_number(group['initial_accumulator_value'])}"
    if isinstance(optimizer, torch.optim.RMSprop):
        return f"rmsprop:centered={int(bool(group['centered']))},momentum={int(group['momentum'] > 0)}"
    if isinstance(optimizer, lars.LARS):
        return (f"lars:trust={_number(group['trust'])},nesterov={int(bool(group['nesterov']))},"
                f"excluded={int(lars.excluded(parameter, group))}")
    if group["nesterov"]:
        return "nesterov"
    return "momentum" if group["momentum"] else "sgd"


def hyper(group):
    """Returns the group's present hyper-parameters. Every push carries them, so that schedules need no server state."""
    if "betas" in group:
        return Hyper(group["lr"], group["weight_decay"], group["betas"][0], group["betas"][1], group["eps"])
    if "alpha" in group:
        return Hyper(group["lr"], group["weight_decay"], group["momentum"], group["alpha"], group["eps"])
    momentum = group.get("momentum", 0.0)
    dampening = group.get("dampening", 0.0) if momentum else 0.0  # without momentum torch ignores it
    return Hyper(group["lr"], group["weight_decay"], momentum, eps=group.get("eps", 0.0), dampening=dampening)


def _number(value):
    return repr(float(value)).replace("e+", "e")  # a plus sign joins terms of a spec
