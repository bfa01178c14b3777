"""Workers under bsp, of which rank 1 takes its time before each gradient.

    slow_steps.py FOLDER STEPS SLOW_S

All of them leave once the file FOLDER/go is there.
"""

import os
import sys
import time
from pathlib import Path

from small_table import SmallTable

import leeway

folder, steps, slow_s = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
leeway.init()
table = SmallTable()
for _ in range(steps):
    if os.environ["LEEWAY_RANK"] == "1":
        time.sleep(slow_s)
    table.step()
while not (folder / "go").exists():
    time.sleep(0.01)
leeway.shutdown()
