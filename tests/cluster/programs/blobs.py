"""A worker that learns to tell clouds of points apart: softmax regression, without PyTorch, which takes longer to start than
these tests have time.

    blobs.py FOLDER ITERATIONS PAUSE_S

It pauses after every iteration, so that a test has time to do something to the job, until the folder holds `hurry`; without
that file it does not begin its last iterations, however late the test is. At its end
it says how much of the data the job's parameters get right, and in which iteration the part of them that has stood still the
longest changed last: a server that takes gradients and learns nothing of them hardly shows in the former.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

import leeway
from leeway import session
from leeway._leeway import Hyper

FEATURES, CLASSES, POINTS, BATCH = 24, 6, 3000, 32
PART = 32  # elements: a block of 128 bytes
LAST = 20  # iterations
hurry, iterations, pause_s = Path(sys.argv[1]) / "hurry", int(sys.argv[2]), float(sys.argv[3])
life = os.environ.get("LEEWAY_RESTART", "-1")
rng = np.random.default_rng(5)
centers = rng.normal(0, 1.0, (CLASSES, FEATURES))
labels = rng.integers(0, CLASSES, POINTS)
points = (centers[labels] + rng.normal(0, 1.0, (POINTS, FEATURES))).astype(np.float32)
points = np.hstack([points, np.ones((POINTS, 1), np.float32)])
shape = (FEATURES + 1, CLASSES)
elements = shape[0] * shape[1]

leeway.init()
worker = session.current().worker
values = [np.zeros(elements, dtype=np.float32) for _ in range(2)]
table = worker.create_table("w", [elements], first=values[0].ctypes.data, second=values[1].ctypes.data)
worker.start()
if leeway.rank() == 0:
    worker.broadcast(table, values[0].ctypes.data, elements)


def use():
    """The values as they are now."""
    address = worker.sync(table)
    return next(buffer for buffer in values if buffer.ctypes.data == address).reshape(shape)


def gradient_of(weights, chosen):
    scores = points[chosen] @ weights
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    scores[np.arange(len(chosen)), labels[chosen]] -= 1
    return np.ascontiguousarray((points[chosen].T @ scores / len(chosen)).reshape(-1), dtype=np.float32)


weights = use()
before, changed = weights.reshape(-1).copy(), np.full(-(-elements // PART), leeway.iteration())
while leeway.iteration() < iterations:
    if leeway.iteration() >= iterations - LAST and not hurry.exists():
        print(f"life {life} pid {os.getpid()} iteration {leeway.iteration()}")
        while not hurry.exists():
            time.sleep(0.005)
    batch = np.random.default_rng(leeway.iteration() * 100 + leeway.rank()).integers(0, POINTS, BATCH)
    gradient = gradient_of(weights, batch)
    loan = worker.push(table, gradient.ctypes.data, elements, Hyper(lr=0.1), BATCH)
    session.current().clock()
    weights = use()
    while not loan.released():
        time.sleep(0.0005)
    for part in np.unique(np.nonzero(weights.reshape(-1) != before)[0] // PART):
        changed[part] = leeway.iteration()
    before[:] = weights.reshape(-1)
    if not hurry.exists():
        time.sleep(pause_s)
    if leeway.iteration() % 10 == 0:
        print(f"life {life} pid {os.getpid()} iteration {leeway.iteration()}")
right = float((np.argmax(points @ weights, axis=1) == labels).mean())
leeway.shutdown()
print(f"accuracy {right:.4f}, all parts changed in iteration {changed.min()} or later")
