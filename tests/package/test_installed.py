"""An installed pflab works in any folder, on every Python that it supports, and beside other people's modules and types."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.support.class_up import class_up
from tests.support.installed import Environment, output_of
from tests.support.played_page import played

pytestmark = [pytest.mark.package, pytest.mark.live]

FIRST_TEST = """
def test_a_post_reaches_every_server(lab):
    lab.post("A", "Projects", subject="Hello")
    lab.assert_converged("Projects", within="20 min")
"""

OWN_NAMES = """
import sys
from pathlib import Path

import node
import pflab
import topology
import traces


def test_the_names_are_the_users(lab, async_lab, mailbox):
    lab.post("A", "Projects", subject=node.SUBJECT + topology.MARK)
    lab.assert_converged("Projects", within="20 min")
    with lab.fork() as fork:
        fork.post("B", "Projects", subject="only there")
    assert len(lab.messages("B", "Projects")) == 1
    assert traces.TimeSeries({0: "Hello"})[5] == "Hello"
    places = [Path(each.__file__) for each in (node, topology, traces)]
    assert not any(each.is_relative_to(Path(pflab.__file__).parent) for each in places)
    assert "transport" not in sys.modules and "analytics" not in sys.modules
"""

WITH_TYPES = """
from collections.abc import Iterator
from typing import Any, assert_type

import pytest

from pflab.client import Client, ClientError
from pflab.testing import AsyncLab, Lab, Mailbox, Organization, ReceivedMail, open_mailbox

NEWS = Organization("Fabrikam", domain="fabrikam.test").site("SEA").server("S1", version="2003").folder("News")


@pytest.fixture
def received() -> Iterator[Mailbox]:
    with open_mailbox() as mailbox:
        yield mailbox


@pytest.mark.pflab_topology(NEWS)
def test_news(lab: Lab, received: Mailbox) -> None:
    lab.until(lambda: lab.messages("S1", "News"), within="1 h")
    assert_type(lab.smtp("S1"), tuple[str, int])
    assert_type(received.to("kim@fabrikam.test"), list[ReceivedMail])


async def converge(lab: AsyncLab) -> None:
    assert_type(await lab.servers(), list[str])


def subjects(url: str) -> list[str]:
    with Client(url) as lab:
        try:
            found = lab.messages("A", "Projects")
        except ClientError:
            return []
        assert_type(found, list[dict[str, Any]])
        return [str(each["subject"]) for each in found]
"""


@pytest.fixture
def user_project(outside: Path, environment: Environment) -> Path:
    """A project with modules of its own, and a package of others, that have the names of pflab's parts."""
    environment.install("traces==0.7.0")
    (outside / "node.py").write_text("SUBJECT = 'Hello'\n", "ascii")
    (outside / "topology").mkdir()
    (outside / "topology" / "__init__.py").write_text("MARK = '!'\n", "ascii")
    (outside / "test_own_names.py").write_text(OWN_NAMES, "ascii")
    return outside


def test_the_tutorial_works_with_the_installed_package(
    environment: Environment, outside: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who installs pflab and types the tutorial for test engineers sees what it shows."""
    monkeypatch.setenv("COLUMNS", "80")
    page = (project_root / "docs" / "tutorials" / "test-engineer.md").read_text("utf-8")
    commands = list(played(page, outside, environment.programs))
    assert [f"$ {each.command}\n{each.printed}" for each in commands if not each.as_shown] == []
    assert len(commands) > 5


def test_the_command_works_without_spark(environment: Environment, outside: Path) -> None:
    """The demo plays, the doctor finds all that pflab needs, and only what needs Spark says in one line how to get it."""
    environment.run("pflab", "demo", "--headless", folder=outside)
    doctor = json.loads(environment.run("pflab", "doctor", "--json", folder=outside))
    assert doctor["works"]
    assert {each["name"]: each["status"] for each in doctor["checks"]}["pyspark"] == "optional"
    (line,) = environment.run("pflab", "check", "runs/demo", folder=outside, code=2).splitlines()
    assert "install the extra analytics: " in line and "python -m pip install 'duckdb>=" in line


def test_a_class_of_the_installed_package(environment: Environment, outside: Path) -> None:
    """The page of a class and all that it loads come from the wheel, and a pupil who joins sees the lesson."""
    with class_up(outside, "--lesson", "lost-mail", command=[str(environment.programs / "pflab")]) as served:
        url, loaded = served.ready["url"], ["/class"]
        for path in loaded:
            text = urlopen(f"{url}{path}").read().decode()
            loaded += [f"/console/{file}" for file in re.findall(r'(?:src|href)="\./console/([^"]+)"', text)]
        assert any(path.endswith(".js") for path in loaded)
        assert any(path.endswith("class.css") for path in loaded)

        def ask(path: str, key: str, body: dict[str, str] | None = None) -> Any:
            content = None if body is None else json.dumps(body).encode()
            head = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            return json.load(urlopen(Request(f"{url}{path}", content, head)))

        secret = ask("/room/pupils", served.ready["key"], {"name": "Kim"})["secret"]
        assert ask("/room", secret)["lesson"] == "lost-mail"


@pytest.mark.parametrize("how", ["--simulate", "--processes"])
def test_scenarios_run_beside_modules_of_the_same_names(environment: Environment, user_project: Path, how: str) -> None:
    """A scenario that comes with pflab runs in a project that has a node.py and packages named topology and traces."""
    assert "passed" in environment.run("pflab", "run", "new-post", how, folder=user_project)
    assert "passed" in environment.run("python", "-m", "pflab", "run", "new-post", how, folder=user_project)


def test_tests_keep_their_own_modules(environment: Environment, user_project: Path) -> None:
    """In a test with a lab, the names of pflab's parts mean the modules of the user."""
    assert "1 passed" in environment.run("pytest", "-q", folder=user_project)


def test_mypy_knows_the_types(environment: Environment, outside: Path) -> None:
    """A project that uses pflab.client and pflab.testing passes mypy --strict."""
    (outside / "test_news.py").write_text(WITH_TYPES, "ascii")
    which = ["--python-executable", str(environment.python)]
    output_of([sys.executable, "-P", "-m", "mypy", "--strict", *which, "test_news.py"], outside)


@pytest.mark.skipif(shutil.which("node") is None, reason="pyright needs node; on Debian: apt-get install nodejs")
def test_pyright_knows_the_types(environment: Environment, outside: Path) -> None:
    """The same project passes pyright in its strict mode."""
    (outside / "test_news.py").write_text(f"# pyright: strict\n{WITH_TYPES}", "ascii")
    which = ["--pythonpath", str(environment.python)]
    output_of([sys.executable, "-P", "-m", "pyright", *which, "test_news.py"], outside)


@pytest.mark.parametrize("environment_of", ["3.11", "3.12", "3.13", "3.14"], indirect=True)
def test_every_supported_python(environment_of: Environment, outside: Path) -> None:
    """The package installs and a first test passes on each version of Python from 3.11 to 3.14."""
    (outside / "test_first.py").write_text(FIRST_TEST, "ascii")
    assert "1 passed" in environment_of.run("pytest", "-q", "--pflab-driver", "simulated", folder=outside)
