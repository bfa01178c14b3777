"""The order of sending changes no bit of the result: overlap, priorities and the time of pulls, for seven kinds of models."""

import contextlib
import itertools
import sys
from pathlib import Path

import pytest
import torch
from job import Job

sys.path.insert(0, str(Path(__file__).parent / "programs"))
RANKS = 2
WAYS = [*itertools.product(("on", "off"), ("on", "off"), ("ready",)), ("on", "on", "clock")]
KINDS = ("cnn", "transformer", "accumulated", "attention", "lstm", "weight_norm", "checkpointed")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The parameters at the end of each way, by rank. All jobs run beside each other."""
    folders = {way: tmp_path_factory.mktemp("-".join(way)) for way in WAYS}
    with contextlib.ExitStack() as jobs:
        running = []
        for way, folder in folders.items():
            overlap, priorities, pull_at = way
            # Small blocks over TCP, where frames may pass each other.
            job = jobs.enter_context(Job(folder, workers=RANKS, shards=2, server_flags=("--transport", "tcp"), transport="tcp",
                                         block_bytes=16 << 10, priorities=priorities, pull_at=pull_at))
            running.append((job, [job.start_worker(rank, "same_bits", overlap, LEEWAY_TRANSPORT="tcp") for rank in range(RANKS)]))
        for job, workers in running:
            job.expect_end(workers)
            job.expect_end()
    return {way: [torch.load(folder / f"result.{rank}.pt") for rank in range(RANKS)] for way, folder in folders.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_ends_with_the_same_bits(results, kind):
    first = results[WAYS[0]][0]
    names = [name for name in first if name.startswith(kind + ".")]
    assert names
    for way, ranks in results.items():
        for rank, values in enumerate(ranks):
            for name in names:
                assert torch.equal(first[name], values[name]), (way, rank, name)
