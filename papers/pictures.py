"""Pictures of charts for Markdown: SVG by matplotlib, the same bytes from the same numbers."""

import io
import math

COLORS = ["#3566a8", "#c2571a", "#5a8f5a", "#8a4fa0", "#b8860b", "#2a9d8f", "#222222", "#999999", "#d1495b", "#6d597a", "#74a57f", "#946b2d"]


def svg_of(chart):
    import matplotlib  # takes a second, and a run without pictures does not need it
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    settings = {"svg.hashsalt": "leeway", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
                "path.simplify": True}
    with matplotlib.rc_context(settings):
        figure, axes = plt.subplots(figsize=(7.2, 3.4), constrained_layout=True)
        (_draw_bars if chart["kind"] == "bars" else _draw_lines)(axes, chart)
        axes.set_ylabel(_label(chart["y"]))
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)
        if len(chart["series"]) > 1:
            axes.legend(frameon=False, fontsize=8, ncols=1 + len(chart["series"]) // 7, loc="center left", bbox_to_anchor=(1.01, 0.5))
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)
    return "".join(line.rstrip() + "\n" for line in file.getvalue().splitlines())


def _label(axis):
    return f"{axis['label']}, {axis['unit']}" if axis["unit"] else axis["label"]


def _draw_bars(axes, chart):
    count = len(chart["series"])
    width = 0.8 / count
    for number, series in enumerate(chart["series"]):
        places = [at + (number - (count - 1) / 2) * width for at in range(len(chart["categories"]))]
        drawn = [at for at, value in enumerate(series["values"]) if value is not None]
        errors = None
        if "low" in series:
            errors = [[series["values"][at] - series["low"][at] for at in drawn], [series["high"][at] - series["values"][at] for at in drawn]]
        axes.bar([places[at] for at in drawn], [series["values"][at] for at in drawn], width, yerr=errors, label=series["name"],
                 color=COLORS[number] if series["name"] != "paper" else "#bbbbbb", error_kw={"elinewidth": 0.8})
    axes.set_xticks(range(len(chart["categories"])), chart["categories"], rotation=30, ha="right", rotation_mode="anchor", fontsize=8)


def _draw_lines(axes, chart):
    for number, series in enumerate(chart["series"]):
        color = COLORS[number % len(COLORS)]
        known = [at for at, (_, y) in enumerate(series["points"]) if y is not None]
        xs = [series["points"][at][0] for at in known]
        # A point without a value is a gap; its neighbours may have no line to show, so they have dots.
        dots = len(known) < max(12, len(series["points"]))
        axes.plot(*zip(*[(x, math.nan if y is None else y) for x, y in series["points"]]), color=color, linewidth=1.4, label=series["name"],
                  marker="o" if dots else None, markersize=3, linestyle="--" if series.get("dashed") else "-")
        if "low" in series:
            axes.fill_between(xs, [series["low"][at] for at in known], [series["high"][at] for at in known], color=color, alpha=0.15, linewidth=0)
    if chart["x"].get("log"):
        axes.set_xscale("log")
    if chart["y"].get("log"):
        axes.set_yscale("log")
    axes.set_xlabel(_label(chart["x"]))
