"""Sweeps become cells: all combinations, joined keys together, labels in the order of the cells."""

import pytest

from item import Item
from refusal import Refusal
from sweep import combinations, parse_sweep


def test_values_that_hold_commas_are_parted_by_semicolons():
    assert parse_sweep("policies.sync=bsp,asp").values == (("bsp",), ("asp",))
    assert parse_sweep("policies.sync=bsp;pssp:3,0.5").values == (("bsp",), ("pssp:3,0.5",))


def test_joined_keys_change_together():
    sweep = parse_sweep("cluster.workers+iterations=8+400;16+200")
    assert combinations([sweep]) == [[("cluster.workers", "8"), ("iterations", "400")], [("cluster.workers", "16"), ("iterations", "200")]]


def test_one_of_joined_keys_may_be_empty():
    sweep = parse_sweep("policies.sync+policies.switches=bsp+;bsp+at=9 sync=asp")
    assert combinations([sweep])[0] == [("policies.sync", "bsp"), ("policies.switches", "")]
    with pytest.raises(Refusal, match="wanted 2 values"):
        parse_sweep("a+b=1+2;+")


def test_the_first_sweep_changes_slowest():
    cells = combinations([parse_sweep("a=1,2"), parse_sweep("b=3,4")])
    assert [[value for _, value in cell] for cell in cells] == [["1", "3"], ["1", "4"], ["2", "3"], ["2", "4"]]
    assert combinations([]) == [[]]


@pytest.mark.parametrize("text, wanted", [("policies.sync", "KEY=VALUES"), ("=bsp", "KEY=VALUES"), ("a+b=1+2;3", 'got "3", wanted 2 values'),
                                          ("a=", 'got ""')])
def test_a_slip_is_named(text, wanted):
    with pytest.raises(Refusal, match=wanted.replace("+", r"\+")):
        parse_sweep(text)


def test_a_key_in_two_sweeps_is_refused():
    with pytest.raises(Refusal, match="got two of them"):
        combinations([parse_sweep("a=1,2"), parse_sweep("b+a=3+4")])


def item(**words):
    return Item(name="x", scenario=None, title="X", **words)


def test_labels_carry_the_value_of_the_last_of_several_sweeps():
    labelled = item(sweeps=["policies.sync=bsp;asp", "cluster.workers+iterations=8+40;16+20"], labels=["B", "B", "A", "A"])
    assert [cell.label for cell in labelled.cells()] == ["B, 8", "B, 16", "A, 8", "A, 16"]
    assert [cell.label for cell in item(sweeps=["a=1,2", "b=3"]).cells()] == ["1, 3", "2, 3"]
    assert [cell.label for cell in item().cells()] == ["x"]


def test_the_quick_form_changes_keys_but_none_that_a_sweep_sets():
    cells = item(sweeps=["a=1,2"], settings={"b": True, "c": 1}, quick={"c": 5, "a": 9, "seeds": 1}).cells(quick=True)
    assert [dict(cell.settings) for cell in cells] == [{"a": "1", "b": "true", "c": "5"}, {"a": "2", "b": "true", "c": "5"}]
