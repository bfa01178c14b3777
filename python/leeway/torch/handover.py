"""Gives bytes of one rank to others, through a table of the servers that serves this once.

All ranks that have the bytes offer them, so that the offer survives the death of any. The first offer counts.
"""

import torch

from leeway.torch.slot import Slot

_LOW = 1 << 20  # a length travels as two numbers that a float holds exactly


def offer(session, name, data):
    """Gives `data` to the ranks that fetch `name`. All that offer it have the same."""
    _broadcast(session, f"{name}/size", torch.tensor([len(data) % _LOW, len(data) // _LOW], dtype=torch.float32))
    if data:
        padded = torch.zeros((len(data) + 3) // 4, dtype=torch.float32)
        padded.view(torch.uint8)[:len(data)] = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        _broadcast(session, name, padded)


def fetch(session, name):
    """Waits for the offer of `name`, and returns its bytes."""
    low, high = _pull(session, f"{name}/size", 2).tolist()
    length = int(low) + _LOW * int(high)
    if not length:
        return b""
    return _pull(session, name, (length + 3) // 4).view(torch.uint8)[:length].numpy().tobytes()


def _table(session, name, elements):
    table = session.worker.create_table(name, [elements], own_clock=True, accept_nonfinite=True, sync="asp", apply="immediate",
                                        optimizer="sum")
    session.worker.start()
    return table


def _broadcast(session, name, values):
    table = _table(session, name, values.numel())
    session.worker.broadcast(table, values.data_ptr(), values.numel())


def _pull(session, name, elements):
    table = _table(session, name, elements)
    slot = Slot(session.worker, torch.empty(elements, dtype=torch.float32))
    with session.lending(slot):
        session.worker.wait(session.worker.pull(table, slot.address, elements))
    return slot.tensor().clone()
