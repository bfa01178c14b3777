"""Jobs in which some gradients never come end all the same."""

import pytest
import torch
from job import Job

RANKS = 3


@pytest.fixture(scope="module", params=["bsp", "ssp:2"])
def results(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("uneven")
    with Job(folder, workers=RANKS, servers=2) as job:
        job.run("uneven", request.param)
    return [torch.load(folder / f"result.{rank}.pt") for rank in range(RANKS)]


def test_final_parameters_are_equal_on_all_ranks(results):
    for other in results[1:]:
        for name, tensor in results[0]["ended"].items():
            assert torch.equal(tensor, other["ended"][name]), name


def test_ranks_start_from_rank_0(results):
    for other in results[1:]:
        for name, tensor in results[0]["began"].items():
            assert torch.equal(tensor, other["began"][name]), name


def test_only_what_was_used_is_trained(results):
    for name, began in results[0]["began"].items():
        trained = not torch.equal(began, results[0]["ended"][name])
        assert trained == name.startswith(("first", "branch", "last")), name


def test_a_nan_push_is_refused_and_counted(results):
    assert results[1]["figures"]["refused"] > 0
    assert len(results[1]["refusals"]) == 1, "said once"
    assert results[0]["figures"]["refused"] == 0
    assert all(tensor.isfinite().all() for tensor in results[0]["ended"].values())


def test_absent_pushes_were_sent(results):
    assert all(result["figures"]["absent"] >= 2 * 8 for result in results), "the unused layer's, in each iteration"
