#!/usr/bin/env python3
"""tools/deps.sh on a machine that has no package yet: what each purpose installs, and what it says beforehand."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "deps.sh"
PROGRAMS = {
    "dpkg-query": "exit 1",
    "apt-cache": "exit 0",
    "sudo": 'exec "$@"',
    # Two packages of 100 and 150 MB, one of them needed by the other.
    "apt-get": 'case "$*" in *--print-uris*) echo "\'http://x/a.deb\' a.deb 100000000 SHA256:0"; echo "\'http://x/b.deb\' b.deb 150000000 SHA256:0" ;; '
               '*) echo "$@" >> "$APT_LOG" ;; esac',
}
TEST_TOOLS = {"libgtest-dev", "libgmock-dev", "python3-pytest"}
LINT_TOOLS = {"clang-tidy", "clang-format"}


class DepsTest(unittest.TestCase):
    def deps(self, *purposes, **changed):
        """(what was installed, what was said) with programs of our own for those that touch the system."""
        with tempfile.TemporaryDirectory() as folder:
            for name, script in {**PROGRAMS, **changed}.items():
                path = Path(folder, name)
                path.write_text(f"#!/bin/sh\n{script}\n")
                path.chmod(0o755)
            log = Path(folder, "log")
            done = subprocess.run([SCRIPT, *purposes], capture_output=True, text=True, check=False,
                                  env={"PATH": f"{folder}:{os.environ['PATH']}", "APT_LOG": str(log)})
            self.assertEqual(done.returncode, 0, done)
            words = log.read_text().split() if log.exists() else []
            return {word for word in words if not word.startswith("-")} - {"install"}, done.stderr

    def test_training_needs_no_tools_for_tests_or_lint(self):
        installed, said = self.deps("train")
        self.assertLess({"g++", "cmake", "python3-torch", "dataset-fashion-mnist", "pybind11-dev"}, installed)
        self.assertFalse(installed & (TEST_TOOLS | LINT_TOOLS))
        self.assertIn("250 MB to fetch", said)

    def test_tests_need_no_tools_for_lint(self):
        installed, _ = self.deps("test")
        self.assertLess({"g++", "python3-torch"} | TEST_TOOLS, installed)
        self.assertFalse(installed & LINT_TOOLS)

    def test_without_a_purpose_everything_is_installed(self):
        self.assertLess(TEST_TOOLS | LINT_TOOLS, self.deps()[0])

    def test_a_package_can_be_named_beside_a_purpose(self):
        self.assertLess({"g++", "clang"}, self.deps("train", "clang")[0])

    def test_nothing_is_done_where_all_is_there(self):
        self.assertEqual(self.deps("train", **{"dpkg-query": "printf installed"}), (set(), ""))


if __name__ == "__main__":
    unittest.main()
