"""SharedBuffers: makes the buffers of a broadcast (BatchNorm's statistics) equal on all ranks when the job ends.

Each rank trains with buffers of its own. As it leaves, it adds them to a table that sums; when the last member has left, all
ranks read the table. So nobody waits for anybody before the end, and ranks that died are left out.
"""

import hashlib

import torch

from leeway._leeway import Hyper
from leeway.errors import InvalidArgument

MODES = ("mean", "chief", "local")
# A larger buffer of integers is a mask or an index, which no layer counts in. It stays as it is.
INTEGERS_MAX = 1024
# A table has float32 values, which hold 16 bits of an integer exactly.
_CHUNK_BITS, _CHUNKS = 16, 4


def check_mode(mode):
    if mode not in MODES:
        raise InvalidArgument(f'broadcast_parameters: buffers: got "{mode}", wanted one of {", ".join(MODES)}')


class SharedBuffers:
    """The table has, in this order: a 1 for each rank that took part; for each buffer, how many ranks have changed it; the
    values, summed over ranks ("mean") or rank by rank ("chief"); the integers of each rank, in chunks of 16 bits."""

    def __init__(self, session, tensors, mode):
        """`tensors` by name, equal names and shapes on all ranks."""
        self.mode, self._session = mode, session
        self._floats = {name: tensor for name, tensor in tensors.items() if tensor.is_floating_point()}
        self._integers = {name: tensor for name, tensor in tensors.items() if tensor.numel() <= INTEGERS_MAX and not
                          (tensor.is_floating_point() or tensor.is_complex())}
        self._table = self._given = None
        if mode == "local" or not (self._floats or self._integers):
            return
        self._digests = {name: _digest(tensor) for name, tensor in self._all().items()}
        rows = session.size if mode == "chief" else 1
        self._sizes = [session.size, len(self._all()), rows * _count(self._floats),
                       session.size * _CHUNKS * _count(self._integers)]
        worker = session.worker
        self._table = worker.create_table(session.next_name("buffers"), [sum(self._sizes)], own_clock=True, accept_nonfinite=True,
                                          sync="asp", apply="immediate", optimizer="sum")
        worker.start()
        zeros = torch.zeros(sum(self._sizes))
        worker.broadcast(self._table, zeros.data_ptr(), zeros.numel())

    def give(self):
        """Before this rank leaves: adds its buffers."""
        if self._table is None:
            return
        rank = self._session.rank
        self._given = torch.zeros(sum(self._sizes))
        took_part, changed, floats, integers = self._given.split(self._sizes)
        took_part[rank] = 1.0
        changed.copy_(torch.tensor([float(_digest(tensor) != self._digests[name]) for name, tensor in self._all().items()]))
        _row(floats, rank if self.mode == "chief" else 0, _count(self._floats)).copy_(_flat(self._floats, torch.float32))
        bits = _flat(self._integers, torch.int64)
        chunks = [(bits >> (_CHUNK_BITS * place) & (1 << _CHUNK_BITS) - 1).float() for place in range(_CHUNKS)]
        _row(integers, rank, _CHUNKS * len(bits)).copy_(torch.cat(chunks))
        worker = self._session.worker
        with self._session.lending(self._given), self._session.waiting():
            worker.wait(worker.push(self._table, self._given.data_ptr(), self._given.numel(), Hyper(1.0), 1).ticket)

    def take(self):
        """After the last member has left: puts the common values into the buffers that a rank has changed."""
        if self._given is None:
            return
        read, worker = torch.empty_like(self._given), self._session.worker
        with self._session.lending(read), self._session.waiting():
            worker.wait(worker.pull(self._table, read.data_ptr(), read.numel()))
        took_part, changed, floats, integers = read.split(self._sizes)
        if not took_part.any():
            return  # the servers went back to a checkpoint after all had left
        chief = int(took_part.nonzero()[0])
        # A rank that went back to a checkpoint may be in the sums twice.
        if self.mode == "chief":
            values = _row(floats, chief, _count(self._floats)) / took_part[chief]
        else:
            values = floats / took_part.sum()
        count = _count(self._integers)
        chunks = (_row(integers, chief, _CHUNKS * count) / took_part[chief]).long().view(_CHUNKS, count)
        bits = sum((chunks[place] << (_CHUNK_BITS * place) for place in range(_CHUNKS)), torch.zeros(count, dtype=torch.int64))
        moved = dict(zip(self._all(), changed.tolist()))
        with torch.no_grad():
            for tensors, flat in ((self._floats, values), (self._integers, bits)):
                for (name, tensor), part in zip(tensors.items(), flat.split([tensor.numel() for tensor in tensors.values()])):
                    if moved[name]:
                        tensor.copy_(part.view(tensor.shape))

    def _all(self):
        return {**self._floats, **self._integers}


def _count(tensors):
    return sum(tensor.numel() for tensor in tensors.values())


def _flat(tensors, dtype):
    return torch.cat([torch.empty(0, dtype=dtype), *(tensor.detach().to(dtype).flatten() for tensor in tensors.values())])


def _row(flat, index, length):
    return flat[index * length:(index + 1) * length]


def _digest(tensor):
    return hashlib.blake2b(tensor.detach().contiguous().flatten().view(torch.uint8).numpy()).digest()
