"""Clipping: clip_norm=, clip_norm_each= and clip_value= of DistributedOptimizer, which limit this worker's gradient before its push."""

import torch

from leeway.errors import InvalidArgument


class Clipping:
    """A norm over the whole gradient is known when backward() has ended, so with it gradients leave at step(). The other two
    limits concern one parameter each, and the gradient leaves as soon as autograd has it."""

    def __init__(self, norm, norm_each, value):
        given = {"clip_norm": norm, "clip_norm_each": norm_each, "clip_value": value}
        for name, limit in given.items():
            if limit is not None and not limit > 0:
                raise InvalidArgument(f"DistributedOptimizer: {name} must be above 0, got {limit}")
        several = [name for name, limit in given.items() if limit is not None]
        if len(several) > 1:
            raise InvalidArgument(f"DistributedOptimizer: got {' and '.join(several)}, wanted at most one of them")
        self._norm, self._norm_each, self._value = norm, norm_each, value

    @property
    def needs_all(self):
        """Is the whole gradient needed before any of it may leave?"""
        return self._norm is not None

    def clip_one(self, parameter):
        """Before the push of one gradient."""
        if self._norm_each is None and self._value is None:
            return
        if parameter.grad.layout != torch.strided:
            parameter.grad = parameter.grad.to_dense()
        if self._norm_each is not None:
            torch.nn.utils.clip_grad_norm_([parameter], self._norm_each)
        else:
            parameter.grad.detach().clamp_(-self._value, self._value)

    def clip_all(self, parameters):
        """At step(), before the first push of the iteration."""
        if self._norm is not None and parameters:
            torch.nn.utils.clip_grad_norm_(parameters, self._norm)
