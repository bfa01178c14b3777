"""Names of tensors: turns the parameters that a script passes into pairs, and names tables."""

import torch

from leeway.errors import InvalidArgument


def pairs(call, given, wanted):
    """Returns pairs of name and tensor. `given` is a dict, pairs, or tensors alone; their names are then their positions, equal
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
    """Returns the prefix of the names of optimizer number `place` (from 0) of its process. Empty, unless two models use the same
    names: then it tells them apart, equally on all ranks and in a job that goes on."""
    return "" if taken.isdisjoint(names) else f"optimizer{place}."
