"""Data files: TOML with `include = "other.toml"`, whose keys come first. Scenarios and items are both such files."""

import tomllib
from pathlib import Path

from refusal import Refusal

INCLUDES_MAX = 4


def read_toml(path):
    """The file's own keys."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Refusal(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise Refusal(f"{path}: {error}") from error


def included_files(path):
    """The file, what it includes, what that includes."""
    paths, at = [], Path(path)
    while True:
        paths.append(at)
        include = read_toml(at).get("include")
        if include is None:
            return paths
        if not isinstance(include, str):
            raise Refusal(f'{at}: include: got {include!r}, wanted the path of a file in quotes')
        if len(paths) > INCLUDES_MAX:
            raise Refusal(f"{path}: got more than {INCLUDES_MAX} files that include each other")
        at = Path(at.parent / include)


def read_all(path):
    """The keys of the file and of what it includes. A table is taken key by key: the including file's keys win."""
    merged = {}
    for file in reversed(included_files(path)):
        for key, value in read_toml(file).items():
            if isinstance(value, dict) and isinstance(merged.get(key), dict):
                merged[key] = {**merged[key], **value}
            elif key != "include":
                merged[key] = value
    return merged


def flat_keys(table, before=""):
    """{"compute": {"base_s": 1}} -> [("compute.base_s", 1)]."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flat_keys(value, f"{before}{key}.")
        else:
            yield before + key, value


def plain(value):
    """A value as it would be written on a command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(plain(each) for each in value)
    return str(value)
