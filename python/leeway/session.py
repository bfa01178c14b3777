"""Session: this process as a worker of one job, from init() to shutdown() or the end of the process.

A script that ends without shutdown() leaves the job cleanly. One that ends with an exception leaves at once, as a dead worker
does; after a LeewayError the process exits with that error's own exit code.
"""

import atexit
import contextlib
import os
import sys
import time

from leeway import environment, slow_pattern
from leeway._leeway import Worker
from leeway.errors import FailedPrecondition, InvalidArgument, LeewayError
from leeway.rank_claim import RankClaim
from leeway.rank_state import RankState


class Session:
    """One life in one job."""

    def __init__(self, worker, slow_pattern, claim=None, local_rank=None):
        self.worker = worker
        self.claim = claim          # of a launched rank; None without a launcher
        self.rank = worker.rank
        self.size = worker.size
        self.slow_pattern = slow_pattern  # of leeway.slow_pattern; None: never slow
        self.iteration = 0          # how many this process has ended: cheaper than worker.iteration()
        self.begins_at = worker.iteration()
        self.goes_on = worker.goes_on  # the job was running, or began from a checkpoint: the servers' values count
        self.no_sync_depth = 0
        self.waits_s = 0.0          # in calls that wait for other members: see waiting()
        self.phases = None          # of leeway.torch, for all optimizers
        self.finished = False       # this worker has left the job
        self.names = {}             # kind of one-off name -> the last number of it, equal on all ranks
        self.exchanges = {}         # of push_pull, by the names of tables
        self.met_others = False     # the script has called barrier()
        self.said = set()           # topics of notices of leeway.torch
        self.module_trace = None    # of leeway.torch; None: no trace is wanted
        self.optimizers = []        # of leeway.torch, in the order of creation
        self.state = RankState(worker)  # this rank's part of checkpoints
        self.local_rank = worker.rank if local_rank is None else local_rank
        self.torch_state = None     # LocalState of leeway.torch
        self.lockstep = None        # of leeway.torch, once an optimizer steps on the ranks
        self._kept = []             # memory that the worker may still use after an error

    @property
    def resumes(self):
        """Do the values and states of the job count, and not those of the script? Whatever the script makes after its first iteration
        is new to all ranks."""
        return self.goes_on and self.iteration == 0

    def next_name(self, kind):
        self.names[kind] = self.names.get(kind, -1) + 1
        return f"{kind}.{self.names[kind]}"

    @contextlib.contextmanager
    def lending(self, *tensors):
        """For calls that wait while the worker reads or writes `tensors`. If Ctrl-C or an error ends the call early, the worker may
        go on, so the tensors live as long as the session."""
        try:
            yield
        except BaseException:
            self._kept.append(tensors)
            raise

    @contextlib.contextmanager
    def waiting(self):
        """Around calls that wait for other members outside a step: this time is not the worker's computing."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.waits_s += time.perf_counter() - began

    def clock(self, group=None):
        """Ends an iteration of one group of tables (the number of their optimizer), or of all tables."""
        self.state.ended_iteration(self.advance(group))

    def advance(self, group=None):
        """Does the same, but does not give this rank's state to a checkpoint. Returns whether one wants it."""
        if self.lockstep is not None:
            self.lockstep.note_iteration()
        wanted = self.worker.clock(group)
        self.iteration += 1
        return wanted

    def finish(self):
        """Leaves the counts, waits for the last member, takes the final values."""
        if self.finished:
            return
        for optimizer in self.optimizers:
            optimizer.broadcast_missing()
        if self.lockstep is not None:
            self.lockstep.finish()
        if self.torch_state is not None:
            self.torch_state.give_buffers()
        self.worker.finish()
        self.finished = True
        self.iteration += 1
        if self.torch_state is not None:
            self.torch_state.take_buffers()
        for optimizer in self.optimizers:
            optimizer.sync_final_values()

    def close(self, exiting=False):
        for optimizer in self.optimizers:
            optimizer.close(exiting)
        if self.module_trace is not None:
            self.module_trace.remove()
        self.worker.close()
        if self.claim is not None:
            self.claim.release()

    def warn_if_unused(self):
        """After a script that succeeded: warns if it may have trained a separate model on every rank. A script may well only
        exchange values or wait for others. Rank 0 speaks for all."""
        if self.claim is None or self.rank != 0 or self.optimizers or self.exchanges or self.met_others:
            return
        print("leeway: this script called init(), but made no DistributedOptimizer and exchanged nothing with other ranks: if it "
              "trained a model, every rank trained one of its own. Wrap the optimizer: opt = lw.DistributedOptimizer(opt, "
              "model.named_parameters()), then lw.broadcast_parameters(model.state_dict())", file=sys.stderr)


class _Process:
    """The session of this process; only the functions below use it."""

    session = None
    over = None      # the last session, after its shutdown
    forked = False
    failed = False
    hooked = False


def current():
    """Returns the session, or raises a clear error."""
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
    """Returns the session, or the last one after its shutdown, which still knows its rank and the job's size."""
    return _Process.over if _Process.session is None and _Process.over is not None and not _Process.forked else current()


def is_initialized():
    return _Process.session is not None and not _Process.forked


def init(scheduler=None, job=None, rank=None, sync="bsp", apply="", block_bytes=0, wait_max=None,
         pull="full", exchange="every:1", rules=(), secret_file=None, plugins=None, priorities=True, pull_at="ready"):
    """Joins the job that launched this process; without a launcher, makes a job of this one process.

    scheduler, secret_file, job, rank: override the launcher's.
    plugins: paths of shared libraries that add policies (docs/adding-a-policy.md); by default the launcher's.
    sync, apply, block_bytes, pull, exchange, rules ("tables=fc* sync=ssp:3", ...), priorities, pull_at: options of a job that
        this call makes; a launched job has its launcher's. block_bytes is the size of the largest block; 0 chooses it from
        the size of the model.
    wait_max: the longest wait without progress, in seconds; 0 or "none": no limit. It limits how long this worker's calls wait
        for a server, the scheduler or a file (by default 600). It also limits how long other workers wait for this one while
        it lives and makes no call (by default as `leeway run --wait-max` says: as long as it lives).

    Does nothing if the process has joined already.
    """
    _hook_process_end()  # first, so that errors below have their exit codes as well
    if isinstance(wait_max, str):
        if wait_max != "none":
            raise InvalidArgument(f'init(): wait_max: got "{wait_max}", wanted seconds, or 0 or "none" for no limit')
        wait_max = 0.0
    if _Process.forked:
        current()
    if _Process.session is not None:
        return
    launch = environment.read()
    pattern = slow_pattern.read(launch.slowdown, launch.slow_pattern)
    scheduler = launch.scheduler if scheduler is None else scheduler
    plugins = [os.fspath(path) for path in (launch.plugins if plugins is None else plugins)]
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
                                 launch.insecure and secret_file is None, launch.trace, launch.trace_steps, plugins)
        except BaseException:
            claim.release()
            raise
    else:
        worker = Worker.alone(sync, apply, block_bytes, wait_max, pull, exchange, list(rules), plugins, priorities, pull_at)
    _Process.session = Session(worker, pattern(worker.rank, worker.size), claim, launch.local_rank)


def shutdown():
    """Takes the job's final values, equal on all ranks, and leaves the job. Does nothing without a job."""
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
            raise SystemExit(error.exit_code)  # in a hook it sets the interpreter's exit code

    sys.excepthook = excepthook


def _after_fork_in_child():
    _Process.forked = _Process.session is not None
    if _Process.forked:
        for optimizer in _Process.session.optimizers:
            optimizer.on_fork()
        if _Process.session.module_trace is not None:
            _Process.session.module_trace.remove()  # the worker, and its trace, are the parent's


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
        # The interpreter ignores exceptions of an exit handler; only os._exit() sets the exit code here.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(failure.exit_code)
