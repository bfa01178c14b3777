"""ElasticSampler: the job's shared pool of batches as a sampler for DataLoader, whose workers may draw batches ahead."""

from collections import deque

from torch.utils.data import Sampler

from leeway import session as _session
from leeway.batch_pool import RUN, BatchPool
from leeway.errors import InvalidArgument


class ElasticSampler(Sampler):
    """Gives a DataLoader batches from one pool of all ranks: under asp a slow rank does less, and no sample is left out.

        sampler = lw.ElasticSampler(data, batch=32, epochs=10)
        loader = DataLoader(data, batch_sampler=sampler, num_workers=2)
        for epoch in range(10):
            for x, y in loader:
                ...
        lw.join()

    data: the dataset, or how many samples it has. Each loop over the loader is one epoch; set_epoch(n) says which, otherwise
    loops are counted. The epoch of a rank ends when the pool has only batches of later ones. A batch that a dead worker has not
    trained on comes again, to another rank, and may be of an earlier epoch.

    steps: how many steps the script makes with each batch, of all optimizers together (2 in a GAN). By it Leeway knows which
    iteration trains on a batch that was drawn ahead: if this rank dies, batches of later iterations go to other ranks.
    """

    def __init__(self, data, batch, epochs=1, seed=0, steps=1, name=None):
        # Not super().__init__(), whose argument torch has deprecated.
        if steps < 1:
            raise InvalidArgument(f"ElasticSampler: steps must be at least 1, got {steps}")
        self._pool = BatchPool(data if isinstance(data, int) else len(data), batch, epochs, seed, name)
        self._session = _session.current()
        self._steps = steps
        self._run = deque()   # leased, not given to the loader yet
        self._last_use = -1   # the iteration that trains on the last leased batch, if the loop takes all of them
        self._loops = 0       # begun so far
        self._epoch = None    # of set_epoch()
        self.epochs = epochs

    def set_epoch(self, epoch):
        """The next loop is this epoch."""
        self._epoch = epoch

    @property
    def progress(self):
        """Of the job, from 0 to 1, as the last batch that was drawn tells."""
        return self._pool.progress

    def __len__(self):
        """The batches of one epoch of the whole job: no rank gets more, unless others die."""
        return self._pool.per_epoch

    def __iter__(self):
        epoch = self._loops if self._epoch is None else self._epoch
        self._loops, self._epoch = epoch + 1, None
        self._last_use = self._session.worker.iteration() - 1 + self._steps * len(self._run)
        while (self._run or self._lease()) and self._run[0] // self._pool.per_epoch <= epoch:
            yield self._pool.indices(self._run.popleft()).tolist()

    def _lease(self):
        """Leases more batches and says at once which iterations will train on them; false when the pool is used up."""
        worker, pool = self._session.worker, self._pool
        with self._session.waiting():
            self._run.extend(worker.lease_batches(pool.name, pool.batches, RUN, []))
            uses = []
            for _ in self._run:
                self._last_use = max(worker.iteration() - 1, self._last_use) + self._steps
                uses.append(self._last_use)
            if uses:
                worker.lease_batches(pool.name, pool.batches, 0, uses)  # wants none
        return bool(self._run)
