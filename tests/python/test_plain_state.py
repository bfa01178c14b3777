"""Plain values as bytes and back, and nothing that is not plain."""

import collections
import math
import random
import re

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


def with_json(text):
    """Bytes that are a state but for what the JSON says; 64 bytes of arrays follow it."""
    head = plain_state.HEAD.pack(plain_state.MAGIC, len(text)) + text.encode()
    return head + bytes(-len(head) % 8) + bytes(64)


@pytest.mark.parametrize("text", [
    "", "{", "[1", "{}", '{"a":[],"b":[]}', '{"set":[]}', '{"tuple":5}', '{"tuple":"ab"}', '{"dict":{}}', '{"dict":["ab"]}',
    '{"dict":[[1]]}', '{"dict":[[[],1]]}', '{"dict":[[{"dict":[]},1]]}', '{"dict":[[{"array":["<i4",[1],0]},1]]}',
    '{"bytes":[0]}', '{"bytes":[0,65]}', '{"bytes":[-1,1]}', '{"bytes":[0,1.0]}', '{"bytes":[true,1]}', '{"bytes":[1e999,1]}',
    '{"scalar":["<i4"]}', '{"scalar":["<i4",[],0]}', '{"scalar":["<i4",61]}', '{"scalar":[4,0]}', '{"scalar":["|O8",0]}',
    '{"array":["<f3",[1],0]}', '{"array":["<f99",[1],0]}', '{"array":["<i4",1,0]}', '{"array":["<i4","1",0]}',
    '{"array":["<i4",[-1],0]}', '{"array":["<i4",[true],0]}', '{"array":["<i4",[1e9],0]}', '{"array":["<i4",[4294967296],0]}',
    f'{{"array":["<i4",[0,{1 << 64}],0]}}', f'{{"array":["<i4",[0,{1 << 62},{1 << 62}],0]}}',
    f'{{"array":["<i4",{[1] * 99},0]}}', '{"tensor":["float32",[99],0]}', '{"tensor":["float33",[1],0]}',
    '{"tensor":[["float32"],[1],0]}', '{"tensor":["quint8",[1],0]}', '{"tensor":["nn",[1],0]}', '{"tensor":["__name__",[1],0]}',
    f'{{"tensor":["int8",[0,{1 << 63}],0]}}', f'{{"tensor":["bfloat16",[{1 << 80}],0]}}', "1" * 5000, "[" * 100_000,
    '{"tuple":[' * 900 + "]}" * 900, "\x00", "\ud7ff" * 3,
])
def test_json_that_no_state_has_is_refused(text):
    with pytest.raises(InvalidArgument, match="a state of .* bytes: is no state: .+"):
        plain_state.decode(with_json(text))


def everything():
    return plain_state.encode({
        "a": [1, 2.5, torch.arange(5), np.arange(3), True, "\u00e9"], "b": (b"xyz", None), 7: {}, "n": np.float32(3), "s": np.array(1j),
        "t": [torch.ones(2, 2).half(), torch.ones(3).to(torch.bfloat16), torch.zeros(0, 4), torch.tensor(True)],
    })


def refused(data):
    """Whether it is, in the one way there is; every other error goes through."""
    try:
        plain_state.decode(data)
    except InvalidArgument as error:
        assert re.match(r"a state of \d+ bytes: .", str(error)), error
        return True
    return False


def test_a_state_that_is_cut_short_is_refused_wherever_it_is_cut():
    good = everything()
    # (The zeros that fill up the last array are not looked at.)
    assert good.endswith(bytes(7))
    assert all(refused(good[:at]) for at in range(len(good) - 7))


def test_whatever_byte_is_changed_nothing_but_a_value_or_that_error_comes_of_it():
    good = everything()
    count = sum(refused(good[:at] + bytes([good[at] ^ 1 << bit]) + good[at + 1:]) for at in range(len(good)) for bit in range(8))
    assert count > len(good)
    lots = random.Random(3)
    begin, end = plain_state.HEAD.size, plain_state.HEAD.size + plain_state.HEAD.unpack_from(good)[1]
    for _ in range(3000):  # with what JSON is made of, which changes its shape rather than spoils it
        bad = bytearray(good)
        for _ in range(lots.randint(1, 4)):
            bad[lots.randrange(begin, end)] = lots.choice(b'[]{}",:0123456789eE-+.tfn <>|biufc')
        refused(bytes(bad))
