"""By how many members steps are divided when some have left: read off the values (programs/last_steps.py)."""

import pytest
import torch
from job import Job

WORKERS = 4
BATCHES = 40
MODES = [("asp", "immediate"), ("ssp:1000", "aggregate")]


def run(folder, sync, apply, story):
    """(the final value, how often each rank pushed)"""
    with Job(folder, workers=WORKERS) as job:
        job.run("last_steps", sync, apply, story)
    results = [torch.load(folder / f"result.{rank}.pt") for rank in range(WORKERS)]
    assert len({result["value"] for result in results}) == 1, results
    pushed = [result["pushed"] for result in results]
    assert sum(pushed) == BATCHES, pushed
    return results[0]["value"], pushed


@pytest.mark.parametrize("sync, apply", MODES)
def test_a_straggler_steps_as_one_of_all_after_the_others_have_emptied_the_pool(tmp_path, sync, apply):
    value, pushed = run(tmp_path, sync, apply, "straggler")
    assert pushed[-1] > 1, pushed
    assert value == -BATCHES, pushed


@pytest.mark.parametrize("sync, apply", MODES)
def test_when_one_leaves_its_batches_to_the_others_they_step_as_one_of_those_that_remain(tmp_path, sync, apply):
    value, pushed = run(tmp_path, sync, apply, "hand-over")
    assert pushed[-1] == 1, pushed
    # All that gave to iteration 0 are four there; after it there are three.
    first = sum(1 for count in pushed if count > 0)
    assert value == pytest.approx(-(first + (BATCHES - first) * WORKERS / (WORKERS - 1)), rel=1e-5), pushed
