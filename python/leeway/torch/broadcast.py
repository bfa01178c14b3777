"""broadcast_parameters: gives all ranks the values of one."""

import torch

from leeway import session as _session
from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.torch import local_state, names
from leeway.torch.shared_buffers import SharedBuffers, check_mode
from leeway.torch.slot import Slot


def broadcast_parameters(params, root_rank=0, buffers="mean"):
    """Gives every rank the values that `root_rank` has: parameters, frozen ones and buffers alike.

    params: model.state_dict(), the model, or pairs of name and tensor. The model has its non-persistent buffers too. All
    ranks call it after DistributedOptimizer, with the same names and shapes. It gives the tables their initial values,
    once. It returns when every rank has the values: else a fast rank could push before a slow one has read them. If an
    error or Ctrl-C ends it early, the servers may still read the root's parameters: change them no more.

    buffers: what buffers (BatchNorm's statistics) are at the end of the job. "mean": floating ones the mean over ranks, integer
        ones the chief's, which is the lowest rank at the end. "chief": all are the chief's. "local": each rank keeps its own.
        Buffers that no rank has changed stay as they are.
    """
    session = _session.current()
    if not 0 <= root_rank < session.size:
        raise InvalidArgument(f"broadcast_parameters: root_rank {root_rank} is not a rank of this job; wanted 0 to "
                              f"{session.size - 1}")
    check_mode(buffers)
    volatile = _non_persistent(params) if isinstance(params, torch.nn.Module) else {}
    params = params.state_dict() if isinstance(params, torch.nn.Module) else params
    pairs = names.pairs("broadcast_parameters", params, "model.state_dict(), or pairs of name and tensor")
    by_address = {address: (table, optimizer.prefix) for optimizer in session.optimizers for table in optimizer.tables
                  for address in table.values.addresses()}
    tables, others, known, prefix = {}, {}, {}, ""
    for name, tensor in pairs:
        table, prefix = by_address.get(tensor.data_ptr(), (None, prefix)) if tensor.numel() else (None, prefix)
        if table is not None:
            if table.values.initialized:
                raise FailedPrecondition(f"broadcast_parameters: {name} has its values from an earlier broadcast, and "
                                         "the servers take initial values once; load checkpoints before the first "
                                         "broadcast, and give a later one only what it has not seen")
            table.values.check_memory()
            tables[table.name] = table
            known[prefix + name] = table.name
        elif tensor.numel():
            others[name] = tensor.detach()
    if session.rank == root_rank:
        for table in tables.values():
            table.values.broadcast()
    if others or volatile:
        _broadcast_once(session, {**others, **volatile}, root_rank)
    shared = SharedBuffers(session, others, buffers)
    for table in tables.values():
        table.values.take_broadcast(root_rank)
    with session.waiting():
        session.worker.barrier("broadcast_parameters")
    # In a job that goes on from a checkpoint the servers have the values, and this is the rank's own state.
    state = local_state.of(session)
    state.add_buffers(prefix, others, shared)
    # A tied parameter has its table's own name here as well. Else the script has given its tables other names.
    state.other_names.update((name, table) for name, table in known.items() if name != table and table in known)
    session.state.restore_own()


def _non_persistent(model):
    """Returns the buffers of a model that its state_dict() leaves out. They are in no checkpoint either."""
    return {f"{prefix}.{name}".lstrip("."): module._buffers[name].detach() for prefix, module in model.named_modules()
            for name in module._non_persistent_buffers_set if module._buffers.get(name) is not None and module._buffers[name].numel()}


def _broadcast_once(session, tensors, root_rank):
    """Broadcasts tensors without a table, of any type, as the bytes of one table that serves this once."""
    for name, tensor in tensors.items():
        if tensor.device.type != "cpu" or tensor.layout != torch.strided:
            raise InvalidArgument(f"broadcast_parameters: {name} is {tensor.layout} on {tensor.device}, wanted a "
                                  "dense tensor on cpu")
    sizes = [tensor.numel() * tensor.element_size() for tensor in tensors.values()]
    slot = Slot(session.worker, torch.empty((sum(sizes) + 3) // 4, dtype=torch.float32))
    values = slot.tensor()
    raw = values.view(torch.uint8)
    worker = session.worker
    table = worker.create_table(session.next_name("broadcast"), [values.numel()], own_clock=True, accept_nonfinite=True,
                                sync="asp", apply="immediate", optimizer="sum")
    worker.start()
    pieces = raw[:sum(sizes)].split(sizes)
    with session.lending(slot):
        if session.rank == root_rank:
            for piece, tensor in zip(pieces, tensors.values()):
                piece.copy_(tensor.contiguous().flatten().view(torch.uint8))
            worker.broadcast(table, slot.address, values.numel(), slot.memory)
        # The root pulls too: if it was started again, the values of its first life count.
        worker.wait(worker.pull(table, slot.address, values.numel()))
    for piece, tensor in zip(pieces, tensors.values()):
        tensor.copy_(piece.clone().view(tensor.dtype).view(tensor.shape))
