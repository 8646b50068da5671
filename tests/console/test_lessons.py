"""Each lesson of the course can be played to its end in a browser."""

from __future__ import annotations

import re
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import TimeoutError as PlayEnded
from playwright.sync_api import expect

from pflab.client import Client
from pflab.lessons.course import lessons_of_pflab
from tests.support.console_lessons import LONGEST_MS, begin, end, go_on
from tests.support.console_page import OpenPage
from tests.support.samples import sampled

LESSONS = tuple(lessons_of_pflab())


@pytest.mark.parametrize("name", sampled(LESSONS, 4))
def test_a_lesson_is_played_to_its_end(lab: str, open_page: OpenPage, name: str) -> None:
    """Every text and question appears; the first answer is taken as an answer; the end tells the verdict, and no error."""
    watched = open_page(begin(lab, name))
    page = watched.page
    card = page.get_by_role("region", name="Lesson")
    expect(card).to_be_visible(timeout=LONGEST_MS)
    for _ in range(100):
        following = card.locator("button.primary")
        if not following.count():
            break
        answers = card.get_by_role("group", name="Answers").locator("button:enabled")
        go_on(card, answers.first if answers.count() else following)
    expect(card).to_contain_text("The lab is still up")
    expect(card).not_to_contain_text("could not go on")
    expect(card.get_by_role("button", name="Once more")).to_be_enabled()
    expect(card.get_by_role("button", name="Next lesson:")).to_have_count(0 if name == LESSONS[-1] else 1)
    end(page)


def test_a_button_stays_under_the_pointer(lab: str, open_page: OpenPage) -> None:
    """The end of a play moves no button of the lesson: else a click that has begun on Next ends beside it, and is none."""
    page = open_page(begin(lab, "need-to-authenticate")).page
    card = page.get_by_role("region", name="Lesson")
    expect(card).to_be_visible(timeout=LONGEST_MS)
    skip = card.get_by_role("button", name="Skip")
    plays = 0
    while card.locator("footer button.primary").count():
        go_on(card)
        if skip.count():
            plays += 1
            buttons = "buttons => buttons.map(button => JSON.stringify(button.getBoundingClientRect()))"
            before = card.locator("button:visible").filter(has_not_text="Skip").evaluate_all(buttons)
            with suppress(PlayEnded):  # on a slow machine the play can end before the click
                skip.click(timeout=1000)
            expect(skip).to_have_count(0)
            assert card.locator("button:visible").evaluate_all(buttons) == before
    assert plays > 0
    end(page)


def test_going_back_shows_the_lab_as_it_was(lab: str, open_page: OpenPage) -> None:
    """Back shows the earlier text, and the lab at its moment: in the lost-mail lesson B does not miss anything at its start."""
    page = open_page(begin(lab, "lost-mail")).page
    card = page.get_by_role("region", name="Lesson")
    server = page.get_by_role("button", name="Server B")
    on_map = page.get_by_role("tab", name="Map")
    expect(card).to_be_visible(timeout=LONGEST_MS)
    on_map.click()
    while "lacks 1" not in (server.get_attribute("aria-label") or ""):
        go_on(card)
        skip = card.get_by_role("button", name="Skip")
        if skip.count():
            skip.click()
        on_map.click()
    while not card.get_by_role("button", name="Back").is_disabled():
        card.get_by_role("button", name="Back").click()
    on_map.click()
    expect(server).not_to_have_accessible_name(re.compile("lacks"))
    expect(page.locator(".clock .how")).to_have_text("an earlier moment")
    end(page)


def test_a_page_that_is_behind_misses_no_text(lab: str, open_page: OpenPage) -> None:
    """Next in a page, while another page of the same lesson has gone further, shows the next text and does not play on."""
    address = begin(lab, "lost-mail")
    ahead, behind = open_page(address).page, open_page(address).page
    step, following = "section.lesson header small", "section.lesson button.primary"
    expect(behind.locator(step)).to_contain_text("step 1 of", timeout=LONGEST_MS)
    for number in (2, 3):
        ahead.locator(following).click()
        expect(ahead.locator(step)).to_contain_text(f"step {number} of", timeout=LONGEST_MS)
        expect(ahead.locator(following)).to_be_enabled(timeout=LONGEST_MS)
    for number in (2, 3):
        behind.locator(following).click()
        expect(behind.locator(step)).to_contain_text(f"step {number} of", timeout=LONGEST_MS)
    ahead.goto("about:blank")  # it would complain that its lab is gone
    end(behind)


def test_a_text_points_at_the_table_and_the_row_of_which_it_speaks(lab: str, open_page: OpenPage) -> None:
    """The first text of new-post speaks of A's own row: A's state table of Projects is shown, and the row is marked. Another
    table that the presenter opened gives way to it."""
    page = open_page(begin(lab, "new-post")).page
    row = page.locator("table.state tr.pointed")
    expect(row).to_have_count(1, timeout=LONGEST_MS)
    expect(row).to_contain_text("Projects on Server A")
    page.get_by_role("tab", name="Log").click()
    expect(row).to_have_count(0)
    card = page.get_by_role("region", name="Lesson")
    go_on(card)
    card.get_by_role("button", name="Back").click()
    expect(row).to_have_count(1)
    end(page)


def test_an_answer_is_taken_in_words(lab: str, open_page: OpenPage) -> None:
    """From the answer of a question to the text that reveals it, the page says which answer was given."""
    page = open_page(begin(lab, "lost-mail")).page
    card = page.get_by_role("region", name="Lesson")
    answers = card.get_by_role("group", name="Answers").locator("button:enabled")
    expect(card.locator("header small")).to_contain_text("step 1 of", timeout=LONGEST_MS)
    while not answers.count():
        expect(card.locator(".answered")).to_have_count(0)
        go_on(card)
    given = answers.first.inner_text()
    go_on(card, answers.first)
    while not card.locator(".right, .wrong").count():
        expect(card.locator(".answered")).to_contain_text(given)
        go_on(card)
    expect(card.locator(".answered")).to_have_count(0)
    end(page)


def test_a_lesson_that_is_played_is_found_again(lab: str, open_page: OpenPage) -> None:
    """The list has the lessons that are played, with their step, and a search finds a lesson by its name."""
    address = begin(lab, "lost-mail")
    page = open_page(lab).page
    page.keyboard.press("l")
    listed = page.get_by_role("dialog", name="Lessons")
    listed.get_by_role("searchbox").fill("six-groups")
    expect(listed.locator("ol.course li", has_text="six-groups").first).to_be_visible()
    expect(listed.locator("ol.course li", has_not_text="six-groups")).to_have_count(0)
    listed.get_by_role("listitem").filter(has_text="step 1 of").get_by_role("link").click()
    assert page.url.split("#")[0] == address
    expect(page.get_by_role("region", name="Lesson")).to_be_visible(timeout=LONGEST_MS)
    end(page)


def test_a_course_in_the_address_is_the_list_of_lessons(lab: str, open_page: OpenPage) -> None:
    """A link selects and orders the lessons of a class. The course stays in the address when one of them begins."""
    page = open_page(f"{lab}/?course=conflict,lost-mail,nothing").page
    page.keyboard.press("l")
    listed = page.get_by_role("dialog", name="Lessons")
    expect(listed.locator("ol.course li")).to_have_text([re.compile("^1. .*conflict"), re.compile("^2. .*lost-mail")])
    expect(listed.get_by_role("alert")).to_have_text("The address names lessons that are not here: nothing.")
    listed.locator("ol.course button").last.click()
    expect(page.get_by_role("region", name="Lesson")).to_be_visible(timeout=LONGEST_MS)
    assert "&course=conflict,lost-mail,nothing" in page.url
    end(page)


def test_a_lesson_is_shown_in_the_same_page_and_back_leads_to_the_lab(lab: str, open_page: OpenPage) -> None:
    """A lesson that is begun from the list replaces the lab in the same document, and so does the browser's way back: a lab
    in a tab would end with its document. Its address alone begins a lesson too."""
    page = open_page(lab).page
    card = page.get_by_role("region", name="Lesson")
    page.evaluate("document.kept = true")
    page.keyboard.press("l")
    page.get_by_role("dialog", name="Lessons").get_by_role("button", name="lost-mail").click()
    expect(card).to_contain_text("step 1 of", timeout=LONGEST_MS)
    assert "&lesson=lost-mail" in page.url
    page.go_back()
    expect(card).to_have_count(0)
    expect(page.get_by_role("button", name="Server B,")).to_be_visible()
    page.go_forward()
    expect(card).to_contain_text("step 1 of", timeout=LONGEST_MS)
    end(page)
    expect(card).to_have_count(0)
    assert page.evaluate("document.kept")
    page.goto(f"{lab}/?lesson=lost-mail")
    expect(card).to_contain_text("step 1 of", timeout=LONGEST_MS)
    end(page)


def test_the_page_of_an_ended_lesson_leads_on(lab: str, open_page: OpenPage) -> None:
    """Who opens the page of a lesson that has ended can begin the same lesson again, or go to the lab."""
    address = begin(lab, "lost-mail")
    with Client(lab) as client:
        client.json("DELETE", parse_qs(urlsplit(address).query)["lab"][0])
    watched = open_page(address)
    ended = watched.page.get_by_role("region", name="Ended lesson")
    expect(ended.get_by_role("link", name="Go to the lab")).to_have_attribute("href", "./")
    ended.get_by_role("button", name="Begin lost-mail again").click()
    expect(watched.page.get_by_role("region", name="Lesson")).to_be_visible(timeout=LONGEST_MS)
    end(watched.page)
    watched.complaints.clear()  # the lab of the ended lesson was not found
