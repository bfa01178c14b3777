"""Refusals: input that cannot be meant. The program ends with exit code 2 and has changed nothing."""

import difflib


class Refusal(Exception):
    """Says what, which, got, wanted."""


def unknown(what, got, known):
    """Refuses a name that `known` does not have."""
    near = difflib.get_close_matches(got, known, n=1)
    return Refusal(f'unknown {what} "{got}"; known: {", ".join(known)}' + (f' (did you mean "{near[0]}"?)' if near else ""))


def check_keys(data, kind, texts, where):
    """Refuses a table of a file that is no `kind` (a dataclass). `texts`: keys that must be there, with a text each."""
    known = list(kind.__dataclass_fields__)
    for key in data:
        if key not in known:
            raise Refusal(f"{where}: {unknown('key', key, known)}")
    for key in texts:
        if not isinstance(data.get(key), str):
            raise Refusal(f"{where}: {key}: got {data.get(key)!r}, wanted a text")
