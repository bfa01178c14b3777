"""The one job that this process takes part in: joining it, leaving it, and what happens when the process ends.

A script that ends without shutdown() leaves the job cleanly; one that ends with an exception leaves as a dead worker
does, at once, and if it was a LeewayError the process exits with that error's own exit code.
"""

import atexit
import contextlib
import os
import sys
import time

from leeway import environment
from leeway._leeway import Worker
from leeway.errors import FailedPrecondition, InvalidArgument, LeewayError
from leeway.rank_claim import RankClaim
from leeway.rank_state import RankState


class Session:
    """One life in one job."""

    def __init__(self, worker, slowdown, claim=None):
        self.worker = worker
        self.claim = claim          # of a launched rank; None: nobody launched this process
        self.rank = worker.rank
        self.size = worker.size
        self.slowdown = slowdown
        self.iteration = 0          # iterations this process has ended: a cheap mirror of the worker's clock
        self.begins_at = worker.iteration()
        self.goes_on = worker.goes_on  # the job was running, or goes on from a checkpoint: the servers' values count
        self.no_sync_depth = 0
        self.waits_s = 0.0          # in calls that wait for other members: see waiting()
        self.phases = None          # of leeway.torch: one for all optimizers
        self.finished = False       # no member of the job any more
        self.names = {}             # how often each kind of one-off name was used: the same on all ranks
        self.exchanges = {}         # tables of push_pull by name
        self.met_others = False     # in a barrier of the script's own
        self.optimizers = []        # of leeway.torch; they take the final values
        self.state = RankState(worker)  # of this rank, in checkpoints
        self.torch_state = None     # of leeway.torch: its part of it
        self._kept = []             # memory that a call which was broken off may still use

    def next_name(self, kind):
        self.names[kind] = self.names.get(kind, -1) + 1
        return f"{kind}.{self.names[kind]}"

    @contextlib.contextmanager
    def lending(self, *tensors):
        """For calls that wait while the worker reads or writes `tensors`: if one is broken off (Ctrl-C, an error) the
        worker may not be done with them, so they live as long as the session."""
        try:
            yield
        except BaseException:
            self._kept.append(tensors)
            raise

    @contextlib.contextmanager
    def waiting(self):
        """Around calls that wait for other members outside of a step: their time is not this worker's computing."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.waits_s += time.perf_counter() - began

    def clock(self, group=None):
        """Ends an iteration: of the tables of one optimizer, by its number, or of all."""
        wanted = self.worker.clock(group)
        self.iteration += 1
        self.state.ended_iteration(wanted)

    def finish(self):
        """Leaves the counts, waits for the last member, takes the final values."""
        if self.finished:
            return
        for optimizer in self.optimizers:
            optimizer.broadcast_missing()
        self.worker.finish()
        self.finished = True
        self.iteration += 1
        for optimizer in self.optimizers:
            optimizer.sync_final_values()

    def close(self, exiting=False):
        for optimizer in self.optimizers:
            optimizer.close(exiting)
        self.worker.close()
        if self.claim is not None:
            self.claim.release()

    def warn_if_unused(self):
        """At the end of a script that went well: it may have trained a model of its own on every rank. One that only
        exchanges values or waits for others is as it should be. Rank 0 speaks for all."""
        if self.claim is None or self.rank != 0 or self.optimizers or self.exchanges or self.met_others:
            return
        print("leeway: this script called init(), but made no DistributedOptimizer and exchanged nothing with other ranks: if it "
              "trained a model, every rank trained one of its own. Wrap the optimizer: opt = lw.DistributedOptimizer(opt, "
              "model.named_parameters()), then lw.broadcast_parameters(model.state_dict())", file=sys.stderr)


class _Process:
    """What this process knows of its session; the module below is its only user."""

    session = None
    over = None      # the last session, once it was shut down
    forked = False
    failed = False
    hooked = False


def current():
    """The session, or a clear error."""
    if _Process.forked:
        raise FailedPrecondition(
            "Leeway was called in a forked child (a DataLoader worker?) of the process that called init(); "
            "only that process may call it")
    if _Process.session is None:
        if _Process.over is not None:
            raise FailedPrecondition("this process has left its job (shutdown() was called); only rank() and size() and "
                                     "the final parameters are left")
        raise FailedPrecondition("Leeway is not initialized: call leeway.torch.init() (or leeway.init()) first")
    return _Process.session


def current_or_last():
    """The session, or the last one after its shutdown: it still knows its rank and the job's size."""
    return _Process.over if _Process.session is None and _Process.over is not None and not _Process.forked else current()


def is_initialized():
    return _Process.session is not None and not _Process.forked


def init(scheduler=None, job=None, rank=None, sync="bsp", apply="", block_bytes=0, wait_max=None,
         pull="full", exchange="every:1", rules=(), secret_file=None):
    """Joins the job that launched this process; alone, makes a job of this one process.

    `scheduler`, `secret_file` (of the job's secret), `job` and `rank` override what the launcher says; `sync`, `apply`, `block_bytes`, `pull`, `exchange` and
    `rules` ("tables=fc* sync=ssp:3", ...) are the job's when it is made here; a launched job has them from its launcher.
    `block_bytes` is the largest block that tables are cut into; 0 chooses it from the size of the model.
    `wait_max` (seconds; 0 or "none": no limit) is the longest wait without progress: how long this worker's calls wait for a
    server, the scheduler or a file (600 by default), and how long the others wait for this worker while it lives and makes no
    call (by default what `leeway run --wait-max` says: as long as it lives).
    Does nothing if the process has joined already.
    """
    if isinstance(wait_max, str):
        if wait_max != "none":
            raise InvalidArgument(f'wait_max "{wait_max}", wanted seconds, or 0 or "none" for no limit')
        wait_max = 0.0
    if _Process.forked:
        current()
    if _Process.session is not None:
        return
    _hook_process_end()  # first: an error in here has its own exit code as well
    launch = environment.read()
    scheduler = launch.scheduler if scheduler is None else scheduler
    claim = None
    if scheduler:
        job = launch.job if job is None else job
        rank = launch.rank if rank is None else rank
        if _Process.over is not None and _Process.over.claim is not None and _Process.over.claim.job == (scheduler, job):
            raise FailedPrecondition("init() after shutdown(): the job that launched this process is over, and one launch is one job; "
                                     "train all that belongs together before shutdown(), or launch again")
        claim = RankClaim(scheduler, job, rank)
        try:
            worker = Worker.join(scheduler, job, rank, wait_max, launch.transport, launch.record,
                                 launch.secret_file if secret_file is None else secret_file,
                                 launch.insecure and secret_file is None)
        except BaseException:
            claim.release()
            raise
    else:
        worker = Worker.alone(sync, apply, block_bytes, wait_max, pull, exchange, list(rules))
    _Process.session = Session(worker, launch.slowdown, claim)


def shutdown():
    """Takes the job's final values, equal on all ranks, and leaves. Does nothing if not initialized."""
    if _Process.session is None:
        return
    session = current()
    session.finish()
    session.worker.shutdown()
    session.warn_if_unused()
    _Process.session, _Process.over = None, session
    session.close()


def _hook_process_end():
    if _Process.hooked:
        return
    _Process.hooked = True
    atexit.register(_at_exit)
    os.register_at_fork(after_in_child=_after_fork_in_child)
    before = sys.excepthook

    def excepthook(kind, error, traceback):
        _Process.failed = True
        before(kind, error, traceback)
        if isinstance(error, LeewayError):
            raise SystemExit(error.exit_code)  # of the interpreter: a hook that raises it sets the exit code

    sys.excepthook = excepthook


def _after_fork_in_child():
    _Process.forked = _Process.session is not None
    if _Process.forked:
        for optimizer in _Process.session.optimizers:
            optimizer.on_fork()


def _at_exit():
    session, _Process.session = _Process.session, None
    if session is None or _Process.forked:
        return
    failure = None
    try:
        if not _Process.failed and not session.finished:
            if session.phases is not None:
                session.phases.report()
            session.worker.leave()
        if not _Process.failed:
            session.warn_if_unused()
    except LeewayError as error:
        failure = error
        print(f"leeway: could not leave the job cleanly: {error}", file=sys.stderr)
    finally:
        session.close(exiting=True)
    if failure is not None:
        # The interpreter ignores what an exit handler raises; only this gives the process another exit code.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(failure.exit_code)
