"""The rule that keeps the items honest: machines, links and servers are described once for a cluster, in papers/clusters, and no
item says another word about them: not in its scenario, its cells or its quick form."""

from data_file import flat_keys, included_files, read_all, read_toml
from refusal import Refusal
from sweep import parse_sweep

# Keys that begin so describe machines. `delays.`, `changes.` and `faults.` do not: a paper's experiment may disturb its cluster.
OF_MACHINES = ("compute.", "links.", "server.", "cost.", "cluster.together", "cluster.cores", "cluster.shards")


def check_item(item, path, may_change=False):
    """The cluster's file. `may_change`: of an item that shows what the choices of a cluster change."""
    if item.is_measured:
        return _check_measured(item)
    files = included_files(item.scenario)
    cluster = next((file for file in files if file.resolve().parent.name == "clusters"), None)
    if cluster is None:
        raise Refusal(f"{item.scenario}: includes no file of papers/clusters, wanted the cluster that it runs on")
    if may_change:
        return cluster
    of_cluster = {key for key, _ in flat_keys(read_all(cluster)) if key != "name"}
    said = [(file, key) for file in files[:files.index(cluster)] for key, _ in flat_keys(read_toml(file))]
    said += [(path, key) for key in (*item.settings, *item.quick)]
    said += [(path, key) for text in item.sweeps for key in parse_sweep(text).keys]
    for file, key in said:
        if key in of_cluster or key.startswith(OF_MACHINES):
            raise Refusal(f"{file}: {key} says something of the cluster, wanted it in {cluster.name} alone, for all items of the cluster")
    return cluster


# Flags that an item may set: they describe its runs.
OF_RUNS = ("steps", "warm-up", "repeats", "block-bytes")


def _check_measured(item):
    """Machines, rates and step times of a measured item stand in its cluster's file."""
    files = included_files(item.file)
    cluster = next((file for file in files if file.resolve().parent.name == "clusters"), None)
    if cluster is None:
        raise Refusal(f"{item.file}: includes no file of papers/clusters, wanted the cluster that it runs on")
    own = files[:files.index(cluster)]
    said = [(file, key) for file in own for part in ("bench", "quick") for key in read_toml(file).get(part, {})]
    said += [(file, "step_ms") for file in own if "step_ms" in read_toml(file)]
    for file, key in said:
        if key not in OF_RUNS:
            raise Refusal(f"{file}: {key} says something of the cluster, wanted it in {cluster.name} alone, for all items of the cluster")
    return cluster
