"""leeway run in odd surroundings: ignored signals, readers that do not read, flags that cannot work."""

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import time

import pytest
from cli_process import NOBODY_JOINED, Leeway, leeway
from job import BUILD, HANG_S


def test_nohup_holds_for_the_launcher_and_its_workers(tmp_path):
    go = tmp_path / "go"
    script = f"kill -HUP $$; echo alive; while [ ! -e {go} ]; do sleep 0.05; done"
    with Leeway(tmp_path, "run", "-w", 1, "--", "sh", "-c", script, ignored=[signal.SIGHUP]) as job:
        job.wait_for(lambda: "alive" in job.out(), "worker")
        os.kill(job.process.pid, signal.SIGHUP)
        time.sleep(0.3)  # time enough for a launcher that listens to end
        go.touch()
        assert job.wait() == NOBODY_JOINED, job.err()
        job.expect_nothing_left()


@pytest.mark.parametrize("role", ["scheduler", "server"])
def test_nohup_holds_for_roles_by_themselves(tmp_path, role):
    flags = ["--listen", "127.0.0.1:0"] if role == "scheduler" else ["--scheduler", "127.0.0.1:1", "--give-up-after", "60s"]
    with Leeway(tmp_path, role, *flags, "--insecure", "--log", "debug", ignored=[signal.SIGHUP]) as job:
        caught = f"/proc/{job.process.pid}/status"
        # Its signals are set up once SIGTERM (bit 14) is blocked.
        job.wait_for(lambda: int(open(caught).read().split("SigBlk:")[1].split()[0], 16) & 1 << 14, "signals")
        os.kill(job.process.pid, signal.SIGHUP)
        time.sleep(0.3)
        assert job.process.poll() is None
        os.kill(job.process.pid, signal.SIGTERM)
        assert job.wait() == 143


def test_an_ignored_sigchld_does_not_hang_the_launcher(tmp_path):
    with Leeway(tmp_path, "run", "-w", 1, "--", "sh", "-c", "exit 3", ignored=[signal.SIGCHLD]) as job:
        assert job.wait() == 3
        job.expect_nothing_left()


def wait_until(condition, what):
    deadline = time.monotonic() + HANG_S
    while not condition():
        assert time.monotonic() < deadline, f"no {what}"
        time.sleep(0.01)


@pytest.mark.parametrize("make, quiet", [(os.pipe, ["-q"]), (pty.openpty, [])])
def test_a_reader_that_does_not_read_leaves_ctrl_c_working(tmp_path, make, quiet):
    read, write = make()
    # Full before the job begins. Nobody can see afterwards that it is: a terminal with room for one byte counts as writable,
    # and takes no end of line, which is two.
    os.set_blocking(write, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(write, b"\n" * 4096):
            pass
    os.set_blocking(write, True)
    told = tmp_path / "pid"
    # Quiet for a pipe: where the job is slow to begin, a line of progress would wait for the reader before the worker starts. A
    # bar on a terminal waits for nobody.
    process = subprocess.Popen([str(BUILD / "leeway"), "run", *quiet, "-w", "1", "--", "sh", "-c", f"echo $$ > {told}.new; "
                                f"mv {told}.new {told}; exec yes"], stdout=write, stderr=write, stdin=subprocess.DEVNULL)
    try:
        wait_until(told.exists, "worker")
        with open(f"/proc/{told.read_text().strip()}/fd/1", "wb") as output:
            wait_until(lambda: not select.select([], [output], [], 0)[1], "lines that the launcher leaves unread")
        process.send_signal(signal.SIGTERM)
        assert process.wait(HANG_S) == 143
    finally:
        process.kill()
        os.close(write)
        os.close(read)


def test_a_reader_that_went_away_costs_neither_the_exit_code_nor_the_file(tmp_path):
    for redirection in (">&-", ">&- 2>&-", ">/dev/full", ">/dev/full 2>/dev/full"):
        summary = tmp_path / "summary.json"
        # By lines, as on a terminal: an error of a larger buffer would be found when nobody looks any more.
        command = f'exec stdbuf -oL "{BUILD}/leeway" run -w 1 --summary-json "{summary}" -- echo hi {redirection}'
        assert subprocess.run(["sh", "-c", command], timeout=HANG_S, check=False).returncode == NOBODY_JOINED, redirection
        assert json.loads(summary.read_text())["exit_code"] == NOBODY_JOINED
        summary.unlink()


@pytest.mark.parametrize("args", [["--help"], ["run", "--help"], ["sim", "--keys"], ["version"]])
def test_output_that_cannot_be_written_is_an_error_with_a_message(args):
    """However short it is: a text that fits a buffer is written at the end of the program."""
    with open("/dev/full", "w") as full:
        shown = subprocess.run([str(BUILD / "leeway"), *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=HANG_S, check=False)
    assert (shown.returncode, shown.stderr) == (6, "leeway: cannot write standard output: No space left on device\n")


def test_a_message_of_an_error_that_cannot_be_written_leaves_its_exit_code_as_it_is():
    with open("/dev/full", "w") as full:
        refused = subprocess.run([str(BUILD / "leeway"), "run", "--sycn", "bsp"], stderr=full, timeout=HANG_S, check=False)
    assert refused.returncode == 2


@pytest.mark.parametrize("args", [["version"], ["sim", "--keys"]])  # less, and more than a buffer of stdout holds
@pytest.mark.parametrize("ignored, code", [(False, -signal.SIGPIPE), (True, 0)])
def test_a_reader_that_closed_its_pipe_hears_no_complaint(ignored, code, args):
    read, write = os.pipe()
    os.close(read)
    # Python ignores SIGPIPE, and restores it in a child unless told otherwise.
    shown = subprocess.run([str(BUILD / "leeway"), *args], stdout=write, stderr=subprocess.PIPE, text=True, timeout=HANG_S,
                           check=False, restore_signals=not ignored)
    os.close(write)
    assert (shown.returncode, shown.stderr) == (code, "")


def test_an_exit_code_beyond_128_is_no_signal():
    result = leeway("run", "-w", 1, "--", "sh", "-c", "exit 129")
    assert result.returncode == 129
    assert result.stderr.endswith(": worker 0 ended with exit code 129\n")


def test_a_short_expel_after_is_enough():
    result = leeway("run", "-w", 1, "--expel-after", "2s", "--quiet", "--", "echo", "ran")
    assert (result.returncode, result.stdout) == (NOBODY_JOINED, "[w0] ran\n"), result


@pytest.mark.parametrize("flags, names", [
    (["--expel-after", "10ms"], "--expel-after: got 10ms"),
    (["--gather-timeout", "0ms"], "--gather-timeout: got 0ms"),
    (["--summary-json", "/no/such/folder/x"], "--summary-json: got \"/no/such/folder/x\""),
    (["--summary-json", "/"], "--summary-json: got \"/\""),
    (["--listen", "192.0.2.1:7000"], "add --bind-any"),
    (["--listen", "0.0.0.0:7000", "--bind-any"], "the address by which workers reach this machine"),
])
def test_what_cannot_work_is_refused_before_anything_starts(flags, names):
    result = leeway("run", "-w", 1, *flags, "--", "echo", "ran")
    assert result.returncode == 2 and names in result.stderr, result
    assert "ran" not in result.stdout


def test_an_address_file_never_holds_an_address_for_nobody(tmp_path):
    address = tmp_path / "address"
    result = leeway("scheduler", "--listen", "0.0.0.0:0", "--bind-any", "--address-file", address)
    assert result.returncode == 2 and "0.0.0.0" in result.stderr, result
    assert not address.exists()
