"""Gradients on loan. A pushed gradient belongs to the worker until it needs it no more; meanwhile autograd writes
into another tensor. All of them lie in the arena."""

import warnings

from leeway.errors import Cancelled, DeadlineExceeded, Fenced, LeewayError, NotFound, ProtocolError, Unavailable
from leeway.torch.arena_gradient import ArenaGradient
from leeway.torch.slot import Slot

# As many pushes of a block as the worker keeps without a verdict: more buffers would only hold what must wait anyway.
LENT_MAX = 4
# Errors of the job as a whole; every other error of a push is about that push.
_FATAL = (Cancelled, DeadlineExceeded, Fenced, ProtocolError, Unavailable)


class _Lent:
    __slots__ = ("slot", "loan", "settled")

    def __init__(self, slot, loan):
        self.slot, self.loan, self.settled = slot, loan, False


class GradientBuffers:
    """The slots for gradients of one parameter: those on loan, oldest first, and at most one spare."""

    def __init__(self, name, parameter, worker, phases):
        self._name = name
        self._parameter = parameter
        self._worker = worker
        self._phases = phases
        self._lent = []
        self._spare = None

    def lend(self, slot, loan):
        """What is in `slot` was pushed; it must not be written before `loan` is over."""
        self._lent.append(_Lent(slot, loan))

    def take(self):
        """A slot for the next gradient, with any values in it."""
        self.collect()
        if len(self._lent) >= LENT_MAX:
            self._phases.gradient_waits += 1
            self._settle(self._lent[0])
            self.collect()
        spare, self._spare = self._spare, None
        return Slot(self._worker, self._parameter, ArenaGradient) if spare is None else spare

    def collect(self):
        """Takes back what the worker is done with; never waits. A send under way may outlast the verdict."""
        lent = self._lent
        while lent and lent[0].loan.released() and self._worker.done(lent[0].loan.ticket):
            oldest = lent.pop(0)
            self._settle(oldest)
            if self._spare is None:
                self._spare = oldest.slot

    def _settle(self, lent):
        """Waits for the outcome of a push. A refused one is counted and said once; training goes on."""
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
