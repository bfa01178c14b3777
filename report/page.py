"""Writes a page document (README.md beside this file) as one HTML file that needs no network.

    sys.path.insert(0, str(ROOT / "report"))
    from page import write_page
    write_page({"title": "Results", "sections": [...]}, "out/report.html")
"""

import json
import os
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# Where Debian's libjs-chart.js puts it; the variable is for a machine that has it elsewhere.
CHART_JS = Path(os.environ.get("LEEWAY_CHART_JS", "/usr/share/javascript/chart.js/chart.min.js"))
# In this order, as in cmake/report_parts.cmake: the last one draws.
SCRIPTS = ["lines_and_bars.js", "grids.js", "timeline.js", "report.js"]


def page_text(document):
    """The page; a ValueError for a number that JSON does not have (write None instead of nan)."""
    if not CHART_JS.is_file():
        raise FileNotFoundError(f"Chart.js: got no file {CHART_JS}, wanted the one of Debian's libjs-chart.js (tools/deps.sh train)")
    parts = {
        "style": (FOLDER / "report.css").read_text(encoding="utf-8"),
        # "</script>" in a name would end the element that holds the document.
        "document": json.dumps(document, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c"),
        "chart_js": CHART_JS.read_text(encoding="utf-8"),
        "script": "".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS),
    }
    template = (FOLDER / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def write_page(document, path):
    Path(path).write_text(page_text(document), encoding="utf-8")
