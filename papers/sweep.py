"""Sweeps: "policies.sync=bsp;ssp:3,release=soft" is two values of one key; "cluster.workers+iterations=8+400;16+200" is two
pairs of values of two keys, which change together. All combinations of an item's sweeps are its cells."""

import itertools
from dataclasses import dataclass

from refusal import Refusal


@dataclass(frozen=True)
class Sweep:
    keys: tuple
    values: tuple  # each a tuple with a value for each key


def parse_sweep(text):
    keys, equals, values = text.partition("=")
    if not equals or not all(keys.split("+")):
        raise Refusal(f'sweep "{text}": got no KEY=VALUES, wanted "policies.sync=bsp;asp"')
    keys = tuple(keys.split("+"))
    sweep = []
    for value in values.split(";" if ";" in values else ","):
        parts = tuple(value.split("+")) if len(keys) > 1 else (value,)
        if len(parts) != len(keys) or not any(parts):  # of joined keys one may have an empty list
            raise Refusal(f'sweep over {"+".join(keys)}: got "{value}", wanted {len(keys)} value{"s parted by +" if len(keys) > 1 else ""}')
        sweep.append(parts)
    return Sweep(keys, tuple(sweep))


def combinations(sweeps):
    """[(key, value)] of each cell; the first sweep changes slowest."""
    together = []
    seen = set()
    for sweep in sweeps:
        for key in sweep.keys:
            if key in seen:
                raise Refusal(f"sweep over {key}: got two of them, wanted one")
            seen.add(key)
        together.append([list(zip(sweep.keys, value)) for value in sweep.values])
    return [[pair for pairs in chosen for pair in pairs] for chosen in itertools.product(*together)]
