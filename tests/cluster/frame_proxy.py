"""FrameProxy: stands between one worker and its job, reads whole frames both ways, and lets a test hold, change or cut.

The worker is given the proxy's address as its scheduler's. Addresses of servers that pass by in a roster are replaced by
those of further proxies, whose ports have as many digits, so that the length stays.
"""

import re
import socket
import struct
import threading
import time

from job import HANG_S

ROSTER, PUSH, VERDICTS, ANSWERS = 6, 33, 35, 37
_HEADER = struct.Struct("<HBBIQ")
_ANSWERS_HEAD = struct.Struct("<III4x")
_ANSWER = struct.Struct("<IIqQQQqIIIIIIHB5x")


class Frame:
    def __init__(self, kind, body, payload):
        self.kind, self.body, self.payload = kind, body, payload

    def encode(self):
        return _HEADER.pack(0x574C, self.kind, 0, len(self.body), len(self.payload)) + self.body + self.payload

    def split_answers(self):
        """One frame per answer, as (bytes of values, frame)."""
        worker, incarnation, count = _ANSWERS_HEAD.unpack_from(self.body)
        frames, at = [], 0
        for i in range(count):
            entry = self.body[_ANSWERS_HEAD.size + i * _ANSWER.size:][:_ANSWER.size]
            size = _ANSWER.unpack(entry)[10]
            body = _ANSWERS_HEAD.pack(worker, incarnation, 1) + entry
            frames.append((size, Frame(ANSWERS, body, self.payload[at:at + size])))
            at += size
        return frames


class Cut(Exception):
    """Raised by a filter: ends the connection, both ways."""


class FrameProxy:
    """`to_worker` and `to_server` take a frame of a server's connection and the socket it would go to, and give the frames
    to send on; they run on the thread of that direction, and may block, send part of a frame, or raise Cut. `on_header` is
    told the kind of a frame of the worker before the rest of it is read."""

    def __init__(self, upstream, to_worker=None, to_server=None, on_header=None, digits=None):
        self._upstream = upstream  # a function: (host, port) to connect to
        self._filters = (to_worker, to_server, on_header)
        self._inner = {}           # address of a server -> its proxy
        self._sockets = []
        self._listener, self.address = _listen(digits)
        threading.Thread(target=self._accept, daemon=True).start()

    @classmethod
    def of_scheduler(cls, address, **filters):
        proxy = cls(lambda: _split(address), **filters)
        proxy._is_scheduler = True
        return proxy

    _is_scheduler = False

    def close(self):
        self._listener.close()
        for inner in self._inner.values():
            inner.close()
        for sock in self._sockets:
            sock.close()

    def _accept(self):
        while True:
            try:
                worker, _ = self._listener.accept()
                server = socket.create_connection(self._upstream())
            except OSError:
                return
            for sock in (worker, server):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets += [worker, server]
            to_worker, to_server, on_header = (self._replace_addresses, None, None) if self._is_scheduler else self._filters
            for pump in ((server, worker, to_worker, None), (worker, server, to_server, on_header)):
                threading.Thread(target=_pump, args=pump, daemon=True).start()

    def _replace_addresses(self, frame, _):
        if frame.kind == ROSTER:
            frame.body = re.sub(rb"127\.0\.0\.1:\d+", self._inner_address, frame.body)
        return [frame]

    def _inner_address(self, match):
        address = match.group().decode()
        if address not in self._inner:
            self._inner[address] = FrameProxy(lambda: _split(address), *self._filters, digits=len(str(_split(address)[1])))
        return self._inner[address].address.encode()


def proxy_for(job, **filters):
    """A proxy to give to a worker in place of the scheduler of a job.Job."""
    address_file = job.folder / "scheduler"
    deadline = time.monotonic() + HANG_S
    while not (address_file.exists() and address_file.read_text().strip()):
        assert time.monotonic() < deadline, job.logs()
        time.sleep(0.01)
    return FrameProxy.of_scheduler(address_file.read_text().strip(), **filters)


def _listen(digits):
    """A listener and its address; its port has so many digits (None: any number)."""
    others = []
    try:
        while True:
            listener = socket.create_server(("127.0.0.1", 0))
            port = listener.getsockname()[1]
            if digits in (None, len(str(port))):
                return listener, f"127.0.0.1:{port}"
            others.append(listener)  # kept, lest the system gives it again
    finally:
        for listener in others:
            listener.close()


def _split(address):
    host, port = address.rsplit(":", 1)
    return host, int(port)


def _pump(source, target, keep, on_header):
    try:
        while True:
            head = _HEADER.unpack(_read(source, _HEADER.size))
            if on_header:
                on_header(head[1])
            frame = Frame(head[1], _read(source, head[3]), _read(source, head[4]))
            for out in keep(frame, target) if keep else [frame]:
                target.sendall(out.encode())
    except (OSError, EOFError, Cut):
        for sock in (source, target):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def _read(sock, count):
    data = bytearray(count)
    view = memoryview(data)
    while view:
        got = sock.recv_into(view)
        if not got:
            raise EOFError
        view = view[got:]
    return bytes(data)
