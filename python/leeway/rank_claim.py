"""RankClaim: one process per rank; a second process that joins as the same rank gets an error.

A launcher gives a rank to one process by environment variables, and its children inherit them. A child that joined would take
the rank away from its parent, or from another child.
"""

import errno
import multiprocessing
import os
import socket
import zlib

from leeway import environment
from leeway.errors import FailedPrecondition

_CURE = ("a rank is one process: let the launcher start the processes (leeway run -w N -- script) instead of the script, and "
         "call init() in no child process (those that only load data need none)")


class RankClaim:
    """The process that is the rank holds it until it leaves the job."""

    def __init__(self, scheduler, job, rank):
        """Raises if the process that started this one holds the rank, or another child of it. -1 is always free: the scheduler
        picks a rank."""
        self.job = (scheduler, job)
        self._socket = None
        if rank < 0:
            return
        holder = environment.rank_holder(scheduler, job, rank)
        if holder is not None:
            raise FailedPrecondition(f"init() in process {os.getpid()}: rank {rank} is process {holder}, which started this "
                                     f"one; {_CURE}")
        parent = multiprocessing.parent_process()
        if parent is not None:
            self._claim_among_children(parent.pid, f"{scheduler} {job}", rank)
        environment.set_rank_holder(scheduler, job, rank)

    def _claim_among_children(self, parent, job, rank):
        # The kernel frees an abstract address when this process ends, however it ends.
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.bind(f"\0leeway rank {rank} of {parent} {zlib.crc32(job.encode())}")
        except OSError as error:
            self._socket.close()
            if error.errno != errno.EADDRINUSE:
                raise
            raise FailedPrecondition(f"init() in process {os.getpid()}: another child of process {parent} has joined as rank "
                                     f"{rank}; {_CURE}") from None

    def release(self):
        environment.clear_rank_holder()
        if self._socket is not None:
            self._socket.close()
