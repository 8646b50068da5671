"""The file of a replay in a browser: a lesson as a handout, posts and mails with their content, frames, moments."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.console_page import OpenPage

LESSON_NOTES = "Name the parts on the map."

CONFLICT = """\
title: Two edits at once
topology: one-site.yaml
rules: [CF-1]
steps:
  - post: {on: A, folder: Projects, subject: Plan, body: Monday, as: plan}
  - advance: 20 min
  - edit: {on: A, message: plan, body: "<b>Tuesday</b>"}
  - edit: {on: B, message: plan, body: Friday}
  - advance: 20 min
"""


def pflab(*words: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "pflab", *map(str, words)], check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def handout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first lesson as a file, with notes."""
    file = tmp_path_factory.mktemp("handout") / "lost-mail.html"
    pflab("replay", "--lesson", "1", "--notes", "-o", file)
    return file


@pytest.fixture(scope="module")
def conflict(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a conflict, as a file."""
    place = tmp_path_factory.mktemp("conflict")
    (place / "plan.yaml").write_text(CONFLICT, "utf-8")
    pflab("run", place / "plan.yaml", "--simulate", "--keep-mails", "--traces", place)
    pflab("replay", place / "latest", "-o", place / "run.html")
    return place / "run.html"


def test_a_lesson_is_played_from_its_file(handout: Path, open_page: OpenPage) -> None:
    """The file begins with the lesson's first text. `Next` plays what happened up to the next one, a reader answers the
    questions and is told whether the answer was right, and the last text ends the lesson."""
    watched = open_page(handout.as_uri())
    page = watched.page
    card = page.get_by_role("region", name="Lesson")
    expect(card).to_contain_text("A, B and C each hold a replica")
    card.get_by_text("Presenter's notes").click()
    expect(card).to_contain_text(LESSON_NOTES)
    assert watched.serious_violations() == []
    card.get_by_role("button", name="Next").click()
    card.get_by_role("button", name="Next").click()
    expect(card.get_by_role("button", name="Skip")).to_have_count(0)
    expect(page.locator(".clock time")).to_contain_text("00:15:00")
    card.get_by_role("button", name="Next").click()
    card.get_by_role("button", name="at once, because a delivery has failed").click()
    expect(card).to_contain_text("Your answer: at once")
    card.get_by_role("button", name="Next").click()
    expect(card).to_contain_text("You said “at once, because a delivery has failed”. The answer:")
    card.get_by_role("button", name="Back").click()
    expect(card).to_contain_text("B does not know that it misses anything")
    for _ in range(20):
        if card.get_by_role("button", name="Next").count() == 0:
            break
        card.get_by_role("button", name="Next").click()
    expect(card).to_contain_text("the end")
    expect(card).to_contain_text("You have learned how a status reveals a lost mail")
    assert page.get_by_role("button", name=re.compile("Once more|Presenter|Play again")).count() == 0


def test_a_link_opens_a_step_of_the_lesson_in_its_file(handout: Path, open_page: OpenPage) -> None:
    """The number of a step alone is enough for a link: the file opens with its text, at its moment."""
    page = open_page(f"{handout.as_uri()}#step=1").page
    card = page.get_by_role("region", name="Lesson")
    for _ in range(3):
        card.get_by_role("button", name="Next").click()
        expect(card.get_by_role("button", name="Skip")).to_have_count(0)
    expect(card.locator("header small")).to_contain_text("step 4 of")
    card.get_by_role("button", name="Back").click()
    expect(card.locator("header small")).to_contain_text("step 3 of")
    moment = page.locator(".travel .event").inner_text()
    text = card.locator("p").first.inner_text()
    linked = open_page(f"{handout.as_uri()}#step=3").page
    card = linked.get_by_role("region", name="Lesson")
    expect(card.locator("header small")).to_contain_text("step 3 of")
    expect(card.locator("p").first).to_have_text(text)
    expect(linked.locator(".travel .event")).to_have_text(moment)


def test_posts_and_mails_have_their_content(conflict: Path, open_page: OpenPage) -> None:
    """At each moment the versions of a post that a server shows then have their text, and each mail can be read, decoded and as
    it crossed the wire."""
    page = open_page(conflict.as_uri()).page
    page.get_by_role("tab", name="Mails").click()
    page.locator("#view tbody button", has_text="content").last.click()
    details = page.get_by_label("Details")
    expect(details.get_by_role("tabpanel")).to_contain_text("PR_SUBJECT")
    details.get_by_role("tab", name="Raw message").click()
    expect(details.get_by_role("tabpanel")).to_contain_text("Message-ID:")
    page.get_by_role("tab", name="Folders").click()
    page.get_by_role("navigation", name="Folders").get_by_role("button", name=re.compile("^Projects")).first.click()
    page.get_by_role("slider", name="Moment of the run").press("Home")
    field = page.get_by_role("region", name="Space-time diagram").get_by_role("searchbox")
    field.fill("conflict")
    field.press("Enter")
    page.locator("#view").get_by_role("button", name="conflict").first.click()
    versions = page.get_by_role("region", name="Conflict").locator("pre.body")
    expect(versions).to_have_count(2)
    assert {versions.nth(0).inner_text(), versions.nth(1).inner_text()} == {"<b>Tuesday</b>", "Friday"}
    assert page.get_by_role("button", name=re.compile("Edit|Delete|Keep")).count() == 0


def test_a_page_shows_a_replay_in_a_frame(handout: Path, conflict: Path, open_page: OpenPage, tmp_path: Path) -> None:
    """In a frame of another page, also one that may do nothing but run scripts, a replay shows map, lesson and controls without
    scrolling, and plays."""
    around = tmp_path / "around.html"
    frame = '<iframe width="760" height="440" title="{}" src="{}" {}></iframe>'
    frames = (
        frame.format("Lesson", handout.as_uri(), ""),
        frame.format("Run", conflict.as_uri(), 'sandbox="allow-scripts"'),
    )
    around.write_text(f"<!doctype html><title>Around</title>{''.join(frames)}", "utf-8")
    page = open_page(around.as_uri(), width=800, height=920).page
    lesson = page.frame_locator("iframe[title=Lesson]")
    expect(lesson.get_by_role("button", name="Server A,")).to_be_in_viewport()
    lesson.get_by_role("region", name="Lesson").get_by_role("button", name="Next").click()
    expect(lesson.get_by_role("region", name="Lesson")).to_contain_text("step 2 of 10")
    run = page.frame_locator("iframe[title=Run]")
    run.get_by_role("slider", name="Moment of the run").press("Home")
    before = run.locator(".clock time").inner_text()
    run.get_by_role("button", name="Play", exact=True).click()
    expect(run.locator(".clock time")).not_to_have_text(before)
    expect(run.get_by_role("button", name="Server A,")).to_be_in_viewport()
    for frame_locator in (lesson, run):
        assert frame_locator.locator("html").evaluate("root => root.scrollHeight <= innerHeight")


def test_a_frame_plays_on_when_it_is_seen(handout: Path, conflict: Path, open_page: OpenPage, tmp_path: Path) -> None:
    """A frame far below stays at the step of its address. Once seen, a lesson plays to its next text and a run to its end."""
    around = tmp_path / "around.html"
    links = (f"{handout.as_uri()}#step=2&amp;play=1", f"{conflict.as_uri()}#at=2003-10-21T00:00Z&amp;play=1")
    frames = "".join(f'<iframe width="760" height="440" src="{link}"></iframe>' for link in links)
    around.write_text(f'<!doctype html><title>Around</title><p style="height: 3000px">Above</p>{frames}', "utf-8")
    page = open_page(around.as_uri(), width=800, height=920).page
    lesson, run = (page.frame_locator("iframe").nth(index) for index in range(2))
    expect(lesson.get_by_role("region", name="Lesson")).to_contain_text("step 2 of 10")
    expect(run.get_by_role("button", name="Play", exact=True)).to_have_count(1)
    page.locator("iframe").last.scroll_into_view_if_needed()
    expect(lesson.get_by_role("region", name="Lesson")).to_contain_text("step 3 of 10")
    expect(run.locator(".clock time")).not_to_contain_text("00:00:00")
    assert "play=1" not in lesson.locator("html").evaluate("() => location.hash")


def test_a_narrow_frame_shows_the_map_above_the_lesson(handout: Path, open_page: OpenPage, tmp_path: Path) -> None:
    """In a frame as wide as a phone, map, controls and lesson have the whole width, one above the other, and all are seen."""
    around = tmp_path / "around.html"
    frame = f'<iframe width="356" height="720" src="{handout.as_uri()}"></iframe>'
    around.write_text(f"<!doctype html><title>Around</title>{frame}", "utf-8")
    shown = open_page(around.as_uri(), width=390, height=800).page.frame_locator("iframe")
    parts = [shown.get_by_role("region", name="Lesson"), shown.locator(".picture"), shown.locator(".travel")]
    lesson, picture, controls = (part.evaluate("part => part.getBoundingClientRect().toJSON()") for part in parts)
    assert picture["bottom"] <= controls["top"] < controls["bottom"] <= lesson["top"] < lesson["bottom"] <= 720
    assert min(part["width"] for part in (lesson, picture, controls)) > 300


def test_a_replay_opens_at_a_moment(handout: Path, conflict: Path, open_page: OpenPage, tmp_path: Path) -> None:
    """A link to a file, also one in a frame, opens it at a step of the lesson, or at an instant with a view and a selection."""
    around = tmp_path / "around.html"
    link = f"{handout.as_uri()}#step=4"
    around.write_text(
        f'<!doctype html><title>Around</title><iframe width="900" height="500" src="{link}"></iframe>', "utf-8"
    )
    card = open_page(around.as_uri()).page.frame_locator("iframe").get_by_role("region", name="Lesson")
    expect(card).to_contain_text("When does B learn that it misses A-1?")
    page = open_page(f"{conflict.as_uri()}#at=2003-10-21T00:10:00.000Z&select=server&id=B").page
    expect(page.locator(".clock time")).to_contain_text("00:10:00")
    expect(page.get_by_role("region", name="Selected").get_by_role("heading").first).to_contain_text("B")
    expect(page.get_by_role("button", name="Server B,")).to_have_accessible_name(re.compile("lacks 1"))
    page = open_page(f"{handout.as_uri()}#view=mails").page
    expect(page.get_by_role("region", name="Lesson")).to_contain_text("step 1 of 10")
    expect(page.get_by_role("tab", name="Mails")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".clock time")).to_contain_text("21 Oct 2003 00:00:00")
