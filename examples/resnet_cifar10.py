"""Trains ResNet-20 on CIFAR-10, all workers drawing batches from one pool.

    leeway run -w 4 -s 2 --sync asp examples/resnet_cifar10.py
    python3 examples/resnet_cifar10.py                    # alone: a job of one process

`make data-cifar10` gets the images. BatchNorm's statistics are each worker's own while it trains, and the mean of all workers'
at the end (broadcast_parameters(buffers="mean")).
"""

import argparse
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

import leeway.data
import leeway.torch as lw


class Block(nn.Module):
    """Two convolutions beside a shortcut; the shortcut of a block that halves the image leaves pixels out and adds channels of
    zeros."""

    def __init__(self, before, channels):
        super().__init__()
        self.added, self.stride = channels - before, 1 if channels == before else 2
        self.first = nn.Conv2d(before, channels, 3, self.stride, 1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)])

    def forward(self, x):
        y = self.norms[1](self.second(F.relu(self.norms[0](self.first(x)))))
        shortcut = F.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, 0, self.added))
        return F.relu(y + shortcut)


def resnet(blocks_each):
    """ResNet-20 with 3 blocks of each width (He et al., "Deep Residual Learning for Image Recognition", 2016, section 4.2)."""
    widths = [16] * blocks_each + [32] * blocks_each + [64] * blocks_each
    blocks = [Block(before, channels) for before, channels in zip([16, *widths], widths)]
    return nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), *blocks,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def augmented(images):
    """Mirrors half of the images and moves all by up to 4 pixels."""
    images = torch.where(torch.rand(len(images), 1, 1, 1) < 0.5, images, images.flip(3))
    x, y = torch.randint(0, 9, (2,)).tolist()
    return F.pad(images, (4, 4, 4, 4))[:, :, y:y + 32, x:x + 32]


@torch.no_grad()
def accuracy(model, test_set):
    model.eval()
    right = sum((model(test_set.normalize(x)).argmax(1) == y).sum().item()
                for x, y in zip(test_set.data.split(250), test_set.targets.split(250)))
    model.train()
    return right / len(test_set.targets)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--epochs", type=int, default=10, help="passes of the job over the data (%(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="samples in a batch (%(default)s)")
    parser.add_argument("--lr", type=float, default=0.1, help="highest learning rate (%(default)s)")
    parser.add_argument("--data", help="the folder with the data; by default data/ below the working folder")
    parser.add_argument("--samples", type=int, default=0, help="of the data to train on; 0: all (%(default)s)")
    parser.add_argument("--blocks", type=int, default=3, help="blocks of each width: 3 is ResNet-20 (%(default)s)")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    lw.init()
    torch.manual_seed(1)
    train_set, test_set = leeway.data.cifar10(arguments.data), leeway.data.cifar10(arguments.data, train=False)
    images = min(arguments.samples or len(train_set), len(train_set))
    model = resnet(arguments.blocks)
    optimizer = torch.optim.SGD(model.parameters(), lr=arguments.lr, momentum=0.9, weight_decay=1e-4, nesterov=True)
    optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters())
    lw.broadcast_parameters(model, buffers="mean")
    sampler = lw.ElasticSampler(images, arguments.batch, arguments.epochs, seed=1)
    torch.manual_seed(lw.rank())  # for augmented(): other moves on each rank
    loss = None
    for epoch in range(arguments.epochs):
        for x, y in DataLoader(train_set, batch_sampler=sampler):
            for group in optimizer.param_groups:
                group["lr"] = arguments.lr * min(1.0, 20 * sampler.progress + 0.01) * (1 - sampler.progress)
            optimizer.zero_grad()
            optimizer.samples = len(x)
            loss = F.cross_entropy(model(augmented(train_set.normalize(x))), y)
            loss.backward()
            optimizer.step()
        if lw.rank() == 0 and loss is not None:
            print(f"epoch {epoch + 1}/{arguments.epochs}  loss {loss.item():.3f}", flush=True)
    lw.join()
    lw.shutdown()
    if lw.rank() == 0:
        print(f"test accuracy {100 * accuracy(model, test_set):.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
