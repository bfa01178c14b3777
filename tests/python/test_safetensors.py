"""The safetensors format: files come back as they were written, and a file that differs from its header is refused."""

import json
import random
import struct
from pathlib import Path

import pytest
import torch

from leeway import checkpoint, errors, safetensors
from test_checkpoint import KEPT, leeway

TENSORS = {"w": torch.arange(6.0).view(2, 3), "half": torch.ones(3, dtype=torch.bfloat16), "b": torch.tensor([True, False, True]),
           "n": torch.tensor(7), "none": torch.empty(0, 4), "t": torch.arange(6.0, dtype=torch.float64).view(2, 3).t()}


def packed(header, body=b"\0" * 8, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return bytearray(struct.pack("<Q", len(text) if length is None else length) + text + body)


def entry(dtype="F32", shape=(2,), begin=0, end=8):
    return {"dtype": dtype, "shape": list(shape) if isinstance(shape, tuple) else shape, "data_offsets": [begin, end]}


def test_tensors_come_back_bit_by_bit(tmp_path):
    safetensors.write(tmp_path / "f.safetensors", TENSORS)
    read = safetensors.read(tmp_path / "f.safetensors")
    assert list(read) == list(TENSORS)
    for name, tensor in TENSORS.items():
        assert read[name].dtype == tensor.dtype and torch.equal(read[name], tensor), name
    assert [path.name for path in tmp_path.iterdir()] == ["f.safetensors"]


MALFORMED = {
    "empty": (bytearray(), "got 0 bytes"),
    "cut length": (bytearray(7), "got 7 bytes"),
    "length beyond the file": (packed({}, length=1 << 40), "header of 1099511627776 bytes"),
    "length of all ones": (packed({}, length=(1 << 64) - 1), "header of 18446744073709551615"),
    "no header": (packed(b""), "wanted an object"),
    "a list": (packed([]), "wanted an object"),
    "white space first": (packed(b" {}"), "wanted an object"),
    "cut header": (packed(b'{"w": '), "Expecting value"),
    "more after the header": (packed(b"{} {}"), "Extra data"),
    "not utf-8": (packed(b'{"\xff": 1}'), "utf-8"),
    "nested": (packed(b'{"w":' + b"[" * 100_000), "nested too deeply"),
    "an endless number": (packed(b'{"w":' + b"1" * 10_000 + b"}"), "Exceeds the limit"),
    "a name twice": (packed(b'{"w":1,"w":1}'), "'w' twice"),
    "a key twice": (packed(b'{"w":{"dtype":"F32","dtype":"F32"}}'), "'dtype' twice"),
    "metadata": (packed({"__metadata__": {"a": 1}}), "object of texts"),
    "metadata list": (packed({"__metadata__": []}), "object of texts"),
    "a number as tensor": (packed({"w": 1}), "w: got int, wanted dtype"),
    "no shape": (packed({"w": {"dtype": "F32", "data_offsets": [0, 8]}}), "wanted dtype, shape and"),
    "one key more": (packed({"w": {**entry(), "strides": [1]}}), "wanted dtype, shape and"),
    "unknown type": (packed({"w": entry("F8")}), "dtype: got 'F8'"),
    "type of a list": (packed({"w": entry(["F32"])}), "dtype: got"),
    "shape of a number": (packed({"w": entry(shape=2)}), "shape: got 2"),
    "negative size": (packed({"w": entry(shape=(-2,))}), "shape: got"),
    "fraction": (packed({"w": entry(shape=(2.0,))}), "shape: got"),
    "truth": (packed({"w": entry(shape=(True, 2))}), "shape: got"),
    "huge size": (packed({"w": entry(shape=(1 << 63,))}), "shape: got"),
    "sizes that overflow": (packed({"w": entry(shape=(1 << 61, 8))}), "wanted at most"),
    "sizes of nothing that overflow": (packed({"w": entry(shape=(1 << 61, 8, 0), end=0)}, body=b""), "wanted at most"),
    "three offsets": (packed({"w": {**entry(), "data_offsets": [0, 4, 8]}}), "data_offsets: got"),
    "offsets in the wrong order": (packed({"w": entry(begin=8, end=0)}), "data_offsets: got"),
    "negative offset": (packed({"w": entry(begin=-8, end=0)}), "data_offsets: got"),
    "another size": (packed({"w": entry(end=4)}), "got 4 bytes, wanted 8"),
    "beyond the end": (packed({"w": entry(shape=(4,), end=16)}), "the tensors end at 16, wanted 8"),
    "bytes left": (packed({"w": entry(shape=(1,), end=4)}), "the tensors end at 4, wanted 8"),
    "a hole": (packed({"w": entry(shape=(1,), begin=4, end=8)}), "w: begins at 4, wanted 0"),
    "overlap": (packed({"w": entry(), "v": entry()}), "begins at 0, wanted 8"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_refused(tmp_path, name):
    data, says = MALFORMED[name]
    (tmp_path / "bad.safetensors").write_bytes(data)
    with pytest.raises(errors.InvalidArgument, match="bad.safetensors: is no safetensors file: .*") as caught:
        safetensors.read(tmp_path / "bad.safetensors")
    assert says in str(caught.value)


def test_damaged_files_are_refused_or_read_but_nothing_else(tmp_path):
    safetensors.write(tmp_path / "f.safetensors", TENSORS)
    whole, draws = (tmp_path / "f.safetensors").read_bytes(), random.Random(1)
    for _ in range(3000):
        data = bytearray(whole)
        for _ in range(draws.randint(1, 3)):
            data[draws.randrange(len(data))] = draws.randrange(256)
        try:
            safetensors.decode(data[:draws.choice([len(data), draws.randrange(len(data))])])
        except ValueError:
            pass


def test_tensors_that_the_format_lacks_are_named(tmp_path):
    for tensor in (torch.ones(1, dtype=torch.complex64), torch.ones(1).to_sparse()):
        with pytest.raises(errors.InvalidArgument, match="odd: got torch"):
            safetensors.write(tmp_path / "f.safetensors", {"odd": tensor})
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "f.safetensors").mkdir()
    with pytest.raises(OSError):
        safetensors.write(tmp_path / "f.safetensors", TENSORS)
    assert [path.name for path in tmp_path.iterdir()] == ["f.safetensors"]


def test_a_checkpoint_goes_out_and_comes_back(tmp_path, capsys):
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    assert checkpoint.main(["export", str(KEPT), str(ours)]) == 0
    exported = leeway("export", KEPT, theirs)
    assert exported.returncode == 0 and "2 tables of" in exported.stdout, exported.stderr
    wanted = checkpoint.export_state(KEPT)
    for path in (ours, theirs):
        read = safetensors.read(path)
        assert list(read) == list(wanted) and all(torch.equal(read[name], value) for name, value in wanted.items())
    safetensors.write(ours, {name: value + 1 for name, value in wanted.items()})
    capsys.readouterr()
    assert checkpoint.main(["import", str(ours), str(tmp_path / "all"), "--like", str(KEPT)]) == 0
    made = Path(capsys.readouterr().out.strip())
    assert all(torch.equal(value, wanted[name] + 1) for name, value in checkpoint.export_state(made).items())


def test_the_program_names_what_is_wrong_with_an_export(tmp_path):
    said = leeway("export", KEPT, tmp_path / "out.pt")
    assert said.returncode == 2 and "wanted a name that ends with .safetensors" in said.stderr
    said = leeway("export", tmp_path, tmp_path / "out.safetensors")
    assert said.returncode == 3 and "holds no checkpoint" in said.stderr
    said = leeway("export", KEPT, tmp_path / "none" / "out.safetensors")
    assert said.returncode == 1 and str(tmp_path / "none") in said.stderr
