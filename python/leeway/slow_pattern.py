"""Slow patterns: how long a worker sleeps in a step, so that it is slow as `leeway run --slow-worker` says.

Every draw depends on the seed and on the iteration alone: a run with the same seed has the same slow iterations, whichever
synchronization model it has, and workers agree without talking to each other.
"""

import random

from leeway.errors import InvalidArgument


class Steady:
    """Every iteration takes `factor` times as long."""

    def __init__(self, factor):
        self.factor = factor

    def pause_s(self, iteration, computed_s):
        """How long to sleep in `iteration`, whose computing took `computed_s`."""
        return computed_s * (self.factor - 1.0)


class Rotate:
    """One worker after the other is slow, each for a phase of `low` to `high` iterations. No worker has two phases in a row, unless
    it is alone."""

    def __init__(self, factor, low, high, seed, rank, size):
        self.factor, self.low, self.high, self.rank, self.size = factor, low, high, rank, size
        self._draws = random.Random(f"rotate {seed}")
        self._ends = 0   # the iteration after the phase
        self._slow = -1  # whose phase it is

    def slow_rank(self, iteration):
        """REQUIRES: no iteration comes before one that was asked about earlier."""
        while iteration >= self._ends:
            self._ends += self._draws.randint(self.low, self.high)
            step = self._draws.randint(1, self.size - 1) if self.size > 1 else 0
            self._slow = self._draws.randrange(self.size) if self._slow < 0 else (self._slow + step) % self.size
        return self._slow

    def pause_s(self, iteration, computed_s):
        return computed_s * (self.factor - 1.0) if self.slow_rank(iteration) == self.rank else 0.0


class Pauses:
    """Each worker sleeps `seconds` in a share `chance` of its iterations, by its own draws."""

    def __init__(self, seconds, chance, seed, rank):
        self.seconds, self.chance, self.name = seconds, chance, f"pauses {seed} {rank}"

    def pause_s(self, iteration, computed_s):
        return self.seconds if random.Random(f"{self.name} {iteration}").random() < self.chance else 0.0


class Both:
    """A worker that is slow for good, in a job with a pattern."""

    def __init__(self, first, second):
        self.parts = (first, second)

    def pause_s(self, iteration, computed_s):
        return sum(part.pause_s(iteration, computed_s) for part in self.parts)


def read(slowdown, pattern):
    """From the launcher's words: a factor, and "", "rotate FACTOR LOW HIGH SEED" or "pauses SECONDS CHANCE SEED". Returns a function
    of a rank and the number of workers, which makes the rank's pattern; None for a worker that is never slow."""
    steady = Steady(slowdown) if slowdown > 1.0 else None
    if not pattern:
        return lambda rank, size: steady
    name, *words = pattern.split()
    try:
        if name == "rotate":
            factor, low, high, seed = float(words[0]), *map(int, words[1:])
            make = lambda rank, size: Rotate(factor, low, high, seed, rank, size)
        elif name == "pauses":
            seconds, chance, seed = *map(float, words[:2]), *map(int, words[2:])
            make = lambda rank, size: Pauses(seconds, chance, seed, rank)
        else:
            raise ValueError
    except (ValueError, IndexError):
        raise InvalidArgument(f'LEEWAY_SLOW_PATTERN: got "{pattern}", wanted "rotate FACTOR LOW HIGH SEED" or '
                              '"pauses SECONDS CHANCE SEED"') from None
    return (lambda rank, size: Both(steady, make(rank, size))) if steady else make
