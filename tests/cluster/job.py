"""Job: a scheduler, servers and Python workers as real processes on this machine, for one test."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

BUILD = Path(os.environ.get("LEEWAY_BUILD", Path(__file__).resolve().parents[2] / "build"))
PROGRAMS = Path(__file__).resolve().parent / "programs"
# Ends a test that hangs. It judges nothing: a busy machine may take long for anything.
HANG_S = 300


def make_secret(path):
    """A file with a new secret, as docs/cli.md says to make one."""
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
        file.write(os.urandom(32).hex() + "\n")
    return path


class Job:
    """Starts its processes at once; use it in a with statement. None of them ever outlives it."""

    def __init__(self, folder, workers=1, servers=1, shards=1, server_flags=(), server_address_space=None, **options):
        """`server_address_space`: bytes, as ulimit -v gives them to every server."""
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.workers = workers
        self._processes = []
        address_file = self.folder / "scheduler"
        self.secret_file = make_secret(self.folder / "job.secret")
        self.scheduler = f"file:{address_file}"
        # A busy machine may need longer than the default for workers to import torch.
        options = {"gather_timeout": f"{HANG_S}s", **options}
        flags = [word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", str(value))]
        self._start("scheduler", [BUILD / "leeway", "scheduler", "--address-file", address_file, "--secret-file",
                                  self.secret_file, "--workers", workers, "--servers", servers, "--shards", shards, *flags])
        self._shards = shards
        for server in range(servers):
            self.start_server(server, *server_flags, address_space=server_address_space)

    def _start(self, who, command, env=None, address_space=None):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

        log = self.folder / f"{who.replace(' ', '-')}.log"
        with open(log, "wb") as out:
            process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL, env=env,
                                       preexec_fn=limit if address_space is not None else None)
        process.who, process.log = who, log
        self._processes.append(process)
        return process

    def start_server(self, server, *flags, who=None, address_space=None):
        return self._start(who or f"server {server}", [BUILD / "leeway", "server", "--scheduler", self.scheduler,
                                                       "--secret-file", self.secret_file, "--server", server, "--shards",
                                                       self._shards, *flags],
                           address_space=address_space)

    def start_worker(self, rank, program, *args, scheduler=None, **variables):
        """Starts programs/<program>.py with the job's folder and `args`."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("LEEWAY_")}
        env.update(LEEWAY_SCHEDULER=scheduler or self.scheduler, LEEWAY_SECRET_FILE=str(self.secret_file), LEEWAY_RANK=str(rank), LEEWAY_SIZE=str(self.workers),
                   OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1", PYTHONPATH=f"{BUILD / 'python'}:{PROGRAMS}", **variables)
        return self._start(f"worker {rank}", [sys.executable, PROGRAMS / f"{program}.py", self.folder, *args], env)

    def run(self, program, *args, limit_s=HANG_S):
        """Runs `program` on every rank, and the job to its end."""
        workers = [self.start_worker(rank, program, *args) for rank in range(self.workers)]
        self.expect_end(workers, limit_s=limit_s)
        self.expect_end(limit_s=limit_s)

    def expect_end(self, processes=None, code=0, limit_s=HANG_S):
        """Waits until all of `processes` (None: of the job) have ended with `code`."""
        deadline = time.monotonic() + limit_s
        waiting = list(processes or self._processes)
        while waiting:
            for process in list(waiting):
                if process.poll() is not None:
                    waiting.remove(process)
                    assert process.returncode == code, (
                        f"{process.who} ended with {process.returncode}, wanted {code}:{self.logs()}"
                    )
            assert time.monotonic() < deadline, (
                f"still running after {limit_s} s: {[p.who for p in waiting]}{self.logs()}"
            )
            time.sleep(0.01)

    def logs(self):
        return "".join(f"\n--- {p.who}\n{p.log.read_text()[-3000:]}" for p in self._processes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._processes:
            if process.poll() is None:
                process.kill()
        for process in self._processes:
            process.wait()


def wait_for_line(path, line, limit_s=HANG_S):
    """Waits until the file holds `line`."""
    deadline = time.monotonic() + limit_s
    while line not in (path.read_text().splitlines() if path.exists() else []):
        assert time.monotonic() < deadline, f"no line {line!r} in {path} after {limit_s} s"
        time.sleep(0.005)
