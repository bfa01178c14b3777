"""Papers: the folders of papers/ that have a paper.toml, each with its items, headlines and scenarios."""

import re
from dataclasses import dataclass, field

from cluster_rule import check_item
from data_file import flat_keys, read_all, read_toml
from item import Direction, Item, read_direction, read_item
from refusal import Refusal, unknown

CLUSTERS = "clusters"
FORMS = {"times": lambda ratio: f"{1 / ratio:.2f} x" if ratio else "-", "change": lambda ratio: f"{100 * (ratio - 1):+.1f} %",
         "ratio": lambda ratio: f"{ratio:.3f}"}


@dataclass(frozen=True)
class Headline:
    """A claim of the paper's abstract or conclusion, with the ratio of ours that stands beside it."""
    says: str
    shown: str  # a key of FORMS
    direction: Direction


@dataclass
class Paper:
    name: str  # of its folder
    title: str
    items: list[Item] = field(default_factory=list)
    headlines: list[Headline] = field(default_factory=list)
    chosen: dict = field(default_factory=dict)  # item -> key -> (value, the paper's number that it was chosen by)
    page: str = ""  # of its Markdown and pictures; else its name

    @property
    def is_measured(self):
        return any(item.is_measured for item in self.items)

    def page_name(self):
        return self.page or self.name

    def item(self, name):
        return next((item for item in self.items if item.name == name), None)


def in_order(name):
    """"figure10" comes after "figure9"."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def read_papers(folder):
    """name -> Paper. The cluster's folder, which is no paper, comes last."""
    files = sorted(folder.glob("*/paper.toml"), key=lambda path: (path.parent.name == CLUSTERS, path))
    if not files:
        raise Refusal(f"{folder}: got no */paper.toml, wanted one for each paper")
    chosen = read_toml(folder / CLUSTERS / "chosen.toml") if (folder / CLUSTERS / "chosen.toml").is_file() else {}
    return {path.parent.name: _read_paper(path, chosen) for path in files}


def _read_paper(path, chosen):
    data = read_toml(path)
    for key in data:
        if key not in ("title", "headlines", "page"):
            raise Refusal(f"{path}: {unknown('key', key, ['title', 'headlines', 'page'])}")
    if not isinstance(data.get("title"), str):
        raise Refusal(f"{path}: title: got {data.get('title')!r}, wanted a text")
    paper = Paper(path.parent.name, data["title"], page=str(data.get("page", "")))
    for file in sorted(path.parent.glob("items/*.toml"), key=lambda each: in_order(each.stem)):
        item = read_item(file)
        if item is None:
            continue
        cluster = check_item(item, file, may_change=paper.name == CLUSTERS)
        keys = dict(flat_keys(read_all(cluster)))
        by_paper = {key: (_value_of(key, keys, cluster), why) for key, why in chosen.get(cluster.stem, {}).items()}
        own = {key: (None, why) for key, why in item.chosen.items()}
        paper.chosen[item.name] = {**by_paper, **own}
        paper.items.append(item)
    for item in paper.items:
        for direction in item.directions:
            _check_direction(paper, item, direction, f"{path.parent}/items/{item.name}.toml: directions")
    paper.headlines = [_read_headline(paper, each, path) for each in data.get("headlines", [])]
    return paper


def _value_of(key, keys, cluster):
    if key not in keys:
        raise Refusal(f"{cluster.parent}/chosen.toml: {cluster.stem}: {unknown('key', key, list(keys))}")
    return keys[key]


def _read_headline(paper, data, path):
    words = dict(data)
    says, shown, item = words.pop("says", None), words.pop("shown", "ratio"), words.pop("item", None)
    if not isinstance(says, str) or shown not in FORMS:
        raise Refusal(f"{path}: headlines: got says = {says!r} and shown = {shown!r}, wanted a text and one of {', '.join(FORMS)}")
    direction = read_direction({"what": says, "of_item": item, "over_item": item, **words}, f"{path}: headline \"{says}\"")
    _check_direction(paper, None, direction, f"{path}: headline \"{says}\"")
    return Headline(says, shown, direction)


def _check_direction(paper, own, direction, where):
    for name, label in ((direction.of_item, direction.of), (direction.over_item, direction.over)):
        item = paper.item(name) if name else own
        if item is None:
            raise Refusal(f"{where}: {unknown('item', str(name), [each.name for each in paper.items])}")
        labels = [cell.label for cell in item.cells()]
        if label not in labels:
            raise Refusal(f"{where}: {item.name}: {unknown('cell', label, labels)}")


def select(papers, paper, item):
    """[(Paper, [Item])]: all, those of one paper, or of one item of it and of its parts ("table4" has "table4_alexnet_cifar10",
    and "figure4" is in "table1_figure4")."""
    paper = paper and paper.replace("-", "_")
    if paper and paper not in papers:
        raise unknown("paper", paper, list(papers))
    chosen = []
    for each in [papers[paper]] if paper else papers.values():
        items = [one for one in each.items
                 if not item or one.name == item or one.name.startswith(item + "_") or one.name.endswith("_" + item)]
        if items:
            chosen.append((each, items))
    if not chosen:
        known = [one.name for each in ([papers[paper]] if paper else papers.values()) for one in each.items]
        raise Refusal(f"{paper}: {unknown('item', item, known)}" if paper else str(unknown("item", item, known)))
    return chosen
