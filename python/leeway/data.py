"""Small sets of images for PyTorch scripts: Fashion-MNIST, MNIST and CIFAR-10 as torch datasets.

    import leeway.data
    train = leeway.data.cifar10(root="data", train=True)
    for images, labels in DataLoader(train, batch_size=64, shuffle=True):
        loss = F.cross_entropy(model(train.normalize(images)), labels)

Nothing is downloaded: an error says which command gets the files. Needs torch, and no job.
"""

import gzip
import struct
import zlib
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import TensorDataset

from leeway.errors import InvalidArgument, NotFound

__all__ = ["Images", "cifar10", "fashion_mnist", "mnist"]

_CLASSES = 10
_GREY_SIDE = 28
_COLOR = (3, 32, 32)


class Images(TensorDataset):
    """Images in bytes with their labels. `data` is (n, colors, height, width) of uint8 and `targets` (n) of int64, as the
    same names of torchvision; `classes` has the names of the classes.

    Bytes, because the set as floats would take four times the memory in every rank: normalize() one batch at a time.
    """

    def __init__(self, data, targets, classes, mean, deviation):
        super().__init__(data, targets)
        self.data, self.targets, self.classes = data, targets, classes
        self._mean = torch.tensor(mean).view(-1, 1, 1)
        self._deviation = torch.tensor(deviation).view(-1, 1, 1)

    def normalize(self, images):
        """A batch of images in bytes as floats that have, over the training set, mean 0 and deviation 1 in each color."""
        return images.float().div_(255).sub_(self._mean).div_(self._deviation)


def fashion_mnist(root=None, train=True):
    """Fashion-MNIST: 60,000 images of clothes to train on, 10,000 to test, grey, 28 x 28. Without `root`, Debian's package
    dataset-fashion-mnist."""
    paths = _find("Fashion-MNIST", root or "/usr/share/datasets", ["fashion-mnist", "FashionMNIST/raw"], _idx_files(train),
                  "apt-get install dataset-fashion-mnist")
    names = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
    return Images(*_read_idx_set(*paths), names, [0.2860], [0.3530])


def mnist(root=None, train=True):
    """MNIST: 60,000 images of digits to train on, 10,000 to test, grey, 28 x 28. Without `root`, data/ below the working
    folder."""
    paths = _find("MNIST", root or "data", ["mnist", "MNIST/raw"], _idx_files(train), "make data-mnist")
    return Images(*_read_idx_set(*paths), [str(digit) for digit in range(_CLASSES)], [0.1307], [0.3081])


def cifar10(root=None, train=True):
    """CIFAR-10: 50,000 images to train on, 10,000 to test, in color, 32 x 32. Without `root`, data/ below the working
    folder."""
    files = [f"data_batch_{number}.bin" for number in range(1, 6)] if train else ["test_batch.bin"]
    paths = _find("CIFAR-10", root or "data", ["cifar10", "cifar-10-batches-bin"], files, "make data-cifar10")
    data, targets = zip(*map(_read_cifar_file, paths))
    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    return Images(torch.cat(data), torch.cat(targets), names, [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616])


def _find(name, root, below, files, command):
    """The paths of all files, each with .gz or plain, in `root` itself or in the first folder below it that has them."""
    folders = [Path(root), *(Path(root, folder) for folder in below)]
    for folder in folders:
        paths = [path if path.exists() else path.with_suffix("") for path in (folder / f"{file}.gz" for file in files)]
        if all(path.exists() for path in paths):
            return paths
    raise NotFound(f"{name} is not here: got no folder with {', '.join(files)}, looked in {', '.join(map(str, folders))}. "
                   f"Get it with: {command}; or give root= a folder that has it")


def _idx_files(train):
    part = "train" if train else "t10k"
    return [f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"]


def _read_idx_set(images_path, labels_path):
    images, labels = _read_idx(images_path, dimensions=3), _read_idx(labels_path, dimensions=1)
    if images.shape[1:] != (_GREY_SIDE, _GREY_SIDE):
        raise InvalidArgument(f"{images_path}: got images of {images.shape[1]} x {images.shape[2]}, wanted {_GREY_SIDE} x {_GREY_SIDE}")
    if len(images) != len(labels):
        raise InvalidArgument(f"{labels_path}: got {len(labels):,} labels, wanted one for each of the {len(images):,} images")
    return torch.from_numpy(images).unsqueeze(1), _targets(labels_path, labels)


def _read_idx(path, dimensions):
    """The array of an IDX file of bytes, packed or plain."""
    data = _read(path)
    header = 4 * (1 + dimensions)
    if len(data) < header:
        raise InvalidArgument(f"{path}: got {len(data)} bytes, wanted a header of {header}")
    magic, *shape = struct.unpack_from(f">{1 + dimensions}I", data)
    if magic != 0x0800 + dimensions:
        raise InvalidArgument(f"{path}: got the magic number {magic:#010x}, wanted {0x0800 + dimensions:#010x} (IDX, bytes, "
                              f"dimensions: {dimensions})")
    wanted = 1
    for extent in shape:
        wanted *= extent
    if len(data) - header != wanted:
        raise InvalidArgument(f"{path}: got {len(data) - header:,} bytes after the header, wanted {wanted:,}")
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape).copy()


def _read_cifar_file(path):
    """The images and labels of a file in CIFAR-10's binary layout: a label and 3,072 bytes for each image."""
    data = _read(path)
    record = 1 + _COLOR[0] * _COLOR[1] * _COLOR[2]
    if not data or len(data) % record:
        raise InvalidArgument(f"{path}: got {len(data):,} bytes, wanted a multiple of {record:,}: a label and {record - 1:,} for each image")
    records = np.frombuffer(data, np.uint8).reshape(-1, record)
    return torch.from_numpy(records[:, 1:].reshape(-1, *_COLOR).copy()), _targets(path, records[:, 0])


def _targets(path, labels):
    if labels.size and labels.max() >= _CLASSES:
        raise InvalidArgument(f"{path}: got the label {labels.max()} at image {labels.argmax()}, wanted 0 to {_CLASSES - 1}")
    return torch.from_numpy(labels.astype(np.int64))


def _read(path):
    try:
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidArgument(f"cannot read {path}: {error}") from error
