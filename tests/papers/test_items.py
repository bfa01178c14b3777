"""Items and papers: every slip is refused with exit code 2 and names what there is. The items that come with Leeway are right."""

import pytest
from conftest import CLUSTER, ITEM, ROOT, SCENARIO

from cluster_rule import check_item
from item import Item
from paper import read_papers, select
from refusal import Refusal

PAPERS = read_papers(ROOT / "papers")


@pytest.mark.parametrize("words, wanted", [
    (["yours"], ['unknown paper "yours"', "known: mine"]),
    (["mien"], ['(did you mean "mine"?)']),
    (["mine", "table2"], ['mine: unknown item "table2"', "known: table1"]),
    (["mine", "table1", "--docs", "."], ["wanted no ITEM"]),
    (["--seeds", "0"], ["wanted a whole number from 1"]),
])
def test_an_unknown_name_is_refused(bench, words, wanted):
    refused = bench.run(*words)
    assert refused.returncode == 2 and all(text in refused.stderr for text in wanted) and not bench.started(), refused


@pytest.mark.parametrize("old, new, wanted", [
    ('"dprs"]', '"dpr"]', ['unknown figure of mine table1 "dpr"', "known: dprs, nothing, seconds"]),
    ('plots = []', 'slopes = [{ what = "each", y = "seconds", x = "dpr" }]', ['unknown figure of mine table1 "dpr"']),
    ('plots = []', 'plots = ["bars:second"]', ['"second"']),
])
def test_an_unknown_figure_ends_the_study_at_its_first_cell(bench, old, new, wanted):
    bench.write("mine/items/table1.toml", ITEM.replace(old, new))
    refused = bench.run()
    assert refused.returncode == 2 and all(text in refused.stderr for text in wanted) and len(bench.started()) < 4, refused


@pytest.mark.parametrize("old, new, wanted", [
    ('seeds = 2', 'seeds = 0', "seeds: got 0, wanted a whole number from 1 to 10000"),
    ('seeds = 2', 'sead = 2', 'unknown key "sead"'),
    ('["BSP", "ASP"]', '["BSP"]', "labels: got 1, wanted 2"),
    ('["BSP", "ASP"]', '["BSP", "BSP"]', "labels: got one twice"),
    ('[20, 10]', '[20]', "paper.seconds: got 1 numbers, wanted 2"),
    ('of = "ASP"', 'of = "ASB"', 'unknown cell "ASB"'),
    ('paper = 0.5', 'papers = 0.5', 'unknown key "papers"'),
    ('plots = []', 'slopes = [{ what = "each", y = "seconds" }]', "slopes: x: got None, wanted a text"),
    ('plots = []', 'slopes = [{ what = "each", y = "seconds", x = "dprs", time = 1 }]', 'slopes: unknown key "time"'),
    ('plots = []', 'slopes = [{ what = "each", y = "seconds", x = "dprs", times = "1" }]', "got times = '1'"),
    ('plots = []', 'slopes = [{ what = "each", y = "seconds", x = "dprs", cells = ["CSP"] }]', "cells: got ['CSP'], wanted a list of some of BSP, ASP"),
    ('plots = []', 'plots = ["pie:seconds"]', 'got "pie:seconds", wanted bars:FIGURE'),
    ('policies.sync=bsp;asp', 'policies.sync=bpp;asp', 'unknown sync model "bpp"'),
    ('title = ', 'scenario = "none"\ntitle = ', "there is no"),
    ('title = ', 'title == ', "table1.toml: "),
    ('[quick]', '[fitted]\nseconds = ["CSP"]\n[quick]', 'fitted.seconds: got "CSP"'),
])
def test_a_slip_in_an_item_is_refused(bench, old, new, wanted):
    assert old in ITEM
    bench.write("mine/items/table1.toml", ITEM.replace(old, new, 1))
    refused = bench.run()
    assert refused.returncode == 2 and wanted in refused.stderr and not bench.started(), refused


@pytest.mark.parametrize("path, text", [
    ("mine/items/table1.toml", ITEM.replace("policies.sync=bsp;asp", "compute.spread=0;1")),
    ("mine/items/table1.toml", ITEM.replace("policies.sync=bsp;asp", "iterations+links.latency_s=1+0;2+1")),
    ("mine/items/table1.toml", ITEM.replace("iterations = 2", "compute.base_s = 2")),
    ("mine/items/table1.toml", ITEM.replace("[quick]", "[set]\nserver.factors = 2\n[quick]")),
    ("mine/items/table1.toml", ITEM.replace("[quick]", "[set]\ncost.job_s = 1\n[quick]")),
    ("mine/items/table1.toml", ITEM.replace("policies.sync=bsp;asp", "cluster.together=false;true")),
    ("mine/scenarios/table1.toml", SCENARIO + "[compute]\nspread = 1\n"),
    ("clusters/c.toml", CLUSTER + "[delays]\nanswer_s = 1\n"),
])
def test_no_item_changes_a_key_of_its_cluster(bench, path, text):
    bench.write("mine/scenarios/table1.toml", SCENARIO + "[delays]\nanswer_s = 4\n")
    assert bench.run("--list").returncode == 0
    bench.write(path, text)
    refused = bench.run("--list")
    assert refused.returncode == 2 and "says something of the cluster, wanted it in c.toml alone" in refused.stderr, refused


def test_a_cluster_that_includes_another_keeps_its_keys_from_items(bench):
    bench.write("clusters/even.toml", 'include = "c.toml"\n[compute]\nspread = 0\n')
    bench.write("clusters/c.toml", CLUSTER + "[cluster]\ntogether = true\n")
    bench.write("clusters/chosen.toml", '[even]\n"compute.base_s" = "a number"\n')
    scenario = SCENARIO.replace("c.toml", "even.toml")
    bench.write("mine/scenarios/table1.toml", scenario)
    assert read_papers(bench.papers)["mine"].chosen["table1"] == {"compute.base_s": (0.5, "a number")}
    bench.write("mine/scenarios/table1.toml", scenario + "[cluster]\ntogether = false\n")
    refused = bench.run("--list")
    assert refused.returncode == 2 and "cluster.together says something of the cluster, wanted it in even.toml alone" in refused.stderr, refused


def test_an_item_without_a_cluster_is_refused(bench):
    bench.write("mine/scenarios/table1.toml", "iterations = 3\n")
    refused = bench.run("--list")
    assert refused.returncode == 2 and "includes no file of papers/clusters" in refused.stderr, refused


def test_a_chosen_value_is_one_of_its_cluster(bench):
    bench.write("clusters/chosen.toml", '[c]\n"compute.bas_s" = "Table 1"\n')
    assert 'unknown key "compute.bas_s"; known: compute.base_s' in bench.run("--list").stderr


def test_the_items_that_come_with_leeway_keep_the_rule():
    # Reading them has checked them: this says that the check was there to be failed.
    for paper in PAPERS.values():
        for item in paper.items:
            if paper.name == "clusters":
                with pytest.raises(Refusal, match="something of the cluster"):
                    check_item(item, item.name)
            else:
                assert check_item(item, item.name).is_file()
            if paper.name != "clusters" and not item.is_measured:
                changed = Item(item.name, item.scenario, item.title, quick={"links.worker_gbit": 10})
                with pytest.raises(Refusal, match="links.worker_gbit"):
                    check_item(changed, item.name)


def test_an_item_has_its_parts_and_ten_comes_after_nine():
    def names(*words):
        return [item.name for _, items in select(PAPERS, *words) for item in items]
    assert len(names("fluentps", "table4")) == 6 and names("psp_sgd", "figure4") == ["table1_figure4"]
    figures = [name for name in names("fluentps", None) if name.startswith("figure")]
    assert figures.index("figure10") > figures.index("figure9") and figures[0] == "figure1"
    assert list(PAPERS)[-1] == "clusters"


def test_every_paper_has_its_headlines():
    says = {name: " ".join(headline.says for headline in paper.headlines) for name, paper in PAPERS.items()}
    assert "6x" in says["fluentps"] and "93.7 %" in says["fluentps"] and "30 %" in says["psp_sgd"]
