"""push_pull: the mean or the sum of a tensor over all members, for metrics and small exchanges."""

import torch

from leeway import session as _session
from leeway._leeway import Hyper
from leeway.errors import InvalidArgument

_HYPER = Hyper(1.0)


def push_pull(tensor, name=None, average=True):
    """Returns the mean (or sum) of `tensor` over the job's members, as a new tensor. All members call it in the same order.

    Calls with the same name share a table on the servers; the default name comes from the shape. Neither sum nor count holds
    a member that has left or died, or one whose tensor is not finite, which gets an error. After the first step Leeway refuses
    the call under models that leave iterations out (drop, psp), as it refuses lw.barrier(): a rank that waits here sends no
    gradient, and a slower rank may need it.
    """
    session = _session.current()
    dense = tensor.layout == torch.strided and tensor.device.type == "cpu"
    if not dense or tensor.dtype != torch.float32 or not tensor.numel():
        raise InvalidArgument(f"push_pull: got {tensor.dtype} on {tensor.device} with {tensor.numel()} elements, "
                              "wanted a dense torch.float32 on cpu that is not empty")
    session.worker.may_meet("push_pull")
    name = name or "x".join(str(n) for n in tensor.shape) or "scalar"
    with session.waiting():
        mean, members = _exchange(session, f"push_pull/{name}", tensor.shape).run(tensor.detach())
    return mean if average else mean.mul_(members)


class _Exchange:
    """One table with a clock of its own: each push of all members is an iteration.

    The servers' mean is over the members that took part. To count them, each rank pushes a 1 in one more element of its own:
    the elements of the mean that are not 0 took part. They are in the same push, so that a refused push counts in neither.
    """

    def __init__(self, session, name, shape):
        self.session = session
        self.shape = shape
        self.name = name
        self.elements = shape.numel()
        zeros = torch.zeros(self.elements + session.size)
        self.table = session.worker.create_table(name, [zeros.numel()], own_clock=True, sync="bsp",
                                                 apply="aggregate:reduce=ordered", optimizer="mean")
        session.worker.start()
        session.worker.broadcast(self.table, zeros.data_ptr(), zeros.numel())

    def run(self, tensor):
        """Returns the mean, and the number of members in it."""
        worker = self.session.worker
        pushed = torch.zeros(self.elements + self.session.size)
        pushed[:self.elements] = tensor.flatten()
        pushed[self.elements + self.session.rank] = 1.0
        if not pushed.isfinite().all():
            pushed.fill_(float("nan"))  # servers refuse block by block, and must refuse all: else the count would not fit
        result = torch.empty_like(pushed)
        with self.session.lending(pushed, result):
            # One call waits for push and pull: the tables of all members stay in step, also when a push is refused.
            loan = worker.push_pull(self.table, pushed.data_ptr(), result.data_ptr(), pushed.numel(), _HYPER, 1)
            worker.wait(loan.ticket)
        mean, took_part = result.split([self.elements, self.session.size])
        return mean.clone().view(self.shape), took_part.count_nonzero().item()


def _exchange(session, name, shape):
    exchange = session.exchanges.get(name)
    if exchange is None:
        exchange = session.exchanges[name] = _Exchange(session, name, shape)
    if exchange.shape != shape:
        raise InvalidArgument(f"{name}: got shape {list(shape)}, wanted {list(exchange.shape)} as in the first call; "
                              "give another name")
    return exchange
