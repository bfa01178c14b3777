"""Shadow: the parameter's own memory beside a slot, for a parameter of another type or order of memory than the servers' tables.

Tables are arrays of float32 in the order of their shape. A float64, float16 or bfloat16 parameter is cast both ways, and one
with other strides (channels_last) is reordered. Autograd sees the shadow alone: the parameter keeps its type and strides.
"""

import torch

from leeway._leeway import checksum

TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
_WORD = 4  # bytes that checksum() reads at a time


def needed(parameter):
    """Must values be converted between the parameter and a table?"""
    return parameter.dtype != torch.float32 or not parameter.is_contiguous()


def like_table(parameter):
    """Returns a tensor without memory, of the type, shape and strides of the parameter's table."""
    return torch.empty(parameter.shape, dtype=torch.float32, device="meta")


class Shadow:
    __slots__ = ("address", "_slot", "_memory", "_tensor")

    def __init__(self, slot, parameter):
        self._slot = slot
        strides = torch.empty_like(parameter, device="meta").stride()  # the parameter's, unless its memory has holes
        per_word = max(1, _WORD // parameter.element_size())
        self._memory = torch.zeros(-(-parameter.numel() // per_word) * per_word, dtype=parameter.dtype)
        self._tensor = self._memory.as_strided(parameter.shape, strides)
        self.address = self._memory.data_ptr()

    def tensor(self):
        """Returns the tensor in this memory; makes a new one if torch has given the last one other memory."""
        if self._tensor.data_ptr() != self.address:
            self._tensor = self._memory.as_strided(self._tensor.shape, self._tensor.stride())
        return self._tensor

    def show(self):
        """Takes the values of the slot."""
        self.tensor().copy_(self._slot.tensor())

    def store(self):
        """Gives the slot the values."""
        self._slot.tensor().copy_(self.tensor())

    def equals(self, tensor):
        """Compares type, shape and bits, so that a NaN equals itself."""
        mine = self.tensor()
        bits = _BITS[mine.element_size()]
        return tensor.dtype == mine.dtype and tensor.shape == mine.shape and torch.equal(
            tensor.contiguous().view(bits), mine.contiguous().view(bits))

    def checksum(self):
        return checksum(self.address, self._memory.numel() * self._memory.element_size() // _WORD)
