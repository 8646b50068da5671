"""pflab is on no package index, so nobody is told to take it from one: docs/how-to/install.md says how to install it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

FROM_AN_INDEX = re.compile(
    r"\b(?:pip3?|pipx|uv)\b.*?\s(?:install|inject|run|download|add)\s(?:[^\n`]*?\s)?['\"]?pflab(?:\[[\w,]+\])?(?=[\s'\"`)=<>]|$)"
    r"|\buvx\s+pflab\b"
    r"|(?<![\w./-])pflab\[[\w,]+\]"
)
"""Matches a command or a requirement that takes `pflab` from an index. A name means an index; a path or a wheel does not."""
FROM_A_FILE = re.compile(r"--(?:spec|from)\s+\S*(?:\.whl|\.)['\"]?\s")


def _told(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if FROM_AN_INDEX.search(line) and not FROM_A_FILE.search(line)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("pip install pflab", True),
        ("Use `python -m pip install -U pflab` now", True),
        ("pip install 'pflab[test]' jupyterlab", True),
        ("pip install jupyterlab pflab", True),
        ("pipx run pflab demo", True),
        ("pipx run --spec 'pflab[analytics]' pflab demo", True),
        ("uvx pflab demo", True),
        ("uv tool install pflab", True),
        ("pip download --no-deps pflab", True),
        ('test = ["pflab[test]"]', True),
        ("pip install dist/pflab-*.whl", False),
        ("pip install 'dist/pflab-1.0-py3-none-any.whl[test]'", False),
        ('pip install "$(ls dist/pflab-*.whl)[test]"', False),
        ("pipx run --spec dist/pflab-*.whl pflab demo", False),
        ("pip install '.[analytics]'", False),
        ("pip uninstall pflab", False),
    ],
)
def test_a_name_means_an_index_and_a_path_does_not(line: str, found: bool) -> None:
    """The search below finds each form of a command that would ask an index for pflab, and no other."""
    assert (_told(line) != []) is found


def test_nobody_is_told_to_take_pflab_from_an_index(project_root: Path) -> None:
    """No page, message or build file lets pip, pipx or uv take `pflab` from an index, where anyone may register the name."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=project_root, capture_output=True, check=True, text=True)
    files = [project_root / name for name in listed.stdout.split("\0") if name]
    told = {
        str(file.relative_to(project_root)): lines
        for file in files
        if file.is_file() and file != Path(__file__) and (lines := _told(file.read_text("utf-8", "replace")))
    }
    assert told == {}


@pytest.fixture(scope="module")
def wheel(project_root: Path) -> str:
    """The name that `make wheel` gives the wheel of this version."""
    version = tomllib.loads((project_root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return f"dist/pflab-{version}-py3-none-any.whl"


def test_the_page_finds_the_wheel(project_root: Path, wheel: str) -> None:
    """docs/how-to/install.md names the wheel by one pattern, which matches the wheel of this version."""
    named = set(re.findall(r"[\w./*-]+\.whl", (project_root / "docs" / "how-to" / "install.md").read_text("utf-8")))
    assert [fnmatch(wheel, each) for each in named] == [True]


def test_a_shell_finds_the_wheel_with_its_extras(project_root: Path, wheel: str, tmp_path: Path) -> None:
    """Each command of the page that installs the wheel gives its program the path of the wheel, followed by the extras."""
    (tmp_path / wheel).parent.mkdir()
    (tmp_path / wheel).touch()
    page = (project_root / "docs" / "how-to" / "install.md").read_text("utf-8")
    commands = [line.split("   ")[0] for line in re.findall(r"^    (pipx? .*\.whl.*)$", page, re.MULTILINE)]
    assert len(commands) > 5
    for command in commands:
        order = ["sh", "-c", f'pip() {{ printf "%s\\n" "$@"; }}; pipx() {{ pip "$@"; }}; {command}']
        words = subprocess.run(order, cwd=tmp_path, capture_output=True, check=True, text=True).stdout.splitlines()
        (package,) = (word for word in words if ".whl" in word)
        assert re.fullmatch(rf"{re.escape(wheel)}(\[[\w,]+\])?", package), command


def test_the_version_is_in_one_place(project_root: Path, wheel: str) -> None:
    """No file but pyproject.toml says the version of pflab, so a release changes this line and CHANGELOG.md."""
    version = wheel.split("-")[1].replace(".", "[.]")
    order = ["git", "grep", "-lE", rf"pflab[-_ =:@]+v?{version}", "--", ".", ":!CHANGELOG.md"]
    named = subprocess.run(order, cwd=project_root, capture_output=True, check=False, text=True)
    assert (named.stdout, named.stderr) == ("", "")
