"""Names of tensors: what scripts pass as a model's parameters, as pairs, and the names of tables."""

import torch

from leeway.errors import InvalidArgument


def pairs(call, given, wanted):
    """Pairs of name and tensor. `given` is a dict, pairs, or tensors alone, which are named by their position: it is the same
    on all ranks. `call` and `wanted` are for the message of an error."""
    given = given.items() if hasattr(given, "items") else given
    if isinstance(given, torch.Tensor) or not hasattr(given, "__iter__"):
        raise InvalidArgument(f"{call}: got a {type(given).__name__}, wanted {wanted}")
    named = []
    for place, item in enumerate(given):
        name, tensor = item if isinstance(item, tuple) and len(item) == 2 else (f"parameter{place}", item)
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise InvalidArgument(f"{call}: item {place}{f', {name},' if isinstance(name, str) else ''} is a "
                                  f"{type(tensor).__name__}, wanted {wanted}")
        named.append((name, tensor))
    return named


def prefix(names, taken, place):
    """What goes before the names of the optimizer that is number `place` (from 0) of its process. Empty, unless two models use
    the same names: then it tells them apart, and is the same on all ranks and in a job that goes on."""
    return "" if taken.isdisjoint(names) else f"optimizer{place}."
