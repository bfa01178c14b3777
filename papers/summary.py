"""Summary of a paper: its headlines with a verdict, and sentences made from the numbers."""

from bookkeeping import ONE_SEED, OTHER, SAME, UNCLEAR, ratios, verdict
from measured import is_quiet
from study import headline_ratios
from wanted import verdict_of


def judge(paper, studies):
    """(headline, ratios by seed or None, verdict) of each headline. None: an item of it did not run."""
    judged = []
    for headline in paper.headlines:
        sides = headline_ratios(studies, paper, headline)
        numbers = None if sides is None else ratios(*sides)
        judged.append((headline, numbers, "-" if numbers is None else verdict(headline.direction.paper, numbers)))
    return judged


def sentences_of(paper, book, judged, quick):
    """Says how many of our ratios are on the paper's side."""
    if quick:
        return [f"{paper.title}: the short form, with few iterations. It shows that everything runs, not the results."]
    counts, repeated = book.count(), book.repeated()
    total = sum(counts.values())
    if total == 0:
        return []
    kind = "run" if paper.is_measured else "seed"
    said = (f"{paper.title}: {_counted(total, 'ratio stands', 'ratios stand')} beside the paper's: {counts[SAME]} on its side, "
            f"{counts[OTHER]} on the other, {counts[UNCLEAR]} not distinguishable from no difference over our {kind}s")
    sentences = [said + (f", {counts[ONE_SEED]} of one {kind}." if counts[ONE_SEED] else ".")]
    if repeated:
        sentences.append(f"{_counted(repeated, 'more repeats', 'more repeat')} the numbers of another, without counting.")
    known = [said for _, numbers, said in judged if numbers is not None]
    if known:
        sentences.append(f"Of the paper's {len(known)} headlines that ran, {_counted(known.count(SAME), 'comes', 'come')} out on its side.")
    return sentences


def measured_sentences(studies, quick):
    """Says of a paper's measured items which floors they reach, on which machine they ran, and which were left out."""
    ran = [study for study in studies if study.is_measured and not study.skipped]
    verdicts = [verdict_of(study, wanted)[2] for study in ran for wanted in study.item.wanted]
    reports = {measurement.key: report for study in ran for measurement, report in zip(study.measurements, study.reports)}
    sentences = []
    if verdicts and not quick:
        sentences.append(f"Of {len(verdicts)} floors and agreements that the items want, {_counted(verdicts.count('yes'), 'is', 'are')} reached.")
    loud = sum(not is_quiet(report) for report in reports.values())
    if loud:
        sentences.append(f"{loud} of {len(reports)} measurements were taken beside other work on the machine: they are no results.")
    left_out = [study.item.name for study in studies if study.is_measured and study.skipped]
    if left_out:
        sentences.append(f"Not measured on this machine: {', '.join(left_out)}.")
    return sentences


def _counted(count, one, more):
    return f"{count} {one if count == 1 else more}"
