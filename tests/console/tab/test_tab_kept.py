"""What a browser keeps of a lab in a tab: when, what it says if it cannot, and what it does with a lab that does not open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Playwright, expect

from tests.support.browser_workers import LabWorker
from tests.support.console_lessons import LONGEST_MS
from tests.support.console_page import OpenPage, launch_forgetful, up
from tests.support.lab_site import StaticServer, built_lab, can_be_built
from tests.support.tab_pages import KEPT, KEPT_AFTER, post

pytestmark = can_be_built

SLOW_CLOCK: Final = """(() => {
  const now = performance.now.bind(performance);
  let calls = 0;
  performance.now = () => now() + 100_000 * ++calls;
})()"""
"""Let everything seem to take minutes, so that the worker rests for an hour after it has kept the lab."""

HIDE: Final = """() => {
  Object.defineProperty(document, "hidden", { value: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticServer]:
    with StaticServer(built_lab(tmp_path_factory)) as server:
        yield server


@pytest.mark.parametrize("query", ["", "?lesson=lost-mail"])
def test_a_kept_lab_that_does_not_open_says_why(served: StaticServer, open_page: OpenPage, query: str) -> None:
    """The page says why the kept lab does not open, and offers to start over, also where the address asks for a lesson."""
    watched = open_page(served.outside)
    page = watched.page
    page.evaluate(KEPT, ["default", "no lab"])
    page.goto(served.url + query)
    choice = page.get_by_role("region", name="The lab that this browser has kept")
    if not query:
        expect(choice).to_contain_text("Fabrikam, which stands at Tue 21 Oct 2003 00:00:00 UTC", timeout=LONGEST_MS)
        choice.get_by_role("button", name="Go on with the lab of").click()
    expect(choice.get_by_role("alert")).to_contain_text("this is not a lab file", timeout=LONGEST_MS)
    choice.get_by_role("button", name="Start over").click()
    up(page)


def test_a_lab_is_kept_when_its_page_is_hidden(served: StaticServer, browser: Browser, open_page: OpenPage) -> None:
    """A page that is hidden may end soon, so the lab is kept then, although it was kept a moment before."""
    page = open_page(served.url).page
    up(page)
    first = page.evaluate(KEPT_AFTER, 0)
    LabWorker(browser, page).value(SLOW_CLOCK)
    post(page, "Kept in its turn")
    second = page.evaluate(KEPT_AFTER, first)
    post(page, "Kept because the page is hidden")
    page.evaluate(HIDE)
    page.evaluate(KEPT_AFTER, second)


def test_a_browser_without_room_says_so(served: StaticServer, open_page: OpenPage) -> None:
    """If the browser has no room for the site, the lab plays with the network, and the page says that it is not kept."""
    watched = open_page("about:blank")
    page = watched.page
    session = page.context.new_cdp_session(page)
    origin = served.url.removesuffix("/below/lab/")
    session.send("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": 1_000})
    page.goto(served.url)
    up(page)
    post(page, "Not kept")
    told = page.get_by_text("This browser does not keep the lab")
    expect(told).to_be_visible(timeout=LONGEST_MS)
    session.send("Storage.overrideQuotaForOrigin", {"origin": origin})
    expect(told).to_have_count(0, timeout=LONGEST_MS)
    page.evaluate(KEPT_AFTER, 0)


@pytest.mark.usefixtures("browser")  # it skips if Chromium is not installed
def test_a_browser_that_may_keep_nothing_plays_the_lab(
    served: StaticServer, playwright: Playwright, tmp_path: Path
) -> None:
    """If the user lets no site keep anything, the page has a lab of its own, and says that it is not kept."""
    with closing(launch_forgetful(playwright, tmp_path)) as context:
        page = context.new_page()
        page.goto(served.url)
        expect(page.get_by_role("tab", name="Map")).to_be_visible(timeout=LONGEST_MS)
        expect(page.get_by_text("This browser does not keep the lab")).to_be_visible(timeout=LONGEST_MS)


def test_an_address_is_only_a_name(served: StaticServer, open_page: OpenPage) -> None:
    """An address with other characters than the name of an example opens no example, and its lab is not that of an example."""
    watched = open_page("about:blank")
    for name in ("one-site 0", "../topology/one-site", "__proto__"):
        watched.page.goto(f"{served.url}?{urlencode({'topology': name})}")
        alert = watched.page.get_by_role("alert")
        expect(alert).to_contain_text(f"there is no example topology “{name}”", timeout=LONGEST_MS)
    watched.complaints.clear()  # their files were not found
