"""Buffers at the end of a job of three ranks, with each kind of buffers=."""

import pytest
import torch
from job import Job

RANKS = 3


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("buffers")
    with Job(folder, workers=RANKS, servers=2) as job:
        job.run("buffers")
    return [torch.load(folder / f"result.{rank}.pt") for rank in range(RANKS)]


def ends(results, kind):
    before, after = zip(*(result[kind] for result in results))
    if kind != "local":
        for name in before[0]:
            assert all(torch.equal(after[0][name], other[name]) for other in after), name
    return before, after[0]


@pytest.mark.parametrize("kind", ["mean", "chief", "local"])
def test_what_no_rank_has_changed_stays_as_it_is(results, kind):
    before, _ = ends(results, kind)
    for result in results:
        for name in ("untouched", "mask"):
            assert torch.equal(result[kind][1][name], before[0][name])
        assert result[kind][1]["secret"].tolist() == [1.0, 1.0], "of rank 0, by the broadcast"


def test_floating_buffers_are_means_and_integer_ones_the_chiefs(results):
    before, after = ends(results, "mean")
    for name in ("norm.running_mean", "norm.running_var", "precise"):
        assert not torch.equal(before[0][name], before[1][name])
        mean = sum(buffers[name].double() for buffers in before) / RANKS
        torch.testing.assert_close(after[name].double(), mean, rtol=1e-6, atol=1e-7)
    assert after["norm.num_batches_tracked"].item() == 1 and after["count"].tolist() == [-1, -(1 << 40)]


def test_all_buffers_may_be_the_chiefs(results):
    before, after = ends(results, "chief")
    assert all(torch.equal(after[name], value) for name, value in before[0].items())


def test_each_rank_may_keep_its_own(results):
    ends(results, "local")
    for result in results:
        before, after = result["local"]
        assert all(torch.equal(after[name], value) for name, value in before.items())
    assert results[2]["local"][1]["norm.num_batches_tracked"].item() == 3
