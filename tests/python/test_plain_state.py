"""Plain values as bytes and back, and nothing that is not plain."""

import collections
import math

import numpy as np
import pytest
import torch

from leeway import plain_state
from leeway.errors import InvalidArgument


def same(a, b):
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b)
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("value", [
    None, True, 0, -(1 << 200), 0.1, 1e-310, math.inf, "a \"b\" é\n", b"", b"\x00\xff" * 3, [], (), {}, [1, [2, (3, {4: 5})]],
    {"a": 1, 2: "b", (1, 2): None, True: 0}, {"dict": [], "tensor": 1}, np.float32(0.1), np.int64(-1), np.zeros((0, 3)),
    np.arange(6, dtype=np.uint32).reshape(2, 3), np.array(True), np.array(1 + 2j), np.arange(9).reshape(3, 3).T,
    torch.arange(6).reshape(2, 3), torch.tensor(1.5), torch.zeros(0), torch.tensor([True, False]),
    torch.randn(3, dtype=torch.float64), torch.randn(3).to(torch.bfloat16), torch.randn(3).half(),
    torch.arange(4, dtype=torch.uint8), torch.randn(4, 4).t(), torch.get_rng_state(), np.random.get_state(legacy=False),
])
def test_plain_values_come_back(value):
    assert same(value, plain_state.decode(plain_state.encode(value)))


def test_what_comes_back_is_its_own():
    tensor = torch.ones(3)
    again = plain_state.decode(plain_state.encode([tensor]))[0]
    again.add_(1)
    assert tensor.tolist() == [1, 1, 1]
    assert plain_state.decode(plain_state.encode(collections.OrderedDict(a=1))) == {"a": 1}
    assert math.isnan(plain_state.decode(plain_state.encode(math.nan)))


@pytest.mark.parametrize("value, words", [
    ({"schedule": {"anneal_func": len}}, "schedule.anneal_func"),
    ([1, [object()]], r"\[1\]\[0\]"),
    ({"t": torch.ones(2, 2).to_sparse()}, "t: is a tensor of layout"),
    (np.array(["a"]), "as a whole"),
    ({1, 2}, "builtins.set"),
])
def test_what_is_not_plain_is_refused_by_its_place(value, words):
    with pytest.raises(InvalidArgument, match=words):
        plain_state.encode(value)


def test_whatever_the_bytes_are_nothing_but_a_value_or_an_error_comes_of_them():
    good = plain_state.encode({"a": [1, 2.5, torch.arange(5), np.arange(3)], "b": (b"xyz", None)})
    refused = 0
    for at in range(len(good)):
        for change in (1, 16, 128):
            try:
                plain_state.decode(good[:at] + bytes([good[at] ^ change]) + good[at + 1:])
            except InvalidArgument:
                refused += 1
    for at in range(len(good)):
        try:
            plain_state.decode(good[:at])
        except InvalidArgument:
            refused += 1
    assert refused > 100
