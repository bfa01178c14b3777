"""The optimizer's state: converts between the servers' layout and torch's, for state_dict() and load_state_dict().

The servers keep arrays per table and count their steps; torch keeps a dict per parameter (exp_avg, momentum_buffer, step).
"""

import inspect

import torch

from leeway.errors import InvalidArgument
from leeway.torch import shadow

# torch's names of the servers' arrays, in the servers' order.
_ARRAYS = {"sgd": (), "momentum": ("momentum_buffer",), "nesterov": ("momentum_buffer",), "lars": ("momentum_buffer",),
           "adam": ("exp_avg", "exp_avg_sq"), "adamw": ("exp_avg", "exp_avg_sq"), "adagrad": ("sum",)}


def arrays(spec):
    """Returns torch's names of the arrays that servers keep for a table with this optimizer."""
    name, _, options = spec.partition("+")[0].partition(":")
    if name == "rmsprop":
        return ("square_avg", *(("grad_avg",) if "centered=1" in options else ()),
                *(("momentum_buffer",) if "momentum=1" in options else ()))
    return _ARRAYS[name]


def read(worker, table):
    """Returns the servers' arrays of one table by torch's names, and how often the optimizer has run."""
    parameter = table.parameter
    slots = {name: torch.empty(parameter.shape, dtype=torch.float32) for name in arrays(table.spec)}
    steps = worker.read_state(table.values.table_id, [slot.data_ptr() for slot in slots.values()], table.elements)
    if shadow.needed(parameter):  # torch keeps them as the parameter is
        slots = {name: torch.empty_like(parameter, requires_grad=False).copy_(slot) for name, slot in slots.items()}
    return slots, steps


def read_as_torch(worker, table, kind, group):
    """Returns the state of one table as torch's `kind` keeps it, or None where torch keeps no state."""
    slots, steps = read(worker, table)
    example = _example(kind, group, stepped=steps > 0)
    if example is None:
        return None
    slots["step"] = _like(example.get("step"), steps)
    return {name: slots.get(name) for name in example}


def check(table, state):
    """Raises unless the servers can take this state of one parameter."""
    for name in arrays(table.spec):
        array = state.get(name)
        if array is None:
            continue
        if not isinstance(array, torch.Tensor) or array.shape != table.parameter.shape:
            got = list(array.shape) if isinstance(array, torch.Tensor) else type(array).__name__
            raise InvalidArgument(f"load_state_dict(): {name} of {table.name}: got {got}, wanted "
                                  f"{list(table.parameter.shape)}: the state is of another model")
        if not array.isfinite().all():
            raise InvalidArgument(f"load_state_dict(): {name} of {table.name}: has a NaN or an infinity, wanted finite values")


def steps_of(state):
    """Returns how often the optimizer has run. SGD does not count, but has a buffer after its first run: 1."""
    return int(state["step"]) if "step" in state else 1


def is_empty(table, state):
    """Is this the state of a fresh table? True before the first run, and where torch keeps no array."""
    names = arrays(table.spec)
    return not names or steps_of(state) == 0 or any(state.get(name) is None for name in names)


def write(worker, table, state):
    """Gives the servers the state of one table."""
    slots = [state[name].detach().to(torch.float32).contiguous() for name in arrays(table.spec)]
    worker.write_state(table.values.table_id, steps_of(state), [slot.data_ptr() for slot in slots], table.elements)


# These options only make a step faster. On a CPU torch refuses some of them.
_SPEED_OPTIONS = {"foreach", "fused", "capturable"}


def _example(kind, group, stepped):
    """Returns the state that torch keeps of a one-element parameter in this group, before or after its first step. It differs
    by torch's version: a step is a number or a tensor, SGD without momentum keeps a None or nothing."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    known = inspect.signature(kind.__init__).parameters.keys() - _SPEED_OPTIONS - {"params"}
    optimizer = kind([parameter], **{name: value for name, value in group.items() if name in known})
    if stepped:
        parameter.grad = torch.zeros(1)
        optimizer.step()
    return dict(optimizer.state[parameter]) if parameter in optimizer.state else None


def _like(example, steps):
    return torch.tensor(steps, dtype=example.dtype) if isinstance(example, torch.Tensor) else steps
