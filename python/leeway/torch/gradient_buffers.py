"""GradientBuffers: the gradients of one parameter that are on loan to the worker.

A pushed gradient belongs to the worker until the worker drops its pin. Autograd writes into another tensor meanwhile. All of
these tensors lie in the arena.
"""

import warnings

from leeway.errors import Cancelled, DeadlineExceeded, Fenced, LeewayError, NotFound, ProtocolError, Unavailable
from leeway.torch.arena_gradient import ArenaGradient
from leeway.torch.slot import Slot

# The worker keeps as many pushes of a block without a verdict. More buffers would only hold pushes that must wait.
LENT_MAX = 4
# These errors concern the whole job; any other error of a push concerns that push alone.
_FATAL = (Cancelled, DeadlineExceeded, Fenced, ProtocolError, Unavailable)


class _Lent:
    __slots__ = ("slot", "loan", "settled")

    def __init__(self, slot, loan):
        self.slot, self.loan, self.settled = slot, loan, False


class GradientBuffers:
    """Holds the slots on loan, oldest first, and at most one spare slot."""

    def __init__(self, name, like, worker, phases):
        self._name = name
        self._like = like
        self._worker = worker
        self._phases = phases
        self._lent = []
        self._spare = None

    def lend(self, slot, loan):
        """A push has lent `slot`: nobody may write into it before `loan` ends."""
        self._lent.append(_Lent(slot, loan))

    def take(self):
        """Returns a slot for the next gradient, with any values in it. Waits if too many are on loan."""
        self.collect()
        if len(self._lent) >= LENT_MAX:
            self._phases.gradient_waits += 1
            self._settle(self._lent[0])
            self.collect()
        spare, self._spare = self._spare, None
        return Slot(self._worker, self._like, ArenaGradient) if spare is None else spare

    def collect(self):
        """Takes back the slots that the worker has released; never waits. A send may outlast the verdict of its push."""
        lent = self._lent
        while lent and lent[0].loan.released() and self._worker.done(lent[0].loan.ticket):
            oldest = lent.pop(0)
            self._settle(oldest)
            if self._spare is None:
                self._spare = oldest.slot

    def _settle(self, lent):
        """Waits for the outcome of a push. Counts a refused push and warns of the first; training goes on."""
        if lent.settled:
            return
        lent.settled = True
        try:
            self._worker.wait(lent.loan.ticket)
        except NotFound:
            pass  # the worker has forgotten the oldest outcomes
        except _FATAL:
            raise
        except LeewayError as error:
            self._phases.refused += 1
            if self._phases.refused == 1:
                warnings.warn(f"leeway: a gradient of {self._name} was refused and counts as absent ({error}); "
                              "further ones are only counted", RuntimeWarning, stacklevel=2)
