"""Constraints: constraint= of DistributedOptimizer, the range in which servers keep the values of parameters."""

import fnmatch

from leeway.errors import InvalidArgument


class Constraints:
    """One spec for all parameters ("clamp:-0.01,0.01"), or specs by a glob over names ({"critic.*": "clamp:-1,1"}). The first
    glob that fits a name counts."""

    def __init__(self, given):
        self._by_glob = {"*": given} if isinstance(given, str) else dict(given or {})
        self._found = {}  # name -> the glob that counts, or None; kept because every step asks

    def added_to(self, spec, name):
        """Returns the spec of the servers' optimizer with the constraint of this parameter."""
        if name not in self._found:
            self._found[name] = next((glob for glob in self._by_glob if fnmatch.fnmatchcase(name, glob)), None)
        glob = self._found[name]
        return spec if glob is None else f"{spec}+{self._by_glob[glob]}"

    def check_used(self):
        unused = [glob for glob in self._by_glob if glob not in self._found.values()]
        if unused:
            raise InvalidArgument(f'DistributedOptimizer: constraint: "{unused[0]}" holds for no trained parameter: none is named like '
                                  "it, or an earlier glob fits all that are")
