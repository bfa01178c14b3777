"""ArenaGradient: a gradient in the worker's arena, which a server may be reading while a script looks at it.

Writing through a plain tensor's .data leaves no trace, and some of torch does it (clip_grad_value_ before torch 2.0).
Here .data counts as the tensor itself, so that step() notices. Whatever is computed from it, copied or saved is plain.
"""

import copy

import torch


class ArenaGradient(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl

    @property
    def data(self):
        return self.detach()  # which shares the count of changes

    @data.setter
    def data(self, other):
        torch.Tensor.data.__set__(self, other)

    def _plain(self):
        return self.as_subclass(torch.Tensor)

    def __deepcopy__(self, memo):
        return copy.deepcopy(self._plain(), memo)

    def __reduce_ex__(self, protocol):
        return self._plain().__reduce_ex__(protocol)

    def __repr__(self, *, tensor_contents=None):
        return self._plain().__repr__(tensor_contents=tensor_contents)
