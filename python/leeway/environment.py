"""The LEEWAY_* variables, by which a launcher tells workers of the job and a worker its children. Python's only user of them."""

import os
from dataclasses import dataclass

from leeway.errors import InvalidArgument


@dataclass(frozen=True)
class Launch:
    scheduler: str = ""     # "host:port", "local:<name>" or "file:<path>"; empty: no launcher
    secret_file: str = ""   # of the job's secret
    insecure: bool = False  # the job has no secret
    job: str = "leeway"
    rank: int = -1          # -1: the scheduler picks one
    local_rank: int = None  # the number of this process on its host; None: all ranks are on one host
    transport: str = "auto"  # what frames go over (`leeway run --transport`)
    plugins: tuple = ()     # shared libraries with policies of the user's own (`leeway run --plugin`)
    record: bool = False    # reports what its computing takes (`leeway run --record`)
    trace: str = ""         # the folder of the parts of a trace (`leeway run --trace`)
    trace_steps: str = ""   # its steps, "100:120"
    slowdown: float = 1.0   # every step takes this many times as long (`leeway run --slow-worker`)
    slow_pattern: str = ""  # slowness that comes and goes (the same flag), as leeway.slow_pattern reads it


def read(environ=os.environ):
    """Returns the launch that the environment describes."""
    return Launch(
        scheduler=environ.get("LEEWAY_SCHEDULER", ""),
        secret_file=environ.get("LEEWAY_SECRET_FILE", ""),
        insecure=environ.get("LEEWAY_INSECURE", "") == "1",
        job=environ.get("LEEWAY_JOB", "leeway"),
        rank=_number(environ, "LEEWAY_RANK", int, -1, least=-1),
        local_rank=_number(environ, "LEEWAY_LOCAL_RANK", int, None, least=0),
        transport=environ.get("LEEWAY_TRANSPORT", "") or "auto",
        plugins=tuple(path for path in environ.get("LEEWAY_PLUGINS", "").split(":") if path),
        record=environ.get("LEEWAY_RECORD", "") == "1",
        trace=environ.get("LEEWAY_TRACE", ""),
        trace_steps=environ.get("LEEWAY_TRACE_STEPS", ""),
        slowdown=_number(environ, "LEEWAY_SLOWDOWN", float, 1.0, least=1.0),
        slow_pattern=environ.get("LEEWAY_SLOW_PATTERN", ""),
    )


def rank_holder(scheduler, job, rank, environ=os.environ):
    """Returns the process that has joined as this rank and started this one, directly or not; None if no such process lives."""
    words = environ.get("LEEWAY_RANK_HOLDER", "").split(" ", 1)
    if len(words) < 2 or words[1] != f"{rank} {job} {scheduler}" or words[0] == str(os.getpid()):
        return None
    try:
        os.kill(int(words[0]), 0)
    except (ValueError, ProcessLookupError):
        return None
    except PermissionError:
        pass
    return int(words[0])


def set_rank_holder(scheduler, job, rank, environ=os.environ):
    environ["LEEWAY_RANK_HOLDER"] = f"{os.getpid()} {rank} {job} {scheduler}"


def clear_rank_holder(environ=os.environ):
    environ.pop("LEEWAY_RANK_HOLDER", None)


def _number(environ, name, kind, default, least):
    text = environ.get(name, "")
    if not text:
        return default
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not value >= least:
        raise InvalidArgument(f'{name}: got "{text}", wanted a number of at least {least}')
    return value
