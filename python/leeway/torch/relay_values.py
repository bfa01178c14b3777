"""RelayValues: the values of a parameter that its rank keeps, and the table that brings mean gradients.

The table begins with the parameter's values, so that all ranks take the root's. From the end of the first iteration on it holds
the mean gradient of the last one. The parameter stays in its own memory.
"""

import time

import torch

from leeway._leeway import checksum
from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.torch import shadow
from leeway.torch.slot import Slot, describe


class RelayValues:
    """Has the calls of TableValues that concern a table's beginning. Its values need no wait at their use."""

    __slots__ = ("table_id", "buffers", "address", "initialized", "root", "session", "checksum", "_name", "_parameter", "_elements",
                 "_phases", "_agreed", "_begun")

    def __init__(self, name, parameter, session, phases, on_child_use):
        del on_child_use  # a forked child has a parameter in memory of its own
        if shadow.needed(parameter) or parameter.device.type != "cpu" or parameter.layout != torch.strided:
            raise InvalidArgument(f"parameter {name}: got {describe(parameter)} with strides {list(parameter.stride())}, wanted a "
                                  "contiguous torch.float32 on cpu, where ranks step (apply=\"relay\")")
        slots = (Slot(session.worker, parameter), Slot(session.worker, parameter))
        self.buffers = {slot.address: slot for slot in slots}
        self.address = slots[0].address  # of the buffer in use
        self.table_id = None             # None before create_table()
        self.initialized = False         # the job has initial values of it
        self.root = 0                    # the rank whose initial values count
        self.checksum = None             # servers replace no values, so writes are free
        self.session, self._phases = session, phases
        self._name, self._parameter, self._elements = name, parameter, parameter.numel()
        self._agreed = False             # all ranks agree on the initial values
        self._begun = None               # checksum of the values of the broadcast

    @property
    def synced(self):
        return self.session.iteration  # the values are always here

    def is_synced(self):
        return True

    def sync(self):
        pass

    def create_table(self, sync, apply, optimizer, clock_group):
        first, second = self.buffers
        self.table_id = self.session.worker.create_table(
            self._name, list(self._parameter.shape), sync=sync, apply=apply, optimizer=optimizer, first=first,
            second=second, group=clock_group)

    def mean(self):
        """Waits for the mean gradient of the last iteration. Returns None if no rank gave a gradient."""
        began = time.perf_counter()
        address = self.session.worker.sync(self.table_id)
        self._phases.wait_s += time.perf_counter() - began
        if not address:
            return None
        self.address = address
        return self.buffers[address].tensor()

    def addresses(self):
        """Returns where tensors may lie that a script has read from the parameter."""
        return {*self.buffers, self._parameter.data_ptr()}

    def begin(self, root=0):
        self.initialized, self.root = True, root

    def take_broadcast(self, root):
        """Begins with the values of a broadcast. If the job goes on, the servers have a mean instead, and Lockstep brings the
        values."""
        self.begin(root)
        if not self.session.resumes:
            values = self.mean()
            self._parameter.data.copy_(values)
        self._begun = self._digest()

    def note_agreed(self):
        self._agreed = True

    def broadcast(self, lend=True):
        """Offers the parameter's values as initial ones. A later offer is ignored, as that of a job that goes on."""
        slot = self._filled()
        self.session.worker.broadcast(self.table_id, slot.address, self._elements, slot.memory if lend else None)

    def assign(self):
        """Gives the servers the parameter's values, before training begins."""
        if self._agreed:
            raise FailedPrecondition(f"assign: {self._name} is stepped on the ranks (apply=\"relay\"), and the servers have no "
                                     "parameters: make the same write on every rank, and no call")
        slot = self._filled()
        self.session.worker.assign(self.table_id, slot.address, self._elements, slot.memory)

    def read(self, even_if_known=False):
        """Returns the servers' values, before training begins, in a new tensor; None if they have nothing newer."""
        room = self._parameter.detach().clone()
        read = self.session.worker.read_values(self.table_id, room.data_ptr(), self._elements, even_if_known)
        return room if read else None

    def was_written(self):
        """Before the first gradient: did the script change the values since the broadcast?"""
        return not self.session.resumes and self._digest() != self._begun

    def check_trainable(self):
        if not self.initialized:
            raise FailedPrecondition(f"parameter {self._name} has no initial values in the job: call "
                                     "lw.broadcast_parameters(model.state_dict()) after DistributedOptimizer(...) and before "
                                     "training")

    def check_memory(self):
        pass  # any memory will do

    def check_written(self):
        pass

    def on_fork(self):
        pass

    def leave_arena(self):
        pass

    def _filled(self):
        slot = self.buffers[self.address]
        slot.tensor().copy_(self._parameter.data)
        return slot

    def _digest(self):
        data = self._parameter.data.contiguous()
        return checksum(data.data_ptr(), self._elements)
