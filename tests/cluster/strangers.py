"""What strangers send to the ports of a job, and where those are; and the hello of one that knows the secret."""

import hmac
import os
import socket
import struct

HELLO, WELCOME, PUSH, CHALLENGE, PROOF = 1, 2, 33, 29, 30
SERVER, WORKER, MONITOR = 2, 3, 4
HEADER = struct.Struct("<HBBIQ")


def header(kind, body_bytes, payload_bytes, magic=0x574C, zero=0):
    return HEADER.pack(magic, kind, zero, body_bytes, payload_bytes)


def field(number, value):
    """One field of a protobuf message: an integer below 128, a string or bytes."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(value)]) + value


def frame(kind, body):
    return header(kind, len(body), 0) + body


def hello(job="leeway", version=(1, 1), role=WORKER, nonce=b"n" * 16, rank=0, incarnation=0):
    return frame(HELLO, field(1, version[0]) + field(2, version[1]) + field(3, job) + field(4, role) + field(5, 99)
                 + field(6, rank) + field(7, incarnation) + field(13, nonce))


def proof_of(secret, hello_body, connector, listener, side=b"leeway 1 connector"):
    """As docs/protocol.md has it."""
    return hmac.digest(secret, side + connector + listener + hello_body, "sha256")


def bytes_fields(body):
    """Field number -> value of a message that has nothing but bytes."""
    fields = {}
    while body:
        fields[body[0] >> 3], body = body[2:2 + body[1]], body[2 + body[1]:]
    return fields


class Stranger:
    """One connection to a port of a job, by hand."""

    def __init__(self, address, limit_s=60):
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
        fields = bytes_fields(body)
        return fields[1], fields[2]

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
