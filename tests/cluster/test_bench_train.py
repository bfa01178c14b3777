"""leeway bench train from outside: an emulated cluster of two machines, and that it leaves nothing behind."""

import ctypes
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
import trace_format
from cli_process import Leeway, command, leeway

LAYERS = "a.weight 64x1000 3000000\na.bias 64\nb.weight 1000x40 1000000\n"
ELEMENTS = 64_000 + 64 + 40_000
CAP_SYS_ADMIN = 21
PR_CAPBSET_DROP = 24


def why_no_namespaces():
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else f"no right to make network namespaces: {tried.stderr.strip()}"


NO_NAMESPACES = why_no_namespaces()
needs_namespaces = pytest.mark.skipif(NO_NAMESPACES != "", reason=NO_NAMESPACES)


@pytest.fixture(name="layers")
def tiny_model(tmp_path):
    path = tmp_path / "tiny.layers"
    path.write_text(LAYERS)
    return path


def words(layers, *more, repeats=1, steps=4):
    return ["bench", "train", "--model", layers, "--machines", 2, "--step-ms", 10, "--warm-up", 1, "--steps", steps,
            "--repeats", repeats, "--json", *more]


def left_on_host():
    """Cards of this host and its named namespaces."""
    names = Path("/run/netns")
    return sorted(os.listdir("/sys/class/net")), sorted(os.listdir(names)) if names.exists() else []


def expect_rows(report, rows, runs=1):
    assert [row["row"] for row in report["rows"]] == rows
    for row in report["rows"]:
        assert row["runs"] == runs
        assert row["steps_s"] > 0 and row["computing"] > 0


def test_without_namespaces(layers, tmp_path):
    steps = tmp_path / "steps.jsonl"
    ran = leeway(*words(layers, "--net", "none", "--steps-file", steps, "--rows",
                        "traditional;wait-free sync=ssp:2 exchange=every:2"))
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    expect_rows(report, ["alone", "traditional", "wait-free sync=ssp:2 exchange=every:2"])
    assert report["parameters"] == ELEMENTS
    alone, traditional, sparing = report["rows"]
    assert alone["bytes_a_step"] == 0
    # A push and a pull of the model, with the heads of frames. Frames of the last step may still be on their way at the end, and
    # those before the first at the beginning.
    assert 3 / 4 * 8 * ELEMENTS <= traditional["bytes_a_step"] <= 1.1 * 5 / 4 * 8 * ELEMENTS
    assert traditional["exchanges_a_step"] == 1
    # Every other step of this row has no exchange.
    assert 1 / 4 <= sparing["exchanges_a_step"] <= 3 / 4
    noted = [json.loads(line) for line in steps.read_text().splitlines()]
    assert len(noted) == 4 + 2 * 4 + 2 * 4
    assert {note["step"] for note in noted} == {1, 2, 3, 4}
    assert all(note["seconds"] > 0 for note in noted)


def test_a_trace_has_one_run_of_the_last_row(layers, tmp_path):
    out = tmp_path / "out.json"
    ran = leeway(*words(layers, "--net", "none", "--rows", "traditional;wait-free", "--trace", out, "--trace-steps", "2:4",
                        repeats=2))
    assert ran.returncode == 0, ran.stderr
    expect_rows(json.loads(ran.stdout), ["alone", "traditional", "wait-free"], runs=2)
    events = trace_format.read(out)
    assert f"trace: {out} has {len(events)} events of 4 processes" in ran.stderr, ran.stderr
    names = {event["args"]["name"] for event in trace_format.of(events, "process_name")}
    assert names == {"worker 0", "worker 1", "server 0", "server 1"}
    assert {event["args"]["iteration"] for event in events if event["ph"] not in "Mi"} == {2, 3}
    for name, phase in (("forward", "X"), ("backward", "X"), ("push", "b"), ("pull", "b")):
        assert {event["args"]["of"] for event in trace_format.of(events, name, phase)} == {"a.weight", "a.bias", "b.weight"}, name
    # Two workers, two steps, three tables: other runs are not in it.
    assert len(trace_format.of(events, "forward", "X")) == 2 * 2 * 3
    assert trace_format.of(events, "compute", "X") and trace_format.of(events, "apply", "X")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "tiny.layers"]


@needs_namespaces
def test_a_full_disk_ends_the_trace_and_not_the_bench(layers, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    # The disk is gone with the shell's own mounts.
    script = 'mount -t tmpfs -o size=16k none "$0" && "$@"; code=$?; ls -A "$0" >&2; exit $code'
    bench = command(words(layers, "--net", "none", "--rows", "wait-free", "--trace", disk / "out.json",
                          "--trace-steps", "1:40", steps=40))
    ran = subprocess.run(["unshare", "--mount", "sh", "-c", script, disk, *bench], capture_output=True, text=True, timeout=300,
                         check=False)
    assert ran.returncode == 0, ran.stderr
    expect_rows(json.loads(ran.stdout), ["alone", "wait-free"])
    told = ran.stderr.splitlines()
    assert any("No space left on device" in line for line in told), ran.stderr
    # A whole of the parts may have had room; else nothing is left.
    assert told[-1].startswith("leeway: trace: cannot write ") or told[-1] == "out.json", ran.stderr


@needs_namespaces
def test_machines_behind_a_bridge(layers):
    before = left_on_host()
    ran = leeway(*words(layers, "--net", "400mbit", "--scale", 2, "--apart", "--unchecked-rate", "--rows", "wait-free"))
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    expect_rows(report, ["alone", "wait-free"])
    row = report["rows"][1]
    assert sum(row["server_bytes"]) == 4 * ELEMENTS / 2
    # A busy host may look at the cards twice within no time.
    assert row["gbit_s"] >= 0
    assert report["net_bit_s"] == 400e6
    assert left_on_host() == before


def test_the_same_cluster_simulated(layers, tmp_path):
    scenario = tmp_path / "same.toml"
    written = leeway(*words(layers, "--net", "400mbit", "--write-scenario", scenario,
                            "--rows", "traditional;wait-free;wait-free exchange=every:5 sync=asp", repeats=0))
    assert written.returncode == 0, written.stderr
    simulated = leeway("sim", scenario, "--json")
    assert simulated.returncode == 0, simulated.stderr
    cells = json.loads(simulated.stdout[simulated.stdout.index("{"):])["cells"]
    assert [cell["label"] for cell in cells] == ["traditional", "wait-free", "wait-free exchange=every:5 sync=asp"]
    traditional, wait_free, sparing = [cell["figures"]["seconds"]["mean"] for cell in cells]
    compute = 5 * 0.010
    # Half of the model out of each card for the pushes, and half for the pulls.
    card = 4 * ELEMENTS * 8 / 400e6
    assert compute + 4 * card < traditional < compute + 5 * card + 0.01
    assert compute - 1e-6 <= sparing < wait_free < traditional


@needs_namespaces
def test_nothing_outlives_a_kill(layers, tmp_path):
    before = left_on_host()
    own = os.stat("/proc/self/ns/net").st_ino
    with Leeway(tmp_path, *words(layers, "--net", "400mbit", "--unchecked-rate", repeats=1000)) as bench:
        bench.wait_for(lambda: len(networks_of(bench.family()) - {own}) == 3, "processes on the bridge and on two machines")
        made = networks_of(bench.family()) - {own}
        os.kill(bench.process.pid, signal.SIGKILL)
        bench.wait()
        bench.expect_nothing_left()
        everyone = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
        assert not made & networks_of(everyone)
    assert left_on_host() == before


def networks_of(processes):
    found = set()
    for process in processes:
        try:
            found.add(os.stat(f"/proc/{process}/ns/net").st_ino)
        except OSError:
            pass  # gone meanwhile
    return found


def test_ctrl_c_keeps_the_rows_that_are_done(layers, tmp_path):
    with Leeway(tmp_path, *words(layers, "--net", "none", repeats=1000)) as bench:
        bench.wait_for(lambda: "run 3 of 3000" in bench.err(), "third run")
        os.kill(bench.process.pid, signal.SIGINT)
        assert bench.wait() == 130
        report = json.loads(bench.out())
        assert report["stopped"]
        assert all(row["runs"] >= 1 for row in report["rows"])
        bench.expect_nothing_left()


@pytest.mark.parametrize("flags, said", [
    (["--model", "resnet57"], '--model: model: got "resnet57", wanted one of: alexnet, '),
    (["--net", "fast"], '--net (or none): got "fast", wanted a rate from 1mbit to 400gbit'),
    (["--step-ms", "0"], '--step-ms: got "0", wanted a number'),
    (["--rows", "wait-free sync=bpp"], 'row "wait-free sync=bpp": unknown sync model "bpp"'),
    (["--rows", "wait-fre"], '(did you mean "wait-free"?)'),
    (["--scale", "2000"], "--scale: got 2000, which leaves"),
    (["--trace-steps", "1:2"], "--trace-steps: given without --trace FILE"),
    (["--trace", "/dev/null", "--trace-steps", "9:4"], '--trace-steps: got "9:4", wanted two numbers FROM:TO'),
    (["--trace", "/dev/null", "--trace-steps", "26:40"], '--trace-steps: got "26:40", wanted steps below 26'),
    (["--trace", "/none/out.json"], "--trace: "),
    (["--trace", "/dev/null", "--rows", "alone"], '--trace: the last row is "alone"'),
    (["--repeats", "0"], "--repeats: got 0 without --write-scenario"),
    (["--net", "none", "--write-scenario", "/dev/null"], "--write-scenario: got --net none"),
])
def test_slips_are_found_before_anything_starts(flags, said):
    ran = leeway("bench", "train", *flags)
    assert ran.returncode != 0
    assert said in ran.stderr


@needs_namespaces
def test_a_rate_that_no_host_carries_is_refused():
    ran = leeway("bench", "train", "--net", "400gbit", "--machines", 2)
    assert ran.returncode != 0
    assert "--net: 400gbit cannot be emulated here: the cards carried " in ran.stderr
    assert "or --scale " in ran.stderr


def test_without_rights_it_says_what_helps():
    def drop():
        # A process that never had the right cannot drop it either.
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0)

    for flags, code in (([], 1), (["--check"], 1)):
        ran = subprocess.run(command(["bench", "train", "--machines", 2, *flags]), capture_output=True, text=True, timeout=120,
                             preexec_fn=drop, check=False)
        assert ran.returncode >= code
        assert "cannot make a network namespace (" in ran.stdout + ran.stderr
        assert "--net none" in ran.stdout + ran.stderr
