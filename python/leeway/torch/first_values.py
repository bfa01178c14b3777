"""Before the first gradient all ranks agree on the values and the optimizer state that training begins with.

A script that resumes loads its file after broadcast_parameters, as it did without Leeway. The servers then take the root's
values and state, and so do all ranks. The servers keep their own if the job goes on from a checkpoint, or was running when
this worker came.
"""

import torch

from leeway.errors import FailedPrecondition
from leeway.torch import optimizer_state
from leeway.torch.notice import say as _say


def agree(session, computed=False):
    """The first forward pass in training mode calls it, else the first gradient (then `computed`), else the end of the job.
    All ranks come here equally often. Later calls are cheap."""
    open_ones = [optimizer for optimizer in session.optimizers if not optimizer.agreed]
    optimizers = [optimizer for optimizer in open_ones if all(table.values.initialized for table in optimizer.tables)]
    if computed:
        _check_broadcast(open_ones)
    if not optimizers:
        return
    tables = [table for optimizer in optimizers for table in optimizer.tables]
    changed = [table for table in tables if table.values.was_written()]
    states = [(table, state) for optimizer in optimizers for table, state in optimizer.loaded_states()]
    if session.resumes:
        _keep_servers(session, changed, states)
    elif tables:
        _agree_with_root(session, tables, changed, states, computed)
    if session.lockstep is not None:
        session.lockstep.begin(optimizers, computed)
    for optimizer in optimizers:
        optimizer.agreed = True
        optimizer.forget_state()
    for table in tables:
        table.values.note_agreed()


def _check_broadcast(optimizers):
    """Refuses to train if broadcast_parameters had only a part of an optimizer's parameters: ranks would never agree on it."""
    for optimizer in optimizers:
        missing = [table for table in optimizer.tables if not table.values.initialized]
        if missing and len(missing) < len(optimizer.tables):
            raise FailedPrecondition(
                f"{len(missing)} of the {len(optimizer.tables)} parameters of this DistributedOptimizer have no initial values in the "
                f"job ({names(missing)}): broadcast_parameters was not given them; give it all, model.state_dict() or pairs of name "
                "and tensor, before training, or leave them out of the optimizer")


def _agree_with_root(session, tables, changed, states, computed):
    root = tables[0].values.root
    _offer(session, tables, changed, states)
    with session.waiting():
        session.worker.barrier("first values")
    if session.rank == root:
        _replace_values(changed)  # a constraint of the servers may have moved the values
    else:
        _compare(session, tables, changed, states, computed)
    with session.waiting():
        session.worker.barrier("first values")  # no rank trains before all have read


def _offer(session, tables, changed, states):
    """The root gives its values and states to the servers."""
    root = tables[0].values.root
    if session.rank != root:
        return
    if changed:
        for table in tables:  # all of them, so that other ranks find news by looking at one table
            table.values.assign()
    for table, state in states:
        optimizer_state.write(session.worker, table, state)
    if changed or states:
        _say(f"rank {root}'s {_what(changed, states)} loaded after broadcast_parameters: all ranks begin with them")


def _compare(session, tables, changed, states, computed):
    """A rank that is not the root takes the servers' values and states, and says where it had loaded others."""
    root = tables[0].values.root
    news = tables[0].values.read(even_if_known=False) is not None
    if changed and not news:
        raise FailedPrecondition(_only_here(session, _what(changed, []), changed, root))
    if news:
        replaced = _replace_values(tables)
        if replaced and computed:
            raise FailedPrecondition(
                f"rank {root} has loaded {len(tables)} parameters after broadcast_parameters, and this rank ({session.rank}) had "
                "computed a gradient with others before it heard of that: load on all ranks, or before broadcast_parameters")
        if replaced and changed:
            _say(f"rank {session.rank} had loaded other values than rank {root} ({names(replaced)}): those of rank {root} are "
                 "taken")
    if states:
        table, state = min(states, key=lambda entry: entry[0].elements)
        _, steps = optimizer_state.read(session.worker, table)
        if steps != optimizer_state.steps_of(state):
            if steps == 0:
                raise FailedPrecondition(_only_here(session, "optimizer state", [table], root))
            _say(f"rank {session.rank} had loaded the optimizer state of step {optimizer_state.steps_of(state)}, rank {root} "
                 f"that of step {steps}, which is taken")


def _keep_servers(session, changed, states):
    _replace_values(changed)
    if changed or states:
        _say(f"{_what(changed, states)} that rank {session.rank} has loaded are not used: the job is in iteration "
             f"{session.begins_at}, and goes on with what its servers have")


def _replace_values(tables):
    """Puts the servers' values under the parameters; returns the tables that had others."""
    replaced = []
    for table in tables:
        values = table.values.read(even_if_known=True)
        if not torch.equal(values, table.parameter.data):
            table.values.check_memory()
            table.parameter.data.copy_(values)
            replaced.append(table)
    return replaced


def _only_here(session, what, tables, root):
    return (f"rank {session.rank} has loaded {what} ({names(tables)}) after broadcast_parameters and rank {root}, whose count, "
            f"has not: load on rank {root} as well, or before broadcast_parameters")


def _what(changed, states):
    parts = ([f"values of {len(changed)} parameters"] if changed else []) + (
        [f"optimizer state of {len(states)} parameters"] if states else [])
    return " and ".join(parts)


def names(tables):
    named = ", ".join(table.name for table in tables[:3])
    return named if len(tables) <= 3 else f"{named} and {len(tables) - 3} more"
