"""A folder of papers with one small paper, a stand-in for the program, and papers.py as a process."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HANG_S = 300
sys.path.insert(0, str(ROOT / "papers"))

CLUSTER = "[compute]\nbase_s = 0.5\n"
SCENARIO = 'include = "../../clusters/c.toml"\niterations = 10\n'
ITEM = """title = "Table 1: a table"
texts = ["A text."]
sweeps = ["policies.sync=bsp;asp"]
labels = ["BSP", "ASP"]
seeds = 2
figures = ["seconds", "dprs"]
plots = []
directions = [{ what = "ASP over BSP", figure = "seconds", of = "ASP", over = "BSP", paper = 0.5 }]

[paper]
seconds = [20, 10]

[quick]
iterations = 2
seeds = 1
"""


class Bench:
    """The folder, and what runs in it."""

    def __init__(self, folder):
        self.folder = folder
        self.papers = folder / "papers"
        self.log = folder / "log"
        self.program = folder / "leeway"
        self.write("clusters/c.toml", CLUSTER)
        self.write("mine/paper.toml", 'title = "Mine"\n')
        self.write("mine/scenarios/table1.toml", SCENARIO)
        self.write("mine/items/table1.toml", ITEM)
        self.write_program()

    def write(self, path, text):
        path = self.papers / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write_program(self, comment=""):
        stand_in = (Path(__file__).parent / "stand_in.py").read_text()
        self.program.write_text(f"#!{sys.executable} -B\n{stand_in}# {comment}\n")
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    def command(self, *words):
        return [sys.executable, "-B", str(ROOT / "papers" / "papers.py"), *map(str, words), "--papers", str(self.papers),
                "--leeway", str(self.program), "--cache", str(self.folder / "cells"), "--out", str(self.folder / "out")]

    def run(self, *words, **variables):
        return subprocess.run(self.command(*words), capture_output=True, text=True, timeout=HANG_S, check=False,
                              stdin=subprocess.DEVNULL, env=self.environment(**variables))

    def environment(self, **variables):
        return {**os.environ, "STAND_IN_LOG": str(self.log), **variables}

    def started(self):
        """The runs that the program has begun, dry ones apart."""
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)
