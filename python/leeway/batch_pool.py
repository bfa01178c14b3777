"""BatchPool: one pool of the job's batches for all workers. A slow worker does less where its model lets others run ahead (asp).
"""

from collections import deque

import numpy as np

from leeway import session
from leeway.errors import InvalidArgument

# Batches in one lease: enough to make leases cheap. Towards the end the scheduler gives fewer.
RUN = 4


class BatchPool:
    """Iterates over numpy arrays of sample indices: `epochs` seeded permutations of `samples`, cut into batches.

    Every worker makes the same pool. The scheduler leases batch numbers, and each batch of the job goes to exactly one worker.
    When a worker dies, the scheduler leases those of its batches again whose gradients the servers do not have. A checkpoint
    holds the pool: a job that goes on from it continues with the next batch and with `progress`. The last batch of an epoch may
    be short. A script may leave a loop and begin another, which continues with the next batch. When the pool is used up the
    loop ends; call join() or shutdown() then.
    """

    def __init__(self, samples, batch, epochs=1, seed=0, name=None):
        for what, got in (("samples", samples), ("batch", batch), ("epochs", epochs)):
            if got < 1:
                raise InvalidArgument(f"BatchPool: {what} must be at least 1, got {got}")
        self._session = session.current()
        self.samples, self.batch, self.epochs, self.seed = samples, batch, epochs, seed
        self.per_epoch = -(-samples // batch)
        self.batches = self.per_epoch * epochs
        self.name = name or self._session.next_name("pool")
        self.epoch = 0       # of the last batch
        self.progress = 0.0  # of the job at that batch, from 0 to 1: for schedules that all workers share
        self._run = deque()  # leased, not yielded yet; outlives a loop that ends by break
        self._used = []      # of the present lease: the job's iteration in which the loop took each batch
        self._permutations = {}

    def __len__(self):
        """The number of batches of the whole job, not of this worker."""
        return self.batches

    def __iter__(self):
        while self._run or self._lease():
            number = self._run.popleft()
            self._note_last_used()
            self._used.append(self._session.worker.iteration())
            yield self.indices(number)

    def indices(self, number):
        """Returns the samples of batch `number`, equal on every worker."""
        self.epoch, place = divmod(number, self.per_epoch)
        self.progress = max(self.progress, number / self.batches)  # a batch of a dead worker is an old one
        return self._permutation(self.epoch)[place * self.batch:(place + 1) * self.batch]

    def _lease(self):
        """Leases more batches; false when the pool is used up."""
        self._note_last_used()
        with self._session.waiting():
            self._run.extend(self._session.worker.lease_batches(self.name, self.batches, RUN, self._used))
        self._used = []
        return bool(self._run)

    def _note_last_used(self):
        """Notes the last iteration that the worker has ended, since it may have left iterations out."""
        now = self._session.worker.iteration()
        if self._used and now > self._used[-1]:
            self._used[-1] = now - 1

    def _permutation(self, epoch):
        if epoch not in self._permutations:
            # Workers are at most about one lease apart, so the epochs in use are neighbours.
            self._permutations = {e: p for e, p in self._permutations.items() if e == epoch - 1}
            generator = np.random.Generator(np.random.PCG64([self.seed, epoch]))
            self._permutations[epoch] = generator.permutation(self.samples)
        return self._permutations[epoch]
