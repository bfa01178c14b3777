"""Trains the same job under one synchronization model after the other, with one worker that is slower, and compares them.

    make compare-sync                                     # all models: a table, a picture, JSON in out/compare-sync
    make compare-sync ARGS="--models bsp ssp:3 --epochs 1"

Real processes: `leeway run` with examples/fashion_mnist.py, all workers drawing batches from one pool, so every model trains on
the same number of samples. The models take turns (--rounds), since a shared machine is not the same from one minute to the next.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODELS = ["bsp", "ssp:3", "pssp:3,0.5", "pssp:3,alpha=1", "dssp:3,12", "drop:3", "psp:3,20", "asp"]
COLORS = ["#222222", "#3566a8", "#c2571a", "#5a8f5a", "#8a4fa0", "#b8860b", "#2a9d8f", "#999999"]


def train(leeway, python, model, arguments, folder):
    """One run. Gives its figures, or raises with the end of what it said."""
    summary, history = folder / "summary.json", folder / "history.json"
    command = [leeway, "run", "-w", str(arguments.workers), "-s", str(arguments.servers), "--sync", model,
               "--slow-worker", arguments.slow, "--block-bytes", "64KiB", "--summary-json", summary, "--",
               python, ROOT / "examples/fashion_mnist.py", "--epochs", str(arguments.epochs),
               "--evaluate-every", str(arguments.evaluate_every), "--history", history, "--plot", folder / "run.png"]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                           timeout=arguments.limit)
    if ended.returncode != 0:
        raise RuntimeError(f"{model}: ended with {ended.returncode}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    seen = json.loads(history.read_text(encoding="utf-8"))
    totals = json.loads(summary.read_text(encoding="utf-8"))["status"]["totals"]
    reached = [at for at, accuracy in seen["accuracies"] if accuracy >= arguments.target]
    return {"to_target_s": reached[0] if reached else None, "to_end_s": seen["seconds"], "accuracy": seen["accuracy"],
            "dprs": totals["server.dpr"], "pulls": totals["server.pulls"], "wait_s": totals["worker.wait_s"],
            "late_dropped": totals.get("worker.late_dropped", 0) + totals.get("worker.skipped_late", 0),
            "curve": seen["accuracies"]}


def median(runs, name):
    known = [run[name] for run in runs if run[name] is not None]
    return statistics.median(known) if known else None


def table(results, arguments):
    """Rows of text, one per model, medians over the rounds."""
    head = ["model", f"to {100 * arguments.target:g} %, s", "all samples, s", "accuracy, %", "DPRs", "DPR %", "wait of all, s",
            "late dropped"]
    rows = []
    for model, runs in results.items():
        to_target = median(runs, "to_target_s")
        rows.append([model, "never" if to_target is None else f"{to_target:.1f}", f"{median(runs, 'to_end_s'):.1f}",
                     f"{100 * median(runs, 'accuracy'):.2f}", f"{median(runs, 'dprs'):.0f}",
                     f"{100 * median(runs, 'dprs') / max(median(runs, 'pulls'), 1):.1f}", f"{median(runs, 'wait_s'):.1f}",
                     f"{median(runs, 'late_dropped'):.0f}"])
    return head, rows


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
        run = sorted(runs, key=lambda one: one["to_end_s"])[len(runs) // 2]  # the one of median length
        seconds, percent = zip(*[(at, 100 * accuracy) for at, accuracy in run["curve"]])
        axes.plot(seconds, percent, color=color, linewidth=1.6, marker="o", markersize=2.5, label=model)
        axes.plot(seconds[-1:], percent[-1:], color=color, marker="D", markersize=6)
    axes.axhline(100 * arguments.target, color="#888888", linewidth=1, linestyle=(0, (5, 3)))
    axes.set_title(f"{arguments.workers} workers, one of them slower ({arguments.slow}), one pool of batches; a diamond: all "
                   "samples done, all 10,000 test images", loc="left", fontsize=9, color="#555555")
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
    parser.add_argument("--rounds", type=int, default=1, help="runs of each model, in turns (%(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="passes of a job over the training set (%(default)s)")
    parser.add_argument("--workers", type=int, default=4, help="(%(default)s)")
    parser.add_argument("--servers", type=int, default=2, help="(%(default)s)")
    parser.add_argument("--slow", default="3:4x", help="which worker is slow, and how much (%(default)s)")
    parser.add_argument("--target", type=float, default=0.85, help="the accuracy to reach (%(default)s)")
    parser.add_argument("--evaluate-every", type=float, default=1.5, metavar="S", help="seconds between evaluations (%(default)s)")
    parser.add_argument("--limit", type=float, default=900, metavar="S", help="of one run (%(default)s)")
    parser.add_argument("--build", default=os.environ.get("LEEWAY_BUILD", ROOT / "build"), help="the build folder (%(default)s)")
    parser.add_argument("--out", default=ROOT / "out/compare-sync", help="where the results go (%(default)s)")
    arguments = parser.parse_args()

    build, out = Path(arguments.build), Path(arguments.out)
    python = (build / "python/interpreter").read_text(encoding="utf-8").strip()
    results = {model: [] for model in arguments.models}
    for number in range(arguments.rounds):
        for model in arguments.models:
            folder = out / f"{model.replace(':', '-').replace(',', '-').replace('=', '-')}.{number}"
            folder.mkdir(parents=True, exist_ok=True)
            print(f"compare-sync: {model}, round {number + 1} of {arguments.rounds} ...", end=" ", flush=True)
            run = train(build / "leeway", python, model, arguments, folder)
            results[model].append(run)
            reached = "never" if run["to_target_s"] is None else f"{run['to_target_s']:.1f} s"
            print(f"{100 * run['accuracy']:.2f} % after {run['to_end_s']:.1f} s, {100 * arguments.target:g} % after {reached}")
    head, rows = table(results, arguments)
    print()
    print_table(head, rows)
    (out / "results.json").write_text(json.dumps(results), encoding="utf-8")
    draw(results, arguments, out / "accuracy.png")
    print(f"\naccuracy over time: {out / 'accuracy.png'}; every figure: {out / 'results.json'}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"compare-sync: {error}")
