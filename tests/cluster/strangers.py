"""The bytes that strangers send to the ports of a job, and those ports; and the hello of a peer that knows the secret."""

import hmac
import os
import socket
import struct

HELLO, WELCOME, GOODBYE, ROSTER, DEFINE_TABLES, TABLE_MAP, BARRIER, LEASE = 1, 2, 3, 6, 7, 8, 9, 11
REPORT, STATUS_REQUEST, SET_SYNC, CHALLENGE, PROOF, PUSH = 15, 16, 27, 29, 30, 33
SERVER, WORKER, MONITOR = 2, 3, 4  # roles
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


def hello(job="leeway", version=(1, 50), role=WORKER, life=99, nonce=b"n" * 16, rank=0, incarnation=0, more=b""):
    """`more`: further fields, encoded."""
    return frame(HELLO, field(1, version[0]) + field(2, version[1]) + field(3, job) + field(4, role) + field(5, life)
                 + field(6, rank) + field(7, incarnation) + field(13, nonce) + more)


def proof_of(secret, hello_body, connector, listener, side=b"leeway 1 connector"):
    """As docs/protocol.md has it."""
    return hmac.digest(secret, side + connector + listener + hello_body, "sha256")


def introduce(connection, said, secret, then=b""):
    """Says the hello `said` on a socket, proves the secret, and sends `then` with the proof."""
    connection.sendall(said)
    kind, body = receive(connection)
    assert kind == CHALLENGE, (kind, body)
    said_body = said[HEADER.size:]
    (nonce,), (listener,) = fields(said_body)[13], fields(body)[1]
    connection.sendall(frame(PROOF, field(1, proof_of(secret, said_body, nonce, listener))) + then)


class Stranger:
    """One connection to a port of a job, by hand."""

    def __init__(self, address, limit_s=240):
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=limit_s)
        self.heard = b""  # every byte that came

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def send(self, data):
        try:
            self._socket.sendall(data)
        except ConnectionError:
            pass  # closed already: what it said is still to be read

    def read_frame(self):
        """(kind, body), or None at the end."""
        try:
            head = self._read(HEADER.size)
            if head is None:
                return None
            _, kind, _, body_bytes, payload_bytes = HEADER.unpack(head)
            body = self._read(body_bytes + payload_bytes)
            return None if body is None else (kind, body[:body_bytes])
        except ConnectionError:
            return None

    def read_to_end(self):
        """Everything until the other side closes."""
        while self.read_frame() is not None:
            pass
        return self.heard

    def challenge(self, said):
        """Says hello and returns the nonce and the proof of the other side."""
        self.send(said)
        kind, body = self.read_frame()
        assert kind == CHALLENGE, (kind, body)
        found = fields(body)
        return found[1][0], found[2][0]

    def _read(self, count):
        data = b""
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            self.heard += piece
            if not piece:
                return None
            data += piece
        return data


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
    "a hello without a nonce": hello(nonce=b""),
    "a hello and a proof that is none": hello() + frame(PROOF, field(1, b"p" * 32)),
    "half a header": header(HELLO, 10, 0)[:7],
}


def listening_ports(pid):
    """The TCP ports at which the process listens, from the kernel's tables."""
    sockets, ports = set(), []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            sockets.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            pass
    for family in ("tcp", "tcp6"):
        try:
            with open(f"/proc/{pid}/net/{family}", encoding="ascii") as table:
                rows = table.readlines()[1:]
        except OSError:
            continue  # no IPv6 here
        for columns in map(str.split, rows):
            if columns[3] == "0A" and f"socket:[{columns[9]}]" in sockets:
                ports.append(int(columns[1].split(":")[1], 16))
    return ports


def listening_address(pid):
    """Where the process listens."""
    ports = listening_ports(pid)
    return f"127.0.0.1:{ports[0]}" if ports else None
