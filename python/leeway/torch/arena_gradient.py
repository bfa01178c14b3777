"""ArenaGradient: a gradient in the worker's arena, which a server may read while the script looks at it.

A write through .data leaves a plain tensor's version as it was, and some of torch does it (clip_grad_value_ before torch 2.0).
Here .data shares the tensor's version, so that step() notices. Results, copies and saved tensors are plain.
"""

import copy

import torch


class ArenaGradient(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl

    @property
    def data(self):
        return self.detach()  # which shares the version

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
