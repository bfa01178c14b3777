"""LARS: layer-wise adaptive rate scaling, which torch does not have.

It is a plain torch optimizer. By itself it steps in this process; under DistributedOptimizer the servers make the same step.
"""

import torch


class LARS(torch.optim.Optimizer):
    """SGD with momentum that scales the gradient of each parameter, weight decay included, by

        trust * |w| / (|g| + weight_decay * |w| + eps)

    (You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks", 2017); by 1 where |w| or |g| is 0.

    lr, momentum, dampening, weight_decay, nesterov: as torch.optim.SGD's.
    trust: the trust coefficient.
    exclude_1d: parameters of one dimension or none (biases, norm layers) are neither scaled nor decayed.

    All of them may differ by parameter group. Under DistributedOptimizer a scaled parameter is one block of at most 64 MiB.
    """

    def __init__(self, params, lr, momentum=0.9, dampening=0.0, weight_decay=0.0, nesterov=False, trust=0.001, eps=1e-8,
                 exclude_1d=True):
        for name, value in (("lr", lr), ("momentum", momentum), ("weight_decay", weight_decay), ("eps", eps)):
            if not value >= 0:
                raise ValueError(f"LARS: {name}: got {value}, wanted at least 0")
        if not 1e-12 <= trust <= 1e6:
            raise ValueError(f"LARS: trust: got {trust}, wanted 1e-12 to 1e6")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(f"LARS: nesterov: got momentum {momentum} and dampening {dampening}, wanted momentum above 0 "
                             "and dampening 0")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                                  "nesterov": nesterov, "trust": trust, "eps": eps, "exclude_1d": exclude_1d})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._step(parameter, group)
        return loss

    def _step(self, parameter, group):
        update = parameter.grad
        if not excluded(parameter, group):
            update = update.add(parameter, alpha=group["weight_decay"]).mul_(_ratio(parameter, group))
        if group["momentum"]:
            buffer = self.state[parameter].get("momentum_buffer")
            if buffer is None:
                buffer = self.state[parameter]["momentum_buffer"] = update.clone()
            else:
                buffer.mul_(group["momentum"]).add_(update, alpha=1 - group["dampening"])
            update = update.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
        parameter.add_(update, alpha=-group["lr"])


def excluded(parameter, group):
    return group["exclude_1d"] and parameter.dim() <= 1


def _ratio(parameter, group):
    # Sums in double, so that the norm of a large layer does not depend on the order of its sum.
    w = torch.linalg.vector_norm(parameter, dtype=torch.float64).item()
    g = torch.linalg.vector_norm(parameter.grad, dtype=torch.float64).item()
    return group["trust"] * w / (g + group["weight_decay"] * w + group["eps"]) if w and g else 1.0
