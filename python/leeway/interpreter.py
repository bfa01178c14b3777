"""Which Python a build of Leeway is for. Imports nothing that another Python may lack."""

import sys
from pathlib import Path


def hint(missing):
    """Ends the message about a module that is missing when leeway is imported: most often this is another Python."""
    try:
        python = (Path(__file__).absolute().parent.parent / "interpreter").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    if sys.executable and Path(python).resolve() != Path(sys.executable).resolve():
        return (f"; this build of leeway is for {python}, and this Python is {sys.executable}: start the script with that one, "
                "or by leeway run")
    return "; the binding is not built: make train builds it" if missing == "leeway._leeway" else ""
