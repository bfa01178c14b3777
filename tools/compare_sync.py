"""Trains the same job under one synchronization model after the other, with workers that are slow in three patterns, and compares.

    make compare-sync                                     # all of it: more than half an hour on 2 cores
    make compare-sync ARGS=--quick                        # three models on a part of the data: a few minutes
    make compare-sync ARGS="--models bsp ssp:3 --patterns rotate"

Real processes: `leeway run` with examples/fashion_mnist.py, all workers drawing batches from one pool, so every model trains on
the same number of samples. Every model has the same apply mode and learning rate (`--apply`, `--lr`), --rounds times; the models
take turns, since a shared machine is not the same from one minute to the next. Once more it has its own apply mode, and the best of
three rates, found without slow workers before (`--rates`). A round has the same slowness under every model.

A snapshot of the parameters is taken every --evaluate-every seconds and evaluated when training is over. Finished runs are kept in
--out: a call that was stopped goes on there. Exit code 3: some run failed; what the others gave is there all the same. A signal that
stops it also ends the run under way, and gives 128 and its number.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from compared_runs import OWN, SAME, TUNE, KeptRuns, Run, program_mark, train
from comparison_page import draw, findings, markdown, rows_of, seconds

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "examples/fashion_mnist.py"
MODELS = ["bsp", "ssp:3", "pssp:3,0.5,release=soft", "dssp:3,12", "drop:3", "psp:3,20", "asp"]
PATTERNS = {"steady": ("One worker slow for good", "3:4x"),
            "rotate": ("One worker slow at a time, in phases", "rotate:4x,5-10"),
            "pauses": ("Random pauses of every worker", "pauses:200ms,0.05")}
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
QUICK = {"models": ["bsp", "ssp:3", "asp"], "rounds": 1, "samples": 15_000, "target": 0.7, "rates": [1.0]}


class Comparison:
    """The runs of one call, in order: rates, then round by round."""

    def __init__(self, arguments, program):
        self.arguments, self.program = arguments, program

    def run(self, setting, model, pattern="", rate=None, number=0):
        a = self.arguments
        # A rate is chosen by the final accuracy alone.
        every = a.limit if setting == TUNE else a.evaluate_every
        return Run(setting, pattern, PATTERNS[pattern][1] if pattern else "", model, a.apply if setting == SAME else "",
                   a.lr if rate is None else rate, number, a.workers, a.servers, a.epochs, a.samples, a.target, every, self.program)

    def tuning(self):
        """Nothing where there is one rate only."""
        if not self.arguments.own or len(self.arguments.rates) < 2:
            return []
        return [self.run(TUNE, model, rate=self.arguments.lr * factor)
                for model in self.arguments.models for factor in self.arguments.rates]

    def rates(self, found):
        """Each model's best rate by final accuracy, from the runs of tuning(). Without any run of it: --lr, or the only one of --rates."""
        factors = self.arguments.rates
        best = {model: (0.0, self.arguments.lr * (factors[0] if len(factors) == 1 else 1)) for model in self.arguments.models}
        for run, figures in found.items():
            best[run.model] = max(best[run.model], (figures["accuracy"], run.rate))
        return {model: rate for model, (_, rate) in best.items()}

    def rounds(self, rates):
        runs = []
        for number in range(self.arguments.rounds):
            for pattern in self.arguments.patterns:
                runs += [self.run(SAME, model, pattern, number=number) for model in self.arguments.models]
                if number == 0 and self.arguments.own:
                    runs += [self.run(OWN, model, pattern, rates[model]) for model in self.arguments.models]
        return runs

    def count(self):
        return len(self.tuning()) + len(self.rounds({model: self.arguments.lr for model in self.arguments.models}))


def minutes(value):
    return "less than a minute" if value < 60 else f"about {value / 60:.0f} min"


class Maker:
    """Makes runs that are not kept yet, and tells how far it is."""

    def __init__(self, kept, trainer, count, tell):
        self.kept, self.trainer, self.left, self.count, self.tell = kept, trainer, count, count, tell
        self.failed = False

    def make(self, runs):
        """Returns the figures of every run that ended well."""
        found = {}
        for run in runs:
            figures = self.kept.find(run)
            if figures is None:
                figures = self._train(run)
            self.left -= 1
            if figures is not None:
                found[run] = figures
        return found

    def _train(self, run):
        took = self.kept.took_s()
        left = f", {minutes(took * self.left)} left at most" if took else ""
        self.tell(f"run {self.count - self.left + 1} of {self.count}{left}: {run.pattern or 'nobody slow'}, {run.model}, {run.setting} "
                  f"rate {run.rate:g}, round {run.number + 1}")
        began = time.monotonic()
        try:
            figures = self.trainer(run)
        except RuntimeError as error:
            self.tell(f"  failed: {error}")
            self.failed = True
            return None
        self.kept.keep(run, figures, time.monotonic() - began)
        self.tell(f"  {100 * figures['accuracy']:.2f} % after {figures['to_end_s']:.1f} s, {100 * run.target:g} % after "
                  f"{seconds(figures['to_target_s'])} s")
        return figures


def report(arguments, found, rates, out):
    """Prints the tables and writes page and picture."""
    rounds = f"medians of {arguments.rounds} (least to most)" if arguments.rounds > 1 else "one round"
    passes = "1 pass" if arguments.epochs == 1 else f"{arguments.epochs} passes"
    intro = [f"{arguments.workers} workers and {arguments.servers} servers on {len(os.sched_getaffinity(0))} cores, {passes} over "
             f"{arguments.samples or 60_000:,} samples from one pool. All with apply `{arguments.apply}` and learning rate "
             f"{arguments.lr:g}, {rounds}. To {100 * arguments.target:g} %: on a part of the test images, as the lines of the picture; "
             f"accuracy: at the end, on all."]
    if arguments.own:
        rate = "the best of the rates tried without slow workers" if len(arguments.rates) > 1 else "one rate"
        intro[0] += f" The columns `own`: once, each with its own apply mode and {rate}."
    sections, pictures = [], {}
    for pattern in arguments.patterns:
        title, slow = PATTERNS[pattern]
        results = {model: [figures for run, figures in found.items() if (run.setting, run.pattern, run.model) == (SAME, pattern, model)]
                   for model in arguments.models}
        own = {run.model: (rates[run.model], figures) for run, figures in found.items() if (run.setting, run.pattern) == (OWN, pattern)}
        head, rows = rows_of(results, own, arguments.target)
        said = findings(results, arguments.target)
        sections.append((f"{title} (`{slow}`)", head, rows, said))
        pictures[f"{title} ({slow})"] = results
    text = markdown(sections, intro)
    (out / "report.md").write_text(text, encoding="utf-8")
    print(text)
    if any(runs for results in pictures.values() for runs in results.values()):
        draw(pictures, arguments.target, out / "accuracy.png")
    print(f"the page: {out / 'report.md'}; the picture: {out / 'accuracy.png'}; every figure: {out / 'runs'}")


def parse(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--models", nargs="+", default=MODELS, help="specs of the models (%(default)s)")
    parser.add_argument("--patterns", nargs="+", default=list(PATTERNS), choices=list(PATTERNS), help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each model, in turns (%(default)s)")
    parser.add_argument("--apply", default="immediate", help="the apply mode that all models have (%(default)s)")
    parser.add_argument("--lr", type=float, default=0.004, help="the learning rate that all models have (%(default)s)")
    parser.add_argument("--rates", nargs="+", type=float, default=[0.5, 1.0, 2.0], metavar="FACTOR",
                        help="of --lr: tried for a model's own rate (%(default)s)")
    parser.add_argument("--no-own", dest="own", action="store_false", help="no runs with a model's own apply mode and rate")
    parser.add_argument("--epochs", type=int, default=1, help="passes of a job over the training set (%(default)s)")
    parser.add_argument("--samples", type=int, default=50_000, help="of the training set; 0: all (%(default)s)")
    parser.add_argument("--workers", type=int, default=4, help="(%(default)s)")
    parser.add_argument("--servers", type=int, default=2, help="(%(default)s)")
    parser.add_argument("--target", type=float, default=0.85, help="the accuracy to reach (%(default)s)")
    parser.add_argument("--evaluate-every", type=float, default=1.0, metavar="S", help="seconds between snapshots (%(default)s)")
    parser.add_argument("--limit", type=float, default=900, metavar="S", help="of one run (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="another default for some of these: a few minutes in all")
    parser.add_argument("--build", default=os.environ.get("LEEWAY_BUILD", ROOT / "build"), help="the build folder (%(default)s)")
    parser.add_argument("--out", default=ROOT / "out/compare-sync", help="where the results go (%(default)s)")
    if parser.parse_known_args(words)[0].quick:
        parser.set_defaults(**QUICK)
    arguments = parser.parse_args(words)
    for name in ("rounds", "epochs", "workers", "servers"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name}: got {getattr(arguments, name)}, wanted at least 1")
    if arguments.samples < 0:
        parser.error(f"--samples: got {arguments.samples}, wanted at least 0")
    for name in ("models", "patterns", "rates"):
        setattr(arguments, name, list(dict.fromkeys(getattr(arguments, name))))
    return arguments


def files_that_train(build):
    """The program, the script, and the binding with its Python files."""
    binding = build / "python/leeway"
    return [build / "leeway", SCRIPT, *sorted([*binding.glob("_leeway*.so"), *binding.rglob("*.py")])]


def main():
    arguments = parse()
    build, out = Path(arguments.build), Path(arguments.out)
    python = (build / "python/interpreter").read_text(encoding="utf-8").strip()
    program = program_mark(files_that_train(build))
    comparison = Comparison(arguments, program)
    maker = Maker(KeptRuns(out / "runs"), lambda run: train(run, build / "leeway", python, SCRIPT, out / "last", arguments.limit),
                  comparison.count(), lambda text: print(f"compare-sync: {text}", flush=True))
    rates = comparison.rates(maker.make(comparison.tuning()))
    report(arguments, maker.make(comparison.rounds(rates)), rates, out)
    return 3 if maker.failed else 0


def stop(number, _):
    for each in STOPPING:
        signal.signal(each, signal.SIG_IGN)  # the first one is under way
    print("compare-sync: stopped; the same command goes on with the runs that are left", file=sys.stderr)
    sys.exit(128 + number)


if __name__ == "__main__":
    for one in STOPPING:
        signal.signal(one, stop)
    try:
        sys.exit(main())
    except OSError as error:
        sys.exit(f"compare-sync: {error}")
