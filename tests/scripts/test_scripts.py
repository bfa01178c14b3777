"""Plain PyTorch scripts, and the same with the lines of Leeway that a patch adds.

Alone they do what plain torch does. Two workers under bsp do what one process does that computes the batches of both. Under ssp
and asp they end, with equal values, and learn.
"""

import os
import subprocess
import sys
from pathlib import Path

import both_batches
import pytest
import torch
from job import Job

FOLDER = Path(__file__).resolve().parent
SCRIPTS = ("batchnorm", "gan", "lstm", "reinforce", "transformer", "vae")
RANKS = 2
LONG = os.environ.get("LEEWAY_LONG") == "1"
# The other pairs take as long again, and differ by the models of tests/sync alone.
LOOSE = [(name, sync) for name in SCRIPTS for sync in ("ssp:2", "asp") if LONG or (name, sync) in (("gan", "asp"), ("lstm", "ssp:2"))]


@pytest.fixture(autouse=True)
def as_before():
    torch.set_num_threads(1)
    yield
    torch.set_default_dtype(torch.float32)


def patched(name, folder):
    """Returns the path of the script with its patch."""
    path = folder / f"{name}_with_leeway.py"
    subprocess.run(["patch", "--silent", "-o", path, FOLDER / f"{name}.py", FOLDER / f"{name}.patch"], check=True)
    return path


def run_here(path, folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(path), str(folder)])
    exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
    torch.set_default_dtype(torch.float32)


def result(folder, rank=None):
    return torch.load(folder / ("result.pt" if rank is None else f"result.{rank}.pt"))


def assert_close(got, wanted, tolerance):
    assert got.keys() == wanted.keys()
    for name, value in wanted.items():
        difference = (got[name].double() - value.double()).norm().item()
        assert difference <= tolerance * max(value.double().norm().item(), 1e-2), f"{name}: {difference:.1e}"


def assert_learns(losses):
    third = len(losses) // 3
    assert sum(losses[-third:]) < sum(losses[:third]) - 0.1 * third, losses


@pytest.mark.parametrize("name", SCRIPTS)
def test_alone_a_script_does_what_plain_torch_does(tmp_path, monkeypatch, name):
    run_here(FOLDER / f"{name}.py", tmp_path, monkeypatch)
    run_here(patched(name, tmp_path), tmp_path, monkeypatch)
    plain, alone = result(tmp_path), result(tmp_path, 0)
    assert_learns(plain["losses"])
    assert alone["losses"] == pytest.approx(plain["losses"], rel=1e-3, abs=1e-4)
    assert_close(alone["values"], plain["values"], 1e-4)


@pytest.mark.parametrize("name", SCRIPTS)
def test_two_workers_do_what_one_process_does_with_both_batches(tmp_path, name):
    path, one = patched(name, tmp_path), tmp_path / "one"
    one.mkdir()
    both_batches.run(compile(path.read_text(), str(path), "exec"), path, one, RANKS)
    torch.set_default_dtype(torch.float32)
    with Job(tmp_path, workers=RANKS, servers=1, sync="bsp", apply="aggregate:reduce=ordered") as job:
        job.run(path.with_suffix(""))
    mine, other = result(tmp_path, 0), result(tmp_path, 1)
    copies = [result(one, rank)["values"] for rank in range(RANKS)]
    wanted = {key: (copies[0][key].double() + copies[1][key].double()) / RANKS if value.is_floating_point() else value
              for key, value in copies[0].items()}
    assert all(torch.equal(value, other["values"][key]) for key, value in mine["values"].items())
    assert_close(mine["values"], wanted, 1e-3)


@pytest.mark.parametrize("name, sync", LOOSE)
def test_under_other_models_a_script_ends_and_learns(tmp_path, name, sync):
    with Job(tmp_path, workers=RANKS, servers=1, sync=sync) as job:
        job.run(patched(name, tmp_path).with_suffix(""))
    mine, other = result(tmp_path, 0), result(tmp_path, 1)
    assert all(torch.equal(value, other["values"][key]) for key, value in mine["values"].items())
    assert_learns(mine["losses"])
