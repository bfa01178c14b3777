"""Draws what workers of uneven pace do under each synchronization model: docs/pictures/timeline-<model>.svg.

    make pictures

The spans come from the simulator (`leeway timeline --sync MODEL --json`), so they are what the code does.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402: the backend comes first

ROOT = Path(__file__).resolve().parent.parent
# The name of the page, and the model that its picture shows.
MODELS = {"bsp": "bsp", "asp": "asp", "ssp": "ssp:2", "dsps": "dsps:1,6,4", "dssp": "dssp:1,6", "drop": "drop:3",
          "pssp": "pssp:2,0.5", "psp": "psp:3,5", "bounded": "bounded:2", "ssptable": "ssptable:2",
          "when": 'when:pull="progress < v_train + 2 || rand > 0.5",push="count >= workers"'}
BUSY, ALSO_BUSY, WAITS, INK = "#3566a8", "#7fa3d1", "#e4b9a1", "#222222"


def draw(run, path):
    figure, axes = plt.subplots(figsize=(8.5, 0.9 + 0.42 * run["workers"]), constrained_layout=True)
    steps = [0] * run["workers"]
    waited, worked = [0.0] * run["workers"], [0.0] * run["workers"]
    for span in run["spans"]:
        worker = span["worker"]
        wait, work = span["began_ms"] - span["asked_ms"], span["ended_ms"] - span["began_ms"]
        if wait > 0.3:
            axes.broken_barh([(span["asked_ms"], wait)], (worker - 0.16, 0.32), facecolors=WAITS)
        axes.broken_barh([(span["began_ms"], work)], (worker - 0.34, 0.68),
                         facecolors=ALSO_BUSY if steps[worker] % 2 else BUSY)
        if work > run["length_ms"] / 32:
            axes.text(span["began_ms"] + work / 2, worker, span["iteration"], ha="center", va="center", fontsize=7,
                      color="white")
        steps[worker] += 1
        waited[worker] += wait
        worked[worker] += work
    for worker, count in enumerate(steps):
        axes.text(run["length_ms"] * 1.01, worker,
                  f"{count} steps, waits {100 * waited[worker] / max(waited[worker] + worked[worker], 1e-9):.0f} %",
                  va="center", fontsize=8, color=INK)
    axes.set_xlim(0, run["length_ms"])
    axes.set_ylim(run["workers"] - 0.5, -0.5)
    axes.set_yticks(range(run["workers"]), [f"worker {i}" for i in range(run["workers"])], fontsize=8)
    axes.set_xlabel("simulated milliseconds; the number in a bar is its iteration", fontsize=8, color=INK)
    axes.tick_params(labelsize=8)
    axes.set_title(f"{run['sync']}   (pulls that waited: {run['delayed']}, late pushes dropped: {run['late_dropped']})",
                   loc="left", fontsize=10, color=INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.environ.get("LEEWAY_BUILD", ROOT / "build"), help="the build folder (%(default)s)")
    parser.add_argument("--out", default=ROOT / "docs/pictures", help="where they go (%(default)s)")
    arguments = parser.parse_args()
    matplotlib.rcParams["svg.hashsalt"] = "leeway"  # the same file for the same picture
    matplotlib.rcParams["svg.fonttype"] = "none"  # text as text: a third of the bytes
    for name, spec in MODELS.items():
        told = subprocess.run([Path(arguments.build) / "leeway", "timeline", "--sync", spec, "--json"],
                              capture_output=True, text=True, check=False, timeout=120)
        if told.returncode != 0:
            sys.exit(f"pictures: {spec}: {told.stderr.strip()}")
        path = Path(arguments.out) / f"timeline-{name}.svg"
        draw(json.loads(told.stdout), path)
        print(f"pictures: {path}")


if __name__ == "__main__":
    main()
