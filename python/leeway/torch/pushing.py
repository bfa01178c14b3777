"""Pushing: pushes the gradients of one optimizer, iteration by iteration.

Every push wakes the worker's I/O thread, which costs more than sending a small gradient. So Pushing holds small gradients
back: until they are HELD_BYTES_MAX together, or until as many are ready as the backward pass before had. It holds none back
that would wait for long: the pass before tells how long the next gradient takes.
"""

import time

from leeway.errors import FailedPrecondition
from leeway.torch.first_gradients import FirstGradients

# The most bytes of held gradients. A wake-up takes some 10 microseconds, as long as the copy of this many bytes.
HELD_BYTES_MAX = 64 << 10
# The longest time that a gradient waits for the next one: a hundred wake-ups.
HELD_S_MAX = 1e-3


class Pushing:
    def __init__(self, optimizer, tables, session, phases, ready_hooks, clipping):
        self._optimizer = optimizer  # for the param_groups and samples of the moment
        self._tables = tables
        self._session = session
        self._phases = phases
        self._ready_hooks = ready_hooks
        self._clipping = clipping
        self._held = []              # table, slot, hyper-parameters, samples and time of each, in order
        self._held_bytes = 0
        self._last, self._last_at = None, 0.0  # the table of the last gradient in this iteration, and its time
        self._gaps = {}              # table -> seconds from its gradient to the next one, in the passes before
        self._pushed = 0             # in this iteration
        self._pushed_before = 0      # in the one before
        self._first = FirstGradients(session.worker) if not session.optimizers else None

    def push(self, table):
        """Pushes the table's gradient of this iteration, now or with others."""
        began = time.perf_counter()
        gradient, values = table.gradient, table.values
        if gradient.pushed:
            refuse_second(table)
        values.check_trainable()
        self._clipping.clip_one(table.parameter)
        slot = gradient.slot_to_push()
        hyper = self._optimizer.hyper(table)
        if self._first is not None:
            self._first.add(slot.address, table.elements)
        self._held.append((table, slot, hyper, self._optimizer.samples, began))
        self._held_bytes += 4 * table.elements
        gradient.note_pushed(slot)
        self._pushed += 1
        if self._last is not None:
            # A long gap counts for a few passes: a wake-up too many costs less than a long wait.
            self._gaps[self._last] = max(began - self._last_at, self._gaps.get(self._last, 0.0) / 2)
        self._last, self._last_at = table, began
        waits_long = table in self._gaps and self._gaps[table] > HELD_S_MAX
        if self._held_bytes >= HELD_BYTES_MAX or self._pushed == self._pushed_before or waits_long:
            self._send()
        self._phases.push_s += time.perf_counter() - began

    def push_rest(self):
        """At step(): checks the gradients that backward() has pushed, then clips and pushes the others."""
        rest = []
        for table in self._tables:
            gradient = table.gradient
            if gradient.pushed:
                gradient.check_unchanged()
            elif gradient.is_present():
                if not gradient.touched:  # the script assigned it, or gave the parameter another type and back
                    self._ready_hooks.renew(table)
                rest.append(table)
        self._clipping.clip_all([table.parameter for table in rest])
        # The last layer comes first, as in backward().
        for table in reversed(rest):
            self.push(table)

    def send_held(self):
        """Before the clock: sends all held gradients."""
        if self._held:
            began = time.perf_counter()
            self._send()
            self._phases.push_s += time.perf_counter() - began

    def end_iteration(self):
        """After the clock: autograd writes new gradients into tensors that are not on loan."""
        self._pushed_before, self._pushed = self._pushed, 0
        self._last = None
        if self._first is not None:
            self._first.report()
            self._first = None
        for table in self._tables:
            gradient = table.gradient
            if gradient.pushed:
                table.values.check_memory()
            if gradient.pushed or gradient.touched:
                gradient.end_iteration()

    def _send(self):
        held, self._held, self._held_bytes = self._held, [], 0
        # One call for all: the I/O thread takes this core when it wakes, and would send each gradient by itself.
        loans = self._session.worker.push_all([(table.values.table_id, slot.address, table.elements, hyper, samples, ready)
                                                 for table, slot, hyper, samples, ready in held])
        for (table, slot, *_), loan in zip(held, loans):
            table.gradient.buffers.lend(slot, loan)


def refuse_second(table):
    """The second backward() in an iteration has come to a table whose gradient leaves in backward()."""
    raise FailedPrecondition(
        f"a second gradient of {table.name} before step(): the first backward() has pushed already. If the script "
        "calls step() between the two, it is that of the torch optimizer: keep what DistributedOptimizer returns "
        "(opt = lw.DistributedOptimizer(opt, ...)). If not, put all but the last backward() under lw.no_sync(), "
        "or give DistributedOptimizer overlap=False")
