"""A study: items with their cells resolved, and later with their runs."""

import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import measured_study
from bookkeeping import Findings
from refusal import Refusal, unknown
from runner import Job
from simulator import ROOT, figures_of, run_of


@dataclass
class ItemStudy:
    """One item. `keys[cell][seed]` names the run of each cell and seed."""
    paper: object
    item: object
    quick: bool
    cells: list
    seeds: list
    scenarios: list = field(default_factory=list)  # resolved, by cell
    keys: list = field(default_factory=list)
    runs: list = field(default_factory=list)  # by cell and seed; None: it did not end well
    errors: list = field(default_factory=list)
    same_run: dict = field(default_factory=dict)  # label -> "item: label" of an earlier cell with the same resolved scenario
    findings: list = field(default_factory=list)
    skipped: str = ""
    measurements: list = field(default_factory=list)  # of a measured item: one for each model
    reports: list = field(default_factory=list)  # of measurements that ended well

    @property
    def is_measured(self):
        return self.item.is_measured

    def values(self, label, figure):
        """By seed, None where there is no number."""
        at = [cell.label for cell in self.cells].index(label)
        return [None if run is None else run.get(figure) for run in self.runs[at]] if self.runs else [None] * len(self.seeds)

    def shown_figures(self):
        """The figures that the item names, else every figure that is not 0 everywhere."""
        if self.item.figures:
            return self.item.figures
        runs = [run for row in self.runs for run in row if run is not None]
        names = list(figures_of(runs[0])) if runs else []
        return [name for name in names if any(run.get(name) for run in runs)]

    def same_numbers(self):
        """[(label, earlier label)] of cells that agree in every shown figure and seed, though their scenarios differ."""
        first, pairs = {}, []
        for cell in self.cells:
            numbers = tuple(tuple(self.values(cell.label, figure)) for figure in self.shown_figures())
            if not numbers or any(value is None for row in numbers for value in row):
                continue
            earlier = first.setdefault(numbers, cell.label)
            if earlier != cell.label and cell.label not in self.same_run:
                pairs.append((cell.label, earlier))
        return pairs


def _check_curves(item, scenario):
    """A curve without judgements on the way would be an empty picture."""
    draws = any(plot.startswith(("curve:", "iterations:")) for plot in item.plots)
    if draws and tomllib.loads(scenario).get("record", {}).get("judge_every") == 0:
        raise Refusal(f"{item.scenario}: record.judge_every: got 0, wanted more, because {item.name} draws a curve")


def weight_of(scenario):
    """How much work a run of the scenario is."""
    scenario = tomllib.loads(scenario)
    return scenario.get("iterations", 1) * scenario.get("cluster", {}).get("workers", 1)


def plan(chosen, simulator, cache, options, bench=None):
    """[ItemStudy] of [(Paper, [Item])], each cell resolved and so checked, and the jobs that they need."""
    studies = []
    for paper, items in chosen:
        for item in items:
            seeds = options.seeds or item.seed_count(options.quick)
            study = ItemStudy(paper, item, options.quick, item.cells(options.quick), list(range(options.seed, options.seed + seeds)))
            missing = [folder for folder in item.needs if not (ROOT / folder).is_dir()]
            if missing:
                study.skipped = f"there is no {', '.join(missing)}"
            elif item.is_measured and measured_study.needs_network(item) and bench.why_not():
                study.skipped = f"this machine can emulate no network: {bench.why_not()}. {measured_study.WHAT_TO_DO}"
            studies.append(study)
    asked = [(study, cell) for study in studies if not study.skipped and not study.is_measured for cell in study.cells]
    with ThreadPoolExecutor(options.processes) as pool:
        texts = list(pool.map(lambda one: simulator.resolve(one[0].item.scenario, one[1].settings), asked))
    jobs, first = [], {}
    for (study, cell), text in zip(asked, texts):
        _check_curves(study.item, text)
        name = f"{study.item.name}: {cell.label}"
        earlier = first.setdefault((study.paper.name, text), name)
        if earlier != name:
            study.same_run[cell.label] = earlier
        keys = [cache.key(text, seed) for seed in study.seeds]
        study.scenarios.append(text)
        study.keys.append(keys)
        jobs += [Job(key, f"{study.paper.name} {name}, seed {seed}", text, seed, weight_of(text),
                     partial(simulator.start, study.item.scenario, cell.settings, seed), run_of)
                 for key, seed in zip(keys, study.seeds)]
    for study in studies:
        if study.is_measured and not study.skipped:
            jobs += measured_study.plan(study, bench, cache)
    return studies, jobs


def check_figures(studies, run):
    """Every figure that items and headlines name is one that the program gives."""
    known = sorted(figures_of(run))
    for study in studies:
        if study.is_measured:
            continue  # its file was checked when it was read
        item = study.item
        named = {*item.figures, *item.paper, *(direction.figure for direction in item.directions),
                 *(figure for slope in item.slopes for figure in (slope.x, slope.y)),
                 *(plot.partition(":")[2] for plot in item.plots if plot.startswith(("bars:", "lines:"))),
                 *(headline.direction.figure for headline in study.paper.headlines if not study.paper.is_measured)}
        for figure in sorted(named):
            if figure not in known:
                raise unknown(f"figure of {study.paper.name} {item.name}", figure, known)


def fill(studies, results):
    """Gives each study its runs and findings. Returns the findings of each paper, by its name."""
    for study in studies:
        if study.is_measured:
            measured_study.fill(study, results)
            continue
        study.runs = [[results.runs.get(key) for key in keys] for keys in study.keys]
        study.errors = [f"{cell.label}, seed {seed}: {results.errors[key]}" for cell, keys in zip(study.cells, study.keys)
                        for seed, key in zip(study.seeds, keys) if key in results.errors]
    books = {}
    for study in studies:  # all have their runs by now: a direction may take its cells from a later item
        book = books.setdefault(study.paper.name, Findings())
        if not study.skipped:
            study.findings = [book.add(study.item.name, direction, *(_values(studies, study, direction))) for direction in study.item.directions]
    return books


def headline_ratios(studies, paper, headline):
    """The two cells' figures by seed, or None: one of the items is not among `studies`, or has not run."""
    direction = headline.direction
    mine = {study.item.name: study for study in studies if study.paper is paper and not study.skipped}
    if direction.of_item not in mine or direction.over_item not in mine:
        return None
    return _values(list(mine.values()), None, direction)


def _values(studies, own, direction):
    by_name = {study.item.name: study for study in studies if own is None or study.paper is own.paper}
    sides = [(direction.of_item, direction.of), (direction.over_item, direction.over)]
    return tuple((by_name[name] if name else own).values(label, direction.figure) if not name or name in by_name
                 else [None] * len(own.seeds) for name, label in sides)
