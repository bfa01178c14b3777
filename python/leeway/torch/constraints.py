"""constraint= of DistributedOptimizer: where the servers keep the values of which parameters."""

import fnmatch

from leeway.errors import InvalidArgument


class Constraints:
    """One spec for all parameters ("clamp:-0.01,0.01"), or specs by a glob over names ({"critic.*": "clamp:-1,1"})."""

    def __init__(self, given):
        self._by_glob = {"*": given} if isinstance(given, str) else dict(given or {})
        self._used = set()

    def added_to(self, spec, name):
        """The servers' optimizer `spec` with what holds for this parameter. The first glob that fits counts."""
        for glob, constraint in self._by_glob.items():
            if fnmatch.fnmatchcase(name, glob):
                self._used.add(glob)
                return f"{spec}+{constraint}"
        return spec

    def check_used(self):
        unused = [glob for glob in self._by_glob if glob not in self._used]
        if unused:
            raise InvalidArgument(f'DistributedOptimizer: constraint: no parameter is named like "{unused[0]}"')
