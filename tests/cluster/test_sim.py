"""leeway sim from outside: what is left when it is stopped."""

import json
import os
import signal
from pathlib import Path

from cli_process import Leeway

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "uneven.toml"


def test_ctrl_c_leaves_what_is_done(tmp_path):
    written, report = tmp_path / "study.json", tmp_path / "study.html"
    with Leeway(tmp_path, "sim", SCENARIO, "--set", "training.problem=quadratic", "--set", "iterations=40", "--seeds", 10000,
                "--sweep", "policies.sync=bsp,asp", "--json", written, "--report", report) as study:
        study.wait_for(lambda: "simulated" in study.err() and " 0 of " not in study.err().splitlines()[-1], "a run")
        os.kill(study.process.pid, signal.SIGINT)
        assert study.wait(20) == 130
        assert "stopped by Interrupt" in study.err()
        cells = {cell["label"]: cell for cell in json.loads(written.read_text())["cells"]}
        done = [run for run in cells["bsp"]["runs"] if not run["errors"]]
        assert 0 < len(done) < 10000
        assert cells["bsp"]["figures"]["seconds"]["mean"] > 0
        assert cells["asp"]["figures"]["seconds"]["mean"] is None
        assert all(run["errors"] for run in cells["asp"]["runs"])
        assert "did not end well" in report.read_text()
        study.expect_nothing_left()
