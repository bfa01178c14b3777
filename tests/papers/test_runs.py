"""Runs of cells: the cache keeps finished ones, an interrupted study goes on, and no process is left."""

import os
import signal
import subprocess
import time

from conftest import HANG_S, ITEM, SCENARIO


def test_finished_cells_run_once(bench):
    first = bench.run()
    assert first.returncode == 0 and len(bench.started()) == 4, first
    again = bench.run()
    assert again.returncode == 0 and len(bench.started()) == 4 and "4 cells, 4 of them from the cache" in again.stderr, again
    assert again.stdout == first.stdout


def test_another_text_runs_nothing_and_another_setting_seed_or_program_does(bench):
    bench.run()
    bench.write("mine/items/table1.toml", ITEM.replace("A text.", "Another.").replace("[20, 10]", "[30, 10]"))
    bench.run()
    assert len(bench.started()) == 4
    bench.run("--seeds", 3)
    assert len(bench.started()) == 6
    bench.write("mine/items/table1.toml", ITEM + "\n[set]\ntraining.rate = 0.1\n")
    bench.run()
    assert len(bench.started()) == 10
    bench.write_program("another one")
    bench.run()
    assert len(bench.started()) == 14


def test_a_cell_that_is_not_whole_in_the_cache_runs_again(bench):
    bench.run()
    next((bench.folder / "cells").glob("*.json")).write_text('{"run": ')
    assert bench.run().returncode == 0
    assert len(bench.started()) == 5


def test_the_same_resolved_scenario_is_run_once_and_said_to_be(bench):
    bench.write("mine/scenarios/table2.toml", SCENARIO)
    bench.write("mine/items/table2.toml", ITEM.replace("Table 1", "Table 2"))
    ran = bench.run()
    assert ran.returncode == 0 and len(bench.started()) == 4, ran
    text = (bench.folder / "out" / "mine.md").read_text()
    assert '"BSP" is the run of "table1: BSP": run once, counted once.' in text
    assert "Mine: 1 ratio stands beside the paper's: 1 on its side" in text and "1 more repeats the numbers" in text


def test_a_cell_that_fails_is_told_and_is_not_kept(bench):
    failed = bench.run(STAND_IN_FAIL="asp")
    assert failed.returncode == 1 and "ASP, seed 2: leeway: it failed" in failed.stderr, failed
    assert "ASP (0 of 2 runs ended well)" in failed.stdout
    assert bench.run().returncode == 0 and len(bench.started()) == 6


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def interrupted(bench, number):
    """The study stopped by the signal while two cells hang, with the other two done; gives the process and what it said."""
    process = subprocess.Popen(bench.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                               env=bench.environment(STAND_IN_HANG="asp"), start_new_session=True)
    deadline = time.monotonic() + HANG_S
    while len(bench.started()) < 4:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(number)
    return process, process.communicate(timeout=HANG_S)[1]


def test_an_interrupted_study_leaves_no_process_and_goes_on(bench):
    process, said = interrupted(bench, signal.SIGINT)
    assert process.returncode == 128 + signal.SIGINT and "the same command goes on" in said, said
    assert not any(is_there(int(line.split()[-1])) for line in bench.started())
    gone_on = bench.run()
    assert gone_on.returncode == 0 and "2 of them from the cache" in gone_on.stderr, gone_on
    assert sorted(line.split(" pid")[0] for line in bench.started()[4:]) == ["policies.sync=asp seed 1", "policies.sync=asp seed 2"]


def test_a_killed_study_leaves_no_process_either(bench):
    process, _ = interrupted(bench, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    deadline = time.monotonic() + HANG_S
    while any(is_there(int(line.split()[-1])) for line in bench.started()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_quick_form_says_that_it_is_one(bench):
    ran = bench.run("--quick")
    assert ran.returncode == 0 and len(bench.started()) == 2 and all("iterations=2" in line for line in bench.started()), ran
    assert "It shows that everything runs, not the results." in (bench.folder / "out" / "mine.md").read_text()


def test_data_that_is_not_there_leaves_its_item_out(bench):
    bench.write("mine/items/table1.toml", 'needs = ["no/such/data"]\n' + ITEM)
    ran = bench.run()
    assert ran.returncode == 0 and "not run: there is no no/such/data" in ran.stdout and not bench.started(), ran
    assert "Not run: there is no no/such/data." in (bench.folder / "out" / "mine.md").read_text()


def test_a_page_that_was_written_by_hand_stays(bench):
    docs = bench.folder / "docs"
    docs.mkdir()
    page = docs / "mine.md"
    page.write_text("# Mine, by hand\n")
    refused = bench.run("--docs", docs)
    assert refused.returncode == 2 and "got a page that was written by hand" in refused.stderr and not bench.started(), refused
    assert page.read_text() == "# Mine, by hand\n"
    page.unlink()
    assert bench.run("--docs", docs).returncode == 0
    assert bench.run("--docs", docs).returncode == 0, "its own page"
