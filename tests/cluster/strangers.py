"""What strangers send to the ports of a job, and where those are."""

import os
import struct

HELLO, WELCOME, GOODBYE, ROSTER, DEFINE_TABLES, TABLE_MAP, BARRIER, LEASE = 1, 2, 3, 6, 7, 8, 9, 11
REPORT, STATUS_REQUEST, SET_SYNC, PUSH = 15, 16, 27, 33
WORKER, MONITOR = 3, 4  # roles
HEADER = struct.Struct("<HBBIQ")


def header(kind, body_bytes, payload_bytes, magic=0x574C, zero=0):
    return HEADER.pack(magic, kind, zero, body_bytes, payload_bytes)


def varint(value):
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def field(number, value):
    """One field of a protobuf message: an integer, a string, or bytes (a message)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(body):
    """The fields of a protobuf message: {number: [values]}; strings and messages as bytes."""
    found, at = {}, 0

    def take():
        nonlocal at
        value, shift = 0, 0
        while True:
            value |= (body[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if body[at - 1] < 0x80:
                return value

    while at < len(body):
        number, kind = divmod(take(), 8)
        if kind == 0:
            value = take()
        else:
            length = {1: 8, 5: 4}.get(kind) or take()
            value, at = body[at:at + length], at + length
        found.setdefault(number, []).append(value)
    return found


def frame(kind, body=b""):
    return header(kind, len(body), 0) + body


def receive(connection):
    """The next frame without a payload: (kind, body)."""
    def exactly(count):
        data = b""
        while len(data) < count:
            part = connection.recv(count - len(data))
            if not part:
                raise ConnectionError("closed")
            data += part
        return data

    _, kind, _, body_bytes, _ = HEADER.unpack(exactly(HEADER.size))
    return kind, exactly(body_bytes)


def hello(job="leeway", version=(1, 1), role=3, life=99, more=b""):
    """`more`: further fields, encoded."""
    body = field(1, version[0]) + field(2, version[1]) + field(3, job) + field(4, role) + field(5, life)
    return frame(HELLO, body + more)


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
