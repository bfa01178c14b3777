"""The folder of checkpoints: nobody else reads it, one job has it at a time, and removed files give their room back."""

import contextlib
import os
import re
import signal
import socket
import stat

import pytest
from checkpointed import Training


def modes(folder):
    """Of the folder and of all that is in it, by path."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            found[path] = path.lstat().st_mode
    return found


def expect_private(found):
    for path, mode in found.items():
        wanted = 0o700 if stat.S_ISDIR(mode) else 0o600
        assert stat.S_IMODE(mode) == wanted, f"{path}: {stat.S_IMODE(mode):o}"


@pytest.mark.parametrize("mask", [0o022, 0o000], ids=["022", "000"])
def test_nobody_else_may_read_or_write_what_a_job_keeps(tmp_path, mask):
    before = os.umask(mask)
    try:
        training = Training(tmp_path)
    finally:
        os.umask(before)
    with training:
        training.wait_for(lambda: any(manifest["ranks"] for manifest in training.manifests()), "checkpoint with a state")
        log = next(training.temporary.iterdir())
        assert stat.S_IMODE(log.stat().st_mode) == 0o700, "the launcher's own folder"
        kept = modes(log / "scheduler.log")
        assert {path.name for path in kept} >= {"scheduler.log", "scheduler.lock"}, kept
        expect_private(kept)
        training.hurry()
        assert training.wait() == 0, training.err()
        kept = modes(training.checkpoints)
        names = {re.sub(r"\d+", "N", path.name) for path in kept}
        assert names >= {"checkpoints", "checkpoints.lock", "checkpoint-N", "shard-N.lwc", "rank-N.N.state", "manifest.json"}
        expect_private(kept)


def test_a_link_in_the_way_is_named_and_costs_the_checkpoint_not_what_it_leads_to(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    victim = outside / "victim"
    victim.write_text("theirs")
    with Training(tmp_path, iterations=100000) as training:
        training.wait_for_checkpoint()
        newest = max(manifest["checkpoint"] for manifest in training.manifests())
        links = {"": [], "shard-000.lwc": [], "manifest.json.tmp": []}  # by what of a checkpoint they stand for
        # Each twice: a checkpoint that comes too late for its iteration is followed by the next before it is written.
        for at, name in enumerate([*links, *links]):
            folder = training.checkpoints / f"checkpoint-{newest + 3 + at:08}"
            if name:
                folder.mkdir()
            link = folder / name if name else folder
            link.symlink_to(victim if name else outside)
            links[name].append(link)

        def given_up(name):
            return any(re.search(rf'checkpoint \d+ was given up: .*"{re.escape(str(link))}" is a symbolic link', training.err())
                       for link in links[name])

        for name in links:
            training.wait_for(lambda name=name: given_up(name), f"refusal of a link for {name or 'the folder'}")
        training.wait_for(lambda: any(manifest["checkpoint"] >= newest + 9 for manifest in training.manifests()),
                          "checkpoint after the links")
        training.process.send_signal(signal.SIGINT)
        training.wait()
    assert victim.read_text() == "theirs"
    assert [path.name for path in outside.iterdir()] == ["victim"]


def test_a_link_that_the_user_gave_is_the_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "checkpoints").symlink_to("real")
    with Training(tmp_path) as training:
        training.wait_for_checkpoint()
        training.hurry()
        assert training.wait() == 0, training.err()
    assert list((tmp_path / "real").glob("*/manifest.json"))
    resumed = tmp_path / "resumed"
    resumed.mkdir()
    with Training(resumed, "--resume", tmp_path / "checkpoints", pause_s=0) as training:
        assert training.wait() == 0, training.err()
        assert training.began()[0] >= 10


def test_a_folder_is_one_jobs_at_a_time(tmp_path):
    with Training(tmp_path, iterations=100000) as first:
        first.wait_for_checkpoint()
        holder = f'pid {first.role("scheduler")} on host "{socket.gethostname()}"'
        other = tmp_path / "other"
        other.mkdir()
        for flags, words in [(["--checkpoint-dir", first.checkpoints], "another --checkpoint-dir"),
                             (["--resume", first.checkpoints], "copy the checkpoint")]:
            with Training(other, *flags, every=0) as second:
                code = second.wait()
                said = second.out() + second.err()
                assert 0 < code < 128, said
                assert str(first.checkpoints) in said and holder in said and words in said, said
                second.expect_nothing_left()
        # It goes on with its own, also after its scheduler was started again.
        newest = max(manifest["checkpoint"] for manifest in first.manifests())
        os.kill(first.role("scheduler"), signal.SIGKILL)
        first.wait_for(lambda: any(manifest["checkpoint"] > newest + 2 for manifest in first.manifests()),
                       "checkpoint after the restart")
        first.process.send_signal(signal.SIGINT)
        first.wait()
    again = tmp_path / "again"
    again.mkdir()
    with Training(again, "--resume", first.checkpoints, "--checkpoint-dir", first.checkpoints, every=0, pause_s=0,
                  iterations=10) as third:
        assert third.wait() == 0, third.err()


def deleted_files(training):
    """Files below the folder of checkpoints that a process of the job has open though they are gone."""
    found = []
    for pid in training.family():
        with contextlib.suppress(OSError):  # it ends meanwhile
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
                    if target.startswith(str(training.checkpoints.resolve())) and target.endswith(" (deleted)"):
                        found.append(target)
    return found


def test_checkpoints_that_were_removed_give_their_room_back(tmp_path):
    with Training(tmp_path, "--checkpoint-keep", 1, iterations=100000) as training:
        training.wait_for(lambda: any(manifest["checkpoint"] > 5 for manifest in training.manifests()), "sixth checkpoint")
        # (One that is being written when it is given up is open until its writer comes to its end.)
        training.wait_for(lambda: not deleted_files(training), "disk space")
        training.process.send_signal(signal.SIGINT)
        training.wait()
