"""iterations() and register_state(): the calls of a script that can go on from a checkpoint."""

from leeway import session as _session
from leeway.errors import InvalidArgument
from leeway.rank_state import copy_tensors


def iterations(until=None):
    """Yields the iterations of the job, from the present one up to `until` (without it: for ever). For a loop that goes on from
    a checkpoint.

        for iteration in lw.iterations(10_000):
            x, y = next(batches)
            ...
            opt.step()
            schedule.step()

    Each run of the body ends one iteration. A checkpoint gets this rank's state as it is before a run, and a job that goes on
    from it gets the state back before the first.
    """
    session = _session.current()
    session.state.begin_loop()
    try:
        while True:
            session.state.give_if_wanted()
            now = session.worker.iteration()
            if until is not None and now >= until:
                return
            yield now
    finally:
        session.state.end_loop()


def restored_iteration():
    """The iteration that this rank was about to begin when it gave its state to the checkpoint that the job began from. None if
    the job did not begin from a checkpoint, or the rank has no state in it.

    A fuzzy checkpoint (asp, ssp, pssp) may hold pushes of later iterations: then iteration() is higher, and your own sampler
    should skip the difference. A BatchPool does so by itself.
    """
    return _session.current().state.restored_iteration


def register_state(name, state=None, save=None, load=None):
    """Puts a state of your own into the job's checkpoints, and gives it back when the job goes on from one.

    state: an object with state_dict() and load_state_dict() (a learning-rate scheduler, a sampler), a torch.Generator or
    numpy.random.Generator, or a module, whose buffers it keeps. Or, instead, two functions: save() returns a plain value
    (numbers, strings, lists, dicts, arrays, tensors), load(value) takes it back. If the job began from a checkpoint with a
    state of this name, this loads it at once and returns true. All ranks register their states before the first iteration.
    """
    if not isinstance(name, str) or not name:
        raise InvalidArgument(f"register_state: got the name {name!r}, wanted a string")
    if (state is None) == (save is None and load is None) or (save is None) != (load is None):
        raise InvalidArgument(f"register_state: {name!r}: wanted an object, or both save= and load=")
    if state is not None:
        save, load = _calls_of(name, state)
    # As learning-rate schedulers of torch keep it.
    return _session.current().state.add(name, save, load, is_schedule=hasattr(state, "last_epoch"))


def _calls_of(name, state):
    if hasattr(state, "named_buffers"):
        return (lambda: dict(state.named_buffers())), lambda saved: copy_tensors(saved, dict(state.named_buffers()), name)
    if hasattr(state, "state_dict") and hasattr(state, "load_state_dict"):
        return state.state_dict, state.load_state_dict
    if hasattr(state, "get_state") and hasattr(state, "set_state"):
        return state.get_state, state.set_state
    if hasattr(state, "bit_generator"):
        return (lambda: state.bit_generator.state), lambda saved: setattr(state.bit_generator, "state", saved)
    raise InvalidArgument(f"register_state: {name!r} is a {type(state).__name__}, wanted something with state_dict() and "
                          "load_state_dict(), or save= and load=")
