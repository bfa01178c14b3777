#!/usr/bin/env python3
"""The tables and figures of papers from simulations and measurements, beside the papers' own numbers.

    papers/papers.py --list
    papers/papers.py fluentps table4 --quick
    papers/papers.py psp_sgd --docs docs/papers

Runs the cells of papers/PAPER/items/*.toml through `leeway sim`, each with each seed. Finished cells are kept (--cache), so an
interrupted run goes on where it was. Measured items run `leeway bench train` too. Exit code 1: a cell did not end well; 2: something that cannot be meant.
"""

import argparse
import importlib.util
import os
import signal
import sys
from pathlib import Path

from cache import Cache
from charts import headlines_table, plots_of, tables_of
from data_file import included_files
from markdown import WRITTEN_BY, paper_markdown, picture_path, table_markdown
from page_document import document_of, write
from paper import CLUSTERS, read_papers, select
from pictures import svg_of
from refusal import Refusal
from runner import Runner
from simulator import ROOT, Simulator
from study import check_figures, fill, plan
from summary import judge, measured_sentences, sentences_of
from train_bench import TrainBench


class Stopped(BaseException):
    """A signal that ends the program. It is no error of the code that it interrupts."""


def stop_at_signals():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number, _):
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)  # the first one is under way
        raise Stopped(number)

    for number in numbers:
        signal.signal(number, stop)


def arguments_of(words):
    build = Path(os.environ.get("LEEWAY_BUILD", ROOT / "build"))
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="one paper (all)")
    parser.add_argument("item", nargs="?", metavar="ITEM", help="one of its items, or several: table4 is all that begin with table4_")
    parser.add_argument("--list", action="store_true", help="list the items, and run nothing")
    parser.add_argument("--quick", action="store_true", help="few iterations and one seed: shows that everything runs, not the results")
    parser.add_argument("--seed", type=_whole(0), default=1, metavar="S", help="the first seed (%(default)s)")
    parser.add_argument("--seeds", type=_whole(1), default=0, metavar="N", help="how many (as each item says)")
    parser.add_argument("--processes", type=_whole(1), default=2, metavar="N", help="cells at a time (%(default)s)")
    parser.add_argument("--papers", type=Path, default=ROOT / "papers", metavar="FOLDER", help="where the papers' folders are")
    parser.add_argument("--leeway", type=Path, default=build / "leeway", metavar="FILE", help="the program (%(default)s)")
    parser.add_argument("--cache", type=Path, default=build / "papers" / "cells", metavar="FOLDER", help="finished cells (%(default)s)")
    parser.add_argument("--out", type=Path, default=build / "papers", metavar="FOLDER", help="report.html goes here (%(default)s)")
    parser.add_argument("--docs", type=Path, metavar="FOLDER", help="Markdown and pictures go here (as --out)")
    return parser.parse_args(words)


def _whole(least):
    def number(text):
        if not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f'got "{text}", wanted a whole number from {least}')
        return int(text)
    return number


def print_study(study):
    print(f"\n{study.paper.name} {study.item.name}: {study.item.title}")
    if study.skipped:
        print(f"  not run: {study.skipped}")
        return
    print("\n".join("  " + line for table in tables_of(study) for line in table_markdown(table).splitlines()))
    for error in study.errors:
        print(f"papers: {study.paper.name} {study.item.name}: {error}", file=sys.stderr)


def check_pages(options, chosen):
    """Refuses a paper whose page somebody wrote by hand."""
    for paper, _ in chosen:
        page = (options.docs or options.out) / f"{paper.page_name()}.md"
        if page.exists() and WRITTEN_BY not in page.read_text(encoding="utf-8"):
            raise Refusal(f"{page}: got a page that was written by hand, wanted none or one of make papers: move it, or rename the paper's folder")


def write_all(options, chosen, studies, books):
    """Markdown, pictures and the page."""
    docs = options.docs or options.out
    pages = []
    for paper, items in chosen:
        of_paper = [study for study in studies if study.paper is paper]
        judged = judge(paper, studies)
        entry = (paper, of_paper, judged, sentences_of(paper, books[paper.name], judged, options.quick) + measured_sentences(of_paper, options.quick))
        pages.append(entry)
        (docs / paper.page_name()).mkdir(parents=True, exist_ok=True)
        for study in of_paper:
            for name, chart in [] if study.skipped else plots_of(study):
                (docs / picture_path(study, name)).write_text(svg_of(chart), encoding="utf-8")
        (docs / f"{paper.page_name()}.md").write_text(paper_markdown(*entry), encoding="utf-8")
        print(f"papers: wrote {docs / paper.page_name()}.md", file=sys.stderr)
        if judged:
            print("\n" + table_markdown(headlines_table(paper, judged)), end="")
    files = {file for _, items in chosen for item in items for file in included_files(item.described_in())}
    clusters = sorted(file for file in files if file.resolve().parent.name == CLUSTERS)
    text = "\n".join(f"# {file.name}\n{file.read_text(encoding='utf-8')}" for file in clusters)
    options.out.mkdir(parents=True, exist_ok=True)
    report = options.out / "report.html"
    write(document_of(pages, text, options.quick), report)
    print(f"papers: wrote {report}", file=sys.stderr)


def run(options):
    chosen = select(read_papers(options.papers), options.paper, options.item)
    if options.list:
        for paper, items in chosen:
            for item in items:
                print(f"{paper.name:<10} {item.name:<26} {item.title}")
        return 0
    if options.docs and options.item:
        raise Refusal(f'--docs: got one item, "{options.item}"; a paper\'s Markdown has all of them, so wanted no ITEM')
    if importlib.util.find_spec("matplotlib") is None:
        raise Refusal(f"{sys.executable} has no matplotlib, which draws the pictures; make papers takes a Python that has it")
    check_pages(options, chosen)
    simulator = Simulator(options.leeway)
    cache = Cache(options.cache, simulator.fingerprint)
    studies, jobs = plan(chosen, simulator, cache, options, TrainBench(options.leeway))
    runner = Runner(cache, options.processes, on_first=lambda first: check_figures(studies, first))
    results = runner.run(jobs)
    print(f"papers: {len({job.key for job in jobs})} cells, {results.cached} of them from the cache", file=sys.stderr)
    books = fill(studies, results)
    for study in studies:
        print_study(study)
    write_all(options, chosen, studies, books)
    return 1 if results.errors else 0


def main(words):
    stop_at_signals()
    try:
        return run(arguments_of(words))
    except Refusal as refusal:
        print(f"papers: {refusal}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 1
    except Stopped as stopped:
        print("papers: stopped; finished cells are kept, and the same command goes on", file=sys.stderr)
        return 128 + stopped.args[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
