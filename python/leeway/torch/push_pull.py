"""push_pull: the mean or the sum of a tensor over all members, at once. For metrics and small exchanges."""

import torch

from leeway import session as _session
from leeway._leeway import Hyper
from leeway.errors import InvalidArgument, LeewayError

_HYPER = Hyper(1.0)


def push_pull(tensor, name=None, average=True):
    """The mean (or sum) of `tensor` over the job's members, as a new tensor. All members call it in the same order.

    Calls with the same name (by default, those of the same shape) use the same table of the servers again. A member
    that has left or died is in neither the sum nor the count.
    """
    session = _session.current()
    dense = tensor.layout == torch.strided and tensor.device.type == "cpu"
    if not dense or tensor.dtype != torch.float32 or not tensor.numel():
        raise InvalidArgument(f"push_pull: got {tensor.dtype} on {tensor.device} with {tensor.numel()} elements, "
                              "wanted a dense torch.float32 on cpu that is not empty")
    name = name or "x".join(str(n) for n in tensor.shape) or "scalar"
    exchange = _exchange(session, f"push_pull/{name}", tensor.shape, "mean")
    mean = exchange.run(tensor.detach().contiguous())
    if average:
        return mean
    # The servers' mean is over who took part; how many they were is the growth of a counter that each adds 1 to.
    counter = _exchange(session, f"push_pull/{name}#members", torch.Size([1]), "sum")
    before, counter.total = counter.total, counter.run(torch.ones(1)).item()
    return mean.mul_(counter.total - before)


class _Exchange:
    """One table with a clock of its own: each push of all members is an iteration."""

    def __init__(self, session, name, shape, optimizer):
        self.session = session
        self.shape = shape
        self.name = name
        self.total = 0.0
        self.table = session.worker.create_table(name, list(shape) or [1], own_clock=True, sync="bsp",
                                                 apply="aggregate:reduce=ordered", optimizer=optimizer)
        session.worker.start()
        zeros = torch.zeros(shape)
        with session.lending(zeros):
            session.worker.broadcast(self.table, zeros.data_ptr(), zeros.numel())

    def run(self, tensor):
        worker = self.session.worker
        result = torch.empty(tensor.shape)
        with self.session.lending(tensor, result):
            loan = worker.push(self.table, tensor.data_ptr(), tensor.numel(), _HYPER, 1)
            pull = worker.pull(self.table, result.data_ptr(), result.numel())
            try:
                worker.wait(loan.ticket)
            except LeewayError:
                worker.wait(pull)  # the tables of all members stay in step, also when a push was refused
                raise
            worker.wait(pull)
        return result


def _exchange(session, name, shape, optimizer):
    exchange = session.exchanges.get(name)
    if exchange is None:
        exchange = session.exchanges[name] = _Exchange(session, name, shape, optimizer)
    if exchange.shape != shape:
        raise InvalidArgument(f"{name}: got shape {list(shape)}, wanted {list(exchange.shape)} as in the first call; "
                              "give another name")
    return exchange
