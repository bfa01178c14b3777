"""Slot: memory of the worker's arena that one tensor lies in. A server on this host reads it where it lies.

The slot owns the memory beside the tensor: share_memory(), or handing a model to a spawned process, takes a tensor's
storage away under everyone who has the tensor, and the worker may be using what lay there.
"""

import ctypes

import torch
from torch.utils.dlpack import from_dlpack

_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Slot:
    __slots__ = ("address", "_memory", "_kind", "_tensor")

    def __init__(self, worker, like, kind=torch.Tensor):
        """Zeros, with the shape and the strides of `like`: a contiguous tensor of torch.float32. `kind` is the tensor's
        class."""
        self._memory = worker.allocate(like.shape, like.stride())
        self.address = self._memory.address
        self._kind = kind
        self._tensor = self._new_tensor()

    def tensor(self):
        """The tensor in this memory: a new one if torch has given the last one other memory."""
        if self._tensor.data_ptr() != self.address:
            self._tensor = self._new_tensor()
        return self._tensor

    def _new_tensor(self):
        tensor = from_dlpack(self._memory.capsule())
        # (as_subclass() would make a view, which cannot be detached in place.)
        return tensor if self._kind is torch.Tensor else torch.Tensor._make_subclass(self._kind, tensor)

    @property
    def memory(self):
        """What owns the memory, for a call that reads it beyond its own return (broadcast)."""
        return self._memory

    def holds(self, tensor):
        return tensor is self._tensor and tensor.data_ptr() == self.address

    def equals(self, tensor):
        """Both of torch.float32, or they are not the same. By bits: a NaN is like itself."""
        mine = self.tensor()
        if tensor.dtype != mine.dtype or tensor.shape != mine.shape:
            return False
        if tensor.is_contiguous() and mine.is_contiguous():
            return _memcmp(tensor.data_ptr(), mine.data_ptr(), mine.numel() * 4) == 0  # a sixth of torch.equal's time
        return torch.equal(tensor.view(torch.int32), mine.view(torch.int32))


def fits(tensor):
    """Can a slot hold such a tensor?"""
    return tensor.dtype == torch.float32 and tensor.device.type == "cpu" and tensor.layout == torch.strided


def describe(tensor):
    return f"{tensor.dtype} {str(tensor.layout).removeprefix('torch.')} on {tensor.device}"
