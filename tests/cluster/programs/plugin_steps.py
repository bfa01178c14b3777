"""A worker that makes steps on a table with an optimizer (after the test's folder and the number of steps), and says what became of it.

The policies are those of the job and of its plug-ins; a plug-in in the last argument is given to init().
"""

import sys

from small_table import SmallTable

import leeway
from leeway import session

steps, optimizer = int(sys.argv[2]), sys.argv[3]
leeway.init(plugins=sys.argv[4:] or None)
table = SmallTable(optimizer)
for _ in range(steps):
    table.step()
last, counters = table.last(), session.current().worker.counters()
leeway.shutdown()
print(f"w {last:.3f} skipped {counters['exchanges_skipped']}")
