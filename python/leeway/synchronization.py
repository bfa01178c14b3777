"""set_sync: changes the synchronization while training runs."""

from leeway import session as _session
from leeway.errors import InvalidArgument


def set_sync(sync=None, tables=None, server=None, apply=None):
    """Changes the synchronization of the running job, for all workers, at once and also for pulls that wait.

    sync: a model ("ssp:3", "pssp:3,0.5", 'when:pull="progress < v_train + 2",push="count >= workers"'); None: it stays.
    tables: only tables whose names fit ("fc*"); None: all tables of the job.
    server: only on this server, from 0; None: on every server.
    apply: an apply mode ("aggregate:reduce=ordered"); None: the model's own.

    One rank calls it. Returns the number of tables that the rule means, once every server has it. Raises and changes nothing
    if the job cannot have the rule (drop:9 with 4 workers).
    """
    return _session.current().worker.set_sync(rule(sync, tables, server, apply))


def rule(sync=None, tables=None, server=None, apply=None):
    """Returns the rule as text: 'tables="fc*" server=1 sync="ssp:3"'."""
    if sync is None and apply is None:
        raise InvalidArgument("set_sync: got neither sync nor apply, wanted at least one, such as sync=\"ssp:3\"")
    words = []
    for key, value in (("tables", tables), ("sync", sync), ("apply", apply)):
        if value is None:
            continue
        if not isinstance(value, str):
            raise InvalidArgument(f"set_sync: {key}: got {value!r}, wanted text")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        words.append(f'{key}="{quoted}"')
    if server is not None:
        if isinstance(server, bool) or not isinstance(server, int) or server < 0:
            raise InvalidArgument(f"set_sync: server: got {server!r}, wanted a server's number, from 0")
        words.append(f"server={server}")
    return " ".join(words)
