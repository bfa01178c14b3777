#!/usr/bin/env python3
"""tools/compile_alone.py finds what a unity build hides, compiles a file once, and never checks nothing."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import compile_alone  # noqa: E402: found by the line above


class CompileAloneTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = Path(self._folder.name).resolve()
        self.build = self.root / "build"
        (self.build / "Unity").mkdir(parents=True)
        self.write("src/a.h", "#pragma once\nstruct A { int x; };\n")
        self.write("src/a.cc", '#include "a.h"\nint F(A a) { return a.x; }\n')
        self.write("src/b.cc", '#include "a.h"\nint G(A a) { return a.x; }\n')
        self.join("src/a.cc", "src/b.cc")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def join(self, *sources):
        """One unity source of all of them, as CMake writes it."""
        joined = self.build / "Unity" / "unity_0_cxx.cxx"
        joined.write_text("".join(f'#include "{self.root / source}"\n\n' for source in sources))
        command = f"/usr/bin/ccache /usr/bin/c++ -I{self.root}/src -O2 -Wall -Werror -std=c++20 -o x.o -c {joined}"
        (self.build / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(self.build), "command": command, "file": str(joined)}]))

    def check(self, **options):
        """(number of failures, what it said)"""
        said = []
        failed = compile_alone.check(self.root, self.build, say=said.append, **options)
        return failed, "\n".join(said)

    def test_what_passed_is_compiled_again_only_when_it_or_a_header_changes(self):
        self.assertIn("0 passed before, 2 passed now, 0 failed, 0 left", self.check()[1])
        self.assertIn("2 passed before, 0 passed now", self.check()[1])
        self.write("src/b.cc", '#include "a.h"\nint G(A a) { return a.x + 1; }\n')
        self.assertIn("1 passed before, 1 passed now", self.check()[1])
        self.write("src/a.h", "#pragma once\nstruct A { int x, y; };\n")
        self.assertIn("0 passed before, 2 passed now", self.check()[1])

    def test_a_source_that_leans_on_the_one_before_is_found(self):
        self.write("src/b.cc", "int G(A a) { return a.x; }\n")
        failed, said = self.check()
        self.assertEqual(failed, 1)
        self.assertIn("src/b.cc does not compile by itself", said)
        self.assertEqual(self.check()[0], 1, "it fails until it is mended")

    def test_a_header_that_leans_on_its_includer_is_found(self):
        self.write("src/lean.h", "#pragma once\nint H(A a);\n")
        self.write("src/b.cc", '#include "a.h"\n#include "lean.h"\nint G(A a) { return H(a); }\n')
        failed, said = self.check()
        self.assertEqual(failed, 1)
        self.assertIn("src/lean.h does not compile by itself", said)

    def test_a_header_without_its_guard_is_found(self):
        self.write("src/open.h", "struct Open {};\n")
        self.assertIn("src/open.h does not compile by itself", self.check()[1])

    def test_a_bound_says_what_is_left_and_the_next_call_goes_on(self):
        self.assertIn("0 passed before, 1 passed now, 0 failed, 1 left", self.check(most=1)[1])
        self.assertIn("1 passed before, 1 passed now, 0 failed, 0 left", self.check(most=1)[1])

    def test_a_folder_of_another_tree_is_refused(self):
        (self.build / "compile_commands.json").write_text("[]")
        with self.assertRaisesRegex(compile_alone.Failure, "names no source below"):
            self.check()
        (self.build / "compile_commands.json").unlink()
        with self.assertRaisesRegex(compile_alone.Failure, "configure it first"):
            self.check()


if __name__ == "__main__":
    unittest.main()
