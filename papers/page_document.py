"""The one page of all items that ran, as the document that report/page.py writes."""

import sys

from charts import headlines_table, plots_of, tables_of
from markdown import command_of
from simulator import ROOT


OPEN_MAX = 3  # a page of more items begins with their names, and a reader opens the one that matters


def document_of(papers, scenario, quick):
    """`papers`: (paper, studies, judged headlines, sentences) of each; `scenario`: the clusters' files."""
    items = [study for _, studies, _, _ in papers for study in studies]
    sections = []
    for paper, studies, judged, _ in papers:
        if judged:
            sections.append({"title": paper.title, "note": "", "charts": [headlines_table(paper, judged)]})
        sections += [{**_section(paper, study), "folded": len(items) > OPEN_MAX} for study in studies]
    measured = any(study.is_measured for study in items)
    return {"title": "The papers' figures beside ours",
            "subtitle": ("Emulated clusters of real processes, and the same ones simulated" if measured else
                         "Simulated clusters, the true node code, real gradients"),
            "verdict": [sentence for _, _, _, sentences in papers for sentence in sentences],
            "errors": [f"{study.item.name}: {error}" for study in items for error in study.errors],
            "facts": [["papers", ", ".join(paper.title for paper, _, _, _ in papers)], ["tables and figures", str(len(items))],
                      ["cells", str(sum(len(study.cells) for study in items))],
                      ["length", "quick: few iterations" if quick else "whole"]],
            "scenario": scenario, "sections": sections}


def _section(paper, study):
    title = f"{paper.title}: {study.item.title}"
    if study.skipped:
        return {"title": title, "note": f"Not run: {study.skipped}.", "charts": []}
    note = "\n\n".join([*study.item.texts, command_of(study)])
    return {"title": title, "note": note.replace("`", "").replace("**", ""), "charts": [_plain(table) for table in tables_of(study)] + [chart for _, chart in plots_of(study)]}


def _plain(chart):
    """Without the marks of Markdown."""
    return {**chart, "note": chart["note"].replace("`", "").replace("**", "")}


def write(document, path):
    sys.path.insert(0, str(ROOT / "report"))
    from page import write_page
    write_page(document, path)
