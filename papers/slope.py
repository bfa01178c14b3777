"""Slopes: how one figure grows with another over an item's cells, as the time that a delayed pull costs. The line of least squares."""

import statistics
from dataclasses import dataclass

from bookkeeping import is_number
from refusal import check_keys, Refusal


@dataclass(frozen=True)
class Slope:
    what: str
    y: str  # figure
    x: str  # figure
    times: float = 1  # of y for each of x
    unit: str = ""
    cells: tuple = ()  # labels; empty: all


def read_slope(data, where, labels):
    """A slope as a table of a file. `labels`: of the item's cells."""
    check_keys(data, Slope, ("what", "y", "x"), f"{where}: slopes")
    times = data.get("times", 1)
    if isinstance(times, bool) or not isinstance(times, (int, float)) or not isinstance(data.get("unit", ""), str):
        raise Refusal(f"{where}: slopes: got times = {times!r} and unit = {data.get('unit')!r}, wanted a number and a text")
    cells = data.get("cells", [])
    if not isinstance(cells, list) or any(cell not in labels for cell in cells):
        raise Refusal(f"{where}: slopes: cells: got {cells!r}, wanted a list of some of {', '.join(labels)}")
    return Slope(**{**data, "cells": tuple(cells)})


def slope_of(x, y, times=1):
    """`times` the slope. None with less than two points, or with all of them at one x."""
    points = [(one, other) for one, other in zip(x, y) if is_number(one) and is_number(other)]
    if len({one for one, _ in points}) < 2:
        return None
    return times * statistics.linear_regression(*zip(*points)).slope
