"""Four workers under bsp, summed in rank order, do what one process does with the same four batches."""

import pytest
import torch
import torch.nn.functional as F
from equivalence_setup import CASES, RANKS, STEPS, make, samples, schedule
from job import Job
from models import batch


def train_in_one_process(case, equal):
    """Computes the four batches one after another, weighs their gradients in rank order and steps torch's own optimizer."""
    model, optimizer = make(case)
    scheduler = schedule(optimizer)
    parameters = list(model.parameters())
    for step in range(STEPS):
        counts = [samples(rank, step, equal) for rank in range(RANKS)]
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


def run(folder, weights):
    with Job(folder, workers=RANKS, servers=2, shards=2, block_bytes="16KiB") as job:
        job.run("equivalence", weights, limit_s=90)
    return [torch.load(folder / f"result.{rank}.pt") for rank in range(RANKS)]


@pytest.fixture(scope="module", params=["equal", "unequal"])
def runs(request, tmp_path_factory):
    weights = request.param
    torch.set_num_threads(1)
    return weights, run(tmp_path_factory.mktemp(weights), weights)


@pytest.mark.parametrize("case", CASES)
def test_four_workers_equal_one_process(runs, case):
    weights, results = runs
    expected = train_in_one_process(case, weights == "equal")
    start = make(case)[0].parameters()
    for index, (got, wanted, began) in enumerate(zip(results[0][case], expected, start)):
        difference = ((got - wanted).norm() / wanted.norm()).item()
        assert difference <= 1e-5, f"{case}, tensor {index}: difference {difference:.2e}"
        assert (wanted - began).norm() > 1e-3 * wanted.norm(), "it must have been trained"


@pytest.mark.parametrize("case", CASES)
def test_all_ranks_hold_the_same_bits(runs, case):
    for other in runs[1][1:]:
        assert all(torch.equal(a, b) for a, b in zip(runs[1][0][case], other[case]))


def test_two_ordered_runs_are_bit_identical(runs, tmp_path):
    weights, first = runs
    if weights == "equal":
        pytest.skip("the unequal weights are the harder case; once is enough")
    second = run(tmp_path, weights)
    for case in CASES:
        assert all(torch.equal(a, b) for a, b in zip(first[0][case], second[0][case]))
