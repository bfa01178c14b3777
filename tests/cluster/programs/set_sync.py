"""A worker that trains two tables until FOLDER/stop is there. Rank 0 sets the given models, one every 15 iterations, and says
what came of it; then it makes the file itself.

    set_sync.py FOLDER [MODEL...]
"""

import sys
import time
from pathlib import Path

import numpy as np

import leeway
from leeway import session
from leeway._leeway import Hyper

ELEMENTS = 3000
folder, models = Path(sys.argv[1]), sys.argv[2:]
leeway.init()
worker = session.current().worker
rng = np.random.default_rng(leeway.rank())
gradients = [rng.standard_normal(ELEMENTS).astype(np.float32) for _ in range(8)]  # never changed: may be lent for ever
tables = []
for name in ("fc1", "conv1"):
    buffers = [np.zeros(ELEMENTS, dtype=np.float32) for _ in range(2)]
    table = worker.create_table(name, [ELEMENTS], first=buffers[0].ctypes.data, second=buffers[1].ctypes.data)
    tables.append((table, buffers))
worker.start()
if leeway.rank() == 0:
    for table, buffers in tables:
        worker.broadcast(table, buffers[0].ctypes.data, ELEMENTS)


def set_next():
    model = models.pop(0)
    try:
        print(f"set {model}: {leeway.set_sync(model, tables='fc*', server=1)} tables", flush=True)
    except leeway.LeewayError as error:
        print(f"refused {model}: {error}", flush=True)


steps = 0
set_any = bool(models)
while not (folder / "stop").exists():
    for table, _ in tables:
        worker.sync(table)
        worker.push(table, gradients[steps % len(gradients)].ctypes.data, ELEMENTS, Hyper(lr=0.001), 1)
    session.current().clock()
    steps += 1
    time.sleep(0.002)
    if leeway.rank() == 0 and set_any and steps % 15 == 0:
        if models:
            set_next()
        else:
            (folder / "stop").touch()
leeway.shutdown()
print(f"made {steps} steps", flush=True)
