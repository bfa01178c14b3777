"""TableParameter: one parameter of the model and the table it lives in.

The parameter has two buffers; the worker lands new values in the one not in use, and sync() points p.data at it at the
first use in an iteration. Autograd's saved tensors of this iteration keep the buffer they were made with.
"""

import time

import torch

from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.torch.gradients import GradientBuffers


class TableParameter:
    __slots__ = ("name", "parameter", "group", "spec", "session", "phases", "table", "elements", "buffers", "address",
                 "gradients", "synced", "initialized", "watched", "touched", "pushed", "lent_gradient", "lent_version",
                 "fresh_gradient", "fresh_version", "accumulator", "ready_hook")

    def __init__(self, name, parameter, group, spec, session, phases):
        _check_parameter(name, parameter)
        self.name = name
        self.parameter = parameter
        self.group = group            # index of its parameter group
        self.spec = spec              # of the servers' optimizer
        self.session = session
        self.phases = phases
        self.elements = parameter.numel()
        buffers = (parameter.data, torch.empty_like(parameter.data))
        self.buffers = {buffer.data_ptr(): buffer for buffer in buffers}
        self.address = parameter.data_ptr()  # of the buffer in use
        self.gradients = GradientBuffers(name, session.worker, phases)
        self.table = None             # its id, once made
        self.synced = -1              # the iteration that it was synced for
        self.initialized = False      # took part in a broadcast
        self.watched = False          # a module waits for it before its use; else step() does
        self.touched = False          # autograd gave it a gradient since the last step
        self.pushed = False           # in this iteration
        self.lent_gradient = None     # what was pushed in this iteration, and its version then
        self.lent_version = 0
        self.fresh_gradient = None    # what step() gave autograd to write into, and its version then
        self.fresh_version = 0
        self.accumulator = None       # keeps the ready hook alive
        self.ready_hook = None        # its handle

    def create(self, sync, apply):
        first, second = self.buffers
        self.table = self.session.worker.create_table(
            self.name, list(self.parameter.shape), sync=sync, apply=apply, optimizer=self.spec, first=first,
            second=second)

    def sync(self):
        """Waits until the table may be used in this iteration, and puts the newest values under the parameter."""
        session = self.session
        if not self.initialized:
            return
        began = time.perf_counter()
        address = session.worker.sync(self.table)
        self.phases.wait_s += time.perf_counter() - began
        self.synced = session.iteration
        self._check_memory()
        if address != self.address:
            self.parameter.data = self.buffers[address]
            self.address = address

    def gradient(self):
        """The gradient to push, checked."""
        self._check_memory()
        gradient = self.parameter.grad
        if gradient.layout != torch.strided or gradient.dtype != torch.float32 or gradient.device.type != "cpu":
            raise InvalidArgument(f"gradient of {self.name}: got {_describe(gradient)}, wanted dense torch.float32 "
                                  "on cpu")
        if gradient.shape != self.parameter.shape:
            raise InvalidArgument(f"gradient of {self.name}: got shape {list(gradient.shape)}, wanted "
                                  f"{list(self.parameter.shape)}")
        if not self.initialized:
            raise FailedPrecondition(f"parameter {self.name} has no initial values in the job: call "
                                     "lw.broadcast_parameters(model.state_dict()) after DistributedOptimizer(...) "
                                     "and before training")
        return gradient

    def _check_memory(self):
        parameter = self.parameter
        if parameter.data_ptr() != self.address:
            raise FailedPrecondition(
                f"parameter {self.name} was given other memory (now {_describe(parameter)}) after "
                "DistributedOptimizer was made; do .to(), .float(), share_memory() and the like before")

    def has_gradient(self):
        """Did it receive a gradient since the last step, from autograd or by hand?"""
        gradient = self.parameter.grad
        return gradient is not None and (self.touched or gradient is not self.fresh_gradient)

    def check_zeroed(self):
        """Right after autograd's first accumulation since step(): raises if zero_grad() was forgotten.

        step() lent the gradient away and gave autograd another tensor, so adding to what stands there is not what
        torch would have done. zero_() and each accumulation raise a tensor's version by one.
        """
        gradient = self.parameter.grad
        if gradient is self.fresh_gradient and gradient._version == self.fresh_version + 1:
            raise FailedPrecondition(f"gradient of {self.name} was not zeroed after step(): call zero_grad() between "
                                     "step() and backward() (to add up gradients of several batches use "
                                     "lw.no_sync())")

    def check_unchanged(self):
        """At step(): raises if the gradient was edited after it had left."""
        gradient = self.parameter.grad
        if gradient is not self.lent_gradient or gradient._version != self.lent_version:
            raise FailedPrecondition(
                f"gradient of {self.name} was changed after backward() had pushed it (by clip_grad_norm_?), so the "
                "change would be lost; give DistributedOptimizer clip_norm=... to clip, or overlap=False to push "
                "at step()")

    def flip_gradient(self):
        """After a push: autograd gets another tensor to write into, so that zero_grad() does no harm."""
        fresh = self.gradients.take(self.parameter)
        self.parameter.grad = fresh
        self.fresh_gradient, self.fresh_version = fresh, fresh._version
        self.lent_gradient = None
        self.pushed = False

    def release_gradient(self):
        """The job is over. What step() gave autograd to write into holds any values until it is zeroed, and nobody
        checks that any more."""
        gradient = self.parameter.grad
        if gradient is not None and gradient is self.fresh_gradient and gradient._version == self.fresh_version:
            self.parameter.grad = None


def _describe(tensor):
    return f"{tensor.dtype} {str(tensor.layout).removeprefix('torch.')} on {tensor.device}"


def _check_parameter(name, parameter):
    if parameter.dtype != torch.float32 or parameter.device.type != "cpu" or parameter.layout != torch.strided:
        raise InvalidArgument(f"parameter {name}: got {_describe(parameter)}, wanted torch.float32 strided on cpu")
    if not parameter.is_contiguous():
        raise InvalidArgument(f"parameter {name}: got strides {list(parameter.stride())} for shape "
                              f"{list(parameter.shape)}, wanted a contiguous tensor (call .contiguous() before "
                              "DistributedOptimizer)")
