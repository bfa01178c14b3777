"""A worker that starts children which call init() too: before it has joined, or after (the argument)."""

import multiprocessing
import sys

import leeway


def join(outcomes, done):
    try:
        leeway.init()
        outcomes.put("joined")
    except leeway.LeewayError as error:
        outcomes.put(str(error))
    done.wait()  # a rank is taken as long as its process is there


if __name__ == "__main__":
    if sys.argv[1] == "after":
        leeway.init()
    context = multiprocessing.get_context("spawn")
    outcomes, done = context.Queue(), context.Event()
    children = [context.Process(target=join, args=(outcomes, done)) for _ in range(2)]
    for child in children:
        child.start()
    for _ in children:
        print(outcomes.get(timeout=300), flush=True)
    done.set()
    for child in children:
        child.join()
