"""Plain values as bytes and back: None, bool, int, float, str, bytes, lists, tuples, dicts, numpy arrays, torch tensors.

A rank gives its state to a checkpoint in this format. It is no pickle: loading a pickle runs any code in it, and a checkpoint may
come from anywhere. encode() refuses a value that is not plain and names its place ("schedule.anneal_func"), so that the error
comes when the state is saved, not when it is needed.

    b"LWSTATE1", u64 length of the JSON, the JSON, zeros up to a multiple of 8, then the arrays, each at a multiple of 8
"""

import json
import re
import struct
import sys

import numpy as np

from leeway.errors import InvalidArgument

MAGIC = b"LWSTATE1"
HEAD = struct.Struct("<8sQ")
DTYPE = re.compile(r"[<>|][biufc]\d{1,2}")
TORCH_BITS = ("bfloat16",)  # numpy lacks the type: its bits travel as a uint16


def encode(value):
    """Returns the bytes of a plain value."""
    pieces, end = [], 0

    def add(data):
        nonlocal end
        begin = end
        pieces.append(data)
        pieces.append(bytes(-len(data) % 8))
        end += len(data) + len(pieces[-1])
        return begin

    text = json.dumps(_pack(value, "", add), separators=(",", ":")).encode()
    return b"".join([HEAD.pack(MAGIC, len(text)), text, bytes(-(HEAD.size + len(text)) % 8), *pieces])


def is_encoded(data):
    return len(data) >= HEAD.size and bytes(data[:len(MAGIC)]) == MAGIC


def decode(data):
    """Returns the value; tensors and arrays own their memory. Raises InvalidArgument unless encode() made `data`."""
    if not is_encoded(data):
        raise InvalidArgument(f"a state of {len(data)} bytes: got {bytes(data[:8])!r}, wanted it to begin with {MAGIC!r}")
    length = HEAD.unpack_from(data)[1]
    begin = HEAD.size + length + -(HEAD.size + length) % 8
    if begin > len(data):
        raise InvalidArgument(f"a state of {len(data)} bytes: got {length} bytes of JSON in it")
    try:
        return _unpack(json.loads(bytes(data[HEAD.size:HEAD.size + length])), memoryview(data)[begin:])
    except ImportError:
        raise  # torch is missing for a tensor: the state may be good
    except Exception as error:  # json, numpy and torch do not list what they raise
        what = str(error) or type(error).__name__
        raise InvalidArgument(f"a state of {len(data)} bytes: is no state: {what}") from None


def _pack(value, where, add):
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [_pack(item, f"{where}[{i}]", add) for i, item in enumerate(value)]
    if kind is tuple:
        return {"tuple": [_pack(item, f"{where}[{i}]", add) for i, item in enumerate(value)]}
    if isinstance(value, dict):  # decode() makes a dict of an OrderedDict or a defaultdict
        return {"dict": [[_pack(key, f"{where}.{key}", add), _pack(item, f"{where}.{key}", add)]
                         for key, item in value.items()]}
    if kind in (bytes, bytearray):
        return {"bytes": [add(bytes(value)), len(value)]}
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return {"scalar": [value.dtype.str, add(value.tobytes())]}
    if kind is np.ndarray and value.dtype.kind in "biufc":
        return {"array": [value.dtype.str, list(value.shape), add(np.ascontiguousarray(value).tobytes())]}
    torch = sys.modules.get("torch")  # a tensor exists only if torch is loaded
    if torch is not None and isinstance(value, torch.Tensor):
        return _pack_tensor(torch, value, where, add)
    raise InvalidArgument(f"state {where.lstrip('.') or 'as a whole'}: is a {kind.__module__}.{kind.__qualname__}, wanted "
                          "None, bool, int, float, str, bytes, list, tuple, dict, a numpy array or a tensor")


def _pack_tensor(torch, value, where, add):
    if value.layout != torch.strided or value.is_quantized:
        raise InvalidArgument(f"state {where.lstrip('.')}: is a tensor of layout {value.layout}, wanted a dense one")
    name = str(value.dtype).partition(".")[2]
    flat = value.detach().cpu().contiguous()
    bits = flat.view(torch.int16) if name in TORCH_BITS else flat
    return {"tensor": [name, list(value.shape), add(bits.numpy().tobytes())]}


def _unpack(packed, data):
    if isinstance(packed, list):
        return [_unpack(item, data) for item in packed]
    if not isinstance(packed, dict):
        return packed
    if len(packed) != 1:
        raise ValueError(f"got an object of {len(packed)} members, wanted one")
    (kind, body), = packed.items()
    if not isinstance(body, list):
        raise ValueError(f"got {kind!r} of a {type(body).__name__}, wanted a list")
    if kind == "tuple":
        return tuple(_unpack(item, data) for item in body)
    if kind == "dict":
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in body):
            raise ValueError("got a dict of other things than pairs")
        return {_unpack(key, data): _unpack(item, data) for key, item in body}
    if kind == "bytes":
        return bytes(_cut(data, *body))
    if kind == "scalar":
        dtype, begin = body
        return _array(dtype, [], begin, data)[()]
    if kind == "array":
        return _array(*body, data)
    if kind == "tensor":
        return _unpack_tensor(*body, data)
    raise ValueError(f"got a {kind!r}")


def _unpack_tensor(name, shape, begin, data):
    import torch
    # vars(), since getattr() of a module may import more for an unknown name.
    dtype = vars(torch).get(name) if isinstance(name, str) else None
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"got a tensor of {name!r}")
    kind = np.uint16 if name in TORCH_BITS else torch.zeros(0, dtype=dtype).numpy().dtype
    array = _array(np.dtype(kind).str, shape, begin, data)
    if name in TORCH_BITS:
        return torch.from_numpy(array.view(np.int16)).view(dtype)
    return torch.from_numpy(array)


def _array(dtype, shape, begin, data):
    # Checked before numpy sees it, which understands far more types.
    if not isinstance(dtype, str) or not DTYPE.fullmatch(dtype):
        raise ValueError(f"got an array of {dtype!r}")
    if not isinstance(shape, list) or any(type(size) is not int or size < 0 for size in shape):
        raise ValueError(f"got an array of shape {shape}")
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=object)) if shape else 1
    return np.frombuffer(_cut(data, begin, count * dtype.itemsize), dtype).reshape(shape).copy()


def _cut(data, begin, length):
    if not (type(begin) is int and type(length) is int and 0 <= begin and 0 <= length <= len(data) - begin):
        raise ValueError(f"got {length} bytes at {begin} of {len(data)}")
    return data[begin:begin + length]
