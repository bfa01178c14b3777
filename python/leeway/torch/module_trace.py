"""ModuleTrace: the forward and backward work of modules in a trace (leeway run --trace).

A module's forward pass is a slice, with the modules that it calls inside. Of backward() only the moments are known at which
gradients are final. So the slice of a parameter begins where the one before ended.
"""

import time

from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook


def add(session, tables):
    """The session's trace names modules after these tables too. Without a trace it does nothing."""
    if not session.worker.has_trace:
        return
    if session.module_trace is None:
        session.module_trace = ModuleTrace(session.worker)
    session.module_trace.add(tables)


class ModuleTrace:
    # Its hooks come after those of UseHooks, so a slice has no waits for the module's own parameters.
    def __init__(self, worker):
        self._worker = worker
        self._names = {}      # id of a parameter -> the name of its table
        self._begun = []      # modules in their forward pass, and since when
        self._ended = None    # the last module's forward pass, or the last gradient
        self._handles = [register_module_forward_pre_hook(self._before), register_module_forward_hook(self._after)]

    def add(self, tables):
        self._names.update((id(table.parameter), table.name) for table in tables)

    def remove(self):
        for handle in self._handles:
            handle.remove()

    def on_gradient(self, table):
        """backward() has the gradient of this table."""
        now = time.perf_counter()
        if self._ended is not None and self._worker.trace_wants():
            self._worker.trace_module(True, table.name, self._ended, now)
        self._ended = now

    def _before(self, module, inputs):
        del inputs
        if self._worker.trace_wants():
            self._begun.append((module, time.perf_counter()))

    def _after(self, module, inputs, output):
        del inputs, output
        # Modules whose forward pass ended with an exception are still here.
        while self._begun:
            begun, since = self._begun.pop()
            if begun is module:
                self._ended = time.perf_counter()
                self._worker.trace_module(False, self._name(module), since, self._ended)
                break

    def _name(self, module):
        """"conv1" for a module with the parameter conv1.weight, else its class: "ReLU"."""
        parameters = module.__dict__.get("_parameters")
        if isinstance(parameters, dict):
            for parameter in dict.values(parameters):  # a lookup would sync the table
                name = self._names.get(id(parameter))
                if name is not None:
                    return name.rpartition(".")[0] or name
        return type(module).__name__
