"""The address of a page says what the page shows: links, and the browser's way back and forward."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from pflab.client import Client
from tests.support.console_lessons import LONGEST_MS, begin, end, go_on
from tests.support.console_links import copied, opened, seen, shows
from tests.support.console_page import OpenPage

STATES: Final = 50
"""How many random states are written to their address and opened again."""

ACTS: Final = 3
"""How many random things are done between two of them."""


def act(page: Page, chance: random.Random) -> None:
    """Do something that changes what is shown, as a user does it."""
    canvas = page.locator(".lanes canvas")
    box = canvas.bounding_box()
    assert box is not None
    place = {"x": chance.uniform(5, box["width"] - 5), "y": chance.uniform(5, box["height"] - 5)}
    kind = chance.randrange(8)
    if kind == 0:
        page.keyboard.press(chance.choice("1234"))
    elif kind == 1:
        page.keyboard.press(chance.choice(["Home", "End", "PageUp", "PageDown", "ArrowLeft", "ArrowRight", "Escape"]))
    elif kind == 2:
        slider = page.get_by_role("slider", name="Moment of the run")
        slider.fill(str(chance.randint(0, int(slider.get_attribute("max") or 0))))
    elif kind == 3:
        canvas.click(position=place)
    elif kind == 4:
        canvas.hover(position=place)
        page.mouse.wheel(0, chance.choice([-400, -150, 200]))
    elif kind == 5:
        page.get_by_role("button", name=chance.choice(["Order", "All", "Zoom in", "Zoom out"]), exact=True).click()
    elif kind == 6:
        chosen = page.locator(
            "#view .card, #view .matrix button, #view .mails tbody button, #view .folders button, .panel [role=tab]"
        ).and_(page.locator(":not([disabled]):visible"))
        if chosen.count():
            chosen.nth(chance.randrange(chosen.count())).click()
    elif page.locator(".mails input[type=search]").count():
        page.locator(".mails input[type=search]").fill(chance.choice(["", "from:A", "is:lost", "Büro & <b>"]))


def test_fifty_random_states_of_a_replay_are_opened_again(replay: Path, open_page: OpenPage) -> None:
    """What a user sees in a replay file after any three acts is seen again by whoever opens the link to it."""
    sender = open_page(replay.as_uri()).page
    receiver = open_page("about:blank").page
    opened(sender)
    chance = random.Random(20031022)
    links = set()
    for _ in range(STATES):
        for _ in range(ACTS):
            act(sender, chance)
        expected = seen(sender)
        links.add(sender.url)
        receiver.goto("about:blank")
        receiver.goto(sender.url)
        shows(receiver, expected)
        assert copied(receiver) == sender.url
    assert len(links) > STATES / 2


@pytest.fixture(scope="module")
def played(lab: str) -> Iterator[str]:
    """A lab in which a post of A has come to B."""
    with Client(lab) as client:
        client.post("A", "Projects", subject="Hello")
        client.advance("20 min")
    yield lab


def test_a_replay_in_a_frame_leaves_the_history_of_its_page_alone(replay: Path, open_page: OpenPage) -> None:
    """Back in a page that embeds a replay leaves this page, whatever was chosen in the frame, which opens at the moment of its
    address, also if somebody has put a lesson into it."""
    page_around = replay.with_name("around.html")
    page_around.write_text(
        f'<iframe src="{replay.name}?lesson=none#at=2003-10-22T00:15Z" width="900" height="600"></iframe>'
    )
    page = open_page(page_around.as_uri()).page
    frame = page.frames[1]
    expect(frame.locator(".clock time")).to_have_text("Wed 22 Oct 2003 00:15:00 UTC")
    steps = page.evaluate("history.length")
    frame.get_by_role("tab", name="Mails").click()
    frame.wait_for_url(re.compile("#view=mails&at=2003-10-22T00:15:00.000Z&event="))
    assert page.evaluate("history.length") == steps


def selected(page: Page, name: str) -> None:
    expect(page.get_by_role("tablist", name="Views").get_by_role("tab", name=name)).to_have_attribute(
        "aria-selected", "true"
    )


def test_back_and_forward_go_through_what_was_chosen(played: str, open_page: OpenPage) -> None:
    """Each view, selection and jump in time is one step of the browser's history; the zoom is none. The page is not loaded
    again."""
    page = open_page(played).page
    moment = page.locator(".clock .how")
    opened(page)
    page.evaluate("document.kept = true")
    steps = page.evaluate("history.length")
    assert "#" not in page.url
    page.get_by_role("button", name="Server B,").click()
    page.wait_for_url("**/#select=server&id=B")
    page.get_by_label("Details").get_by_role("tab", name="Mail queue").click()
    page.wait_for_url("**/#select=server&id=B&part=queue")
    page.keyboard.press("2")
    page.wait_for_url("**/#view=replicas&select=server&id=B&part=queue")
    page.keyboard.press("Home")
    page.wait_for_url("**&at=*&event=0")
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_url("**&from=*&until=*")
    assert page.evaluate("history.length") == steps + 4
    page.go_back()
    expect(moment).to_have_text("paused")
    selected(page, "Replicas")
    page.go_back()
    selected(page, "Map")
    expect(page.get_by_label("Details").get_by_role("tab", name="Mail queue")).to_have_attribute(
        "aria-selected", "true"
    )
    page.go_back()
    expect(page.get_by_label("Details").get_by_role("tab", name="State table")).to_have_attribute(
        "aria-selected", "true"
    )
    page.go_back()
    expect(page.get_by_role("heading", name="What happened")).to_be_visible()
    assert "#" not in page.url
    for _ in range(4):
        page.go_forward()
    expect(moment).to_have_text("an earlier moment")
    selected(page, "Replicas")
    assert page.evaluate("document.kept")


def test_a_slider_that_is_dragged_is_one_step(played: str, open_page: OpenPage) -> None:
    """Many moments one soon after the other, as a dragged slider gives them, are one step back."""
    page = open_page(played).page
    slider = page.get_by_role("slider", name="Moment of the run")
    opened(page)
    steps = page.evaluate("history.length")
    slider.evaluate(
        """slider => {
          for (let moment = 1; moment < 30; moment++) {
            slider.value = String(moment);
            slider.dispatchEvent(new Event("input", { bubbles: true }));
          }
        }"""
    )
    page.wait_for_url("**&event=29")
    assert page.evaluate("history.length") == steps + 1
    page.go_back()
    expect(page.locator(".clock .how")).to_have_text("paused")


def test_a_link_to_a_live_lab_opens_what_its_sender_saw(played: str, open_page: OpenPage) -> None:
    """A post beside another server's, at a moment of the past, is what another browser shows that opens the link."""
    sender = open_page(played).page
    opened(sender)
    sender.locator(".events button", has_text="makes 'Hello'").click()
    sender.get_by_role("tab", name="Folders").click()
    sender.get_by_role("button", name="Hello").first.click()
    expect(sender.get_by_role("region", name="Selected").get_by_role("heading").first).to_have_text("Hello")
    expected = seen(sender)
    receiver = open_page(sender.url).page
    shows(receiver, expected)
    assert receiver.url == sender.url


STRANGE: Final = {
    "view=secret&part=__proto__": "These parts of the address cannot be read: view, part.",
    "select=server&id=__proto__": "This lab does not have what the address names: server.",
    "select=mail&id=%3Cscript%3Ealert(1)%3C/script%3E": "This lab does not have what the address names: mail.",
    "view=folders&read=constructor&on=Z": "This lab does not have what the address names: folder, server.",
    "step=3": "This address is that of a lesson, and no lesson is played in this lab.",
    "at=1999-01-01T00:00Z&event=5": "This address is that of Fri 1 Jan 1999 00:00:00; nothing is known here before",
    "at=2099-01-01T00:00Z": "This address is that of Thu 1 Jan 2099 00:00:00; nothing is known here after",
    "from=1999-01-01T00:00Z&until=1999-01-02T00:00Z": "The diagram shows the whole run",
    "search=" + "x" * 5_000: "These parts of the address cannot be read: its length.",
}


def test_what_a_lab_does_not_have_is_a_plain_line(played: str, open_page: OpenPage) -> None:
    """An address with what is unknown, malformed or outside of the history shows the lab and a line, and no error; the address
    is then that of what is shown."""
    for fragment, line in STRANGE.items():
        page = open_page(f"{played}/#{fragment}").page
        expect(page.get_by_role("alert")).to_contain_text(line)
        expect(page.get_by_role("slider", name="Moment of the run")).to_be_visible()
        corrected = page.url
        page.goto(f"{played}/#view=mails")  # the same document
        selected(page, "Mails")
        page.goto(corrected)
        page.reload()
        expect(page.get_by_role("slider", name="Moment of the run")).to_be_visible()
        expect(page.get_by_role("alert")).to_be_hidden()
        page.context.close()


def test_a_step_of_a_lesson_has_an_address(lab: str, open_page: OpenPage) -> None:
    """Back in the browser goes back one step of the lesson, a link opens its step at its moment, and a step that was not played
    is told."""
    address = begin(lab, "lost-mail")
    page = open_page(address).page
    card = page.get_by_role("region", name="Lesson")
    step = card.locator("header small")
    expect(step).to_contain_text("step 1 of", timeout=LONGEST_MS)
    page.wait_for_url("**#step=1*")
    for _ in range(2):
        go_on(card)
    page.wait_for_url("**#step=3*")
    page.go_back()
    expect(step).to_contain_text("step 2 of")
    page.go_back()
    expect(step).to_contain_text("step 1 of")
    page.go_forward()
    expect(step).to_contain_text("step 2 of")
    expected = seen(page)
    other = open_page(page.url).page
    shows(other, expected)
    beyond = open_page(f"{address}#step=9").page
    expect(beyond.get_by_role("alert")).to_contain_text("that of step 9; the lesson was played to step 3")
    expect(beyond.get_by_role("region", name="Lesson").locator("header small")).to_contain_text("step 3 of")
    for each in (other, beyond):
        each.goto("about:blank")  # it would complain that its lab is gone
    end(page)
