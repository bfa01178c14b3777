"""One worker of the test of equal bits: trains seven kinds of models as one, and saves what it ends with.

Arguments: the job's folder; "on" or "off", whether gradients leave during backward.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import leeway.torch as lw

STEPS = 50
WORDS, WIDTH, LENGTH = 1500, 32, 6


class TiedTransformer(nn.Module):
    """Its embedding, large for a queue, is its output layer as well."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layer = nn.TransformerEncoderLayer(WIDTH, 2, 48, dropout=0.0, batch_first=True)
        self.out = nn.Linear(WIDTH, WORDS, bias=False)
        self.out.weight = self.embedding.weight

    def forward(self, words):
        return self.out(self.layer(self.embedding(words))).pow(2).mean()


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)[0].pow(2).mean()


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(WIDTH, 8, num_layers=2, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0].pow(2).mean()


class Checkpointed(nn.Module):
    """Computes its middle anew in backward."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(WIDTH, 16), nn.Linear(16, 4)
        self.middle = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))

    def forward(self, x):
        x = torch.tanh(self.first(x))
        for layer in self.middle:
            x = torch.tanh(checkpoint(layer, x))
        return self.last(x).pow(2).mean()



def make(seed):
    torch.manual_seed(seed)
    return nn.ModuleDict({
        "cnn": nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 10)),
        "transformer": TiedTransformer(),
        "accumulated": nn.Sequential(nn.Linear(WIDTH, 16), nn.Tanh(), nn.Linear(16, 4)),
        "attention": Attention(),
        "lstm": Recurrent(),
        "weight_norm": nn.Sequential(nn.utils.weight_norm(nn.Linear(WIDTH, 16)), nn.Tanh(), nn.Linear(16, 4)),
        "checkpointed": Checkpointed(),
    })


def losses(models, draw):
    images, labels = torch.randn(4, 1, 8, 8, generator=draw), torch.randint(0, 10, (4,), generator=draw)
    words = torch.randint(0, WORDS, (2, LENGTH), generator=draw)
    x = torch.randn(2, LENGTH, WIDTH, generator=draw)
    yield F.cross_entropy(models["cnn"](images), labels)
    yield models["transformer"](words)
    for name in ("accumulated", "attention", "lstm", "weight_norm", "checkpointed"):
        yield models[name](x).pow(2).mean()


def main():
    folder, overlap = sys.argv[1], sys.argv[2] == "on"
    torch.set_num_threads(1)
    lw.init()
    models = make(seed=3)
    optimizer = lw.DistributedOptimizer(torch.optim.SGD(models.parameters(), lr=0.05, momentum=0.9), models.named_parameters(),
                                        sync="bsp", apply="aggregate:reduce=ordered", overlap=overlap)
    lw.broadcast_parameters(models.state_dict(), root_rank=0)
    for step in range(STEPS):
        draw = torch.Generator().manual_seed(1000 * lw.rank() + step)
        optimizer.zero_grad()
        with lw.no_sync():
            models["accumulated"](torch.randn(4, WIDTH, generator=draw)).pow(2).mean().backward()
        sum(losses(models, draw)).backward()
        optimizer.step()
    optimizer.synchronize()
    torch.save({name: parameter.detach().clone() for name, parameter in models.named_parameters()},
               f"{folder}/result.{lw.rank()}.pt")
    lw.shutdown()


main()
