"""A worker that trains one small table until the test's folder holds `stop`, and says now and then how far it is.

Without PyTorch, which takes longer to start than these tests have time. It has a child of its own, as one with a data loader
would.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import leeway
from leeway import session
from leeway._leeway import Hyper

ELEMENTS = 1000
stop = Path(sys.argv[1]) / "stop"
life = int(os.environ.get("LEEWAY_RESTART", "-1"))
child = subprocess.Popen(["sleep", "600"])
leeway.init()
worker = session.current().worker
values = [np.zeros(ELEMENTS, dtype=np.float32) for _ in range(2)]
gradient = np.full(ELEMENTS, 0.001, dtype=np.float32)
table = worker.create_table("w", [ELEMENTS], first=values[0].ctypes.data, second=values[1].ctypes.data)
worker.start()
if leeway.rank() == 0:
    worker.broadcast(table, values[0].ctypes.data, ELEMENTS)
worker.sync(table)
steps = 0
while not stop.exists():
    loan = worker.push(table, gradient.ctypes.data, ELEMENTS, Hyper(lr=0.1), 1)
    session.current().clock()
    worker.sync(table)
    while not loan.released():  # under asp nothing else says that the gradient may be reused
        time.sleep(0.0005)
    time.sleep(0.005)
    steps += 1
    if steps % 20 == 0:
        print(f"life {life} pid {os.getpid()} steps {steps} iteration {leeway.iteration()}")
leeway.shutdown()
child.kill()
child.wait()
print(f"life {life} ends well after {steps} steps")
