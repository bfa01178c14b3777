"""Bytes from strangers at the ports of a scheduler and a server while a job runs: refused, and nothing else harmed."""

import socket
import threading
import time

import pytest
from job import HANG_S, Job
from strangers import GARBAGE, HEADER, listening_address


# These come to their end only when the other side gives up on their proof, seconds later: test_secret.py has them.
UNFINISHED = {"another job"}


def send(address, data, wait_s=HANG_S):
    """Sends and waits until the other side closes; what it said. A half frame is closed by us."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=wait_s) as stranger:
        said = b""
        try:
            stranger.sendall(data)
            if len(data) < HEADER.size:
                return said
            while piece := stranger.recv(65536):
                said += piece
        except ConnectionError:
            pass  # closed with our bytes unread: that is a refusal too
        return said


def peak_memory_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))


@pytest.fixture
def job(tmp_path):
    with Job(tmp_path, workers=2, servers=1) as job:
        job.roles = job._processes[:2]
        deadline = time.monotonic() + HANG_S
        while not all(listening_address(p.pid) for p in job.roles):
            assert time.monotonic() < deadline, job.logs()
            time.sleep(0.01)
        yield job


def test_garbage_at_every_port_during_a_run_harms_nothing(job):
    addresses = [listening_address(p.pid) for p in job.roles]
    workers = [job.start_worker(rank, "losses") for rank in range(2)]
    answers, rounds, stop = {}, [0], threading.Event()

    def pester():
        while not stop.is_set():
            for name, data in GARBAGE.items():
                if name in UNFINISHED:
                    continue
                for address in addresses:
                    try:
                        answers[name] = answers.get(name, b"") + send(address, data)
                    except ConnectionError:
                        return  # the job has ended, or a role has died: its exit code tells
            rounds[0] += 1

    pest = threading.Thread(target=pester)
    pest.start()
    try:
        deadline = time.monotonic() + HANG_S
        while rounds[0] < 2 or not all("steps" in worker.log.read_text() for worker in workers):
            assert pest.is_alive() and time.monotonic() < deadline, job.logs()
            time.sleep(0.01)
        (job.folder / "stop").touch()
        job.expect_end(workers)
    finally:
        stop.set()
        pest.join()
    job.expect_end()  # scheduler and server end well, with 0
    assert b"version" in answers["another version"]
    assert b"nonce" in answers["a hello without a nonce"]
    assert b"proof of the job's secret" in answers["a hello and a proof that is none"]


def test_oversized_frames_allocate_nothing(job):
    for process in job.roles:
        address, before = listening_address(process.pid), peak_memory_bytes(process.pid)
        for _ in range(20):
            send(address, GARBAGE["a payload of an exabyte"])
            send(address, GARBAGE["a body of 4 GB"])
        assert peak_memory_bytes(process.pid) - before < 64 << 20


def test_connections_without_a_hello_do_not_keep_members_out(job):
    """More than a node lets stand about at once: the oldest or the newest go, the job comes together all the same."""
    address = listening_address(job.roles[0].pid)
    host, port = address.rsplit(":", 1)
    idle = [socket.create_connection((host, int(port)), timeout=HANG_S) for _ in range(300)]
    try:
        workers = [job.start_worker(rank, "cli_steps", 5) for rank in range(2)]
        job.expect_end(workers)
    finally:
        for connection in idle:
            connection.close()
    job.expect_end()
