"""Pushing: the gradients of one optimizer on their way out, iteration by iteration."""

import time

import torch

from leeway.errors import FailedPrecondition
from leeway.torch import server_optimizer


class Pushing:
    def __init__(self, optimizer, tables, session, phases):
        self._optimizer = optimizer  # for param_groups and samples as they are at the push
        self._tables = tables
        self._session = session
        self._phases = phases

    def push(self, table):
        """Lends the table's gradient to the worker, under this iteration."""
        began = time.perf_counter()
        if table.pushed:
            raise FailedPrecondition(
                f"a second gradient of {table.name} before step(): the first backward() has pushed already; put all "
                "but the last backward() under lw.no_sync(), or give DistributedOptimizer overlap=False")
        gradient = table.parameter.grad
        slot = table.gradient_slot(gradient)
        hyper = server_optimizer.hyper(self._optimizer.param_groups[table.group])
        loan = self._session.worker.update(table.table, slot.address, table.elements, hyper, self._optimizer.samples)
        table.gradients.lend(slot, loan)
        table.lent_gradient, table.lent_version = gradient, gradient._version
        table.pushed = True
        self._phases.push_s += time.perf_counter() - began

    def push_rest(self, clip_norm):
        """At step(): checks what has left, clips and pushes what has not."""
        rest = []
        for table in self._tables:
            if table.pushed:
                table.check_unchanged()
            elif table.has_gradient():
                rest.append(table)
        if clip_norm is not None and rest:
            torch.nn.utils.clip_grad_norm_([table.parameter for table in rest], clip_norm)
        # The last layer's first, as backward() would have done.
        for table in reversed(rest):
            self.push(table)

    def end_iteration(self):
        """After the clock: new gradients go to other tensors than those on loan."""
        for table in self._tables:
            if table.pushed:
                table.flip_gradient()
            table.touched = False
