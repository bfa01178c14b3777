"""Items: a table or figure of a paper. Its file, papers/PAPER/items/ITEM.toml, says which cells of which scenario it has, and
what the paper says of them. A measured item has rows of `leeway bench train` in place of a scenario."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from data_file import flat_keys, plain, read_all
from refusal import check_keys, Refusal, unknown
from measured import FIGURES, Measurement
from slope import read_slope
from sweep import combinations, parse_sweep
from wanted import read_wanted

PLOTS = ("bars:FIGURE", "lines:FIGURE", "curve:accuracy", "curve:loss", "iterations:accuracy", "iterations:loss", "answers")


@dataclass(frozen=True)
class Cell:
    label: str
    settings: tuple  # (key, value), for the program's --set; the last one wins
    line: str  # of a plot with lines: the label without the last sweep's value
    at: str  # the last sweep's value


@dataclass(frozen=True)
class Direction:
    """A figure of one cell over that of another. The cells may be of other items of the paper."""
    what: str
    figure: str
    of: str
    over: str
    paper: float | None = None
    of_item: str | None = None
    over_item: str | None = None


@dataclass
class Item:
    name: str
    scenario: Path
    title: str
    texts: list = field(default_factory=list)
    settings: dict = field(default_factory=dict)
    sweeps: list = field(default_factory=list)
    labels: list = field(default_factory=list)
    seeds: int = 1
    figures: list = field(default_factory=list)
    plots: list = field(default_factory=list)
    directions: list = field(default_factory=list)
    slopes: list = field(default_factory=list)
    paper: dict = field(default_factory=dict)  # figure -> a number for each cell, nan where the paper has none
    fitted: dict = field(default_factory=dict)  # figure -> labels of the cells whose number something was chosen by
    chosen: dict = field(default_factory=dict)  # key -> the paper's number that its value was chosen by
    needs: list = field(default_factory=list)  # folders without which it cannot run
    quick: dict = field(default_factory=dict)
    # Of a measured item.
    file: Path | None = None
    rows: dict = field(default_factory=dict)  # label -> row of leeway bench train
    models: list = field(default_factory=list)
    names: dict = field(default_factory=dict)  # model -> its name in labels
    bench: dict = field(default_factory=dict)  # flags
    step_ms: dict = field(default_factory=dict)  # model -> compute of a step
    simulated_steps: int = 24  # of each simulated row
    wanted: list = field(default_factory=list)

    @property
    def is_measured(self):
        return bool(self.rows)

    def described_in(self):
        """The file whose includes name the cluster."""
        return self.file if self.is_measured else self.scenario

    def measurement(self, model, quick=False):
        """One call of the program: all rows, in turns."""
        flags = {**self.bench, **(self.quick if quick else {}), "model": model, "step-ms": self.step_ms[model]}
        return Measurement(tuple(flags.items()), tuple(self.rows.values()))

    def _measured_cells(self):
        return [Cell(label if len(self.models) < 2 else f"{self.names.get(model, model)}, {label}", (("model", model), ("row", row)),
                     label, self.names.get(model, model)) for model in self.models for label, row in self.rows.items()]

    def cells(self, quick=False):
        if self.is_measured:
            return self._measured_cells()
        short = {key: value for key, value in self.quick.items() if key != "seeds"} if quick else {}
        fixed = [(key, plain(value)) for key, value in {**self.settings, **short}.items()]
        sweeps = [parse_sweep(text) for text in self.sweeps]
        cells = []
        for number, swept in enumerate(combinations(sweeps)):
            starts = [dict(swept)[sweep.keys[0]] for sweep in sweeps] or [self.name]
            line = self.labels[number] if number < len(self.labels) else ", ".join(starts[:-1] or starts)
            at = starts[-1]
            label = line if len(sweeps) < 2 else f"{line}, {at}"
            cells.append(Cell(label, tuple(fixed + swept), line, at))
        return cells

    def seed_count(self, quick=False):
        """Of a measured item: runs of each row."""
        if self.is_measured:
            return {**self.bench, **(self.quick if quick else {})}["repeats"]
        return self.quick.get("seeds", self.seeds) if quick else self.seeds


def _is_texts(value):
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_numbers(value):
    return isinstance(value, list) and all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in value)


def _is_tables(value):
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _is_seeds(value):
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10_000


# Keys of an item's file, each with a test of its value and the words for a right one.
KEYS = {
    "title": (lambda value: isinstance(value, str), "a text"),
    "scenario": (lambda value: isinstance(value, str), "the name of a file in scenarios/, without .toml"),
    "texts": (_is_texts, "a list of paragraphs"),
    "set": (lambda value: isinstance(value, dict), "a table of the scenario's keys"),
    "sweeps": (_is_texts, 'a list of sweeps: "policies.sync=bsp;asp"'),
    "labels": (_is_texts, "a list of texts, one for each cell"),
    "seeds": (_is_seeds, "a whole number from 1 to 10000"),
    "figures": (_is_texts, "a list of figures that leeway sim --json gives"),
    "plots": (_is_texts, "a list of " + ", ".join(PLOTS)),
    "directions": (_is_tables, "a list of tables"),
    "slopes": (_is_tables, "a list of tables"),
    "paper": (lambda value: isinstance(value, dict) and all(map(_is_numbers, value.values())),
              "a list of numbers for each figure, nan where the paper has none"),
    "fitted": (lambda value: isinstance(value, dict) and all(map(_is_texts, value.values())), "a list of cells for each figure"),
    "chosen": (lambda value: isinstance(value, dict), "a table: key = the paper's number that it was chosen by"),
    "needs": (_is_texts, "a list of folders"),
    "rows": (lambda value: isinstance(value, dict) and _is_texts(list(value.values())), 'a table: label = "a row of leeway bench train"'),
    "models": (_is_texts, "a list of models of the cluster's step_ms"),
    "names": (lambda value: isinstance(value, dict) and _is_texts(list(value.values())), "a table: model = its name"),
    "bench": (lambda value: isinstance(value, dict) and _is_seeds(value.get("repeats", 1)), "a table of flags of leeway bench train"),
    "step_ms": (lambda value: isinstance(value, dict) and _is_numbers(list(value.values())), "a table: model = milliseconds of compute"),
    "simulated_steps": (lambda value: _is_seeds(value) and value > 1, "a whole number from 2 to 10000"),
    "wanted": (_is_tables, "a list of tables"),
    "quick": (lambda value: isinstance(value, dict) and _is_seeds(value.get("seeds", 1)), "a table of the scenario's keys, and seeds"),
}


def read_item(path):
    """The item, or None for a file that others include: it has no title."""
    data = read_all(path)
    for key, value in data.items():
        if key not in KEYS:
            raise Refusal(f"{path}: {unknown('key', key, sorted(KEYS))}")
        is_right, wanted = KEYS[key]
        if not is_right(value):
            raise Refusal(f"{path}: {key}: got {value!r}, wanted {wanted}")
    if "title" not in data:
        return None
    if "rows" in data:
        return _read_measured(data, path)
    item = Item(name=Path(path).stem, title=data["title"],
                scenario=Path(path).parent.parent / "scenarios" / f"{data.get('scenario', Path(path).stem)}.toml",
                settings=dict(flat_keys(data.get("set", {}))), quick=dict(flat_keys(data.get("quick", {}))),
                directions=[read_direction(each, path) for each in data.get("directions", [])],
                chosen=dict(flat_keys(data.get("chosen", {}))),
                **{key: data[key] for key in ("texts", "sweeps", "labels", "seeds", "figures", "plots", "paper", "fitted", "needs") if key in data})
    _check(item, path)
    item.slopes = [read_slope(each, path, [cell.label for cell in item.cells()]) for each in data.get("slopes", [])]
    return item


OF_SIMULATED = ("scenario", "set", "sweeps", "labels", "seeds", "slopes", "fitted", "chosen", "needs")


def _read_measured(data, path):
    for key in OF_SIMULATED:
        if key in data:
            raise Refusal(f"{path}: {key}: got it beside rows, wanted rows, models and bench alone: a measured item has no scenario")
    if "alone" not in data["rows"].values():
        raise Refusal(f"{path}: rows: got {', '.join(data['rows'].values())}, wanted \"alone\" among them: speedups are over it")
    models, step_ms, bench = data.get("models", []), data.get("step_ms", {}), {"repeats": 3, **data.get("bench", {})}
    missing = [model for model in models if model not in step_ms]
    if not models or missing:
        raise Refusal(f"{path}: models: got {', '.join(models) or 'none'}, wanted one or more of the cluster's step_ms: {', '.join(step_ms)}")
    item = Item(name=Path(path).stem, title=data["title"], scenario=None, file=Path(path), bench=bench, quick=data.get("quick", {}),
                directions=[read_direction(each, path) for each in data.get("directions", [])],
                **{key: data[key] for key in ("texts", "figures", "plots", "paper", "rows", "models", "names", "step_ms", "simulated_steps")
                   if key in data})
    _check(item, path)
    named = {*item.figures, *item.paper, *(plot.partition(":")[2] for plot in item.plots), *(each.figure for each in item.directions)}
    for figure in sorted(named - set(FIGURES)):
        raise Refusal(f"{path}: {unknown('figure', figure, FIGURES)}")
    item.wanted = [read_wanted(each, path, [cell.label for cell in item.cells()]) for each in data.get("wanted", [])]
    return item


def read_direction(data, where):
    """A direction as a table of a file."""
    check_keys(data, Direction, ("what", "figure", "of", "over"), f"{where}: directions")
    if "paper" in data and not _is_numbers([data["paper"]]):
        raise Refusal(f"{where}: directions: paper: got {data['paper']!r}, wanted the paper's ratio")
    return Direction(**data)


def _check(item, path):
    """Checks that keys fit together."""
    try:
        labels = [cell.label for cell in item.cells()]
    except Refusal as refusal:
        raise Refusal(f"{path}: {refusal}") from refusal
    if item.scenario is not None and not item.scenario.is_file():
        raise Refusal(f"{path}: scenario: there is no {item.scenario}")
    if item.labels and len(item.labels) != len(labels):
        raise Refusal(f"{path}: labels: got {len(item.labels)}, wanted {len(labels)}, one for each cell")
    if len(set(labels)) != len(labels):
        raise Refusal(f"{path}: labels: got one twice, wanted another for each cell: {', '.join(labels)}")
    for figure, numbers in item.paper.items():
        if len(numbers) != len(labels):
            raise Refusal(f"{path}: paper.{figure}: got {len(numbers)} numbers, wanted {len(labels)}, one for each cell")
    for figure, cells in item.fitted.items():
        for label in cells:
            if label not in labels or figure not in item.paper or math.isnan(item.paper[figure][labels.index(label)]):
                raise Refusal(f"{path}: fitted.{figure}: got \"{label}\", wanted a cell with a number of the paper: {', '.join(labels)}")
    for plot in item.plots:
        kind, _, figure = plot.partition(":")
        if item.is_measured and kind != "bars":
            raise Refusal(f"{path}: plots: got \"{plot}\", wanted bars:FIGURE: a measured item has rows")
        if plot not in PLOTS[2:] and not (kind in ("bars", "lines") and figure):
            raise Refusal(f"{path}: plots: got \"{plot}\", wanted {', '.join(PLOTS)}")
