#!/usr/bin/env python3
"""Keeps the shape of the tree true: allowed includes, places of heavy headers, names and sizes of files.

    check_layers.py [ROOT]      prints every breach as path:line: what, and ends with 1 if there is one

Needs nothing but Python. docs/architecture.md draws the same edges; check_layers_test.py shows that each rule bites.
"""

import re
import sys
from pathlib import Path

# Module -> modules it may include directly. It may also include everything that those may include.
EDGES = {
    "include": [],
    "base": ["include"],
    "wire": ["base"],
    "monitor": ["base"],
    "sync": ["base"],
    "exchange": ["base"],
    "placement": ["base"],
    "codec": ["base"],
    "optimizer": ["base"],
    "problem": ["base"],
    "block": ["base", "sync", "codec", "optimizer"],
    "checkpoint": ["base", "block"],
    "node": ["block", "checkpoint", "wire", "monitor", "exchange", "placement"],
    "assembly": ["node", "sync", "exchange", "placement", "codec", "optimizer"],
    "transport": ["wire"],
    "process": ["assembly", "transport"],
    "sim": ["assembly", "wire"],
    "scenario": ["sim", "problem"],
}

# Folder of a module -> folders of it that it may include directly, and by them what those may. A module without rows has no order inside.
FOLDER_EDGES = {
    "transport/system": [],
    "transport/loop": ["transport/system"],
    "transport/local": ["transport/system"],
    "transport/stream": ["transport/local", "transport/loop"],
    "transport": ["transport/stream"],
}

# Folder of apps/leeway -> folders of apps/leeway that it may include directly, and what those may include. Any of them
# may include any module above.
APP = "apps/leeway/"
APP_EDGES = {
    "system": [],
    "terminal": [],
    "toml": [],
    "cli": ["system", "terminal"],
    "inspect": ["system"],
    "status": ["cli"],
    "role": ["cli", "inspect", "toml"],
    "calibrate": ["status"],
    "simulate": ["calibrate", "toml"],
    "trace": [],
    "launch": ["calibrate", "role", "trace"],
    "command": ["launch", "simulate"],
}

# Blocks and nodes see the interfaces of policies, never one of them: these headers of those folders and no others.
# (The interfaces proper are in include/.) Their tests may take real policies from the registries.
POLICY_FOLDERS = {"sync", "exchange", "placement", "codec", "optimizer"}
INTERFACES = {"sync/sync_policy.h", "sync/sync_rules.h", "sync/pull_policy.h", "sync/worker_fit.h",
               "optimizer/make_optimizer.h"}
REGISTRIES = {"sync/sync_policy.h", "exchange/exchanges.h", "placement/placements.h", "codec/codecs.h", "optimizer/optimizers.h"}
KERNELS = {"optimizer/kernels.h"}  # loops on spans; no policy
SEES_INTERFACES_ONLY = {"block": INTERFACES | KERNELS, "node": INTERFACES | KERNELS}

# Heavy or worldly headers -> where they may stand.
HEAVY = {
    r"CLI/": ["apps/leeway/cli/command_line.cc"],
    r"toml\+\+/": ["apps/leeway/toml/"],
    r"toml/toml_node\.h": ["apps/leeway/toml/", "apps/leeway/role/job_file.cc", "apps/leeway/simulate/scenario_file.cc"],
    r"google/protobuf/|.*\.pb\.h$": ["src/wire/", "src/node/", "src/sim/", "apps/leeway/status/monitor_client.cc", "tests/"],
    r"nlohmann/": ["src/checkpoint/", "src/monitor/", "src/node/scheduler/", "apps/", "bench/", "tests/"],
    r"pybind11/": ["python/"],
    r"muParser": ["src/sync/formula.cc"],
    r"hwy/": ["src/optimizer/"],
    r"Eigen/": ["src/problem/dense_network.cc"],
    r"openssl/": ["src/node/secret_proof.cc"],
    r"zlib\.h": ["src/problem/idx_file.cc", "src/problem/testing/"],
}
# The world reaches nodes, blocks and policies through Env alone.
WORLDLY = (r"(sys/.*|netinet/.*|arpa/.*|unistd\.h|fcntl\.h|poll\.h|pthread\.h|thread|condition_variable|future|fstream|filesystem|"
           r"random)$")
UNWORLDLY = ["include", "base", "wire", "monitor", "sync", "exchange", "placement", "codec", "optimizer", "block", "checkpoint",
             "node", "assembly"]
WORLDLY_WORDS = r"\b(steady_clock|system_clock|high_resolution_clock|getenv|IsSimulated)\b"
# Only apps/ and python/ read the environment, and one call that a user's own main() makes (decision 29).
ENVIRONMENT_WORDS = r"\b(getenv|secure_getenv|environ)\b"
ENVIRONMENT_READER = "src/process/worker_environment.cc"

# A limit in a test ends a hang. A shorter one judges how busy the machine is.
LIMIT = re.compile(r'(?:\.wait\(|\b(?:limit_s|timeout|wait_s)=|monotonic\(\) \+ |\bwait_for\(.*", (?=\d+\)$))(\d+)(?:[\s,):]|$)')
LIMIT_LEAST_S = 60

LINES_MAX = 500
GENERATED = "docs/papers/"  # by make papers: as long as what it reports
BANNED_NAMES = {"util", "utils", "common", "helper", "helpers", "misc"}
MEASURED = {".h", ".cc", ".py", ".sh", ".cmake", ".proto", ".def", ".md"}
TREES = ["include", "src", "apps", "python", "bench", "tests", "examples", "tools", "papers", "report", "docs", "cmake"]

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def closure(edges):
    """Module -> every module it may include, itself with them."""
    reach = {}
    for module in edges:
        seen, todo = set(), [module]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += edges[at]
        reach[module] = seen
    return reach


REACH = closure(EDGES)
FOLDER_REACH = closure(FOLDER_EDGES)
APP_REACH = closure(APP_EDGES)


def module_of(path):
    """"src/block/ledger.cc" -> "block"; None outside of the modules."""
    parts = path.split("/")
    if parts[0] == "include":
        return "include"
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def module_of_include(name):
    """"wire/kind.h" -> "wire"; None for a header of the system."""
    first = name.split("/")[0]
    if first == "leeway":
        return "include"
    return first if first in EDGES else None


def check_folder(folder, name):
    """Breaches of a file of src/`folder` that includes `name`, where both are in a module whose folders have an order."""
    target = name.rpartition("/")[0]
    if target.split("/")[0] != folder.split("/")[0] or target.split("/")[0] not in FOLDER_EDGES:
        return
    for one in (folder, target):
        if one not in FOLDER_EDGES:
            yield f"includes {name}: {one} has no row in FOLDER_EDGES"
            return
    if target not in FOLDER_REACH[folder]:
        yield f"includes {name}: {folder} may include {', '.join(sorted(FOLDER_REACH[folder]))}"


def is_test(path):
    """Tests, and the fixtures that only they include."""
    return path.endswith("_test.cc") or "/testing/" in path or "/hand_fed_" in path


def check_include(path, name, quoted):
    """The fault of `path` including `name`, if any."""
    module = module_of(path)
    for pattern, places in HEAVY.items():
        if re.match(pattern, name) and not any(path.startswith(place) for place in places):
            yield f"includes {name}, which may stand only in {', '.join(places)}"
    if path.startswith("examples/") and quoted and module_of_include(name) != "include":
        yield f"includes {name}: examples show what a user may include, which is leeway/ alone"
    if path.startswith(APP) and path.count("/") > APP.count("/") and quoted:
        folder, target = path.split("/")[2], name.split("/")[0]
        if folder not in APP_EDGES:
            yield f"is in a folder that has no row in APP_EDGES: {folder}"
        elif target in APP_EDGES and target not in APP_REACH[folder]:
            yield f"includes {name}: {APP}{folder} may include {', '.join(sorted(APP_REACH[folder]))}"
    if module is None:
        return
    if module not in EDGES:
        yield f"is in a folder that has no row in EDGES: {module}"
        return
    if module in UNWORLDLY and not is_test(path) and re.match(WORLDLY, name) and not quoted:
        yield f"includes <{name}>: {module} reaches the world through Env alone"
    target = module_of_include(name)
    if target is None:
        if module == "include" and (quoted or "." in name):
            yield f"includes {name}: public headers include the standard library and each other only"
        return
    if target not in REACH[module]:
        yield f"includes {name}: {module} may include {', '.join(sorted(REACH[module]))}"
    yield from check_folder(path.removeprefix("src/").rpartition("/")[0], name)
    allowed = SEES_INTERFACES_ONLY.get(module)
    if allowed is not None and target in POLICY_FOLDERS and target != module:
        if name not in (allowed | REGISTRIES if is_test(path) else allowed):
            yield f"includes {name}: {module} sees the interfaces of policies only"


def check_source(path, text):
    """Breaches of one C++ file, as (line, what)."""
    module = module_of(path)
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            for what in check_include(path, found.group(2), found.group(1) == '"'):
                yield number, what
            continue
        code = line.split("//")[0]
        if module in UNWORLDLY and not is_test(path):
            for word in re.findall(WORLDLY_WORDS, code):
                yield number, f"uses {word}: {module} reaches the world through Env alone"
        elif module is not None and path != ENVIRONMENT_READER:
            for word in re.findall(ENVIRONMENT_WORDS, code):
                yield number, f"uses {word}: only apps/ and python/ read the environment"


def check_file(path, text):
    lines = text.count("\n")
    if Path(path).suffix in MEASURED and lines > LINES_MAX and not path.startswith(GENERATED):
        yield 1, f"has {lines} lines, wanted at most {LINES_MAX}: split it by noun"
    for part in path.split("/"):
        if part.split(".")[0] in BANNED_NAMES:
            yield 1, f"is called {part}: name it after what it holds"
    if Path(path).suffix in (".h", ".cc"):
        yield from check_source(path, text)
    if path.startswith("tests/") and path.endswith(".py"):
        for number, line in enumerate(text.splitlines(), 1):
            for limit in LIMIT.findall(line):
                if int(limit) < LIMIT_LEAST_S:
                    yield number, f"has a limit of {limit} s, wanted at least {LIMIT_LEAST_S}: a limit ends a hang and judges nothing"


def files_of(root):
    """Relative path -> text, of every file that is ours."""
    files = {}
    for tree in TREES:
        for path in sorted((root / tree).rglob("*")):
            relative = path.relative_to(root).as_posix()
            if path.is_file() and "__pycache__" not in relative:
                files[relative] = path.read_text(encoding="utf-8", errors="replace")
    return files


def check_twins(files):
    """Two headers that define a class of one name in one namespace: a program that links both mixes them up without a word."""
    first = {}
    for path, text in files.items():
        if not path.startswith(("src/", "include/", "apps/", "bench/")) or not path.endswith(".h"):
            continue
        spaces = []
        for number, line in enumerate(text.splitlines(), 1):
            if found := re.match(r"namespace ([\w:]+) \{", line):
                spaces.append(found[1])
            elif re.match(r"\}  // namespace \w", line):
                spaces.pop()
            elif found := re.match(r"(?:class|struct)(?: alignas\(\d+\))? (\w+)(?: final)?(?: :.*)? ?\{", line):
                name = "::".join([*spaces, found[1]])
                other = first.setdefault(name, path)
                if other != path:
                    yield f"{path}:{number}: defines {name}, which {other} defines too"


def check_tree(files):
    """Every breach as "path:line: what"."""
    breaches = list(check_twins(files))
    for path, text in files.items():
        breaches += [f"{path}:{line}: {what}" for line, what in check_file(path, text)]
    for module in sorted({path.split("/")[1] for path in files if path.startswith("src/") and path.count("/") > 1}):
        if f"src/{module}/README.md" not in files:
            breaches.append(f"src/{module}:1: has no README.md that says what is here and what is not")
    return breaches


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    files = files_of(root)
    breaches = check_tree(files)
    print(*breaches, sep="\n" if breaches else "")
    print(f"{len(files)} files, {len(breaches)} breaches")
    return 1 if breaches or not files else 0


if __name__ == "__main__":
    sys.exit(main())
