"""TableGradient: the gradient of one parameter, in p.grad, and the loan of it that this iteration has pushed.

A pushed gradient is on loan to the worker, so step() gives autograd a fresh tensor to write into.
"""

import torch

from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.torch.gradient_buffers import GradientBuffers
from leeway.torch.slot import describe


class TableGradient:
    __slots__ = ("buffers", "fresh", "touched", "pushed", "_name", "_parameter", "_phases", "_fresh_gradient", "_fresh_version",
                 "_unzeroed")

    def __init__(self, name, parameter, worker, phases, like=None):
        """`like` has the shape and strides of the table; None: the parameter has them."""
        self._name, self._parameter, self._phases = name, parameter, phases
        self.buffers = GradientBuffers(name, parameter if like is None else like, worker, phases)
        self.touched = False          # autograd has accumulated since the last step
        self.fresh = None             # the slot that step() gave autograd to write into
        self._fresh_gradient = None   # its tensor
        self._fresh_version = 0       # of that tensor at step(), plus accumulations on top of values that nobody zeroed
        self._unzeroed = False        # nobody has zeroed that tensor since step()
        self.pushed = None            # in this iteration: the gradient, its version, its slot; None before the push

    def slot_to_push(self):
        """Checks the gradient and returns the slot that holds it.

        Autograd has written it there if it found the tensor of the last step(); else this copies it. The parameter keeps its
        gradient, which may be part of a graph (create_graph=True).
        """
        gradient, slot = self._parameter.grad, self.fresh
        if slot is None or not slot.holds(gradient):
            dense = self.dense_to_push()
            if slot is None:
                slot = self.buffers.take()
            # The first gradient is autograd's own tensor, and no reason to count: p.grad was None.
            if self.fresh is not None or not self.touched:
                self._phases.copied_gradients += 1
            slot.tensor().copy_(dense)
        return slot

    def note_pushed(self, slot):
        gradient = self._parameter.grad
        self.pushed = gradient, gradient._version, slot

    def dense_to_push(self):
        if self._parameter.grad.layout != torch.strided:
            self._phases.note_sparse(self._name)
        return self.dense()

    def dense(self):
        """Checks the gradient and returns it without its graph; a sparse one (Embedding(sparse=True)) is made dense."""
        gradient, parameter = self._parameter.grad.detach(), self._parameter
        if gradient.shape != parameter.shape:
            raise InvalidArgument(f"gradient of {self._name}: got shape {list(gradient.shape)}, wanted {list(parameter.shape)}")
        if gradient.layout == torch.sparse_coo:
            gradient = gradient.to_dense()
        if gradient.dtype != parameter.dtype or gradient.device.type != "cpu" or gradient.layout != torch.strided:
            raise InvalidArgument(f"gradient of {self._name}: got {describe(gradient)}, wanted dense {parameter.dtype} on cpu")
        return gradient

    def is_present(self):
        """Did autograd or the script give a gradient since the last step?"""
        gradient = self._parameter.grad
        if gradient is None:
            return False
        if gradient is not self._fresh_gradient or (self.touched and not self._unzeroed):
            return True
        return self._written_by_hand(gradient)

    def _written_by_hand(self, gradient):
        """Does the fresh tensor hold more than zeros, though no backward() has written into it since zero_grad()?"""
        if not self.fresh.holds(gradient):  # p.grad.data = g, or another type and back
            return not self.fresh.equals(gradient) and not is_zero(gradient)
        changes = gradient._version - self._fresh_version
        if changes == 0:
            self.check_zeroed()
            return False
        if is_zero(gradient):
            return False
        if changes == 1:  # without zero_grad(), so that p.grad += g has added to meaningless values
            raise FailedPrecondition(f"gradient of {self._name} was written in place after step() without zero_grad() "
                                     "before: step() gives a parameter another tensor, with any values in it; call "
                                     "zero_grad() first, or assign it (p.grad = g)")
        return True

    def on_accumulated(self):
        """Autograd has just accumulated: notes whether zero_grad() came before.

        step() gave autograd another tensor with any values in it, and a sum on top of them is not the sum that torch makes.
        zero_() and each accumulation raise a tensor's version by one.
        """
        self.touched = True
        if not self._unzeroed:
            return
        gradient = self._parameter.grad
        if gradient is self._fresh_gradient and gradient._version == self._fresh_version + 1:
            self._fresh_version += 1
        else:
            self._unzeroed = False

    def check_zeroed(self):
        """Raises if backward() came without zero_grad() since step()."""
        if self.touched and self._unzeroed:
            raise FailedPrecondition(f"gradient of {self._name} was not zeroed after step(): call zero_grad() between "
                                     "step() and backward() (to add up gradients of several batches use "
                                     "lw.no_sync())")

    def check_unchanged(self):
        """At step(): raises if the script has changed the gradient since its push."""
        pushed, version, slot = self.pushed
        gradient = self._parameter.grad
        # A write through .data of autograd's own tensor leaves its version as it was: compare the bits.
        if gradient is not pushed or gradient._version != version or not (slot.holds(gradient) or self.same_bits(slot)):
            raise FailedPrecondition(
                f"gradient of {self._name} was changed after backward() had pushed it (by clip_grad_norm_?), so the "
                "change would be lost; give DistributedOptimizer clip_norm=... to clip, or overlap=False to push "
                "at step()")

    def same_bits(self, slot):
        """Does the slot hold the bits of the gradient?"""
        return slot.equals(self.dense())

    def end_iteration(self):
        """After a push or an accumulation. A push gives autograd another tensor: zero_grad() must not write into the one on
        loan."""
        self.touched = False
        if self.pushed is None:
            return
        self.fresh = self.buffers.take()
        fresh = self.fresh.tensor()
        self._parameter.grad = fresh
        self._fresh_gradient, self._fresh_version, self._unzeroed = fresh, fresh._version, True
        self.pushed = None

    def leave_arena(self):
        """Gives the gradient plain memory."""
        gradient = self._parameter.grad
        if gradient is not None and gradient is self._fresh_gradient:
            self._parameter.grad = gradient.clone()

    def release(self):
        """The job is over: takes the fresh tensor away, unless the script has written into it. It holds any values until
        zero_grad(), and no check is left to notice."""
        gradient = self._parameter.grad
        if gradient is not None and gradient is self._fresh_gradient and gradient._version == self._fresh_version:
            self._parameter.grad = None


def is_zero(tensor):
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    low, high = tensor.aminmax()  # a seventh of any()'s time; a NaN is not zero
    return bool(low == 0) and bool(high == 0)
