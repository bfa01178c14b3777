"""The papers' figures at their short lengths: they run, and show the papers' robust results."""

import json
from pathlib import Path

from cli_process import leeway

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "scenarios" / "papers"


def figures(path, *flags):
    """Label -> figure -> mean, of a scenario's quick form."""
    result = leeway("sim", PAPERS / path, "--quick", "--json", *flags)
    assert result.returncode == 0, result
    cells = json.loads(result.stdout)["cells"]
    return {cell["label"]: {name: figure["mean"] for name, figure in cell["figures"].items()} for cell in cells}


def test_table_4_has_the_papers_directions():
    table = figures("fluentps/table4_alexnet_cifar10.toml")
    asp, soft, lazy = table["P = 0 (ASP)"], table["soft 1 (SSP)"], table["lazy 1 (SSP)"]
    assert asp["dprs_per_100"] == 0
    assert all(asp["seconds"] <= cell["seconds"] for cell in table.values())
    assert lazy["dprs_per_100"] < soft["dprs_per_100"] / 2
    assert table["soft 0.1"]["dprs_per_100"] < table["soft 0.5"]["dprs_per_100"] < soft["dprs_per_100"]
    assert all(cell["accuracy"] > 0.5 for cell in table.values())


def test_overlap_waits_less_than_a_barrier_between_pushes_and_pulls():
    waits = {label: cell["wait_s"] for label, cell in figures("fluentps/figure6.toml").items()}
    assert waits["overlap, range, 32"] < waits["non-overlap, range, 32"]
    assert waits["overlap, eps, 32"] < waits["overlap, range, 32"]


def test_the_command_writes_its_report_and_says_what_it_has(tmp_path):
    listed = leeway("papers", "--list", "--scenarios", PAPERS)
    assert listed.returncode == 0 and "table4_alexnet_cifar10" in listed.stdout, listed
    flags = ["papers", "psp_sgd", "--quick", "--scenarios", PAPERS]
    for folder in ("a", "b"):
        ran = leeway(*flags, "--out", tmp_path / folder, "--docs", tmp_path / folder / "docs")
        assert ran.returncode == 0, ran
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert Path("report.html") in files and Path("docs/psp_sgd.md") in files and any(p.suffix == ".svg" for p in files)
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_a_cell_that_changes_its_cluster_is_refused(tmp_path):
    for folder in ("clusters", "mine"):
        (tmp_path / folder).mkdir()
    (tmp_path / "clusters" / "c.toml").write_text("[compute]\nbase_s = 0.1\n")
    (tmp_path / "mine" / "figure1.toml").write_text(
        'include = "../clusters/c.toml"\n[study]\ntitle = "T"\nsweeps = ["compute.spread=0,1"]\n')
    result = leeway("papers", "--list", "--scenarios", tmp_path)
    assert result.returncode != 0 and "clusters/*.toml alone" in result.stderr, result
