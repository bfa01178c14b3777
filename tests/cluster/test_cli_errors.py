"""Wrong input to the program: a clear message, the right exit code, and nothing started."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_process import leeway
from job import BUILD, HANG_S, PROGRAMS, make_secret


@pytest.mark.parametrize("flags, words", [
    (["--sync", "bpp"], ['unknown sync model "bpp"', "known:", "ssp", 'did you mean "bsp"?']),
    (["--sync", "ssp"], ["--sync", "s"]),
    (["--sync", "ssp:-1"], ["--sync", "-1"]),
    (["--sync", "ssp:3,relase=soft"], ["relase", 'did you mean "release"?']),
    (["--sync", "ssp:3,release=hard"], ["hard", "soft"]),
    (["--sync", "ssp:(3"], ["--sync"]),
    (["--apply", "agregate"], ["--apply", "agregate", "aggregate"]),
    (["--sync", "asp", "--apply", "aggregate"], ["--apply", "asp"]),
    (["--sync", "asp", "--apply", "relay"], ["--apply", "asp", "wanted bsp"]),
    (["--apply", "relay", "--pull", "partial:0.9,50"], ["relay", 'use pull "full"']),
    (["--apply", "relay", "--exchange", "every:2"], ["relay", 'use exchange "every:1"']),
    (["--rule", "tables=w apply=relay"], ["no rule sets apply relay"]),
    (["--sync", "ssptable:2", "--exchange", "every:4"], ['sync "ssptable:2" with exchange "every:4"', 'use exchange "every:1"']),
    (["--placement", "robin"], ["robin", "round_robin"]),
    (["--slow-worker", "3:fast"], ["--slow-worker", '"3:fast"', "3:4x"]),
    (["--slow-worker", "rotate:4x,10-5"], ["--slow-worker", "rotate:4x,5-10"]),
    (["--slow-worker", "pauses:200,0.05"], ["--slow-worker", "pauses:200ms,0.05"]),
    (["--slow-worker", "9:2x"], ["--slow-worker", "got rank 9", "wanted 0 to 3"]),
    (["--block-bytes", "4MB"], ["--block-bytes", "4MB", "4MiB"]),
    (["--slo-worker", "3:4x"], ['unknown flag "--slo-worker"', "--slow-worker"]),
    (["--workers"], ["--workers"]),
    (["--listen", "0.0.0.0:0"], ["--listen", "0.0.0.0:0"]),
    (["--checkpoint-every", 10], ["leeway run: --checkpoint-every: wanted --checkpoint-dir FOLDER with it"]),
    (["--checkpoint-time", "1m"], ["leeway run: --checkpoint-time: wanted --checkpoint-dir FOLDER with it"]),
    (["--cores", "0-1023"], ['leeway run: --cores: cores "0-1023": this process may not run on core', "wanted some of"]),
])
def test_a_slip_in_a_flag_is_named_and_nothing_runs(tmp_path, flags, words):
    witness = tmp_path / "ran"
    result = leeway("run", "-w", 4, *flags, "--", "touch", witness)
    assert result.returncode == 2, result
    for word in words:
        assert word in result.stderr, (word, result.stderr)
    assert not witness.exists() and result.stdout == ""


@pytest.mark.parametrize("flags, words", [
    (["sim", "scenarios/uneven.toml", "--sync", "ssp:3"], ["--sync"]),
    (["sim", "scenarios/uneven.toml", "--seeds", 10_001], ["--seeds", "10000"]),
    (["sim", "--set", "policies.sync=asp"], ["wanted one of them"]),
    (["sim", "--from-run", "run.json", "--quick"], ["got --quick and --from-run"]),
    (["timeline", "--workers", 4], ["--workers"]),
    (["server", "--scheduler", "127.0.0.1"], ['--scheduler: address "127.0.0.1": no port', "host:port"]),
    (["ctl", "status", "--scheduler", "127.0.0.1"], ['--scheduler: address "127.0.0.1": no port', "host:port"]),
    (["ctl", "set-sync"], ["RULE: not given, wanted words such as"]),
    (["checkpoint", "diff", "a"], ["A B: got 1 word, wanted two checkpoints"]),
    (["ctl", "set-sync", "sync=sspp:3", "--scheduler", "local:x", "--insecure"], ['rule "sync=sspp:3": unknown sync model "sspp"']),
    (["timeline", "--pace", "10,x"], ["--pace", '"x"', "10,12,15,40"]),
    (["timeline", "--sync", "drop:3", "--pace", "10,12"], ["leeway timeline: --sync with 2 values of --pace", "needs 3 workers"]),
    (["timeline", "--sync", "bsp", "--apply", "immediat"], ["--apply with --sync bsp", "immediat"]),
])
def test_a_command_refuses_what_it_cannot_use(flags, words):
    result = leeway(*flags)
    assert result.returncode == 2, result
    for word in words:
        assert word in result.stderr, (word, result.stderr)


@pytest.mark.parametrize("flags, words", [
    (["run", "--job-file", "no.toml", "train.py"], "leeway run: --job-file: no.toml: no such file, wanted a TOML file\n"),
    (["run", "no.py"], 'leeway run: script "no.py": no such file\n'),
    (["sim", "no.toml"], "leeway sim: no.toml: no such file, wanted a TOML file\n"),
])
def test_a_file_that_does_not_exist_is_no_wrong_usage(flags, words):
    result = leeway(*flags)
    assert result.returncode == 3 and result.stderr == words, result


def test_a_bare_simulation_says_what_it_wants():
    result = leeway("sim")
    assert result.returncode == 2 and result.stdout == "", result
    for words in ("wanted one of them", "leeway sim scenarios/uneven.toml", "--from-run run.json"):
        assert words in result.stderr, result.stderr


def test_a_sweep_over_values_with_commas_is_told_how_to_part_them():
    scenario = Path(__file__).resolve().parents[2] / "scenarios/uneven.toml"
    result = leeway("sim", scenario, "--sweep", "policies.sync=bsp,pssp:3,0.5")
    assert result.returncode == 2 and "'policies.sync=bsp;pssp:3,0.5'" in result.stderr, result


@pytest.mark.parametrize("words, wanted", [
    (["pushpull", "--transport", "locl"], ['--transport: unknown transport "locl"', "auto, local, uds, tcp", 'did you mean "local"?']),
    (["pushpull", "--workers", 65], ["--workers", "got 65", "1 to 64"]),
    (["pushpull", "--block-bytes", 6], ["block bytes: got 6", "multiple of 4"]),
    (["latency", "--transport", "udp"], ['unknown transport "udp"']),
    (["latency", "--block-bytes", 64], ['unknown flag "--block-bytes"']),
    (["scale", "--repeats", 0], ["--repeats", "got 0"]),
    (["memory", "--part", "last"], ['--part: got "last", wanted first, flat or both']),
    (["memory", "--iterations", 10], ["--iterations", "got 10", "100"]),
    (["all", "--only", "pushpul"], ['--only: no part "pushpul"', 'did you mean "pushpull"?']),
    (["all", "--baseline", "/no/such/file"], ["/no/such/file"]),
    (["all", "--save", "/no/such/folder/run.json"], ["--save", "/no/such/folder/run.json"]),
])
def test_a_slip_in_a_bench_is_named_and_nothing_runs(words, wanted):
    result = leeway("bench", *words)
    assert 0 < result.returncode < 128, result
    for word in wanted:
        assert word in result.stderr, (word, result.stderr)
    assert result.stdout == ""


def test_a_baseline_that_is_none_is_refused(tmp_path):
    file = tmp_path / "run.json"
    file.write_text("[]")
    result = leeway("bench", "all", "--baseline", file)
    assert result.returncode != 0 and str(file) in result.stderr and "leeway bench all --save" in result.stderr


def test_unknown_commands_and_no_command():
    result = leeway("rnu")
    assert result.returncode == 2 and 'unknown command "rnu"' in result.stderr and 'did you mean "run"?' in result.stderr
    assert leeway().returncode == 2
    result = leeway("run", "-w", 1)
    assert result.returncode == 2 and "--" in result.stderr


def test_help_teaches():
    result = leeway("run", "--help")
    assert result.returncode == 0
    for word in ("Examples:", "--slow-worker", "ssp", "adamw", "round_robin", "LEEWAY_RANK"):
        assert word in result.stdout
    assert "leeway run" in leeway("--help").stdout


def test_version_says_what_is_compiled_in():
    result = leeway("version")
    assert result.returncode == 0
    for word in ("protocol", "asp", "bounded", "drop", "adam", "lpt", "round_robin"):
        assert word in result.stdout


def test_a_command_that_does_not_exist_starts_nothing(tmp_path):
    result = leeway("run", "-w", 2, "-s", 1, "--", "no-such-command", TMPDIR=str(tmp_path))
    assert result.returncode == 3
    assert 'command "no-such-command": not found in PATH' in result.stderr
    assert result.stdout == "" and list(tmp_path.iterdir()) == []


def test_a_script_that_does_not_exist_passes_on_the_exit_code_of_python():
    result = leeway("run", "-w", 2, "-s", 1, "--", sys.executable, PROGRAMS / "no_such_script.py")
    assert result.returncode == 2
    assert "No such file" in result.stderr and "ended with exit code 2" in result.stderr


def test_a_port_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        alone = leeway("scheduler", "--listen", address, "--insecure")
        launched = leeway("run", "-w", 1, "--listen", address, "--", "true")
    for result in (alone, launched):
        assert result.returncode == 6, result
        assert address in result.stderr and "in use" in result.stderr, result.stderr


def test_other_machines_are_let_in_on_demand_only():
    for role in (["scheduler"], ["server", "--scheduler", "127.0.0.1:1"]):
        result = leeway(*role, "--listen", "0.0.0.0:0")
        assert result.returncode == 2 and "--bind-any" in result.stderr


def test_no_scheduler_at_the_address_is_given_up_after_the_stated_time(tmp_path):
    with socket.socket() as unheard:  # it has the port, and listens to nobody
        unheard.bind(("127.0.0.1", 0))
        for where in ("127.0.0.1:%d" % unheard.getsockname()[1], f"file:{tmp_path / 'never-written'}"):
            begun = time.monotonic()
            result = leeway("server", "--scheduler", where, "--give-up-after", "700ms", "--insecure")
            assert time.monotonic() - begun > 0.6
            assert result.returncode == 128, result
            assert "scheduler" in result.stderr and where.removeprefix("file:") in result.stderr, result.stderr


def test_a_scheduler_that_does_not_answer_is_given_up_too():
    with socket.create_server(("127.0.0.1", 0)) as mute:
        result = leeway("server", "--scheduler", "127.0.0.1:%d" % mute.getsockname()[1], "--give-up-after", "1s",
                        "--insecure")
    assert result.returncode == 128, result


def test_a_job_that_is_never_complete_ends_and_names_who_is_missing():
    result = leeway("scheduler", "-w", 2, "-s", 1, "--gather-timeout", "500ms", "--insecure")
    assert result.returncode == 129, result
    assert "worker" in result.stderr and "server" in result.stderr


def test_a_server_of_another_job_is_refused(tmp_path):
    address = tmp_path / "address"
    secret = make_secret(tmp_path / "secret")
    scheduler = subprocess.Popen([BUILD / "leeway", "scheduler", "--address-file", address, "--job", "one", "--gather-timeout", "5m",
                                  "--secret-file", secret], stderr=subprocess.DEVNULL)
    try:
        result = leeway("server", "--scheduler", f"file:{address}", "--job", "two", "--give-up-after", "2m",
                        LEEWAY_SECRET_FILE=str(secret))
        assert 0 < result.returncode < 128, result
        assert "two" in result.stderr and "one" in result.stderr
        assert scheduler.poll() is None
    finally:
        scheduler.terminate()
        assert scheduler.wait(HANG_S) == 143
