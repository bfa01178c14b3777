#!/usr/bin/env python3
"""`make help` on a terminal of 80 columns: every target that has a description, in lines that fit."""

import re
import subprocess
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


class MakeHelp(unittest.TestCase):
    def setUp(self):
        self.lines = subprocess.run(["make", "--no-print-directory", "-C", TREE, "help"], capture_output=True, text=True, check=True,
                                    timeout=300).stdout.splitlines()

    def test_every_line_fits(self):
        self.assertEqual([line for line in self.lines if len(line) > 80], [])

    def test_every_description_is_there(self):
        described = re.findall(r"^([a-z0-9-]+):.*  ## (.*)$", (TREE / "Makefile").read_text(), re.MULTILINE)
        text = " ".join(" ".join(self.lines).split())
        self.assertGreater(len(described), 20)
        for target, description in described:
            self.assertIn(f"make {target} {description}", text)


if __name__ == "__main__":
    unittest.main()
