#!/usr/bin/env python3
"""tools/build.sh in a small tree: what training needs, everything, and a tree that was copied with its build folder."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(tree LANGUAGES NONE)
option(LEEWAY_TESTS "" ON)
function(program name)
  add_custom_target(${name} ${ARGN} COMMAND ${CMAKE_COMMAND} -E echo ${PROJECT_SOURCE_DIR} > ${PROJECT_BINARY_DIR}/${name}.built VERBATIM)
endfunction()
program(leeway ALL)
program(_leeway ALL)
if(LEEWAY_TESTS)
  program(tests ALL)
endif()
"""


class BuildTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = Path(self._folder.name).resolve() / "tree"
        (self.root / "tools").mkdir(parents=True)
        shutil.copy(TOOLS / "build.sh", self.root / "tools")
        python = self.root / "tools" / "find_python.sh"
        python.write_text("#!/bin/sh\necho /usr/bin/python3\n")
        python.chmod(0o755)
        (self.root / "CMakeLists.txt").write_text(PROJECT)
        (self.root / "CMakePresets.json").write_text(json.dumps({"version": 4, "configurePresets": [
            {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build"}]}))

    def build(self, root, *what):
        done = subprocess.run([root / "tools" / "build.sh", "release", "build", "1", *what], capture_output=True, text=True,
                              cwd="/", check=False)
        self.assertEqual(done.returncode, 0, done)
        return done.stderr

    def built(self, root):
        """Which programs were built, each of which tree."""
        return {path.stem: path.read_text().strip() for path in (root / "build").glob("*.built")}

    def test_training_builds_no_tests_and_what_follows_builds_them(self):
        self.build(self.root, "train")
        self.assertEqual(sorted(self.built(self.root)), ["_leeway", "leeway"])
        self.build(self.root)
        self.assertEqual(sorted(self.built(self.root)), ["_leeway", "leeway", "tests"])
        self.build(self.root, "train")
        self.assertIn("LEEWAY_TESTS:BOOL=ON", (self.root / "build" / "CMakeCache.txt").read_text())

    def test_a_copied_tree_builds_itself(self):
        self.build(self.root)
        copy = self.root.parent / "copy"
        shutil.copytree(self.root, copy, symlinks=True)
        self.assertIn(f"was configured for {self.root}; configuring it anew for {copy}", self.build(copy))
        self.assertEqual(set(self.built(copy).values()), {str(copy)})
        self.assertEqual(set(self.built(self.root).values()), {str(self.root)})
        self.assertNotIn("anew", self.build(copy))

    def test_a_copied_tree_builds_itself_also_when_the_other_is_gone(self):
        self.build(self.root, "train")
        copy = self.root.parent / "copy"
        self.root.rename(copy)
        self.build(copy, "train")
        self.assertEqual(self.built(copy), {"leeway": str(copy), "_leeway": str(copy)})


if __name__ == "__main__":
    unittest.main()
