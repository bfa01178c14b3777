"""Markdown, pictures and the page's document, from numbers made by hand."""

import json
from pathlib import Path

from bookkeeping import verdict
from charts import honest_notes, number_text, plots_of, slopes_table
from item import Direction, Item
from markdown import paper_markdown
from page_document import document_of
from paper import Headline, Paper
from pictures import svg_of
from runner import Results
from slope import Slope
from study import ItemStudy, fill

GOLDEN = Path(__file__).parent / "golden.md"


def study_of_two_cells():
    """SSP takes 20, 21, 22 s and has 400 DPRs; PSSP takes half of the time and has a tenth of them, in two seeds of three."""
    item = Item("table1", None, "Table 1: SSP and PSSP", texts=["What differs, and why."], sweeps=["policies.sync=ssp:3;pssp:3,0.5;pssp:3,0.5"],
                labels=["SSP", "PSSP", "PSSP again"], seeds=3, figures=["seconds", "dprs"], plots=["bars:seconds", "curve:accuracy"],
                directions=[Direction("PSSP over SSP", "seconds", "PSSP", "SSP", 0.7), Direction("PSSP over SSP", "dprs", "PSSP", "SSP", 2),
                            Direction("again over SSP", "seconds", "PSSP again", "SSP", 0.7), Direction("no number", "dprs", "SSP", "PSSP")],
                paper={"seconds": [19.5, 12, float("nan")]}, fitted={"seconds": ["SSP"]})
    paper = Paper("mine", "Mine", [item], [Headline("1.4x faster", "times", Direction("x", "seconds", "PSSP", "SSP", 0.7, "table1", "table1")),
                                           Headline("30 % less", "change", Direction("x", "seconds", "PSSP", "SSP", 0.7, "other", "other"))],
                  {"table1": {"compute.base_s": (0.32, "the time of SSP in Table 1")}})
    study = ItemStudy(paper, item, False, item.cells(), [1, 2, 3])
    study.keys = [[f"{cell.label} {seed}" for seed in study.seeds] for cell in study.cells]

    def run(seconds, dprs):
        return {"seconds": seconds, "dprs": dprs, "curve": [{"seconds": at * seconds, "iteration": at, "accuracy": at / 2} for at in (0, 1)]}

    runs = {f"SSP {seed}": run(19 + seed, 400) for seed in study.seeds}
    for label in ("PSSP", "PSSP again"):
        runs.update({f"{label} {seed}": run((19 + seed) / 2, 40 if seed < 3 else 800) for seed in study.seeds})
    books = fill([study], Results(runs))
    return study, books["mine"]


def judged_of(study):
    ratios = study.findings[0].ratios
    first, second = study.paper.headlines
    return [(first, ratios, verdict(0.7, ratios)), (second, None, "-")]


def test_markdown_is_the_golden_one():
    study, _ = study_of_two_cells()
    text = paper_markdown(study.paper, [study], judged_of(study), ["One sentence."])
    assert text == GOLDEN.read_text(encoding="utf-8"), text


def test_the_books_of_the_study():
    study, book = study_of_two_cells()
    assert [finding.verdict for finding in study.findings] == ["yes", "not distinguishable", "yes", "-"]
    assert study.findings[2].repeats == "table1: PSSP over SSP"
    assert book.count() == {"yes": 1, "no": 0, "not distinguishable": 1, "one seed": 0} and book.repeated() == 1
    assert any('"PSSP again" and "PSSP" agree' in note for note in honest_notes(study))


def test_a_direction_may_take_its_cells_from_a_later_item():
    later, _ = study_of_two_cells()
    direction = Direction("PSSP over SSP", "seconds", "PSSP", "SSP", 0.7, "table1", "table1")
    item = Item("figure1", None, "Figure 1", sweeps=["policies.sync=ssp:3"], directions=[direction])
    first = ItemStudy(later.paper, item, False, item.cells(), [1, 2, 3], keys=[["none"] * 3])
    runs = {key: run for keys, row in zip(later.keys, later.runs) for key, run in zip(keys, row)}
    later.runs = []
    fill([first, later], Results(runs))
    assert first.findings[0].ratios == (0.5, 0.5, 0.5) and first.findings[0].verdict == "yes"
    assert later.findings[0].repeats == "figure1: PSSP over SSP"


def test_the_document_has_what_was_agreed():
    study, _ = study_of_two_cells()
    document = document_of([(study.paper, [study], judged_of(study), ["One sentence."])], "iterations = 1\n", False)
    assert set(document) == {"title", "subtitle", "verdict", "errors", "facts", "scenario", "sections"}
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    headlines, section = document["sections"]
    assert [chart["kind"] for chart in headlines["charts"] + section["charts"]] == ["table", "table", "table", "bars", "lines", "lines"]
    for chart in section["charts"]:
        assert all(len(row) == len(chart["columns"]) for row in chart.get("rows", []))
    bars = section["charts"][2]
    assert bars["series"][0] == {"name": "ours", "values": [21, 10.5, 10.5], "low": [20, 10, 10], "high": [22, 11, 11]}
    assert bars["series"][1]["values"] == [19.5, 12, None]


def test_a_page_of_many_items_begins_with_their_names():
    study, _ = study_of_two_cells()
    for count, folded in ((1, False), (4, True)):
        document = document_of([(study.paper, [study] * count, judged_of(study), [])], "", False)
        assert [section.get("folded", False) for section in document["sections"]] == [False] + [folded] * count


def test_a_net_whose_times_mean_nothing_is_drawn_against_iterations_alone():
    study, _ = study_of_two_cells()
    study.item.plots = ["iterations:accuracy"]
    (name, chart), = plots_of(study)
    assert name == "accuracy_iterations" and chart["x"]["label"] == "iterations" and len(chart["series"]) == 3


def test_a_slope_is_ours_seed_by_seed_beside_that_of_the_papers_numbers():
    study, _ = study_of_two_cells()
    study.item.slopes = [Slope("a pull", "seconds", "dprs", 1000, "ms"), Slope("nothing", "dprs", "accuracy"),
                         Slope("two rows", "seconds", "dprs", cells=("SSP", "PSSP again"))]
    study.item.paper = {"seconds": [20, 10, 10], "dprs": [500, 100, 300]}
    study.runs[2] = [None] * 3
    # 10 s for 360 pulls, 10.5 s for 360, and -11 s for 400: the paper's are 10, 10 and 20 s at 100, 300 and 500.
    assert slopes_table(study)["rows"] == [["a pull", "9.81", "-27.50", "29.17", "25", "ms"], ["nothing", "-", "-", "-", "-", ""],
                                           ["two rows", "-", "-", "-", "0.0500", ""]]
    assert "| a pull" in paper_markdown(study.paper, [study], [], [])


def test_pictures_are_the_same_bytes_each_time():
    study, _ = study_of_two_cells()
    for name, chart in plots_of(study):
        picture = svg_of(chart)
        assert picture == svg_of(chart) and "PSSP" in picture and len(picture) < 60_000, name


def test_a_cell_that_never_ran_has_no_number():
    study, _ = study_of_two_cells()
    study.runs = [[None] * 3 for _ in study.cells]
    assert [chart["kind"] for _, chart in plots_of(study)] == ["bars", "lines", "lines"]
    assert all(svg_of(chart) for _, chart in plots_of(study)[:1])
    assert "SSP (0 of 3 runs ended well)" in paper_markdown(study.paper, [study], [], [])


def test_numbers_have_as_many_digits_as_say_something():
    values = (None, 0, 3.0, 0.12345, 12.345, 123.45, 1234.5, 2e9)
    assert [number_text(value) for value in values] == ["-", "0", "3", "0.1235", "12.35", "123.5", "1234", "2e+09"]


def test_a_cell_without_any_answer_has_no_line():
    study, _ = study_of_two_cells()
    study.item.plots = ["answers"]
    for row in study.runs:
        for run in row:
            run["answers"] = [{"seconds": 0.1, "share": 0}, {"seconds": 1.0, "share": 0}]
    assert [chart["series"] for _, chart in plots_of(study)] == [[]]
    for run in study.runs[0]:
        run["answers"][1]["share"] = 1
    (_, chart), = plots_of(study)
    assert [series["name"] for series in chart["series"]] == ["SSP"]
