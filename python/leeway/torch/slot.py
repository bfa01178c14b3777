"""Slot: memory of the worker's arena that one tensor lies in. A server on this host reads it where it lies.

The slot owns the memory beside the tensor: share_memory(), or handing a model to a spawned process, takes a tensor's
storage away under everyone who has the tensor, and the worker may be using what lay there.
"""

import torch
from torch.utils.dlpack import from_dlpack


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
