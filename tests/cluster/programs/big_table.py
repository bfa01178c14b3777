"""A worker whose first table is far too large for the server: it prints the error that it gets, and ends well."""

import sys
from pathlib import Path

import numpy as np

import leeway
from leeway import session

leeway.init()
worker = session.current().worker
elements = int(sys.argv[2])
buffers = [np.empty(elements, dtype=np.float32) for _ in range(2)]  # never touched, so they take no memory
worker.create_table("big", [elements], first=buffers[0].ctypes.data, second=buffers[1].ctypes.data)
try:
    worker.start()
    print("started", flush=True)
except Exception as error:  # whatever it is, the test reads it
    (Path(sys.argv[1]) / "refused").write_text(str(error))
