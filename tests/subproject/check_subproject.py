#!/usr/bin/env python3
"""A project that has Leeway as a subproject gets the library and nothing else: no tests, programs, torch, OpenBLAS or -Werror.

    check_subproject.py                         configures such a project in a folder of its own, and looks at its targets
    check_subproject.py --build FOLDER --jobs N   also builds its program there, and runs it
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WANTED = {"leeway_base", "leeway_process", "mine"}
# Libraries that only programs, tests and the binding use, and their packages in the cache.
UNWANTED = {"leeway", "leeway_app", "leeway_bench", "leeway_sim", "leeway_problem", "leeway_hello", "_leeway"}
PACKAGES = ["GTest", "pybind11", "Eigen3", "CLI11", "ZLIB", "OPENBLAS", "PYTHON_EXECUTABLE"]


def configure(folder, *flags):
    done = subprocess.run(["cmake", "-G", "Ninja", "-S", str(HERE), "-B", str(folder), f"-DLEEWAY_FOLDER={HERE.parents[1]}", *flags],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"subproject: cmake ended with {done.returncode}\n{done.stdout}")


def problems(folder):
    """The things that the configured folder lacks, or has and should not have."""
    build = (folder / "build.ninja").read_text()
    targets = set(re.findall(r"^build (\w+): phony", build, re.MULTILINE)) | set(re.findall(r"^build (\w+): CXX_EXEC", build, re.MULTILINE))
    targets = {name for name in targets if not name.startswith("cmake_object_order_")}
    found = [f"no target {name}" for name in sorted(WANTED - targets)]
    found += [f"target {name}" for name in sorted(targets) if name in UNWANTED or name.endswith(("_test", "_replay"))]
    if "-Werror" in build:
        found.append("-Werror in a command")
    cache = (folder / "CMakeCache.txt").read_text()
    return found + [f"looked for {name}" for name in PACKAGES if re.search(rf"^\w*{name}\w*:", cache, re.MULTILINE)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="leeway-subproject-") as temporary:
        folder = args.build or Path(temporary)
        # (Joined, since tools/compile_alone.py compiles every file by itself.)
        configure(folder, *(["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=24"] if args.build else []))
        found = problems(folder)
        for problem in found:
            print(f"subproject: {problem}", file=sys.stderr)
        if args.build and not found:
            subprocess.run(["cmake", "--build", str(folder), "-j", str(args.jobs), "--target", "mine"], check=True)
            subprocess.run([str(folder / "mine")], check=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
