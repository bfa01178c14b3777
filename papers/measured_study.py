"""The jobs of a measured item, and its runs from their results."""

from functools import partial

from measured import is_quiet, key_text, Measurement, runs_of
from runner import Job
from train_bench import report_of, simulation_of

QUICK_SIMULATED_STEPS = 8
WHAT_TO_DO = "Run as root, or under `unshare --user --map-root-user`, with ip and tc installed (docs/emulated-cluster.md)"
MEASURED_WEIGHT = 100  # a second of a measurement, beside an iteration of one simulated worker


def needs_network(item):
    return item.bench.get("net") != "none"


def plan(study, bench, cache):
    """Gives the study its measurements; the jobs for them. Refuses rows and flags that the program refuses."""
    jobs, item = [], study.item
    steps = QUICK_SIMULATED_STEPS if study.quick else item.simulated_steps
    for model in item.models:
        asked = item.measurement(model, study.quick)
        flags, rows, name = dict(asked.flags), asked.rows, f"{study.paper.name} {item.name}: {item.names.get(model, model)}"
        scenario = bench.scenario({**flags, "net": "1gbit"} if not needs_network(item) else flags, rows)
        key = cache.key(key_text(asked.flags, rows), 0)
        simulation_key = cache.key(f"{scenario}\0{steps} iterations", 1)
        study.measurements.append(Measurement(asked.flags, rows, key, simulation_key, scenario))
        seconds = flags["repeats"] * len(rows) * (flags.get("steps", 20) + flags.get("warm-up", 6)) * flags["step-ms"] / 1e3
        jobs.append(Job(simulation_key, f"{name}, simulated", scenario, 1, steps * len(rows) * flags.get("machines", 4),
                        partial(bench.start_simulation, scenario, steps), simulation_of, has_figures=False))
        jobs.append(Job(key, f"{name}, measured", key_text(asked.flags, rows), 0, MEASURED_WEIGHT * seconds, partial(bench.start, flags, rows),
                        report_of, alone=True, is_worth_keeping=is_quiet, has_figures=False))
    return jobs


def fill(study, results):
    """Runs of each cell, by repeat; None where the measurement did not end well."""
    of_model = dict(zip(study.item.models, study.measurements))
    study.runs = []
    for cell in study.cells:
        model, row = (value for _, value in cell.settings)
        report = results.runs.get(of_model[model].key) if of_model else None
        simulation = results.runs.get(of_model[model].simulation_key) if of_model else None
        study.runs.append([None] * len(study.seeds) if report is None else runs_of(report, simulation, row))
    study.reports = [results.runs[each.key] for each in study.measurements if each.key in results.runs]
    study.errors = [f"{model}, {kind}: {results.errors[key]}" for model, each in of_model.items()
                    for kind, key in (("measured", each.key), ("simulated", each.simulation_key)) if key in results.errors]
