"""The projects in examples/, each tested as its user does: in a folder of its own, by pytest in a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

PROJECTS = {
    "class": ["--pflab-driver", "simulated"],
    "mailing-list": [],  # a simulated lab has no SMTP
    "monitoring": ["--pflab-driver", "simulated"],
}


@pytest.mark.live
@pytest.mark.parametrize("name", PROJECTS)
def test_the_tests_of_an_example_pass(name: str, project_root: Path, tmp_path: Path) -> None:
    """A copy of the example passes its own tests."""
    folder = tmp_path / name
    shutil.copytree(project_root / "examples" / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PROJECTS[name]]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_names_every_example(project_root: Path) -> None:
    """docs/how-to/examples.md has a row for each folder of examples/, and each is tested."""
    page = (project_root / "docs" / "how-to" / "examples.md").read_text("utf-8")
    rows = re.findall(r"^\| `examples/([\w-]+)` \|", page, re.MULTILINE)
    assert rows == sorted(path.parent.name for path in (project_root / "examples").glob("*/README.md"))
    assert rows == sorted([*PROJECTS, "notebook"])  # tests/analytics/report/test_tables.py runs the notebook


@pytest.mark.parametrize("name", [*PROJECTS, "notebook"])
def test_the_readme_of_an_example_is_short(name: str, project_root: Path) -> None:
    """A README of an example has a title and at most 30 lines."""
    lines = (project_root / "examples" / name / "README.md").read_text("utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert len(lines) <= 30
