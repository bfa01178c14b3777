"""Models, optimizers and batches of the tests of relay. DDP trains the same ones."""

import torch
from torch import nn
from torch.nn import functional as F

STEPS = 50


class Lamb(torch.optim.Optimizer):
    """LAMB-like: Adam's direction, scaled for each tensor by its norm."""

    def __init__(self, params, lr=0.01, betas=(0.9, 0.999), eps=1e-6):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["m"], state["v"] = torch.zeros_like(p), torch.zeros_like(p)
                state["m"].mul_(beta1).add_(p.grad, alpha=1 - beta1)
                state["v"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                direction = state["m"] / (state["v"].sqrt() + group["eps"])
                p.add_(direction, alpha=-group["lr"] * float((p.norm() + 1e-3) / (direction.norm() + 1e-9)))
        return loss


class Signs(torch.optim.SGD):
    """An optimizer of the script's own, which counts its steps in an attribute."""

    def __init__(self, params, lr):
        super().__init__(params, lr)
        self.count = 0

    @torch.no_grad()
    def step(self, closure=None):
        self.count += 1
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.sub_(p.grad.sign() * group["lr"] / self.count)


# name -> optimizer, and apply= of DistributedOptimizer
CASES = {
    "sgd": (lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9), "relay"),
    "adam": (lambda p: torch.optim.Adam(p, lr=0.01), "relay:reduce=ordered"),
    "lamb": (Lamb, None),
    "signs": (lambda p: Signs(p, lr=0.02), None),
    "uneven": (lambda p: torch.optim.Adadelta(p, lr=0.5), None),
}


class Model(nn.Module):
    """Only rank 0 uses `some` in a step that is no multiple of 3, and `never` is unused."""

    def __init__(self, seed, uneven):
        super().__init__()
        torch.manual_seed(seed)
        self.first, self.last = nn.Linear(12, 40), nn.Linear(40, 5)
        self.uneven = uneven
        if uneven:
            self.some, self.never = nn.Linear(40, 40), nn.Linear(3, 3)

    def forward(self, x, uses):
        x = torch.tanh(self.first(x))
        return self.last(x + self.some(x) if self.uneven and uses else x)


def loss(model, rank, step):
    generator = torch.Generator().manual_seed(1000 * rank + step)
    x = torch.randn(8, 12, generator=generator)
    y = x[:, :5].argmax(1)
    return F.cross_entropy(model(x, rank == 0 and step % 3 > 0), y)
