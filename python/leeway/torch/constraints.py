"""constraint= of DistributedOptimizer: where the servers keep the values of which parameters."""

import fnmatch

from leeway.errors import InvalidArgument


class Constraints:
    """One spec for all parameters ("clamp:-0.01,0.01"), or specs by a glob over names ({"critic.*": "clamp:-1,1"}), of which the
    first that fits counts."""

    def __init__(self, given):
        self._by_glob = {"*": given} if isinstance(given, str) else dict(given or {})
        self._found = {}  # name -> the glob that counts, or None: asked for in every step

    def added_to(self, spec, name):
        """The servers' optimizer `spec` with what holds for this parameter."""
        if name not in self._found:
            self._found[name] = next((glob for glob in self._by_glob if fnmatch.fnmatchcase(name, glob)), None)
        glob = self._found[name]
        return spec if glob is None else f"{spec}+{self._by_glob[glob]}"

    def check_used(self):
        unused = [glob for glob in self._by_glob if glob not in self._found.values()]
        if unused:
            raise InvalidArgument(f'DistributedOptimizer: constraint: "{unused[0]}" holds for no trained parameter: none is named like '
                                  "it, or an earlier glob fits all that are")
