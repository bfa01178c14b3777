"""Whether functions that fetch memory ahead do so in what was built: check_fetches.py OBJDUMP LIBRARY FUNCTION...

Each FUNCTION is the beginning of a name; the functions of that name, or what they call by name within the
library, must hold a prefetch. A compiler may take one for nothing and leave out every call of a function that
does nothing else, and no result changes but the time it takes. So a FUNCTION that can tell is one that fetches
nothing itself and calls one that does nothing else. For x86.
"""

import re
import subprocess
import sys

FETCH = re.compile(r"\tprefetch\w*\b")
HEAD = re.compile(r"^[0-9a-f]+ <(.+)>:$")
CALL = re.compile(r"\t(?:call|jmp)q?\s+\S+ <(.+?)(?:\+0x[0-9a-f]+)?>$|R_X86_64_\w+\s+(.+?)(?:[-+]0x[0-9a-f]+)?$")


def functions(objdump, library):
    """Name -> its lines."""
    command = [objdump, "-d", "-r", "-C", "--no-show-raw-insn", library]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found, name = {}, None
    for line in listing.splitlines():
        head = HEAD.match(line)
        if head:
            name = head.group(1)
        elif name is not None:
            found.setdefault(name, []).append(line)
    return found


def fetches(name, bodies, seen):
    if name in seen or name not in bodies:
        return False
    seen.add(name)
    if any(FETCH.search(line) for line in bodies[name]):
        return True
    called = (CALL.search(line) for line in bodies[name])
    return any(fetches(call.group(1) or call.group(2), bodies, seen) for call in called if call)


def main(objdump, library, wanted):
    bodies = functions(objdump, library)
    failed = 0
    for beginning in wanted:
        named = [name for name in bodies if name.startswith(beginning)]
        if not named:
            print(f"{library}: no function {beginning}")
        elif not any(fetches(name, bodies, set()) for name in named):
            print(f"{library}: {beginning} fetches nothing: the compiler has left its prefetches out")
        else:
            continue
        failed += 1
    print(f"{len(wanted) - failed} of {len(wanted)} functions fetch")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
