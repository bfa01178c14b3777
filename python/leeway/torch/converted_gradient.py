"""ConvertedGradient: the gradient of a parameter with another type or order of memory than its table: see shadow.py.

Every push copies it into a slot. So p.grad is never on loan, and stays autograd's own tensor as in plain torch.
"""

from leeway.torch import shadow
from leeway.torch.table_gradient import TableGradient, is_zero


class ConvertedGradient(TableGradient):
    __slots__ = ("_kept", "_kept_version")

    def __init__(self, name, parameter, worker, phases):
        super().__init__(name, parameter, worker, phases, shadow.like_table(parameter))
        self._kept, self._kept_version = None, 0  # the gradient when the last iteration ended

    def slot_to_push(self):
        gradient = self.dense_to_push()
        slot = self.buffers.take()
        slot.tensor().copy_(gradient)
        return slot

    def is_present(self):
        gradient = self._parameter.grad
        if gradient is None:
            return False
        if self.touched:
            return True
        written = gradient is not self._kept or gradient._version != self._kept_version
        return written and not is_zero(gradient)

    def on_accumulated(self):
        self.touched = True

    def check_zeroed(self):
        """Without zero_grad() gradients add up, as in plain torch."""

    def same_bits(self, slot):
        return slot.equals(self.dense().float().contiguous())

    def end_iteration(self):
        self.touched, self.pushed = False, None
        gradient = self._parameter.grad
        self._kept, self._kept_version = gradient, 0 if gradient is None else gradient._version

    def leave_arena(self):
        """The gradient has plain memory already."""

    def release(self):
        """The gradient is the script's already."""
