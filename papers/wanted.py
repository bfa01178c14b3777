"""Demands of an item on its own numbers: a figure, or a ratio of two rows, reaches a floor or agrees with another figure."""

from dataclasses import dataclass
from statistics import median

from bookkeeping import is_number, ratios
from refusal import check_keys, Refusal, unknown


@dataclass(frozen=True)
class Wanted:
    what: str
    figure: str
    of: str
    over: str | None = None  # another row: the ratio of the two counts
    least: float | None = None
    near: str | None = None  # another figure of the row
    within: float | None = None


def read_wanted(data, where, labels):
    """One as a table of a file. `labels`: of the item's cells."""
    check_keys(data, Wanted, ("what", "figure", "of"), f"{where}: wanted")
    for key in ("of", "over"):
        if key in data and data[key] not in labels:
            raise Refusal(f"{where}: wanted: {unknown('cell', str(data[key]), labels)}")
    if ("least" in data) == ("near" in data) or ("near" in data) != ("within" in data):
        raise Refusal(f"{where}: wanted: got {', '.join(data)}, wanted `least`, or `near` with `within`")
    return Wanted(**data)


def value_of(study, wanted):
    """The median over runs, or None."""
    values = study.values(wanted.of, wanted.figure)
    if wanted.over is not None:
        values = ratios(values, study.values(wanted.over, wanted.figure))
    numbers = [value for value in values if is_number(value)]
    return median(numbers) if numbers else None


def verdict_of(study, wanted):
    """(ours, wanted, "yes", "no" or "-") as texts."""
    ours = value_of(study, wanted)
    if wanted.least is not None:
        return ("-" if ours is None else f"{ours:.3f}", f"at least {wanted.least:g}", "-" if ours is None else "yes" if ours >= wanted.least else "no")
    other = value_of(study, Wanted("", wanted.near, wanted.of))
    if ours is None or other is None:
        return "-", f"{wanted.near} within {wanted.within:g}", "-"
    return f"{ours:.3f}", f"{wanted.near} {other:.3f} within {wanted.within:g}", "yes" if abs(ours - other) <= wanted.within else "no"
