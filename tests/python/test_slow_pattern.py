"""Slow patterns: the iterations in which a worker sleeps, the lengths computed by hand, and the draws of a seed."""

import pytest

from leeway import slow_pattern
from leeway.errors import InvalidArgument


def test_a_worker_without_a_pattern_is_never_slow():
    assert slow_pattern.read(1.0, "")(0, 4) is None


def test_a_factor_of_four_sleeps_three_times_the_computing():
    assert slow_pattern.read(4.0, "")(3, 4).pause_s(17, 0.02) == pytest.approx(0.06)


def test_phases_of_five_have_one_slow_worker_each_and_never_the_same_twice():
    patterns = [slow_pattern.read(1.0, "rotate 4 5 5 1")(rank, 3) for rank in range(3)]
    slow = []
    for iteration in range(100):
        pauses = [pattern.pause_s(iteration, 0.02) for pattern in patterns]
        assert sorted(pauses) == [0.0, 0.0, pytest.approx(0.06)]
        slow.append(pauses.index(max(pauses)))
    phases = [slow[at:at + 5] for at in range(0, 100, 5)]
    assert all(len(set(phase)) == 1 for phase in phases)
    assert all(a[0] != b[0] for a, b in zip(phases, phases[1:]))
    assert set(slow) == {0, 1, 2}


def test_phases_are_as_long_as_asked():
    pattern = slow_pattern.Rotate(4.0, 5, 10, seed=3, rank=0, size=4)
    slow = [pattern.slow_rank(iteration) for iteration in range(2000)]
    ends = [at for at in range(1, 2000) if slow[at] != slow[at - 1]]
    lengths = {b - a for a, b in zip(ends, ends[1:])}
    assert lengths == {5, 6, 7, 8, 9, 10}


def test_a_worker_that_begins_late_or_skips_iterations_agrees_with_the_others():
    whole, late = (slow_pattern.Rotate(4.0, 5, 10, seed=3, rank=0, size=4) for _ in range(2))
    slow = [whole.slow_rank(iteration) for iteration in range(100)]
    assert [late.slow_rank(iteration) for iteration in range(40, 100, 7)] == slow[40::7]


def test_a_worker_that_is_alone_is_slow_all_the_time():
    pattern = slow_pattern.Rotate(2.0, 1, 3, seed=1, rank=0, size=1)
    assert {pattern.pause_s(iteration, 1.0) for iteration in range(20)} == {1.0}


def test_pauses_come_in_their_share_of_the_iterations_and_are_a_workers_own():
    first, again, other = (slow_pattern.read(1.0, "pauses 0.2 0.1 5")(rank, 4) for rank in (0, 0, 1))
    draw = [[pattern.pause_s(iteration, 0.02) for iteration in range(2000)] for pattern in (first, again, other)]
    assert draw[0] == draw[1] != draw[2]
    for pauses in draw:
        assert set(pauses) == {0.0, 0.2} and 150 < pauses.count(0.2) < 250


def test_a_seed_gives_the_same_draws_and_another_one_others():
    def slow(seed):
        pattern = slow_pattern.Rotate(4.0, 5, 10, seed, rank=0, size=4)
        return [pattern.slow_rank(iteration) for iteration in range(200)]

    assert slow(1) == slow(1) != slow(2)


def test_a_worker_that_is_slow_for_good_keeps_its_factor_beside_a_pattern():
    pattern = slow_pattern.read(3.0, "pauses 0.2 1 1")(0, 2)
    assert pattern.pause_s(0, 0.1) == pytest.approx(0.2 + 0.2)


@pytest.mark.parametrize("text", ["spin 4", "rotate", "rotate 4 5 10", "rotate 4 5 x 1", "rotate 4 5 10 1 2", "pauses 0.2 1",
                                  "pauses 0.2 1 1.5"])
def test_other_words_are_refused(text):
    with pytest.raises(InvalidArgument, match="LEEWAY_SLOW_PATTERN: got .*, wanted"):
        slow_pattern.read(1.0, text)
