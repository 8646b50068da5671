"""The parts of `make release-check`: what is wrong with a changelog, with pictures, with the tree and with a package."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.package.release import changelog_mistakes, complaints, differences, release_notes, uncommitted
from tests.support.installed import Package
from tests.support.picture_sources import GROUPS, PICTURES, record, stale_pictures

DATED = "# Changelog\n\n## 0.2.0 (2026-11-28)\n\nShort.\n\n- A new verb.\n\n## 0.1.0 (2026-01-02)\n\n- The first.\n"


@pytest.mark.parametrize(
    ("changelog", "told"),
    [
        (DATED, None),
        (DATED.replace("## 0.2.0", "## Unreleased\n\n## 0.2.0"), None),
        (DATED.replace("## 0.2.0", "## Unreleased\n\n- Late.\n\n## 0.2.0"), "Unreleased is not empty"),
        (DATED.replace(" (2026-11-28)", ""), "the entry of 0.2.0 has no date"),
        (DATED.replace("2026-11-28", "2026-11-31"), "the entry of 0.2.0 has no date"),
        (DATED.replace("## 0.2.0", "## 0.3.0"), "the newest entry is not that of 0.2.0"),
        (DATED.replace("0.2.0 (2026-11-28)", "Unreleased"), "Unreleased is not empty|the newest entry"),
        (DATED.replace("Short.\n\n- A new verb.\n", ""), "the entry of 0.2.0 is empty"),
        ("# Changelog\n", "the newest entry is not that of 0.2.0"),
    ],
)
def test_a_release_has_a_dated_entry_and_nothing_unreleased(changelog: str, told: str | None) -> None:
    """The newest entry of the changelog is that of the version, with a date that exists; each mistake is one line."""
    found = list(changelog_mistakes(changelog, "0.2.0"))
    expected = told.split("|") if told else []
    assert [part in line for part, line in zip(expected, found, strict=True)] == [True] * len(expected)


def test_the_notes_are_the_entry_of_the_version() -> None:
    """The release notes are the text between the heading of the version and that of the version before."""
    assert release_notes(DATED, "0.2.0") == "Short.\n\n- A new verb."
    assert release_notes(DATED, "0.1.0") == "- The first."
    assert release_notes(DATED, "0.1") == ""


@pytest.fixture
def project(project_root: Path, tmp_path: Path) -> Path:
    """A project with the sources of all pictures, and pictures that were made from them."""
    for group in GROUPS.values():
        for source in (file for pattern in group.sources for file in project_root.glob(pattern) if file.is_file()):
            copy = tmp_path / source.relative_to(project_root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
    (tmp_path / PICTURES).mkdir(parents=True)
    for name, group in GROUPS.items():
        for picture in group.pictures:
            (tmp_path / PICTURES / picture).touch()
        record(name, tmp_path, tmp_path / PICTURES)
    return tmp_path


def test_each_pattern_of_sources_finds_files(project_root: Path) -> None:
    """A folder that is renamed does not silently end the check of its pictures."""
    patterns = [pattern for group in GROUPS.values() for pattern in group.sources]
    assert [pattern for pattern in patterns if not any(project_root.glob(pattern))] == []


def test_a_picture_is_stale_if_its_sources_have_changed(project: Path) -> None:
    """A changed, a new and a removed source are noticed, and so is a picture that is missing or without a record."""
    assert list(stale_pictures(project)) == []
    theme = project / "console" / "style" / "theme.css"
    theme.write_text(theme.read_text("utf-8") + "/* */", "utf-8")
    of_console, of_tutorials = stale_pictures(project)
    assert "console-faults.png: not made from the present console/style/theme.css: run make pictures" in of_console
    assert "tutorial-replay.png: not made from the present console/style/theme.css: run make pictures" in of_tutorials
    (project / "console" / "new.js").touch()
    assert ["console/new.js and 1 more" in line for line in stale_pictures(project)] == [True, True]
    record("tutorials", project, project / PICTURES)
    (line,) = stale_pictures(project)
    assert "console-faults.png" in line
    record("console", project, project / PICTURES)
    (project / "analytics" / "drawing" / "svg.py").unlink()
    (line,) = stale_pictures(project)
    assert "report-runs.png: not made from the present analytics/drawing/svg.py" in line
    (project / PICTURES / "report.sources").unlink()
    (project / PICTURES / "console.png").unlink()
    assert ["missing" in line or "not made" in line for line in stale_pictures(project)] == [True, True]


def test_tests_pages_and_comments_make_no_picture_stale(project: Path) -> None:
    """A new test of the console, a new page of the documentation, or a reworded docstring or comment changes nothing."""
    module = project / "analytics" / "report" / "page.py"
    text = module.read_text("utf-8").replace('"""Return', '"""Give').replace("\n\n", "\n\n# A comment.\n")
    assert '"""Give' in text
    module.write_text(text, "utf-8")
    for name in ("console/tests/new.test.js", "docs/new.md", "tests/console/test_new.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    assert list(stale_pictures(project)) == []


def test_a_working_tree_with_changes_is_not_released(tmp_path: Path) -> None:
    """A new file is named."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    assert list(uncommitted(tmp_path)) == []
    (tmp_path / "one.txt").touch()
    (tmp_path / "two.txt").touch()
    assert list(uncommitted(tmp_path)) == ["the working tree is not clean: commit or remove one.txt and 1 more"]


def test_mistakes_of_a_package_are_told(project_root: Path, tmp_path: Path) -> None:
    """A second build that differs is named, and what the checkers find wrong is one line for each of them."""
    packages = [Package(tmp_path / each / "p-1-py3-none-any.whl", tmp_path / each / "p-1.tar.gz") for each in "ab"]
    for number, package in enumerate(packages):
        package.wheel.parent.mkdir()
        package.wheel.write_bytes(bytes([number]))
        package.sdist.write_bytes(b"")
    assert list(differences(*packages)) == ["two builds of one tree give different p-1-py3-none-any.whl"]
    told = list(complaints(packages[0], project_root))
    assert [line.partition(":")[0] for line in told] == ["twine check", "check-wheel-contents"]
    assert not any("\n" in line for line in told)
