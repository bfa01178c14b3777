""""The gradient of a parameter is ready": a hook behind autograd's accumulation, where p.grad has its final value.

Fires in the order of backward, last layer first, once per backward and parameter, never for an unused one.
"""

import weakref


def install(optimizer, tables):
    """Calls optimizer.gradient_ready(table) for each table, as long as the optimizer lives."""
    reference = weakref.ref(optimizer)
    for table in tables:
        parameter = table.parameter
        # The node must stay referenced, or torch makes a new one without the hook.
        table.accumulator = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
        table.ready_hook = table.accumulator.register_hook(_hook(reference, table))


def remove(tables):
    for table in tables:
        table.ready_hook.remove()
        table.accumulator = None


def _hook(reference, table):
    def fire(*_):
        optimizer = reference()
        if optimizer is not None:
            optimizer.gradient_ready(table)

    return fire
