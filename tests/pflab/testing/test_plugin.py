"""The pytest plugin, as a project sees it that uses it: pytest runs in a process of its own."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
import yaml

from pflab.runs.run_folder import RunFolder
from pflab.testing import Lab, LabProcess
from pflab.testing.plugin import pytest_addoption
from tests.mutants.run import HERE as MUTANTS
from tests.mutants.run import plant
from tests.support.coordinator_process import running_coordinator
from tests.support.inner_pytest import SIMULATED, run_pytest, write
from tests.support.lab_factory import TOKEN
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.topologies import TWO_STORES
from topology.file.examples import EXAMPLES
from topology.file.load import topology_from_text

pytestmark = pytest.mark.live


def labs_below(folder: Path) -> list[int]:
    """Return the processes whose current folder is below this one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder):
                found.append(int(process.name))
        except OSError:
            continue
    return found


ORDER = """
def test_one(lab):
    assert lab.messages("A", "Projects") == []
    assert lab.now() == "2003-10-21T00:00:00Z"
    lab.inject("lose", from_="A", to="B")
    lab.post("A", "Projects", subject="Hello")
    lab.advance("1 h")

test_two = test_three = test_four = test_one
"""


@pytest.mark.parametrize("driver", ["simulated", "embedded"])
def test_every_test_has_a_lab_in_its_first_state(tmp_path: Path, driver: str) -> None:
    """Posts, faults and time of a test are gone in the next one, and no process or run folder of a passed test is left."""
    write(tmp_path, ORDER)
    code, told = run_pytest(tmp_path, "--pflab-driver", driver)
    assert code == 0, told
    assert labs_below(tmp_path) == []
    assert len(list((tmp_path / "temp").glob("pflab0/*/runs/up/*"))) == 1  # the first one has the saved state


@pytest.mark.long
def test_workers_have_labs_of_their_own(tmp_path: Path) -> None:
    """Under xdist the tests of two workers do not meet."""
    write(tmp_path, ORDER)
    code, told = run_pytest(tmp_path, *SIMULATED, "-n", "2")
    assert code == 0, told
    assert labs_below(tmp_path) == []


@pytest.mark.long
def test_saved_states_of_a_test_are_gone_in_the_next(tmp_path: Path) -> None:
    """A test can save a state under a name that the test before it used."""
    write(
        tmp_path,
        """
def test_one(lab):
    lab.save("mine")

test_two = test_one
""",
    )
    code, told = run_pytest(tmp_path, *SIMULATED)
    assert code == 0, told


@pytest.mark.long
def test_sessions_share_a_folder_of_traces(tmp_path: Path) -> None:
    """Two sessions with the same --pflab-traces keep the runs of both."""
    write(tmp_path, ORDER)
    runs = []
    for _ in range(2):
        code, told = run_pytest(tmp_path, *SIMULATED, "--pflab-traces", "kept")
        assert code == 0, told
        runs.append({each.relative_to(tmp_path) for each in tmp_path.glob("kept/*/runs/up/*")})
    assert runs[0] < runs[1]
    assert {each.parts[1] for each in runs[0]}.isdisjoint(each.parts[1] for each in runs[1] - runs[0])


@pytest.mark.long
def test_a_failure_in_a_fixture_tells_of_the_lab(tmp_path: Path) -> None:
    """If a fixture that uses the lab fails, the report has the last events, and the run is kept."""
    write(
        tmp_path,
        """
import pytest
import yaml

@pytest.fixture
def filled(lab):
    lab.post("A", "Projects", subject="Hello")
    raise ValueError("no mail")

def test_one(filled):
    pass

def test_two(lab):
    pass
""",
    )
    code, told = run_pytest(tmp_path, *SIMULATED, "--pflab-traces", "kept")
    assert code == 1, told
    assert "A makes 'Hello' in Projects as A-1" in told
    folder = re.search(r"^The run is kept in (.*)$", told, re.MULTILINE)
    assert folder is not None, told
    assert Path(folder[1]).is_dir()


@pytest.mark.long
def test_a_test_that_breaks_its_lab_does_not_break_the_next(tmp_path: Path) -> None:
    """A lab whose process was killed is replaced."""
    write(
        tmp_path,
        """
import os, signal, pathlib

def test_one(lab):
    lab.kill("A")
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == lab._runs_in and b"pflab" in (process / "cmdline").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            continue

def test_two(lab):
    lab.post("A", "Projects", subject="Hello")
    lab.assert_converged("Projects", within="20 min")
""",
    )
    code, told = run_pytest(tmp_path, *SIMULATED)
    assert code == 0, told


@pytest.mark.long
def test_a_frozen_lab_fails_one_test_and_delays_no_other(tmp_path: Path) -> None:
    """A lab that a signal has stopped: its test says so in one line, the report does not wait again, and the next test has
    another lab."""
    (tmp_path / "conftest.py").write_text("import pflab.testing.lab as m\nm.SILENCE_TIMEOUT_S = 0.1\n", "utf-8")
    write(
        tmp_path,
        """
import os, signal, pathlib

def test_one(lab):
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == lab._runs_in and b"pflab" in (process / "cmdline").read_bytes():
                os.kill(int(process.name), signal.SIGSTOP)
        except OSError:
            continue
    lab.advance("1 h")

def test_two(lab):
    lab.advance("1 h")
""",
    )
    code, told = run_pytest(tmp_path, *SIMULATED)
    assert code == 1
    assert "1 failed, 1 passed" in told
    silent = "has fallen silent: the answer to POST /lab/clock/advance did not come (no sign of life for 0.1 s); a signal has"
    assert re.search(rf"^E +.*ClientError: the lab at .* {re.escape(silent)} stopped its process$", told, re.MULTILINE)
    assert "the lab does not answer: the lab at http" in told
    assert "warning" not in told
    assert labs_below(tmp_path) == []


FAILS = """
import pytest
import yaml
from pflab.testing import Organization

def test_cut(lab):
    lab.inject("cut", between=["A", "B"])
    lab.post("A", "Projects", subject="Hello")
    lab.assert_converged("Projects", within="20 min")

def test_never(lab):
    lab.until(lambda: lab.messages("B", "Projects"), within="2 h")

def test_folder(lab):
    lab.advance("1 d")
    lab.assert_converged("Project")

def test_stopped(lab):
    lab.stop("C")
    lab.smtp("C")

@pytest.mark.pflab_topology(Organization().server("A", version="2004").folder("News"))
def test_topology(lab):
    pass
"""


def test_failures_explain_themselves(tmp_path: Path) -> None:
    """A failed test says what is wrong in words, what happened last, and where the run is."""
    write(tmp_path, FAILS)
    code, told = run_pytest(tmp_path, *SIMULATED)
    assert code == 1
    for words in (
        "E         B lacks A-1 ('Hello')",
        "E         the fault F1 is active: cut (between A - B)",
        "waits at A until 2003-10-21T00:25:00Z",
        "the condition was false from 2003-10-21T00:00:00Z to 2003-10-21T02:00:00Z (2 h)",
        "no fault is active, no mail waits, and all servers run",
        'no running server knows the folder "Project"; did you mean "Projects"?',
        "server C is not running",
        "2004",
        "A makes 'Hello' in Projects as A-1",
    ):
        assert words in told, told
    assert told.count("until pytest removes its temporary folders; --pflab-traces DIR keeps it") == 4
    kept = re.findall(r"^To see it in a browser: pflab replay (.*)$", told, re.MULTILINE)
    assert len(kept) == 4
    assert all((Path(each) / "traces").is_dir() for each in kept)
    assert "Traceback" not in told


@pytest.mark.long
def test_traces_are_kept_on_request(tmp_path: Path) -> None:
    """--pflab-traces keeps the run folder of every test, with its traces."""
    write(tmp_path, ORDER)
    code, told = run_pytest(tmp_path, *SIMULATED, "--pflab-traces", str(tmp_path / "kept"))
    assert code == 0, told
    runs = {each.resolve() for each in (tmp_path / "kept").glob("**/runs/up/*") if list(each.glob("traces/*.jsonl"))}
    assert len(runs) == 4


JUDGED = """
import pytest

@pytest.fixture
def late(lab):
    yield lab
    lab.advance("1 h")

def test_short(lab):
    lab.post("A", "Projects", subject="Hello")

def test_a_day(late):
    late.post("A", "Projects", subject="Hello")
    late.advance("26 h")

def test_several_labs(lab_factory):
    lab_factory("one-site").advance("1 h")
    lab_factory("two-sites").advance("1 h")

def test_several_histories(lab):
    lab.post("A", "Projects", subject="Hello")
    lab.advance("1 h")
    lab.go_back()
    lab.advance("1 h")

def test_that_fails(lab):
    lab.post("A", "Projects", subject="Hello")
    lab.advance("1 h")
    assert lab.faults()

def test_shared_first(module_lab):
    module_lab.post("A", "Projects", subject="Hello")

def test_shared_second(module_lab):
    module_lab.advance("13 h")
"""


@pytest.mark.long
def test_runs_that_keep_the_rules_pass_the_check(tmp_path: Path) -> None:
    """With --pflab-check, tests whose labs keep the rules pass or fail as before, whatever the labs have done."""
    write(tmp_path, JUDGED)
    code, told = run_pytest(tmp_path, *SIMULATED, "--pflab-check")
    assert (code, told.splitlines()[-1].rpartition(" in ")[0]) == (1, "1 failed, 6 passed"), told
    assert "assert []" in told


@pytest.mark.long
@pytest.mark.parametrize("driver", ["embedded", "processes"])
def test_each_driver_keeps_the_rules(tmp_path: Path, driver: str) -> None:
    """With --pflab-check, tests of labs with real mail pass, also if a server is stopped and another one is killed."""
    write(
        tmp_path,
        """
def test_one(lab):
    lab.post("A", "Projects", subject="Hello")
    lab.kill("C")
    lab.advance("13 h")
    lab.start("C")
    lab.stop("B")
""",
    )
    code, told = run_pytest(tmp_path, "--pflab-driver", driver, "--pflab-check", "-W", "error")
    assert code == 0, told


@pytest.mark.long
def test_a_run_that_violates_a_rule_fails(tmp_path: Path) -> None:
    """With --pflab-check, a test whose run violates a rule has an error that names the rule, the first violation and the run
    folder, also if an earlier history of its lab did. A shared lab is judged after its last test. Other tests pass."""
    plant(MUTANTS / "broadcast-forgets-one.patch", tmp_path / "mutant")
    write(tmp_path, JUDGED)
    code, told = run_pytest(tmp_path, *SIMULATED, "--pflab-check", PYTHONPATH=str(tmp_path / "mutant"))
    errors = re.findall(r"^ERROR test_project.py::(\w+)", told, re.MULTILINE)
    assert (code, errors) == (1, ["test_a_day", "test_several_histories", "test_that_fails", "test_shared_second"]), (
        told
    )
    assert re.search(
        r"^the run violates broadcasts go to all other holders \(OUT-5\), violations: 1; the first: A sent ",
        told,
        re.MULTILINE,
    ), told
    kept = re.findall(r"^To see it in a browser: pflab replay (.*)$", told, re.MULTILINE)
    assert len(kept) == 5  # the failed test names its lab, too
    assert all((Path(each) / "traces").is_dir() for each in kept)
    assert "Traceback" not in told


@pytest.mark.long
def test_a_scenario_that_violates_a_rule_fails(tmp_path: Path) -> None:
    """With --pflab-check, a scenario whose own expectations and invariants hold still fails if its run violates a rule."""
    (tmp_path / "late").mkdir()
    late = "import node.state.store_settings as settings\nsettings.STATUS_OFFSET_US = 20 * 60 * 1_000_000\n"
    (tmp_path / "late" / "sitecustomize.py").write_text(late, "utf-8")
    topology = {"servers": {"A": {}, "B": {}, "C": {}}, "folders": {"Projects": {}}}
    steps = [{"post": {"on": "A", "folder": "Projects", "subject": "Hello", "as": "p1"}}, {"advance": "26 h"}]
    scenario = {"title": "Quiet", "topology": topology, "steps": steps}
    (tmp_path / "quiet.yaml").write_text(yaml.safe_dump(scenario, sort_keys=False), "utf-8")
    code, told = run_pytest(tmp_path, *SIMULATED, "--pflab-check", "quiet.yaml", PYTHONPATH=str(tmp_path / "late"))
    assert (code, "the run violates status checks run on schedule (ST-1)" in told) == (1, True), told


@pytest.mark.long
def test_the_check_says_what_it_cannot_do(tmp_path: Path) -> None:
    """--pflab-check with a running lab, or without its packages, is refused in one line; a run whose traces are incomplete is
    a warning, because a violation in it would not count."""
    write(tmp_path, 'def test_one(lab):\n    lab.advance("1 h")\n    lab.kill("B")')
    code, told = run_pytest(tmp_path, "--pflab-check", "--pflab-lab", "http://127.0.0.1:1")
    assert (code, told.strip()) == (
        4,
        "ERROR: --pflab-check: the traces of the lab of --pflab-lab are where it runs; judge them there with pflab check",
    )
    code, told = run_pytest(tmp_path, *SIMULATED, "--pflab-check")
    assert (code, "its rules cannot be judged: the events of B end without a stop" in told) == (0, True), told
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text("import sys\nsys.modules['duckdb'] = None\n", "utf-8")
    code, told = run_pytest(tmp_path, *SIMULATED, "--pflab-check", PYTHONPATH=str(tmp_path / "hidden"))
    assert (code, "--pflab-check: judging runs needs duckdb and pyarrow" in told) == (
        4,
        True,
    )


OF_TWO_TESTS = """
def test_one(lab):
    assert [each["subject"] for each in lab.messages("A", "Projects")] == ["Mine"]
    assert lab.faults() == []
    assert lab.clock()["rate"] == 0
    lab.inject("cut", between=["A", "B"])
    lab.post("A", "Projects", subject="Of a test")
    lab.advance("1 h")

test_two = test_one

def test_larger(lab_factory):
    lab_factory("two-sites")

def test_three(module_lab):
    test_one(module_lab)
    module_lab.go_back()
    test_one(module_lab)

def test_four(lab_factory):
    lab_factory("one-site")
    lab_factory("one-site")
"""


@pytest.mark.long
@pytest.mark.parametrize("driver", ["simulated", "embedded"])
def test_a_running_lab_is_as_it_was_found(tmp_path: Path, driver: Literal["simulated", "embedded"]) -> None:
    """With --pflab-lab, each test has the lab as the session found it, but without faults. The user has it back
    afterwards: what was posted between two sessions, faults, the time and the rate of the clock."""
    write(tmp_path, OF_TWO_TESTS)
    process = LabProcess("one-site", tmp_path / "lab", driver=driver)
    try:
        lab = process.lab
        lab.inject("cut", between=["A", "C"])
        lab.post("A", "Projects", subject="Mine")
        lab.advance("1 h")
        if driver == "embedded":
            lab.set_rate(0.001)
        before, faults = lab.now()[:19], lab.faults()
        code, told = run_pytest(tmp_path, "--pflab-lab", lab.url, "-k", "one or two")
        assert code == 0, told
        assert [each["subject"] for each in lab.messages("B", "Projects")] == ["Mine"]
        assert (lab.faults(), lab.now()[:19]) == (faults, before)
        assert lab.clock()["rate"] == (0.001 if driver == "embedded" else 0)

        (mine,) = lab.messages("A", "Projects")
        lab.edit("A", "Projects", mine["id"], body="Changed between two sessions")
        code, told = run_pytest(tmp_path, "--pflab-lab", lab.url)
        assert "2 failed, 3 passed" in told
        assert "another fixture has the lab at" in told
        assert "keeps its topology; tests with different topologies need a lab in containers" in told
        assert lab.body("A", "Projects", mine["id"]) == "Changed between two sessions"
        assert lab.saved() == ["pytest", "pytest-test"]
    finally:
        process.close()


OF_THE_LAB = """
import pytest
import yaml

@pytest.mark.pflab_topology("one-site")
def test_other(lab):
    pass

def test_own(lab, lab_topology):
    assert lab.servers() == ["A", "B", "C", "D"]
    assert lab_topology is None

@pytest.mark.pflab_topology("two-sites")
def test_same(lab):
    assert [each["subject"] for each in lab.messages("A", "Projects")] == ["Mine"]

def test_factory(lab_factory, lab_topology):
    assert lab_factory(lab_topology).servers() == ["A", "B", "C", "D"]
"""


@pytest.mark.long
@pytest.mark.parametrize("driver", ["simulated", "embedded"])
def test_a_test_without_a_topology_has_that_of_the_running_lab(
    tmp_path: Path, driver: Literal["simulated", "embedded"]
) -> None:
    """With --pflab-lab, a test that asks for another topology is refused in one line, also if it is the first test."""
    write(tmp_path, OF_THE_LAB)
    process = LabProcess("two-sites", tmp_path / "lab", driver=driver)
    try:
        process.lab.post("A", "Projects", subject="Mine")
        code, told = run_pytest(tmp_path, "--pflab-lab", process.lab.url)
        assert "3 passed, 1 error" in told
        line = (
            f"the lab at {process.lab.url} keeps its topology; tests with different topologies need a lab in containers"
        )
        assert line in told.splitlines()
        code, told = run_pytest(tmp_path, "--pflab-lab", process.lab.url, "-o", "pflab_topology=one-site", "-k", "own")
        assert "1 error" in told
        assert line in told.splitlines()
    finally:
        process.close()
    assert code == 1


WITH_TOPOLOGIES = """
import pytest
import yaml
from pflab.testing import Organization

TWO = Organization("Fabrikam", domain="fabrikam.test").site("SEA").server("A").server("B").folder("News")

@pytest.mark.pflab_topology(TWO)
@pytest.mark.parametrize("number", [1, 2])
def test_two(lab, number):
    assert lab.messages("A", "News") == []
    lab.inject("cut", between=["A", "B"])
    lab.post("A", "News", subject="Hello")

@pytest.mark.pflab_topology(Organization().server("A").folder("Tips"))
def test_one(lab):
    assert lab.messages("A", "Tips") == []

@pytest.mark.pflab_topology(Organization().server("Z").folder("Tips"))
def test_unknown(lab):
    pass

def test_own(lab):
    assert [each["subject"] for each in lab.messages("A", "Projects")] == ["Mine"]
"""


@pytest.mark.long
def test_a_coordinated_lab_has_the_topology_of_each_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --pflab-lab, the lab of a coordinator begins a run for each topology. At the end it has its own organization and
    content back."""
    write(tmp_path, WITH_TOPOLOGIES)
    monkeypatch.setenv("PFLAB_TOKEN", TOKEN)
    (tmp_path / "lab.yaml").write_text(TWO_STORES, "utf-8")
    folder = RunFolder.at(tmp_path / "run")
    with (
        ProcessSupervisor(topology_from_text(TWO_STORES), folder, token=TOKEN) as supervisor,
        running_coordinator(supervisor, tmp_path) as url,
        Lab(url, token=TOKEN) as lab,
    ):
        lab.post("A", "Projects", subject="Mine")
        before, at = lab.json("GET", "/lab/topology"), lab.now()
        code, told = run_pytest(tmp_path, "--pflab-lab", url)
        assert "4 passed, 1 error" in told
        assert "this lab has no server Z; its servers are A, B" in told
        assert (lab.json("GET", "/lab/topology"), lab.now()) == (before, at)
        assert [each["subject"] for each in lab.messages("A", "Projects")] == ["Mine"]
    assert code == 1


@pytest.mark.long
def test_a_lab_of_processes_goes_back(tmp_path: Path) -> None:
    """With --pflab-lab, a lab of pflab up --processes is as it was at the end."""
    write(tmp_path, ORDER)
    process = LabProcess("one-site", tmp_path / "lab", driver="processes")
    try:
        code, told = run_pytest(tmp_path, "--pflab-lab", process.lab.url, "-k", "one")
        assert process.lab.messages("A", "Projects") == []
    finally:
        process.close()
    assert code == 0
    assert "1 passed" in told


def test_an_address_that_is_none(tmp_path: Path) -> None:
    """--pflab-lab with a wrong URL is told before the first test."""
    code, told = run_pytest(tmp_path, "--pflab-lab", "ftp://lab")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "--pflab-lab: 'ftp://lab' is not the URL of a lab" in told


UNDER_TRIO = """
import pytest
import yaml

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio", ("trio", {})], ids=str)
async def test_anyio(async_lab, anyio_backend):
    assert await async_lab.servers()

@pytest.mark.trio
async def test_trio(async_lab):
    await async_lab.servers()
"""


@pytest.mark.long
def test_under_trio_one_line_says_that_a_lab_needs_asyncio(tmp_path: Path) -> None:
    """The fixture fails before the event loop begins."""
    write(tmp_path, UNDER_TRIO)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = trio: of pytest-trio\n", "utf-8")
    code, told = run_pytest(tmp_path, *SIMULATED)
    assert code == 1
    assert "1 passed, 3 errors" in told
    line = "async_lab needs asyncio, and this test runs in another event loop; let the fixture anyio_backend return asyncio,"
    assert sum(each.startswith(line) for each in told.splitlines()) == 3, told
    assert "Traceback" not in told


SCENARIO = """
title: A post arrives
topology: one-site.yaml
steps:
  - post: {on: A, folder: Projects, subject: Hello, as: hello}
  - expect: {on: B, folder: Projects, has: hello, within: %s}
"""


def test_scenario_files_are_tests(tmp_path: Path) -> None:
    """pytest collects scenarios, and nothing else that is YAML; a failure is what pflab run says."""
    (tmp_path / "good.yaml").write_text(SCENARIO % "20 min", "utf-8")
    (tmp_path / "bad.yaml").write_text(SCENARIO % "1 min", "utf-8")
    (tmp_path / "compose.yaml").write_text("services: {}\n", "utf-8")
    code, told = run_pytest(tmp_path, *SIMULATED)
    assert code == 1
    assert "1 failed, 1 passed" in told
    assert "FAILED bad.yaml::bad - step 2, line 6: expect failed at 2003-10-21T00:01:00Z" in told
    assert "expected  B to have hello in Projects within 1 min" in told
    (kept,) = re.findall(r"^To see it in a browser: pflab replay (.*)$", told, re.MULTILINE)
    assert Path(kept).is_absolute()
    assert (Path(kept) / "traces").is_dir()
    assert f"The run is in {kept}, until pytest removes its temporary folders" in told
    assert len(list((tmp_path / "temp").glob("scenario-runs*"))) == 1


@pytest.mark.long
def test_a_wrong_scenario_file_says_where_in_the_summary(tmp_path: Path) -> None:
    """The summary of pytest has the first mistake."""
    (tmp_path / "bad.yaml").write_text((SCENARIO % "1 min").replace("on: A", "on: Z"), "utf-8")
    code, told = run_pytest(tmp_path, *SIMULATED)
    assert code == 1
    assert re.search(r"^FAILED bad\.yaml::bad - bad\.yaml:5:16: steps", told, re.MULTILINE), told


MISUSES = """
import pytest
import yaml

def test_driver(lab_factory):
    lab_factory("one-site", driver="simulatd")

@pytest.mark.pflab_topology({"servers": {"A": {"verson": "2003"}}})
def test_key(lab):
    pass

@pytest.mark.pflab_topology("no/such.yaml")
def test_file(lab):
    pass

@pytest.mark.pflab_topology(5)
def test_kind(lab):
    pass

@pytest.mark.pflab_topology("servers: " * 100)
def test_name(lab):
    pass

@pytest.mark.pflab_topology("one-site")
def test_shared(module_lab):
    pass

@pytest.mark.pflab_topology
def test_marker(lab):
    pass

def test_mailbox(lab, mailbox):
    pass
"""


def examples() -> list[str]:
    return sorted(each.stem for each in EXAMPLES.glob("*.yaml"))


@pytest.mark.long
def test_misuses_have_one_line(tmp_path: Path) -> None:
    """Each mistake of a tester is told in one line, without a traceback."""
    write(tmp_path, MISUSES)
    code, told = run_pytest(tmp_path, *SIMULATED)
    assert code == 1
    lines = told.splitlines()
    for line in (
        "'simulatd' is not a driver; one of simulated, embedded, processes",
        'the topology of this test: servers.A.verson: "verson" is not a key here; did you mean "version"?',
        f"there is no topology file {tmp_path}/no/such.yaml; a path is relative to pytest's rootdir, and the examples are "
        + ", ".join(examples()),
        "5 is not a topology; give a file, the name of an example, a mapping or an Organization",
        "the marker pflab_topology of one test has no effect on module_lab, which other tests share; override the fixture"
        " lab_topology, or use lab",
        "the marker pflab_topology needs one topology: @pytest.mark.pflab_topology(TOPOLOGY)",
        "a simulated lab has no SMTP, so the mailbox would stay empty; use another --pflab-driver",
    ):
        assert line in lines, told
    assert "Traceback" not in told


@pytest.mark.long
def test_paths_of_topologies_are_relative_to_the_rootdir(tmp_path: Path) -> None:
    """Whatever the current folder is. The marker of a module is for its `module_lab` too."""
    (tmp_path / "pytest.ini").write_text("[pytest]\npflab_topology = mine.yaml\n", "utf-8")
    (tmp_path / "mine.yaml").write_text("servers: {MINE: }\nfolders: {News: }\n", "utf-8")
    (tmp_path / "deep").mkdir()
    write(
        tmp_path / "deep",
        """
import pytest
import yaml

pytestmark = pytest.mark.pflab_topology("one-site")

def test_module(module_lab):
    assert module_lab.servers() == ["A", "B", "C"]

@pytest.mark.pflab_topology("mine.yaml")
def test_marker(lab):
    assert lab.servers() == ["MINE"]

def test_ini(lab_factory, lab_topology):
    assert lab_factory(lab_topology).servers() == ["MINE"]
""",
    )
    code, told = run_pytest(tmp_path / "deep", *SIMULATED)
    assert code == 0, told


@pytest.mark.long
def test_a_killed_session_leaves_no_lab_behind(tmp_path: Path) -> None:
    """If pytest is killed, its labs end by themselves."""
    write(tmp_path, "import os, signal\n\ndef test_one(lab):\n    os.kill(os.getpid(), signal.SIGKILL)\n")
    code, _ = run_pytest(tmp_path, *SIMULATED)
    assert code == -signal.SIGKILL
    deadline_s = time.monotonic() + 60
    while labs_below(tmp_path) and time.monotonic() < deadline_s:
        time.sleep(0.05)  # a process ends in real time
    assert labs_below(tmp_path) == []


def test_the_page_names_every_option(project_root: Path) -> None:
    """docs/how-to/testing.md lists the options of the plugin."""
    page = (project_root / "docs" / "how-to" / "testing.md").read_text("utf-8")
    assert [name for name in option_names() if f"`{name}" not in page] == []


def option_names() -> Sequence[str]:
    parser = pytest.Parser(_ispytest=True)
    pytest_addoption(parser)
    return [name for group in parser._groups for option in group.options for name in option._long_opts]
