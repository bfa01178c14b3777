"""Trains a GAN on Fashion-MNIST: two optimizers in one script, all workers drawing batches from one pool.

    leeway run -w 4 -s 2 --sync bsp examples/gan_fashion_mnist.py
    python3 examples/gan_fashion_mnist.py                 # alone: a job of one process

docs/gans.md says how training goes on with two optimizers.
"""

import argparse
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

import leeway.data
import leeway.torch as lw

NOISE = 64
SHADES = " .:-=+*#%@"


def make_generator():
    return nn.Sequential(nn.Linear(NOISE, 64 * 7 * 7), nn.ReLU(), nn.Unflatten(1, (64, 7, 7)),
                         nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
                         nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Tanh())


def make_discriminator():
    return nn.Sequential(nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
                         nn.Flatten(), nn.Linear(64 * 7 * 7, 1))


def loss_of(scores, real):
    return F.binary_cross_entropy_with_logits(scores, torch.full_like(scores, float(real)))


@torch.no_grad()
def drawn(generator):
    """One generated image in letters."""
    generator.eval()
    image = generator(torch.randn(1, NOISE))[0, 0, ::2]
    return "\n".join("".join(SHADES[min(9, int(5 * (value + 1)))] for value in row) for row in image.tolist())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--epochs", type=int, default=5, help="passes of the job over the data (%(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="samples in a batch (%(default)s)")
    parser.add_argument("--lr", type=float, default=0.0002, help="highest learning rate (%(default)s)")
    parser.add_argument("--data", help="the folder with the data; by default the Debian package's")
    parser.add_argument("--samples", type=int, default=0, help="of the data to train on; 0: all (%(default)s)")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    lw.init()
    torch.manual_seed(1)
    data = leeway.data.fashion_mnist(arguments.data)
    images = min(arguments.samples or len(data), len(data))
    net_d, net_g = make_discriminator(), make_generator()
    opt_d = torch.optim.Adam(net_d.parameters(), lr=arguments.lr, betas=(0.5, 0.999))
    opt_g = torch.optim.Adam(net_g.parameters(), lr=arguments.lr, betas=(0.5, 0.999))
    opt_d = lw.DistributedOptimizer(opt_d, net_d.named_parameters(prefix="discriminator"))
    opt_g = lw.DistributedOptimizer(opt_g, net_g.named_parameters(prefix="generator"))
    lw.broadcast_parameters(net_d)
    lw.broadcast_parameters(net_g)
    sampler = lw.ElasticSampler(images, arguments.batch, arguments.epochs, seed=1, steps=2)  # two step()s with each batch
    torch.manual_seed(lw.rank())  # other noise on each rank
    of_d = of_g = None
    for epoch in range(arguments.epochs):
        for real, _ in DataLoader(data, batch_sampler=sampler):
            real = real.float().div_(127.5).sub_(1)
            opt_d.samples = opt_g.samples = len(real)
            net_d.zero_grad()
            fake = net_g(torch.randn(len(real), NOISE))
            of_d = loss_of(net_d(real), True) + loss_of(net_d(fake.detach()), False)
            of_d.backward()
            opt_d.step()
            net_g.zero_grad()
            of_g = loss_of(net_d(fake), True)
            of_g.backward()
            opt_g.step()
        if lw.rank() == 0 and of_g is not None:
            print(f"epoch {epoch + 1}/{arguments.epochs}  loss {of_d.item():.3f} of the discriminator, {of_g.item():.3f} of the "
                  "generator", flush=True)
    lw.join()
    lw.shutdown()
    if lw.rank() == 0:
        print(drawn(net_g))
    return 0


if __name__ == "__main__":
    sys.exit(main())
