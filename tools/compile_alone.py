#!/usr/bin/env python3
"""Compiles every header and source by itself, syntax only. A unity build joins files, so a missing include stays hidden there.

    compile_alone.py BUILD [--most N] [--jobs N]

BUILD is a configured build folder: its compile_commands.json says with which flags. A file that passed is not compiled again
until it, or something that it includes, or a flag changes (BUILD/compile_alone.passed). --most bounds how many files one call
compiles: the files of the newest commits come first, then the files that include those, then the rest. The last line always
says how many files are left. Ends with 1 if a file does not compile, with 2 if BUILD does not fit this tree.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

TREES = ["include", "src", "apps", "bench", "examples", "tests", "python"]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
COMMITS = 20  # whose files come first
# Files that only another preset builds, and what that adds to the flags of their neighbours.
ADDED = {"tests/sim/mutants_main.cc": ("-DLEEWAY_MUTATIONS",)}
# Of the unity build and the optimizer; the preset dev has none of them.
DROPPED = re.compile(r"-O.|-g\d?|-DNDEBUG|-Wno-subobject-linkage")


class Failure(Exception):
    """The folder or tree lacks something that the check needs."""


def flags_of(entry):
    """The flags of a compile command, without compiler cache, input and output."""
    words = entry.get("arguments") or shlex.split(entry["command"])
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    compiler, flags, skip = words[first - 1], [], False
    for word in words[first:]:
        if skip or word == "-c":
            skip = False
        elif word == "-o":
            skip = True
        elif word != entry["file"] and not DROPPED.fullmatch(word):
            flags.append(word)
    return (compiler, *flags)


def read_commands(root, build):
    """Source (relative to root) -> flags; a joined source stands for every file that it includes."""
    try:
        entries = json.loads((build / "compile_commands.json").read_text())
    except OSError as error:
        raise Failure(f"{error}; configure it first: cmake --preset release") from error
    commands = {}
    for entry in entries:
        file = Path(entry["directory"], entry["file"])
        sources = INCLUDE.findall(file.read_text()) if "/Unity/" in str(file) else [file]
        for source in map(Path, sources):
            if source.is_relative_to(root) and not source.is_relative_to(build):
                commands[str(source.relative_to(root))] = flags_of(entry)
    return commands


class Tree:
    """All headers and sources below a folder, and what each includes."""

    def __init__(self, root, commands):
        self.root, self.commands = root, commands
        self.files = sorted(str(path.relative_to(root)) for tree in TREES for kind in ("*.h", "*.cc")
                            for path in (root / tree).rglob(kind))
        self._texts, self._includes, self._closures, self._folders = {}, {}, {}, {}
        for source, flags in commands.items():
            for folder in Path(source).parents:
                best = self._folders.setdefault(str(folder), flags)
                if len(flags) > len(best):
                    self._folders[str(folder)] = flags

    def text(self, path):
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_text(errors="replace")
        return self._texts[path]

    def flags(self, path):
        """The flags of the build; for a header, the most flags that a source of its folder has."""
        if path in self.commands:
            return self.commands[path]
        near = next(self._folders[str(folder)] for folder in Path(path).parents if str(folder) in self._folders)
        return near + ADDED.get(path, ())

    def includes(self, path):
        """The files of this tree that `path` includes itself, in order."""
        if path not in self._includes:
            self._includes[path] = self._find_includes(path)
        return self._includes[path]

    def _find_includes(self, path):
        found = []
        for name in INCLUDE.findall(self.text(path)):
            name = name.replace(".pb.h", ".proto")
            for folder in (Path(path).parent, "src", "include", "apps/leeway", ".", Path(path).parts[0]):
                if (self.root / folder / name).is_file():
                    found.append(os.path.normpath(Path(folder, name)))
                    break
        return found

    def closure(self, path):
        """`path` and all that it includes, at any depth."""
        if path not in self._closures:
            seen, todo = {path}, [path]
            while todo:
                new = [name for name in self.includes(todo.pop()) if name not in seen]
                seen.update(new)
                todo += new
            self._closures[path] = sorted(seen)
        return self._closures[path]

    def key(self, path, version):
        """Changes with everything that a compilation of `path` depends on, but for the system's headers."""
        digest = hashlib.sha256("\0".join([version, *self.flags(path)]).encode())
        for name in self.closure(path):
            digest.update(f"\0{name}\0{self.text(name)}".encode())
        return digest.hexdigest()

    def units(self):
        """The files to compile. A header that a source includes first of all is tried with that source."""
        led = {names[0] for path in self.files if path.endswith(".cc") and (names := self.first_include(path))}
        return [path for path in self.files if path.endswith(".cc") or path not in led]

    def first_include(self, path):
        first = INCLUDE.search(self.text(path))
        names = self.includes(path)
        return names[:1] if first and names and Path(names[0]).name == Path(first.group(1)).name else []


def changed_in(root):
    """File -> how many commits ago it changed, 0 for changes that are not committed; empty without git."""
    def git(*words):
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
        return done.stdout.splitlines() if done.returncode == 0 else []

    age = dict.fromkeys(git("diff", "--name-only", "HEAD") + git("ls-files", "--others", "--exclude-standard"), 0)
    commit = 0
    for line in git("log", f"-{COMMITS}", "--first-parent", "-m", "--name-only", "--format=%x01"):
        commit += line == "\x01"
        if line and line != "\x01":
            age.setdefault(line, commit)
    return age


def in_order(tree, units):
    """The units, those first that most need a look."""
    age = changed_in(tree.root)
    never = COMMITS + 1

    def need(path):
        around = min((age.get(name, never) for name in tree.closure(path)), default=never)
        # The hash spreads the remaining files over the tree; without it the same folder would always be last.
        itself = min(age.get(name, never) for name in [path, *(tree.first_include(path) if path.endswith(".cc") else [])])
        return itself, around, hashlib.sha256(tree.text(path).encode()).digest()

    return sorted(units, key=need)


def compile_one(tree, path):
    """None, or what the compiler says."""
    full = str(tree.root / path)
    # Twice: a header that lacks its #pragma once is found too.
    what = [full] if path.endswith(".cc") else ["-x", "c++", "-include", full, "-include", full, "/dev/null"]
    done = subprocess.run([*tree.flags(path), "-fsyntax-only", *what], capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C"})
    return None if done.returncode == 0 else done.stderr or f"the compiler ended with {done.returncode}"


def check(root, build, most=None, jobs=1, say=print):
    """The number of files that do not compile."""
    commands = read_commands(root, build)
    tree = Tree(root, commands)
    sources = [path for path in tree.files if path.endswith(".cc")]
    if not sources or not any(path in commands for path in sources):
        raise Failure(f"{build / 'compile_commands.json'} names no source below {root}; configure that folder anew")
    compiler = next(iter(commands.values()))[0]
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    passed_file = build / "compile_alone.passed"
    passed = dict(line.split(" ", 1)[::-1] for line in passed_file.read_text().splitlines()) if passed_file.exists() else {}

    units = tree.units()
    keys = {path: tree.key(path, version) for path in units}
    waiting = in_order(tree, [path for path in units if passed.get(path) != keys[path]])
    now = waiting if most is None else waiting[:most]
    passed_file.write_text("".join(f"{key} {path}\n" for path, key in passed.items() if keys.get(path) == key))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool, open(passed_file, "a", encoding="utf-8") as record:
        for path, error in zip(now, pool.map(lambda path: compile_one(tree, path), now)):
            if error is None:
                print(keys[path], path, file=record, flush=True)
            else:
                failed += 1
                say(f"{path} does not compile by itself; include what it uses:\n{error}")
    say(f"compile_alone: {len(tree.files)} headers and sources in {len(units)} units: {len(units) - len(waiting)} passed before, "
        f"{len(now) - failed} passed now, {failed} failed, {len(waiting) - len(now)} left for make check-alone")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--most", type=int, help="compile at most so many files (default: all)")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    try:
        return 1 if check(Path(__file__).resolve().parents[1], args.build.resolve(), args.most, args.jobs) else 0
    except Failure as failure:
        print(f"compile_alone: {failure}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
