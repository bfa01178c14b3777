"""Charts of an item: plain values. Markdown, pictures and the page are made from them."""

import math

from bookkeeping import is_number, ONE_SEED, spread_of
from measured import APART_MAX, machine_notes, probe_notes, SIMULATED
from paper import FORMS
from slope import slope_of
from wanted import verdict_of

MARK = "†"


def title_of(figure):
    return figure.replace("_", " ")


def number_text(value):
    if not is_number(value):
        return "-"
    size = abs(value)
    if size >= 1e9:
        return f"{value:.3g}"  # of one that diverges
    return f"{value:.{_decimals(value, whole=size == math.floor(size))}f}"


def spread_text(spread, seeds):
    if spread is None:
        return "-"
    if seeds < 2 or abs(spread.mean) >= 1e9:
        return number_text(spread.mean)
    decimals = _decimals(spread.mean, whole=False)
    return f"{spread.mean:.{decimals}f} ± {spread.deviation:.{decimals}f}"


def middle_text(values):
    """The median of measured runs, and how far they are apart."""
    spread = spread_of(values)
    if spread is None:
        return "-"
    middle = spread.median
    apart = 100 * (spread.high - spread.low) / abs(middle) if middle else 0
    text = f"{middle:.{_decimals(middle, whole=False)}f}"
    return text if spread.high == spread.low else f"{text} ({apart:.0f} %)"


def _decimals(value, whole):
    size = abs(value)
    if size >= 1000 or whole:
        return 0
    return 1 if size >= 100 else 2 if size >= 1 or size == 0 else 4


def column(name, left=False):
    return {"name": name, "align": "left" if left else "right"}


def figures_table(study):
    """A row for each cell, a column for each figure, the paper's beside ours."""
    figures, item = study.shown_figures(), study.item
    columns = [column("", left=True)]
    for figure in figures:
        columns += [column(title_of(figure))] + ([column("paper")] if figure in item.paper else [])
    rows = []
    for number, cell in enumerate(study.cells):
        well = sum(run is not None for run in study.runs[number]) if study.runs else 0
        row = [cell.label if well == len(study.seeds) else f"{cell.label} ({well} of {len(study.seeds)} runs ended well)"]
        for figure in figures:
            values = study.values(cell.label, figure)
            row.append(middle_text(values) if study.is_measured else spread_text(spread_of(values), len(study.seeds)))
            if figure in item.paper:
                mark = f" {MARK}" if cell.label in item.fitted.get(figure, []) else ""
                row.append(number_text(item.paper[figure][number]) + mark)
        rows.append(row)
    notes = [f"Mean and standard deviation over {len(study.seeds)} seeds." if len(study.seeds) > 1 else f"One seed, {study.seeds[0]}."]
    title = "Ours beside the paper's" if item.paper else "Ours"
    if study.is_measured:
        notes, title = measured_notes(study), "Measured and simulated" + (", beside the paper's" if item.paper else "")
    return {"kind": "table", "title": title, "note": " ".join(notes + honest_notes(study)),
            "columns": columns, "rows": rows}


def measured_notes(study):
    """Says how the numbers of a measured item came about, and on which machine."""
    runs = len(study.seeds)
    notes = [f"Measured: medians of {runs} runs, in turns; in brackets how far the runs are apart, over the median." if runs > 1 else
             "Measured once, so nothing is known of the spread."]
    notes += probe_notes(study.reports) + machine_notes(study.reports, {row: label for label, row in study.item.rows.items()})
    apart = []
    for cell in study.cells:
        spread = spread_of(study.values(cell.label, "simulated_over_measured"))
        if spread is not None and abs(spread.median - 1) > APART_MAX:
            apart.append(f"\"{cell.label}\" ({spread.median:.2f})")
    if apart:
        notes.append(f"**Simulated speeds are more than {100 * APART_MAX:.0f} % from the measured ones** (simulated over measured): {', '.join(apart)}.")
    elif any(spread_of(study.values(cell.label, "simulated_over_measured")) for cell in study.cells):
        notes.append(f"All simulated speeds are within {100 * APART_MAX:.0f} % of the measured ones.")
    return notes


def wanted_table(study):
    rows = [[wanted.what, *verdict_of(study, wanted)] for wanted in study.item.wanted]
    return {"kind": "table", "title": "What is wanted of it", "note": "Medians of the runs, or of ratios of runs of the same turn.", "rows": rows,
            "columns": [column("", left=True), column("measured"), column("wanted", left=True), column("reached", left=True)]}


def honest_notes(study):
    """Names the values that were chosen by looking at the paper's numbers, and the rows that are one run or have the same numbers."""
    notes = []
    for key, (value, why) in study.paper.chosen.get(study.item.name, {}).items():
        notes.append(f"`{key}`{'' if value is None else f' = {value}'} was chosen by looking at the paper's numbers: {why}.")
    if study.item.fitted:
        notes.append(f"{MARK} marks such a number: ours beside it is no evidence.")
    for label, earlier in study.same_run.items():
        notes.append(f"\"{label}\" is the run of \"{earlier}\": run once, counted once.")
    for label, earlier in study.same_numbers():
        notes.append(f"\"{label}\" and \"{earlier}\" agree in every figure and seed: one piece of evidence.")
    return notes


def said_of(verdict, is_measured):
    return "one run" if is_measured and verdict == ONE_SEED else verdict


SIDES = "Not distinguishable: the mean differs from 1 by no more than the most from the least, or by a hundredth."


def directions_table(findings, seeds, is_measured=False):
    rows = []
    for finding in findings:
        spread = spread_of(finding.ratios)
        ratio = "-" if spread is None else f"{spread.mean:.3f}" + (f" ± {spread.deviation:.3f}" if seeds > 1 else "")
        ends = ["-", "-"] if spread is None else [f"{spread.low:.3f}", f"{spread.high:.3f}"]
        paper = finding.direction.paper
        said = said_of(finding.verdict, is_measured) + (f" (the numbers of {finding.repeats}; not counted)" if finding.repeats and finding.verdict != "-" else "")
        rows.append([finding.direction.what, title_of(finding.direction.figure), ratio, *ends, "-" if paper is None else f"{paper:.3f}", said])
    return {"kind": "table", "title": "Ratios of two rows",
            "note": f"{'Run by run' if is_measured else 'Seed by seed'} over {seeds} {'runs' if is_measured else 'seeds'}. {SIDES}"
                    if seeds > 1 else f"One {'run' if is_measured else 'seed'} has no spread, so it says nothing of sides.",
            "columns": [column("direction", left=True), column("figure", left=True), column("ratio"), column("least"), column("most"),
                        column("paper"), column("same side", left=True)], "rows": rows}


def slopes_table(study):
    """Ours seed by seed; the paper's from its numbers of the same cells."""
    rows, labels, seeds = [], [cell.label for cell in study.cells], len(study.seeds)
    for slope in study.item.slopes:
        chosen = slope.cells or labels
        x, y = ([study.values(label, figure) for label in chosen] for figure in (slope.x, slope.y))
        ours = spread_of([slope_of([row[seed] for row in x], [row[seed] for row in y], slope.times) for seed in range(seeds)])
        theirs = [dict(zip(labels, study.item.paper.get(figure, []))) for figure in (slope.x, slope.y)]
        paper = slope_of(*([numbers.get(label) for label in chosen] for numbers in theirs), slope.times)
        rows.append([slope.what, *(["-"] * 3 if ours is None else map(number_text, (ours.mean, ours.low, ours.high))), number_text(paper),
                     slope.unit])
    return {"kind": "table", "title": "Slopes over rows", "note": "The line of least squares through the rows, seed by seed.",
            "columns": [column("slope", left=True), column("ours"), column("least"), column("most"), column("paper"), column("", left=True)],
            "rows": rows}


def tables_of(study):
    """All tables of an item that ran."""
    return ([figures_table(study)] + ([directions_table(study.findings, len(study.seeds), study.is_measured)] if study.findings else [])
            + ([slopes_table(study)] if study.item.slopes else []) + ([wanted_table(study)] if study.item.wanted else []))


def headlines_table(paper, judged):
    """`judged`: (headline, ratios by seed or None, verdict)."""
    rows = []
    for headline, ratios, said in judged:
        show = FORMS[headline.shown]
        spread = spread_of(ratios or [])
        ours = "not run" if ratios is None else "-" if spread is None else show(spread.mean)
        if spread is not None and spread.high > spread.low:
            ours += f" ({show(spread.low)} to {show(spread.high)})"
        rows.append([headline.says, show(headline.direction.paper), ours, said_of(said, paper.is_measured)])
    return {"kind": "table", "title": f"What {paper.title} says first", "note": "", "rows": rows,
            "columns": [column("the paper", left=True), column("paper"), column("ours"), column("same side", left=True)]}


def plots_of(study):
    """[(name of its file, chart)]."""
    charts = []
    for plot in study.item.plots:
        kind, _, figure = plot.partition(":")
        if kind == "bars":
            charts.append((figure, _bars(study, figure)))
        elif kind == "lines":
            charts.append((figure, _lines(study, figure)))
        elif kind in ("curve", "iterations"):
            if kind == "curve":
                charts.append((f"{figure}_time", _curve(study, figure, "seconds", "simulated time", "s")))
            charts.append((f"{figure}_iterations", _curve(study, figure, "iteration", "iterations", "")))
        else:
            charts.append(("answers", _answers(study)))
    return charts


def _axis(figure):
    return {"label": title_of(figure), "unit": ""}


def _bars(study, figure):
    labels = [cell.label for cell in study.cells]
    spreads = [spread_of(study.values(label, figure)) for label in labels]
    series = [{"name": "measured" if study.is_measured else "ours",
               "values": [each and (each.median if study.is_measured else each.mean) for each in spreads],
               "low": [each and each.low for each in spreads], "high": [each and each.high for each in spreads]}]
    series += [{"name": name, "values": [each and each.median for each in (spread_of(study.values(label, other)) for label in labels)]}
               for name, other in _beside(study, figure)]
    if figure in study.item.paper:
        series.append({"name": "paper", "values": [value if is_number(value) else None for value in study.item.paper[figure]]})
    return {"kind": "bars", "title": title_of(figure), "note": "", "y": _axis(figure), "categories": labels, "series": series}


def _beside(study, figure):
    """[(name, figure)] of what a picture of a measured figure shows beside it."""
    if not study.is_measured:
        return []
    known = [run for row in study.runs for run in row if run is not None]
    others = [("simulated", SIMULATED + figure)] + ([("ceiling", "ceiling")] if figure == "speedup" else [])
    return [(name, other) for name, other in others if any(other in run for run in known)]


def _lines(study, figure):
    """A line for each label, over the values of the last sweep."""
    lines = {}
    for number, cell in enumerate(study.cells):
        x = _number(cell.at)
        spread = spread_of(study.values(cell.label, figure))
        line = lines.setdefault(cell.line, {"name": cell.line, "points": [], "low": [], "high": []})
        line["points"].append([number if x is None else x, spread and spread.mean])
        line["low"].append(spread and spread.low)
        line["high"].append(spread and spread.high)
        if figure in study.item.paper:
            theirs = lines.setdefault(f"{cell.line}, paper", {"name": f"{cell.line}, paper", "points": [], "dashed": True})
            value = study.item.paper[figure][number]
            theirs["points"].append([number if x is None else x, value if is_number(value) else None])
    keys = study.item.sweeps[-1].partition("=")[0].split("+")[0] if study.item.sweeps else "cell"
    return {"kind": "lines", "title": title_of(figure), "note": "", "x": {"label": keys, "unit": ""}, "y": _axis(figure),
            "series": list(lines.values())}


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None


def _curve(study, figure, along, label, unit):
    """The mean of the seeds at each point that all of them have, with the least and the most."""
    series = []
    for number, cell in enumerate(study.cells):
        curves = [run["curve"] for run in study.runs[number] if run is not None and run.get("curve")]
        points, low, high = [], [], []
        for at in zip(*curves):
            spread = spread_of([point[figure] for point in at])
            points.append([sum(point[along] for point in at) / len(at), spread and spread.mean])
            low.append(spread and spread.low)
            high.append(spread and spread.high)
        if points:
            series.append({"name": cell.label, "points": points, "low": low, "high": high})
    return {"kind": "lines", "title": f"{title_of(figure)} against {label}", "note": "", "x": {"label": label, "unit": unit},
            "y": _axis(figure), "series": series}


def _answers(study):
    """How long the servers' answers take. Shares of all seeds together."""
    series, first, last = [], math.inf, 0
    for number, cell in enumerate(study.cells):
        runs = [run["answers"] for run in study.runs[number] if run is not None and run.get("answers")]
        if not runs:
            continue
        points = [[at[0]["seconds"], sum(point["share"] for point in at) / len(runs)] for at in zip(*runs)]
        used = [place for place, point in enumerate(points) if point[1] > 0]
        if not used:
            continue  # a job without any answer
        points = [[seconds, share or None] for seconds, share in points]
        first, last = min([first, *used]), max([last, *used])
        series.append({"name": cell.label, "points": points})
    for line in series:
        line["points"] = line["points"][max(0, int(first) - 1):last + 2]
    return {"kind": "lines", "title": "How long answers take", "note": "From sending to delivery, all seeds together.",
            "x": {"label": "time", "unit": "s", "log": True}, "y": {"label": "share of answers", "unit": "", "log": True}, "series": series}
