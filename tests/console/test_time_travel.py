"""The past in a browser: the slider, the play of past events, what a lab has forgotten, and a run as a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from pflab.client import Client
from tests.support.console_page import OpenPage
from tests.support.forgetful_lab import forgetful_lab


def step(page: Page, name: str) -> str:
    """Return what a server's card says."""
    return page.get_by_role("button", name=f"Server {name}").get_attribute("aria-label") or ""


@pytest.fixture(scope="module")
def lost(lab: str) -> str:
    """A lab in which the mail with A's first change was lost on its way to B, 15 lab minutes ago."""
    with Client(lab) as client:
        client.inject("lose", from_="A", to="B", type="content", count=1)
        client.post("A", "Projects", subject="Hello")
        client.advance("20 min")
    return lab


def test_the_slider_shows_earlier_moments_and_returns(lost: str, open_page: OpenPage) -> None:
    """At the beginning no store lacks anything; in the present B misses the change. The lab itself does not change."""
    page = open_page(lost).page
    expect(page.get_by_role("button", name="Server B")).to_have_accessible_name(re.compile("lacks 1"))
    page.keyboard.press("Home")
    expect(page.locator(".clock .how")).to_have_text("an earlier moment")
    expect(page.get_by_role("button", name="Server A")).to_have_accessible_name(re.compile("not started"))
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Server B")).to_have_accessible_name(re.compile("lacks 1"))
    expect(page.locator(".clock .how")).to_have_text("paused")


def test_an_event_of_the_list_shows_its_moment(lost: str, open_page: OpenPage) -> None:
    """A click on an event under "What happened" shows the lab just after it."""
    page = open_page(lost).page
    page.locator(".events button", has_text="makes 'Hello'").click()
    expect(page.locator(".travel .event")).to_contain_text("makes 'Hello' in Projects as A-1")
    expect(page.locator(".clock .how")).to_have_text("an earlier moment")


def test_all_mails_are_listed_and_read_in_the_past(lost: str, open_page: OpenPage) -> None:
    """A search finds the lost mail among all mails, and its content is read at an earlier moment too."""
    watched = open_page(lost)
    page = watched.page
    expect(page.locator(".events button", has_text="loses a mail from A")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("tab", name="Mails").click()
    mails = page.get_by_role("region", name="Mails")
    mails.get_by_role("searchbox", name="Search").fill("is:lost change:A-1")
    expect(mails.get_by_role("status")).to_contain_text("1 of ")
    assert watched.serious_violations() == []
    mails.get_by_role("button", name="content").click()
    expect(page.locator(".panel pre.text")).to_contain_text("Hello")


def test_a_search_goes_to_the_event_that_it_finds(lost: str, open_page: OpenPage) -> None:
    """A search shows the next event whose words have the text; a text that no event has is told."""
    watched = open_page(lost)
    page = watched.page
    find = page.get_by_role("searchbox", name="Find")
    find.fill("makes 'Hello'")
    find.press("Enter")
    expect(page.locator(".travel .event")).to_contain_text("makes 'Hello' in Projects as A-1")
    find.fill("no such event")
    find.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("No event contains")


def test_a_search_waits_for_the_events_that_are_still_arriving(lost: str, open_page: OpenPage) -> None:
    """Who searches before all events have arrived, and presses Enter within one frame, is taken to the event."""
    page = open_page(lost).page
    held: list[Route] = []
    searched: list[bool] = []
    page.route("**/events?*", lambda route: held.append(route) if not searched else route.continue_())
    with page.expect_request("**/events?*"):
        page.reload()
    find = page.get_by_role("searchbox", name="Find")
    find.evaluate(
        """field => {
          field.value = "makes 'Hello'";
          field.dispatchEvent(new Event("input", {bubbles: true}));
          field.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
        }"""
    )
    expect(page.locator(".travel .event")).to_have_text("the beginning")
    searched.append(True)
    for request in held:
        request.continue_()
    expect(page.locator(".travel .event")).to_contain_text("makes 'Hello' in Projects as A-1")


def test_a_replay_file_opens_from_disk(replay: Path, open_page: OpenPage) -> None:
    """A file of a simulated run shows map, replicas, diagram and every moment, without a server and without a network."""
    watched = open_page(replay.as_uri())
    page = watched.page
    expect(page.get_by_role("button", name="Server A")).to_be_visible()
    expect(page.locator(".clock .how")).to_have_text("a finished run")
    page.keyboard.press("2")
    expect(page.get_by_role("row", name="the hierarchy")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("Home")
    expect(page.locator(".travel .event")).to_have_text("the beginning")
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".travel .event")).not_to_have_text("the beginning")
    assert page.get_by_role("button", name="Run (Space)").count() == 0
    assert watched.serious_violations() == []


def test_a_lab_gives_its_run_as_a_file(lost: str, open_page: OpenPage, tmp_path: Path) -> None:
    """The download of a live lab is a replay file that shows the same."""
    page = open_page(lost).page
    with page.expect_download() as found:
        page.get_by_role("button", name="Save …").click()
        page.get_by_role("button", name="Download the run").click()
    file = tmp_path / "run.html"
    found.value.save_as(file)
    replayed = open_page(file.as_uri()).page
    expect(replayed.get_by_role("button", name="Server B")).to_have_accessible_name(re.compile("lacks 1"))


def test_a_search_goes_to_each_place(lost: str, open_page: OpenPage) -> None:
    """Enter goes to the next event that has the words, Shift+Enter to the one before; the page counts them and selects the
    mail."""
    page = open_page(lost).page
    field = page.get_by_role("region", name="Space-time diagram").get_by_role("searchbox")
    found = page.locator(".travel .found")
    field.fill("content about")
    field.press("Enter")
    expect(found).to_have_text(re.compile(r"^1 of \d+$"))
    many = int(found.inner_text().split(" of ")[1])
    assert many > 1
    expect(page.locator(".travel .event")).to_contain_text("content about")
    expect(page.get_by_role("region", name="Selected").get_by_role("heading").first).to_contain_text("content")
    field.press("Enter")
    expect(found).to_have_text(f"2 of {many}")
    field.press("Shift+Enter")
    expect(found).to_have_text(f"1 of {many}")
    field.press("Shift+Enter")
    expect(found).to_have_text(f"{many} of {many}")
    field.fill("no such words")
    field.press("Enter")
    expect(found).to_have_text("none")


def test_a_lab_is_shown_although_its_first_events_are_forgotten(tmp_path: Path, open_page: OpenPage) -> None:
    """The page shows posts and stops of events that the lab has forgotten, what a stopped store lacks, and the next change. Its
    slider begins with the oldest event that there is."""
    with forgetful_lab(tmp_path) as lab:
        page = open_page(lab.url).page
        server = page.get_by_role("button", name="Server C,")
        expect(server).to_have_accessible_name(re.compile("stopped$"))
        lab.start("C")
        expect(server).to_have_accessible_name(re.compile("lacks 60"))
        lab.advance("1 h")
        expect(server).to_have_accessible_name(re.compile("2 folders$"))
        slider = page.get_by_role("slider", name="Moment of the run")
        assert int(slider.get_attribute("min") or 0) > 0
        slider.press("Home")
        expect(page.get_by_text("earlier events are only in the traces")).to_be_visible()
        page.get_by_role("button", name="Now", exact=True).click()
        page.get_by_role("tab", name="Folders").click()
        page.get_by_text("Projects", exact=True).first.click()
        expect(page.get_by_text("Early 3").first).to_be_visible()
