"""Training loops of two GANs, as public scripts have them; each is a generator that yields the optimizer that is to step.

Whoever runs a loop does the step: a rank with its DistributedOptimizer, or the test with torch's own for all ranks at once.
"""

import torch
from torch import nn
from torch.nn import functional as F

ROUNDS, BATCH, NOISE = 6, 8, 4


def dcgan_models():
    """The names of the layers are the same in both models."""
    torch.manual_seed(11)
    generator = nn.Sequential(nn.ConvTranspose2d(NOISE, 8, 4, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1), nn.Tanh())
    discriminator = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 4), nn.Flatten(0))
    return {"D": discriminator, "G": generator}


def dcgan_optimizers(models):
    return {name: torch.optim.Adam(model.parameters(), lr=2e-3, betas=(0.5, 0.999)) for name, model in models.items()}


def dcgan(models, rank):
    """Two backwards for each step of D; that of G's loss goes through D as well, and D's share of it is zeroed later."""
    net_d, net_g = models["D"], models["G"]
    random = torch.Generator().manual_seed(rank)
    for _ in range(ROUNDS):
        net_d.zero_grad()
        real = torch.randn(BATCH, 1, 8, 8, generator=random)
        F.binary_cross_entropy_with_logits(net_d(real), torch.ones(BATCH)).backward()
        fake = net_g(torch.randn(BATCH, NOISE, 1, 1, generator=random))
        F.binary_cross_entropy_with_logits(net_d(fake.detach()), torch.zeros(BATCH)).backward()
        yield "D"
        net_g.zero_grad()
        F.binary_cross_entropy_with_logits(net_d(fake), torch.ones(BATCH)).backward()
        yield "G"


def wgan_models():
    torch.manual_seed(12)
    return {"D": nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)),
            "G": nn.Sequential(nn.Linear(NOISE, 16), nn.ReLU(), nn.Linear(16, 2))}


def wgan_optimizers(models):
    return {name: torch.optim.RMSprop(model.parameters(), lr=5e-3) for name, model in models.items()}


def wgan(models, rank):
    """Three steps of D for each of G, without gradients of D in G's; a penalty on D's gradient instead of clipping its weights.
    D's loss goes through G as well."""
    net_d, net_g = models["D"], models["G"]
    random = torch.Generator().manual_seed(rank)
    for _ in range(ROUNDS):
        for parameter in net_d.parameters():
            parameter.requires_grad = True
        for _ in range(3):
            net_d.zero_grad()
            real = torch.randn(BATCH, 2, generator=random) + 2
            fake = net_g(torch.randn(BATCH, NOISE, generator=random))
            mixed = (real + fake).div(2).detach().requires_grad_(True)
            slope, = torch.autograd.grad(net_d(mixed).sum(), mixed, create_graph=True)
            (net_d(fake).mean() - net_d(real).mean() + 10 * (slope.norm(2, dim=1) - 1).pow(2).mean()).backward()
            yield "D"
        for parameter in net_d.parameters():
            parameter.requires_grad = False
        net_g.zero_grad()
        (-net_d(net_g(torch.randn(BATCH, NOISE, generator=random))).mean()).backward()
        yield "G"


LOOPS = {"dcgan": (dcgan_models, dcgan_optimizers, dcgan), "wgan": (wgan_models, wgan_optimizers, wgan)}
