"""leeway.data: small files written here, and the real sets where they are."""

import gzip
import struct
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader

import leeway.data
from leeway import errors

ROOT = Path(__file__).resolve().parents[2]


def idx(magic, shape, values):
    return struct.pack(f">{1 + len(shape)}I", magic, *shape) + bytes(values)


def write_mnist(folder, part="train", labels=(7, 0, 9), pack=False):
    """Image i has the bytes i, i + 1, ...; labels stay plain."""
    folder.mkdir(parents=True, exist_ok=True)
    pixels = b"".join(bytes((i + pixel) % 256 for pixel in range(784)) for i in range(len(labels)))
    images = idx(0x0803, [len(labels), 28, 28], pixels)
    name = f"{part}-images-idx3-ubyte"
    (folder / (f"{name}.gz" if pack else name)).write_bytes(gzip.compress(images) if pack else images)
    (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx(0x0801, [len(labels)], labels))


def write_cifar(folder, files, labels=(3, 8)):
    """Image i has red i, green i + 1 and blue i + 2 everywhere."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        (folder / file).write_bytes(b"".join(
            bytes([label]) + b"".join(bytes([i + color]) * 1024 for color in range(3)) for i, label in enumerate(labels)))


TRAIN = [f"data_batch_{number}.bin" for number in range(1, 6)]


@pytest.mark.parametrize("load", [leeway.data.mnist, leeway.data.fashion_mnist])
@pytest.mark.parametrize("pack", [False, True])
def test_idx_files_become_a_tensor_dataset(tmp_path, load, pack):
    write_mnist(tmp_path, "train", pack=pack)
    write_mnist(tmp_path, "t10k", labels=[4], pack=pack)
    train, test = load(tmp_path), load(root=str(tmp_path), train=False)
    assert (len(train), len(test), len(train.classes)) == (3, 1, 10)
    assert train.data.shape == (3, 1, 28, 28) and train.data.dtype == torch.uint8
    assert train.targets.tolist() == [7, 0, 9] and train.targets.dtype == torch.int64
    image, label = train[2]
    assert (image[0, 0, 0], image[0, 1, 0], label) == (2, 30, 9)
    images, labels = next(iter(DataLoader(test, batch_size=1)))
    assert images.shape == (1, 1, 28, 28) and labels.tolist() == [4]


def test_cifar10_has_three_colors_and_its_files_in_order(tmp_path):
    write_cifar(tmp_path, TRAIN)
    write_cifar(tmp_path, TRAIN[4:], labels=[9])
    write_cifar(tmp_path, ["test_batch.bin"], labels=[5, 6, 7])
    train, test = leeway.data.cifar10(tmp_path), leeway.data.cifar10(tmp_path, train=False)
    assert train.targets.tolist() == [3, 8] * 4 + [9] and test.targets.tolist() == [5, 6, 7]
    assert train.data.shape == (9, 3, 32, 32) and train.data.dtype == torch.uint8
    assert test.data[2, :, 31, 31].tolist() == [2, 3, 4]
    assert test.classes[test.targets[0]] == "dog"


def test_normalize_takes_mean_and_deviation_of_each_color(tmp_path):
    write_cifar(tmp_path, ["test_batch.bin"], labels=[0])
    test = leeway.data.cifar10(tmp_path, train=False)
    got = test.normalize(test.data)
    for color, (mean, deviation) in enumerate([(0.4914, 0.2470), (0.4822, 0.2435), (0.4465, 0.2616)]):
        assert got[0, color].flatten()[0].item() == pytest.approx((color / 255 - mean) / deviation, rel=1e-5)
    assert test.data.dtype == torch.uint8  # a batch of its own


@pytest.mark.parametrize("load, below", [(leeway.data.mnist, "mnist"), (leeway.data.mnist, "MNIST/raw"),
                                         (leeway.data.fashion_mnist, "fashion-mnist"), (leeway.data.fashion_mnist, "FashionMNIST/raw")])
def test_root_may_be_the_folder_above(tmp_path, load, below):
    write_mnist(tmp_path / below)
    assert len(load(tmp_path)) == 3


def test_data_below_the_working_folder_needs_no_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_mnist(tmp_path / "data" / "mnist")
    write_cifar(tmp_path / "data" / "cifar10", ["test_batch.bin"])
    assert len(leeway.data.mnist()) == 3
    assert len(leeway.data.cifar10(train=False)) == 2


@pytest.mark.parametrize("load, command, file", [
    (leeway.data.mnist, "make data-mnist", "t10k-labels-idx1-ubyte"), (leeway.data.cifar10, "make data-cifar10", "test_batch.bin"),
    (leeway.data.fashion_mnist, "apt-get install dataset-fashion-mnist", "t10k-images-idx3-ubyte")])
def test_missing_data_says_how_to_get_it(tmp_path, load, command, file):
    with pytest.raises(errors.NotFound) as error:
        load(tmp_path, train=False)
    for word in (command, file, str(tmp_path), "root="):
        assert word in str(error.value)


def change_file(path, change):
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize("file, change, message", [
    ("train-images-idx3-ubyte", lambda data: data[:-1], "got 2,351 bytes after the header, wanted 2,352"),
    ("train-images-idx3-ubyte", lambda data: data + b"x", "got 2,353 bytes after the header, wanted 2,352"),
    ("train-images-idx3-ubyte", lambda data: data[:7], "got 7 bytes, wanted a header of 16"),
    ("train-labels-idx1-ubyte", lambda data: b"<htm" + data[4:], "got the magic number 0x3c68746d, wanted 0x00000801"),
    ("train-labels-idx1-ubyte", lambda data: data[:-1] + b"\x0a", "got the label 10 at image 2, wanted 0 to 9"),
    ("train-labels-idx1-ubyte", lambda _: idx(0x0801, [2], [1, 2]), "got 2 labels, wanted one for each of the 3 images"),
    ("train-images-idx3-ubyte", lambda _: idx(0x0803, [3, 2, 2], range(12)), "got images of 2 x 2, wanted 28 x 28")])
def test_a_damaged_idx_file_is_named_with_what_is_wrong(tmp_path, file, change, message):
    write_mnist(tmp_path)
    change_file(tmp_path / file, change)
    with pytest.raises(errors.InvalidArgument) as error:
        leeway.data.mnist(tmp_path)
    assert str(tmp_path / file) in str(error.value) and message in str(error.value)


def test_a_packed_file_that_was_cut_is_refused(tmp_path):
    write_mnist(tmp_path, pack=True)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    for keep in (200, 3):
        change_file(path, lambda data, keep=keep: data[:keep])
        with pytest.raises(errors.InvalidArgument, match="cannot read .*train-images-idx3-ubyte.gz: "):
            leeway.data.mnist(tmp_path)


@pytest.mark.parametrize("change, message", [
    (lambda data: data[:-1], "got 6,145 bytes, wanted a multiple of 3,073"), (lambda _: b"", "got 0 bytes, wanted a multiple of 3,073"),
    (lambda data: b"\xff" + data[1:], "got the label 255 at image 0, wanted 0 to 9")])
def test_a_damaged_file_of_cifar10_is_named_with_what_is_wrong(tmp_path, change, message):
    write_cifar(tmp_path, TRAIN)
    change_file(tmp_path / "data_batch_4.bin", change)
    with pytest.raises(errors.InvalidArgument) as error:
        leeway.data.cifar10(tmp_path)
    assert "data_batch_4.bin" in str(error.value) and message in str(error.value)


@pytest.mark.parametrize("load, root, train_images", [
    (leeway.data.fashion_mnist, None, 60_000), (leeway.data.mnist, ROOT / "data", 60_000), (leeway.data.cifar10, ROOT / "data", 50_000)])
def test_the_real_set_is_whole(load, root, train_images):
    try:
        train, test = load(root), load(root, train=False)
    except errors.NotFound as error:
        pytest.skip(str(error))
    assert torch.bincount(train.targets).sum() == train_images and len(test) == 10_000
    if load is not leeway.data.mnist:  # digits are not equally many
        assert torch.bincount(train.targets).tolist() == [train_images // 10] * 10
        assert torch.bincount(test.targets).tolist() == [1_000] * 10
    normal = train.normalize(train.data[::50])
    assert normal.mean(dim=(0, 2, 3)).abs().max() < 0.05
    assert (normal.std(dim=(0, 2, 3)) - 1).abs().max() < 0.05
