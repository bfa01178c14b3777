"""The real program: every item can be planned, and quick forms show the papers' robust results."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import HANG_S, ROOT

from cache import Cache
from paper import read_papers, select
from runner import Runner
from simulator import Simulator
from study import check_figures, fill, plan

BUILD = Path(os.environ.get("LEEWAY_BUILD", ROOT / "build"))
PAPERS = read_papers(ROOT / "papers")


@pytest.fixture(scope="module")
def simulator():
    return Simulator(BUILD / "leeway")


@pytest.mark.parametrize("name", list(PAPERS))
def test_every_cell_can_be_planned_at_both_lengths(simulator, name):
    cells = [(item.scenario, cell.settings) for item in PAPERS[name].items if not item.is_measured for cell in item.cells()]
    cells += [(item.scenario, item.cells(quick=True)[0].settings) for item in PAPERS[name].items if not item.is_measured]
    with ThreadPoolExecutor(2) as pool:
        assert all("[cluster]" in text for text in pool.map(lambda cell: simulator.resolve(*cell), cells))


def quick(simulator, folder, paper, item):
    """Label -> figure -> value, of one item's quick form."""
    options = SimpleNamespace(quick=True, seed=1, seeds=0, processes=2)
    cache = Cache(folder, simulator.fingerprint)
    studies, jobs = plan(select(PAPERS, paper, item), simulator, cache, options)
    results = Runner(cache, 2, on_first=lambda run: check_figures(studies, run)).run(jobs)
    assert not results.errors
    fill(studies, results)
    return {cell.label: study.runs[at][0] for study in studies for at, cell in enumerate(study.cells)}


def test_table_4_has_the_papers_directions(simulator, tmp_path):
    table = quick(simulator, tmp_path, "fluentps", "table4_alexnet_cifar10")
    asp, soft, lazy = table["P = 0 (ASP)"], table["soft 1 (SSP)"], table["lazy 1 (SSP)"]
    assert asp["dprs_per_100"] == 0
    assert all(asp["seconds"] <= cell["seconds"] for cell in table.values())
    assert lazy["dprs_per_100"] < soft["dprs_per_100"] / 2
    assert table["soft 0.1"]["dprs_per_100"] < table["soft 0.5"]["dprs_per_100"] < soft["dprs_per_100"]
    assert all(cell["accuracy"] > 0.5 for cell in table.values())


def test_overlap_waits_less_than_a_barrier_between_pushes_and_pulls(simulator, tmp_path):
    waits = {label: cell["wait_s"] for label, cell in quick(simulator, tmp_path, "fluentps", "figure6").items()}
    assert waits["overlap, raw keys, 32"] < waits["non-overlap, raw keys, 32"]
    assert waits["overlap, range, 32"] < waits["non-overlap, range, 32"]
    assert waits["overlap, eps, 32"] < waits["overlap, range, 32"]


def test_a_curve_without_judgements_is_refused(bench):
    bench.write("clusters/c.toml", "[compute]\nbase_s = 0.5\n")
    bench.write("mine/items/table1.toml", (bench.papers / "mine/items/table1.toml").read_text().replace('"dprs"', '"dprs_per_100"')
                .replace("plots = []", 'plots = ["iterations:accuracy"]'))
    command = [sys.executable, "-B", str(ROOT / "papers/papers.py"), "mine", "--papers", str(bench.papers), "--leeway", str(BUILD / "leeway"),
               "--cache", str(bench.folder / "cells"), "--out", str(bench.folder / "out")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert ran.returncode == 2 and "record.judge_every: got 0, wanted more, because table1 draws a curve" in ran.stderr, ran


def test_a_tiny_item_gives_the_same_bytes_twice(bench):
    bench.write("clusters/c.toml", "[compute]\nbase_s = 0.5\nspread = 0.1\n")
    bench.write("mine/scenarios/table1.toml",
                'include = "../../clusters/c.toml"\niterations = 40\n[cluster]\nworkers = 3\n[training]\nproblem = "quadratic"\n[record]\njudge_every = 10\n')
    bench.write("mine/items/table1.toml", (bench.papers / "mine/items/table1.toml").read_text().replace('"dprs"', '"dprs_per_100"')
                .replace("plots = []", 'plots = ["bars:seconds", "curve:loss", "answers"]'))
    for folder in ("a", "b"):
        command = [sys.executable, "-B", str(ROOT / "papers/papers.py"), "mine", "--quick", "--papers", str(bench.papers),
                   "--leeway", str(BUILD / "leeway"), "--cache", str(bench.folder / f"cells_{folder}"), "--out", str(bench.folder / folder)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)
        assert ran.returncode == 0, ran
    files = sorted(path.relative_to(bench.folder / "a") for path in (bench.folder / "a").rglob("*") if path.is_file())
    assert Path("mine.md") in files and Path("mine/table1_answers.svg") in files
    for file in files:
        assert (bench.folder / "a" / file).read_bytes() == (bench.folder / "b" / file).read_bytes(), file
