"""The safetensors format: tensors by name in one file that runs no code when it is read.

    u64 (little-endian) bytes of the header, the header, the tensors

The header is a JSON object from a name to {"dtype", "shape", "data_offsets": [begin, end]}, and "__metadata__" to texts. read()
checks all of it before it makes a tensor: a file may come from anywhere.
"""

import json
import os
import struct
from pathlib import Path

import torch

from leeway.errors import InvalidArgument, NotFound

_TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
          "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool}
_NAMES = {kind: name for name, kind in _TYPES.items()}
_LENGTH = struct.Struct("<Q")
_HEADER_BYTES_MAX = 100_000_000  # as the format's own reader has it
_ELEMENTS_MAX = 1 << 56
_METADATA = "__metadata__"


def write(path, tensors):
    """Writes tensors by name; the file is there as a whole, or as it was before."""
    header, at, parts = {_METADATA: {"format": "pt"}}, 0, []
    for name, tensor in tensors.items():
        if tensor.dtype not in _NAMES or tensor.layout != torch.strided:
            raise InvalidArgument(f"{path}: {name}: got {tensor.dtype} {tensor.layout}, wanted a dense tensor of one of "
                                  f"{', '.join(_TYPES)}")
        if name == _METADATA:
            raise InvalidArgument(f"{path}: a tensor is named {_METADATA}, which the format keeps for itself")
        part = tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + part.size]}
        at += part.size
        parts.append(part)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    unfinished = Path(f"{path}.tmp")
    try:
        with open(unfinished, "wb") as file:
            file.write(_LENGTH.pack(len(text)) + text)
            for part in parts:
                file.write(part.data)
        os.replace(unfinished, path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def read(path):
    """Returns the tensors of a file by name. Raises InvalidArgument, with the place, unless all of it is as the format says."""
    try:
        data = bytearray(Path(path).read_bytes())
    except FileNotFoundError:
        raise NotFound(f"{path}: no such file") from None
    try:
        return decode(data)
    except ValueError as error:  # InvalidArgument is one, and so are the errors of json
        raise InvalidArgument(f"{path}: is no safetensors file: {error}") from None


def decode(data):
    """Returns the tensors of a file's bytes, a bytearray, by name; they own their memory."""
    if len(data) < _LENGTH.size:
        raise InvalidArgument(f"got {len(data)} bytes, wanted at least {_LENGTH.size}")
    length = _LENGTH.unpack_from(data)[0]
    begin = _LENGTH.size + length
    if length > _HEADER_BYTES_MAX or begin > len(data):
        raise InvalidArgument(f"got a header of {length} bytes in a file of {len(data)}, wanted at most {_HEADER_BYTES_MAX}")
    text = bytes(data[_LENGTH.size:begin])
    if text[:1] != b"{":
        raise InvalidArgument(f"the header begins with {text[:1]!r}, wanted an object")
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_without_repeats)
    except RecursionError:
        raise InvalidArgument("the header is nested too deeply") from None
    _check_metadata(header.pop(_METADATA, {}))
    entries = {name: _Entry(name, entry) for name, entry in header.items()}
    at = 0
    for entry in sorted(entries.values(), key=lambda one: (one.begin, one.end)):
        if entry.begin != at:
            raise InvalidArgument(f"{entry.name}: begins at {entry.begin}, wanted {at}, where the tensor before ends")
        at = entry.end
    if at != len(data) - begin:
        raise InvalidArgument(f"the tensors end at {at}, wanted {len(data) - begin}, where the file ends")
    return {name: entry.tensor(memoryview(data)[begin:]) for name, entry in entries.items()}


class _Entry:
    """One tensor as the header describes it."""

    def __init__(self, name, entry):
        self.name = name
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            got = ", ".join(entry) if isinstance(entry, dict) else type(entry).__name__
            raise InvalidArgument(f"{name}: got {got or 'nothing'}, wanted dtype, shape and data_offsets")
        kind, self.shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(kind, str) or kind not in _TYPES:
            raise InvalidArgument(f"{name}: dtype: got {kind!r}, wanted one of {', '.join(_TYPES)}")
        self.dtype = _TYPES[kind]
        if not _are_sizes(self.shape):
            raise InvalidArgument(f"{name}: shape: got {self.shape!r}, wanted a list of sizes")
        if not _are_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
            raise InvalidArgument(f"{name}: data_offsets: got {offsets!r}, wanted where the tensor begins and ends")
        self.begin, self.end = offsets
        elements = 1
        for size in self.shape:
            elements *= max(size, 1)  # torch multiplies the other sizes of an empty tensor as well
            if elements > _ELEMENTS_MAX:
                raise InvalidArgument(f"{name}: shape: got {self.shape!r}, wanted at most {_ELEMENTS_MAX} elements, sizes of 0 aside")
        wanted = 0 if 0 in self.shape else elements * torch.empty((), dtype=self.dtype).element_size()
        if self.end - self.begin != wanted:
            raise InvalidArgument(f"{name}: got {self.end - self.begin} bytes, wanted {wanted} for {kind} of shape {self.shape}")

    def tensor(self, data):
        if self.begin == self.end:
            return torch.empty(self.shape, dtype=self.dtype)
        raw = torch.frombuffer(bytearray(data[self.begin:self.end]), dtype=torch.uint8)
        if self.dtype == torch.bool:
            return raw.ne(0).view(self.shape)  # another byte than 0 or 1 would be no bool
        return raw.view(self.dtype).view(self.shape)


def _without_repeats(pairs):
    found = {}
    for name, value in pairs:
        if name in found:
            raise InvalidArgument(f"the header has {name!r} twice")
        found[name] = value
    return found


def _check_metadata(metadata):
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise InvalidArgument(f"{_METADATA}: wanted an object of texts")


def _are_sizes(values):
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 1 << 62 for value in values)
