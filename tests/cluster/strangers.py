"""What strangers send to the ports of a job, and where those are."""

import os
import struct

HELLO, PUSH = 1, 33
HEADER = struct.Struct("<HBBIQ")


def header(kind, body_bytes, payload_bytes, magic=0x574C, zero=0):
    return HEADER.pack(magic, kind, zero, body_bytes, payload_bytes)


def field(number, value):
    """One field of a protobuf message: an integer or a string."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value.encode()


def hello(job="leeway", version=(1, 1), role=3):
    body = field(1, version[0]) + field(2, version[1]) + field(3, job) + field(4, role) + field(5, 99)
    return header(HELLO, len(body), 0) + body


GARBAGE = {
    "noise": os.urandom(4096),
    "a web browser": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a payload of an exabyte": header(HELLO, 0, 1 << 60),
    "a body of 4 GB": header(HELLO, 0xFFFFFFFF, 0) + b"x" * 100_000,
    "a push before the hello": header(PUSH, 64, 1 << 20) + b"\0" * 100_000,
    "an unknown kind": header(200, 0, 0),
    "a bad magic": header(HELLO, 0, 0, magic=0x1234),
    "a byte that must be zero": header(HELLO, 0, 0, zero=1),
    "a hello that is no protobuf": header(HELLO, 64, 0) + b"\xff" * 64,
    "another job": hello(job="other"),
    "another version": hello(version=(77, 99)),
    "no role": hello(role=0),
    "half a header": header(HELLO, 10, 0)[:7],
}


def listening_address(pid):
    """Where the process listens, from the kernel's tables."""
    sockets = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            sockets.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            pass
    with open("/proc/net/tcp", encoding="ascii") as table:
        for row in table.readlines()[1:]:
            columns = row.split()
            if columns[3] == "0A" and f"socket:[{columns[9]}]" in sockets:
                return "127.0.0.1:%d" % int(columns[1].split(":")[1], 16)
    return None
