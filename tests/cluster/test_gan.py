"""Two optimizers in one script, as GANs have them, with nothing but the usual lines: two ranks against plain torch."""

import json

import pytest
import torch
from gan_loops import LOOPS
from job import Job

RANKS = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("gan")


@pytest.fixture(scope="module")
def results(folder):
    with Job(folder, workers=RANKS, servers=2, status_file=folder / "status.json") as job:
        job.run("gan")
    return [torch.load(folder / f"result.{rank}.pt") for rank in range(RANKS)]


def train_in_one_process(kind):
    """One copy of the models for each rank; each step takes the mean of all copies' gradients."""
    make_models, make_optimizers, loop = LOOPS[kind]
    copies = [make_models() for _ in range(RANKS)]
    optimizers = [make_optimizers(models) for models in copies]
    for names in zip(*(loop(models, rank) for rank, models in enumerate(copies))):
        for same in zip(*(models[names[0]].parameters() for models in copies)):
            mean = sum(parameter.grad for parameter in same) / RANKS
            for parameter in same:
                parameter.grad.copy_(mean)
        for mine, name in zip(optimizers, names):
            mine[name].step()
    return {f"{kind} {name}": [p.detach() for p in model.parameters()] for name, model in copies[0].items()}


@pytest.mark.parametrize("kind", LOOPS)
def test_two_ranks_train_a_gan_as_plain_torch_does(results, kind):
    torch.set_num_threads(1)
    began = LOOPS[kind][0]()
    for name, wanted in train_in_one_process(kind).items():
        for got, other, expected, first in zip(results[0][name], results[1][name], wanted, began[name.split()[1]].parameters()):
            assert torch.equal(got, other), f"{name}: the ranks must agree"
            assert (got - expected).norm() <= 1e-4 * (expected - first).norm(), f"{name}: {(got - expected).norm()}"


@pytest.mark.usefixtures("results")
def test_models_with_the_same_names_have_tables_of_their_own(folder):
    names = [table["name"] for table in json.loads((folder / "status.json").read_text())["tables"]]
    assert [name for name in names if name.endswith("3.weight")] == ["3.weight", "optimizer1.3.weight"]
    assert len(set(names)) == len(names)
