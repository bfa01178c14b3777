"""Runs copies of a script in one process, one for each rank, whose optimizers step with the mean of all copies' gradients.

A script calls Ranks instead of leeway.torch. Only one copy runs at a time, from one step() to the next.
"""

import sys
import threading
import types

import torch

import leeway.torch


class Ranks:
    """Stands in for leeway.torch in the script."""

    def __init__(self, size):
        self._size, self._mine = size, threading.local()
        self._turn, self._moved = 0, threading.Condition()
        self._running = set(range(size))
        self._given = []  # for each step() in its order: the gradients of each rank
        self._error = None

    def run(self, code, path, folder):
        threads = [threading.Thread(target=self._run_one, args=(rank, code, path, folder)) for rank in range(self._size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def module(self):
        module = types.ModuleType("leeway.torch")
        for name in ("init", "rank", "size", "broadcast_parameters", "shutdown"):
            setattr(module, name, getattr(self, name))
        module.DistributedOptimizer = self.wrap
        return module

    def init(self):
        self._wait_for_turn()
        self._mine.steps = 0

    def rank(self):
        return self._mine.rank

    def size(self):
        return self._size

    def broadcast_parameters(self, state):
        """All copies have made the same values."""

    def shutdown(self):
        """Buffers are for the test to compare."""

    def wrap(self, optimizer, named_parameters):
        del named_parameters
        plain = optimizer.step

        def step(_):
            parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            for parameter, mean in zip(parameters, self._mean([parameter.grad for parameter in parameters])):
                parameter.grad = mean
            plain()

        optimizer.step = types.MethodType(step, optimizer)  # schedulers want a method
        return optimizer

    def _mean(self, gradients):
        """Gives this rank's gradients, lets the others run up to the same step, and returns the mean."""
        place, self._mine.steps = self._mine.steps, self._mine.steps + 1
        if place == len(self._given):
            self._given.append({})
        given = self._given[place]
        given[self.rank()] = [gradient.clone() for gradient in gradients]
        self._pass_turn()
        self._wait_for_turn()
        return [torch.stack([given[rank][at] for rank in range(self._size)]).mean(0) for at in range(len(gradients))]

    def _run_one(self, rank, code, path, folder):
        self._mine.rank = rank
        try:
            exec(code, {"__name__": "__main__", "__file__": str(path)})  # of this test's own folder
        except BaseException as error:  # or the other copies would wait forever
            self._error = self._error or error
        with self._moved:
            self._running.discard(rank)
        self._pass_turn()

    def _pass_turn(self):
        with self._moved:
            after = sorted(self._running, key=lambda rank: (rank - self.rank() - 1) % self._size)
            self._turn = after[0] if after else None
            self._moved.notify_all()

    def _wait_for_turn(self):
        with self._moved:
            self._moved.wait_for(lambda: self._turn == self.rank() or self._error is not None)
        if self._error is not None and self._turn != self.rank():
            raise RuntimeError("another copy has failed")


def run(code, path, folder, size):
    """Runs `code` once for each rank; each copy writes its result into `folder`."""
    ranks = Ranks(size)
    kept, arguments = leeway.torch, sys.argv
    leeway.torch = sys.modules["leeway.torch"] = ranks.module()
    sys.argv = [str(path), str(folder)]
    try:
        ranks.run(code, path, folder)
    finally:
        leeway.torch = sys.modules["leeway.torch"] = kept
        sys.argv = arguments
