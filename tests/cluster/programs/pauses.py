"""Workers under bsp, of which rank 1 makes no call for a while.

    pauses.py FOLDER WAIT_MAX_S PAUSE_S

WAIT_MAX_S is rank 0's own limit, "" for none of its own. PAUSE_S "": until the file FOLDER/go is there.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

import leeway
from leeway import session
from leeway._leeway import Hyper

folder, wait_max, pause_s = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
is_slow = os.environ["LEEWAY_RANK"] == "1"
leeway.init(wait_max=float(wait_max) if wait_max and not is_slow else None)
worker = session.current().worker
values = [np.zeros(8, dtype=np.float32) for _ in range(2)]
gradient = np.ones(8, dtype=np.float32)
table = worker.create_table("w", [8], first=values[0].ctypes.data, second=values[1].ctypes.data)
worker.start()
if leeway.rank() == 0:
    worker.broadcast(table, values[0].ctypes.data, 8)
worker.sync(table)
while leeway.iteration() < 4:
    if is_slow and leeway.iteration() == 2:
        if pause_s:
            time.sleep(float(pause_s))
        while not pause_s and not (folder / "go").exists():
            time.sleep(0.01)
    loan = worker.update(table, gradient.ctypes.data, 8, Hyper(lr=0.1), 1)
    session.current().clock()
    worker.sync(table)
    while not loan.released():
        time.sleep(0.001)
leeway.shutdown()
