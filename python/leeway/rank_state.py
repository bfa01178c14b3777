"""RankState: the state that this rank puts into the job's checkpoints, and gets back when the job goes on from one.

Some parts are Leeway's own (random states; with leeway.torch buffers and the options of optimizers); scripts register the others
by name. The rank gives its state between two iterations: in iterations() before the loop's body runs, else at the end of step().
"""

import random
import warnings

import numpy as np

from leeway import plain_state
from leeway.errors import AlreadyExists, InvalidArgument


class RankState:
    def __init__(self, worker):
        self._worker = worker
        self._own = {"python": (random.getstate, random.setstate),
                     "numpy": (lambda: np.random.get_state(legacy=False), np.random.set_state)}
        self._parts = {}
        self._schedules = set()  # names of parts
        self.in_loop = False    # iterations() gives the state, not step()
        self._trained = False   # an iteration has ended here: too late to restore
        data = worker.restored_state()
        restored = plain_state.decode(data) if data is not None and plain_state.is_encoded(data) else {}
        self._restored_own = restored.get("own", {})
        self._restored = restored.get("parts", {})
        self.restored_iteration = restored.get("iteration")  # of the restored state; None without one

    def restores(self, name):
        """Does the checkpoint that the job began from have this part of Leeway's own?"""
        return name in self._restored_own

    def add_own(self, name, save, load):
        self._own[name] = (save, load)

    def add(self, name, save, load, is_schedule=False):
        """Registers a part; true if the checkpoint that the job began from had its state, which is now loaded. A schedule is the
        same on all ranks."""
        if name in self._parts:
            raise AlreadyExists(f"register_state: there is a state named {name!r} already; give another name")
        self._parts[name] = (save, load)
        if is_schedule:
            self._schedules.add(name)
        restored = name in self._restored
        if restored:
            load(self._restored.pop(name))
        self.restore_own()
        return restored

    def restore_own(self):
        """Loads Leeway's own parts. Before the first iteration any call of the script may disturb them, so they load again."""
        if self._trained:
            return
        for name, (_, load) in self._own.items():
            if name in self._restored_own:
                load(self._restored_own[name])

    def restore_part(self, name):
        """Loads one of Leeway's own parts again. REQUIRES: restores(name)."""
        _, load = self._own[name]
        load(self._restored_own[name])

    def schedules(self):
        """Returns the states of the registered schedules by their names."""
        return {name: self._parts[name][0]() for name in sorted(self._schedules)}

    def take_schedules(self, states):
        """Loads schedules() of another rank into those of the same names."""
        for name in self._schedules & states.keys():
            self._parts[name][1](states[name])

    def begin_loop(self):
        self.in_loop = True
        self.restore_own()
        self._warn_of_unknown()

    def ended_iteration(self, wanted):
        if not self._trained:
            self._trained = True
            self._warn_of_unknown()
        if wanted and not self.in_loop:
            self.give()

    def end_loop(self):
        self.in_loop = False

    def give_if_wanted(self):
        if self._worker.state_wanted():
            self.give()

    def give(self):
        try:
            self._worker.give_state(self._encoded())
        except InvalidArgument as error:
            # A state that cannot be saved is missing in the checkpoint, but stops neither it nor the job.
            warnings.warn(f"leeway: this rank's state is not in the checkpoint: {error}", stacklevel=3)
            self._worker.give_state(b"")

    def _encoded(self):
        own = {name: save() for name, (save, _) in self._own.items()}
        parts = {name: save() for name, (save, _) in self._parts.items()}
        # Restored parts that no script has registered stay as they are: a later life may know them.
        return plain_state.encode({"own": own, "parts": {**self._restored, **parts}, "iteration": self._worker.iteration()})

    def _warn_of_unknown(self):
        if self._restored:
            warnings.warn(f"leeway: the checkpoint has states that nobody registered: {', '.join(self._restored)}; call "
                          "register_state() with these names before the first iteration", stacklevel=4)


def copy_tensors(saved, tensors, what):
    """Copies saved tensors into the tensors of the same names."""
    for name, value in saved.items():
        tensor = tensors.get(name)
        if tensor is None:
            continue
        if tensor.shape != value.shape or tensor.dtype != value.dtype:
            raise InvalidArgument(f"the checkpoint's {what}: {name}: got {list(value.shape)} of {value.dtype}, wanted "
                                  f"{list(tensor.shape)} of {tensor.dtype}")
        tensor.copy_(value)
