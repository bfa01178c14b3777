"""TableParameter: one parameter of the model and the table it lives in.

The parameter has two buffers; the worker lands new values in the one not in use, and sync() points p.data at it at the
first use in an iteration. Autograd's saved tensors of this iteration keep the buffer they were made with. Buffers and
gradients lie in the worker's arena; torch and its users may give a tensor other memory at any time, so this looks at
every use and brings back what has left.
"""

import ctypes
import time
import warnings

import torch

from leeway._leeway import checksum
from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.torch.gradients import GradientBuffers
from leeway.torch.slot import Slot

_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)

# In which iterations writes through p.data are looked for: in the first few, then in every so many. A look reads the
# parameter twice.
_LOOKS_FIRST, _LOOKS_EVERY = 4, 64
# TableParameter.synced in a forked child: it may use the values, in memory of its own; they had not come by then.
_FORKED, _FORKED_WITHOUT = -2, -3


class TableParameter:
    __slots__ = ("name", "parameter", "group", "spec", "session", "phases", "table", "elements", "buffers", "address",
                 "gradients", "synced", "initialized", "watched", "touched", "pushed", "lent_gradient", "lent_version",
                 "lent_slot", "fresh", "fresh_gradient", "fresh_version", "unzeroed", "accumulator", "ready_hook", "on_ready",
                 "version", "root", "settled", "checksum")

    def __init__(self, name, parameter, group, spec, session, phases):
        _check_parameter(name, parameter)
        self.name = name
        self.parameter = parameter
        self.group = group            # index of its parameter group
        self.spec = spec              # of the servers' optimizer
        self.session = session
        self.phases = phases
        self.elements = parameter.numel()
        slots = (Slot(session.worker, parameter), Slot(session.worker, parameter))
        self.buffers = {slot.address: slot for slot in slots}
        self.address = slots[0].address  # of the buffer in use
        parameter.data = slots[0].tensor().copy_(parameter.data)
        self.gradients = GradientBuffers(name, parameter, session.worker, phases)
        self.table = None             # its id, once made
        self.synced = -1              # the iteration that it was synced for
        self.version = 0              # of the parameter when its values came
        self.checksum = None          # of the values when they came, if writes through p.data are looked for
        self.root = 0                 # the rank whose initial values count
        self.settled = False          # all ranks agree on its initial values
        self.initialized = False      # took part in a broadcast
        self.watched = False          # a module waits for it before its use; else step() does
        self.touched = False          # autograd gave it a gradient since the last step
        self.pushed = False           # in this iteration
        self.lent_gradient = None     # what was pushed in this iteration, and its version then
        self.lent_version = 0
        self.lent_slot = None         # where it lies in the arena
        self.fresh = None             # the slot that step() gave autograd to write into
        self.fresh_gradient = None    # its tensor, and the tensor's version then and after each accumulation on top of it
        self.fresh_version = 0
        self.unzeroed = False         # what step() left in that tensor is still in it
        self.accumulator = None       # keeps the ready hook alive
        self.ready_hook = None        # its handle
        self.on_ready = None          # what it calls

    def create(self, sync, apply, clocked_by):
        """`clocked_by`: the number of the optimizer whose steps are the table's iterations."""
        first, second = self.buffers
        self.table = self.session.worker.create_table(
            self.name, list(self.parameter.shape), sync=sync, apply=apply, optimizer=self.spec, first=first,
            second=second, group=clocked_by)

    def sync(self):
        """Waits until the table may be used in this iteration, and puts the newest values under the parameter."""
        session = self.session
        if self.synced < -1:
            self._sync_forked()
            return
        if not self.initialized:
            return
        self.check_memory()
        if self.settled and self.parameter._version != self.version:
            self._give_up_changes()
        began = time.perf_counter()
        address = session.worker.sync(self.table)
        self.phases.wait_s += time.perf_counter() - began
        self.synced = session.iteration
        if address != self.address:
            self.parameter.data = self.buffers[address].tensor()
            self.address = address
        if self.settled:
            # Those who clamp do it after every step, so looking now and then is enough.
            looks = session.iteration < _LOOKS_FIRST or session.iteration % _LOOKS_EVERY == 0
            self.checksum = checksum(address, self.elements) if looks else None

    def begin(self, root=0):
        """It has initial values in the job from here on."""
        self.initialized = True
        self.root = root
        self.version = self.parameter._version
        self.checksum = checksum(self.address, self.elements)

    def note_values(self):
        """The servers know the values that are here now."""
        self.settled = True
        self.version = self.parameter._version
        self.checksum = checksum(self.address, self.elements)

    def was_written(self):
        """Before the first gradient: are these other values than those that were broadcast?"""
        self.check_memory()
        return checksum(self.address, self.elements) != self.checksum

    def check_written(self):
        """At step(): notices what was written past the version, through p.data."""
        if self.parameter._version == self.version and checksum(self.address, self.elements) != self.checksum:
            self._give_up_changes("through .data ")
        self.checksum = None

    def _give_up_changes(self, how=""):
        """Someone has written into the parameter since its values came: the servers do not know of it."""
        self.version = self.parameter._version
        if self.session.finished:
            return  # everybody gets the final values, and knows it
        self.phases.overwritten_parameters += 1
        if self.phases.overwritten_parameters > 1:
            return
        warnings.warn(f"leeway: parameter {self.name} was written to {how}after training began (by load_state_dict, p.mul_(), "
                      "p.data.clamp_(), an Embedding with max_norm?); the servers do not know of it, and what they have replaces "
                      "it when it next changes. To clamp, give DistributedOptimizer constraint=\"clamp:-0.01,0.01\"; to set "
                      "values, call lw.assign(parameter) after the write; to swap weights for an evaluation, use a copy of the "
                      "model. Further ones are only counted", RuntimeWarning, stacklevel=2)

    def gradient_slot(self, gradient):
        """The slot with the gradient to push, checked. Autograd wrote it there if it found the tensor that the last step()
        had given to the parameter; else it is copied. The parameter keeps the gradient that it has, which may be part of
        a graph (create_graph=True)."""
        self.check_memory()
        slot = self.fresh
        if slot is None or not slot.holds(gradient):
            self._check_gradient(gradient)
            if slot is None:
                slot = self.gradients.take()
            # The first gradient is autograd's own tensor: p.grad was None, as it would be without Leeway.
            if self.fresh is not None or not self.touched:
                self.phases.copied_gradients += 1
            slot.tensor().copy_(gradient.detach())
        if not self.initialized:
            raise FailedPrecondition(f"parameter {self.name} has no initial values in the job: call "
                                     "lw.broadcast_parameters(model.state_dict()) after DistributedOptimizer(...) "
                                     "and before training")
        return slot

    def _check_gradient(self, gradient):
        if gradient.layout != torch.strided or gradient.dtype != torch.float32 or gradient.device.type != "cpu":
            raise InvalidArgument(f"gradient of {self.name}: got {_describe(gradient)}, wanted dense torch.float32 "
                                  "on cpu")
        if gradient.shape != self.parameter.shape:
            raise InvalidArgument(f"gradient of {self.name}: got shape {list(gradient.shape)}, wanted "
                                  f"{list(self.parameter.shape)}")

    def check_memory(self):
        """Puts the parameter back into its buffer if it was given other memory. What the job would not know of, other
        values or another type, is an error."""
        if self.parameter.data_ptr() != self.address:
            self._put_back()

    def _put_back(self):
        data, buffer = self.parameter.data, self.buffers[self.address].tensor()
        if (data.dtype, data.device, data.layout, data.shape) != (buffer.dtype, buffer.device, buffer.layout, buffer.shape):
            self._refuse_memory(_describe(data))
        if data.stride() != buffer.stride():
            self._refuse_memory(f"with strides {list(data.stride())}")
        if not self.settled:
            buffer.copy_(data)
        elif not _same_bits(data, buffer):
            self._refuse_memory("with other values")
        self.parameter.data = buffer
        self.phases.rebound_parameters += 1

    def _refuse_memory(self, now):
        raise FailedPrecondition(f"parameter {self.name} was given other memory (now {now}) after DistributedOptimizer was "
                                 "made; do .to(), .float(), vector_to_parameters() and the like before")

    def has_gradient(self):
        """Did it receive a gradient since the last step, from autograd or by hand?"""
        gradient = self.parameter.grad
        if gradient is None:
            return False
        if gradient is not self.fresh_gradient or (self.touched and not self.unzeroed):
            return True
        return self._written_by_hand(gradient)

    def _written_by_hand(self, gradient):
        """Is there more than zeros in what step() has given autograd, though no backward() wrote into it once it was zeroed?"""
        if not self.fresh.holds(gradient):  # p.grad.data = g, or another type and back
            return not _same_bits(gradient, self.fresh.tensor()) and not _is_zero(gradient)
        changes = gradient._version - self.fresh_version
        if changes == 0:
            self.check_zeroed()
            return False
        if _is_zero(gradient):
            return False
        if changes == 1:  # so it was not zeroed before: p.grad += g would have added to what is no gradient of anything
            raise FailedPrecondition(f"gradient of {self.name} was written in place after step() without zero_grad() "
                                     "before: step() gives a parameter another tensor, with any values in it; call "
                                     "zero_grad() first, or assign it (p.grad = g)")
        return True

    def accumulated(self):
        """Right after an accumulation of autograd: notes whether zero_grad() came before it.

        step() lent the gradient away and gave autograd another tensor, so adding to what stands there is not what torch would
        have done. zero_() and each accumulation raise a tensor's version by one.
        """
        self.touched = True
        if not self.unzeroed:
            return
        gradient = self.parameter.grad
        if gradient is self.fresh_gradient and gradient._version == self.fresh_version + 1:
            self.fresh_version += 1
        else:
            self.unzeroed = False

    def check_zeroed(self):
        """Raises if backward() came without zero_grad() since step()."""
        if self.touched and self.unzeroed:
            raise FailedPrecondition(f"gradient of {self.name} was not zeroed after step(): call zero_grad() between "
                                     "step() and backward() (to add up gradients of several batches use "
                                     "lw.no_sync())")

    def check_unchanged(self):
        """At step(): raises if the gradient was edited after it had left."""
        gradient = self.parameter.grad
        if gradient is self.lent_gradient and gradient._version == self.lent_version:
            # A tensor of autograd's own may have been written through its .data, which leaves no trace.
            slot = self.lent_slot
            if slot.holds(gradient) or _same_bits(gradient.detach(), slot.tensor()):
                return
        raise FailedPrecondition(
            f"gradient of {self.name} was changed after backward() had pushed it (by clip_grad_norm_?), so the "
            "change would be lost; give DistributedOptimizer clip_norm=... to clip, or overlap=False to push "
            "at step()")

    def flip_gradient(self):
        """After a push: autograd gets another tensor to write into, so that zero_grad() does no harm."""
        self.check_memory()
        self.fresh = self.gradients.take()
        fresh = self.fresh.tensor()
        self.parameter.grad = fresh
        self.fresh_gradient, self.fresh_version, self.unzeroed = fresh, fresh._version, True
        self.lent_gradient = self.lent_slot = None
        self.pushed = False

    def forked(self):
        """In a forked child, which shares the arena with its parent: a child that looks at the parameter gets a copy. Most,
        as workers of a DataLoader, never do. Values that the parent has yet to wait for stay out of reach."""
        if self.synced < -1:
            return  # forked by a forked one: as it was
        has_values = not self.initialized or self.synced == self.session.iteration
        self.synced = _FORKED if has_values else _FORKED_WITHOUT

    def _sync_forked(self):
        if self.synced == _FORKED_WITHOUT:
            raise FailedPrecondition(f"parameter {self.name}: its newest values had not come when this process was forked, and "
                                     "only the process that called init() can wait for them; call opt.synchronize() there "
                                     "before forking")
        self.leave_arena()
        self.synced = self.session.iteration

    def leave_arena(self):
        """Gives the parameter and its gradient memory as any tensor has."""
        parameter, gradient = self.parameter, self.parameter.grad
        if parameter.data_ptr() in self.buffers:
            parameter.data = parameter.data.clone()
        if gradient is not None and gradient is self.fresh_gradient:
            parameter.grad = gradient.clone()

    def release_gradient(self):
        """The job is over. What step() gave autograd to write into holds any values until it is zeroed, and nobody
        checks that any more."""
        gradient = self.parameter.grad
        if gradient is not None and gradient is self.fresh_gradient and gradient._version == self.fresh_version:
            self.parameter.grad = None


def _same_bits(a, b):
    """Both of torch.float32, or they are not the same. By bits: a NaN is like itself."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.is_contiguous() and b.is_contiguous():
        return _memcmp(a.data_ptr(), b.data_ptr(), a.numel() * a.element_size()) == 0  # a sixth of torch.equal's time
    return torch.equal(a.view(torch.int32), b.view(torch.int32))


def _is_zero(tensor):
    low, high = tensor.aminmax()  # a seventh of any()'s time; a NaN is not zero
    return bool(low == 0) and bool(high == 0)


def _describe(tensor):
    return f"{tensor.dtype} {str(tensor.layout).removeprefix('torch.')} on {tensor.device}"


def _check_parameter(name, parameter):
    if parameter.dtype != torch.float32 or parameter.device.type != "cpu" or parameter.layout != torch.strided:
        raise InvalidArgument(f"parameter {name}: got {_describe(parameter)}, wanted torch.float32 strided on cpu")
    if not parameter.is_contiguous():
        raise InvalidArgument(f"parameter {name}: got strides {list(parameter.stride())} for shape "
                              f"{list(parameter.shape)}, wanted a contiguous tensor (call .contiguous() before "
                              "DistributedOptimizer)")
