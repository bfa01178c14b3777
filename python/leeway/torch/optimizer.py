"""DistributedOptimizer: an optimizer whose steps the servers make."""

import collections
import contextlib

import torch

from leeway import session as _session
from leeway._leeway import same_exchange, same_pull
from leeway.errors import AlreadyExists, FailedPrecondition, InvalidArgument, LeewayError
from leeway.torch import (first_values, grad_scaling, gradient_edits, late_tables, local_state, module_trace, names, optimizer_state,
                          relay, server_optimizer)
from leeway.torch.clipping import Clipping
from leeway.torch.constraints import Constraints
from leeway.torch.gradient_edits import GradientEdits
from leeway.torch.phases import Phases
from leeway.torch.pushing import Pushing, refuse_second
from leeway.torch.ready_hooks import ReadyHooks
from leeway.torch.table_parameter import TableParameter
from leeway.torch.table_values import TableValues
from leeway.torch.use_hooks import UseHooks


def DistributedOptimizer(optimizer, named_parameters=None, sync=None, apply=None, samples=1, overlap=None, clip_norm=None,
                         pull=None, exchange=None, constraint=None, clip_norm_each=None, clip_value=None):
    """Wraps `optimizer`: backward() pushes gradients, the servers step, the next forward() waits for the values that it uses.

    named_parameters: model.named_parameters(), the model, or pairs; they name the tables, equally on all ranks. With
        model.parameters(), or without any, the positions of parameters are the names.
    sync, apply: spec strings ("bsp", "ssp:3", "aggregate:reduce=ordered"); None: the job's.
    samples: how many samples a gradient is the mean of: its weight in the job's mean. Assign `.samples` to change it.
    overlap: True pushes each gradient as soon as backward() has it; False pushes at step(), after any editing. None: True
        while this is the only DistributedOptimizer of the process. With several, a backward() may add gradients to parameters
        of another optimizer, which never steps with them (a GAN). None also means False if the script changes gradients
        between backward() and step() of its first iteration, as clip_grad_norm_() does.
    pull, exchange: the script's demands on the job ("partial:0.9,50", "every:4"; leeway run --pull, --exchange). Raises if the
        job has others. None: the script runs with any.
    clip_norm: clips this worker's gradient, all parameters together, to this norm before the push, which then comes at step().
    clip_norm_each: clips this worker's gradient of each parameter by itself to this norm before its push; it overlaps.
    clip_value: clips each element of this worker's gradient to [-clip_value, clip_value] before its push; it overlaps.
    constraint: the range in which the servers keep values, initial ones too: "clamp:-0.01,0.01", or a dict from a glob over
        names to such a spec ({"critic.*": "clamp:-0.01,0.01"}).

    Returns an instance of the optimizer's own class, with its parameter groups, so that schedulers work as ever.
    """
    kind = type(optimizer)
    apply, bases = relay.choose(optimizer, sync, apply, constraint)
    wrapped = type(f"Distributed{kind.__name__}", (*bases, _Distributed, kind), {})
    _check_job(pull, exchange)
    clipping = Clipping(clip_norm, clip_norm_each, clip_value)
    return wrapped(optimizer, named_parameters, sync, apply, samples, overlap, clipping, constraint)


def _check_job(pull, exchange):
    worker = _session.current().worker
    for key, got, of_job, same in (("pull", pull, worker.job_pull, same_pull),
                                   ("exchange", exchange, worker.job_exchange, same_exchange)):
        if got is not None and not same(got, of_job):
            raise InvalidArgument(f'DistributedOptimizer: {key}: got "{got}", wanted "{of_job}", which the job has: it is of '
                                  f"the whole job (leeway run --{key} '{got}', or lw.init({key}=...) alone)")


@contextlib.contextmanager
def no_sync():
    """Gradients of backward() inside add up and stay here; the first backward() outside pushes the sum."""
    session = _session.current()
    session.no_sync_depth += 1
    try:
        yield
    finally:
        session.no_sync_depth -= 1


class _Distributed(torch.optim.Optimizer):
    values_kind = TableValues

    def __init__(self, optimizer, named_parameters, sync, apply, samples, overlap, clipping, constraint):
        # Not super().__init__: this shares the groups, defaults and state of the wrapped optimizer. It takes no methods that
        # were patched onto the instance: a scheduler's counting step() would hide ours, and train this process alone.
        kind = type(optimizer)
        self.__dict__.update((name, value) for name, value in optimizer.__dict__.items()
                             if not callable(getattr(kind, name, None)))
        self._wrapped = optimizer
        session = _session.current()
        self._session = session
        if session.phases is None:
            session.phases = Phases(session)
        self._phases = session.phases
        self._overlap = False if clipping.needs_all else overlap
        self._edits = GradientEdits() if self._overlap is None else None  # None: the first iteration is over, or nobody asks
        self.samples = samples
        self._frozen = []  # name, parameter and group of each that had no gradient to train with
        self._specs = (sync or "", apply or "")
        self._number = len(session.optimizers)  # in the order of creation, equal on all ranks
        self._steps = 0
        self.prefix = ""  # of its tables' names
        self.agreed = False  # all ranks agree on values and state to begin with: see first_values
        self._constraints = Constraints(constraint)
        self._tables = self._make_first_tables(named_parameters)
        self._ready_hooks = ReadyHooks(self, self._tables)
        self._pushing = Pushing(self, self._tables, session, self._phases, self._ready_hooks, clipping)
        self._use_hooks = UseHooks({id(table.parameter): table for table in self._tables},
                                   self._begin_training)
        session.optimizers.append(self)
        module_trace.add(session, self._tables)
        local_state.of(session)
        self._phases.begin()

    # For scripts.

    @property
    def samples(self):
        """The weight of this worker's next gradients: how many samples they are the mean of."""
        return self._samples

    @samples.setter
    def samples(self, samples):
        if samples < 1:
            raise InvalidArgument(f"samples: got {samples}, wanted at least 1 (a worker without data calls join())")
        self._samples = int(samples)

    @property
    def steps(self):
        """How many iterations of this optimizer this process has ended, by step() or skip(). lw.iteration() counts iterations of
        all optimizers, from the beginning of the job."""
        return self._steps

    _step_supports_amp_scaling = True  # a GradScaler hands itself to step()

    def step(self, closure=None, grad_scaler=None):
        """Ends the iteration: pushes the gradients that backward() has not pushed. Tables without a gradient are absent. A
        GradScaler passes itself; the step is skipped if it finds infinities."""
        if self._session.finished:
            raise FailedPrecondition("step() after the end of the job (lw.join() or lw.shutdown() was called): the servers make "
                                     "no more steps; to train on, make a new torch optimizer")
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        if self._session.no_sync_depth:
            raise FailedPrecondition("step() inside no_sync(): its gradients are to be added up first; call step() "
                                     "outside")
        if not self.agreed:
            first_values.agree(self._session, computed=True)
        if grad_scaler is not None:
            if self._edits is not None:
                self._overlap, self._edits = False, None  # it unscales before the push
            if grad_scaling.must_skip(self, grad_scaler, together=self._is_bsp()):
                self.skip()
                return loss
        self._phases.begin_step()
        self._thaw()
        self._check_groups()
        for table in self._tables:
            if table.values.checksum is not None:
                table.values.check_written()
        if self._edits is not None:
            self._look_for_edits()
        self._pushing.push_rest()
        self._end_iteration()
        self._phases.samples += self._samples
        self._phases.end_step()
        if "_step_count" in self._wrapped.__dict__:
            self._wrapped._step_count += 1  # a scheduler made before wrapping warns if it sees no steps
        return loss

    def skip(self):
        """Ends the iteration without this worker (a GradScaler found infinities): all its gradients are absent."""
        for table in self._tables:
            if table.gradient.pushed:
                raise FailedPrecondition(f"skip(): backward() has pushed the gradient of {table.name} already, and the servers may "
                                         "have stepped with it; give DistributedOptimizer overlap=False, which pushes at step()")
        if not self.agreed:
            first_values.agree(self._session)
        if self._edits is not None:
            self._edits = GradientEdits()
        self._phases.begin_step()
        self._end_iteration()
        self._phases.end_step()

    def synchronize(self):
        """Waits for the newest values of all parameters, as a forward pass does one by one. Call it to read parameters
        outside a module's forward: for norms, checkpoints."""
        for table in self._tables:
            table.values.sync()

    no_sync = staticmethod(no_sync)

    def figures(self):
        """Returns this worker's seconds by phase and counts so far."""
        return {**self._session.worker.counters(), **self._phases.figures(), "wait_s": self._phases.wait_s}

    def __deepcopy__(self, memo):
        raise FailedPrecondition("a DistributedOptimizer cannot be copied: its state is on the servers, and its tables are the "
                                 "job's; copy its state_dict()")

    def __reduce_ex__(self, protocol):
        raise FailedPrecondition("a DistributedOptimizer cannot be pickled: its state is on the servers; save its "
                                 "state_dict(), or let the job write checkpoints (leeway run --checkpoint-every)")

    def add_param_group(self, param_group):
        """Adds parameters, also while training runs. Then all ranks call it between the same two steps, and rank 0's values count."""
        super().add_param_group(param_group)
        try:
            self.check_options()
            late_tables.add(self, self._trained_of([len(self.param_groups) - 1], late=True))
        except (AlreadyExists, InvalidArgument):
            self.param_groups.pop()
            self._frozen = [entry for entry in self._frozen if entry[2] < len(self.param_groups)]
            raise
        self._session.state.restore_own()  # with the group's options, in a job that goes on from a checkpoint

    def state_dict(self):
        """Reads the state from the servers, into the layout of torch's own optimizer. Any rank may call it, alone. Under bsp the
        state belongs to the values in this process."""
        on_servers = self._session.goes_on and all(table.values.initialized for table in self._tables)
        if not self.agreed and not on_servers:
            return super().state_dict()  # the state that the script has loaded
        if self._session.finished:
            raise FailedPrecondition("state_dict() after the end of the job (lw.join() or lw.shutdown() was called): the state was "
                                     "on the servers; call it before")
        self.synchronize()
        with self._session.waiting():
            states = {table.parameter: optimizer_state.read_as_torch(self._session.worker, table, type(self._wrapped),
                                                             self.param_groups[table.group])
                      for table in self._tables}
        before, self.state = self.state, {parameter: state for parameter, state in states.items() if state is not None}
        try:
            return super().state_dict()
        finally:
            self.state = before

    def load_state_dict(self, state_dict):
        """Loads state before the first forward pass in training mode: call it on all ranks; the root's state counts. Loads
        parameter groups, of a state_dict without state, at any time."""
        has_state = any(isinstance(value, torch.Tensor) for state in state_dict.get("state", {}).values() for value in
                        state.values())
        if self.agreed and has_state:
            raise FailedPrecondition("load_state_dict(): the servers step with their own state since the first forward pass in "
                                     "training mode; load before that (or only parameter groups, with an empty 'state')")
        before = self.state, self.param_groups
        super().load_state_dict(state_dict)
        try:
            for table, state in self.loaded_states():
                optimizer_state.check(table, state)
            self._check_groups()
        except LeewayError:
            self.state, self.param_groups = before  # an error loads nothing
            raise
        if self._session.state.restores("torch"):
            self.param_groups = before[1]  # the checkpoint that the job goes on from has them
        self._wrapped.param_groups = self.param_groups  # a scheduler made before wrapping sets these
        if self.agreed:
            self.forget_state()

    # For hooks and the session.

    def on_gradient_ready(self, table):
        """Autograd has accumulated the table's gradient; still in backward()."""
        if not self.agreed:
            first_values.agree(self._session, computed=True)
        if self._session.module_trace is not None:
            self._session.module_trace.on_gradient(table)
        table.gradient.on_accumulated()
        overlap = self._overlap
        if not (len(self._session.optimizers) == 1 if overlap is None else overlap):
            return  # the backward() may be another optimizer's, and the script zeroes this gradient before our step()
        if self._edits is not None:
            table.values.check_trainable()
            if not self._session.no_sync_depth and not self._edits.note(table):
                refuse_second(table)
            return
        table.gradient.check_zeroed()
        if not self._session.no_sync_depth:
            self._pushing.push(table)

    def spec_of(self, group, parameter, name):
        """Returns the spec of the servers' optimizer for one parameter."""
        return self._constraints.added_to(server_optimizer.spec(self, group, parameter), name)

    def hyper(self, table):
        """Returns the hyper-parameters that a gradient of the table takes along."""
        return server_optimizer.hyper(self.param_groups[table.group])

    def check_options(self):
        server_optimizer.check_options(type(self._wrapped), self.param_groups)

    def send_held(self):
        self._pushing.send_held()

    def broadcast_missing(self):
        """Before the end: broadcasts the tables that have no initial values, or their final values would never come."""
        for table in self._tables:
            if not table.values.initialized:
                table.values.broadcast(lend=False)
                table.values.begin()
        first_values.agree(self._session)

    def loaded_states(self):
        """Returns the tables whose state the script has loaded and the servers do not have yet, with that state."""
        states = [(table, self.state[table.parameter]) for table in self._tables if table.parameter in self.state]
        return [(table, state) for table, state in states if not optimizer_state.is_empty(table, state)]

    def forget_state(self):
        """Drops the state in this process: the servers have it."""
        self.state = self._wrapped.state = collections.defaultdict(dict)

    def sync_final_values(self):
        """The job is over: puts the final values under the parameters."""
        for table in self._tables:
            table.values.sync()
        self._phases.report()

    def close(self, exiting):
        """Makes the model a plain one again."""
        self._use_hooks.remove()
        self._ready_hooks.remove()
        for table in self._tables:
            table.close(exiting)

    def on_fork(self):
        """In a forked child: parameters that the child looks up get memory of its own."""
        for table in self._tables:
            table.values.on_fork()

    @property
    def tables(self):
        return self._tables

    def _make_first_tables(self, named_parameters):
        self._given = self._named(named_parameters)
        all_names = [name for name, _ in self._given]
        if len(set(all_names)) != len(all_names):
            twice = sorted({name for name in all_names if all_names.count(name) > 1})
            raise InvalidArgument(f"DistributedOptimizer: named_parameters has two parameters named {', '.join(twice)}; tell them "
                                  "apart (net.named_parameters(prefix=...)), or leave named_parameters out: then positions are names")
        trained = self._trained_of(range(len(self.param_groups)))
        self._constraints.check_used()
        taken = {table.name for other in self._session.optimizers for table in other.tables}
        self.prefix = names.prefix([name for name, *_ in trained], taken, self._number)
        return self.make_tables(trained)

    def _trained_of(self, groups, late=False):
        """Returns name, parameter, group and spec of each parameter in these groups that needs a table. A late one may have no
        name: it gets one by its place."""
        name_of = {id(parameter): name for name, parameter in reversed(self._given)}
        others = {id(table.parameter): table for other in self._session.optimizers for table in other.tables}
        trained, seen = [], set()
        for index in groups:
            group = self.param_groups[index]
            for place, parameter in enumerate(group["params"]):
                name = name_of.get(id(parameter))
                if name is None and late:
                    name = f"group{index}.{place}" if self._number == 0 else f"optimizer{self._number}.group{index}.{place}"
                if name is None:
                    raise InvalidArgument(f"DistributedOptimizer: parameter {place} of group {index} (shape "
                                          f"{list(parameter.shape)}) is not in named_parameters; pass "
                                          "model.named_parameters()")
                if not parameter.requires_grad:
                    self._frozen.append((name, parameter, index))
                elif id(parameter) in others:
                    raise AlreadyExists(f"DistributedOptimizer: parameter {name} is in another DistributedOptimizer of this "
                                        f"process (as {others[id(parameter)].name}), and the servers step it with that one. Give "
                                        "each parameter to one optimizer. To wrap a model again (a notebook's cell that runs "
                                        "twice), call lw.shutdown() and lw.init() before: the model keeps its values")
                elif id(parameter) in seen:
                    raise InvalidArgument(f"DistributedOptimizer: parameter {name} is in group {index} twice; give each parameter "
                                          "once, as model.parameters() does")
                elif parameter.numel():
                    seen.add(id(parameter))
                    trained.append(self._trained(name, parameter, index))
        return trained

    def _trained(self, name, parameter, index):
        return name, parameter, index, self.spec_of(self.param_groups[index], parameter, name)

    def make_tables(self, trained):
        """Makes tables of what _trained_of() returns."""
        tables = [TableParameter(self.prefix + name, *rest, self._session, self._phases, self.values_kind)
                  for name, *rest in trained]
        # From here on the worker lands values in the tables' buffers, also after an error.
        with self._session.lending(*tables):
            for table in tables:
                table.values.create_table(*self._specs, table.spec, self._number)
            self._session.worker.start()
        return tables

    def take_tables(self, tables):
        """Tables that come after the others are trained from here on."""
        self._tables += tables
        self._use_hooks.add({id(table.parameter): table for table in tables})
        for table in tables:
            self._ready_hooks.renew(table)
        module_trace.add(self._session, tables)

    def _begin_training(self):
        """A forward pass in training mode, as long as this returns false. In a job that goes on, layers that have thawed before
        need the servers' values for it."""
        self._thaw()
        first_values.agree(self._session)
        return self.agreed

    def _thaw(self):
        """Makes tables of frozen parameters that require a gradient now. All ranks do so in the same step()."""
        thawed = [entry for entry in self._frozen if entry[1].requires_grad]
        if thawed:
            self._frozen = [entry for entry in self._frozen if not entry[1].requires_grad]
            late_tables.add(self, [self._trained(*entry) for entry in thawed if entry[1].numel()])

    def _named(self, given):
        if isinstance(given, torch.nn.Module):
            given = given.named_parameters()
        elif given is None:
            given = [parameter for group in self.param_groups for parameter in group["params"]]
        return names.pairs("DistributedOptimizer", given, "model.named_parameters()")

    def _check_groups(self):
        self.check_options()
        for table in self._tables:
            spec = self.spec_of(self.param_groups[table.group], table.parameter, table.name.removeprefix(self.prefix))
            if spec != table.spec:
                raise FailedPrecondition(f"parameter group {table.group}: the servers step {table.name} with "
                                         f"{table.spec}, but the group's options now ask for "
                                         f"{spec}; what decides how a table is kept (momentum on or "
                                         "off, centered, lr_decay, trust) cannot be changed later")

    def _is_bsp(self):
        return (self._specs[0] or self._session.worker.job_sync).partition(":")[0] == "bsp"

    def _look_for_edits(self):
        """The first iteration ends: gradients that the script changes at all must not leave before step()."""
        edited = self._edits.find()
        if edited is not None:
            self._overlap = False
            gradient_edits.say(self._session, edited)
        self._edits = None

    def _end_iteration(self):
        # All optimizers share the clock: gradients that they hold belong to the iteration that it ends.
        for optimizer in self._session.optimizers:
            optimizer.send_held()
        self._session.clock(self._number)
        self._steps += 1
        self._pushing.end_iteration()
        for table in self._tables:
            if not self._use_hooks.watches(table):  # no hook tells of its use
                table.values.sync()
