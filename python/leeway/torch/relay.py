"""Relay: the servers add up gradients, and every rank steps its own copy of the model with the mean.

Any optimizer of torch works so, and an optimizer of the script's own. docs/pytorch.md says what it costs.
"""

import re

import torch

from leeway import session as _session
from leeway._leeway import Hyper, same_exchange, same_pull
from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.torch import first_values, grad_scaling, notice, server_optimizer
from leeway.torch.gradient_edits import GradientEdits
from leeway.torch.lockstep import Lockstep
from leeway.torch.relay_values import RelayValues

_HYPER = Hyper(1.0)  # servers step with nothing
_BSP = re.compile(r"bsp\b|ssp:(s=)?0(,|$)")


def choose(optimizer, sync, apply, constraint):
    """Returns the apply mode of an optimizer's tables, and the classes that its wrapper has before the usual ones."""
    worker = _session.current().worker
    # The job's apply mode is for its own model: a model of the optimizer's own has its own default.
    mode = apply or ("" if sync else worker.job_apply)
    lacks = server_optimizer.lacks(optimizer)
    chosen = mode.partition(":")[0] == "relay"
    if not chosen and (lacks is None or apply):
        if lacks is not None:
            raise InvalidArgument(f"DistributedOptimizer: the servers cannot step as {lacks} does, as apply=\"{apply}\" asks; leave "
                                  f"apply out, or give apply=\"relay\": then every rank steps; they can step as: "
                                  f"{server_optimizer.SUPPORTED}")
        return apply, ()
    _check_job(worker, sync or worker.job_sync, lacks)
    if constraint is not None:
        raise InvalidArgument("DistributedOptimizer: got constraint= for tables that are stepped on the ranks (apply=\"relay\"), and "
                              "the servers have no values to keep in a range: clamp the parameters after step(), on every rank")
    if not chosen:
        mode = "relay:reduce=ordered" if "reduce=ordered" in worker.job_apply else "relay"
        if worker.rank == 0:
            notice.say(f"the servers cannot step as {lacks} does, so every rank steps with the mean gradients (apply=\"relay\"): "
                       "ranks wait for each other in every step(), and each keeps the whole state of the optimizer")
    return mode, (Relayed,)


def _check_job(worker, sync, lacks):
    why = f"the servers cannot step as {lacks} does, and to step on the ranks (apply=\"relay\")" if lacks else "apply=\"relay\""
    changes = []
    if not _BSP.match(sync):
        changes.append(f'sync "bsp" (got "{sync}": give DistributedOptimizer sync="bsp", or leeway run --sync bsp)')
    if not same_pull(worker.job_pull, "full"):
        changes.append(f'pull "full" (got "{worker.job_pull}": leave leeway run --pull out)')
    if not same_exchange(worker.job_exchange, "every:1"):
        changes.append(f'exchange "every:1" (got "{worker.job_exchange}": leave leeway run --exchange out)')
    if changes:
        raise InvalidArgument(f"DistributedOptimizer: {why} needs {', '.join(changes)}, because each step takes the gradients of all "
                              "ranks" + (f"; or take an optimizer of the servers: {server_optimizer.SUPPORTED}" if lacks else ""))


class Relayed:
    """The part of a DistributedOptimizer whose ranks step. Its class comes before _Distributed among the bases."""

    values_kind = RelayValues

    def __init__(self, *arguments):
        self._means = []         # in p.grad now: the table, its mean, and what p.grad was
        self._exchanged = False  # by exchange(), for the next step()
        self._mid_step = False   # an iteration has ended, and its step has not
        super().__init__(*arguments)
        if self._session.lockstep is None:
            self._session.lockstep = Lockstep(self._session, self._number)
        self._session.lockstep.add(self)

    # For scripts.

    def step(self, closure=None, grad_scaler=None):
        """Ends the iteration: waits for the mean gradients of all ranks, then steps with them. A closure ends an iteration with
        each call, and gives the mean loss. A GradScaler passes itself; no rank steps if one finds infinities."""
        self._check_may_step()
        if closure is not None:
            loss = self._wrapped.step(self._evaluation(closure))
        else:
            found = [] if grad_scaler is None else self._unscale(grad_scaler)
            skips = grad_scaling.has_infinity(found)
            if not self._is_exchanged():
                self._exchange(ends_step=True, push=not skips, skips=skips)
                skips = self._session.lockstep.any_skips()
            grad_scaling.note(found, skips)
            loss = None if skips else self._wrapped.step()
        self._end_step()
        return loss

    def skip(self):
        """Ends the iteration without a gradient of this rank, and steps as the others do."""
        self._check_may_step()
        for table in self._tables:
            if table.gradient.pushed:
                raise FailedPrecondition(f"skip(): backward() has pushed the gradient of {table.name} already; give "
                                         "DistributedOptimizer overlap=False, which pushes at step()")
        self._exchange(ends_step=True, push=False)
        self._wrapped.step()
        self._end_step()

    def exchange(self):
        """Ends the iteration without a step: p.grad holds the mean gradients, until step(). For an optimizer that works in several
        phases, or for clipping the mean: opt.exchange(); clip_grad_norm_(...); opt.step()."""
        self._check_may_step()
        self._exchange(ends_step=False)
        self._exchanged = True

    def add_param_group(self, param_group):
        raise FailedPrecondition("add_param_group() after DistributedOptimizer(...), whose ranks step (apply=\"relay\"): its tables are "
                                 "made once; add the group before")

    def state_dict(self):
        """The state of this rank's optimizer, which all ranks have alike."""
        return self._wrapped.state_dict()

    def load_state_dict(self, state_dict):
        """Loads the optimizer's state. Call it on all ranks: each steps with its own."""
        self._wrapped.load_state_dict(state_dict)
        self.state, self.param_groups = self._wrapped.state, self._wrapped.param_groups

    # For hooks and the session.

    def spec_of(self, group, parameter, name):
        return "mean"

    def hyper(self, table):
        return _HYPER

    def check_options(self):
        pass

    def loaded_states(self):
        return []  # the servers take none

    def forget_state(self):
        pass

    def sync_final_values(self):
        self._phases.report()

    def on_gradient_ready(self, table):
        self._exchanged = False
        super().on_gradient_ready(table)

    def _thaw(self):
        thawed = [name for name, parameter, _ in self._frozen if parameter.requires_grad]
        if thawed:
            raise FailedPrecondition(f"parameter {thawed[0]} was frozen when DistributedOptimizer was made and has no table, and "
                                     "tables of an optimizer whose ranks step (apply=\"relay\") are made once; make the optimizer "
                                     "when all that is ever trained requires a gradient, and freeze it afterwards")

    def _unscale(self, scaler):
        """Returns what the scaler has found. Gradients leave at step() from here on, since the scaler unscales them before."""
        if not self.agreed:
            first_values.agree(self._session, computed=True)
        if self._edits is not None:
            self._overlap, self._edits = False, None
        return grad_scaling.unscale(self, scaler)

    def _check_may_step(self):
        if self._session.finished:
            raise FailedPrecondition("step() after the end of the job (lw.join() or lw.shutdown() was called); to train on, make a "
                                     "new torch optimizer")
        if self._session.no_sync_depth:
            raise FailedPrecondition("step() inside no_sync(): its gradients are to be added up first; call step() outside")

    def _is_exchanged(self):
        exchanged, self._exchanged = self._exchanged, False
        return exchanged

    def _evaluation(self, closure):
        """Returns a closure whose gradients and loss are those of all ranks."""
        def evaluate():
            self._restore_gradients()
            with torch.enable_grad():
                loss = closure()
            return self._exchange(ends_step=False, loss=loss)

        return evaluate

    def _exchange(self, ends_step, push=True, loss=None, skips=False):
        """Ends one iteration, and puts the means into p.grad. Returns the mean loss. With `skips` no rank steps."""
        session, lockstep = self._session, self._session.lockstep
        if not self.agreed:
            first_values.agree(session, computed=push)
        self._restore_gradients()
        if self._mid_step:
            lockstep.refuse_state()  # nobody can go on from here
        else:
            lockstep.serve()  # here, and not in the last step(): the script has called its scheduler since
        self._phases.begin_step()
        self._thaw()
        self._check_groups()
        if self._edits is not None:
            if push:
                self._look_for_edits()
            else:
                self._edits = GradientEdits()
        if push:
            self._pushing.push_rest()
        for optimizer in session.optimizers:
            optimizer.send_held()
        lockstep.take_part(self, loss, self._samples, ends_step, skips)
        session.advance(self._number)
        self._mid_step = True
        self._steps += 1
        self._pushing.end_iteration()
        for table in self._tables:
            mean = table.values.mean()
            self._means.append((table, mean, table.parameter.grad))
            table.parameter.grad = mean
        loss = lockstep.meet(loss)
        self._phases.samples += self._samples if push else 0
        self._phases.end_step()
        return loss

    def _restore_gradients(self):
        """Takes the means out of p.grad, unless autograd or the script has put another gradient there."""
        for table, mean, before in self._means:
            if table.parameter.grad is mean and not table.gradient.touched:
                table.parameter.grad = before
        self._means.clear()

    def _end_step(self):
        self._restore_gradients()
        self._mid_step = False
        self._session.state.ended_iteration(self._session.worker.state_wanted())
