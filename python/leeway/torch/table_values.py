"""TableValues: the values of one parameter, and the table they come from.

The parameter has two buffers; the worker lands new values in the one not in use, and sync() points p.data at it at the
first use in an iteration. Autograd's saved tensors of this iteration keep the buffer they were made with. Both buffers
lie in the worker's arena; torch and its users may give a tensor other memory at any time, so check_memory() looks at
every use and brings back what has left.
"""

import time
import warnings

import torch

from leeway._leeway import checksum
from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.torch.slot import Slot, describe, fits

# In which iterations writes through p.data are looked for: in the first few, then in every so many. A look reads the
# parameter twice.
_LOOKS_FIRST, _LOOKS_EVERY = 4, 64
# TableValues._synced in a forked child: it may use the values, in memory of its own; they had not come by then.
_FORKED, _FORKED_WITHOUT = -2, -3


class TableValues:
    __slots__ = ("table_id", "buffers", "address", "initialized", "root", "_name", "_parameter", "_elements", "_session", "_phases",
                 "_on_child_use", "_agreed", "_synced", "_version", "_checksum")

    def __init__(self, name, parameter, session, phases, on_child_use):
        """`on_child_use`: called when a forked child first uses the parameter."""
        _check_parameter(name, parameter)
        slots = (Slot(session.worker, parameter), Slot(session.worker, parameter))
        self.buffers = {slot.address: slot for slot in slots}
        self.address = slots[0].address  # of the buffer in use
        parameter.data = slots[0].tensor().copy_(parameter.data)
        self.table_id = None             # its id, once made
        self.initialized = False      # took part in a broadcast
        self.root = 0                 # the rank whose initial values count
        self._name = name
        self._parameter = parameter
        self._elements = parameter.numel()
        self._session = session
        self._phases = phases
        self._on_child_use = on_child_use
        self._agreed = False         # all ranks agree on its initial values
        self._synced = -1             # the iteration that it was synced for
        self._version = 0             # of the parameter when its values came
        self._checksum = None         # of the values when they came, if writes through p.data are looked for

    def create_table(self, sync, apply, optimizer, clock_group):
        """`clock_group`: the number of the optimizer whose steps are the table's iterations."""
        first, second = self.buffers
        self.table_id = self._session.worker.create_table(
            self._name, list(self._parameter.shape), sync=sync, apply=apply, optimizer=optimizer, first=first,
            second=second, group=clock_group)

    def sync(self):
        """Waits until the table may be used in this iteration, and puts the newest values under the parameter."""
        if self._synced != self._session.iteration:
            self._sync()

    def is_synced(self):
        return self._synced == self._session.iteration

    def _sync(self):
        session = self._session
        if self._synced < -1:
            self._sync_forked()
            return
        if not self.initialized:
            return
        self.check_memory()
        if self._agreed and self._parameter._version != self._version:
            self._count_overwritten()
        began = time.perf_counter()
        address = session.worker.sync(self.table_id)
        self._phases.wait_s += time.perf_counter() - began
        self._synced = session.iteration
        if address != self.address:
            self._parameter.data = self.buffers[address].tensor()
            self.address = address
        if self._agreed:
            # Those who clamp do it after every step, so looking now and then is enough.
            looks = session.iteration < _LOOKS_FIRST or session.iteration % _LOOKS_EVERY == 0
            self._checksum = checksum(address, self._elements) if looks else None

    def begin(self, root=0):
        """It has initial values in the job from here on."""
        self.initialized = True
        self.root = root
        self._note()

    def take_broadcast(self, root):
        """Begins with the values of a broadcast, which are under the parameter when this returns."""
        self.begin(root)
        self.sync()
        self._checksum = checksum(self.address, self._elements)

    def note_agreed(self):
        """The servers know the values that are here now."""
        self._agreed = True
        self._note()

    def _note(self):
        self._version = self._parameter._version
        self._checksum = checksum(self.address, self._elements)

    def broadcast(self, lend=True):
        """Offers the values that are here. Lent, where they are: the worker lands nothing in this buffer until the servers have
        them. Else copied first."""
        self.check_memory()
        lent = self.buffers[self.address].memory if lend else None
        self._session.worker.broadcast(self.table_id, self.address, self._elements, lent)

    def assign(self):
        """The values that are here become the servers'."""
        self.check_memory()
        self._session.worker.assign(self.table_id, self.address, self._elements, self.buffers[self.address].memory)

    def read(self, even_if_known):
        """The servers' values as they are now, in a new tensor; None if they are known here, unless wanted all the same."""
        room = torch.empty(self._parameter.shape, dtype=torch.float32)
        read = self._session.worker.read_values(self.table_id, room.data_ptr(), self._elements, even_if_known)
        return room if read else None

    def was_written(self):
        """Before the first gradient: are these other values than those that were broadcast?"""
        self.check_memory()
        return checksum(self.address, self._elements) != self._checksum

    def check_written(self):
        """At step(): notices what was written past the version, through p.data."""
        if self._checksum is None:
            return
        if self._parameter._version == self._version and checksum(self.address, self._elements) != self._checksum:
            self._count_overwritten("through .data ")
        self._checksum = None

    def _count_overwritten(self, how=""):
        """Someone has written into the parameter since its values came: the servers do not know of it."""
        self._version = self._parameter._version
        if self._session.finished:
            return  # everybody gets the final values, and knows it
        self._phases.overwritten_parameters += 1
        if self._phases.overwritten_parameters > 1:
            return
        warnings.warn(f"leeway: parameter {self._name} was written to {how}after training began (by load_state_dict, p.mul_(), "
                      "p.data.clamp_(), an Embedding with max_norm?); the servers do not know of it, and what they have replaces "
                      "it when it next changes. To clamp, give DistributedOptimizer constraint=\"clamp:-0.01,0.01\"; to set "
                      "values, call lw.assign(parameter) after the write; to swap weights for an evaluation, use a copy of the "
                      "model. Further ones are only counted", RuntimeWarning, stacklevel=2)

    def check_trainable(self):
        """Before a push: the parameter is in its buffer, and the job has initial values of it."""
        self.check_memory()
        if not self.initialized:
            raise FailedPrecondition(f"parameter {self._name} has no initial values in the job: call "
                                     "lw.broadcast_parameters(model.state_dict()) after DistributedOptimizer(...) "
                                     "and before training")

    def check_memory(self):
        """Puts the parameter back into its buffer if it was given other memory. What the job would not know of, other
        values or another type, is an error."""
        if self._parameter.data_ptr() != self.address:
            self._put_back()

    def _put_back(self):
        data, slot = self._parameter.data, self.buffers[self.address]
        buffer = slot.tensor()
        if (data.dtype, data.device, data.layout, data.shape) != (buffer.dtype, buffer.device, buffer.layout, buffer.shape):
            self._refuse_memory(describe(data))
        if data.stride() != buffer.stride():
            self._refuse_memory(f"with strides {list(data.stride())}")
        if not self._agreed:
            buffer.copy_(data)
        elif not slot.equals(data):
            self._refuse_memory("with other values")
        self._parameter.data = buffer
        self._phases.rebound_parameters += 1

    def _refuse_memory(self, now):
        raise FailedPrecondition(f"parameter {self._name} was given other memory (now {now}) after DistributedOptimizer was "
                                 "made; do .to(), .float(), vector_to_parameters() and the like before")

    def on_fork(self):
        """In a forked child, which shares the arena with its parent: a child that looks at the parameter gets a copy. Most,
        as workers of a DataLoader, never do. Values that the parent has yet to wait for stay out of reach."""
        if self._synced < -1:
            return  # forked by a forked one: as it was
        self._synced = _FORKED if not self.initialized or self.is_synced() else _FORKED_WITHOUT

    def _sync_forked(self):
        if self._synced == _FORKED_WITHOUT:
            raise FailedPrecondition(f"parameter {self._name}: its newest values had not come when this process was forked, and "
                                     "only the process that called init() can wait for them; call opt.synchronize() there "
                                     "before forking")
        self.leave_arena()
        self._on_child_use()
        self._synced = self._session.iteration

    def leave_arena(self):
        """Gives the parameter memory as any tensor has."""
        if self._parameter.data_ptr() in self.buffers:
            self._parameter.data = self._parameter.data.clone()


def _check_parameter(name, parameter):
    if not fits(parameter):
        raise InvalidArgument(f"parameter {name}: got {describe(parameter)}, wanted torch.float32 strided on cpu")
    if not parameter.is_contiguous():
        raise InvalidArgument(f"parameter {name}: got strides {list(parameter.stride())} for shape "
                              f"{list(parameter.shape)}, wanted a contiguous tensor (call .contiguous() before "
                              "DistributedOptimizer)")
