"""The lessons in a browser tab, each to its end with the right answers. One page plays them all: it loads Python once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, expect

from pflab.lessons.course import lessons_of_pflab
from pflab.scenario.lesson import Quiz
from tests.support.console_lessons import LONGEST_MS, go_on
from tests.support.console_page import WatchedPage, up
from tests.support.lab_site import StaticServer, built_lab, can_be_built
from tests.support.samples import sampled

pytestmark = can_be_built

LESSONS = lessons_of_pflab()

SAMPLE = 12
"""One in so many lessons is played by `make test-console`."""


@pytest.fixture(scope="module")
def watched(each_browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WatchedPage]:
    """A page with a lab."""
    with StaticServer(built_lab(tmp_path_factory)) as served, closing(WatchedPage(each_browser)) as watched:
        watched.page.goto(served.url)
        up(watched.page)
        yield watched


@pytest.mark.parametrize("name", sampled(LESSONS, SAMPLE))
def test_a_lesson_ends_with_all_answers_right(watched: WatchedPage, name: str) -> None:
    """Each question gets its right answer, and the page says so; the end tells the verdict, and no error."""
    page = watched.page
    card = page.get_by_role("region", name="Lesson")
    answers = [step.args.answer for step in LESSONS[name].steps if isinstance(step.args, Quiz)]
    page.keyboard.press("l")
    listed = page.get_by_role("dialog", name="Lessons").get_by_role("listitem")
    listed.filter(has=page.get_by_text(name, exact=True)).get_by_role("button").click()
    expect(card.locator("header small")).to_contain_text("step 1 of", timeout=LONGEST_MS)
    following, right, number = card.locator("button.primary"), 0, 0
    while following.count():
        asked = card.get_by_role("group", name="Answers").locator("button:enabled")
        if asked.count():
            go_on(card, asked.get_by_text(answers[number], exact=True))
            number += 1
        else:
            go_on(card, following)
        right += card.locator(".right").count()
        expect(card.locator(".wrong")).to_have_count(0)
    assert (number, right) == (len(answers), len(answers))
    expect(card).to_contain_text("The lab is still up")
    # By the keyboard, because the card may scroll while a pointer is on its way.
    card.get_by_role("button", name="End", exact=True).press("Enter")
    expect(card).to_have_count(0)
    assert watched.complaints == []
