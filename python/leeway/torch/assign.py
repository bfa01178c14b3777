"""assign: gives the servers this rank's present value of a parameter."""

import torch

from leeway import session as _session
from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.torch import first_values


def assign(parameters):
    """Gives the servers the values that parameters have in this process, after a write by the script:

        with torch.no_grad():
            model.fc.weight.div_(model.fc.weight.norm())
        lw.assign(model.fc.weight)

    parameters: one parameter, or several. Call it between step() and the next backward(). It returns when the servers have the
    values.

    Only the caller's values count. Another rank computes its next gradient with its own values, and gets the new ones with the
    iteration after. Under bsp let every rank make the same write and the same call. A rank may read values that another has
    assigned, so the write should change nothing when it is made twice. For any other write call opt.synchronize() and
    lw.barrier() first.

    Before the first forward pass in training mode the call waits for all ranks, as that pass does. Let all ranks make it, or
    only write the values, which count there anyway. Under asp and ssp the servers apply gradients as they come, and refuse the
    call if they have applied one that this rank has not seen. Use constraint= of DistributedOptimizer there.
    """
    session = _session.current()
    given = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    by_parameter = {id(table.parameter): table for optimizer in session.optimizers for table in optimizer.tables}
    tables = []
    for parameter in given:
        table = by_parameter.get(id(parameter))
        if table is None:
            raise InvalidArgument("assign: got a tensor that no DistributedOptimizer trains, wanted a parameter of the model "
                                  "(lw.assign(model.fc.weight))")
        if not table.values.initialized:
            raise FailedPrecondition(f"assign: {table.name} has no initial values in the job: call broadcast_parameters first")
        if table.gradient.pushed:
            raise FailedPrecondition(f"assign: {table.name} has pushed its gradient of this iteration; call it between step() and "
                                     "backward()")
        if not table.values.is_synced():
            raise FailedPrecondition(f"assign: {table.name} was changed before its newest values had come, which would be lost; "
                                     "read it through its module, or call opt.synchronize(), before you change it")
        tables.append(table)
    first_values.agree(session)
    for table in tables:
        table.values.assign()
        table.values.note_agreed()
        session.phases.assigned_parameters += 1
