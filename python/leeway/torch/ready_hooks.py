"""ReadyHooks: hooks behind autograd's accumulation, where p.grad has its final value.

They fire in the order of backward(), last layer first: once per backward() and parameter, never for an unused parameter.
"""

import weakref

import torch


class ReadyHooks:
    """Calls optimizer.on_gradient_ready(table) as long as the optimizer lives."""

    def __init__(self, optimizer, tables):
        self._optimizer = weakref.ref(optimizer)
        self._hooked = {}  # table -> the node with the hook, and the hook's handle
        for table in tables:
            self.renew(table)

    def renew(self, table):
        """Hooks the node that adds up the gradient. A parameter has a new node after a change of its type."""
        parameter = table.parameter
        if not parameter.requires_grad:
            return
        with torch.enable_grad():
            node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
        before, handle = self._hooked.get(table, (None, None))
        if node is before:
            return
        if handle is not None:
            handle.remove()
        # Without a reference to the node torch makes a new one, which has no hook.
        self._hooked[table] = node, node.register_hook(self._hook(table))

    def remove(self):
        for _, handle in self._hooked.values():
            handle.remove()
        self._hooked.clear()

    def _hook(self, table):
        reference = self._optimizer

        def fire(*_):
            optimizer = reference()
            if optimizer is not None:
                optimizer.on_gradient_ready(table)

        return fire
