"""pflab works with the lowest and with the newest versions that pyproject.toml permits. `make test-bounds` runs it."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.installed import Environment, Package, new_environment

pytestmark = [pytest.mark.bounds, pytest.mark.live, pytest.mark.timeout(1000)]

EXTRAS = ("test", "analytics", "spark", "imap", "clip", "class")
LARGE_EVENTS = 210_000
"""About 100 MB of traces: more than the settings for small traces are used for."""

FIRST_TEST = """
def test_a_post_reaches_every_server(lab):
    lab.post("A", "Projects", subject="Hello")
    lab.assert_converged("Projects", within="20 min")
"""


LISTENS = """
import asyncio
import pflab.home
pflab.home.enter()
from node.imap.listener import ImapListener
print(asyncio.run(ImapListener("A", None, "token").start()))
"""


def lowest(project: Path) -> list[str]:
    """Return the lowest permitted version of each package that pflab or an extra needs, as pip's constraints."""
    given = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [*given["dependencies"], *(each for extra in EXTRAS for each in given["optional-dependencies"][extra])]
    found = [re.match(r"([\w-]+)>=([\d.]+)", each) for each in needed]
    assert all(found), "each package has a lower bound"
    return [f"{each[1]}=={each[2]}" for each in found if each]


@pytest.fixture(scope="module", params=["lowest", "newest"])
def environment(
    package: Package, project_root: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Environment:
    """An environment with the wheel, its extras, and the lowest or newest versions of what they need."""
    folder = tmp_path_factory.mktemp(request.param)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(lowest(project_root)) if request.param == "lowest" else "", "utf-8")
    new = new_environment(Path(sys.executable), tmp_path_factory.mktemp(f"{request.param}-environment"))
    new.install(f"{package.wheel}[{','.join(EXTRAS)}]", constraints=constraints)
    return new


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The traces of a converged run, about 100 MB."""
    if find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("Spark is not installed on this machine")
    from analytics.generate import Shape, generate  # noqa: PLC0415 - only where pyspark is
    from analytics.ingest.session import session  # noqa: PLC0415 - as above
    from pflab.cli.judging.engines import EMBEDDED_UP_TO_BYTES  # noqa: PLC0415 - as above

    place = tmp_path_factory.mktemp("large") / "run"
    with session("local[2]") as spark:
        generate(spark, Shape.of_events(LARGE_EVENTS), place)
    assert sum(each.stat().st_size for each in place.rglob("*.jsonl")) > EMBEDDED_UP_TO_BYTES
    return place


def test_labs_run(environment: Environment, tmp_path: Path) -> None:
    """A lab of each driver plays a scenario, seeds converge, a test with the plugin passes, and nothing is missing."""
    assert json.loads(environment.run("pflab", "doctor", "--json", folder=tmp_path))["works"]
    for how in ([], ["--simulate"], ["--processes"]):
        assert "passed" in environment.run("pflab", "run", "lost-mail", *how, folder=tmp_path)
    environment.run("pflab", "simulate", "--seeds", "1..3", folder=tmp_path)
    (tmp_path / "test_first.py").write_text(FIRST_TEST, "ascii")
    assert "1 passed" in environment.run("pytest", "-q", "test_first.py", folder=tmp_path)


def test_mail_programs_read(environment: Environment, tmp_path: Path) -> None:
    """A store listens for IMAP: the private names of pymap that the listener uses are there."""
    found = environment.run("python", "-c", LISTENS, folder=tmp_path)
    assert "127.0.0.1" in found


def test_a_large_check_ends(environment: Environment, large: Path, tmp_path: Path) -> None:
    """A check of 100 MB of traces gives a verdict."""
    assert "converged" in environment.run("pflab", "check", str(large), folder=tmp_path, timeout_s=900)
