"""Ten thousand hostile connections while a job trains: it goes on, its processes do not grow, and neither does its log. Those
that say nothing are few, and do not stay."""

import asyncio
import os
import random
import re
import select
import signal
import socket
import sys
import threading
import time

from cli_process import Leeway
from job import HANG_S, PROGRAMS
from strangers import GARBAGE, HELLO, PROOF, field, frame, header, hello, listening_address

CONNECTIONS, OPEN_MAX = 10_000, 200
ATTACKS = [
    GARBAGE["noise"],
    GARBAGE["a payload of an exabyte"],
    header(HELLO, 0xFFFFFFFF, 0) + b"x" * 1000,
    header(HELLO, 4096, 0) + b"x" * 100,  # a hello that never comes to its end
    GARBAGE["a hello that is no protobuf"],
    hello(job="other"),  # and no proof, when it is asked for one
    hello() + frame(PROOF, field(1, b"p" * 32)),
    hello()[:20],
    b"",
]


def anonymous_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("RssAnon"))


async def attack(address, data, patience_s):
    host, port = address.rsplit(":", 1)
    try:
        reader, writer = await asyncio.open_connection(host, int(port))
    except OSError:
        return 0
    try:
        writer.write(data)
        await asyncio.wait_for(reader.read(4096), patience_s)
    except (OSError, asyncio.TimeoutError):
        pass  # cut off with our bytes unread, or neither side says anything
    finally:
        writer.close()
    return 1


async def attack_all(addresses, done):
    """At most OPEN_MAX at once, each with an attack and a target drawn by lot; some wait until they are cut off."""
    lots, room = random.Random(7), asyncio.Semaphore(OPEN_MAX)

    async def one():
        data = lots.choice(ATTACKS)
        patience_s = 3.0 if lots.random() < 0.05 else 0.2
        async with room:
            done.append(await attack(lots.choice(addresses), data, patience_s))

    await asyncio.gather(*(one() for _ in range(CONNECTIONS)))


async def first_wave(addresses):
    for address in addresses:
        await asyncio.gather(*(attack(address, ATTACKS[i % len(ATTACKS)], 0.2) for i in range(OPEN_MAX)))


def test_ten_thousand_hostile_connections_during_training(tmp_path):
    with Leeway(tmp_path, "run", "-w", 2, "-s", 2, "--listen", "127.0.0.1:0", "--sync", "bsp", "--", sys.executable, PROGRAMS / "losses.py",
                tmp_path) as job:
        def steps(rank):
            said = re.findall(rf"\[w{rank}\] life 0 pid \d+ steps (\d+)", job.out())
            return int(said[-1]) if said else 0

        job.wait_for(lambda: steps(0) and steps(1), "training")
        roles = [pid for pid, words in job.commands().items() if words[1:2] in (["scheduler"], ["server"])]
        assert len(roles) == 3
        addresses = [listening_address(pid) for pid in roles]
        # Memory that a first wave makes a process keep (buffers, tables that have grown) is no leak.
        asyncio.run(first_wave(addresses))
        before, lines = {pid: anonymous_bytes(pid) for pid in roles}, len(job.err().splitlines())
        done = []
        enemy = threading.Thread(target=lambda: asyncio.run(attack_all(addresses, done)))
        enemy.start()
        try:
            while enemy.is_alive():
                at = [steps(rank) for rank in range(2)]
                job.wait_for(lambda: all(steps(rank) >= at[rank] + 20 for rank in range(2)), "progress")
        finally:
            enemy.join()
        assert sum(done) >= 0.99 * CONNECTIONS, f"{sum(done)} of {CONNECTIONS} were let in at all"
        for pid in roles:  # once it has noticed that its last guests are gone
            job.wait_for(lambda: anonymous_bytes(pid) - before[pid] < 4 << 20, f"memory given back by {job.commands()[pid]}")
        (tmp_path / "stop").touch()
        assert job.wait() == 0, job.err()[-3000:]
        job.expect_nothing_left()
        err = job.err()
    for words in ("127.0.0.1:", "cut off", "refused", "more such warnings"):
        assert words in err, err[-3000:]
    assert len(err.splitlines()) - lines < 300, "the log grows with what strangers do"


def test_connections_that_say_nothing_are_few_and_do_not_stay(tmp_path):
    with Leeway(tmp_path, "scheduler", "--listen", "127.0.0.1:0", "--insecure") as job:
        job.wait_for(lambda: "listening" in job.err(), "scheduler")
        host, port = listening_address(job.process.pid).rsplit(":", 1)
        silent, deadline = [], time.monotonic() + HANG_S
        try:
            # 300 at once; more of them where that takes so long that the first are cut off meanwhile.
            while len(silent) < 300 or ("turned away" not in job.err() and time.monotonic() < deadline):
                silent.append(socket.create_connection((host, int(port)), timeout=HANG_S))
                if len(silent) > 600:
                    silent.pop(0).close()
            left = set(silent)
            while left and time.monotonic() < deadline:
                for connection in select.select(list(left), [], [], 0.1)[0]:
                    left.remove(connection)  # it was said nothing either: this is its end
            assert not left, f"{len(left)} connections without a hello are still there"
        finally:
            for connection in silent:
                connection.close()
        os.kill(job.process.pid, signal.SIGTERM)
        assert job.wait() == 143
        for words in ("turned away: 256 connections have not said hello yet", "did not say hello within 2.0 s"):
            assert words in job.err(), job.err()[-3000:]
