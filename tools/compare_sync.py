"""Trains the same job under one synchronization model after the other, with one worker that is slower, and compares them.

    make compare-sync                                     # all models: a table, a picture, JSON in out/compare-sync
    make compare-sync ARGS="--models bsp ssp:3 --epochs 1"

Real processes: `leeway run` with examples/fashion_mnist.py, all workers drawing batches from one pool, so every model trains on
the same number of samples. The models take turns (--rounds), since a shared machine is not the same from one minute to the next.
A snapshot of the parameters is taken every --evaluate-every seconds and evaluated when training is over. Exit code 3: some model's
run failed; what the others gave is there all the same.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

NEVER = math.inf
ROOT = Path(__file__).resolve().parent.parent
MODELS = ["bsp", "ssp:3", "pssp:3,0.5", "pssp:3,alpha=1", "dssp:3,12", "drop:3", "psp:3,20", "asp",
          "pssp:3,0.5,release=soft", "dssp:3,12,release=soft"]
COLORS = ["#222222", "#3566a8", "#c2571a", "#5a8f5a", "#8a4fa0", "#b8860b", "#2a9d8f", "#999999", "#e8a27c", "#c9a6d8"]


def train(leeway, python, model, arguments, folder):
    """One run. Gives its figures, or raises with the end of what it said."""
    summary, history = folder / "summary.json", folder / "history.json"
    command = [leeway, "run", "-w", str(arguments.workers), "-s", str(arguments.servers), "--sync", model,
               "--slow-worker", arguments.slow, "--summary-json", summary, "--",
               python, ROOT / "examples/fashion_mnist.py", "--epochs", str(arguments.epochs),
               "--evaluate-every", str(arguments.evaluate_every), "--history", history, "--plot", folder / "run.png"]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                           timeout=arguments.limit)
    if ended.returncode != 0:
        raise RuntimeError(f"ended with {ended.returncode}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    seen = json.loads(history.read_text(encoding="utf-8"))
    totals = json.loads(summary.read_text(encoding="utf-8"))["status"]["totals"]
    reached = [at for at, accuracy in seen["accuracies"] if accuracy >= arguments.target]
    return {"to_target_s": reached[0] if reached else None, "to_end_s": seen["seconds"], "accuracy": seen["accuracy"],
            "dprs": totals["server.dpr"], "wait_s": totals["worker.wait_values_s"],
            # Of blocks: dropped by servers, or not sent, since it was known to be late.
            "late": totals["worker.late_dropped"] + totals["worker.skipped_late"],
            "late_applied": totals["server.late_applied"], "curve": seen["accuracies"]}


def of_runs(runs, name):
    """In order. A run that never got there took longer than all others."""
    return sorted(NEVER if run[name] is None else run[name] for run in runs)


def median(runs, name):
    return statistics.median_high(of_runs(runs, name))


def range_of(runs, name):
    values = of_runs(runs, name)
    return "" if len(values) == 1 else f" ({seconds(values[0])}-{seconds(values[-1])})"


def seconds(value):
    return "never" if value in (None, NEVER) else f"{value:.1f}"


def table(results, arguments):
    """Rows of text, one per model, medians over the rounds with the least and the most."""
    head = ["model", f"to {100 * arguments.target:g} %, s", "all samples, s", "accuracy, %", "DPRs", "wait for values, s",
            "late, dropped", "late, applied"]
    rows = []
    for model, runs in results.items():
        if not runs:
            rows.append([model, "failed"] + [""] * (len(head) - 2))
            continue
        rows.append([model, seconds(median(runs, "to_target_s")) + range_of(runs, "to_target_s"),
                     seconds(median(runs, "to_end_s")) + range_of(runs, "to_end_s"),
                     f"{100 * median(runs, 'accuracy'):.2f}", f"{median(runs, 'dprs'):.0f}", f"{median(runs, 'wait_s'):.1f}",
                     f"{median(runs, 'late'):.0f}", f"{median(runs, 'late_applied'):.0f}"])
    return head, rows


def findings(results, arguments):
    """The expected order of the models, compared with the measured one, by medians."""
    known = {model: runs for model, runs in results.items() if runs}
    if "bsp" not in known or len(known) < 2:
        return []
    others = [model for model in known if model != "bsp"]
    slower = [model for model in others if median(known[model], "to_target_s") >= median(known["bsp"], "to_target_s")]
    worse = [f"{model} ({100 * (median(known[model], 'accuracy') - median(known['bsp'], 'accuracy')):+.2f})" for model in others
             if model != "asp" and median(known[model], "accuracy") < median(known["bsp"], "accuracy") - 0.015]
    return [f"{100 * arguments.target:g} % before bsp: " + (f"all but {', '.join(slower)}" if slower else "every relaxed model"),
            "final accuracy at most 1.5 points below bsp's: " +
            (f"all but {', '.join(worse)}" if worse else "every relaxed model (asp is not asked to)")]


def print_table(head, rows):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, ["-" * width for width in widths], *rows]:
        print("  " + "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))))


def draw(results, arguments, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 5.2), constrained_layout=True)
    for (model, runs), color in zip(results.items(), COLORS * 4):
        if not runs:
            continue
        run = sorted(runs, key=lambda one: one["to_end_s"])[len(runs) // 2]  # the one of median length
        times, percent = zip(*[(at, 100 * accuracy) for at, accuracy in run["curve"]])
        axes.plot(times, percent, color=color, linewidth=1.6, marker="o", markersize=2.5, label=model)
        axes.plot(times[-1:], percent[-1:], color=color, marker="D", markersize=6)
    axes.axhline(100 * arguments.target, color="#888888", linewidth=1, linestyle=(0, (5, 3)))
    axes.set_title(f"{arguments.workers} workers, one of them slower ({arguments.slow}), one pool of batches; a diamond: all "
                   "samples are done", loc="left", fontsize=9, color="#555555")
    axes.set_xlabel("seconds since the first batch")
    axes.set_ylabel("test accuracy, %")
    axes.set_ylim(60, 93)
    axes.set_xlim(left=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--models", nargs="+", default=MODELS, help="specs of the models (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each model, in turns (%(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="passes of a job over the training set (%(default)s)")
    parser.add_argument("--workers", type=int, default=4, help="(%(default)s)")
    parser.add_argument("--servers", type=int, default=2, help="(%(default)s)")
    parser.add_argument("--slow", default="3:4x", help="which worker is slow, and how much (%(default)s)")
    parser.add_argument("--target", type=float, default=0.85, help="the accuracy to reach (%(default)s)")
    parser.add_argument("--evaluate-every", type=float, default=1.0, metavar="S", help="seconds between snapshots (%(default)s)")
    parser.add_argument("--limit", type=float, default=900, metavar="S", help="of one run (%(default)s)")
    parser.add_argument("--build", default=os.environ.get("LEEWAY_BUILD", ROOT / "build"), help="the build folder (%(default)s)")
    parser.add_argument("--out", default=ROOT / "out/compare-sync", help="where the results go (%(default)s)")
    arguments = parser.parse_args()

    build, out = Path(arguments.build), Path(arguments.out)
    python = (build / "python/interpreter").read_text(encoding="utf-8").strip()
    results, failed = {model: [] for model in arguments.models}, False
    for number in range(arguments.rounds):
        for model in arguments.models:
            folder = out / f"{model.replace(':', '-').replace(',', '-').replace('=', '-')}.{number}"
            folder.mkdir(parents=True, exist_ok=True)
            print(f"compare-sync: {model}, round {number + 1} of {arguments.rounds} ...", end=" ", flush=True)
            try:
                run = train(build / "leeway", python, model, arguments, folder)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"failed: {error}", flush=True)
                failed = True
                continue
            results[model].append(run)
            print(f"{100 * run['accuracy']:.2f} % after {run['to_end_s']:.1f} s, {100 * arguments.target:g} % after "
                  f"{seconds(run['to_target_s'])} s", flush=True)
            (out / "results.json").write_text(json.dumps(results), encoding="utf-8")
    head, rows = table(results, arguments)
    print()
    print_table(head, rows)
    print()
    for finding in findings(results, arguments):
        print(finding)
    draw(results, arguments, out / "accuracy.png")
    print(f"accuracy over time: {out / 'accuracy.png'}; every figure: {out / 'results.json'}")
    return 3 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        sys.exit(f"compare-sync: {error}")
