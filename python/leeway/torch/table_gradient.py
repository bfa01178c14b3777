"""TableGradient: what is in p.grad of one parameter, and what of it was pushed.

A pushed gradient is on loan to the worker, so step() gives autograd a fresh tensor to write into.
"""

from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.torch.gradient_buffers import GradientBuffers
from leeway.torch.slot import describe, fits


class TableGradient:
    __slots__ = ("buffers", "fresh", "touched", "_name", "_parameter", "_phases", "_fresh_gradient", "_fresh_version",
                 "_unzeroed", "_pushed")

    def __init__(self, name, parameter, worker, phases):
        self._name = name
        self._parameter = parameter
        self._phases = phases
        self.buffers = GradientBuffers(name, parameter, worker, phases)
        self.touched = False          # autograd gave it a gradient since the last step
        self.fresh = None             # the slot that step() gave autograd to write into
        self._fresh_gradient = None   # its tensor, and the tensor's version then and after each accumulation on top of it
        self._fresh_version = 0
        self._unzeroed = False        # what step() left in that tensor is still in it
        self._pushed = None           # in this iteration: the gradient, its version then, its slot

    @property
    def pushed(self):
        """Was it pushed in this iteration?"""
        return self._pushed is not None

    def begin_push(self):
        """The slot with the gradient to push, checked. Autograd wrote it there if it found the tensor that the last step()
        had given to the parameter; else it is copied. The parameter keeps the gradient that it has, which may be part of
        a graph (create_graph=True)."""
        gradient, slot = self._parameter.grad, self.fresh
        if slot is None or not slot.holds(gradient):
            self._check(gradient)
            if slot is None:
                slot = self.buffers.take()
            # The first gradient is autograd's own tensor: p.grad was None, as it would be without Leeway.
            if self.fresh is not None or not self.touched:
                self._phases.copied_gradients += 1
            slot.tensor().copy_(gradient.detach())
        self._pushed = gradient, gradient._version, slot
        return slot

    def _check(self, gradient):
        if not fits(gradient):
            raise InvalidArgument(f"gradient of {self._name}: got {describe(gradient)}, wanted dense torch.float32 "
                                  "on cpu")
        if gradient.shape != self._parameter.shape:
            raise InvalidArgument(f"gradient of {self._name}: got shape {list(gradient.shape)}, wanted "
                                  f"{list(self._parameter.shape)}")

    def is_present(self):
        """Did it come since the last step, from autograd or by hand?"""
        gradient = self._parameter.grad
        if gradient is None:
            return False
        if gradient is not self._fresh_gradient or (self.touched and not self._unzeroed):
            return True
        return self._written_by_hand(gradient)

    def _written_by_hand(self, gradient):
        """Is there more than zeros in what step() has given autograd, though no backward() wrote into it once it was zeroed?"""
        if not self.fresh.holds(gradient):  # p.grad.data = g, or another type and back
            return not self.fresh.equals(gradient) and not _is_zero(gradient)
        changes = gradient._version - self._fresh_version
        if changes == 0:
            self.check_zeroed()
            return False
        if _is_zero(gradient):
            return False
        if changes == 1:  # so it was not zeroed before: p.grad += g would have added to what is no gradient of anything
            raise FailedPrecondition(f"gradient of {self._name} was written in place after step() without zero_grad() "
                                     "before: step() gives a parameter another tensor, with any values in it; call "
                                     "zero_grad() first, or assign it (p.grad = g)")
        return True

    def on_accumulated(self):
        """Right after an accumulation of autograd: notes whether zero_grad() came before it.

        step() lent the gradient away and gave autograd another tensor, so adding to what stands there is not what torch would
        have done. zero_() and each accumulation raise a tensor's version by one.
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
        """At step(): raises if the gradient was edited after it had left."""
        pushed, version, slot = self._pushed
        gradient = self._parameter.grad
        # A tensor of autograd's own may have been written through its .data, which leaves no trace.
        if gradient is not pushed or gradient._version != version or not (slot.holds(gradient) or slot.equals(gradient.detach())):
            raise FailedPrecondition(
                f"gradient of {self._name} was changed after backward() had pushed it (by clip_grad_norm_?), so the "
                "change would be lost; give DistributedOptimizer clip_norm=... to clip, or overlap=False to push "
                "at step()")

    def end_iteration(self):
        """After a push autograd gets another tensor to write into, so that zero_grad() does no harm."""
        self.touched = False
        if self._pushed is None:
            return
        self.fresh = self.buffers.take()
        fresh = self.fresh.tensor()
        self._parameter.grad = fresh
        self._fresh_gradient, self._fresh_version, self._unzeroed = fresh, fresh._version, True
        self._pushed = None

    def leave_arena(self):
        """Gives the gradient memory as any tensor has."""
        gradient = self._parameter.grad
        if gradient is not None and gradient is self._fresh_gradient:
            self._parameter.grad = gradient.clone()

    def release(self):
        """The job is over. What step() gave autograd to write into holds any values until it is zeroed, and nobody
        checks that any more."""
        gradient = self._parameter.grad
        if gradient is not None and gradient is self._fresh_gradient and gradient._version == self._fresh_version:
            self._parameter.grad = None


def _is_zero(tensor):
    low, high = tensor.aminmax()  # a seventh of any()'s time; a NaN is not zero
    return bool(low == 0) and bool(high == 0)
