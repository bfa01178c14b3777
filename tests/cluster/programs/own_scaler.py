"""OwnScaler: torch's GradScaler on a CPU. torch 1.13 turns its own off without CUDA; the calls are the same.

It inherits step(), unscale_() and update()'s bookkeeping, and computes by itself what torch has for CUDA alone.
"""

import warnings
from collections import defaultdict

import torch
from torch.cuda.amp import GradScaler
from torch.cuda.amp.grad_scaler import _refresh_per_optimizer_state


class OwnScaler(GradScaler):
    def __init__(self, init_scale):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            super().__init__(enabled=False)
        self._enabled, self._scale, self._growth_tracker = True, torch.tensor(init_scale), torch.tensor(0)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def scale(self, outputs):
        return outputs * self._scale

    def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
        del allow_fp16
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    found_inf.fill_(max(found_inf.item(), float(not parameter.grad.isfinite().all())))
                    parameter.grad.mul_(inv_scale)
        return {"cpu": found_inf}

    def update(self, new_scale=None):
        found = [one.item() for state in self._per_optimizer_states.values() for one in state["found_inf_per_device"].values()]
        assert found and new_scale is None
        self._scale = self._scale * (0.5 if any(found) else 1.0)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)
