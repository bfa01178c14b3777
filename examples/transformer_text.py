"""Trains a character transformer on any text file, all workers drawing batches from one pool.

    leeway run -w 4 -s 2 --sync ssp:3 examples/transformer_text.py --data book.txt
    python3 examples/transformer_text.py                  # alone, on the licence of this project
"""

import argparse
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import leeway.torch as lw

TEXT = Path(__file__).resolve().parents[1] / "LICENSE"


class Transformer(nn.Module):
    def __init__(self, letters, length, width):
        super().__init__()
        self.length = length
        self.embedding = nn.Embedding(letters, width)
        self.position = nn.Parameter(0.02 * torch.randn(length, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(width, letters)
        # A letter sees those before it. The mask is in no state_dict, and broadcast_parameters(model) has it all the same.
        self.register_buffer("mask", torch.triu(torch.full((length, length), float("-inf")), 1), persistent=False)

    def forward(self, x):
        length = x.shape[1]
        return self.out(self.body(self.embedding(x) + self.position[:length], self.mask[:length, :length]))


@torch.no_grad()
def continued(model, codes, letters):
    """Appends drawn letters to the codes."""
    model.eval()
    for _ in range(letters):
        scores = model(codes[None, -model.length:])[0, -1]
        codes = torch.cat([codes, torch.multinomial(scores.softmax(0), 1)])
    return codes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--epochs", type=int, default=20, help="passes of the job over the data (%(default)s)")
    parser.add_argument("--batch", type=int, default=32, help="samples in a batch (%(default)s)")
    parser.add_argument("--lr", type=float, default=0.002, help="highest learning rate (%(default)s)")
    parser.add_argument("--data", default=str(TEXT), help="the text file (%(default)s)")
    parser.add_argument("--samples", type=int, default=0, help="of the data to train on; 0: all (%(default)s)")
    parser.add_argument("--length", type=int, default=64, help="letters in a sample (%(default)s)")
    parser.add_argument("--width", type=int, default=64, help="of the model (%(default)s)")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    lw.init()
    torch.manual_seed(1)
    text = Path(arguments.data).read_text(encoding="utf-8", errors="replace")
    if len(text) <= arguments.length:
        parser.error(f"--data: {arguments.data} has {len(text)} letters, wanted more than {arguments.length} (--length)")
    letters = sorted(set(text))
    number = {letter: place for place, letter in enumerate(letters)}
    codes = torch.tensor([number[letter] for letter in text])
    data = TensorDataset(codes.unfold(0, arguments.length + 1, max(1, arguments.length // 2)))
    samples = min(arguments.samples or len(data), len(data))
    model = Transformer(len(letters), arguments.length, arguments.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.lr)
    optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters(), clip_norm_each=1.0)
    lw.broadcast_parameters(model)
    sampler = lw.ElasticSampler(samples, arguments.batch, arguments.epochs, seed=1)
    loss = None
    for epoch in range(arguments.epochs):
        for (x,) in DataLoader(data, batch_sampler=sampler):
            for group in optimizer.param_groups:
                group["lr"] = arguments.lr * min(1.0, 20 * sampler.progress + 0.05)
            optimizer.zero_grad()
            optimizer.samples = len(x)
            loss = F.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
            loss.backward()
            optimizer.step()
        if lw.rank() == 0 and loss is not None:
            print(f"epoch {epoch + 1}/{arguments.epochs}  loss {loss.item():.3f}", flush=True)
    lw.join()
    lw.shutdown()
    if lw.rank() == 0:
        print("it writes: " + "".join(letters[code] for code in continued(model, codes[:1], 200).tolist()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
