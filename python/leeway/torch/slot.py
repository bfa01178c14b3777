"""Slot: memory of the worker's arena that holds one tensor. A server on this host reads it in place.

The slot owns the memory beside the tensor. share_memory(), or handing a model to a spawned process, gives a tensor other
storage, while the worker may still use the old memory.
"""

import ctypes

import torch
from torch.utils.dlpack import from_dlpack

from leeway._leeway import checksum

_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Slot:
    __slots__ = ("address", "_memory", "_kind", "_tensor")

    def __init__(self, worker, like, kind=torch.Tensor):
        """Makes zeros of torch.float32 with the shape and the strides of `like`, a contiguous tensor. `kind` is the class of
        the slot's tensor."""
        self._memory = worker.allocate(like.shape, like.stride())
        self.address = self._memory.address
        self._kind = kind
        self._tensor = self._new_tensor()

    def tensor(self):
        """Returns the tensor in this memory; makes a new one if torch has given the last one other memory."""
        if self._tensor.data_ptr() != self.address:
            self._tensor = self._new_tensor()
        return self._tensor

    def _new_tensor(self):
        tensor = from_dlpack(self._memory.capsule())
        # as_subclass() would make a view, which torch cannot detach in place.
        return tensor if self._kind is torch.Tensor else torch.Tensor._make_subclass(self._kind, tensor)

    @property
    def memory(self):
        """The owner of the memory, for calls whose reading may outlast them (broadcast, assign)."""
        return self._memory

    # As of a Shadow, which lies beside a slot. Where the parameter uses the slot itself there is nothing to convert.

    def show(self):
        pass

    def store(self):
        pass

    def checksum(self):
        return checksum(self.address, self._tensor.numel())

    def holds(self, tensor):
        return tensor is self._tensor and tensor.data_ptr() == self.address

    def equals(self, tensor):
        """Compares type, shape and bits, so that a NaN equals itself."""
        mine = self.tensor()
        if tensor.dtype != mine.dtype or tensor.shape != mine.shape:
            return False
        if tensor.is_contiguous() and mine.is_contiguous():
            return _memcmp(tensor.data_ptr(), mine.data_ptr(), mine.numel() * 4) == 0  # a sixth of torch.equal's time
        return torch.equal(tensor.view(torch.int32), mine.view(torch.int32))


def describe(tensor):
    return f"{tensor.dtype} {str(tensor.layout).removeprefix('torch.')} on {tensor.device}"
