"""BatchPool: the job's batches as one pool that all workers draw from, so that a slow worker does less wherever its model
lets the others run ahead (asp)."""

from collections import deque

import numpy as np

from leeway import session
from leeway.errors import InvalidArgument

# Batches asked for at a time: enough to make the question cheap. Towards the end the scheduler gives fewer.
_RUN = 4


class BatchPool:
    """Iterates over numpy arrays of sample indices: `epochs` seeded permutations of `samples`, cut into batches.

    Every worker makes the same pool; the scheduler leases batch numbers, and each batch of the job goes to exactly one
    worker. When a worker dies, the batches whose gradients the servers do not have are leased again. A checkpoint holds the
    pool: a job that goes on from one goes on with the next batch, and with `progress`. The last batch of an epoch may be
    short. A loop may be left and another begun: it goes on with the next batch. When the pool is used up the iteration ends;
    call join() or shutdown() then.
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
        self.epoch = 0       # of the batch given last
        self.progress = 0.0  # of the whole job at that batch, from 0 to 1: for schedules that all workers share
        self._run = deque()  # leased and not given yet; outlives a loop that is left by break
        self._used = []      # of the lease under way: the job's iteration in which each batch was given
        self._permutations = {}

    def __len__(self):
        """Batches of the whole job, not of this worker."""
        return self.batches

    def __iter__(self):
        while self._run or self._lease():
            number = self._run.popleft()
            self._note_last_used()
            self._used.append(self._session.worker.iteration())
            yield self.indices(number)

    def indices(self, number):
        """The samples of batch `number`, the same on every worker."""
        self.epoch, place = divmod(number, self.per_epoch)
        self.progress = max(self.progress, number / self.batches)  # a batch that came back is an old one
        return self._permutation(self.epoch)[place * self.batch:(place + 1) * self.batch]

    def _lease(self):
        """Leases another run; false when the pool is used up."""
        self._note_last_used()
        with self._session.waiting():
            self._run.extend(self._session.worker.lease_batches(self.name, self.batches, _RUN, self._used))
        self._used = []
        return bool(self._run)

    def _note_last_used(self):
        """The worker may have left iterations out since: what counts is the last one that it has ended."""
        now = self._session.worker.iteration()
        if self._used and now > self._used[-1]:
            self._used[-1] = now - 1

    def _permutation(self, epoch):
        if epoch not in self._permutations:
            # Workers are at most about one run apart, so the epochs in use are neighbours.
            self._permutations = {e: p for e, p in self._permutations.items() if e == epoch - 1}
            generator = np.random.Generator(np.random.PCG64([self.seed, epoch]))
            self._permutations[epoch] = generator.permutation(self.samples)
        return self._permutations[epoch]
