"""Two workers under bsp, of which rank 1 does nothing for longer than a wait may go without a word.

    stall.py FOLDER PAUSE_S
"""

import sys
import time

from small_table import SmallTable

import leeway

pause_s = float(sys.argv[2])
leeway.init()
table = SmallTable()
while leeway.iteration() < 6:
    if leeway.rank() == 1 and leeway.iteration() == 3:
        time.sleep(pause_s)
    table.step()
leeway.shutdown()
