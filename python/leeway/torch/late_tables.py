"""Tables that come after the others: of parameters that a script adds to its optimizer later, or that it freezes and thaws.

All ranks make them between the same two steps. The worker counts itself absent from a table's earlier iterations.
"""

from leeway.errors import FailedPrecondition
from leeway.torch import first_values


def add(optimizer, trained):
    """Makes tables of new parameters and begins to train them. Rank 0's values count.

    Before the broadcast it only makes them: broadcast_parameters gives their values. In a job that goes on, a rank that has not
    stepped yet takes what the servers have, and meets nobody: the others may have added the parameters long ago.
    """
    session = optimizer._session
    if not trained:
        return
    if session.finished:
        raise FailedPrecondition("parameters were added after the end of the job (lw.join() or lw.shutdown() was called): the "
                                 "servers make no more steps; to train on, make a new torch optimizer")
    has_values = any(table.values.initialized for table in optimizer.tables)
    tables = optimizer.make_tables(trained)
    optimizer.take_tables(tables)
    if has_values:
        _begin(session, tables)


def _begin(session, tables):
    if session.rank == 0 or session.resumes:
        _offer(tables)
    if not session.resumes:
        with session.waiting():
            # A rank that adds other parameters, or none, is in another call: the error of the wait names both.
            session.worker.barrier(f"parameters added to the optimizer: {first_values.names(tables)}")
        if session.rank != 0:
            _offer(tables)  # if rank 0 has left the job
    for table in tables:
        table.values.take_broadcast(0)
        table.values.note_agreed()


def _offer(tables):
    """Offers initial values: the first offer in the job counts."""
    for table in tables:
        table.values.broadcast(lend=False)
