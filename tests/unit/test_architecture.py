"""ARCHITECTURE.md is a map: it names every module, and nothing that is not there."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

PACKAGES = ("pflab", "pflab.cli", "node", "transport", "topology", "traces")


def named(project_root: Path, package: str) -> list[str]:
    """The names in the first column of the package's table; `x_*` stands for several."""
    page = (project_root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^\| module of `{re.escape(package)}` \| about \|\n\|---\|---\|\n((?:\|.*\n)+)", page, re.MULTILINE
    )
    assert found is not None, f"ARCHITECTURE.md has no table of {package}"
    return [name for row in found[1].splitlines() for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]


def modules(project_root: Path, package: str) -> list[str]:
    folder = project_root / package.replace(".", "/")
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("__"))


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_names_every_module(project_root: Path, package: str) -> None:
    """Each module of a package is in the package's table of ARCHITECTURE.md, by its name or by a pattern."""
    patterns = named(project_root, package)
    unnamed = [
        name for name in modules(project_root, package) if not any(fnmatchcase(name, pattern) for pattern in patterns)
    ]
    assert unnamed == [], f"ARCHITECTURE.md names no {package}.{unnamed[0]}; give it a room"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_names_nothing_that_is_gone(project_root: Path, package: str) -> None:
    """Each name in a package's table of ARCHITECTURE.md is that of a module, once; a pattern stands for one or more."""
    there, patterns = modules(project_root, package), named(project_root, package)
    assert [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in there)] == []
    assert sorted(patterns) == sorted(set(patterns))
