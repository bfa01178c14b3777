"""apply="relay": the ranks step with mean gradients. The same bits as torch's DDP, and equal replicas whatever happens to a rank."""

import os
import signal

import pytest
import torch
from checkpointed import ITERATIONS, Training
from job import Job, wait_for_line
from relay_setup import CASES, Lamb, Model, loss

from leeway import plain_state
from leeway.checkpoint import Checkpoint, export_state, import_state
from leeway.errors import InvalidArgument


@pytest.mark.parametrize("workers", [2, 4])
def test_the_ranks_end_as_with_ddp(tmp_path, workers):
    with Job(tmp_path, workers=workers, servers=2, sync="bsp", block_bytes=256) as job:
        job.run("relay")
    results = [torch.load(tmp_path / f"result.{rank}.pt") for rank in range(workers)]
    assert set(results[0]) == {*CASES, "lbfgs"}
    assert results[0]["lbfgs"]["losses"] == results[1]["lbfgs"]["losses"], "the mean loss, on all ranks"
    for case in results[0]:
        for result in results:
            assert all(map(torch.equal, result[case]["relay"], results[0][case]["relay"])), f"{case}: replicas differ"
            assert result[case]["fell"], case
            for index, (got, wanted) in enumerate(zip(result[case]["relay"], result[case].get("ddp", []))):
                if workers == 2:
                    assert torch.equal(got, wanted), f"{case}, tensor {index}: {(got - wanted).norm()}"
                else:
                    assert (got - wanted).norm() <= 1e-5 * wanted.norm(), f"{case}, tensor {index}"


def ends(folder, ranks):
    return [torch.load(folder / f"end.{rank}.pt") for rank in ranks]


def assert_equal(replicas):
    for other in replicas[1:]:
        assert all(map(torch.equal, replicas[0], other)), "replicas differ"


def test_replicas_are_equal_when_a_rank_dies_and_comes_back_and_another_ends_early(tmp_path):
    with Job(tmp_path, workers=3, servers=2, sync="bsp", block_bytes=256) as job:
        staying = job.start_worker(0, "relay_ends", "20", "-1", "waits")
        ending = job.start_worker(2, "relay_ends", "8", "-1", "-")
        job.expect_end([job.start_worker(1, "relay_ends", "20", "5", "-")], code=-signal.SIGKILL)
        wait_for_line(staying.log, "iteration 10")  # the rest goes on
        joining = job.start_worker(1, "relay_ends", "20", "-1", "joins")
        job.expect_end([staying, joining, ending])
        assert "rank 1 has taken the parameters" in joining.log.read_text()
    assert_equal(ends(tmp_path, range(3)))


def test_ranks_with_a_scaler_and_less_data_skip_together_and_end_equal(tmp_path):
    with Job(tmp_path, workers=2, servers=2, sync="bsp") as job:
        job.run("relay_scaled")
    mine, other = (torch.load(tmp_path / f"end.{rank}.pt") for rank in range(2))
    assert mine["scale"] == other["scale"] == 64.0, "rank 1 found an infinity"
    assert mine["moved"] == [True, False, True] and other["moved"] == [True, False, True, True, True]
    assert mine["iterations"] == other["iterations"]
    assert_equal([mine["parameters"], other["parameters"]])


def train_in_one_process(iterations):
    """Computes the batches of both ranks of programs/relay_resumed.py, and steps with the mean."""
    torch.set_num_threads(1)
    model = Model(3, False)
    optimizer = Lamb(model.parameters(), lr=0.02)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + 0.1 * step))
    for step in range(iterations):
        first, second = (torch.autograd.grad(loss(model, rank, step), list(model.parameters())) for rank in range(2))
        for parameter, a, b in zip(model.parameters(), first, second):
            parameter.grad = (a + b) / 2
        optimizer.step()
        schedule.step()
    return [parameter.detach() for parameter in model.parameters()]


def test_after_a_rollback_the_ranks_end_as_undisturbed(tmp_path):
    with Training(tmp_path, "--on-server-loss", "rollback", every=5, pause_s=0.01, program="relay_resumed", apply="relay") as training:
        training.wait_for_checkpoint()
        os.kill(training.role("server", "--server", "1"), signal.SIGKILL)
        training.wait_for(lambda: len(training.began()) > 1, "rollback")
        training.hurry()
        assert training.wait() == 0, training.err()
        assert training.began()[-1] > 0
        newest = Checkpoint(training.checkpoints)
    wanted = train_in_one_process(ITERATIONS)
    assert_equal([wanted, *ends(tmp_path, range(2))])
    # The checkpoint has the parameters in the states of its ranks; the servers have gradients.
    states = [plain_state.decode(newest.rank_state(rank))["own"]["relay"] for rank in newest.manifest["ranks"]]
    assert len(states) == 2
    exported = export_state(newest.path)
    assert set(exported) == {name for name, _ in Model(3, False).named_parameters()}
    for name, tensor in exported.items():
        assert all(torch.equal(tensor, state["tables"][name]) for state in states), name
    with pytest.raises(InvalidArgument, match="load the state_dict in the script"):
        import_state(exported, tmp_path / "imported", newest.path)
