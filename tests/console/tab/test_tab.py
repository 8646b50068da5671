"""A lab in a browser tab, from a plain static server below a path, in Chromium and in Firefox."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from pflab.runs.lab_file import unpack
from pflab.runs.run_folder import RunFolder
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import output_of
from tests.support.console_lessons import LONGEST_MS, go_on
from tests.support.console_page import OpenPage, up
from tests.support.lab_site import StaticServer, built_lab, can_be_built
from tests.support.tab_pages import KEPT_AFTER, post

pytestmark = can_be_built

PHONE = 390
"""The width of a narrow phone, in pixels."""

POLL_MS = 50
"""How often a test looks for a file that the browser saves."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticServer]:
    """A server that only gives files, with the lab below a path."""
    with StaticServer(built_lab(tmp_path_factory)) as server:
        yield server


@pytest.fixture(scope="module")
def browser(each_browser: Browser) -> Browser:
    """Each test plays in both browsers."""
    return each_browser


@pytest.fixture
def site(served: StaticServer) -> str:
    """The URL of the lab's page."""
    return served.url


def move(page: Page, span: str) -> None:
    """Move the clock by a span that the menu has."""
    page.get_by_role("button", name="Until …").click()
    page.get_by_role("button", name=span, exact=True).click()


def taken(page: Page, home: Path) -> bytes:
    """Take the lab as one file, by the menu."""
    page.get_by_role("button", name="Save …").click()
    button = page.get_by_role("button", name="Take this lab as one file")
    if page.context.browser is None or page.context.browser.browser_type.name == "chromium":
        with page.expect_download() as found:
            button.click()
        return found.value.path().read_bytes()
    file = home / "lab.zip"
    file.unlink(missing_ok=True)
    button.click()
    while not zipfile.is_zipfile(
        file
    ):  # Firefox 153 does not say which download begins, so Playwright does not tell of it
        page.wait_for_timeout(POLL_MS)
    return file.read_bytes()


def test_the_organization_is_shown_while_python_loads(site: str, open_page: OpenPage) -> None:
    """The page shows the map of the topology, and what it loads, before the lab is up; of a lesson its introduction."""
    page = open_page(site).page
    expect(page.get_by_role("group", name="Map of the organization")).to_contain_text("SEA-NYC")
    expect(page.get_by_role("progressbar", name="Start of the lab")).to_be_visible()
    page.goto(f"{site}?lesson=lost-mail")
    expect(page.get_by_role("heading", name="A lost mail comes back by backfill")).to_be_visible()
    expect(page.get_by_text("You follow one post.")).to_be_visible()


def test_a_lost_mail_is_posted_and_repaired(site: str, open_page: OpenPage) -> None:
    """A lab in a tab is played freely: a mail of a post is lost by a fault, B lacks it, and gets it by backfill."""
    page = open_page(site).page
    up(page)
    page.keyboard.press("f")
    faults = page.get_by_role("dialog", name="Faults")
    faults.get_by_role("button", name="lose", exact=True).click()
    faults.locator("label", has_text=re.compile("^to")).locator("select").select_option("B")
    faults.get_by_role("button", name="Inject: lose").click()
    page.keyboard.press("Escape")
    post(page, "Hello")
    page.get_by_role("tab", name="Map").click()
    move(page, "1 h")
    server = page.get_by_role("button", name="Server B,")
    expect(server).to_have_accessible_name(re.compile("lacks 1"), timeout=LONGEST_MS)
    page.get_by_role("button", name="Until …").click()
    page.get_by_role("button", name="Projects", exact=True).click()
    expect(server).not_to_have_accessible_name(re.compile("lacks"), timeout=LONGEST_MS)


def test_a_lesson_is_played_to_its_end(site: str, open_page: OpenPage) -> None:
    """A lesson has an address of its own. A step that was disturbed begins again. The end leads to the next lesson, in the same
    page, and then to the lab."""
    page = open_page(f"{site}?lesson=lost-mail").page
    card = page.get_by_role("region", name="Lesson")
    expect(card).to_be_visible(timeout=LONGEST_MS)
    expect(card).to_contain_text("a lesson ends when its last tab is closed")
    page.evaluate("document.kept = true")
    go_on(card)
    server_b = page.get_by_role("button", name="Server B,")
    expect(page.get_by_role("heading", name="Hello")).to_be_visible(timeout=LONGEST_MS)  # the step shows its post
    page.get_by_role("tab", name="Map").click()
    expect(server_b).to_have_accessible_name(re.compile("lacks 1"), timeout=LONGEST_MS)
    server_b.click()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(server_b).to_have_accessible_name(re.compile("stopped"), timeout=LONGEST_MS)
    card.get_by_role("button", name="Start this step again").click()
    expect(server_b).to_have_count(0, timeout=LONGEST_MS)  # the step shows folders
    page.get_by_role("tab", name="Map").click()
    expect(server_b).not_to_have_accessible_name(re.compile("stopped"), timeout=LONGEST_MS)
    expect(card.locator("header small")).to_contain_text("step 2 of", timeout=LONGEST_MS)
    following = card.locator("button.primary")
    while following.count():
        answers = card.get_by_role("group", name="Answers").locator("button:enabled")
        go_on(card, answers.first if answers.count() else following)
    expect(card).not_to_contain_text("could not go on")
    card.get_by_role("button", name="Next lesson:").click()
    expect(card.locator("header small")).to_contain_text("step 1 of", timeout=LONGEST_MS)
    assert page.url.split("#")[0] == f"{site}?lesson=new-post"
    card.get_by_role("button", name="End", exact=True).click()
    expect(card).to_have_count(0)
    assert page.url == site
    assert page.evaluate("document.kept")


def test_a_link_to_a_step_of_a_lesson_plays_up_to_it(site: str, open_page: OpenPage) -> None:
    """Who opens the link in a browser in which the lesson is not played sees the step that its sender saw, at its moment."""
    sender = open_page(f"{site}?lesson=lost-mail").page
    card = sender.get_by_role("region", name="Lesson")
    expect(card).to_be_visible(timeout=LONGEST_MS)
    for _ in range(3):
        go_on(card)
    card.get_by_role("button", name="Back").click()
    expect(card.locator("header small")).to_contain_text("step 3 of")
    sender.wait_for_url(re.compile("lesson=lost-mail#step=3&"))
    expected = sender.locator(".travel .event").inner_text()
    text = card.locator("p").first.inner_text()
    receiver = open_page(sender.url).page
    card = receiver.get_by_role("region", name="Lesson")
    expect(card.locator("header small")).to_contain_text("step 3 of", timeout=LONGEST_MS)
    expect(card.locator("p").first).to_have_text(text)
    expect(receiver.locator(".travel .event")).to_have_text(expected)
    expect(receiver.get_by_role("alert")).to_be_hidden()


def test_tabs_of_one_address_have_one_lab(site: str, open_page: OpenPage) -> None:
    """A post of one tab is seen in another one of the same address, at once; a tab of another topology has its own lab."""
    watched = open_page(site)
    up(watched.page)
    beside, other = watched.another_tab(site), watched.another_tab(f"{site}?topology=one-site")
    for page in (beside, other):
        up(page)
    post(watched.page, "For all tabs")
    expect(beside.get_by_text("'For all tabs'").first).to_be_visible()
    expect(other.get_by_role("button", name="Server E,")).to_have_count(0)
    expect(other.get_by_text("'For all tabs'")).to_have_count(0)


def test_a_lab_is_saved_and_reset(site: str, open_page: OpenPage) -> None:
    """The menu saves the lab under a name, and goes back to it, in the same page."""
    page = open_page(site).page
    up(page)
    page.get_by_role("button", name="Save …").click()
    page.get_by_label("Save it as").fill("class-1")
    page.get_by_role("button", name="Save the lab").click()
    post(page, "After the save")
    page.get_by_role("button", name="Save …").click()
    page.get_by_role("button", name="Go back to class-1").click()
    expect(page.get_by_role("button", name="After the save")).to_have_count(0, timeout=LONGEST_MS)
    up(page)


def test_a_lab_is_kept_when_its_last_tab_is_closed(site: str, open_page: OpenPage) -> None:
    """The next tab offers to go on with the lab as it was, or to start over."""
    watched = open_page(site)
    page = watched.page
    up(page)
    before = page.evaluate(KEPT_AFTER, 0)
    post(page, "To be kept")
    page.evaluate(KEPT_AFTER, before)
    page.close()
    page = watched.another_tab(site)
    kept = page.get_by_role("region", name="The lab that this browser has kept")
    expect(kept).to_contain_text("Contoso", timeout=LONGEST_MS)
    kept.get_by_role("button", name="Go on with the lab of").click()
    up(page)
    page.get_by_role("tab", name="Folders").click()
    expect(page.get_by_role("button", name="To be kept").first).to_be_visible()
    page.close()
    page = watched.another_tab(site)
    page.get_by_role("button", name="Start over").click()
    up(page)
    expect(page.get_by_text("'To be kept'")).to_have_count(0)


def test_the_file_of_a_lab_goes_to_a_judge_and_to_another_tab(
    site: str, open_page: OpenPage, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lab that was taken as one file is a run that pflab check reads, and goes on in a tab of another address. There a
    topology is opened too; its mistakes are told, and change nothing."""
    watched = open_page(site)
    page = watched.page
    up(page)
    post(page, "On its way")
    file = tmp_path / "lab.zip"
    file.write_bytes(taken(page, home))
    folder = RunFolder.at(tmp_path / "run")
    unpack(file.read_bytes(), folder)
    assert any("Projects" in line for line in output_of(capsys, "check", str(folder.path), code=ExitCode.UNKNOWN))
    other = watched.another_tab(f"{site}?topology=two-sites")
    up(other)
    other.get_by_role("button", name="Save …").click()
    chooser = other.get_by_label("Open a topology (.yaml) or the file of a lab")
    chooser.set_input_files({"name": "mine.yaml", "mimeType": "", "buffer": b"organization: X\nserver: 1\n"})
    expect(other.get_by_role("alert")).to_contain_text('did you mean "servers"?')
    expect(other.get_by_role("button", name="Server B,")).to_be_visible()
    chooser.set_input_files(
        {
            "name": "mine.yaml",
            "mimeType": "",
            "buffer": b"organization: X\nservers: {ONLY: {}}\nfolders: {Projects: {replicas: [ONLY]}}\n",
        }
    )
    expect(other.get_by_role("button", name="Server ONLY,")).to_be_visible(timeout=LONGEST_MS)
    other.get_by_role("button", name="Save …").click()
    chooser.set_input_files(file)
    expect(other.get_by_role("button", name="Server E,")).to_be_visible(timeout=LONGEST_MS)
    other.get_by_role("tab", name="Folders").click()
    expect(other.get_by_role("button", name="On its way").first).to_be_visible()


def test_a_lab_that_cannot_begin_says_why(site: str, open_page: OpenPage) -> None:
    """An address with an unknown topology or lesson says so, and leads to the lab."""
    watched = open_page(f"{site}?topology=no-such")
    expect(watched.page.get_by_role("alert")).to_contain_text(
        "there is no example topology “no-such”", timeout=LONGEST_MS
    )
    expect(watched.page.get_by_role("button", name="Begin again")).to_be_visible()
    watched.page.get_by_role("link", name="Open the lab with five servers").click()
    up(watched.page)
    watched.page.goto(f"{site}?lesson=no-such")
    expect(watched.page.get_by_role("alert")).to_contain_text("is not a lesson", timeout=LONGEST_MS)
    watched.page.get_by_role("link", name="Go to the lab").click()
    up(watched.page)
    watched.complaints.clear()  # their files were not found


def test_a_lab_that_could_not_begin_begins_again(served: StaticServer, open_page: OpenPage) -> None:
    """If a file does not come, the page says which, and another worker begins when the user wants it."""
    served.missing.add("lab.tar.xz")
    watched = open_page(served.url)
    try:
        expect(watched.page.get_by_role("alert")).to_contain_text(
            "the site does not give lab.tar.xz", timeout=LONGEST_MS
        )
    finally:
        served.missing.clear()
    watched.complaints.clear()
    watched.page.get_by_role("button", name="Begin again").click()
    up(watched.page)


def test_a_phone_shows_the_lab(site: str, open_page: OpenPage) -> None:
    """At 390 pixels nothing is wider than the screen: while Python loads, in the lab, and in a lesson."""
    page = open_page("about:blank", width=PHONE, height=844).page
    page.goto(f"{site}?lesson=lost-mail")
    expect(page.get_by_role("progressbar", name="Start of the lab")).to_be_visible()
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)
    card = page.get_by_role("region", name="Lesson")
    expect(card).to_be_visible(timeout=LONGEST_MS)
    assert page.evaluate(fits)
    card.get_by_role("button", name="End", exact=True).click()
    expect(card).to_have_count(0)
    page.get_by_role("button", name="Save …").click()
    expect(page.get_by_role("dialog", name="Save")).to_be_visible()
    assert page.evaluate(fits)
