"""Leeway: a parameter server for machines that do not keep step. For PyTorch see leeway.torch."""

try:
    from leeway import session as _session
    from leeway._leeway import __version__
except ModuleNotFoundError as _missing:
    from leeway.interpreter import hint as _hint
    raise ModuleNotFoundError(f"{_missing.msg}{_hint(_missing.name)}", name=_missing.name) from None
from leeway.batch_pool import BatchPool
from leeway.errors import LeewayError
from leeway.loop import iterations, register_state, restored_iteration
from leeway.session import init, is_initialized, shutdown
from leeway.synchronization import set_sync

__all__ = ["BatchPool", "LeewayError", "__version__", "barrier", "init", "is_initialized", "iteration", "iterations", "join",
           "local_rank", "rank", "register_state", "restored_iteration", "set_sync", "shutdown", "size"]
_OF_TORCH = {"DistributedOptimizer", "ElasticSampler", "LARS", "assign", "broadcast_parameters", "no_sync", "push_pull"}


def rank():
    """Which worker this is, from 0."""
    return _session.current_or_last().rank


def local_rank():
    """The number of this worker on its host, from 0: LEEWAY_LOCAL_RANK, or the rank, which is right if all are on one host."""
    return _session.current_or_last().local_rank


def size():
    """How many workers the job started with."""
    return _session.current_or_last().size


def iteration():
    """The job's iteration that this worker is in, for schedules that follow the job. With several optimizers each step() of any
    of them ends one; optimizer.steps counts the steps of one optimizer."""
    return _session.current().worker.iteration()


def barrier(name="barrier"):
    """Waits until every member of the job is in a barrier of this name. A name serves any number of times.

    After the first step Leeway refuses it under models that leave iterations out (drop, psp): a rank that waits here sends no
    gradient, and a slower rank may need it to end its iteration.
    """
    session = _session.current()
    session.met_others = True
    with session.waiting():
        session.worker.barrier(name)


def join():
    """For a worker whose data has ended: leaves all counts, so that no rank waits for it, then waits for the last member
    and takes the final values. The script may evaluate afterwards, but not train."""
    _session.current().finish()


def __getattr__(name):
    """Says where the names of leeway.torch are. This module cannot offer them itself: it works without torch."""
    if name == "torch":
        raise AttributeError("leeway.torch is not imported yet: import leeway.torch as lw")
    if name == "data":
        raise AttributeError("leeway.data is not imported yet: import leeway.data")
    if name in _OF_TORCH:
        raise AttributeError(f"leeway has no {name}: leeway.torch has it (import leeway.torch as lw, then lw.{name})")
    raise AttributeError(f"module 'leeway' has no attribute {name!r}")
