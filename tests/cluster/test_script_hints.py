"""Scripts that run to their end and yet do not what their author meant: the job says so."""

import sys

import pytest
from cli_process import leeway
from job import PROGRAMS


def test_ranks_that_train_on_the_same_batches_are_named_once():
    done = leeway("run", "-w", 2, "-s", 1, "--", sys.executable, PROGRAMS / "same_batches.py")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("w0 and w1 have the same first gradients") == 1, done.stderr
    assert "DistributedSampler" in done.stderr


def test_a_script_that_wraps_no_optimizer_is_told_by_rank_0():
    done = leeway("run", "-w", 2, "-s", 1, "--", sys.executable, "-c", "import leeway; leeway.init()")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("made no DistributedOptimizer") == 1 and "[w0] leeway: this script called init()" in done.stderr


def test_one_that_only_meets_the_others_is_not_and_may_not_join_again():
    script = "import leeway; leeway.init(); leeway.barrier(); leeway.shutdown(); leeway.init()"
    done = leeway("run", "-w", 2, "-s", 1, "--", sys.executable, "-c", script)
    assert "DistributedOptimizer" not in done.stderr, done.stderr
    # Each rank that came so far says it once; the first that ended once more, at the end.
    assert done.stderr.count("FailedPrecondition: init() after shutdown(): the job that launched this process is over") >= 1, done.stderr


@pytest.mark.parametrize("joins, outcomes", [("before", ["another child of process", "joined"]), ("after", ["which started this one"] * 2)])
def test_children_that_would_take_their_parents_rank_are_told_why(joins, outcomes):
    done = leeway("run", "-w", 1, "-s", 1, "--", sys.executable, PROGRAMS / "children.py", joins)
    lines = sorted(line for line in done.stdout.splitlines() if "a rank is one process" in line or line == "[w0] joined")
    assert len(lines) == 2 and all(part in line for part, line in zip(outcomes, lines)), done.stdout + done.stderr
