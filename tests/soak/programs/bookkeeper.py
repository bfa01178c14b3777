"""A worker of the chaos runs: every push leaves its mark in a cell of its own, in every block of two tables.

    bookkeeper.py FOLDER UNITS CELLS BLOCKS POOL BARRIER PAUSE_S

Without a pool a unit of work is an iteration of this rank, and the rank trains up to iteration UNITS. With one (POOL 1) a unit
is a batch of a pool of UNITS batches. A push claims the next cell of the folder's counter and has a gradient of -1 there, in
each of the BLOCKS blocks of CELLS values of both tables. FOLDER/books/RANK.LIFE.log tells of each push before it is made ("P
cell unit") and when every block has given its verdict ("A cell"), and of the end of the training ("E"); its first line says when
the life began, and in which launch of the job. The final values go to
FOLDER/final.RANK.npy. The worker pauses after every push until the folder holds `hurry`.
"""

import fcntl
import os
import sys
import time
from pathlib import Path

import numpy as np

import leeway
from leeway import session
from leeway._leeway import Hyper

LR = 12.0  # a push moves its cell by 12, 6, 4 or 3, with 1 to 4 members


class Book:
    """The pushes of this life. A line is in the file once the call returns, even if the process dies right after."""

    def __init__(self, folder, rank):
        folder.mkdir(exist_ok=True)
        for life in range(1000):
            try:
                self._log = os.open(folder / f"{rank}.{life}.log", os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND)
                break
            except FileExistsError:
                continue
        self._counter = os.open(folder / "counter", os.O_CREAT | os.O_RDWR)
        self.write(f"L {time.time()} {os.environ['LEEWAY_SCHEDULER']}")

    def claim(self):
        """A cell that no other push has."""
        fcntl.flock(self._counter, fcntl.LOCK_EX)
        try:
            cell = int(os.pread(self._counter, 20, 0) or b"0")
            os.pwrite(self._counter, b"%020d" % (cell + 1), 0)
            return cell
        finally:
            fcntl.flock(self._counter, fcntl.LOCK_UN)

    def write(self, line):
        os.write(self._log, line.encode() + b"\n")


class Table:
    """One table with the same number of cells in each of its blocks."""

    def __init__(self, worker, name, blocks, cells):
        self._worker, self._blocks, self._cells = worker, blocks, cells
        self.values = [np.zeros(blocks * cells, dtype=np.float32) for _ in range(2)]
        self.front = self.values[0]
        self._gradient = np.zeros(blocks * cells, dtype=np.float32)
        self.id = worker.create_table(name, [blocks * cells], first=self.values[0].ctypes.data,
                                      second=self.values[1].ctypes.data, optimizer="sgd")

    def push(self, cell):
        self._gradient[:] = 0
        self._gradient[cell::self._cells] = -1
        return self._worker.push(self.id, self._gradient.ctypes.data, self._gradient.size, Hyper(lr=LR), 1)

    def sync(self):
        address = self._worker.sync(self.id)
        self.front = next(buffer for buffer in self.values if buffer.ctypes.data == address)


def main():
    folder, units, cells, blocks = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    has_pool, has_barrier, pause_s = sys.argv[5] == "1", sys.argv[6] == "1", float(sys.argv[7])
    hurry = folder / "hurry"
    leeway.init()
    rank = leeway.rank()
    book = Book(folder / "books", rank)
    worker = session.current().worker
    tables = [Table(worker, name, blocks, cells) for name in ("a", "b")]
    worker.start()
    if rank == 0:
        for table in tables:
            worker.broadcast(table.id, table.front.ctypes.data, table.front.size)
    for table in tables:
        table.sync()

    def train(unit):
        cell = book.claim()
        if cell >= cells:
            sys.exit(f"cell {cell}, wanted fewer than {cells}")
        book.write(f"P {cell} {unit}")
        loans = [table.push(cell) for table in tables]
        session.current().clock()
        for table in tables:
            table.sync()
        while not all(loan.released() for loan in loans):
            time.sleep(0.0005)
        book.write(f"A {cell}")
        if not hurry.exists():
            time.sleep(pause_s)

    if has_pool:
        for batch in leeway.BatchPool(units, 1, seed=1):
            train(int(batch[0]))
    else:
        while leeway.iteration() < units:
            train(leeway.iteration())
    book.write("E")
    if has_barrier:
        leeway.barrier("end")
    leeway.join()
    for table in tables:
        table.sync()
    whole = folder / f"final.{rank}.npy"
    np.save(folder / f"part.{rank}.npy", np.stack([table.front.reshape(blocks, cells) for table in tables]))
    os.replace(folder / f"part.{rank}.npy", whole)
    leeway.shutdown()


if __name__ == "__main__":
    main()
