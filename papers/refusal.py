"""Refusals: input that cannot be meant. The program ends with exit code 2 and has changed nothing."""

import difflib


class Refusal(Exception):
    """Says what, which, got, wanted."""


def unknown(what, got, known):
    """Refuses a name that `known` does not have."""
    near = difflib.get_close_matches(got, known, n=1)
    return Refusal(f'unknown {what} "{got}"; known: {", ".join(known)}' + (f' (did you mean "{near[0]}"?)' if near else ""))
