"""`make quick` finds the tests nearest to a change."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import quick
from tests.quick import changed_files, nearest_tests

FILES = {
    "tests/node/test_clock.py": "from node.clock import now\n",
    "tests/node/test_store.py": "import node.store\nfrom node import clock, store\n",
    "tests/node/test_mail.py": "from node.clock_face import show\nfrom tests.support.lab import up\n",
    "tests/support/lab.py": "",
}


@pytest.mark.parametrize(
    ("changed", "own", "others"),
    [
        (["node/clock.py"], ["tests/node/test_clock.py"], ["tests/node/test_store.py"]),
        (["node/store.py"], ["tests/node/test_store.py"], []),
        (["tests/node/test_mail.py"], ["tests/node/test_mail.py"], []),
        (["tests/support/lab.py"], [], ["tests/node/test_mail.py"]),
        (["node/other.py"], [], []),
    ],
)
def test_the_nearest_tests_are_the_own_ones_and_those_that_import_the_change(
    tmp_path: Path, changed: list[str], own: list[str], others: list[str]
) -> None:
    """A module's own tests come first, then the tests that import it; a changed test file is its own test."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert nearest_tests(changed, tmp_path) == (own, others)


def test_changed_and_new_files_count_and_failures_of_git_are_errors(tmp_path: Path) -> None:
    """A file that differs from main, committed or not, and a new one have changed. Outside a repository there is no answer."""
    with pytest.raises(subprocess.CalledProcessError):
        changed_files(tmp_path)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.test"]
    for order in (
        ["init", "-q", "-b", "main"],
        ["commit", "-q", "--allow-empty", "-m", "first"],
        ["switch", "-q", "-c", "mine"],
    ):
        subprocess.run([*git, *order], cwd=tmp_path, check=True)
    (tmp_path / "committed.py").write_text("", "utf-8")
    subprocess.run([*git, "add", "."], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-q", "-m", "second"], cwd=tmp_path, check=True)
    (tmp_path / "new.py").write_text("", "utf-8")
    assert changed_files(tmp_path) == ["committed.py", "new.py"]


@pytest.mark.parametrize(
    ("changed", "code", "words"),
    [
        ("scenarios/nothing.yaml", 1, ""),
        ("console/js/main.js", 2, "NOT CHECKED: console/js/main.js"),
        ("README.md", 0, "NOT CHECKED: README.md"),
    ],
)
def test_what_is_not_checked_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], changed: str, code: int, words: str
) -> None:
    """A scenario with a mistake fails. Files of other kinds are named; only a text may be all that has changed."""
    monkeypatch.setattr(quick, "changed_files", lambda _: [changed])
    assert quick.main() == code
    assert words in capsys.readouterr().out
