"""Synchronization by rules and job files, and switched while a job trains: by leeway ctl and by lw.set_sync()."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_process import Leeway, leeway
from job import BUILD, PROGRAMS

MODELS = ["ssp:3", "drop:2", "pssp:2,0.5", "asp", "psp:2,20", "dssp:1,4", "bsp"]


class Training(Leeway):
    """Three workers that train the tables fc1 and conv1 on two servers until the test ends it."""

    def __init__(self, folder, *flags, models=()):
        self.summary_file = folder / "summary.json"
        # Round robin gives every server a block of each table, which rules by server need here.
        super().__init__(folder, "run", "--block-bytes", "4KiB", "--placement", "round_robin",
                         "--summary-json", self.summary_file, *flags, "--", sys.executable, PROGRAMS / "set_sync.py",
                         folder, *models)

    @property
    def where(self):
        files = list(self.temporary.glob("*/scheduler.address"))
        assert len(files) == 1, (files, self.err())
        return f"file:{files[0]}"

    def ctl(self, *args):
        return leeway("ctl", *args, "--scheduler", self.where, "--secret-file", self.secret_file)

    @property
    def secret_file(self):
        return Path(self.where.removeprefix("file:")).parent / "secret"

    def status(self):
        told = self.ctl("status", "--json")
        assert told.returncode == 0, (told, self.err())
        return json.loads(told.stdout)

    def wait_for_tables(self):
        def placed():
            if not list(self.temporary.glob("*/scheduler.address")):
                return False
            told = self.ctl("status", "--json")
            return told.returncode == 0 and len(json.loads(told.stdout)["tables"]) == 2
        self.wait_for(placed, "tables")

    def expect_progress(self, iterations=15, limit_s=240):
        """Every worker goes on."""
        def slowest():
            return min(worker["iteration"] for worker in self.status()["workers"])
        begin = slowest()
        self.wait_for(lambda: slowest() >= begin + iterations, f"progress from iteration {begin}", limit_s)

    def models(self):
        """(table, server) -> model that the blocks follow, as the servers say with every beat."""
        return {(table["name"], row["server"]): row["sync"]
                for table in self.status()["tables"] for row in table["servers"]}

    def wait_for_model(self, table, server, model):
        """The blocks follow it: what the scheduler knows does not count."""
        self.wait_for(lambda: self.models().get((table, server)) == model, f"{model} of {table} on server {server}")

    def stop(self):
        (self.folder / "stop").touch()
        assert self.wait() == 0, self.err()
        self.expect_nothing_left()


def test_ctl_switches_a_running_job_through_the_models(tmp_path):
    with Training(tmp_path, "-w", 3, "-s", 2) as training:
        training.wait_for_tables()
        for model in MODELS:
            set_to = training.ctl("set-sync", "tables=fc*", "server=1", f"sync={model}")
            assert set_to.returncode == 0 and "1 table" in set_to.stdout, set_to
            training.expect_progress()
            training.wait_for_model("fc1", 1, model)
            for untouched in (("fc1", 0), ("conv1", 1)):
                training.wait_for_model(*untouched, "bsp")
        formula = 'sync=when:pull="progress < v_train + s",push="count >= workers",s=2'
        assert training.ctl("set-sync", formula).returncode == 0
        training.expect_progress()
        training.wait_for(lambda: set(training.models().values()) == {formula.removeprefix("sync=")}, "the formula")

        before = training.models()
        for rule, code, wanted in [(["sync=drop:9"], 2, "got a job of 3"),
                                   (["sync=pssp:3,0.5", "apply=aggregate"], 2, "use immediate"),
                                   (["tables=lstm*", "sync=bsp"], 3, "it has 2: fc1, conv1"),
                                   (["server=2", "sync=bsp"], 2, "wanted 0 to 1"),
                                   (["sync=bpp"], 2, 'did you mean "bsp"'),
                                   (['sync=when:pull="progres < 2",push="count >= workers"'], 2, "progress")]:
            refused = training.ctl("set-sync", *rule)
            assert refused.returncode == code and wanted in refused.stderr, (rule, refused)
        assert training.models() == before
        training.expect_progress()

        text = training.ctl("status").stdout
        assert re.search(r"^  fc1 +s0-1 +when:", text, re.MULTILINE), text
        watch = subprocess.Popen([BUILD / "leeway", "ctl", "status", "--watch", "100ms", "--json", "--scheduler",
                                  training.where, "--secret-file", training.secret_file], stdout=subprocess.PIPE, text=True)
        try:
            seen = [json.loads(watch.stdout.readline()) for _ in range(3)]
            assert seen[2]["uptime_s"] > seen[0]["uptime_s"]
        finally:
            watch.kill()
            watch.wait()
        training.stop()
        account = json.loads(training.summary_file.read_text())["account"]
        assert account["dpr"] > 0 and account["switches"] > 0 and account["staleness_counts"], account
        assert re.search(r"^  staleness +mean .* versions", training.out(), re.MULTILINE), training.out()


def test_a_worker_switches_the_job(tmp_path):
    models = ["ssp:2", "drop:9", "drop:2", "asp", "bsp:late=sometimes", "bsp"]
    with Training(tmp_path, "-w", 3, "-s", 2, models=models) as training:
        assert training.wait() == 0, training.err()
        out = training.out()
        for model in models:
            if model in ("drop:9", "bsp:late=sometimes"):
                assert f"refused {model}" in out, out
            else:
                assert f"set {model}: 1 tables" in out, out
        assert "needs 9 workers, got a job of 3" in out, out
        assert out.count("made ") == 3
        training.expect_nothing_left()


def test_a_refused_rule_of_a_worker_leaves_the_model_as_it_was(tmp_path):
    with Training(tmp_path, "-w", 3, "-s", 2, models=["ssp:2"] + ["drop:9"] * 5000) as training:
        training.wait_for_tables()

        def refusals():
            return training.out().count("refused drop:9")
        training.wait_for(lambda: refusals() >= 1, "a refusal")
        training.wait_for_model("fc1", 1, "ssp:2")
        before = refusals()
        began = time.monotonic()
        training.wait_for(lambda: refusals() >= before + 5 and time.monotonic() - began > 2.5, "refusals over two beats")
        assert training.models()["fc1", 1] == "ssp:2"
        training.stop()


def test_a_rule_that_was_set_outlives_the_job_in_its_checkpoint(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    checkpoints = tmp_path / "checkpoints"
    with Training(first, "-w", 3, "-s", 2, "--checkpoint-dir", checkpoints) as training:
        training.wait_for_tables()
        assert training.ctl("set-sync", "tables=fc*", "sync=ssp:2").returncode == 0
        training.expect_progress()
        assert training.ctl("checkpoint", "--wait").returncode == 0
        training.stop()
    with Training(second, "-w", 3, "-s", 2, "--resume", checkpoints) as training:
        training.wait_for_tables()
        training.wait_for_model("fc1", 1, "ssp:2")
        assert training.models()["conv1", 1] == "bsp"
        assert training.status()["rules"] == ["tables=fc* sync=ssp:2"]
        training.stop()


def test_a_job_file_gives_every_server_its_model(tmp_path):
    file = tmp_path / "job.toml"
    file.write_text('workers = 2\nservers = 3\nsync = "bsp"\n'
                    '[[rule]]\nserver = 0\nsync = "ssp:2"\n'
                    '[[rule]]\nserver = 1\nsync = "pssp:2,0.5"\n'
                    '[[rule]]\nserver = 2\nsync = "drop:2"\n')
    with Training(tmp_path, "--job-file", file, "-w", 3, "--rule", "tables=conv* server=2 sync=asp") as training:
        training.wait_for_tables()
        training.expect_progress()
        for (table, server), model in {("fc1", 0): "ssp:2", ("fc1", 1): "pssp:2,0.5", ("fc1", 2): "drop:2",
                                       ("conv1", 0): "ssp:2", ("conv1", 1): "pssp:2,0.5", ("conv1", 2): "asp"}.items():
            training.wait_for_model(table, server, model)
        status = training.status()
        assert len(status["workers"]) == 3, "flags win"
        assert len(status["rules"]) == 4
        training.stop()


@pytest.mark.parametrize("text, wanted", [
    ('workers = 2\nsnyc = "bsp"\n', 'line 2: unknown key "snyc" (did you mean "sync"?)'),
    ('workers = "2"\n', 'line 1: workers: got text "2", wanted a whole number'),
    ('workers = 2\nworkers = \n', "line 2"),
    ('[[rule]]\nsync = "drop:9"\n', 'job.toml line 1: rule: rule "sync=drop:9": sync "drop:9" needs 9 workers'),
    ('[[rule]]\nserver = 4\nsync = "bsp"\n', "got server 4, wanted 0 to 0"),
    ('sync = "asp"\n[[rule]]\napply = "aggregate"\n', 'job.toml line 2: rule: rule "apply=aggregate"'),
    ('workers = 2\nsync = "drop:9"\n', "job.toml line 2: sync: "),
    ('sync = "asp"\napply = "aggregate"\n', "job.toml line 2: apply with "),
    ('[[rule]]\ntables = "fc*"\nsync = "bpp"\n', 'did you mean "bsp"'),
])
def test_a_wrong_job_file_is_refused_before_anything_starts(tmp_path, text, wanted):
    file = tmp_path / "job.toml"
    file.write_text(text)
    for command in (["run", "--job-file", file, "--", "true"], ["scheduler", "--job-file", file]):
        refused = leeway(*command)
        assert refused.returncode == 2 and wanted in refused.stderr, refused


def test_wrong_flags_are_refused_before_anything_starts():
    for flags, wanted in [(["--rule", "sync=bsp", "--rule", "sync=drop:9"], '--rule: rule "sync=drop:9"'),
                          (["--rule", "apply=bogus"], 'rule "apply=bogus"'),
                          (["--sync", "asp", "--rule", "apply=aggregate"], 'rule "apply=aggregate"'),
                          (["--rule", "tabels=fc* sync=bsp"], 'did you mean "tables"'),
                          (["--pull", "partial:1.5,50"], "--pull"),
                          (["--exchange", "evry:2"], 'did you mean "every"'),
                          (["--job", "job.toml"], "--job-file job.toml")]:
        refused = leeway("run", *flags, "--", "true")
        assert refused.returncode == 2 and wanted in refused.stderr, (flags, refused)
    absent = leeway("run", "--job-file", "/no/such/file", "--", "true")
    assert absent.returncode == 3 and "/no/such/file" in absent.stderr, absent
    assert "tables=" in leeway("ctl", "set-sync", "--help").stdout
    assert "--rule" in leeway("run", "--help").stdout
