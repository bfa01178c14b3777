"""Reads Fashion-MNIST from the gzipped IDX files of Debian's package dataset-fashion-mnist."""

import gzip
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

PACKAGE = "dataset-fashion-mnist"
MEAN, DEVIATION = 0.2860, 0.3530


def load(part, folder=None):
    """Images (n, 1, 28, 28) in bytes and labels (n) of "train" or "t10k"."""
    folder = Path(folder) if folder else find_folder()
    images = _read_idx(folder / f"{part}-images-idx3-ubyte.gz", dimensions=3)
    labels = _read_idx(folder / f"{part}-labels-idx1-ubyte.gz", dimensions=1)
    if len(images) != len(labels):
        sys.exit(f"{folder}: {len(images)} images but {len(labels)} labels in {part}")
    return torch.from_numpy(images).unsqueeze(1), torch.from_numpy(labels.astype(np.int64))


def normalize(images):
    """A batch as the model wants it. Done batch by batch: the set as floats would take four times the memory."""
    return images.float().div_(255).sub_(MEAN).div_(DEVIATION)


def find_folder():
    """Where the package has put its files; ends the script with a hint if it is not installed."""
    try:
        listed = subprocess.run(["dpkg", "-L", PACKAGE], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        listed = []
    for path in listed:
        if path.endswith("train-images-idx3-ubyte.gz"):
            return Path(path).parent
    sys.exit(f"Fashion-MNIST is not here. Install it with\n\n    apt-get install {PACKAGE}\n\nor give --data the "
             "folder with its four .gz files.")


def _read_idx(path, dimensions):
    try:
        with gzip.open(path) as file:
            data = file.read()
    except OSError as error:
        sys.exit(f"cannot read {path}: {error}")
    magic, *shape = struct.unpack(f">{1 + dimensions}I", data[:4 * (1 + dimensions)])
    if magic != 0x0800 + dimensions:
        sys.exit(f"{path}: magic number {magic:#x}, wanted {0x0800 + dimensions:#x} (bytes in {dimensions} dimensions)")
    return np.frombuffer(data, np.uint8, offset=4 * (1 + dimensions)).reshape(shape).copy()
