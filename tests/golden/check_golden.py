#!/usr/bin/env python3
"""Compares the program's output and encodings with kept files, so that neither changes by accident.

    check_golden.py BUILD [--renew]

nodes.txt: traces of simulated runs, a checkpoint, the keys of a status. help.txt: the help of every command. --renew writes both
anew. The seeds of tests/fuzz/corpus are encoded frames and records. This script makes them again and compares the bytes;
leeway_fuzz_make_corpus writes the kept ones. A commit that changes the structure of the code changes no kept file. A commit that
must change one is alone, and says why.
"""

import argparse
import difflib
import filecmp
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent / "fuzz" / "corpus"
COLUMNS = 80  # of a terminal that nobody has resized
SHOWN_MAX = 40  # lines of a difference


def told_by(*command):
    variables = {name: value for name, value in os.environ.items() if name != "TMPDIR" and not name.startswith("LEEWAY_")}
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=600, env=variables).stdout


def help_texts(build):
    """The help of the program and of all its commands, which the first lists."""
    leeway = str(build / "leeway")
    first = told_by(leeway, "--help")
    commands = re.findall(r"^  ([a-z][a-z-]*(?: [a-z-]+)?)  +\S", first.split("Commands:")[1].split("Start here:")[0], re.MULTILINE)
    texts = [f"$ leeway --help\n{first}"]
    texts += [f"$ leeway {command} --help\n{told_by(leeway, *command.split(), '--help')}" for command in commands]
    # Defaults that differ from call to call and from machine to machine.
    text = re.sub(r"\brun-\d+", "run-PID", "\n".join(texts))
    text = re.sub(r"(--threads N +runs at a time) \[\d+\]", r"\1 [CORES]", text)
    # A new policy changes these lists and no file here.
    text = re.sub(r"^(  (?:sync|optimizer|placement) +)[a-z_0-9]+(?:,\s+[a-z_0-9]+)+$", r"\1ALL", text, flags=re.MULTILINE)
    text = re.sub(r"(\b[Mm]odels: )[a-z_0-9]+(?:,\s+[a-z_0-9]+)+\.", r"\1ALL.", text)
    return text


def too_wide(text):
    """The number of lines that a terminal of 80 columns breaks, said."""
    wide = [line for line in text.splitlines() if len(line) > COLUMNS]
    print("".join(f"help: {len(line)} columns, wanted at most {COLUMNS}: {line}\n" for line in wide[:SHOWN_MAX]), end="")
    return len(wide)


def compare(name, text, renew):
    """The number of problems, said."""
    kept = HERE / name
    if renew:
        kept.write_text(text)
        return 0
    lines = list(difflib.unified_diff(kept.read_text().splitlines(), text.splitlines(), f"kept {name}", "now", lineterm="", n=0))
    print("\n".join(lines[:SHOWN_MAX]))
    return int(bool(lines))


def compare_corpus(build):
    with tempfile.TemporaryDirectory() as folder:
        told_by(str(build / "tests" / "fuzz" / "leeway_fuzz_make_corpus"), folder)
        made = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        other = [path.relative_to(folder) for path in made
                 if not (kept := CORPUS / path.relative_to(folder)).exists() or not filecmp.cmp(path, kept, shallow=False)]
        for path in other:
            print(f"corpus: {path} is encoded otherwise than the kept {CORPUS / path}")
        return len(other) if made else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--renew", action="store_true", help="write nodes.txt and help.txt anew")
    args = parser.parse_args()
    problems = compare("nodes.txt", told_by(str(args.build / "tests" / "golden" / "leeway_golden")), args.renew)
    help_text = help_texts(args.build)
    problems += compare("help.txt", help_text, args.renew) + too_wide(help_text)
    problems += compare_corpus(args.build)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
