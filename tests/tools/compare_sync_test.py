#!/usr/bin/env python3
"""The books of tools/compare_sync.py: which runs there are, which of them are kept, and what the page says about their figures."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import compare_sync  # noqa: E402
import comparison_page  # noqa: E402
from compared_runs import OWN, SAME, TUNE, KeptRuns, figures, program_mark, train  # noqa: E402


def run_figures(to_target, to_end, accuracy, **others):
    return {"to_target_s": to_target, "to_end_s": to_end, "accuracy": accuracy, "dprs": 10, "wait_s": 2.0, "late": 1,
            "late_applied": 2, "curve": [(to_end, accuracy)], **others}


class CompareSyncTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.made, self.told = [], []

    def comparison(self, *words, program="p"):
        return compare_sync.Comparison(compare_sync.parse(["--models", "bsp", "asp", "--patterns", "steady", "rotate", *words]), program)

    def maker(self, count, trainer=None):
        def made(run):
            self.made.append(run)
            return trainer(run) if trainer else run_figures(5.0, 9.0, 0.9)

        return compare_sync.Maker(KeptRuns(self.folder / "runs"), made, count, self.told.append)

    def test_models_take_turns_in_every_pattern_and_have_their_own_way_once(self):
        comparison = self.comparison("--rounds", "2")
        runs = comparison.rounds({"bsp": 0.008, "asp": 0.002})
        self.assertEqual([(run.number, run.pattern, run.setting, run.model) for run in runs],
                         [(0, "steady", SAME, "bsp"), (0, "steady", SAME, "asp"), (0, "steady", OWN, "bsp"), (0, "steady", OWN, "asp"),
                          (0, "rotate", SAME, "bsp"), (0, "rotate", SAME, "asp"), (0, "rotate", OWN, "bsp"), (0, "rotate", OWN, "asp"),
                          (1, "steady", SAME, "bsp"), (1, "steady", SAME, "asp"),
                          (1, "rotate", SAME, "bsp"), (1, "rotate", SAME, "asp")])
        self.assertEqual([run.rate for run in runs[:4]], [0.004, 0.004, 0.008, 0.002])
        self.assertEqual(comparison.count(), 12 + 2 * 3)
        self.assertEqual(len({run.name for run in runs}), len(runs))
        self.assertEqual(self.comparison("--no-own", "--rounds", "2").count(), 8)

    def test_a_run_is_a_job_with_its_slow_workers_and_one_apply_mode(self):
        same, own = (run for run in self.comparison().rounds({"bsp": 0.008, "asp": 0.002})[4:7:2])
        words = same.command("leeway", "python3", "train.py", Path("f"))
        before, script = words[:words.index("--")], words[words.index("--") + 1:]
        self.assertEqual(before[:12], ["leeway", "run", "-w", "4", "-s", "2", "--sync", "bsp", "--apply", "immediate", "--slow-worker",
                                       "rotate:4x,5-10"])
        self.assertEqual(script[:2], ["python3", "train.py"])
        self.assertEqual(script[script.index("--lr") + 1], "0.004")
        self.assertNotIn("--apply", own.command("leeway", "python3", "train.py", Path("f")))
        tuning = self.comparison().tuning()[0].command("leeway", "python3", "train.py", Path("f"))
        self.assertNotIn("--slow-worker", tuning)

    def test_a_round_has_one_seed_under_every_model(self):
        runs = self.comparison("--rounds", "2").rounds({"bsp": 1, "asp": 1})
        seeds = {(run.number, words[words.index("--seed") + 1])
                 for run in runs for words in [run.command("l", "p", "s", Path("f"))]}
        self.assertEqual(seeds, {(0, "1"), (1, "2")})

    def test_the_best_rate_is_each_models_own(self):
        comparison = self.comparison()
        tuning = comparison.tuning()
        self.assertEqual([(run.setting, run.model, run.rate) for run in tuning],
                         [(TUNE, model, rate) for model in ("bsp", "asp") for rate in (0.002, 0.004, 0.008)])
        found = {run: run_figures(1, 2, {("bsp", 0.008): 0.9, ("asp", 0.002): 0.88}.get((run.model, run.rate), 0.8)) for run in tuning}
        self.assertEqual(comparison.rates(found), {"bsp": 0.008, "asp": 0.002})
        self.assertEqual(comparison.rates({}), {"bsp": 0.004, "asp": 0.004})
        self.assertEqual(self.comparison("--rates", "1").tuning(), [])
        self.assertEqual(self.comparison("--rates", "0.5").rates({}), {"bsp": 0.002, "asp": 0.002}, "the only rate needs no search")

    def test_a_stopped_call_goes_on_with_what_is_left(self):
        runs = self.comparison("--no-own", "--rounds", "1").rounds({"bsp": 1, "asp": 1})

        def stopped(run):
            if len(self.made) == 3:
                raise KeyboardInterrupt
            return run_figures(5.0, 9.0, 0.9)

        with self.assertRaises(KeyboardInterrupt):
            self.maker(4, stopped).make(runs)
        self.made.clear()
        found = self.maker(4).make(runs)
        self.assertEqual(self.made, runs[2:])
        self.assertEqual(list(found), runs)
        self.assertIn("run 3 of 4", self.told[-4])

    def test_another_setting_or_program_is_another_run(self):
        runs = self.comparison("--no-own", "--rounds", "1").rounds({"bsp": 1, "asp": 1})
        self.maker(4).make(runs)
        self.made.clear()
        self.maker(4).make(runs)
        self.assertEqual(self.made, [])
        for changed in (self.comparison("--no-own", "--rounds", "1", "--target", "0.8"),
                        self.comparison("--no-own", "--rounds", "1", program="q")):
            self.made.clear()
            self.maker(4).make(changed.rounds({"bsp": 1, "asp": 1}))
            self.assertEqual(len(self.made), 4)
        (self.folder / "runs" / f"{runs[0].name}.json").write_text("{", encoding="utf-8")
        self.made.clear()
        self.maker(4).make(changed.rounds({"bsp": 1, "asp": 1}))
        self.assertEqual(len(self.made), 1)

    def test_what_fails_is_told_and_the_others_go_on(self):
        def failing(run):
            if run.model == "asp":
                raise RuntimeError("ended with 1")
            return run_figures(5.0, 9.0, 0.9)

        maker = self.maker(4, failing)
        found = maker.make(self.comparison("--no-own", "--rounds", "1").rounds({"bsp": 1, "asp": 1}))
        self.assertTrue(maker.failed)
        self.assertEqual({run.model for run in found}, {"bsp"})
        self.assertIn("  failed: ended with 1", self.told)

    def test_time_left_is_what_runs_take_on_average(self):
        runs = self.comparison("--no-own", "--rounds", "1").rounds({"bsp": 1, "asp": 1})
        kept = KeptRuns(self.folder / "runs")
        self.assertIsNone(kept.took_s())
        kept.keep(runs[0], run_figures(1, 2, 0.9), 100)
        kept.keep(runs[1], run_figures(1, 2, 0.9), 200)
        self.assertEqual(KeptRuns(self.folder / "runs").took_s(), 150)
        self.maker(4).make(runs)
        self.assertIn("run 3 of 4, about 5 min left at most", self.told[0])

    def stand_in(self, script):
        """A build folder whose program writes its process id into the file pid, and goes on with `script`."""
        (self.folder / "build/python").mkdir(parents=True)
        (self.folder / "build/python/interpreter").write_text(sys.executable)
        program = self.folder / "build/leeway"
        program.write_text(f'#!/bin/sh\necho $$ > "{self.folder}/new" && mv "{self.folder}/new" "{self.folder}/pid"\n{script}\n')
        program.chmod(0o755)
        return program

    def wait_until_gone(self):
        """The kernel may end the run a moment after the comparison; the test's time limit is that of the wait."""
        pid = int((self.folder / "pid").read_text())
        with self.assertRaises(ProcessLookupError):
            while True:
                os.kill(pid, 0)
                time.sleep(0.01)

    def test_a_signal_ends_the_run_under_way_and_is_the_exit_code(self):
        self.stand_in("exec sleep 300")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([sys.executable, "-B", compare_sync.__file__, "--build", self.folder / "build", "--out",
                                        self.folder / "out"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while not (self.folder / "pid").exists():
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.send_signal(number)
            said = process.communicate(timeout=120)[1]
            self.assertEqual(process.returncode, 128 + number)
            self.assertEqual(said, "compare-sync: stopped; the same command goes on with the runs that are left\n")
            self.wait_until_gone()
            (self.folder / "pid").unlink()

    def test_a_run_that_takes_too_long_is_ended(self):
        program = self.stand_in("exec sleep 300")
        run = self.comparison().tuning()[0]
        with self.assertRaisesRegex(RuntimeError, "took longer than 2 s"):
            train(run, program, sys.executable, "train.py", self.folder / "last", 2)
        if (self.folder / "pid").exists():  # not if it was too slow even for that
            self.wait_until_gone()

    def test_figures_of_a_run(self):
        totals = {"server.dpr": 7, "worker.wait_values_s": 1.5, "worker.late_dropped": 2, "worker.skipped_late": 3,
                  "server.late_applied": 4}
        history = {"seconds": 9.5, "accuracy": 0.88, "accuracies": [[1.0, 0.7], [2.0, 0.86], [3.0, 0.84], [9.5, 0.88]]}
        got = figures(history, {"status": {"totals": totals}}, 0.85)
        self.assertEqual((got["to_target_s"], got["to_end_s"], got["accuracy"], got["late"]), (2.0, 9.5, 0.88, 5))
        self.assertIsNone(figures(history, {"status": {"totals": totals}}, 0.9)["to_target_s"])

    def test_a_median_counts_what_never_came_as_last(self):
        runs = [run_figures(at, 9.0, 0.9) for at in (6.0, None, 4.0)]
        self.assertEqual(comparison_page.spread(runs, "to_target_s"), "6.0 (4.0 to never)")
        self.assertEqual(comparison_page.spread(runs[:1], "to_target_s"), "6.0")

    def test_only_ranges_that_do_not_overlap_are_a_difference(self):
        results = {"bsp": [run_figures(at, 20.0, 0.89) for at in (8.0, 9.0, 10.0)],
                   "fast": [run_figures(at, 12.0, 0.88) for at in (5.0, 6.0, 7.9)],
                   "alike": [run_figures(at, 20.0, 0.895) for at in (7.0, 8.0, 8.5)],
                   "slow": [run_figures(at, 30.0, 0.87) for at in (11.0, None, None)]}
        said = comparison_page.findings(results, 0.85)
        self.assertEqual(said[0], "To 85 % (9.0 s under `bsp`): `fast` clearly before `bsp`; `slow` clearly after `bsp`; `alike` not told "
                                  "apart from it by these rounds.")
        self.assertEqual(said[2], "Final accuracy against `bsp`: from -2.00 points (`slow`) to +0.50 (`alike`).")
        self.assertEqual(comparison_page.findings({"fast": results["fast"]}, 0.85), [])
        never = {"bsp": [run_figures(None, 20.0, 0.8)], "asp": [run_figures(5.0, 12.0, 0.88)]}
        self.assertEqual(comparison_page.findings(never, 0.85)[1], "To 85 % (never under `bsp`): `asp` before `bsp`.")
        once = comparison_page.findings({model: runs[:1] for model, runs in results.items()}, 0.85)
        self.assertIn("no spread", once[0])
        self.assertNotIn("clearly", once[1])

    def test_a_model_without_a_run_keeps_its_row(self):
        head, rows = comparison_page.rows_of({"bsp": [run_figures(5, 9, 0.9)], "asp": []}, {"bsp": (0.008, run_figures(4, 8, 0.91))}, 0.85)
        self.assertEqual(rows[0], ["`bsp`", "5.0", "9.0", "90.00", "10", "2.0", "3", "0.008", "4.0", "8.0", "91.00"])
        self.assertEqual(rows[1][:2], ["`asp`", "no run"])
        self.assertEqual({len(row) for row in rows}, {len(head)})

    def test_quick_changes_defaults_alone(self):
        self.assertEqual(compare_sync.parse(["--quick"]).rounds, 1)
        self.assertEqual(compare_sync.parse(["--quick", "--rounds", "2"]).rounds, 2)
        self.assertEqual(compare_sync.parse([]).rounds, 3)

    def test_the_page_speaks_of_own_settings_only_where_there_are_some(self):
        for words, said in (([], "The columns `own`: once, each with its own apply mode and the best of the rates"),
                            (["--rates", "1"], "its own apply mode and one rate."), (["--no-own"], None)):
            with contextlib.redirect_stdout(io.StringIO()) as text:
                compare_sync.report(self.comparison("--rounds", "1", *words).arguments, {}, {}, self.folder)
            self.assertIn("one round.", text.getvalue())
            if said:
                self.assertIn(said, text.getvalue())
            else:
                self.assertNotIn("own", text.getvalue())

    def test_a_program_is_marked_by_what_is_in_its_files(self):
        file = self.folder / "program"
        file.write_bytes(b"a")
        before = program_mark([file])
        self.assertEqual(program_mark([file]), before)
        file.write_bytes(b"b")
        self.assertNotEqual(program_mark([file]), before)

    def test_what_trains_has_the_python_files_of_the_binding(self):
        binding = self.folder / "python/leeway"
        (binding / "torch").mkdir(parents=True)
        for name in ("_leeway.so", "slow_pattern.py", "torch/phases.py", "notes.txt"):
            (binding / name).touch()
        names = [file.name for file in compare_sync.files_that_train(self.folder)]
        self.assertEqual(names, ["leeway", "fashion_mnist.py", "_leeway.so", "slow_pattern.py", "phases.py"])


if __name__ == "__main__":
    unittest.main()
