#!/usr/bin/env python3
"""tools/test_repeat.py on suites of a few words: what it counts, that it goes on where it was stopped, and what it leaves running."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "test_repeat.py"
HANG_S = 120


class TestRepeatTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.build = Path(self._folder.name).resolve()
        # Both write down that they ran; the second fails in its second run.
        self.suites(steady="echo x >> steady.runs",
                    moody="echo x >> moody.runs; test $(wc -l < moody.runs) != 2 || { echo 'FAILED cluster/test_m.py::test_mood - no'; exit 1; }")

    def suites(self, **scripts):
        (self.build / "CTestTestfile.cmake").write_text("".join(
            f'add_test({name} "/bin/sh" "-c" [==[{script}]==])\nset_tests_properties({name} PROPERTIES WORKING_DIRECTORY "{self.build}")\n'
            for name, script in scripts.items()))

    def start(self, *flags):
        return subprocess.Popen([sys.executable, "-B", SCRIPT, self.build, "--suites", ".", "--rounds", "3", "--jobs", "1", *flags],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def run_to_end(self, *flags):
        process = self.start(*flags)
        said = process.communicate(timeout=HANG_S)[0]
        return process.returncode, said

    def runs(self, suite):
        file = self.build / f"{suite}.runs"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def wait_for(self, condition, what):
        deadline = time.monotonic() + HANG_S
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)

    def busy(self, pid):
        """The processes that compute for the script `pid`."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue  # gone meanwhile
                if b"getppid" in b"".join(words[2:3]) and words[3:4] == [str(pid).encode()]:
                    found.append(int(entry.name))
        return found

    def results(self):
        return len((self.build / "test-repeat" / "results").read_text().splitlines())

    def test_a_test_that_failed_once_is_named_and_counted(self):
        code, said = self.run_to_end()
        self.assertEqual(code, 1, said)
        self.assertIn("6 of 6 runs of 2 suites, 3 rounds", said)
        self.assertIn("failed 1 of 3: moody cluster/test_m.py::test_mood", said)
        self.assertNotIn("failed 1 of 3: steady", said)
        self.assertEqual((self.runs("steady"), self.runs("moody")), (3, 3))
        self.assertIn("FAILED", (self.build / "test-repeat" / "moody.2.log").read_text())
        self.assertEqual(self.run_to_end()[0], 0, "it began anew")

    def test_a_suite_that_ends_without_naming_a_test_is_named_itself(self):
        self.suites(steady="true", broken="kill -9 $$")
        code, said = self.run_to_end()
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"failed 3 of 3: broken \(")

    def test_what_was_stopped_goes_on_and_leaves_nothing_running(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number):
                for file in self.build.glob("*.runs"):
                    file.unlink()
                # The second run of the second suite takes until it is told to end.
                self.suites(steady="echo x >> steady.runs",
                            slow="echo x >> slow.runs; test $(wc -l < slow.runs) != 2 || while ! test -e go; do sleep 0.01; done")
                (self.build / "go").unlink(missing_ok=True)
                process = self.start()
                self.wait_for(lambda: self.runs("slow") == 2, "second round")
                self.wait_for(lambda: self.results() == 3, "result of the second round's first suite")
                self.wait_for(lambda: len(self.busy(process.pid)) == 2, "busy processes")
                os.kill(process.pid, number)
                process.communicate(timeout=HANG_S)
                self.wait_for(lambda: not self.busy(process.pid), "end of the busy processes")
                self.assertNotEqual(process.returncode, 0)
                (self.build / "go").touch()
                code, said = self.run_to_end()
                self.assertEqual(code, 0, said)
                self.assertIn("round 1 of 3: 0 suites to run, 2 run before", said)
                self.assertEqual((self.runs("steady"), self.runs("slow")), (3, 4))

    def test_no_suite_at_all_is_an_error(self):
        code, said = self.run_to_end("--suites", "nosuch")
        self.assertEqual(code, 2, said)
        self.assertIn("matches nosuch", said)


if __name__ == "__main__":
    unittest.main()
