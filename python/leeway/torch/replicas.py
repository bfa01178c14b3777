"""Replicas: the parameters and optimizer states that every rank keeps for itself, and that are equal on all ranks."""

import hashlib

import torch

from leeway.errors import FailedPrecondition, InvalidArgument
from leeway.rank_state import copy_tensors
from leeway.torch.push_pull import push_pull


def load(optimizers, saved):
    """Puts saved parameters and states into the optimizers, which the script made as those that were saved."""
    parameters = {table.name: table.parameter.data for optimizer in optimizers for table in optimizer.tables}
    missing = [name for name in parameters if name not in saved["tables"]]
    if missing:
        raise InvalidArgument(f"the state of apply=\"relay\" lacks {len(missing)} of {len(parameters)} parameters ({missing[0]}): it is "
                              "of another model")
    with torch.no_grad():
        copy_tensors(saved["tables"], parameters, "parameters")
    for optimizer, state in zip(optimizers, saved["optimizers"]):
        optimizer.load_state_dict(state)


def load_buffers(buffers, saved):
    with torch.no_grad():
        copy_tensors(saved, buffers, "buffers")


def check_equal(session, optimizers):
    """Raises on all ranks if their optimizers begin with different options or states: they would never be equal again."""
    if session.size == 1:
        return
    digests = torch.zeros(session.size)
    digests[session.rank] = 1 + _digest(optimizers)
    digests = [round(value) for value in push_pull(digests, name="relay/replicas", average=False).tolist()]
    others = [rank for rank, value in enumerate(digests) if value not in (0, digests[session.rank])]
    if others:
        raise FailedPrecondition(
            f"the optimizer of rank {session.rank} has other options or another state than that of rank {others[0]}, and each rank "
            "steps with its own (apply=\"relay\"): give the same options on all ranks, and call load_state_dict() on all of them")


def options_digest(optimizer):
    """13 bits of the numbers that decide a step: lr, betas, ..."""
    found = hashlib.blake2b(digest_size=2)
    for group in optimizer.param_groups:
        for name in sorted(group.keys() & optimizer.defaults.keys()):  # load_state_dict() adds defaults in some optimizers
            if group[name] is not None:
                found.update(name.encode())
                _add(group[name], found)
    return int.from_bytes(found.digest(), "big") >> 3


def _digest(optimizers):
    """16 bits of the options and states. Options that are no plain numbers or texts are left out."""
    found = hashlib.blake2b(digest_size=2)
    for optimizer in optimizers:
        _add(optimizer.state_dict(), found)
    return int.from_bytes(found.digest(), "big")


def _add(value, found):
    if isinstance(value, dict):
        for key, item in value.items():
            found.update(repr(key).encode())
            _add(item, found)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _add(item, found)
    elif isinstance(value, torch.Tensor):
        found.update(str(value.dtype).encode() + value.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    elif isinstance(value, (int, float, str, type(None))):
        found.update(repr(value).encode())
