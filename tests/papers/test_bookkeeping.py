"""Rules of the books: a side needs more than the spread, and repeated numbers count once."""

import math

import pytest

from bookkeeping import NONE, ONE_SEED, OTHER, SAME, UNCLEAR, Findings, ratios, spread_of, verdict
from item import Direction


@pytest.mark.parametrize("paper, ours, wanted", [
    (0.5, [0.6, 0.7, 0.65], SAME),
    (2.0, [0.6, 0.7, 0.65], OTHER),
    (0.5, [0.8, 1.1, 0.9], UNCLEAR),       # 0.07 from 1, and 0.3 between the seeds
    (0.5, [0.90, 0.99, 0.95], UNCLEAR),    # all seeds below 1, but no further than their spread
    (0.5, [0.994, 0.995, 0.994], UNCLEAR),  # within a hundredth
    (0.5, [0.7], ONE_SEED),
    (1.0, [0.995, 1.005, 1.0], SAME),
    (1.0, [0.2, 1.9, 0.9], UNCLEAR),       # a wide spread does not show that there is no difference
    (1.0, [1.2, 1.21, 1.22], OTHER),
    (None, [0.5, 0.6], NONE),
    (math.nan, [0.5, 0.6], NONE),
    (0.5, [None, None], NONE),
    (0.5, [0.7, None], ONE_SEED),
    (2.0, [math.inf, 3.0], SAME),
    (2.0, [math.inf, 0.5], UNCLEAR),
])
def test_a_side_needs_more_than_the_spread(paper, ours, wanted):
    assert verdict(paper, ours) == wanted


def test_ratios_are_taken_seed_by_seed():
    assert ratios([1, 0, None, 3, 0], [2, 5, 1, 0, 0]) == [0.5, 0.0, None, math.inf, None]


def test_a_spread_leaves_out_what_is_no_number():
    spread = spread_of([1, None, 3, math.inf])
    assert (spread.mean, spread.low, spread.high) == (2, 1, 3) and spread.deviation == pytest.approx(2 ** 0.5)
    assert spread_of([None]) is None


def test_a_direction_that_repeats_the_numbers_of_another_counts_once():
    findings = Findings()
    direction = Direction("less", "seconds", "a", "b", 0.5)
    first = findings.add("one", direction, [1.0, 1.1], [2.0, 2.1])
    again = findings.add("two", direction, [1.0, 1.1], [2.0, 2.1])
    findings.add("two", Direction("less", "accuracy", "a", "b", 2), [1.0, 1.1], [2.0, 2.1])
    assert first.repeats == "" and again.repeats == "one: less"
    assert findings.count() == {SAME: 1, OTHER: 1, UNCLEAR: 0, ONE_SEED: 0} and findings.repeated() == 1
