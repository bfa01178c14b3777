"""Honest bookkeeping: means and spreads over seeds, ratios of two cells, and what they say beside the paper's.

A ratio lies beside 1 only if it differs from it by more than its spread, the most over the seeds less the least, and by more than
a hundredth. It agrees with a paper's ratio of 1 only if every seed is within a hundredth of 1. Numbers that repeat earlier ones,
because two rows are the same run, count once.
"""

import math
import statistics
from dataclasses import dataclass

NOTHING = 0.01
SAME, OTHER, UNCLEAR, ONE_SEED, NONE = "yes", "no", "not distinguishable", "one seed", "-"


@dataclass(frozen=True)
class Spread:
    mean: float
    deviation: float
    low: float
    high: float
    median: float


def is_number(value):
    return value is not None and math.isfinite(value)


def spread_of(values):
    """None without a number."""
    numbers = [value for value in values if is_number(value)]
    if not numbers:
        return None
    return Spread(statistics.fmean(numbers), statistics.stdev(numbers) if len(numbers) > 1 else 0.0, min(numbers), max(numbers),
                  statistics.median(numbers))


def ratios(of, over):
    """Seed by seed; None where one of the two is missing or both are 0."""
    result = []
    for first, second in zip(of, over):
        if not is_number(first) or not is_number(second) or (first == 0 and second == 0):
            result.append(None)
        else:
            result.append(first / second if second else math.copysign(math.inf, first))
    return result


def side_of(ratio):
    """-1 below 1, 1 above it, 0 within a hundredth of it."""
    return 0 if abs(ratio - 1) <= NOTHING else (-1 if ratio < 1 else 1)


def own_side(values):
    """The side on which the seeds are together; 0: no difference that can be told from their spread."""
    if any(math.isinf(value) for value in values):
        sides = {side_of(value) for value in values}
        return sides.pop() if len(sides) == 1 else 0
    mean = statistics.fmean(values)
    return side_of(mean) if abs(mean - 1) > max(values) - min(values) else 0


def verdict(paper, ours):
    """Whether our ratios, one for each seed, are on the paper's side of 1."""
    values = [ratio for ratio in ours if ratio is not None]
    if paper is None or math.isnan(paper) or not values:
        return NONE
    if len(values) < 2:
        return ONE_SEED
    side, theirs = own_side(values), side_of(paper)
    if theirs == 0 and side == 0:
        return SAME if all(side_of(value) == 0 for value in values) else UNCLEAR
    if side == 0:
        return UNCLEAR
    return SAME if side == theirs else OTHER


@dataclass(frozen=True)
class Finding:
    """A direction with its ratios. `repeats`: the name of an earlier one with the same numbers; empty: it is evidence of its own."""
    direction: object
    item: str
    ratios: tuple
    verdict: str
    repeats: str = ""


class Findings:
    """The findings of one paper, in order, so that repeated ones are known."""

    def __init__(self):
        self._first = {}
        self.all = []

    def add(self, item, direction, of, over):
        """`of`, `over`: a figure of the two cells, seed by seed."""
        key = (direction.figure, tuple(of), tuple(over))
        name = f"{item}: {direction.what}"
        numbers = tuple(ratios(of, over))
        repeats = ""
        if any(ratio is not None for ratio in numbers):
            repeats = self._first.setdefault(key, name)
        finding = Finding(direction, item, numbers, verdict(direction.paper, numbers), repeats if repeats != name else "")
        self.all.append(finding)
        return finding

    def count(self):
        """verdict -> how many of the findings that have a number of the paper and repeat none."""
        counts = dict.fromkeys((SAME, OTHER, UNCLEAR, ONE_SEED), 0)
        for finding in self.all:
            if finding.verdict != NONE and not finding.repeats:
                counts[finding.verdict] += 1
        return counts

    def repeated(self):
        return sum(1 for finding in self.all if finding.verdict != NONE and finding.repeats)
