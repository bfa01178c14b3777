"""A worker whose gradients depend on the iteration and on the values alone: however often the job goes back to a checkpoint,
it must end with the same bits.

    checkpoints.py FOLDER ITERATIONS PAUSE_S [HELD]

It pauses after every iteration until the folder holds `hurry`, and, with HELD 1, does not begin its last iterations without it.
"""

import sys
import time
from pathlib import Path

import numpy as np

import leeway
from leeway import session
from leeway._leeway import Hyper

ELEMENTS = 5000
LAST = 10  # iterations
folder, iterations, pause_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
held = sys.argv[4:] == ["1"]
hurry = Path(folder) / "hurry"
leeway.init()
worker = session.current().worker
values = [np.zeros(ELEMENTS, dtype=np.float32) for _ in range(2)]
table = worker.create_table("w", [ELEMENTS], first=values[0].ctypes.data, second=values[1].ctypes.data,
                            optimizer="adam")
worker.start()
if leeway.rank() == 0:
    worker.broadcast(table, values[0].ctypes.data, ELEMENTS)


def use():
    """The values as they are now."""
    address = worker.sync(table)
    return next(buffer for buffer in values if buffer.ctypes.data == address)


front = use()
print(f"begins in iteration {leeway.iteration()}")
while leeway.iteration() < iterations:
    while held and leeway.iteration() >= iterations - LAST and not hurry.exists():
        time.sleep(0.005)
    seed = leeway.iteration() * 100 + leeway.rank()
    gradient = np.random.default_rng(seed).standard_normal(ELEMENTS).astype(np.float32) + 0.1 * front
    loan = worker.push(table, gradient.ctypes.data, ELEMENTS, Hyper(lr=0.01), 1)
    session.current().clock()
    front = use()
    while not loan.released():
        time.sleep(0.0002)
    if not hurry.exists():
        time.sleep(pause_s)
    if leeway.iteration() % 20 == 0:
        print(f"is in iteration {leeway.iteration()}")
np.save(f"{folder}/final.{leeway.rank()}.npy", front)
leeway.shutdown()
