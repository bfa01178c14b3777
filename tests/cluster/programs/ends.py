"""A worker that trains one small table and ends as its first argument says; with any other one it draws the bar.

    fail RANK         the rank raises an error; the others print lines until they are ended
    interrupted FILE  trains until Ctrl-C, then leaves, evaluates and writes what it found to FILE.RANK
    bar               draws a progress bar as tqdm does, 400 times
"""

import sys
import time

from small_table import SmallTable

import leeway

how = sys.argv[1] if sys.argv[1] in ("fail", "interrupted") else "bar"
leeway.init()
step = SmallTable().step


def fail():
    step()
    if leeway.rank() == int(sys.argv[2]):
        raise RuntimeError("a mistake in the script")
    while True:
        print("another rank goes on", file=sys.stderr)
        time.sleep(0.01)


def interrupted():
    try:
        for steps in range(1_000_000):
            step()
            if steps == 10:
                print("training")
    except KeyboardInterrupt:
        print("leaves early")
    leeway.join()
    with open(f"{sys.argv[2]}.{leeway.rank()}", "w", encoding="ascii") as out:
        out.write("evaluated")


def bar():
    step()
    for percent in range(400):
        print(f"\r{percent}/400 |####", end="", file=sys.stderr)
    print("\r400/400 |#####", file=sys.stderr)


{"fail": fail, "interrupted": interrupted, "bar": bar}[how]()
