""""The gradient of a parameter is ready": a hook behind autograd's accumulation, where p.grad has its final value.

Fires in the order of backward, last layer first, once per backward and parameter, never for an unused one.
"""

import weakref

import torch


def install(optimizer, tables):
    """Calls optimizer.gradient_ready(table) for each table, as long as the optimizer lives."""
    reference = weakref.ref(optimizer)
    for table in tables:
        table.on_ready = _hook(reference, table)
        renew(table)


def renew(table):
    """Hooks the node that autograd adds the gradient up in. A parameter that was given another type has a new one."""
    parameter = table.parameter
    if not parameter.requires_grad:
        return
    with torch.enable_grad():
        node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
    if node is table.accumulator:
        return
    if table.ready_hook is not None:
        table.ready_hook.remove()
    # The node must stay referenced, or torch makes a new one without the hook.
    table.accumulator, table.ready_hook = node, node.register_hook(table.on_ready)


def remove(tables):
    for table in tables:
        table.ready_hook.remove()
        table.accumulator = table.on_ready = None


def _hook(reference, table):
    def fire(*_):
        optimizer = reference()
        if optimizer is not None:
            optimizer.gradient_ready(table)

    return fire
