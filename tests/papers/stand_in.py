"""Answers like `leeway sim` and `leeway bench train` and takes no time: a run's figures follow from its settings. STAND_IN_LOG: a line for
each run that begins, and one for the end of each measurement. STAND_IN_HANG: a text; runs with it in their settings hang. STAND_IN_FAIL:
likewise, they fail. STAND_IN_BUSY, STAND_IN_IDLE: shares of the machine. STAND_IN_NO_NETWORK: why no network can be emulated."""
import json
import os
import sys
import time

words = sys.argv[1:]
STEPS_S = {"alone": 10, "traditional": 16, "wait-free": 32}


def log(text):
    with open(os.environ["STAND_IN_LOG"], "a", encoding="utf-8") as file:
        file.write(f"{text} pid {os.getpid()}\n")


def row_of(text, repeats):
    runs = [STEPS_S[text.split()[0]] * (1 + run / 100) for run in range(repeats)]
    row = {"row": text, "machines": 1 if text == "alone" else 4, "ceiling": 3.5, "idle": float(os.environ.get("STAND_IN_IDLE", "0.5")), "steps_s_runs": runs}
    return {**row, **{f"{name}_runs": [0.5] * repeats for name in ("computing", "waiting", "overlap", "gbit_s", "idle")}}


def bench_train():
    if "--check" in words:
        why = os.environ.get("STAND_IN_NO_NETWORK", "")
        return {"network": not why, "network_error": why}
    flags = {word[2:]: words[at + 1] for at, word in enumerate(words[:-1]) if word.startswith("--")}
    rows = flags["rows"].split("; ")
    if any(row.split()[0] not in STEPS_S for row in rows):
        sys.exit(f'leeway: --rows: row "{rows[-1]}"')
    if "write-scenario" in flags:
        with open(flags["write-scenario"], "w", encoding="utf-8") as file:
            file.write(f"# bench\n{flags['model']} {'; '.join(rows)}")
        return {}
    log(f"measured {flags['model']} begins")
    if os.environ.get("STAND_IN_FAIL", "-") in flags["model"]:
        sys.exit("leeway: the cards carry less than their rate")
    time.sleep(0.05)
    log(f"measured {flags['model']} ends")
    busy = float(os.environ.get("STAND_IN_BUSY", "0"))
    return {"model": flags["model"], "step_s": float(flags["step-ms"]) / 1e3, "net_bit_s": 1e9, "scale": 1, "steps": 20, "warm_up": 6,
            "probe_gbit_s": 0.95, "probe_idle": 0.8, "busy": busy, "busy_before": busy, "busy_during": busy, "stopped": False,
            "rows": [row_of(row, int(flags["repeats"])) for row in rows]}


if words[0] == "bench":
    json.dump(bench_train(), sys.stdout)
    sys.exit(0)
assert words[0] == "sim", words
sets = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--set")
if "--dry-run" in words:
    if sets.get("policies.sync") == "bpp":
        sys.exit('leeway: --set: policies.sync: unknown sync model "bpp"')
    print(f'name = "{os.path.basename(words[1])}"\niterations = {sets.pop("iterations", 10)}')
    print("".join(f'{key.replace(".", "_")} = "{value}"\n' for key, value in sorted(sets.items())))
    sys.exit(0)
with open(words[1], encoding="utf-8") as scenario:
    written = scenario.read()
if written.startswith("# bench"):
    time.sleep(0.3)
    log("simulated rows end")
    # 3 steps of 0.1 s; the second and third wait 0.02 s.
    run = {"iterations": 12, "compute_s": 0.3, "wait_s": 0.04, "errors": []}
    model, rows = written.split("\n")[1].split(" ", 1)
    json.dump({"cells": [{"label": row, "runs": [run]} for row in rows.split("; ") if row != "alone"]}, sys.stdout)
    sys.exit(0)
seed = int(words[words.index("--seed") + 1])
settings = " ".join(f"{key}={value}" for key, value in sorted(sets.items()))
log(f"{settings} seed {seed}")
if os.environ.get("STAND_IN_HANG", "-") in settings:
    time.sleep(300)
if os.environ.get("STAND_IN_FAIL", "-") in settings:
    sys.exit("leeway: it failed")
seconds = (20 if "bsp" in settings else 10) + seed / 10
curve = [{"seconds": seconds * at, "iteration": at, "loss": 1 / (at + 1), "accuracy": at / 10} for at in range(3)]
run = {"seed": seed, "seconds": seconds, "dprs": 0 if "asp" in settings else 7, "nothing": None, "curve": curve, "answers": [], "errors": []}
json.dump({"cells": [{"runs": [run]}]}, sys.stdout)
