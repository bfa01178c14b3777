"""Leeway for PyTorch, in five lines:

    import leeway.torch as lw
    lw.init()                                                     # finds its launcher; alone it makes a 1-process job
    sampler = DistributedSampler(data, lw.size(), lw.rank())      # of torch.utils.data; or lw.BatchPool
    opt = lw.DistributedOptimizer(opt, model.named_parameters())  # the servers step, with the options of opt
    lw.broadcast_parameters(model.state_dict(), root_rank=0)

docs/pytorch.md says how training goes on.
"""

from leeway import (BatchPool, LeewayError, barrier, init, is_initialized, iteration, iterations, join, local_rank, rank,
                    register_state, restored_iteration, set_sync, shutdown, size)
from leeway.torch.assign import assign
from leeway.torch.broadcast import broadcast_parameters
from leeway.torch.elastic_sampler import ElasticSampler
from leeway.torch.lars import LARS
from leeway.torch.optimizer import DistributedOptimizer, no_sync
from leeway.torch.push_pull import push_pull

__all__ = ["BatchPool", "DistributedOptimizer", "ElasticSampler", "LARS", "LeewayError", "assign", "barrier", "broadcast_parameters", "init",
           "is_initialized", "iteration", "iterations", "join", "local_rank", "no_sync", "push_pull", "rank", "register_state",
           "restored_iteration", "set_sync", "shutdown", "size"]
