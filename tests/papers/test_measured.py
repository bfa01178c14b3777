"""Measured items: rows of `leeway bench train` beside the same rows simulated, with a stand-in for the program."""

import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from measured import runs_of
from paper import read_papers
from train_bench import TrainBench, report_of

BUILD = Path(os.environ.get("LEEWAY_BUILD", ROOT / "build"))
CLUSTER = """[bench]
machines = 4
net = "1gbit"
[step_ms]
small = 100
large = 100
[names]
large = "Large"
"""
ITEM = """include = "../../clusters/real.toml"
title = "Figure 2: a measured one"
models = ["small", "large"]
figures = ["steps_s", "hidden", "simulated_over_measured"]
plots = []
directions = [{ what = "wait-free over traditional", figure = "steps_s", of = "small, wait-free", over = "small, traditional", paper = 1.5 }]
wanted = [
  { what = "a floor", figure = "steps_s", of = "small, wait-free", over = "small, traditional", least = 1.3 },
  { what = "the account", figure = "hidden", of = "small, wait-free", near = "overlap", within = 0.1 },
]
[rows]
"one machine" = "alone"
traditional = "traditional"
wait-free = "wait-free"
[bench]
steps = 20
[quick]
steps = 1
repeats = 1
"""


@pytest.fixture
def real(bench):
    """A paper that has a measured item beside the simulated one."""
    bench.write("clusters/real.toml", CLUSTER)
    bench.write("mine/items/figure2.toml", ITEM)
    return bench


def page(bench):
    return (bench.folder / "out" / "mine.md").read_text()


def measured(bench):
    return [line.split(" pid")[0] for line in bench.started() if line.startswith("measured")]


def test_rows_are_measured_and_simulated_beside_each_other(real):
    real.write("mine/items/figure2.toml", ITEM.replace("plots = []", 'plots = ["bars:speedup"]'))
    ran = real.run("mine", "figure2")
    assert ran.returncode == 0, ran
    text = page(real)
    assert "| small, wait-free   | 32.32 (2 %) |" in text and "Measured: medians of 3 runs, in turns" in text, text
    assert "small: 100 ms of compute a step, 1 Gbit/s cards; counted steps 20, after 6; bare sockets carried 0.95 Gbit/s" in text
    assert "more than 15 % from the measured ones** (simulated over measured): \"small, traditional\" (2.06)" in text
    assert "| a floor     |    2.000 | at least 1.3             | yes     |" in text, text
    assert "overlap 0.500 within 0.1 | no" in text
    assert "Run by run over 3 runs." in text
    assert "Of 2 floors and agreements that the items want, 1 is reached." in text
    assert (real.folder / "out" / "mine" / "figure2_speedup.svg").exists()


def test_measurements_come_last_and_one_at_a_time(real):
    assert real.run("mine").returncode == 0
    assert measured(real) == ["measured small begins", "measured small ends", "measured large begins", "measured large ends"]
    assert all(line.startswith("measured") for line in real.started()[-4:]), "all simulations have ended before"


def test_a_row_that_used_the_whole_processor_is_named(real):
    assert real.run("mine", "figure2", STAND_IN_IDLE="0.05").returncode == 0
    assert "so it was measured and not the network (small: \"one machine\", \"traditional\", \"wait-free\"; large: \"one machine\"" in page(real)


def test_a_measurement_on_a_quiet_machine_is_kept_until_the_rows_or_the_program_change(real):
    real.run("mine", "figure2")
    again = real.run("mine", "figure2")
    assert len(measured(real)) == 4 and "4 cells, 4 of them from the cache" in again.stderr, again
    real.write("mine/items/figure2.toml", ITEM.replace("Figure 2", "Figure 3").replace("steps = 20", "steps = 30"))
    real.run("mine", "figure2")
    assert len(measured(real)) == 8
    real.write_program("another one")
    real.run("mine", "figure2")
    assert len(measured(real)) == 12


def test_a_measurement_beside_other_work_is_told_and_not_kept(real):
    busy = real.run("mine", "figure2", STAND_IN_BUSY="0.4")
    assert busy.returncode == 0, busy
    text = page(real)
    assert "**The machine was not quiet**: others used its processor (small: 40 % just before, 40 % during" in text
    assert "2 of 2 measurements were taken beside other work on the machine: they are no results." in text
    real.run("mine", "figure2")
    assert len(measured(real)) == 8 and "not quiet" not in page(real)


def test_two_items_with_the_same_rows_are_measured_once(real):
    real.write("mine/items/figure3.toml", 'include = "figure2.toml"\ntitle = "Figure 3"\nfigures = ["computing"]\n')
    assert real.run("mine").returncode == 0
    assert len(measured(real)) == 4


def test_a_machine_without_rights_leaves_measured_items_out_by_name(real):
    ran = real.run("mine", STAND_IN_NO_NETWORK="no right to make namespaces")
    assert ran.returncode == 0 and not measured(real), ran
    text = page(real)
    assert "Not run: this machine can emulate no network: no right to make namespaces. Run as root, or under" in text
    assert "Not measured on this machine: figure2." in text and "| BSP |" in text


def test_a_measurement_that_fails_is_told(real):
    failed = real.run("mine", "figure2", STAND_IN_FAIL="small")
    assert failed.returncode == 1 and "small, measured: leeway: the cards carry less than their rate" in failed.stderr, failed
    assert "small, wait-free (0 of 3 runs ended well)" in failed.stdout and "| Large, wait-free" in failed.stdout


@pytest.mark.parametrize("old,new,said", [
    ('traditional = "traditional"', 'traditional = "tradtional"', "leeway bench train"),
    ('"one machine" = "alone"', 'one = "wait-free x"', 'wanted "alone" among them'),
    ("steps = 20", "machines = 8", "machines says something of the cluster, wanted it in real.toml alone"),
    ('["small", "large"]', '["tiny"]', "got tiny, wanted one or more of the cluster's step_ms: small, large"),
    ('"hidden", "sim', '"hiden", "sim', 'unknown figure "hiden"'),
    ("plots = []", "plots = ['lines:speedup']", "wanted bars:FIGURE"),
    ("[quick]", "[set]", "set: got it beside rows"),
    ("least = 1.3", "near = 'hidden'", "wanted `least`, or `near` with `within`"),
])
def test_an_item_that_cannot_be_meant_is_refused(real, old, new, said):
    assert old in ITEM
    real.write("mine/items/figure2.toml", ITEM.replace(old, new))
    refused = real.run("mine", "figure2")
    assert refused.returncode == 2 and said in refused.stderr and not real.started(), refused


def test_hidden_is_of_the_row_that_differs_in_its_pass_alone():
    def row(text, machines, runs):
        return {"row": text, "machines": machines, "ceiling": 1, "steps_s_runs": runs,
                **{f"{name}_runs": [0, 0] for name in ("computing", "waiting", "overlap", "gbit_s", "idle")}}
    # Of one worker a step takes 1 s alone, 2 and 3 s traditional, 1.25 and 1.5 s wait-free.
    report = {"step_s": 1, "rows": [row("alone", 1, [1, 1]), row("traditional", 4, [2, 4 / 3]), row("wait-free", 4, [3.2, 4 / 1.5]),
                                    row("wait-free priorities=off", 4, [4, 4])]}
    runs = runs_of(report, None, "wait-free")
    assert [run["hidden"] for run in runs] == pytest.approx([0.75, 0.75])
    assert [run["beyond_compute_ms"] for run in runs] == pytest.approx([250, 500]) and runs[0]["simulated_steps_s"] is None
    assert [run["hidden"] for run in runs_of(report, None, "wait-free priorities=off")] == [None, None]


def test_the_program_takes_the_rows_of_every_item():
    program = TrainBench(BUILD / "leeway")
    for paper in read_papers(ROOT / "papers").values():
        for item in paper.items:
            for model in item.models:
                for quick in (False, True):
                    asked = item.measurement(model, quick)
                    assert "[cluster]" in program.scenario(dict(asked.flags), asked.rows)


def test_a_tiny_measurement_for_real():
    program = TrainBench(BUILD / "leeway")
    flags = {"model": "resnet56", "step-ms": 2, "machines": 2, "net": "none", "steps": 2, "warm-up": 1, "repeats": 2}
    rows = ["alone", "traditional", "wait-free cut=2"]
    process = program.start(flags, rows, subprocess.PIPE, subprocess.PIPE)
    said, error = process.communicate(timeout=120)
    report = report_of(said.decode())
    assert process.returncode == 0 and report is not None, error
    for row in rows:
        runs = runs_of(report, None, row)
        assert len(runs) == 2 and all(run["steps_s"] > 0 and run["computing"] > 0 for run in runs)
    assert all(run["overlap"] is not None for run in runs_of(report, None, "wait-free cut=2"))
