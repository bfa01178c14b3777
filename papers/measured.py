"""Measured items: rows of `leeway bench train`, for real and simulated, as runs with figures like those of simulated items."""

import json
from dataclasses import dataclass
from statistics import median

BUSY_MAX = 0.1  # above it others used the processor, as bench/busy.h has it
IDLE_MIN = 0.1  # below it the processor was measured, and not the network
APART_MAX = 0.15  # of a simulated figure from the measured one
SIMULATED = "simulated_"

# Of each run by itself.
BY_RUN = ("steps_s", "computing", "waiting", "overlap", "gbit_s", "idle")
# Those, figures made of them, and figures that are the same in all runs.
FIGURES = (*BY_RUN, "speedup", "ceiling", "step_ms", "beyond_compute_ms", "hidden",
           "simulated_steps_s", "simulated_speedup", "simulated_step_ms", "simulated_beyond_compute_ms",
           "simulated_over_measured")


@dataclass(frozen=True)
class Measurement:
    """One call of `leeway bench train`: a model, with all rows of an item. Several items may ask for the same."""
    flags: tuple  # (flag, value)
    rows: tuple
    key: str = ""
    simulation_key: str = ""
    scenario: str = ""  # of the simulation


def is_quiet(report):
    return report.get("busy", 1) <= BUSY_MAX


def same_but_pass(row):
    """Words of a row after the first: two rows with equal ones differ in their pass alone."""
    return row.split()[1:]


def runs_of(report, simulation, row):
    """The figures of a row, by run. `simulation`: None if it did not end well."""
    rows = {each["row"]: each for each in report["rows"]}
    mine, alone = rows[row], rows["alone"]
    workers, compute_s = mine["machines"], report["step_s"]
    traditional = next((each for each in report["rows"] if row.split()[0] == "wait-free" and each["row"].split()[0] == "traditional"
                        and same_but_pass(each["row"]) == same_but_pass(row)), None)
    same = _simulated(simulation, row, workers, compute_s)
    speed = median(mine["steps_s_runs"])
    runs = []
    for at, steps_s in enumerate(mine["steps_s_runs"]):
        run = {name: mine[f"{name}_runs"][at] for name in BY_RUN}
        run.update(speedup=steps_s / alone["steps_s_runs"][at], ceiling=mine["ceiling"], step_ms=1e3 * workers / steps_s,
                   beyond_compute_ms=1e3 * (workers / steps_s - compute_s), hidden=None)
        if traditional is not None:
            off_s, on_s = workers / traditional["steps_s_runs"][at], workers / steps_s
            run["hidden"] = (off_s - on_s) / (off_s - 1 / alone["steps_s_runs"][at])
        run.update({SIMULATED + name: value for name, value in same.items()})
        run["simulated_over_measured"] = same["steps_s"] and same["steps_s"] / speed
        runs.append(run)
    return runs


def _simulated(simulation, row, workers, compute_s):
    if row == "alone":
        return {"steps_s": 1 / compute_s, "speedup": 1.0, "step_ms": 1e3 * compute_s, "beyond_compute_ms": 0.0}
    run = (simulation or {}).get(row)
    if run is None:
        return dict.fromkeys(("steps_s", "speedup", "step_ms", "beyond_compute_ms"))
    steps = run["iterations"] / workers
    step_s = run["compute_s"] / steps + run["wait_s"] / (steps - 1)  # the first step waits for nothing
    return {"steps_s": workers / step_s, "speedup": workers * compute_s / step_s, "step_ms": 1e3 * step_s,
            "beyond_compute_ms": 1e3 * (step_s - compute_s)}


def machine_notes(reports, labels):
    """Says whether others used the machine, and whether its processor was the limit. `labels`: row -> label."""
    notes = []
    loud = [report for report in reports if not is_quiet(report)]
    if loud:
        said = "; ".join(f"{report['model']}: {100 * report['busy_before']:.0f} % just before, {100 * report['busy_during']:.0f} % during the runs"
                         for report in loud)
        notes.append(f"**The machine was not quiet**: others used its processor ({said}). These are no results.")
    short = [f"{report['model']}: {', '.join(rows)}" for report in reports if (rows := [
        f'"{labels[row["row"]]}"' for row in report["rows"] if row["row"] in labels and row["idle"] is not None and row["idle"] < IDLE_MIN])]
    if short:
        notes.append(f"Less than {100 * IDLE_MIN:.0f} % of the processor was idle, so it was measured and not the network ({'; '.join(short)}).")
    return notes


def probe_notes(reports):
    notes = []
    for report in reports:
        scale = f", sizes and rates divided by {report['scale']}" if report["scale"] > 1 else ""
        probe = f"; bare sockets carried {report['probe_gbit_s']:.3g} Gbit/s on each card at {100 * report['probe_idle']:.0f} % idle processor" \
            if "probe_gbit_s" in report else ""
        notes.append(f"{report['model']}: {1e3 * report['step_s']:.4g} ms of compute a step, {report['net_bit_s'] / 1e9:.3g} Gbit/s cards{scale}; "
                     f"counted steps {report['steps']}, after {report['warm_up']}{probe}.")
    return notes


def key_text(flags, rows):
    return json.dumps(["leeway bench train", sorted((key, str(value)) for key, value in flags), list(rows)])
