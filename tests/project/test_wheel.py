"""The wheel gives other programs one name, pflab, and an installed pflab works in any folder."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pflab.replay.console_files import script_paths

PARTS = ("traces", "topology", "transport", "node", "analytics")

pytestmark = pytest.mark.xdist_group("wheel")


@pytest.fixture(scope="module")
def wheel(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, unpacked as pip would do it."""
    built, installed = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("installed")
    call([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)], project_root)
    (file,) = built.iterdir()
    with zipfile.ZipFile(file) as content:
        content.extractall(installed)
    return installed


@pytest.fixture
def user_project(tmp_path: Path) -> Iterator[Path]:
    """A folder whose own modules have the names of pflab's parts, and fail if they are imported."""
    for name in ("node.py", "topology/__init__.py", "traces/__init__.py", "transport.py"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text('raise SystemExit("a module of the user was imported")\n', "ascii")
    yield tmp_path


def call(command: list[str], folder: Path, **environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env={**inherited, **environment}, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_has_one_name(wheel: Path) -> None:
    """Only pflab is at the top level of site-packages, so no other package or folder is hidden."""
    names = {each.name for each in wheel.iterdir() if not each.name.endswith(".dist-info")}
    assert names == {"pflab"}


def test_the_wheel_is_complete(project_root: Path, wheel: Path) -> None:
    """The wheel has every module, scenario and example, and all that a browser loads, but no tests."""
    inside = wheel / "pflab" / "_floors"
    for part in (*PARTS, "scenarios"):
        in_tree = {
            path.relative_to(project_root) for kind in ("*.py", "*.yaml") for path in (project_root / part).rglob(kind)
        }
        assert {path for path in in_tree if not (inside / path).is_file()} == set()
    assert [each for each in script_paths() if not (inside / "console" / each).is_file()] == []
    assert not (inside / "console" / "tests").exists()


@pytest.mark.parametrize("how", [["--simulate"], ["--processes"]])
def test_an_installed_pflab_works_beside_modules_of_the_same_names(
    wheel: Path, user_project: Path, how: list[str]
) -> None:
    """A scenario that comes with pflab runs in a folder with a node.py and packages named topology and traces."""
    entry = "from pflab.cli import main; main()"
    told = call([sys.executable, "-c", entry, "run", "new-post", *how], user_project, PYTHONPATH=str(wheel))
    assert "passed" in told
    told = call([sys.executable, "-m", "pflab", "run", "new-post", *how], user_project, PYTHONPATH=str(wheel))
    assert "passed" in told


def test_the_client_leaves_the_names_of_others_alone(wheel: Path, user_project: Path) -> None:
    """A program that imports pflab.client and pflab.testing.plugin gets no part of pflab, and its own modules stay its own."""
    program = (
        "import sys, pflab.client, pflab.testing, pflab.testing.plugin\n"
        f"assert not [each for each in {PARTS} if each in sys.modules]\n"
        "import importlib.util, pathlib\n"
        f"for each in {PARTS[:4]}:\n"
        "    assert pathlib.Path(importlib.util.find_spec(each).origin).is_relative_to(pathlib.Path.cwd()), each\n"
    )
    (user_project / "program.py").write_text(program, "ascii")
    call([sys.executable, "program.py"], user_project, PYTHONPATH=str(wheel))
