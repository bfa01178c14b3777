"""leeway run --record, and leeway sim --from-run on what it wrote."""

import json
import sys

import pytest
from cli_process import leeway
from job import PROGRAMS

WORKERS = 2
CPU_S = 0.004  # of every worker in every iteration
ITERATIONS = 1000  # 5 s: long enough for several reports of the servers


def run(path, *flags, iterations=ITERATIONS):
    result = leeway("run", "-w", WORKERS, "-s", 2, "--sync", "bsp", "--quiet", "--record", path, *flags, "--", sys.executable,
                    PROGRAMS / "busy.py", "--iterations", iterations, "--cpu-ms", 1000 * CPU_S, limit_s=300)
    assert result.returncode == 0, result
    return json.loads(path.read_text())


@pytest.fixture(scope="module", name="plain")
def fixture_plain(tmp_path_factory):
    """One run for all tests: the file, and its contents."""
    path = tmp_path_factory.mktemp("record") / "plain.json"
    return path, run(path)


def test_a_record_predicts_its_own_run(tmp_path, plain):
    path, record = plain
    assert record["leeway_record"] == 2 and record["job"]["workers"] == WORKERS and record["job"]["sync"] == "bsp"
    assert record["job"]["priorities"] is True and record["job"]["pull_at"] == "ready"
    assert record["measured"]["iterations"] == WORKERS * (ITERATIONS - 1)  # without the first of each
    assert [table["name"] for table in record["tables"]] == ["w", "b"]
    for worker in record["workers"]:
        assert CPU_S <= worker["cpu_s"] < 3 * CPU_S, worker  # with what the front and the I/O thread take
    # Less what others did to the machine meanwhile; how near a prediction comes beside others is for leeway bench predict.
    quiet, predicted, report = tmp_path / "quiet.json", tmp_path / "predicted.json", tmp_path / "report.html"
    quiet.write_text(json.dumps({**record, "host": {**record["host"], "others_cores": 0.0},
                                 "costs": {**record["costs"], "latency_s": 1e-5}}))
    result = leeway("sim", "--from-run", quiet, "--json", predicted, "--report", report)
    assert result.returncode == 0, result
    assert "measured" in result.stdout and "measured" in report.read_text()
    figures = json.loads(predicted.read_text())["cells"][0]["figures"]
    assert figures["seconds"]["measured"] == record["measured"]["seconds"]
    computed = ITERATIONS * max(worker["cpu_s"] for worker in record["workers"])
    assert 0.8 < figures["seconds"]["mean"] / computed < 1.4, (figures["seconds"], computed)


def test_a_slow_worker_makes_the_others_wait_and_not_compute(tmp_path, plain):
    before = plain[1]
    iterations = ITERATIONS // 5
    slow = run(tmp_path / "slow.json", "--slow-worker", "1:6x", iterations=iterations)
    assert slow["measured"]["seconds"] > 0.8 * iterations * 6 * CPU_S
    assert [worker["slowed"] for worker in slow["workers"]] == [1, 6]
    for rank in range(WORKERS):
        assert slow["workers"][rank]["cpu_s"] < 1.5 * before["workers"][rank]["cpu_s"], (before, slow)
        assert slow["workers"][rank]["elsewhere_s"] < 0.012, slow["workers"][rank]


def test_keys_can_be_set_and_swept_over(plain):
    result = leeway("sim", "--from-run", plain[0], "--set", "cluster.workers=4", "--sweep", "policies.sync=bsp,asp")
    assert result.returncode == 0 and "asp" in result.stdout, result


def test_what_is_no_record_is_refused(tmp_path):
    for text, said in (("nonsense", "no JSON object"), ('{"leeway_record": 7}', "got 7, wanted"), ("{}", "is missing")):
        path = tmp_path / "damaged.json"
        path.write_text(text)
        result = leeway("sim", "--from-run", path)
        assert result.returncode != 0 and said in result.stderr and "damaged.json" in result.stderr, result


def test_a_run_that_nobody_joined_gives_no_record_and_says_so(tmp_path):
    path = tmp_path / "none.json"
    result = leeway("run", "-w", 1, "--record", path, "--", "true")
    assert result.returncode != 0 and "no worker joined the job" in result.stderr and not path.exists(), result
