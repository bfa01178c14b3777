"""TableValues: the values of one parameter, and the table they come from.

The parameter has two buffers in the worker's arena. The worker lands new values in the buffer not in use, and sync() points
p.data at it at the first use in an iteration. Autograd's saved tensors of this iteration keep their buffer. torch and its
users may give a tensor other memory at any time. So check_memory() looks at every use and brings the parameter back.
"""

import time
import warnings

import torch

from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.torch import shadow
from leeway.torch.shadow import Shadow
from leeway.torch.slot import Slot, describe

# TableValues looks for writes through p.data in the first iterations, then in every 64th: a look reads the parameter twice.
_LOOKS_FIRST, _LOOKS_EVERY = 4, 64
# TableValues.synced in a forked child: the values had come before the fork, or had not.
_FORKED, _FORKED_WITHOUT = -2, -3


class TableValues:
    __slots__ = ("table_id", "buffers", "address", "initialized", "root", "session", "synced", "checksum", "_name", "_parameter",
                 "_elements", "_phases", "_on_child_use", "_agreed", "_version", "_views", "_pointer")

    def __init__(self, name, parameter, session, phases, on_child_use):
        """sync() calls `on_child_use` when a forked child first uses the parameter."""
        _check_parameter(name, parameter)
        converted = shadow.needed(parameter)
        like = shadow.like_table(parameter) if converted else parameter
        slots = (Slot(session.worker, like), Slot(session.worker, like))
        self.buffers = {slot.address: slot for slot in slots}
        # The parameter's memory for each buffer: the slot itself, or a shadow of the parameter's type and strides.
        self._views = {slot.address: Shadow(slot, parameter) if converted else slot for slot in slots}
        if converted:
            phases.note_converted(name, parameter)
        self.address = slots[0].address  # of the buffer in use
        self._pointer = self._view().address  # of the parameter's memory
        parameter.data = self._view().tensor().copy_(parameter.data)
        self.table_id = None          # None before create_table()
        self.initialized = False      # the job has initial values of it
        self.root = 0                 # the rank whose initial values count
        self._name, self._parameter, self._elements = name, parameter, parameter.numel()
        self.session, self._phases, self._on_child_use = session, phases, on_child_use
        self._agreed = False          # all ranks agree on the initial values
        self.synced = -1              # the iteration of the last sync
        self._version = 0             # of the parameter when the values came
        self.checksum = None          # of the values when they came; None: no look in this iteration

    def create_table(self, sync, apply, optimizer, clock_group):
        """`clock_group` is the number of the optimizer whose steps are the table's iterations."""
        first, second = self.buffers
        self.table_id = self.session.worker.create_table(
            self._name, list(self._parameter.shape), sync=sync, apply=apply, optimizer=optimizer, first=first,
            second=second, group=clock_group)

    def sync(self):
        """Waits until the table may be used in this iteration, and puts the newest values under the parameter. A hook that runs
        at every use compares `synced` itself and saves the call."""
        if self.synced != self.session.iteration:
            self._sync()

    def is_synced(self):
        return self.synced == self.session.iteration

    def _sync(self):
        session = self.session
        if self.synced < -1:
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
        self.synced = session.iteration
        if address != self.address:
            self._use(address)
        if self._agreed:
            # A script that clamps does it after every step, so a look now and then is enough.
            looks = session.iteration < _LOOKS_FIRST or session.iteration % _LOOKS_EVERY == 0
            self.checksum = self._view().checksum() if looks else None

    def _view(self):
        return self._views[self.address]

    def _use(self, address):
        """Puts another buffer under the parameter."""
        self.address, view = address, self._views[address]
        view.show()
        self._pointer = view.address
        self._parameter.data = view.tensor()

    def addresses(self):
        """Returns where tensors may lie that a script has read from the parameter."""
        return {*self.buffers, *(view.address for view in self._views.values()), self._parameter.data_ptr()}

    def begin(self, root=0):
        """The job has initial values of the table from here on."""
        self.initialized, self.root = True, root
        self._note()

    def take_broadcast(self, root):
        """Begins with the values of a broadcast, and puts them under the parameter."""
        self.begin(root)
        self.sync()
        self.checksum = self._view().checksum()

    def note_agreed(self):
        """All ranks and the servers agree on the values under the parameter."""
        self._agreed = True
        self._note()

    def _note(self):
        self._version = self._parameter._version
        self.checksum = self._view().checksum()

    def broadcast(self, lend=True):
        """Offers the parameter's values as initial ones. `lend` makes no copy: the worker lands nothing in this buffer until
        the servers have them."""
        self.check_memory()
        self._view().store()
        lent = self.buffers[self.address].memory if lend else None
        self.session.worker.broadcast(self.table_id, self.address, self._elements, lent)

    def assign(self):
        """Gives the servers the parameter's values."""
        self.check_memory()
        self._view().store()
        self.session.worker.assign(self.table_id, self.address, self._elements, self.buffers[self.address].memory)

    def read(self, even_if_known):
        """Returns the servers' present values in a new tensor; None if they have nothing newer, unless `even_if_known`."""
        room = torch.empty(self._parameter.shape, dtype=torch.float32)
        read = self.session.worker.read_values(self.table_id, room.data_ptr(), self._elements, even_if_known)
        return room.to(self._parameter.dtype) if read else None

    def was_written(self):
        """Before the first gradient: did the script change the values since the broadcast?"""
        self.check_memory()
        return self._view().checksum() != self.checksum

    def check_written(self):
        """At step(), where `checksum` is known: notices a write through p.data, which leaves the version as it was."""
        if self._parameter._version == self._version and self._view().checksum() != self.checksum:
            self._count_overwritten("through .data ")
        self.checksum = None

    def _count_overwritten(self, how=""):
        """The script has written into the parameter since its values came, and the servers do not know of it."""
        self._version = self._parameter._version
        if self.session.finished:
            return  # the script expects the final values
        self._phases.overwritten_parameters += 1
        if self._phases.overwritten_parameters > 1:
            return
        warnings.warn(f"leeway: parameter {self._name} was written to {how}after training began (by load_state_dict, p.mul_(), "
                      "p.data.clamp_(), an Embedding with max_norm?); the servers do not know of it, and what they have replaces "
                      "it when it next changes. To clamp, give DistributedOptimizer constraint=\"clamp:-0.01,0.01\"; to set "
                      "values, call lw.assign(parameter) after the write; to swap weights for an evaluation, use a copy of the "
                      "model. Further ones are only counted", RuntimeWarning, stacklevel=2)

    def check_trainable(self):
        """Before a push: raises if the job has no initial values of the parameter, or its memory has others."""
        self.check_memory()
        if not self.initialized:
            raise FailedPrecondition(f"parameter {self._name} has no initial values in the job: call "
                                     "lw.broadcast_parameters(model.state_dict()) after DistributedOptimizer(...) "
                                     "and before training")

    def check_memory(self):
        """Puts the parameter back into its buffer if torch or the script gave it other memory. Raises if that memory has
        other values or another type, since the job would not know of them."""
        if self._parameter.data_ptr() != self._pointer:
            self._put_back()

    def _put_back(self):
        data, view = self._parameter.data, self._view()
        buffer = view.tensor()
        if (data.dtype, data.device, data.layout, data.shape) != (buffer.dtype, buffer.device, buffer.layout, buffer.shape):
            self._refuse_memory(describe(data))
        if data.stride() != buffer.stride():
            self._refuse_memory(f"with strides {list(data.stride())}")
        if not self._agreed:
            buffer.copy_(data)
        elif not view.equals(data):
            self._refuse_memory("with other values")
        self._parameter.data = buffer
        self._phases.rebound_parameters += 1

    def _refuse_memory(self, now):
        raise FailedPrecondition(f"parameter {self._name} was given other memory (now {now}) after DistributedOptimizer was "
                                 "made; do .to(), .float(), vector_to_parameters() and the like before")

    def on_fork(self):
        """In a forked child, which shares the arena with its parent. The parameter gets a copy when the child looks at it; most
        children, as workers of a DataLoader, never do. A child cannot wait for values that had not come."""
        if self.synced < -1:
            return  # a child of a forked child inherits its state
        self.synced = _FORKED if not self.initialized or self.is_synced() else _FORKED_WITHOUT

    def _sync_forked(self):
        if self.synced == _FORKED_WITHOUT:
            raise FailedPrecondition(f"parameter {self._name}: its newest values had not come when this process was forked, and "
                                     "only the process that called init() can wait for them; call opt.synchronize() there "
                                     "before forking")
        self.leave_arena()
        self._on_child_use()
        self.synced = self.session.iteration

    def leave_arena(self):
        """Gives the parameter plain memory."""
        if self._parameter.data_ptr() in self.buffers:
            self._parameter.data = self._parameter.data.clone()


def _check_parameter(name, parameter):
    if parameter.dtype not in shadow.TYPES or parameter.device.type != "cpu" or parameter.layout != torch.strided:
        raise InvalidArgument(f"parameter {name}: got {describe(parameter)}, wanted a dense one on cpu of "
                              f"{', '.join(str(kind) for kind in shadow.TYPES)}; freeze it (requires_grad=False) to leave it out")
