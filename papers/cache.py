"""The finished cells on disk: one file for each resolved scenario, seed and program. A cell that did not end well is not kept."""

import hashlib
import json
import os
from pathlib import Path


class Cache:
    def __init__(self, folder, program):
        self.folder = Path(folder)
        self._program = program

    def key(self, scenario, seed):
        return hashlib.sha256(f"{scenario}\0{seed}\0{self._program}".encode()).hexdigest()

    def get(self, key):
        """The run, or None: not there, or not whole."""
        try:
            run = json.loads((self.folder / f"{key}.json").read_text(encoding="utf-8"))["run"]
        except (OSError, ValueError, LookupError, TypeError):
            return None
        return run if isinstance(run, dict) else None

    def put(self, key, scenario, seed, wall_s, run):
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{key}.json"
        # By a rename: a file is whole or not there.
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps({"scenario": scenario, "seed": seed, "wall_s": round(wall_s, 3), "run": run}), encoding="utf-8")
        beside.replace(path)
