"""Two workers under bsp, of which rank 1 does nothing until the other has said in its log that it waits.

    stall.py FOLDER
"""

import sys
import time
from pathlib import Path

from small_table import SmallTable

import leeway

said = Path(sys.argv[1], "worker-0.log")
deadline = time.monotonic() + 300
leeway.init()
table = SmallTable()
while leeway.iteration() < 6:
    if leeway.rank() == 1 and leeway.iteration() == 3:
        while "what to do:" not in said.read_text() and time.monotonic() < deadline:
            time.sleep(0.1)
    table.step()
leeway.shutdown()
