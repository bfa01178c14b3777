"""A worker that stops before each part of its life until the test lets it go on.

    gates.py FOLDER ITERATIONS

It says "before PART", and waits for FOLDER/PART or FOLDER/PART.RANK. Every iteration adds 1 to every value of its table, so that
the final values say how many iterations counted. SIGTERM does not end it while FOLDER/stay is there.
"""

import signal
import sys
import time
from pathlib import Path

import numpy as np

import leeway
from leeway import session
from leeway._leeway import Hyper

ELEMENTS = 600
folder, iterations = Path(sys.argv[1]), int(sys.argv[2])
told_to_end = []


def gate(part, rank="all"):
    print(f"before {part}", flush=True)
    while not (folder / part).exists() and not (folder / f"{part}.{rank}").exists():
        if told_to_end and not (folder / "stay").exists():
            sys.exit(143)
        time.sleep(0.005)


def on_term(*_):
    told_to_end.append(True)
    if not (folder / "stay").exists():
        sys.exit(143)


signal.signal(signal.SIGTERM, on_term)
gate("join")
leeway.init()
rank = leeway.rank()
gate("define", rank)
worker = session.current().worker
values = [np.zeros(ELEMENTS, dtype=np.float32) for _ in range(2)]
gradient = np.full(ELEMENTS, -1, dtype=np.float32)
table = worker.create_table("w", [ELEMENTS], first=values[0].ctypes.data, second=values[1].ctypes.data)
worker.start()
gate("set", rank)
if rank == 0:
    worker.broadcast(table, values[0].ctypes.data, ELEMENTS)
worker.sync(table)
gate("train", rank)
while leeway.iteration() < iterations:
    loan = worker.push(table, gradient.ctypes.data, ELEMENTS, Hyper(lr=1.0), 1)
    session.current().clock()
    worker.sync(table)
    while not loan.released():
        time.sleep(0.0005)
    time.sleep(0.002)
gate("finish", rank)
leeway.join()
address = worker.sync(table)
final = next(buffer for buffer in values if buffer.ctypes.data == address)
print(f"final {final.min()} to {final.max()}", flush=True)
gate("leave", rank)
leeway.shutdown()
gate("end", rank)
