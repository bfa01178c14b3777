"""A worker that speaks the protocol by hand and puts forged text wherever a worker can put any."""

import os
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from strangers import (BARRIER, DEFINE_TABLES, GOODBYE, LEASE, REPORT, ROSTER, SET_SYNC, TABLE_MAP, WELCOME, field, fields,
                       frame, hello, introduce, receive)

folder = Path(sys.argv[1])
FORGED = "x\n12:00:00.000 I everything is fine\r\x1b[2J"
address = os.environ["LEEWAY_SCHEDULER"]
if address.startswith("file:"):
    address = Path(address[5:]).read_text().strip()
host, port = address.rsplit(":", 1)
secret = Path(os.environ["LEEWAY_SECRET_FILE"]).read_bytes().strip()


def connect(said):
    connection = socket.create_connection((host, int(port)), timeout=240)
    introduce(connection, said, secret)
    kind, body = receive(connection)
    assert kind == WELCOME
    return connection, fields(body)


connect(hello(job=FORGED))  # another job: refused, and logged
job = os.environ["LEEWAY_JOB"]
connection, welcome = connect(hello(job=job, life=12345, more=field(11, FORGED) + field(12, os.getpid())))
assert 2 not in welcome, welcome
while receive(connection)[0] != ROSTER:
    pass
connection.sendall(frame(REPORT, field(1, 1) + field(2, FORGED) + field(3, field(1, FORGED) + b"\x11" + bytes(8))))
connection.sendall(frame(DEFINE_TABLES, field(1, 1) + field(2, field(2, FORGED) + b"\x1a\x01\x04" + field(4, 0))))
while True:
    kind, body = receive(connection)
    if kind == TABLE_MAP:
        break
(folder / "table_error").write_bytes(fields(body).get(3, [b""])[0])
connection.sendall(frame(LEASE, field(1, 1) + field(2, FORGED) + field(3, 10) + field(4, 1)))
connection.sendall(frame(BARRIER, field(1, FORGED) + field(2, 7)))
connection.sendall(frame(SET_SYNC, field(1, 1) + field(2, "tables=" + FORGED + " sync=" + FORGED)))
(folder / "forged").touch()
deadline = time.monotonic() + 600
while not (folder / "stop").exists() and time.monotonic() < deadline:
    connection.sendall(frame(4))  # a ping: it is alive
    time.sleep(0.05)
connection.sendall(frame(GOODBYE, field(1, 7) + field(2, FORGED)))
connection.close()
