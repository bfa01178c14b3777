"""Answers like `leeway sim` and takes no time: a run's figures follow from its settings. STAND_IN_LOG: a line for each run that begins.
STAND_IN_HANG: a text; runs with it in their settings hang. STAND_IN_FAIL: likewise, they fail."""
import json
import os
import sys
import time

words = sys.argv[1:]
assert words[0] == "sim", words
sets = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--set")
if "--dry-run" in words:
    if sets.get("policies.sync") == "bpp":
        sys.exit('leeway: --set: policies.sync: unknown sync model "bpp"')
    print(f'name = "{os.path.basename(words[1])}"\niterations = {sets.pop("iterations", 10)}')
    print("".join(f'{key.replace(".", "_")} = "{value}"\n' for key, value in sorted(sets.items())))
    sys.exit(0)
seed = int(words[words.index("--seed") + 1])
settings = " ".join(f"{key}={value}" for key, value in sorted(sets.items()))
with open(os.environ["STAND_IN_LOG"], "a", encoding="utf-8") as log:
    log.write(f"{settings} seed {seed} pid {os.getpid()}\n")
if os.environ.get("STAND_IN_HANG", "-") in settings:
    time.sleep(300)
if os.environ.get("STAND_IN_FAIL", "-") in settings:
    sys.exit("leeway: it failed")
seconds = (20 if "bsp" in settings else 10) + seed / 10
curve = [{"seconds": seconds * at, "iteration": at, "loss": 1 / (at + 1), "accuracy": at / 10} for at in range(3)]
run = {"seed": seed, "seconds": seconds, "dprs": 0 if "asp" in settings else 7, "nothing": None, "curve": curve, "answers": [], "errors": []}
json.dump({"cells": [{"runs": [run]}]}, sys.stdout)
