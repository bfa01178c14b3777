"""The cost of an attacker's bytes to a node: memory against bytes sent, monitors, tables that are too large, forged text."""

import re
import resource
import socket
import sys
import time

from cli_process import Leeway, leeway
from job import HANG_S, PROGRAMS, Job, make_secret
from strangers import (MONITOR, PUSH, STATUS_REQUEST, WELCOME, WORKER, field, fields, frame, header, hello, introduce,
                       listening_address, receive)
from test_ctl import variables_of
from test_hostile import anonymous_bytes

MIB = 1 << 20
BODY_MAX = 16 * MIB  # LinkOptions::body_bytes_max
FORGED_LINE = "12:00:00.000 I everything is fine"


def connect(address):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=240)


def running_job(tmp_path):
    """The attacker knows the secret: what it may take is bounded all the same."""
    job = Leeway(tmp_path, "run", "-w", 1, "-s", 1, "--sync", "asp", "--transport", "tcp", "--secret-file",
                 make_secret(tmp_path / "secret"), "--", sys.executable, PROGRAMS / "losses.py", tmp_path)
    job.secret = (tmp_path / "secret").read_text().strip().encode()
    return job


def roles_of(job):
    """{"scheduler": pid, "server": pid} once both listen and the worker trains."""
    job.wait_for(lambda: "steps" in job.out(), "training")
    found = {}
    for pid, words in job.commands().items():
        if words[1:2] in (["scheduler"], ["server"]):
            found[words[1]] = pid
    return found


def job_name(job):
    pid = roles_of(job)["scheduler"]
    words = open(f"/proc/{pid}/cmdline", "rb").read().decode().split("\0")
    return words[words.index("--job") + 1] if "--job" in words else "leeway"


def test_what_a_header_announces_takes_no_memory(tmp_path):
    """A hello and a header of 16 bytes that announces 16 MiB, on 540 connections to each role, sixty at a time."""
    with running_job(tmp_path) as job:
        roles, name = roles_of(job), job_name(job)
        for role, pid in roles.items():
            address = listening_address(pid)
            before, highest = anonymous_bytes(pid), 0
            for wave in range(9):
                held = []
                for i in range(60):
                    # To a shard as a worker that its roster does not know yet.
                    greeting = (hello(job=name, role=MONITOR, life=1000 + i) if role == "scheduler" else
                                hello(job=name, role=WORKER, rank=100 + i, incarnation=1))
                    connection = connect(address)
                    introduce(connection, greeting, job.secret,
                              header(STATUS_REQUEST if role == "scheduler" else PUSH, BODY_MAX, 0))
                    held.append(connection)
                for connection in held:
                    kind, body = receive(connection)
                    assert kind == WELCOME and 2 not in fields(body), fields(body)
                highest = max(highest, anonymous_bytes(pid))
                for connection in held:
                    connection.close()
                if role == "scheduler":  # its monitors have to be gone before the next sixty come
                    job.wait_for(lambda: monitors_fit(job, address, name), "room for monitors")
            grown = highest - before
            assert grown < 32 * MIB, f"{role}: {grown} bytes more for 540 connections of less than 100 bytes"
        (tmp_path / "stop").touch()
        assert job.wait() == 0, job.err()[-3000:]


def monitors_fit(job, address, name):
    with connect(address) as connection:
        introduce(connection, hello(job=name, role=MONITOR), job.secret)
        return 2 not in fields(receive(connection)[1])


def test_monitors_are_bounded_and_what_they_took_is_given_back(tmp_path):
    with running_job(tmp_path) as job:
        pid, name = roles_of(job)["scheduler"], job_name(job)
        address, before = listening_address(pid), anonymous_bytes(pid)
        held, refused = [], []
        for i in range(200):
            connection = connect(address)
            introduce(connection, hello(job=name, role=MONITOR, life=1000 + i), job.secret)
            error = fields(receive(connection)[1]).get(2)
            if error:
                refused.append(error[0].decode())
                connection.close()
            else:
                held.append(connection)
        assert 55 <= len(held) <= 64, f"{len(held)} monitors at once"  # the launcher has some of its own
        assert all("64 may be at a time (monitors_max)" in error for error in refused), refused[:3]
        told = leeway("ctl", "status", "--scheduler", address, "--secret-file", tmp_path / "secret")
        assert told.returncode != 0 and "monitors_max" in told.stderr, told
        # One that asks and does not read is cut off, and what waits for it is one answer.
        with socket.socket() as greedy:
            held.pop().close()
            greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            host, port = address.rsplit(":", 1)
            greedy.settimeout(240)
            job.wait_for(lambda: monitors_fit(job, address, name), "room for a monitor")
            greedy.connect((host, int(port)))
            introduce(greedy, hello(job=name, role=MONITOR), job.secret)
            asked, deadline, cut_off = 0, time.monotonic() + 240, False
            while not cut_off and time.monotonic() < deadline:
                try:
                    greedy.sendall(frame(STATUS_REQUEST, field(1, 1)) * 100)
                    asked += 100
                except OSError:
                    cut_off = True
                assert anonymous_bytes(pid) - before < 64 * MIB, f"after {asked} requests"
            assert cut_off, f"{asked} requests, none of whose answers was read"
        for connection in held:
            connection.close()
        job.wait_for(lambda: monitors_fit(job, address, name), "room for monitors")
        job.wait_for(lambda: anonymous_bytes(pid) - before < 8 * MIB, "memory given back")
        (tmp_path / "stop").touch()
        assert job.wait() == 0, job.err()[-3000:]


def test_a_table_too_large_for_the_server_is_refused_and_the_server_lives(tmp_path):
    elements = 1 << 29  # 2 GiB, with 1.5 GiB of addresses
    with Job(tmp_path, workers=2, servers=1, server_address_space=3 << 29, sync="asp") as job:
        small = job.start_worker(0, "losses")
        big = job.start_worker(1, "big_table", elements)
        job.expect_end([big])
        refused = (tmp_path / "refused").read_text()
        for words in ('table "big"', "server 0 shard 0", str(4 * elements), "start more servers", "ulimit -v"):
            assert words in refused, refused

        def steps():
            said = re.findall(r"steps (\d+)", small.log.read_text())
            return int(said[-1]) if said else 0

        # The other worker's table is served before and after.
        at, deadline = steps(), time.monotonic() + 240
        while steps() < at + 40:
            assert time.monotonic() < deadline, job.logs()
            time.sleep(0.05)
        (tmp_path / "stop").touch()
        job.expect_end([small])
        job.expect_end()


def test_forged_text_ends_no_line_and_reaches_no_terminal(tmp_path):
    with Leeway(tmp_path, "run", "-w", 1, "-s", 1, "--transport", "tcp", "--on-worker-loss", "shrink", "--", sys.executable,
                PROGRAMS / "forger.py", tmp_path) as job:
        job.wait_for(lambda: (tmp_path / "forged").exists(), "forged text")
        where = variables_of(job)
        status = leeway("ctl", "status", **where)
        data = leeway("ctl", "status", "--json", **where)
        assert status.returncode == 0 and data.returncode == 0, (status, data)
        (tmp_path / "stop").touch()
        job.wait()
        texts = {"status": status.stdout, "json": data.stdout, "log": job.err(), "summary": job.out(),
                 "table error": (tmp_path / "table_error").read_text()}
    for what, text in texts.items():
        assert "\x1b" not in text and "\x9b" not in text, f"{what}: {text!r}"
        lines = re.split(r"[\r\n]", text)
        assert not any(line.startswith("12:00:00") for line in lines), f"{what}: {text!r}"
    # It did come there, as text.
    assert FORGED_LINE in texts["status"] + texts["json"], texts["json"]
    assert r"x\n" + FORGED_LINE in texts["log"], texts["log"]


def test_connections_that_cannot_be_accepted_fill_no_log(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Leeway(tmp_path, "scheduler", "--listen", "127.0.0.1:0", "--insecure") as job:
        job.wait_for(lambda: "listening" in job.err(), "scheduler")
        resource.prlimit(job.process.pid, resource.RLIMIT_NOFILE, (48, before[1]))
        address, held = listening_address(job.process.pid), []
        began = time.monotonic()
        # For 4 s, in which nothing could be accepted 40 times, one every 100 ms; for longer where it takes long.
        while (took := time.monotonic() - began) < 4 or ("cannot accept" not in job.err() and took < HANG_S):
            if len(held) < 200:
                held.append(connect(address))
            else:
                held.pop(0).close()
            time.sleep(0.005)
        lines = [line for line in job.err().splitlines() if "cannot accept" in line]
        for connection in held:
            connection.close()
    assert 1 <= len(lines) <= 22 * (1 + took // 10), f"{len(lines)} lines in {took:.1f} s"
