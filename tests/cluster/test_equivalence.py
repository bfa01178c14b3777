"""Four workers under bsp, summed in rank order, do what one process does with the same four batches."""

import json

import pytest
import torch
import torch.nn.functional as F
from equivalence_setup import CASES, RANKS, STEPS, make, samples, schedule
from job import Job
from models import batch

SERVERS, SHARDS, BLOCK_BYTES = 2, 2, 16 << 10


def train_in_one_process(case):
    """Computes the four batches one after another, weighs their gradients in rank order and steps torch's own optimizer."""
    model, optimizer = make(case)
    scheduler = schedule(optimizer)
    parameters = list(model.parameters())
    for step in range(STEPS):
        counts = [samples(rank, step) for rank in range(RANKS)]
        total = [torch.zeros_like(parameter) for parameter in parameters]
        for rank, count in enumerate(counts):
            x, y = batch(rank, step, count)
            for sum_, gradient in zip(total, torch.autograd.grad(F.cross_entropy(model(x), y), parameters)):
                sum_.add_(gradient, alpha=count)
        for parameter, sum_ in zip(parameters, total):
            parameter.grad = sum_ / sum(counts)
        optimizer.step()
        scheduler.step()
    return [parameter.detach() for parameter in parameters]


def run(folder):
    with Job(folder, workers=RANKS, servers=SERVERS, shards=SHARDS, block_bytes=BLOCK_BYTES,
             status_file=folder / "status.json") as job:
        job.run("equivalence")
    return [torch.load(folder / f"result.{rank}.pt") for rank in range(RANKS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("first")


@pytest.fixture(scope="module")
def results(folder):
    torch.set_num_threads(1)
    return run(folder)


@pytest.mark.parametrize("case", CASES)
def test_four_workers_equal_one_process(results, case):
    expected = train_in_one_process(case)
    worst = 0.0
    for index, (got, wanted, began) in enumerate(zip(results[0][case], expected, make(case)[0].parameters())):
        difference = ((got - wanted).norm() / wanted.norm()).item()
        worst = max(worst, difference)
        assert difference <= 1e-5, f"{case}, tensor {index}: difference {difference:.2e}"
        assert (wanted - began).norm() > 1e-3 * wanted.norm(), "it must have been trained"
    print(f"{case}: largest difference of a tensor by norm, after {STEPS} steps: {worst:.1e}")


@pytest.mark.usefixtures("results")
def test_the_tables_are_spread_over_all_shards(folder):
    status = json.loads((folder / "status.json").read_text())
    tables = [table["blocks"] for table in status["tables"]]
    assert max(tables) >= SERVERS * SHARDS, "a table must be cut into as many blocks as there are shards"
    held = [shard["figures"]["blocks"] for shard in status["shards"]]
    assert sum(held) == sum(tables) and len(held) == SERVERS * SHARDS
    held_bytes = [shard["figures"]["values_bytes"] for shard in status["shards"]]
    assert max(held_bytes) - min(held_bytes) <= BLOCK_BYTES, (held, held_bytes)


@pytest.mark.parametrize("case", CASES)
def test_all_ranks_hold_the_same_bits(results, case):
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0][case], other[case]))


def test_two_ordered_runs_are_bit_identical(results, tmp_path):
    second = run(tmp_path)
    for case in CASES:
        assert all(torch.equal(a, b) for a, b in zip(results[0][case], second[0][case]))
