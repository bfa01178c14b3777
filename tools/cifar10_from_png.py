#!/usr/bin/env python3
"""Writes CIFAR-10 in the binary layout of its authors, from strips of pictures: tools/get_data.sh calls it.

    cifar10_from_png.py FROM TO

FROM has data_batch_1.png to data_batch_5.png and test_batch.png, each 1024 x 10,000 with an image of 32 x 32 in every row, and
the labels as lists in train_lables.json and test_lables.json. TO gets a .bin for each: a byte with the label, then 1,024 bytes
red, green and blue, image after image. Writes nothing unless all counts are right. Needs Pillow.
"""

import json
import sys
from pathlib import Path

IMAGES = 10_000  # in a file
PIXELS = 32 * 32
CLASSES = 10
TRAIN = [f"data_batch_{number}" for number in range(1, 6)]
TEST = ["test_batch"]


class WrongData(Exception):
    """The files are not those of CIFAR-10."""


def records(labels, red, green, blue):
    """The bytes of a file, from its labels and from each color's bytes of all images."""
    planes = [memoryview(color) for color in (red, green, blue)]
    parts = []
    for number, label in enumerate(labels):
        parts.append(bytes([label]))
        parts += [plane[number * PIXELS:(number + 1) * PIXELS] for plane in planes]
    return b"".join(parts)


def check_labels(file, labels, files):
    """Raises WrongData unless there are labels for `files` files, equally many of each class."""
    wanted = files * IMAGES // CLASSES
    if not isinstance(labels, list):
        raise WrongData(f"{file}: got no list, wanted one of {files * IMAGES:,} labels")
    if len(labels) != files * IMAGES:
        raise WrongData(f"{file}: got {len(labels):,} labels, wanted {files * IMAGES:,}")
    for name in range(CLASSES):
        if labels.count(name) != wanted:
            raise WrongData(f"{file}: got {labels.count(name):,} labels of class {name}, wanted {wanted:,}")


def colors(path):
    """The bytes of the red, green and blue of all images in a strip."""
    from PIL import Image
    with Image.open(path) as strip:
        if strip.mode != "RGB" or strip.size != (PIXELS, IMAGES):
            raise WrongData(f"{path.name}: got {strip.mode} of {strip.size[0]} x {strip.size[1]}, wanted RGB of {PIXELS} x {IMAGES}")
        return [band.tobytes() for band in strip.split()]


def main():
    source, target = map(Path, sys.argv[1:3])
    try:
        converted = {}
        for names, file in ((TRAIN, "train_lables.json"), (TEST, "test_lables.json")):
            labels = json.loads((source / file).read_text(encoding="utf-8"))
            check_labels(file, labels, len(names))
            for number, name in enumerate(names):
                converted[name] = records(labels[number * IMAGES:(number + 1) * IMAGES], *colors(source / f"{name}.png"))
    except (OSError, ValueError, WrongData) as error:
        print(f"cifar10_from_png: {error}", file=sys.stderr)
        return 1
    for name, data in converted.items():
        (target / f"{name}.bin").write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
