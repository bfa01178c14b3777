"""Workers under bsp, of which rank 1 makes no call for a while.

    pauses.py FOLDER WAIT_MAX_S PAUSE_S

WAIT_MAX_S is rank 0's own limit, "" for none of its own. PAUSE_S "": until the file FOLDER/go is there.
"""

import os
import sys
import time
from pathlib import Path

from small_table import SmallTable

import leeway

folder, wait_max, pause_s = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
is_slow = os.environ["LEEWAY_RANK"] == "1"
leeway.init(wait_max=float(wait_max) if wait_max and not is_slow else None)
table = SmallTable()
while leeway.iteration() < 4:
    if is_slow and leeway.iteration() == 2:
        if pause_s:
            time.sleep(float(pause_s))
        while not pause_s and not (folder / "go").exists():
            time.sleep(0.01)
    table.step()
leeway.shutdown()
