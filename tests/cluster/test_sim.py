"""leeway sim from outside: the files after a stop, and the inputs that it refuses before it runs."""

import json
import os
import signal
from pathlib import Path

import pytest
from cli_process import Leeway, leeway

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "uneven.toml"


def test_ctrl_c_leaves_what_is_done(tmp_path):
    written, report = tmp_path / "study.json", tmp_path / "study.html"
    with Leeway(tmp_path, "sim", SCENARIO, "--set", "training.problem=quadratic", "--set", "iterations=40", "--seeds", 10000,
                "--sweep", "policies.sync=bsp,asp", "--json", written, "--report", report) as study:
        study.wait_for(lambda: "simulated" in study.err() and " 0 of " not in study.err().splitlines()[-1], "a run")
        os.kill(study.process.pid, signal.SIGINT)
        assert study.wait() == 130
        assert "stopped by Interrupt" in study.err()
        cells = {cell["label"]: cell for cell in json.loads(written.read_text())["cells"]}
        done = [run for run in cells["bsp"]["runs"] if not run["errors"]]
        assert 0 < len(done) < 10000
        assert cells["bsp"]["figures"]["seconds"]["mean"] > 0
        assert cells["asp"]["figures"]["seconds"]["mean"] is None
        assert all(run["errors"] for run in cells["asp"]["runs"])
        assert "of 10000 runs ended well" in report.read_text()
        study.expect_nothing_left()


@pytest.mark.skipif(not {"avx2", "fma"} <= set(Path("/proc/cpuinfo").read_text().split()),
                    reason="a processor without the common kernels takes its own")
def test_gradients_are_computed_by_the_same_kernels_on_every_processor():
    """OpenBLAS says of every process that begins which kernels it took: first its own choice, then what it was told."""
    begun = leeway("sim", "--keys", OPENBLAS_VERBOSE="2")
    assert begun.returncode == 0, begun
    assert [line for line in begun.stderr.splitlines() if line.startswith("Core: ")][-1] == "Core: Haswell"
    told = leeway("sim", "--keys", OPENBLAS_VERBOSE="2", OPENBLAS_CORETYPE="Sandybridge")
    assert "Core: Haswell" not in told.stderr and "Core: Sandybridge" in told.stderr


def test_what_cannot_be_meant_is_refused_before_anything_runs(tmp_path):
    for flags, wanted in [(["--set", "policies.sync=asp"], "--set: got policies.sync, over which the study has a sweep"),
                          (["--sweep", "policies.sink=a"], "--sweep: unknown key"),
                          (["--sweep", "policies.sync=bsp", "--sweep", "policies.sync=asp"], "two sweeps over it"),
                          (["--sweep", "policies.sync=sspx:2"], "unknown sync model"),
                          (["--report", tmp_path / "none" / "x.html"], "there is no folder")]:
        refused = leeway("sim", SCENARIO, *flags)
        assert refused.returncode == 2 and wanted in refused.stderr and not refused.stdout, refused


def test_a_table_is_as_wide_as_a_terminal_unless_told_otherwise(tmp_path):
    study = ["sim", SCENARIO, "--set", "training.problem=quadratic", "--set", "iterations=5", "--seeds", 2, "--sweep",
             "policies.sync=bsp;pssp:3,0.5"]
    lines = leeway(*study, COLUMNS="").stdout.splitlines()
    assert max(map(len, lines)) <= 80 and sum("pssp:3,0.5" in line for line in lines) > 1, lines
    wide = leeway(*study, COLUMNS="300").stdout.splitlines()
    assert max(map(len, wide)) > 80 and sum("pssp:3,0.5" in line for line in wide) == 1, wide


def test_a_short_form_that_a_scenario_does_not_have_is_told(tmp_path):
    long, short = tmp_path / "long.toml", tmp_path / "short.toml"
    long.write_text('cluster.workers = 2\niterations = 3\ntraining.problem = "quadratic"\n')
    short.write_text(long.read_text() + "[study.quick]\niterations = 2\n")
    told = leeway("sim", long, "--quick")
    assert told.returncode == 0 and f"{long} has no short form" in told.stderr, told
    for flags in ([long], [short, "--quick"]):
        assert "short form" not in leeway("sim", *flags).stderr


def test_a_dry_run_prints_the_scenarios_with_every_key_and_runs_nothing(tmp_path):
    told = leeway("sim", SCENARIO, "--set", "iterations=7", "--dry-run")
    assert told.returncode == 0 and told.stdout.count("iterations = 7\n") == told.stdout.count("# ") > 1, told
    whole = tmp_path / "whole.toml"
    whole.write_text(leeway("sim", SCENARIO, "--sweep", "policies.sync=asp", "--dry-run").stdout)
    again = leeway("sim", whole, "--dry-run")
    assert again.returncode == 0 and again.stdout == whole.read_text(), again
    assert leeway("sim", SCENARIO, "--set", "compute.spread=9", "--dry-run").returncode == 2
    refused = leeway("sim", SCENARIO, "--dry-run", "--json")
    assert refused.returncode == 2 and "a dry run has no results" in refused.stderr, refused


def test_lists_of_keys_and_timelines_are_as_wide_as_a_terminal_unless_told_otherwise():
    for args in (["sim", "--keys"], ["timeline", "--sync", "ssp:3"], ["timeline", "--sync", "drop:3", "--pace", ",".join(["10"] * 12)]):
        narrow = leeway(*args, COLUMNS="")
        assert narrow.returncode == 0 and max(map(len, narrow.stdout.splitlines())) <= 80, narrow.stdout
        wide = leeway(*args, COLUMNS="130").stdout
        assert 80 < max(map(len, wide.splitlines())) <= 130, wide
