"""Two workers under bsp, of which rank 1 does nothing for longer than a wait may go without a word.

    stall.py FOLDER PAUSE_S
"""

import sys
import time

import numpy as np

import leeway
from leeway import session
from leeway._leeway import Hyper

pause_s = float(sys.argv[2])
leeway.init()
worker = session.current().worker
values = [np.zeros(8, dtype=np.float32) for _ in range(2)]
gradient = np.ones(8, dtype=np.float32)
table = worker.create_table("w", [8], first=values[0].ctypes.data, second=values[1].ctypes.data)
worker.start()
if leeway.rank() == 0:
    worker.broadcast(table, values[0].ctypes.data, 8)
worker.sync(table)
while leeway.iteration() < 6:
    if leeway.rank() == 1 and leeway.iteration() == 3:
        time.sleep(pause_s)
    loan = worker.update(table, gradient.ctypes.data, 8, Hyper(lr=0.1), 1)
    session.current().clock()
    worker.sync(table)
    while not loan.released():
        time.sleep(0.001)
leeway.shutdown()
