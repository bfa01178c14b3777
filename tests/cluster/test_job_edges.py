"""leeway run at the edges of a job's life: signals and deaths before the first table has values, and after the last worker has
its results."""

import contextlib
import json
import os
import re
import signal
import sys
import time

from cli_process import Leeway
from job import PROGRAMS

PARTS = ["join", "define", "set", "train", "finish", "leave", "end"]
ITERATIONS, LONG = 20, 1_000_000


class Gated(Leeway):
    """A job of programs/gates.py: two workers, two servers."""

    def __init__(self, folder, *flags, iterations=ITERATIONS, checkpoints=False):
        folder.mkdir(exist_ok=True)
        self.checkpoints = folder / "checkpoints"
        self.summary_file = folder / "summary.json"
        where = ["--checkpoint-dir", self.checkpoints] if checkpoints else []
        super().__init__(folder, "run", "-w", 2, "-s", 2, "--block-bytes", 400, "--summary-json", self.summary_file, *where,
                         *flags, "--", sys.executable, PROGRAMS / "gates.py", folder, iterations)

    def open(self, *parts):
        for part in parts:
            (self.folder / part).touch()

    def open_before(self, part):
        """All that comes before it; then waits until both workers are there."""
        self.open(*PARTS[:PARTS.index(part)])
        self.wait_for(lambda: all(f"[w{rank}] before {part}" in self.out() for rank in range(2)), part)

    def wait_until_trained(self, *ranks):
        """Until the launcher knows that these ranks have trained: it tells when it gets SIGQUIT."""
        def told():
            os.kill(self.process.pid, signal.SIGQUIT)
            time.sleep(0.1)
            return all(re.search(rf"w{rank} +{ITERATIONS} ", self.err()) for rank in ranks)

        self.wait_for(told, "status")

    def server(self, index):
        for pid in self.family():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/cmdline", "rb") as file:  # a zombie has none
                words = file.read().decode().split("\0")
                if words[1] == "server" and words[words.index("--server") + 1] == str(index):
                    return pid
        return None

    def kill_server(self, index):
        os.kill(self.server(index), signal.SIGKILL)

    def manifests(self):
        return list(self.checkpoints.glob("*/manifest.json"))

    def events(self, kind):
        return [event["who"] for event in json.loads(self.summary_file.read_text())["events"] if event["kind"] == kind]


@contextlib.contextmanager
def at_once(*jobs):
    """Jobs that run at the same time: what these tests do is wait."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(job) for job in jobs]


def test_sigterm_before_the_first_table_waits_for_it_and_ends_after_a_checkpoint(tmp_path):
    with Gated(tmp_path, "--grace", "5m", iterations=LONG, checkpoints=True) as job:
        job.open_before("define")
        os.kill(job.process.pid, signal.SIGTERM)
        job.wait_for(lambda: "ends after a checkpoint" in job.err(), "drain")
        job.open("define", "set", "train")
        assert job.wait() == 143, job.err()
        assert "stopped by SIGTERM, after a checkpoint" in job.err() and "leeway run --resume" in job.err(), job.err()
        assert len(job.manifests()) == 1
        assert "fuzzy" not in job.err(), "under bsp it is consistent"
        job.expect_nothing_left()


def test_sigterm_before_anything_was_trained_says_that_there_is_nothing_to_keep(tmp_path):
    with at_once(Gated(tmp_path / "gathering", "--grace", "6s", checkpoints=True),
                 Gated(tmp_path / "begun", "--grace", "6s", checkpoints=True)) as jobs:
        for job, part in zip(jobs, ["join", "define"]):
            job.open_before(part)
            os.kill(job.process.pid, signal.SIGTERM)
        for job in jobs:
            assert job.wait() == 143, job.err()
            assert "stopped by SIGTERM, with nothing to keep" in job.err(), job.err()
            assert not job.manifests() and "--resume" not in job.err()
            job.expect_nothing_left()


def test_a_server_that_dies_before_any_table_has_values_is_started_again(tmp_path):
    parts = ["join", "define", "set"]
    with at_once(*(Gated(tmp_path / part) for part in parts)) as jobs:
        killed = []
        for job, part in zip(jobs, parts):
            job.open_before(part)
            job.wait_for(lambda: job.server(1), "server 1")
            killed.append(job.server(1))
            job.kill_server(1)
        for job, before in zip(jobs, killed):
            job.wait_for(lambda: job.server(1) not in (None, before), "another server 1")
            job.open(*PARTS)
        for job in jobs:
            assert job.wait() == 0, job.err()
            assert job.out().count(f"final {ITERATIONS:.1f} to {ITERATIONS:.1f}") == 2, job.out()
            assert job.events("lost") == job.events("restart") == ["server 1"]
            job.expect_nothing_left()


def test_a_server_that_dies_with_initial_values_that_no_checkpoint_holds_ends_the_job(tmp_path):
    with Gated(tmp_path) as job:
        job.open_before("train")
        job.kill_server(1)
        job.wait_for(lambda: "was lost with values that workers had set or read" in job.err(), "decision")
        job.open(*PARTS)  # the workers hear of it in their next call
        assert job.wait() >= 128, job.err()
        job.expect_nothing_left()


def test_a_server_that_dies_when_every_rank_has_its_results_harms_nobody(tmp_path):
    names = ["patch before", "patch after", "fail before", "fail after"]
    flags = ["--expel-after", "5m"]  # a server that is stopped is not missed, however long the others take to leave
    with at_once(*(Gated(tmp_path / name, "--on-server-loss", name.split()[0], *flags) for name in names)) as jobs:
        for job, name in zip(jobs, names):
            job.open_before("leave")
            if "before" in name:
                job.kill_server(1)
                job.wait_for(lambda: "needs it no more" in job.err(), "word of the death")
            else:  # ... they have left the job
                os.kill(job.server(1), signal.SIGSTOP)  # or it would end by itself before it can be killed
                job.open_before("end")
                job.kill_server(1)
            job.open(*PARTS)
        for job in jobs:
            assert job.wait() == 0, job.err()
            assert job.out().count(f"final {ITERATIONS:.1f} to {ITERATIONS:.1f}") == 2, job.out()
            assert job.events("lost") == ["server 1"] and job.events("restart") == []
            job.expect_nothing_left()


def test_a_server_that_dies_while_a_rank_waits_for_its_results_ends_the_job(tmp_path):
    with Gated(tmp_path, "--sync", "asp") as job:
        job.open_before("finish")
        job.open("finish.0")
        job.wait_until_trained(0, 1)
        job.kill_server(1)
        assert job.wait() == 137, job.err()
        assert "there is no checkpoint to restore its blocks from" in job.err(), job.err()
        job.expect_nothing_left()


def test_what_was_decided_without_a_checkpoint_does_not_end_with_the_name_of_one(tmp_path):
    """One becomes whole between the decision and the end of the job."""
    with Gated(tmp_path, checkpoints=True) as job:
        job.open("stay")  # SIGTERM leaves the workers there for a while
        job.open_before("finish")
        job.wait_until_trained(0, 1)
        job.kill_server(1)
        job.wait_for(lambda: "no whole checkpoint yet" in job.err(), "decision")
        (job.checkpoints / "checkpoint-00000001").mkdir()
        (job.checkpoints / "checkpoint-00000001" / "manifest.json").write_text("{}")
        (tmp_path / "stay").unlink()
        assert job.wait() == 137, job.err()
        assert "--resume" not in job.err() and "before its first one was whole" in job.err(), job.err()
        job.expect_nothing_left()


def test_a_fuzzy_checkpoint_is_called_one_wherever_it_is_named(tmp_path):
    flags = ["--sync", "asp"]
    with Gated(tmp_path / "first", *flags, iterations=LONG, checkpoints=True) as job:
        job.open(*PARTS)
        job.wait_for(lambda: "[w1] before train" in job.out(), "training")
        os.kill(job.process.pid, signal.SIGUSR1)
        job.wait_for(lambda: "is at" in job.err(), "checkpoint")
        os.kill(job.process.pid, signal.SIGTERM)
        assert job.wait() == 143, job.err()
        lines = job.err().splitlines()
        named = [line for line in lines if "is at" in line or "leeway run --resume" in line]
        assert len(named) == 3 and all("fuzzy: its blocks are of different moments" in line for line in named), job.err()
        checkpoints = job.checkpoints
    with Gated(tmp_path / "second", *flags, "--resume", checkpoints) as job:
        job.open(*PARTS)
        assert job.wait() == 0, job.err()
        assert f"goes on from checkpoint {checkpoints}" in job.err() and "fuzzy" in job.err(), job.err()
