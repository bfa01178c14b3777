#!/usr/bin/env python3
"""report/page.py: a page holds every part, fetches nothing, and refuses what JSON does not have."""

import importlib.util
import re
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("page", ROOT / "report" / "page.py")
page = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(page)


class ReportPageTest(unittest.TestCase):
    def test_holds_every_part_in_the_order_of_the_program(self):
        text = page.page_text({"title": "uneven", "sections": []})
        for part in ["report.css", *page.SCRIPTS]:
            self.assertIn((ROOT / "report" / part).read_text(encoding="utf-8"), text)
        self.assertIn('{"title": "uneven", "sections": []}', text)
        scripts = re.search(r"set\(scripts (.*)\)", (ROOT / "cmake" / "report_parts.cmake").read_text(encoding="utf-8"))[1]
        self.assertEqual(scripts.replace("${folder}/", "").split(), page.SCRIPTS)
        self.assertEqual(sorted(page.SCRIPTS), sorted(path.name for path in (ROOT / "report").glob("*.js")))

    def test_fetches_nothing(self):
        own = page.page_text({"title": "uneven"}).replace(page.CHART_JS.read_text(encoding="utf-8"), "")
        self.assertIn("default-src 'none'", own)
        for address in ["http://", "https://", "src=", "href=", "@import", "url("]:
            self.assertNotIn(address, own)

    def test_no_text_ends_the_script_that_holds_it(self):
        text = page.page_text({"title": "a</script> {{style}} é"})
        self.assertIn("a\\u003c/script> {{style}} é", text)

    def test_refuses_a_number_that_json_does_not_have(self):
        with self.assertRaises(ValueError):
            page.page_text({"value": float("nan")})

    def test_says_where_chart_js_comes_from(self):
        there = page.CHART_JS
        page.CHART_JS = Path("/nowhere/chart.js")
        try:
            with self.assertRaisesRegex(FileNotFoundError, "got no file /nowhere/chart.js, wanted .*libjs-chart.js"):
                page.page_text({})
        finally:
            page.CHART_JS = there

    def test_writes_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            page.write_page({"title": "uneven"}, Path(folder) / "x.html")
            self.assertEqual((Path(folder) / "x.html").read_text(encoding="utf-8"), page.page_text({"title": "uneven"}))


if __name__ == "__main__":
    unittest.main()
