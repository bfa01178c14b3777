"""UseHooks: syncs a table at the first use of its parameter in an iteration.

Two places see every usual use. One is the forward call of a module (an LSTM reads its weights past its attributes). The other
is the lookup of a parameter in its module (F.linear(x, self.l.weight), state_dict(), parameters()). One global forward hook
finds the modules at their first call, so that the user gives named_parameters() and nothing else.
"""

import copy
import weakref
from collections import OrderedDict

import torch
from torch.nn.modules.module import register_module_forward_pre_hook


class WatchedParameters(OrderedDict):
    """Stands in for module._parameters; a lookup syncs the table. Copies and pickles are plain."""

    def __init__(self, parameters, values):
        super().__init__(parameters)
        self.watched = values  # name -> TableValues

    def __getitem__(self, name):
        values = self.watched.get(name)
        if values is not None and values.synced != values.session.iteration:
            values.sync()
        return super().__getitem__(name)

    def items(self):
        self.sync()
        return super().items()

    def values(self):
        self.sync()
        return super().values()

    def sync(self):
        for values in self.watched.values():
            if values.synced != values.session.iteration:
                values.sync()

    def plain(self):
        return OrderedDict(super().items())

    def __deepcopy__(self, memo):
        self.sync()
        return copy.deepcopy(self.plain(), memo)

    def __copy__(self):
        self.sync()
        return self.plain()

    def __reduce__(self):
        self.sync()
        return self.plain().__reduce__()


class UseHooks:
    """Watches the modules that hold any of `tables` (id of the parameter -> TableParameter)."""

    def __init__(self, tables, before_training):
        """A forward pass in training mode of a module with such parameters calls `before_training`, until that returns True."""
        self._tables = tables
        self._before_training = before_training
        self._seen = weakref.WeakSet()
        self._watched = weakref.WeakSet()
        self._watched_tables = set()
        self._handle = register_module_forward_pre_hook(self._before_forward)

    def add(self, tables):
        """Watches the modules that hold any of these too."""
        self._tables.update(tables)
        self._seen.clear()  # modules without a table may have one now
        for module in list(self._watched):
            self._watch(module)

    def _before_forward(self, module, inputs):
        del inputs
        parameters = module.__dict__.get("_parameters")
        if self._before_training is not None and module.training and torch.is_grad_enabled():
            if any(id(parameter) in self._tables for parameter in module.parameters()) and self._before_training():
                self._before_training = None
        if type(parameters) is WatchedParameters:
            parameters.sync()
        elif not isinstance(parameters, dict):
            self._sync_all_of(module)
        elif module not in self._seen:
            for inner in module.modules():
                self._watch(inner)
            parameters = module.__dict__["_parameters"]
            if type(parameters) is WatchedParameters:
                parameters.sync()

    def _sync_all_of(self, module):
        """Syncs a module of TorchScript, which keeps its parameters elsewhere and calls its inner modules past all hooks."""
        for parameter in module.parameters():
            table = self._tables.get(id(parameter))
            if table is not None:
                table.values.sync()

    def _watch(self, module):
        if module in self._seen:
            return
        self._seen.add(module)
        parameters = module.__dict__.get("_parameters")
        if not isinstance(parameters, dict):
            return  # a module of TorchScript
        tables = {name: self._tables[id(p)] for name, p in dict.items(parameters) if id(p) in self._tables}
        if not tables:
            return
        values = {name: table.values for name, table in tables.items()}
        if type(parameters) is WatchedParameters:  # another optimizer watches the module already
            parameters.watched.update(values)
        else:
            module.__dict__["_parameters"] = WatchedParameters(parameters, values)
        self._watched.add(module)
        self._watched_tables.update(tables.values())

    def watches(self, table):
        """Does a module sync the table before it uses it?"""
        return table in self._watched_tables

    def remove(self):
        self._handle.remove()
        for module in list(self._watched):
            parameters = module.__dict__["_parameters"]
            if type(parameters) is WatchedParameters:
                module.__dict__["_parameters"] = parameters.plain()
        self._watched.clear()
