"""GradientEdits: finds out in the first iteration whether the script changes gradients between backward() and step().

A script that clips its gradients loses the change if they have left already. So an optimizer that may overlap pushes at step()
in its first iteration, and compares each gradient with what backward() made of it. If one has changed, it never overlaps.
"""

import torch

from leeway._leeway import checksum
from leeway.torch import notice


class GradientEdits:
    def __init__(self):
        self._ready = {}  # table -> its gradient as backward() has left it

    def note(self, table):
        """Autograd has accumulated the table's gradient. Returns false if it had done so before in this iteration."""
        first = table not in self._ready
        self._ready[table] = _seen(table.parameter.grad)
        return first

    def find(self):
        """At step(): returns the name of a parameter whose gradient has changed since, or None."""
        for table, (gradient, version, bits) in self._ready.items():
            now = table.parameter.grad
            if now is not gradient or now._version != version or _bits(now) != bits:
                return table.name
        return None


def say(session, name):
    notice.say_once(session, "edits", f"the script changes gradients between backward() and step() ({name}: it clips them, or a "
                    "GradScaler unscales them?), so gradients leave at step(), as with overlap=False. To clip and overlap, give "
                    "DistributedOptimizer clip_norm_each= or clip_value= and leave the clipping to it")


def _seen(gradient):
    return gradient, gradient._version, _bits(gradient)


def _bits(gradient):
    """A checksum of the bits: a write through .data leaves the version as it was. None for a sparse gradient."""
    plain = gradient.detach()
    if plain.layout != torch.strided:
        return None
    plain = plain.contiguous()
    return checksum(plain.data_ptr(), plain.numel() * plain.element_size() // 4)
