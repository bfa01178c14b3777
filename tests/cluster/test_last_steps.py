"""By how many members steps are divided when some have left: read off the values (programs/last_steps.py)."""

import pytest
import torch
from job import Job

WORKERS = 3
BATCHES = 40
MODES = ["immediate", "aggregate"]


def run(folder, story):
    """(the final values, how often each rank pushed)"""
    with Job(folder, workers=WORKERS, sync="asp", rule="tables=aggregate sync=ssp:1000 apply=aggregate") as job:
        job.run("last_steps", story, BATCHES)
    results = [torch.load(folder / f"result.{rank}.pt") for rank in range(WORKERS)]
    for mode in MODES:
        assert len({result[mode] for result in results}) == 1, results
    return results[0], [result["pushed"] for result in results]


def test_a_straggler_steps_as_one_of_all_after_the_others_have_emptied_the_pool(tmp_path):
    values, pushed = run(tmp_path, "straggles")
    assert sum(pushed) == BATCHES and pushed[-1] > BATCHES // 2 >= max(pushed[:-1]), pushed
    for mode in MODES:
        assert values[mode] == pytest.approx(-BATCHES, rel=1e-5), (mode, pushed)


def test_when_one_leaves_its_batches_to_the_others_they_step_as_one_of_those_that_remain(tmp_path):
    values, pushed = run(tmp_path, "leaves")
    # Nobody pushes the batch again that it pushed before it left.
    assert sum(pushed) == BATCHES and pushed[-1] == 1, pushed
    first = sum(count > 0 for count in pushed)  # who gave to iteration 0, of which all are members
    rest = (sum(pushed) - first) * WORKERS / (WORKERS - 1)
    for mode in MODES:
        assert values[mode] == pytest.approx(-(first + rest), rel=1e-5), (mode, pushed)
