"""leeway run with checkpoints: going on from one, and back to one when a server or the scheduler dies."""

import json
import os
import signal

import numpy as np
import pytest
from checkpointed import Training
from cli_process import leeway

from leeway import checkpoint

@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The result of an undisturbed job, and its last checkpoints."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with Training(folder) as training:
        training.wait_for_checkpoint()  # however slow the disk is
        training.hurry()
        assert training.wait() == 0, training.err()
        assert training.began() == [0]
        finals = training.finals()
    assert np.array_equal(finals[0], finals[1])
    return folder, finals[0]


def test_checkpoints_are_whole_and_the_last_two_stay(undisturbed):
    folder, _ = undisturbed
    found = sorted(path.parent.name for path in (folder / "checkpoints").glob("*/manifest.json"))
    # (The job may end before the third last is removed.)
    assert 2 <= len(found) <= 3, found
    result = leeway("checkpoint", "verify", folder / "checkpoints")
    assert result.returncode == 0, result


def test_a_job_goes_on_from_a_checkpoint_with_another_number_of_servers(undisturbed, tmp_path):
    folder, final = undisturbed
    with Training(tmp_path, "--resume", folder / "checkpoints", servers=3, pause_s=0) as training:
        assert training.wait() == 0, training.err()
        assert training.began()[0] >= 10
        for mine in training.finals():
            assert np.array_equal(mine, final)


def test_a_torn_checkpoint_is_named_and_the_one_before_is_taken(undisturbed, tmp_path):
    folder, final = undisturbed
    newest = sorted((folder / "checkpoints").glob("*/manifest.json"))[-1].parent
    shard = sorted(newest.glob("shard-*.lwc"))[0]
    good = shard.read_bytes()
    spoiled = bytearray(good)
    spoiled[len(spoiled) // 2] ^= 1
    shard.write_bytes(spoiled)
    try:
        with Training(tmp_path, "--resume", folder / "checkpoints", pause_s=0) as training:
            assert training.wait() == 0, training.err()
            assert newest.name in training.err() and "cannot be used" in training.err()
            for mine in training.finals():
                assert np.array_equal(mine, final)
    finally:
        shard.write_bytes(good)


@pytest.mark.parametrize("role", [("server", "--server", "1"), ("scheduler",)], ids=["server", "scheduler"])
def test_under_rollback_the_job_goes_back_to_its_checkpoint_when_a_role_dies(undisturbed, tmp_path, role):
    _, final = undisturbed
    with Training(tmp_path, "--on-server-loss", "rollback", "--scheduler-restarts", 0) as training:
        training.wait_for_checkpoint()
        os.kill(training.role(*role), signal.SIGKILL)
        training.wait_for(lambda: "goes back to" in training.err(), "rollback")
        training.hurry()
        assert training.wait() == 0, training.err()
        began = training.began()
        assert len(began) == 2 and began[1] >= 10, began
        for mine in training.finals():
            assert np.array_equal(mine, final)
        training.expect_nothing_left()
        assert [who for who, _ in training.events("lost")][:1] == [" ".join(word for word in role if word != "--server").strip()]
        assert len(training.events("rollback")) == 1


@pytest.fixture(scope="module")
def resumable(tmp_path_factory):
    """The finals of a script with a state of its own on every rank, and its checkpoints."""
    folder = tmp_path_factory.mktemp("resumable")
    with Training(folder, program="resumable") as training:
        training.wait_for(lambda: any(len(manifest["ranks"]) == 2 for manifest in training.manifests()), "checkpoint of both")
        training.hurry()
        assert training.wait() == 0, training.err()
        return folder, training.finals()


def test_ranks_go_back_with_their_random_state_buffers_schedule_and_sampler(resumable, tmp_path):
    _, finals = resumable
    with Training(tmp_path, "--on-server-loss", "rollback", program="resumable") as training:
        training.wait_for_checkpoint()
        os.kill(training.role("server", "--server", "1"), signal.SIGKILL)
        training.wait_for(lambda: "goes back to" in training.err(), "rollback")
        training.hurry()
        assert training.wait() == 0, training.err()
        began = training.began()
        assert len(began) == 2 and began[1] >= 10, began
        for mine, undisturbed in zip(training.finals(), finals):
            assert np.array_equal(mine, undisturbed)


def newest_of_both(folder):
    """The newest checkpoint with the states of both ranks: at the end of the job one may have left before it was asked."""
    found = sorted((folder / "checkpoints").glob("*/manifest.json"))
    return [path.parent for path in found if len(json.loads(path.read_text())["ranks"]) == 2][-1]


def test_a_resumed_job_ends_as_the_one_that_was_not_interrupted(resumable, tmp_path):
    folder, finals = resumable
    path = newest_of_both(folder)
    manifest = json.loads((path / "manifest.json").read_text())
    assert [rank["rank"] for rank in manifest["ranks"]] == [0, 1]
    assert {rank["iteration"] for rank in manifest["ranks"]} == {manifest["iteration"]}
    with Training(tmp_path, "--resume", path, servers=3, program="resumable", pause_s=0) as training:
        assert training.wait() == 0, training.err()
        assert training.began() == [manifest["iteration"]]
        assert training.err().count("values of 6 parameters that rank 0 has loaded are not used") == 1, training.err()
        for mine, undisturbed in zip(training.finals(), finals):
            assert np.array_equal(mine, undisturbed)


def test_a_diff_names_every_table_and_rank_and_fits_a_terminal(undisturbed):
    folder, _ = undisturbed
    made = sorted(path.parent for path in (folder / "checkpoints").glob("*/manifest.json"))
    told = leeway("checkpoint", "diff", made[-2], made[-1])
    assert told.returncode == 0, told
    lines = told.stdout.splitlines()
    assert lines[:2] == [f"a: {made[-2]}", f"b: {made[-1]}"], lines
    assert max(map(len, lines[2:])) <= 80, told.stdout
    for name in checkpoint.Checkpoint(made[-1]).tables:
        assert sum(line.split()[:1] == [name] for line in lines) == 2, told.stdout


def test_an_export_is_a_whole_state_dict_and_can_be_imported_again(resumable, tmp_path):
    folder, _ = resumable
    newest = newest_of_both(folder)
    state = checkpoint.export_state(newest)
    assert set(state) == {"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var",
                          "1.num_batches_tracked", "4.weight", "4.bias"}
    assert state["1.num_batches_tracked"].item() == checkpoint.Checkpoint(newest).manifest["iteration"]
    state["1.running_mean"] += 1
    made = checkpoint.import_state(state, tmp_path, newest)
    assert leeway("checkpoint", "verify", made).returncode == 0
    assert np.array_equal(checkpoint.export_state(made)["1.running_mean"], state["1.running_mean"])
    assert {oct(path.stat().st_mode & 0o777) for path in made.iterdir()} == {"0o600"}
    assert oct(made.stat().st_mode & 0o777) == "0o700"


def test_a_damaged_state_of_a_rank_is_named_before_anything_starts(resumable, tmp_path):
    folder, _ = resumable
    newest = newest_of_both(folder)
    state = newest / "rank-001.1.state"
    good = state.read_bytes()
    state.write_bytes(good[:100] + bytes([good[100] ^ 1]) + good[101:])
    try:
        result = leeway("checkpoint", "verify", newest)
        assert result.returncode == 1 and "rank-001.1.state: got checksum" in result.stderr, result
        result = leeway("run", "-w", 2, "--resume", newest, "--", "true")
        assert result.returncode != 0 and "rank-001.1.state" in result.stderr, result
    finally:
        state.write_bytes(good)


def test_with_fail_a_dead_server_ends_the_job(tmp_path):
    with Training(tmp_path, "--on-server-loss", "fail") as training:
        training.wait_for_checkpoint()
        os.kill(training.role("server", "--server", "1"), signal.SIGKILL)
        assert training.wait() >= 128
        assert "server 1 ended with" in training.err() and "--resume" in training.err(), training.err()
        training.expect_nothing_left()


@pytest.mark.parametrize("plan", ["patch", "rollback"])
def test_without_a_checkpoint_a_dead_server_ends_the_job_and_says_how_to_get_some(tmp_path, plan):
    with Training(tmp_path, "--on-server-loss", plan, every=0) as training:
        training.wait_for_iteration(20)
        os.kill(training.role("server", "--server", "0"), signal.SIGKILL)
        assert training.wait() >= 128
        assert "server 0 ended with" in training.err() and "--checkpoint-every" in training.err(), training.err()
        training.expect_nothing_left()


def test_checkpoints_of_another_job_in_the_folder_are_not_taken_for_its_own(undisturbed, tmp_path):
    folder, _ = undisturbed
    (tmp_path / "checkpoints").symlink_to(folder / "checkpoints")
    with Training(tmp_path, "--on-server-loss", "rollback", every=100000) as training:
        training.wait_for_iteration(20)
        os.kill(training.role("server", "--server", "0"), signal.SIGKILL)
        assert training.wait() >= 128
        assert "goes back" not in training.err() and "--resume" not in training.err(), training.err()


@pytest.mark.parametrize("flags, words", [
    (["--checkpoint-every", "5"], "--checkpoint-dir"),
    (["--resume", "/no/such/folder"], "--resume"),
    (["--checkpoint-dir", "/proc/no"], "--checkpoint-dir"),
    (["--on-server-loss", "pray"], "patch, rollback or fail"),
    (["--server-restarts", "-1"], "--server-restarts"),
])
def test_flags_that_cannot_work_are_refused_before_anything_starts(flags, words):
    result = leeway("run", "-w", 1, *flags, "--", "true")
    assert 0 < result.returncode < 128 and words in result.stderr, result
