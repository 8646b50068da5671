"""The screens of which the tutorials speak: each tutorial is played up to its picture. `make pictures` writes the pictures."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.console_page import OpenPage, Screen
from tests.support.picture_sources import record
from tests.support.played_page import Played, blocks, played

pytestmark = pytest.mark.long

SCREEN: Screen = {"width": 1200, "height": 720}


@pytest.fixture(scope="module")
def place(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the pictures. At the end, the digests of what they show are written beside them."""
    folder = Path(os.environ.get("PFLAB_PICTURES") or tmp_path_factory.mktemp("pictures"))
    yield folder
    record("tutorials", project_root, folder)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder in which a reader begins."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@contextmanager
def played_to(picture: str, tutorial: Path, desk: Path) -> Iterator[Played]:
    """Play a tutorial up to a picture, and give its last command before it. A lab that was started is up meanwhile."""
    before, found, _ = tutorial.read_text("utf-8").partition(f"](../pictures/{picture})")
    assert found, picture
    commands = sum(len(re.findall(r"^\$ ", text, re.MULTILINE)) for _, title, text in blocks(before) if not title)
    with closing(played(before, desk, Path(sys.executable).parent)) as steps:
        *_, last = (next(steps) for _ in range(commands))
        assert last.as_shown, last.printed
        yield last


def address_of_lab() -> str:
    return str(json.loads(Path("runs/lab.json").read_text("utf-8"))["url"])


def keep(page: Page, file: Path) -> None:
    page.mouse.move(0, 0)
    page.screenshot(path=file)


def test_the_lab_with_a_cut_line(project_root: Path, desk: Path, place: Path, open_page: OpenPage) -> None:
    """The console shows the cut connector, the mails that wait on both sides, and who lacks what."""
    picture = "tutorial-lab.png"
    with played_to(picture, project_root / "docs/tutorials/lab-builder.md", desk):
        page = open_page(address_of_lab(), **SCREEN).page
        for name in ("A", "B", "C"):
            expect(page.get_by_role("button", name=f"Server {name},")).to_have_accessible_name(re.compile("lacks 1"))
        keep(page, place / picture)


def test_the_list_of_lessons_has_the_one_of_the_tutorial(
    project_root: Path, desk: Path, place: Path, open_page: OpenPage
) -> None:
    """A search in the list finds the lesson that the reader has written."""
    picture = "tutorial-lessons.png"
    with played_to(picture, project_root / "docs/tutorials/trainer.md", desk):
        page = open_page(address_of_lab(), **SCREEN).page
        page.get_by_role("button", name="Lessons").click()
        lesson = page.get_by_role("dialog").get_by_text("The first quarter of an hour")
        expect(lesson).to_be_visible()
        lesson.scroll_into_view_if_needed()
        keep(page, place / picture)


def test_the_exercise_shows_a_post_that_a_server_lacks(
    project_root: Path, desk: Path, place: Path, open_page: OpenPage
) -> None:
    """Beside the folder on A, which has the post, the folder on B is empty."""
    picture = "tutorial-exercise.png"
    with played_to(picture, project_root / "docs/tutorials/trainer.md", desk):
        page = open_page(f"{address_of_lab()}/#view=folders&on=A&beside=B", **SCREEN).page
        page.get_by_role("navigation", name="Folders").get_by_role("button", name=re.compile("^Projects")).first.click()
        expect(page.locator("#view")).to_contain_text("Where is this message?")
        expect(page.locator("#view")).to_contain_text("A-1 is not here yet")
        keep(page, place / picture)


def test_the_replay_of_a_failed_test(project_root: Path, desk: Path, place: Path, open_page: OpenPage) -> None:
    """The command in the report of a failed test writes a page that shows the cut and the post that one server lacks."""
    picture = "tutorial-replay.png"
    with played_to(picture, project_root / "docs/tutorials/test-engineer.md", desk) as failed:
        (command,) = re.findall(r"pflab (replay .*)$", failed.printed, re.MULTILINE)
        file = desk / "failed.html"
        order = [sys.executable, "-m", "pflab", *shlex.split(command), "-o", str(file)]
        subprocess.run(order, check=True, capture_output=True)
        page = open_page(f"{file.as_uri()}#at=2003-10-21T00:19:00Z", **SCREEN).page
        expect(page.get_by_role("button", name="Server B,")).to_have_accessible_name(re.compile("lacks 1"))
        keep(page, place / picture)
