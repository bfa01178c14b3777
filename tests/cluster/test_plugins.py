"""Plug-ins: the thesis's policies simulated and in real jobs, and libraries that must be refused."""

import json
import os

import pytest
from cli_process import Leeway, leeway
from job import BUILD, PROGRAMS, Job

THESIS = BUILD / "examples" / "leeway_thesis.so"
FAULTY = BUILD / "tests" / "cluster"

SCENARIO = """
name = "thesis"
iterations = 40

[cluster]
workers = 4
servers = 2

[compute]
base_s = 0.01
spread = 0.5

[training]
problem = "quadratic:dimensions=4000"
rate = 0.1

[study]
sweeps = ["policies.sync+policies.exchange+policies.placement={rows}"]
"""
OURS = "ssp:5+when_stale:5+lpt"
THESES = "thesis_ssp:5+thesis_ssp:5+thesis_heuristic"


def test_the_thesis_simulated_is_ssp_with_when_stale(tmp_path):
    scenario = tmp_path / "thesis.toml"
    scenario.write_text(SCENARIO.format(rows=f"{OURS};{THESES};ssp:5+every:1+lpt"))
    result = leeway("sim", scenario, "--plugin", THESIS, "--json", tmp_path / "out.json")
    assert result.returncode == 0, result
    ours, theses, always = json.loads((tmp_path / "out.json").read_text())["cells"]
    for cell in (ours, theses, always):
        del cell["figures"]["gigabytes"]  # the names of policies travel too
    assert theses["figures"] == ours["figures"] and theses["figures"]["loss"] != always["figures"]["loss"]

    refused = leeway("sim", scenario)
    assert refused.returncode == 2 and 'unknown sync model "thesis_ssp"' in refused.stderr, refused


def test_every_process_of_a_job_has_the_policies_of_its_plug_in(tmp_path):
    """Two workers make 60 steps of lr 0.1 along ones; the thesis's sgd takes each worker's whole, and every gradient is in at the end."""
    job_file = tmp_path / "job.toml"
    # The model stands before the plug-in that it comes from.
    job_file.write_text(f'sync = "thesis_ssp:5"\nplugin = "{THESIS}"\n')
    summary = tmp_path / "summary.json"
    result = leeway("run", "-w", 2, "-s", 2, "--job-file", job_file, "--exchange", "thesis_ssp:5", "--placement",
                    "thesis_round_robin", "--block-bytes", 64, "--summary-json", summary,
                    PROGRAMS / "plugin_steps.py", tmp_path, 60, "thesis_sgd")
    assert result.returncode == 0, result
    lines = [line.split() for line in result.stdout.splitlines() if "] w " in line]
    assert sorted(line[0] for line in lines) == ["[w0]", "[w1]"], result
    for _, _, w, _, skipped in lines:
        assert w == "-12.000" and int(skipped) > 0, result
    assert json.loads(summary.read_text())["status"]["tables"][0]["servers"][0]["sync"] == "thesis_ssp:5"


def test_a_worker_in_cpp_finds_the_plug_in_too():
    result = leeway("run", "-w", 2, "-s", 1, "--plugin", THESIS, "--sync", "thesis_ssp:0", "--", BUILD / "examples" / "leeway_hello")
    assert result.returncode == 0 and "[w1] hello, w = 3.000" in result.stdout, result


def test_a_script_alone_names_its_plug_in(tmp_path):
    program = tmp_path / "alone.py"
    program.write_text(f"""
import leeway
leeway.init(sync="thesis_ssp:2", exchange="thesis_ssp:2", plugins=[{str(THESIS)!r}])
from small_table import SmallTable
table = SmallTable("thesis_sgd")
for _ in range(10):
    table.step()
print(f"{{table.last():.3f}}")
leeway.shutdown()
""")
    result = leeway("run", "-w", 1, "--no-prefix", "--quiet", "--", "env", "-u", "LEEWAY_SCHEDULER", f"PYTHONPATH={BUILD / 'python'}:{PROGRAMS}",
                    os.environ.get("PYTHON", "") or (BUILD / "python" / "interpreter").read_text().strip(), program)
    assert "-1.000" in result.stdout.split(), result


def test_a_role_without_the_plug_in_says_what_it_lacks(tmp_path):
    with Job(tmp_path, workers=1, sync="thesis_ssp:5", plugin=THESIS) as job:
        worker = job.start_worker(0, "plugin_steps", "5", "thesis_sgd", str(THESIS))
        job.expect_end([worker], code=2)
        for who in ("scheduler", "server-0", "worker-0"):
            assert 'table "w": unknown sync model "thesis_ssp"' in (tmp_path / f"{who}.log").read_text(), job.logs()


REFUSED = [
    ("no_plugin", "is no plug-in: got no symbol leeway_plugin_head"),
    ("other_version", "got version 2 of the plug-in interface, wanted 1"),
    ("other_library", 'got the standard library "another library", wanted "libstdc++"'),
    ("no_function", "got no function leeway_plugin"),
    ("throws", "it threw while it added its policies: no luck today"),
    ("twice", 'it adds the placement "mine", which exists already'),
    ("name_taken", 'it adds the placement "lpt", which exists already'),
    ("undefined", "undefined symbol: nobody_defines_this"),
]


@pytest.mark.parametrize("fault, says", REFUSED)
def test_a_bad_plug_in_ends_a_job_before_it_begins(tmp_path, fault, says):
    library = FAULTY / f"plugin_{fault}.so"
    with Leeway(tmp_path, "run", "-w", 2, "--plugin", library, "--", "touch", tmp_path / "began") as job:
        assert 1 <= job.wait() <= 127
        assert f'--plugin: plug-in "{library}": ' in job.err() and says in job.err(), job.err()
        job.expect_nothing_left()
    assert not (tmp_path / "began").exists()


def test_a_plug_in_that_throws_while_it_is_loaded_ends_the_process(tmp_path):
    """Its constructors run before there is anything of it to ask; the process ends with an exit code that says it is for good."""
    library = FAULTY / "plugin_throws_while_loaded.so"
    with Leeway(tmp_path, "run", "-w", 2, "--plugin", library, "--", "touch", tmp_path / "began") as job:
        assert job.wait() == 2
        assert f'plug-in "{library}": it threw while it was loaded: not even loaded' in job.err(), job.err()
        job.expect_nothing_left()
    assert not (tmp_path / "began").exists()


def test_files_that_are_no_libraries_are_refused(tmp_path):
    text, pipe = tmp_path / "text.so", tmp_path / "pipe.so"
    text.write_text("not a library")
    os.mkfifo(pipe)
    for path, says in [(tmp_path / "none.so", "no such file"), (text, "cannot be loaded"), (tmp_path, "something else than a file"),
                       (pipe, "something else than a file"), ("a:b.so", "wanted a path without a colon")]:
        for command in (["sim", "none.toml"], ["server"], ["scheduler"], ["timeline"]):
            refused = leeway(*command, "--plugin", path)
            assert refused.returncode == 2 and says in refused.stderr and str(path) in refused.stderr, refused


def test_a_folder_with_a_colon_is_refused_before_workers_take_it_for_two(tmp_path, monkeypatch):
    folder = tmp_path / "a:b"
    folder.mkdir()
    monkeypatch.chdir(folder)
    refused = leeway("run", "--plugin", "mine.so", "--", "true")
    assert refused.returncode == 2 and f'got "{folder / "mine.so"}", wanted a path without a colon' in refused.stderr, refused


def test_factories_that_fail_say_so(tmp_path):
    for name, says in [("nothing", "its factory made nothing"), ("throws", "its factory threw: no placement today")]:
        refused = leeway("run", "--plugin", FAULTY / "plugin_factories.so", "--placement", name, "--", "true")
        assert refused.returncode == 2 and f'placement "{name}" of a plug-in: {says}' in refused.stderr, refused


def test_a_worker_refuses_a_bad_plug_in_and_the_job_ends(tmp_path):
    library = FAULTY / "plugin_other_version.so"
    with Leeway(tmp_path, "run", "-w", 1, "--", "env", f"LEEWAY_PLUGINS={library}", BUILD / "examples" / "leeway_hello") as job:
        assert job.wait() == 1
        assert "got version 2 of the plug-in interface, wanted 1" in job.out(), job.out()
        job.expect_nothing_left()
    script = f'import leeway; leeway.init(plugins=["{library}"])'
    with Leeway(tmp_path, "run", "-w", 1, "--", (BUILD / "python" / "interpreter").read_text().strip(), "-c", script) as job:
        assert job.wait() == 2
        assert "got version 2 of the plug-in interface, wanted 1" in job.err(), job.err()
        job.expect_nothing_left()
