"""The books of one chaos run: the pushes that were made, those that the job counted, and every contradiction.

A push has a cell of its own in every block (programs/bookkeeper.py), so the final values say of each block which pushes it
counted. A unit of work (a batch of the pool, or an iteration of a rank) may be pushed by several lives, and counts once.
"""

from collections import Counter, defaultdict

import numpy as np

LR = 12.0  # of the bookkeeper


class Book:
    """The log of one life."""

    def __init__(self, path):
        self.rank, self.life = map(int, path.name.split(".")[:2])
        self.units, self.acknowledged, self.finished = {}, set(), False
        self.began, self.launch = 0.0, ""
        for line in path.read_text().splitlines():
            kind, *words = line.split()
            if kind == "L":
                self.began, self.launch = float(words[0]), words[1]
            elif kind == "P":
                self.units[int(words[0])] = int(words[1])
            elif kind == "A":
                self.acknowledged.add(int(words[0]))
            elif kind == "E":
                self.finished = True


def read_books(folder):
    return [Book(path) for path in sorted((folder / "books").glob("*.log"))]


def claims(folder):
    """Pushes that were begun so far."""
    counter = folder / "books" / "counter"
    return int(counter.read_text() or 0) if counter.exists() else 0


def anyone_finished(folder):
    """Some life has trained its last unit."""
    return any(path.read_bytes().endswith(b"E\n") for path in (folder / "books").glob("*.log"))


def expected(books, pool, all_done):
    """The pushes whose units must have counted, if they are not lost: all that were acknowledged in the last launch of the job.
    What was acknowledged in one before may be undone by --resume or a rollback. Then the pool hands it out again; without one
    its rank trains it again, unless it dies before: the next life begins where the others are."""
    began = {}
    for book in sorted(books, key=lambda book: book.began):
        began.setdefault(book.launch, len(began))
    last = len(began) - 1
    lives = Counter((book.rank, began[book.launch]) for book in books)
    finished = {book.rank for book in books if began[book.launch] == last and book.finished}

    def is_wanted(book):
        after = range(began[book.launch] + 1, last + 1)
        if pool or not after:
            return all_done or not after
        return book.rank in finished and all(lives[book.rank, launch] == 1 for launch in after)

    return {cell for book in books if is_wanted(book) for cell in book.acknowledged}


def audit(folder, workers, pool, all_done, lost, units):
    """(figures, problems) of a run that came to its end. `all_done`: the last life of every rank ended well; `lost`: what the
    job reported, in pushes of single blocks."""
    finals = [np.load(path) for path in sorted(folder.glob("final.*.npy"))]
    if not finals:
        return {}, ["no rank has final values"]
    problems = []
    if any(not np.array_equal(final, finals[0]) for final in finals):
        problems.append("the final values differ between ranks")
    values = finals[0].reshape(-1, finals[0].shape[-1])  # a row for each block
    books = read_books(folder)
    owner = {cell: book for book in books for cell in book.units}
    steps = np.array([0.0] + [LR / members for members in range(1, workers + 1)])
    odd = np.abs(values[..., None] - steps).min(axis=-1) > 0.01
    twice = int(odd.sum())
    for block, cell in np.argwhere(odd)[:3]:
        problems.append(f"block {block} moved cell {cell} by {values[block, cell]}, wanted one of {steps[1:].tolist()}")
    counted = np.abs(values) > 0.01
    ghosts = [cell for cell in np.flatnonzero(counted.any(axis=0)) if cell not in owner]
    if ghosts:
        problems.append(f"cells that nobody pushed have values: {ghosts[:5]}")

    cells_of = defaultdict(list)  # by unit
    for book in books:
        for cell, unit in book.units.items():
            cells_of[unit if pool else (book.rank, unit)].append(cell)
    wanted = expected(books, pool, all_done)
    doubled, missing = 0, 0
    for unit, cells in sorted(cells_of.items()):
        times = counted[:, cells].sum(axis=1)
        if times.max() > 1:
            if doubled == 0:  # one is enough to look into
                problems.append(f"unit {unit} was counted up to {times.max()} times: cells {cells}, by block {times.tolist()}, of "
                                f"lives {[(owner[cell].rank, owner[cell].life) for cell in cells]}")
            doubled += int((times[times > 1] - 1).sum())
        if any(cell in wanted for cell in cells):
            missing += int((times == 0).sum())
    untrained = units - len(cells_of) if pool else 0
    if untrained and all_done:
        problems.append(f"{untrained} of {units} batches were never trained, though every rank ended well")
    if missing > lost:
        problems.append(f"{missing} pushes are missing (one for each block), and the job reported {lost} as lost")
    figures = {"pushes": len(owner), "lives": len(books), "doubled": doubled + twice, "missing": missing, "lost": lost,
               "untrained": untrained}
    return figures, problems
