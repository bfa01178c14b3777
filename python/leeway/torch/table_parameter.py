"""TableParameter: one parameter of the model and the table it lives in."""

from leeway.torch import shadow
from leeway.torch.converted_gradient import ConvertedGradient
from leeway.torch.table_gradient import TableGradient
from leeway.torch.table_values import TableValues


class TableParameter:
    __slots__ = ("name", "parameter", "group", "spec", "elements", "values", "gradient")

    def __init__(self, name, parameter, group, spec, session, phases, values=TableValues):
        """`values` is the class of its values."""
        self.name, self.parameter = name, parameter
        self.group = group            # index of its parameter group
        self.spec = spec              # of the servers' optimizer
        self.elements = parameter.numel()
        kind = ConvertedGradient if shadow.needed(parameter) else TableGradient
        self.gradient = kind(name, parameter, session.worker, phases)
        # A forked child shares the arena with its parent, and must write into neither values nor gradient.
        self.values = values(name, parameter, session, phases, on_child_use=self.gradient.leave_arena)

    def close(self, exiting):
        """The job is over: the parameter and its gradient are plain tensors again."""
        self.gradient.release()
        if not exiting:
            self.values.leave_arena()
            self.gradient.leave_arena()
