"""FirstGradients: a digest of this worker's first gradients, by which the launcher finds ranks that use the same batches.

All ranks compute their first gradients from the values of the broadcast. So equal digests mean equal batches, under every
synchronization model.
"""

import ctypes
import hashlib

# How much of each gradient the digest reads: enough to tell two batches apart.
_BYTES_MAX = 4096


class FirstGradients:
    def __init__(self, worker):
        self._worker = worker
        self._hash = hashlib.blake2b(digest_size=6)  # 48 bits: a figure is a double
        self._empty = True

    def add(self, address, elements):
        """Adds a gradient before its push. Zeros tell nothing."""
        data = ctypes.string_at(address, min(4 * elements, _BYTES_MAX))
        if any(data):
            self._hash.update(data)
            self._empty = False

    def report(self):
        """At the end of the iteration."""
        if not self._empty:
            self._worker.set_figure("first_gradients", float(int.from_bytes(self._hash.digest(), "big")))
