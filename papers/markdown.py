"""Markdown of a paper: its headlines, and its items one after the other."""

from charts import headlines_table, plots_of, tables_of


def table_markdown(table):
    """Columns as wide as their longest cell, so that the text is a table, too."""
    rows = [[column["name"] for column in table["columns"]], *[[str(cell) for cell in row] for row in table["rows"]]]
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(3, *(len(row[at]) for row in rows)) for at in range(len(rows[0]))]
    left = [column["align"] == "left" for column in table["columns"]]
    rule = ["-" * width if is_left else "-" * (width - 1) + ":" for width, is_left in zip(widths, left)]
    lines = [[cell.ljust(width) if is_left else cell.rjust(width) for cell, width, is_left in zip(row, widths, left)] for row in rows]
    text = "".join(f"| {' | '.join(line)} |\n" for line in [lines[0], rule, *lines[1:]])
    return text + (f"\n{table['note']}\n" if table["note"] else "")


def command_of(study):
    words = ["papers/papers.py", study.paper.name, study.item.name] + (["--quick"] if study.quick else [])
    if study.is_measured:
        return " ".join(words)
    if study.seeds[0] != 1:
        words += ["--seed", str(study.seeds[0])]
    return " ".join([*words, "--seeds", str(len(study.seeds))])


def picture_path(study, plot):
    return f"{study.paper.page_name()}/{study.item.name}_{plot}.svg"


def item_markdown(study):
    text = f"## {study.item.title}\n\n"
    text += "".join(f"{paragraph}\n\n" for paragraph in study.item.texts)
    if study.skipped:
        return text + f"Not run: {study.skipped}.\n\n"
    text += "".join(f"**{error}**\n\n" for error in study.errors)
    text += f"```\n{command_of(study)}\n```\n\n" + "".join(table_markdown(table) + "\n" for table in tables_of(study))
    for name, chart in plots_of(study):
        text += f"![{chart['title']}]({picture_path(study, name)})\n\n"
    return text


WRITTEN_BY = "Written by `make papers`; do not edit."


TIMES_MEASURED = ("Figures that do not begin with \"simulated\" were measured with real processes, on an emulated network and an emulated GPU "
                  "(docs/emulated-cluster.md): another run gives other digits.")


def paper_markdown(paper, studies, judged, sentences):
    """`studies`: of this paper; `judged`: its headlines; `sentences`: what came out."""
    text = (f"# {paper.title}: the paper's figures beside ours\n\n{WRITTEN_BY} The texts on differences stand in "
            f"`papers/{paper.name}/items`; the clusters are those of `papers/clusters`, which every item of a cluster includes and none "
            f"changes. {TIMES_MEASURED if paper.is_measured else 'Times are simulated.'}\n\n")
    text += "".join(f"{sentence}\n" for sentence in sentences) + ("\n" if sentences else "")
    if judged:
        text += table_markdown(headlines_table(paper, judged)) + "\n"
    return (text + "".join(item_markdown(study) for study in studies)).rstrip("\n") + "\n"
