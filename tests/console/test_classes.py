"""Lessons for a class: a step that was disturbed begins again, pages follow the trainer's, and the notes have a window."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from pflab.client import Client
from tests.support.console_lessons import LONGEST_MS, begin, end, go_on
from tests.support.console_page import OpenPage

STEP = "section.lesson header small"


def lab_of(address: str) -> str:
    """Return the URL of the lab whose page has this address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}{parse_qs(parts.query)['lab'][0]}"


def test_a_disturbed_lesson_goes_on_or_back(lab: str, open_page: OpenPage) -> None:
    """Who stops a server in a lesson reads in one sentence in which step that was, and can go on from here, begin that step
    again, or start over. A text after the change is told with the change, and no text without one."""
    address = begin(lab, "new-post")
    page = open_page(address).page
    card = page.get_by_role("region", name="Lesson")
    server = page.get_by_role("button", name="Server B,")
    stopped = re.compile("stopped")
    problem = "You stopped B in step 1."
    expect(page.locator(STEP)).to_contain_text("step 1 of", timeout=LONGEST_MS)
    with Client(lab_of(address)) as client:
        client.stop("B")
    expect(server).to_have_accessible_name(stopped)
    card.get_by_role("button", name="Start over").click()
    expect(server).not_to_have_accessible_name(stopped, timeout=LONGEST_MS)
    expect(page.locator(STEP)).to_contain_text("step 1 of", timeout=LONGEST_MS)
    with Client(lab_of(address)) as client:
        client.stop("B")
    while not card.locator(".wrong").count():
        go_on(card)
    expect(card.locator(".wrong")).to_contain_text(problem)
    expect(card.locator("details")).not_to_have_attribute("open", "")
    go_on(card, card.get_by_role("button", name="Go on from here"))
    following = card.locator("footer button.primary")
    while following.count():
        expect(card.get_by_role("note")).to_contain_text(problem)
        go_on(card)
    expect(card.get_by_role("note")).to_contain_text(problem)
    expect(card).to_contain_text("The lab is still up")
    assert page.url.split("#")[0] == address
    expect(card).to_contain_text(f"add --lab {lab_of(address)} to reach the lab")
    card.get_by_role("button", name="Start step 1 again").click()
    expect(page.locator(STEP)).to_contain_text("step 1 of", timeout=LONGEST_MS)
    expect(server).not_to_have_accessible_name(stopped)
    while following.count():
        expect(card.get_by_role("note")).to_have_count(0)
        go_on(card)
    expect(card.locator(".wrong")).to_have_count(0)
    end(page)


def test_each_step_begins_again_at_the_same_address(lab: str, open_page: OpenPage) -> None:
    """An earlier step can begin again: the lab becomes again what it was, and the step is the newest one."""
    address = begin(lab, "new-post")
    page = open_page(address).page
    card = page.get_by_role("region", name="Lesson")
    again = card.get_by_role("button", name="Start this step again")
    expect(page.locator(STEP)).to_contain_text("step 1 of", timeout=LONGEST_MS)
    expect(again).to_have_count(0)
    for _ in range(2):
        go_on(card)
    card.get_by_role("button", name="Back").click()
    expect(page.locator(STEP)).to_contain_text("step 2 of")
    expect(page.locator(".clock .how")).to_have_text("an earlier moment")
    with page.expect_response("**/again", timeout=LONGEST_MS):
        again.click()
    expect(page.locator(".clock .how")).not_to_have_text("an earlier moment", timeout=LONGEST_MS)
    expect(page.locator(STEP)).to_contain_text("step 2 of", timeout=LONGEST_MS)
    with Client(lab) as client:
        (played,) = [each["played"] for each in client.json("GET", "/lessons") if each["name"] == "new-post"]
    assert [each["told"] for each in played if address.find(each["id"]) > 0] == [2]
    end(page)


def test_the_presenter_has_a_window_and_the_pages_of_the_class_follow(lab: str, open_page: OpenPage) -> None:
    """The notes are only in the presenter's window. Next in it takes the page on the projector along, and each page that
    follows; a page that does not follow stays. All survive a reload."""
    address = begin(lab, "lost-mail")
    watched = open_page(address)
    page = watched.page
    expect(page.locator(STEP)).to_contain_text("step 1 of", timeout=LONGEST_MS)
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Presenter").click()
    presenter = opened.value
    notes = presenter.get_by_label("Presenter's notes")
    expect(notes).not_to_be_empty(timeout=LONGEST_MS)
    pupil, alone = open_page(f"{address}&follow").page, open_page(address).page
    for each in (pupil, alone):
        expect(each.locator(STEP)).to_contain_text("step 1 of", timeout=LONGEST_MS)
    presenter.get_by_role("button", name="Next").click()
    for each in (presenter, page, pupil):
        expect(each.locator(STEP)).to_contain_text("step 2 of", timeout=LONGEST_MS)
    expect(page.get_by_text(notes.inner_text())).to_have_count(0)
    expect(alone.locator(STEP)).to_contain_text("step 1 of")
    presenter.reload()
    expect(presenter.get_by_label("Presenter's notes")).not_to_be_empty(timeout=LONGEST_MS)
    expect(pupil.get_by_role("button", name="Follow")).to_have_attribute("aria-pressed", "true")
    assert watched.serious_violations() == []
    for each in (presenter, pupil, alone):
        each.goto("about:blank")  # they would complain that their lab is gone
    end(page)
