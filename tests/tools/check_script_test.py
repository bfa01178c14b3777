#!/usr/bin/env python3
"""tools/check.sh in a small tree: it goes on with the part that failed, and runs all again when a file has changed."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
MAKEFILE = "first second:\n\t@echo $@ >> build/ran; test $@ = first || test -e allowed\n"
FOLDERS = ["include", "src", "apps", "bench", "examples", "python", "tests", "cmake", "scenarios", "docs"]


class CheckTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = Path(self._folder.name).resolve()
        for name in ["tools", "build", *FOLDERS]:
            (self.root / name).mkdir()
        for name in ("check.sh", "tree_state.sh"):
            shutil.copy(TOOLS / name, self.root / "tools")
        for name in ("CMakeLists.txt", "CMakePresets.json", "README.md", ".clang-format", ".clang-tidy"):
            (self.root / name).touch()
        (self.root / "Makefile").write_text(MAKEFILE)

    def check(self, **amounts):
        return subprocess.run([self.root / "tools" / "check.sh", "build", "first", "second"], capture_output=True, text=True,
                              check=False, env={**os.environ, **amounts})

    def ran(self):
        """The parts that this call of the test is the first to see."""
        file = self.root / "build" / "ran"
        words = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return words

    def test_it_goes_on_with_the_part_that_failed(self):
        self.assertNotEqual(self.check().returncode, 0)
        self.assertEqual(self.ran(), ["first", "second"])
        (self.root / "allowed").touch()
        done = self.check()
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("first passed before with these files", done.stdout)
        self.assertEqual(self.ran(), ["second"])
        self.assertEqual((self.check().returncode, self.ran()), (0, []))

    def test_a_file_that_changed_makes_all_parts_run_again(self):
        (self.root / "allowed").touch()
        self.check()
        self.assertEqual(self.ran(), ["first", "second"])
        (self.root / "src" / "new.cc").write_text("int x;\n")
        self.assertEqual((self.check().returncode, self.ran()), (0, ["first", "second"]))

    def test_a_smaller_run_does_not_stand_for_a_larger_one(self):
        (self.root / "allowed").touch()
        self.check(SEEDS="5")
        self.assertEqual(self.ran(), ["first", "second"])
        self.assertEqual((self.check(SEEDS="5").returncode, self.ran()), (0, []))
        self.assertEqual((self.check().returncode, self.ran()), (0, ["first", "second"]))


if __name__ == "__main__":
    unittest.main()
