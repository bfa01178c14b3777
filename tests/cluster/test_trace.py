"""leeway run --trace: the events of all processes in one file, also of one that was killed."""

import sys

import pytest
import trace_format
from cli_process import leeway
from job import PROGRAMS


@pytest.fixture(scope="module", name="traced")
def fixture_traced(tmp_path_factory):
    """One run for all tests: its folder, its result and the events of its trace."""
    folder = tmp_path_factory.mktemp("trace")
    result = leeway("run", "-w", 2, "-s", 1, "--sync", "bsp", "--on-worker-loss", "shrink", "--trace", folder / "out.json",
                    "--trace-steps", "4:10", "--", sys.executable, PROGRAMS / "traced.py", limit_s=300)
    assert result.returncode == 0, result
    return folder, result, trace_format.read(folder / "out.json")


def names_of(events):
    return {event["args"]["name"]: event["pid"] for event in trace_format.of(events, "process_name")}


def test_the_trace_has_what_workers_and_servers_did_in_the_steps_asked_for(traced):
    folder, result, events = traced
    assert f"trace: {folder / 'out.json'} has {len(events)} events of 3 processes" in result.stderr, result
    assert [path.name for path in folder.iterdir()] == ["out.json"]
    pids = names_of(events)
    assert set(pids) == {"worker 0", "worker 1", "server 0"}
    steps = {event["args"]["iteration"] for event in events if event["ph"] not in "Mi"}
    assert steps == set(range(4, 10))
    for name in ("compute", "send", "forward", "backward"):
        assert {event["pid"] for event in trace_format.of(events, name, "X")} == {pids["worker 0"], pids["worker 1"]}, name
    assert {event["pid"] for event in trace_format.of(events, "apply")} == {pids["server 0"]}
    tables = {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert {event["args"]["of"] for event in trace_format.of(events, "push", "b")} == tables
    assert {event["args"]["of"] for event in trace_format.of(events, "pull", "b")} == tables
    assert {"Sequential", "0", "ReLU", "2"} == {event["args"]["of"] for event in trace_format.of(events, "forward")}
    assert {event["args"]["of"] for event in trace_format.of(events, "backward")} == tables


def test_arrows_lead_from_the_frames_of_workers_to_the_server(traced):
    events = traced[2]
    pids = names_of(events)
    arrived = [event for event in events if event["ph"] == "f"]
    assert {event["pid"] for event in arrived} == {pids["server 0"]}
    sent = {event["id"]: event["pid"] for event in events if event["ph"] == "s"}
    assert {sent[event["id"]] for event in arrived} == {pids["worker 0"], pids["worker 1"]}


def test_a_worker_that_was_killed_in_a_wait_shows_it_to_its_end(traced):
    events = traced[2]
    killed = names_of(events)["worker 1"]
    cut = [event for event in events if event["ph"] == "e" and event["args"].get("cut")]
    assert {event["pid"] for event in cut} == {killed}
    assert [event["args"]["iteration"] for event in cut if event["name"] == "wait"] == [8]
    assert max(event["args"]["iteration"] for event in events if event["pid"] == killed and event["ph"] != "M") == 8


def test_wrong_steps_are_refused_before_the_job_begins(tmp_path):
    for flags, said in ((["--trace", tmp_path / "t.json", "--trace-steps", "9:4"], 'got "9:4", wanted two numbers FROM:TO'),
                        (["--trace-steps", "4:9"], "given without --trace FILE"),
                        (["--trace", tmp_path / "none" / "t.json"], "there is no folder")):
        result = leeway("run", *flags, "--", "true")
        assert result.returncode == 2 and said in result.stderr, result
    assert not list(tmp_path.iterdir())
