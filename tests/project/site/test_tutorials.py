"""Every command of the tutorials prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.played_page import Played, blocks, played

pytestmark = pytest.mark.long

TUTORIALS = Path(__file__).parents[3] / "docs" / "tutorials"
NAMES = ["trainer", "lab-builder", "test-engineer", "student", "data-engineer"]


def play(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    number = 0
    for each in played((TUTORIALS / f"{name}.md").read_text("utf-8"), folder):
        assert each.as_shown, f"{name}.md: $ {each.command}\n{each.printed}"
        number += 1
    assert number > 5


@pytest.mark.live
@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_shows_what_its_commands_print(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who types the tutorial sees what it shows."""
    play(name, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", NAMES)
def test_every_block_of_a_tutorial_is_played(name: str) -> None:
    """A tutorial has commands with their output, and files with their names, and no other blocks."""
    found = list(blocks((TUTORIALS / f"{name}.md").read_text("utf-8")))
    assert found
    assert [text for kind, title, text in found if kind != "console" and not title] == []


@pytest.mark.parametrize(
    ("shown", "printed", "fits"),
    [
        ("at http://127.0.0.1:8025/\n", "at http://127.0.0.1:40123/\n", True),
        ("one\n...\nfour\n", "one\ntwo\nthree\nfour\n", True),
        ("one\n...\nfour\n", "one\nfour\n", True),
        ("after ... s\n", "after 0.4 s\n", True),
        ("after ... s\n", "before 0.4 s\n", False),
        ("one\n", "one\ntwo\n", False),
        ("", "two\n", False),
    ],
)
def test_what_may_differ(shown: str, printed: str, fits: bool) -> None:
    """Ports may differ, and what stands for "...". Nothing else may."""
    assert Played("pflab", shown, printed).as_shown is fits
