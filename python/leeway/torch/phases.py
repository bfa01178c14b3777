"""Phases: measures where the time of a training step goes in this process, and reports it to the scheduler as figures."""

import time

import torch

from leeway.torch import notice

_REPORT_EVERY_S = 0.5


class Phases:
    """Seconds by phase since the start, and counts. compute_s is the rest: forward, backward and data.

    A session has one Phases: the figures are the worker's, whichever optimizer steps.
    """

    def __init__(self, session):
        self._session = session
        self.compute_s = 0.0
        self.wait_s = 0.0      # in sync(), for the next layer's values
        self.push_s = 0.0      # handing gradients to the worker
        self.step_s = 0.0      # in step(), less the pushes and waits in it
        self.slowed_s = 0.0    # asleep, because the launcher asked for a slow worker
        self.samples = 0
        self.refused = 0
        self.copied_gradients = 0  # found outside the arena: see TableGradient.slot_to_push()
        self.rebound_parameters = 0  # found in other memory and put back: see TableValues.check_memory()
        self.overwritten_parameters = 0  # changed in place by the script: see TableValues.sync()
        self.assigned_parameters = 0  # by lw.assign()
        self.converted_parameters = 0  # of another type or order of memory than their tables: see shadow.py
        self.sparse_gradients = 0      # pushed as dense ones
        self.gradient_waits = 0    # step() waited because too many gradients were on loan
        self.steps = 0
        self._step_ended = 0.0
        self._aside = 0.0          # _waits_and_pushes() at that moment
        self._reported = 0.0

    def note_converted(self, name, parameter):
        """The parameter differs from its table; says so once if the type does."""
        self.converted_parameters += 1
        if parameter.dtype != torch.float32:
            notice.say_once(self._session, "types", f"parameter {name} is {parameter.dtype}: the servers keep and step it in "
                            f"torch.float32, and cast values and gradients both ways; more such parameters are only counted")

    def note_sparse(self, name):
        """A sparse gradient goes out as a dense one; says so once."""
        self.sparse_gradients += 1
        notice.say_once(self._session, "sparse", f"the gradient of {name} is sparse: it goes out dense, and the servers step as "
                        "with any dense gradient; further ones are only counted")

    def begin(self):
        """The script has made an optimizer: the time before it was no computing."""
        self._step_ended = time.perf_counter()
        self._aside = self._waits_and_pushes()

    def begin_step(self):
        """step() begins: the time since the last step, less waits and pushes, was computing. Sleeps if the worker is to be
        slow."""
        computed = time.perf_counter() - self._step_ended - (self._waits_and_pushes() - self._aside)
        self.compute_s += computed
        self.steps += 1
        pattern = self._session.slow_pattern
        if pattern is not None and self.steps > 1:  # the time before the first step holds the script's start
            pause = pattern.pause_s(self._session.worker.iteration(), computed)
            if pause > 0.0:
                time.sleep(pause)
                self.slowed_s += pause
        self._step_ended = time.perf_counter()
        self._aside = self._waits_and_pushes()

    def end_step(self):
        """step() ends."""
        now = time.perf_counter()
        self.step_s += now - self._step_ended - (self._waits_and_pushes() - self._aside)
        self._step_ended = now
        self._aside = self._waits_and_pushes()
        if now - self._reported > _REPORT_EVERY_S:
            self._reported = now
            self.report()

    def _waits_and_pushes(self):
        return self.wait_s + self.push_s + self._session.waits_s

    def figures(self):
        return {name: getattr(self, name)
                for name in ("compute_s", "push_s", "step_s", "slowed_s", "samples", "steps", "copied_gradients",
                             "rebound_parameters", "overwritten_parameters", "assigned_parameters",
                             "converted_parameters", "sparse_gradients", "gradient_waits")}

    def report(self):
        for name, value in self.figures().items():
            self._session.worker.set_figure(name, float(value))
