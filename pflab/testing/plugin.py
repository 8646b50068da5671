"""The pytest plugin: fixtures that provide a lab, options, and what a failed test says about its lab.

Fixtures: `lab`, `module_lab`, `session_lab`, `async_lab`, `lab_factory`, `lab_topology`, `mailbox`. Marker: `pflab_topology`.

Every pytest run in an environment with pflab loads this module, so it imports only what the options need.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from pflab.testing.async_lab import AsyncLab
    from pflab.testing.lab import Lab
    from pflab.testing.labs import Labs, Topology
    from pflab.testing.mailbox import Mailbox
    from pflab.testing.up_process import Driver

_MARKER = "pflab_topology"

_LABS = pytest.StashKey["list[Lab]"]()
"""The labs that a test, a module or a session has."""

_SESSION = pytest.StashKey["Labs"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pflab", "labs of public folder stores")
    group.addoption(
        "--pflab-driver",
        choices=["simulated", "embedded", "processes"],
        default="embedded",
        help="how labs run: without sockets, in one process with real mail (default), or each server as a process",
    )
    group.addoption(
        "--pflab-lab",
        metavar="URL",
        help="use this running lab for all tests, and leave it as it was; scenario files still start labs of their own",
    )
    group.addoption("--pflab-traces", metavar="DIR", help="keep the run folders of all tests in this folder")
    group.addoption("--pflab-check", action="store_true", help="fail a test whose run violates a rule of the protocol")
    group.addoption("--pflab-keep-mails", action="store_true", help="keep each mail as an .eml file in the run folder")
    parser.addini(
        "pflab_topology",
        "the topology of the fixtures that lend labs: a file, relative to the rootdir, or the name of an example; if it is not"
        " set: that of the lab of --pflab-lab, otherwise one-site",
        default="",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "pflab_topology(topology): the topology of this test's lab: a file, an example, a mapping or an Organization",
    )
    url = config.getoption("--pflab-lab")
    if config.getoption("--pflab-check"):
        _check_options(url)
    if url is None:
        return
    from pflab.client import Client, ClientError  # noqa: PLC0415 - only sessions with this option need it

    if config.getoption("numprocesses", None):
        raise pytest.UsageError("--pflab-lab: tests that run at the same time cannot share a lab; leave out -n")
    try:
        Client(url)
    except ClientError as error:
        raise pytest.UsageError(f"--pflab-lab: {error}") from None


def _check_options(url: str | None) -> None:
    """Raise UsageError if the runs of tests cannot be judged."""
    from pflab.testing.judge import NEEDS, is_installed  # noqa: PLC0415 - only sessions with this option need it

    if url is not None:
        raise pytest.UsageError(
            "--pflab-check: the traces of the lab of --pflab-lab are where it runs; judge them there with pflab check"
        )
    if not is_installed():
        raise pytest.UsageError(f"--pflab-check: {NEEDS}")


# --- fixtures


@pytest.fixture(scope="session")
def _pflab_labs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labs]:
    from pflab.client import ClientError  # noqa: PLC0415 - only sessions with labs need it
    from pflab.testing.existing_lab import ExistingLab  # noqa: PLC0415 - as above
    from pflab.testing.judge import judge_of  # noqa: PLC0415 - as above
    from pflab.testing.labs import Labs  # noqa: PLC0415 - as above

    option = request.config.getoption
    traces = option("--pflab-traces")
    worker = getattr(request.config, "workerinput", {}).get("workerid", "")
    folder = tmp_path_factory.mktemp("pflab") if traces is None else Path(traces).resolve() / worker
    url = option("--pflab-lab")
    labs = Labs(
        folder,
        option("--pflab-driver"),
        request.config.rootpath,
        keep_runs=traces is not None,
        keep_mails=option("--pflab-keep-mails"),
        existing=None if url is None else ExistingLab(url),
        judge=judge_of(request.config),
    )
    request.session.stash[_SESSION] = labs
    yield labs
    wrong = ""
    try:
        labs.close()
    except ClientError as error:
        wrong = f"the lab at {url} did not go back to the state in which the tests found it: {error}"
    if wrong:
        pytest.fail(wrong, pytrace=False)


@pytest.fixture(scope="session")
def lab_topology(request: pytest.FixtureRequest) -> Topology | None:
    """The topology of the fixtures `lab`, `async_lab`, `module_lab` and `session_lab`: that of the ini option `pflab_topology`.
    None means that of the lab of --pflab-lab, or the example one-site. Override it in your conftest.py."""
    return str(request.config.getini("pflab_topology")) or None


class LabFactory(Protocol):
    """Provides a lab with any topology until the end of the test."""

    def __call__(self, topology: Topology | None, *, driver: Driver | None = None) -> Lab: ...


@pytest.fixture
def lab(request: pytest.FixtureRequest, _pflab_labs: Labs, lab_topology: Topology | None) -> Iterator[Lab]:
    """A lab for this test only, in its first state, with a paused clock."""
    with _lent(request, _pflab_labs.lab(_chosen(request.node, lab_topology))) as lab:
        yield lab


@pytest.fixture(scope="module")
def module_lab(request: pytest.FixtureRequest, _pflab_labs: Labs, lab_topology: Topology | None) -> Iterator[Lab]:
    """A lab that the tests of a module share. Nothing resets it between them; `go_back` does."""
    with _lent(request, _pflab_labs.lab(_chosen(request.node, lab_topology))) as lab:
        yield lab


@pytest.fixture(scope="session")
def session_lab(request: pytest.FixtureRequest, _pflab_labs: Labs, lab_topology: Topology | None) -> Iterator[Lab]:
    """A lab that all tests share. Nothing resets it between them; `go_back` does."""
    with _lent(request, _pflab_labs.lab(lab_topology)) as lab:
        yield lab


@pytest.fixture
def async_lab(request: pytest.FixtureRequest, lab: Lab) -> AsyncLab:
    """The fixture `lab`, with calls that are coroutines of asyncio."""
    from pflab.testing.async_lab import NEEDS_ASYNCIO, AsyncLab  # noqa: PLC0415 - as above

    backend = request.getfixturevalue("anyio_backend") if "anyio_backend" in request.fixturenames else ""
    name = backend if isinstance(backend, str) else backend[0]  # anyio also takes a name with options
    if name == "trio" or request.node.get_closest_marker("trio") is not None:
        pytest.fail(NEEDS_ASYNCIO, pytrace=False)
    return AsyncLab(lab)


@pytest.fixture
def lab_factory(request: pytest.FixtureRequest, _pflab_labs: Labs) -> Iterator[LabFactory]:
    """A function that provides any number of labs to one test: `lab_factory(topology, driver="simulated")`. The default driver
    is that of --pflab-driver."""
    with ExitStack() as lent:

        def lend(topology: Topology | None, *, driver: Driver | None = None) -> Lab:
            return lent.enter_context(_lent(request, _pflab_labs.lab(topology, driver)))

        yield lend


@pytest.fixture
def mailbox(request: pytest.FixtureRequest) -> Iterator[Mailbox]:
    """A mail server of the test that collects what the lab sends to the outside. Give its address to a server of the lab as the
    setting Smart Host. A simulated lab sends nothing to it. `lab.mailbox("A")` is something else: the mails to people that the
    store of server A keeps."""
    option = request.config.getoption
    simulated = option("--pflab-driver") == "simulated" and option("--pflab-lab") is None
    if simulated and "lab_factory" not in request.fixturenames:
        pytest.fail(
            "a simulated lab has no SMTP, so the mailbox would stay empty; use another --pflab-driver", pytrace=False
        )
    from pflab.testing.mailbox import open_mailbox  # noqa: PLC0415 - as above

    with open_mailbox() as mailbox:
        yield mailbox


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose marker would have no effect."""
    marker = item.get_closest_marker(_MARKER)
    if marker is None:
        return
    if len(marker.args) != 1 or marker.kwargs:
        pytest.fail(f"the marker {_MARKER} needs one topology: @pytest.mark.{_MARKER}(TOPOLOGY)", pytrace=False)
    fixtures = getattr(item, "fixturenames", ())
    module = item.getparent(pytest.Module)
    of_module = None if module is None else module.get_closest_marker(_MARKER)
    for shared, expected_marker in (("module_lab", of_module), ("session_lab", None)):
        if shared in fixtures and "lab" not in fixtures and marker != expected_marker:
            pytest.fail(
                f"the marker {_MARKER} of one test has no effect on {shared}, which other tests share; override the fixture"
                " lab_topology, or use lab",
                pytrace=False,
            )


def _chosen(node: pytest.Item | pytest.Collector, otherwise: Topology | None) -> Topology | None:
    """Return the topology of the marker of a test or module, or else another one."""
    marker = node.get_closest_marker(_MARKER)
    if marker is None:
        return otherwise
    chosen: Topology = marker.args[0]
    return chosen


@contextmanager
def _lent(request: pytest.FixtureRequest, lending: AbstractContextManager[Lab]) -> Iterator[Lab]:
    """Lend a lab, and remember it for the report of a failed test. Fails if the run has violated a rule."""
    from pflab.testing.judge import JudgeFailed, RuleViolated  # noqa: PLC0415 - as above

    wrong = ""
    try:
        with _remembered(request, lending) as lab:
            yield lab
    except (RuleViolated, JudgeFailed) as error:
        wrong = str(error)
    if wrong:
        pytest.fail(wrong, pytrace=False)


@contextmanager
def _remembered(request: pytest.FixtureRequest, lending: AbstractContextManager[Lab]) -> Iterator[Lab]:
    from pflab.client import ClientError  # noqa: PLC0415 - as above
    from pflab.testing.up_process import LabNotStarted  # noqa: PLC0415 - as above

    with ExitStack() as lent:
        wrong = ""
        try:
            lab = lent.enter_context(lending)
        except (LabNotStarted, ClientError) as error:
            wrong = str(error)
        if wrong:
            pytest.fail(wrong, pytrace=False)
        request.node.stash.setdefault(_LABS, []).append(lab)
        try:
            yield lab
        finally:
            request.node.stash[_LABS].remove(lab)


# --- reports


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a failed test what happened last in its labs, and how to look at it."""
    report = yield
    if report.failed:
        for lab in (lab for node in item.listchain() for lab in node.stash.get(_LABS, [])):
            report.sections.append((f"lab at {lab.url}", _last_words(item, lab)))
    return report


def _last_words(item: pytest.Item, lab: Lab) -> str:
    from pflab.client import ClientError  # noqa: PLC0415 - only failed tests need it
    from pflab.testing.judge import UNTIL_REMOVED  # noqa: PLC0415 - as above

    try:
        folder, lines = lab.run_folder, lab.last_events()
    except ClientError as error:
        return f"the lab does not answer: {error}"
    item.session.stash[_SESSION].keep(folder)
    if item.config.getoption("--pflab-lab"):
        where = f"The run is in {folder}, seen from the folder in which the lab runs"
    elif item.config.getoption("--pflab-traces"):
        where = f"The run is kept in {folder}"
    else:
        where = f"The run is in {folder}, {UNTIL_REMOVED}"
    return "\n".join(
        [
            "The last events, in lab time:",
            *(f"  {line}" for line in lines),
            where,
            f"To see it in a browser: pflab replay {folder}",
        ]
    )


# --- scenarios


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a YAML file that is a scenario."""
    if file_path.suffix not in {".yaml", ".yml"}:
        return None
    from pflab.testing.scenarios import ScenarioFile, is_scenario  # noqa: PLC0415 - most files are no scenarios

    return ScenarioFile.from_parent(parent, path=file_path) if is_scenario(file_path) else None
