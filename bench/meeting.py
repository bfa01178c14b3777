"""Meeting: all processes of a job wait for each other, over bare sockets: what a barrier costs at the least.

One byte from each to rank 0 and one back, over an abstract Unix socket, which vanishes with its process. Peers on one host only.
"""

import os
import socket


class Meeting:
    """Made by all ranks at once: rank 0 listens, the others connect after `listening()`, which all ranks pass together."""

    def __init__(self, rank, size, listening):
        name = f"\0leeway-bench-meeting/{os.getppid()}"  # of the launcher, whose children all ranks are
        self._hosts = rank == 0
        if self._hosts:
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(name)
                listener.listen(size)
                listening()
                self._peers = [listener.accept()[0] for _ in range(size - 1)]
        else:
            listening()
            self._peers = [socket.socket(socket.AF_UNIX)]
            self._peers[0].connect(name)

    def __call__(self):
        """Returns when all ranks have called it."""
        if self._hosts:
            for peer in self._peers:
                self._receive(peer)
        for peer in self._peers:
            peer.send(b".")
        if not self._hosts:
            self._receive(self._peers[0])

    @staticmethod
    def _receive(peer):
        if peer.recv(1) != b".":
            raise SystemExit("bench step: a process has left the meeting")
