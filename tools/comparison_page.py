"""The page of tools/compare_sync.py: tables, the sentences that they give, and the picture."""

import math
import statistics

NEVER = math.inf
COLORS = ["#222222", "#3566a8", "#c2571a", "#5a8f5a", "#8a4fa0", "#b8860b", "#2a9d8f", "#999999", "#e8a27c", "#c9a6d8"]


def of_runs(runs, name):
    """In order. A run that never got there took longer than all others."""
    return sorted(NEVER if run[name] is None else run[name] for run in runs)


def median(runs, name):
    return statistics.median_high(of_runs(runs, name))


def seconds(value):
    return "never" if value in (None, NEVER) else f"{value:.1f}"


def spread(runs, name):
    """The median, with the least and the most of several runs."""
    values = of_runs(runs, name)
    around = "" if len(values) == 1 else f" ({seconds(values[0])} to {seconds(values[-1])})"
    return seconds(statistics.median_high(values)) + around


def rows_of(results, own, target):
    """Head and rows of one pattern. results: model -> runs; own: model -> (rate, run), for some of the models."""
    head = ["model", f"to {100 * target:g} %, s", "all samples, s", "accuracy, %", "delayed pulls", "waits for values, s", "late"]
    if own:
        head += ["own rate", f"own: to {100 * target:g} %, s", "own: all samples, s", "own: accuracy, %"]
    rows = []
    for model, runs in results.items():
        row = [f"`{model}`"]
        if runs:
            late = median(runs, "late") + median(runs, "late_applied")
            row += [spread(runs, "to_target_s"), spread(runs, "to_end_s"), f"{100 * median(runs, 'accuracy'):.2f}",
                    f"{median(runs, 'dprs'):,.0f}", f"{median(runs, 'wait_s'):.1f}", f"{late:,.0f}"]
        else:
            row += ["no run"] + [""] * 5
        if model in own:
            rate, run = own[model]
            row += [f"{rate:g}", seconds(run["to_target_s"]), seconds(run["to_end_s"]), f"{100 * run['accuracy']:.2f}"]
        rows.append(row + [""] * (len(head) - len(row)))
    return head, rows


def against(runs, baseline, name):
    """"before", "after", or "beside" where the ranges of the two overlap."""
    a, b = of_runs(runs, name), of_runs(baseline, name)
    return "before" if a[-1] < b[0] else "after" if a[0] > b[-1] else "beside"


def findings(results, target, baseline="bsp"):
    """Sentences about one pattern. A difference counts if the ranges over the rounds do not overlap."""
    known = {model: runs for model, runs in results.items() if runs}
    if baseline not in known or len(known) < 2:
        return []
    once = max(map(len, known.values())) == 1
    said = ["One round tells no spread: what stands below may be chance."] if once else []
    clearly = "" if once else "clearly "
    for name, what in (("to_target_s", f"{100 * target:g} %"), ("to_end_s", "the end of all samples")):
        where = {"before": [], "after": [], "beside": []}
        for model, runs in known.items():
            if model != baseline:
                where[against(runs, known[baseline], name)].append(f"`{model}`")
        parts = [f"{', '.join(models)} {how}" for how, models in (
            (f"{clearly}before `{baseline}`", where["before"]), (f"{clearly}after `{baseline}`", where["after"]),
            ("not told apart from it by these rounds", where["beside"])) if models]
        at = median(known[baseline], name)
        said.append(f"To {what} ({'never' if at == NEVER else f'{at:.1f} s'} under `{baseline}`): {'; '.join(parts)}.")
    points = {model: 100 * (median(runs, "accuracy") - median(known[baseline], "accuracy")) for model, runs in known.items()}
    del points[baseline]
    worst, best = min(points, key=points.get), max(points, key=points.get)
    said.append(f"Final accuracy against `{baseline}`: from {points[worst]:+.2f} points (`{worst}`) to {points[best]:+.2f} (`{best}`).")
    return said


def markdown(sections, intro):
    """sections: (title, head, rows, findings) of each pattern."""
    lines = ["# Synchronization models compared", "", *intro, ""]
    for title, head, rows, said in sections:
        lines += [f"## {title}", "", *(f"- {sentence}" for sentence in said), ""]
        lines += ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows]] + [""]
    return "\n".join(lines + ["![Accuracy against time](accuracy.png)", ""])


def draw(patterns, target, path):
    """A panel for each pattern. patterns: title -> model -> runs."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(patterns), figsize=(1 + 6 * len(patterns), 5), sharey=True, squeeze=False,
                                  constrained_layout=True)
    for axes, (title, results) in zip(panels[0], patterns.items()):
        for (model, runs), color in zip(results.items(), COLORS * 4):
            if not runs:
                continue
            run = sorted(runs, key=lambda one: one["to_end_s"])[len(runs) // 2]  # the one of median length
            times, percent = zip(*[(at, 100 * accuracy) for at, accuracy in run["curve"]])
            # The last point is judged on other images than those before it: no line leads there.
            axes.plot(times[:-1], percent[:-1], color=color, linewidth=1.6, marker="o", markersize=2.5, label=model)
            axes.plot(times[-1:], percent[-1:], color=color, marker="D", markersize=6, linestyle="none")
        axes.axhline(100 * target, color="#888888", linewidth=1, linestyle=(0, (5, 3)))
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_xlabel("seconds since the first batch; a diamond: all samples are done, on all test images")
        axes.set_ylim(60, 93)
        axes.set_xlim(left=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    panels[0][0].set_ylabel("test accuracy, % (lines: on a part of the test images)")
    panels[0][-1].legend(loc="lower right", frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)
