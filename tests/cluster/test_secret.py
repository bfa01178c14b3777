"""A peer without the job's secret learns nothing and changes nothing, at every port and as every role; and where
secret and ports are to be found."""

import os
import re
import socket
import stat
import sys
import threading
import time

import pytest
from cli_process import Leeway, leeway
from frame_proxy import FrameProxy
from job import PROGRAMS, Job, make_secret
from strangers import (CHALLENGE, HELLO, MONITOR, PROOF, PUSH, SERVER, WELCOME, WORKER, Stranger, field, fields, frame, hello,
                       listening_address, listening_ports, proof_of)

# Of each kind of attack, in `make test`; `make check-hostile` makes it thousands.
ROUNDS = 300 if os.environ.get("LEEWAY_LONG") == "1" else 6
NONCE = b"n" * 16
NOBODY = 65534
JOB_NAME = "a-name-that-strangers-never-see"


@pytest.fixture
def job(tmp_path):
    """Two workers that train over TCP until the file `stop` is there."""
    with Job(tmp_path, workers=2, servers=1, job=JOB_NAME, server_flags=("--job", JOB_NAME)) as job:
        job.roles = job._processes[:2]
        wait(job, lambda: all(listening_address(p.pid) for p in job.roles), "listening roles")
        job.addresses = [listening_address(p.pid) for p in job.roles]
        job.secret = job.secret_file.read_text().strip().encode()
        yield job


def wait(job, condition, what, limit_s=240):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, f"no {what}:{job.logs()}"
        time.sleep(0.01)


def steps(worker):
    said = re.findall(r"life -?\d+ pid \d+ steps (\d+)", worker.log.read_text())
    return int(said[-1]) if said else 0


def train(job, scheduler=None, **variables):
    job.training = [job.start_worker(rank, "losses", scheduler=scheduler if rank == 0 else None, LEEWAY_JOB=JOB_NAME, **variables)
                    for rank in range(2)]
    wait(job, lambda: all(steps(worker) for worker in job.training), "training")


def expect_unharmed(job):
    """Training goes on, and comes to its own end."""
    at = [steps(worker) for worker in job.training]
    wait(job, lambda: all(steps(worker) >= before + 10 for worker, before in zip(job.training, at)), "progress")
    (job.folder / "stop").touch()
    job.expect_end()


def expect_told_nothing(job, heard):
    """Neither the job's name, nor an address, nor anything in a welcome but its refusal."""
    assert JOB_NAME.encode() not in heard, heard
    for address in job.addresses:
        assert address.encode() not in heard and address.rsplit(":", 1)[1].encode() not in heard, heard
    for words in (b"rank", b"taken", b"incarnation", b"bsp", b"local:"):
        assert words not in heard, heard


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def without_proof(address, secret, role):
    """A hello, and frames of a member at once."""
    with Stranger(address) as stranger:
        stranger.send(hello(JOB_NAME, role=role, incarnation=1) + frame(15, b""))
        return stranger.read_to_end()


def with_noise(address, secret, role):
    with Stranger(address) as stranger:
        stranger.challenge(hello(JOB_NAME, role=role, incarnation=1))
        stranger.send(frame(PROOF, field(1, os.urandom(32))))
        return stranger.read_to_end()


def with_the_other_sides_own_proof(address, secret, role):
    with Stranger(address) as stranger:
        _, proof = stranger.challenge(hello(JOB_NAME, role=role, incarnation=1))
        stranger.send(frame(PROOF, field(1, proof)))
        return stranger.read_to_end()


def with_another_jobs_secret(address, secret, role):
    with Stranger(address) as stranger:
        said = hello(JOB_NAME, role=role, incarnation=1)
        listener, _ = stranger.challenge(said)
        stranger.send(frame(PROOF, field(1, proof_of(b"x" * len(secret), said[16:], NONCE, listener))))
        return stranger.read_to_end()


def with_no_secret(address, secret, role):
    """As a node that was started with --insecure."""
    with Stranger(address) as stranger:
        said = hello(JOB_NAME, role=role, incarnation=1)
        listener, _ = stranger.challenge(said)
        stranger.send(frame(PROOF, field(1, proof_of(b"", said[16:], NONCE, listener))))
        return stranger.read_to_end()


def with_a_proof_for_another_hello(address, secret, role):
    """The right secret, over a hello of another rank: what one who changes bytes on their way would send."""
    with Stranger(address) as stranger:
        listener, _ = stranger.challenge(hello(JOB_NAME, role=role, incarnation=1))
        other = hello(JOB_NAME, role=role, rank=1, incarnation=1)[16:]
        stranger.send(frame(PROOF, field(1, proof_of(secret, other, NONCE, listener))))
        return stranger.read_to_end()


def with_a_proof_of_an_earlier_connection(address, secret, role):
    said = hello(JOB_NAME, role=role, incarnation=1)
    with Stranger(address) as first:
        earlier, _ = first.challenge(said)
    with Stranger(address) as stranger:
        listener, _ = stranger.challenge(said)
        assert listener != earlier
        stranger.send(frame(PROOF, field(1, proof_of(secret, said[16:], NONCE, earlier))))
        return stranger.read_to_end()


ATTACKS = [without_proof, with_noise, with_the_other_sides_own_proof, with_another_jobs_secret, with_no_secret,
           with_a_proof_for_another_hello, with_a_proof_of_an_earlier_connection]


def attack_all(job, rounds):
    """Every attack, as every role, at every port; returns how many there were."""
    count = 0
    for _ in range(rounds):
        for attack in ATTACKS:
            for role in (WORKER, SERVER, MONITOR):
                for address in job.addresses:
                    heard = attack(address, job.secret, role)
                    refusal = b"wanted Proof" if attack is without_proof else b"did not accept the proof of the job's secret"
                    assert refusal in heard, (attack.__name__, role, heard)
                    expect_told_nothing(job, heard)
                    count += 1
    return count


def as_another_user(function):
    """Runs it in a child of another user, and fails with what it failed with."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            function()
            code = 0
        except BaseException as error:
            os.write(write_end, repr(error).encode()[:4000])
        finally:
            os._exit(code)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as words:
        said = words.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, said.decode()


def test_the_one_who_knows_the_secret_is_let_in(job):
    """So that the refusals below are for what they seem to be for."""
    with Stranger(job.addresses[0]) as monitor:
        said = hello("", role=MONITOR)
        listener, proof = monitor.challenge(said)
        assert proof == proof_of(job.secret, said[16:], NONCE, listener, b"leeway 1 listener ")
        monitor.send(frame(PROOF, field(1, proof_of(job.secret, said[16:], NONCE, listener))))
        kind, body = monitor.read_frame()
        assert kind == WELCOME and JOB_NAME.encode() in body


def test_strangers_are_told_nothing_and_change_nothing(job):
    train(job)
    attack_all(job, 2)  # what a first wave makes a process keep is no leak
    before = [resident_bytes(p.pid) for p in job.roles]
    assert attack_all(job, ROUNDS) >= (10_000 if ROUNDS > 6 else 200)
    for process, bytes_before in zip(job.roles, before):
        assert resident_bytes(process.pid) - bytes_before < 2 << 20, process.who
    expect_unharmed(job)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_strangers_of_another_user_are_told_nothing_and_change_nothing(job):
    train(job)
    as_another_user(lambda: attack_all(job, 1))

    def by_unix_socket():
        """The names are there for everybody to see; the user is not the right one."""
        for address in job.addresses:
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.settimeout(240)
                stranger.connect(f"\0leeway/{address}")
                try:
                    stranger.sendall(hello(JOB_NAME))
                    assert stranger.recv(4096) == b""
                except ConnectionError:
                    pass  # turned away before our bytes were read
    as_another_user(by_unix_socket)

    def by_secret_file():
        try:
            open(job.secret_file, "rb").close()
        except PermissionError:
            return
        raise AssertionError("another user can read the secret")
    as_another_user(by_secret_file)
    expect_unharmed(job)


@pytest.mark.parametrize("to", ["scheduler", "server"])
def test_a_recorded_connection_is_worth_nothing(job, to):
    """Of a worker, with everything that it has sent (to a server, its pushes): replayed whole, and with single bytes changed."""
    sent, lock = [], threading.Lock()

    def record(each, _):
        with lock:
            sent.append(each.encode())
        return [each]

    scheduler = (job.folder / "scheduler").read_text().strip()
    if to == "scheduler":
        proxy = FrameProxy(lambda: (scheduler.rsplit(":", 1)[0], int(scheduler.rsplit(":", 1)[1])), to_server=record)
    else:
        proxy = FrameProxy.of_scheduler(scheduler, to_server=record)
    address = job.addresses[0 if to == "scheduler" else 1]
    try:
        train(job, scheduler=proxy.address, LEEWAY_TRANSPORT="tcp")
        with lock:
            recorded = list(sent)
        assert recorded[0][2] == HELLO and recorded[1][2] == PROOF and len(recorded) >= 3
        assert to == "scheduler" or any(each[2] == PUSH for each in recorded)
        whole = b"".join(recorded)
        changed = []
        for at in range(16, len(recorded[0]) + len(recorded[1]), 7):
            changed.append(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        for replayed in [whole, *changed]:
            with Stranger(address) as stranger:
                stranger.send(replayed)
                heard = stranger.read_to_end()
            expect_told_nothing(job, heard)
        assert len(changed) > 10
        expect_unharmed(job)
    finally:
        proxy.close()


def proof_without_secret(hello_body):
    nonce = fields(hello_body)[13][0]
    return proof_of(b"", hello_body, nonce, b"l" * 16, b"leeway 1 listener ")


class Impostor:
    """Listens where a scheduler did, and answers every hello with `answer` (of the hello's body)."""

    def __init__(self, answer, port=0):
        self._listener = socket.create_server(("127.0.0.1", port))
        self.address = "127.0.0.1:%d" % self._listener.getsockname()[1]
        self.heard = []
        self._answer = answer
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            with peer:
                peer.settimeout(240)
                try:
                    said = peer.recv(4096)
                    peer.sendall(self._answer(said[16:]))
                    while more := peer.recv(4096):
                        said += more
                except OSError:
                    pass
                self.heard.append(said)

    def close(self):
        self._listener.close()


@pytest.mark.parametrize("answer, words", [
    (lambda _: frame(CHALLENGE, field(1, b"l" * 16) + field(2, b"p" * 32)), "did not prove that it knows the job's secret"),
    (lambda _: frame(WELCOME, field(1, 1) + field(4, 4)), "sent a welcome without proving"),
    (lambda said: frame(CHALLENGE, field(1, b"l" * 16) + field(2, proof_without_secret(said))),
     "it was started with --insecure, and this process has a secret"),
], ids=["noise", "welcome", "insecure"])
def test_an_impostor_gets_nothing_but_a_hello(tmp_path, answer, words):
    impostor = Impostor(answer)
    try:
        refused = leeway("server", "--scheduler", impostor.address, "--transport", "tcp", "--secret-file",
                         make_secret(tmp_path / "secret"))
        assert refused.returncode == 2 and words in refused.stderr, refused
        deadline = time.monotonic() + 240
        while not impostor.heard:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        said = impostor.heard[0]
        assert said[2] == HELLO and len(said) == 16 + int.from_bytes(said[4:8], "little"), "nothing follows the hello"
    finally:
        impostor.close()


def test_wrong_and_missing_secrets_are_named(tmp_path):
    address, mine, other = tmp_path / "address", make_secret(tmp_path / "mine"), make_secret(tmp_path / "other")
    for role in (["scheduler"], ["server", "--scheduler", "127.0.0.1:1"], ["ctl", "status", "--scheduler", "127.0.0.1:1"]):
        neither = leeway(*role, LEEWAY_SECRET_FILE="", LEEWAY_INSECURE="")
        assert neither.returncode == 2, neither
        for wanted in ("--secret-file", "LEEWAY_SECRET_FILE", "--insecure", "/dev/urandom"):
            assert wanted in neither.stderr, neither
        other.chmod(0o644)
        open_to_all = leeway(*role, "--secret-file", other)
        assert open_to_all.returncode == 2 and f"chmod 600 {other}" in open_to_all.stderr, open_to_all
        other.chmod(0o600)
        both = leeway(*role, "--secret-file", mine, "--insecure")
        assert both.returncode == 2 and "wanted one of them" in both.stderr, both
    with Leeway(tmp_path, "scheduler", "--address-file", address, "--secret-file", mine) as scheduler:
        scheduler.wait_for(address.exists, "address")
        where = f"file:{address}"
        for flags, words in [(["--secret-file", other], "it has another one"), (["--insecure"], "this process has none")]:
            for command in (["ctl", "status"], ["server"]):
                refused = leeway(*command, "--scheduler", where, *flags)
                assert refused.returncode == 2 and words in refused.stderr, refused
        assert leeway("ctl", "status", "--scheduler", where, "--secret-file", mine).returncode == 0
        assert scheduler.process.poll() is None
    with Leeway(tmp_path, "scheduler", "--address-file", tmp_path / "open", "--insecure") as scheduler:
        scheduler.wait_for((tmp_path / "open").exists, "address")
        where = f"file:{tmp_path / 'open'}"
        refused = leeway("ctl", "status", "--scheduler", where, "--secret-file", mine)
        assert refused.returncode == 2 and "it was started with --insecure" in refused.stderr, refused
        assert leeway("ctl", "status", "--scheduler", where, LEEWAY_INSECURE="1").returncode == 0


def launched(tmp_path, *flags):
    return Leeway(tmp_path, "run", "-w", 2, "-s", 2, *flags, "--", sys.executable, PROGRAMS / "losses.py", tmp_path)


def wait_for_training(job):
    job.wait_for(lambda: all(re.search(rf"\[w{rank}\] life 0 pid \d+ steps", job.out()) for rank in range(2)), "training")


def end(job, tmp_path):
    (tmp_path / "stop").touch()
    assert job.wait() == 0, job.err()[-3000:]
    job.expect_nothing_left()


def test_a_run_opens_no_port_and_shows_its_secret_to_nobody(tmp_path):
    with launched(tmp_path) as job:
        wait_for_training(job)
        family = job.family()
        assert len(family) >= 6
        assert {pid: listening_ports(pid) for pid in family if listening_ports(pid)} == {}
        (file,) = job.temporary.glob("*/secret")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        secret = file.read_bytes().strip()
        assert len(secret) == 64
        for pid in family:
            with open(f"/proc/{pid}/cmdline", "rb") as words, open(f"/proc/{pid}/environ", "rb") as variables:
                assert secret not in words.read() and secret not in variables.read(), pid
        address = (file.parent / "scheduler.address").read_text().strip()
        assert re.fullmatch(r"local:[0-9a-f]{32}", address)
        for where in (address, f"file:{file.parent / 'scheduler.address'}"):
            told = leeway("ctl", "status", "--scheduler", where, "--secret-file", file)
            assert told.returncode == 0 and "running" in told.stdout, told
        end(job, tmp_path)


def test_a_run_that_is_asked_to_opens_ports_and_says_how_to_join(tmp_path):
    secret = tmp_path / "job.secret"
    with launched(tmp_path, "--listen", "127.0.0.1:0", "--secret-file", secret) as job:
        wait_for_training(job)
        told = re.search(r"others join with (LEEWAY_SCHEDULER=127\.0\.0\.1:\d+) (LEEWAY_SECRET_FILE=\S+) LEEWAY_JOB=run-\d+", job.err())
        assert told and told[2] == f"LEEWAY_SECRET_FILE={secret}", job.err()
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        assert sum(bool(listening_ports(pid)) for pid in job.family()) == 3
        status = leeway("ctl", "status", **dict(word.split("=", 1) for word in told.groups()))
        assert status.returncode == 0 and "running" in status.stdout, status
        end(job, tmp_path)
    # The file is the user's: the next run takes it as it is.
    before = secret.read_text()
    again = leeway("run", "-w", 1, "--secret-file", secret, "--", "true")
    assert "no worker joined" in again.stderr and secret.read_text() == before, again
    secret.chmod(0o640)
    refused = leeway("run", "-w", 1, "--secret-file", secret, "--", "true")
    assert refused.returncode == 2 and "--secret-file" in refused.stderr and "chmod 600" in refused.stderr, refused


def test_a_run_over_tcp_opens_ports(tmp_path):
    with launched(tmp_path, "--transport", "tcp") as job:
        wait_for_training(job)
        assert sum(bool(listening_ports(pid)) for pid in job.family()) == 3
        end(job, tmp_path)


def test_local_names_work_wherever_addresses_do(tmp_path):
    """A job by hand over names of this host, a scheduler at a name that is taken, and wrong names."""
    name = f"local:test.{os.getpid()}"
    with Job(tmp_path, workers=1, servers=1, listen=name, server_flags=("--listen", "local:")) as job:
        worker = job.start_worker(0, "losses", scheduler=name)
        wait(job, lambda: "listening at" in job._processes[0].log.read_text(), "scheduler")
        assert [listening_ports(p.pid) for p in job._processes[:2]] == [[], []]
        taken = leeway("scheduler", "--listen", name, "--insecure")
        assert taken.returncode == 6 and name in taken.stderr and "another process has this name" in taken.stderr, taken
        wait(job, lambda: steps(worker), "training")
        (tmp_path / "stop").touch()
        job.expect_end()
    for wrong in ("local:a/b", "local:" + "x" * 65, "local:a b"):
        refused = leeway("scheduler", "--listen", wrong, "--insecure")
        assert refused.returncode == 2 and "wanted local:NAME" in refused.stderr, refused
    tcp = leeway("scheduler", "--listen", name, "--transport", "tcp", "--insecure")
    assert tcp.returncode == 2 and "the transport is tcp" in tcp.stderr, tcp
    nobody = leeway("ctl", "status", "--scheduler", name, "--timeout", "1s", "--insecure")
    assert nobody.returncode >= 128 and name in nobody.stderr, nobody
