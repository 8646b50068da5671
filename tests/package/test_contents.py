"""The wheel and the sdist have what they need, pass the checks of PyPI, and are the same whoever builds them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from pflab.replay.console_files import CONSOLE
from tests.package.release import complaints, differences, sdist_mistakes
from tests.support.installed import Package, output_of

PARTS = ("traces", "topology", "transport", "node", "analytics", "scenarios")

pytestmark = pytest.mark.package


def test_the_wheel_has_one_name(package: Package) -> None:
    """Only pflab is at the top level of site-packages, so no other package or folder is hidden."""
    names = {Path(each).parts[0] for each in zipfile.ZipFile(package.wheel).namelist()}
    assert {each for each in names if not each.endswith(".dist-info")} == {"pflab"}


def test_the_wheel_is_complete(project_root: Path, package: Package) -> None:
    """The wheel has every module, scenario and example, and all that a browser loads, but no tests."""
    inside = set(zipfile.ZipFile(package.wheel).namelist())
    in_tree = {
        path.relative_to(project_root)
        for part in PARTS
        for kind in ("*.py", "*.yaml")
        for path in (project_root / part).rglob(kind)
    }
    assert {path for path in in_tree if f"pflab/_floors/{path}" not in inside} == set()
    loaded = {
        path.relative_to(CONSOLE)
        for kind in ("*.js", "*.css", "*.html")
        for path in CONSOLE.rglob(kind)
        if "tests" not in path.parts
    }
    assert {path for path in loaded if f"pflab/_floors/console/{path}" not in inside} == set()
    assert [each for each in inside if each.startswith("pflab/_floors/console/tests")] == []


def test_make_wheel_builds_this_wheel(project_root: Path, package: Package) -> None:
    """`make wheel` writes the wheel to the place that docs/how-to/install.md names."""
    output_of(["make", "--no-print-directory", "wheel"], project_root)
    assert (project_root / "dist" / package.wheel.name).read_bytes() == package.wheel.read_bytes()


def test_a_second_build_is_the_same(project_root: Path, package: Package, tmp_path: Path) -> None:
    """Two builds of one tree are equal byte for byte."""
    assert list(differences(package, Package.built(project_root, tmp_path))) == []


def test_the_sdist_gives_the_same_package(package: Package, tmp_path: Path) -> None:
    """The wheel that is built from the sdist is the one that is built from the tree. The sdist has the example projects."""
    assert list(sdist_mistakes(package, tmp_path)) == []
    (tree,) = (tmp_path / "tree").iterdir()
    assert (tree / "examples" / "mailing-list" / "pyproject.toml").is_file()


def test_the_package_passes_the_checks(project_root: Path, package: Package) -> None:
    """twine and check-wheel-contents find nothing wrong."""
    assert list(complaints(package, project_root)) == []
