"""Many tabs of one browser: all of them follow their labs over one connection."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Page, expect

from tests.support.console_lessons import begin, end
from tests.support.console_page import OpenPage

LESSON_TABS = 8
"""As many as there can be lessons. A browser opens no more than six connections to a server."""


def order(page: Page, path: str) -> None:
    """Send an order to the lab of a page, at its base path."""
    base = dict(parse_qsl(urlsplit(page.url).query)).get("lab", "")
    assert page.evaluate(f"fetch('{base}{path}', {{method: 'POST'}}).then(answer => answer.ok)")


def follows(page: Page) -> None:
    """The page shows that a server stops and starts again."""
    server = page.get_by_role("button", name="Server B,")
    order(page, "/lab/servers/B/stop")
    expect(server).to_have_accessible_name(re.compile("stopped$"))
    order(page, "/lab/servers/B/start")
    expect(server).not_to_have_accessible_name(re.compile("stopped$"))


def test_more_tabs_than_connections_follow_their_labs(lab: str, open_page: OpenPage) -> None:
    """The lab and eight lessons, each in a tab of its own, all load and follow their labs; so do those that are left when
    others are closed, and one that is left and opened again."""
    watched = open_page(lab)
    tabs = [watched.another_tab(begin(lab, "lost-mail")) for _ in range(LESSON_TABS)]
    for page in (watched.page, *tabs):
        follows(page)
    for page in tabs[1:]:
        end(page)
        page.close()
    address = tabs[0].url
    tabs[0].goto("about:blank")
    follows(watched.page)
    tabs[0].goto(address)
    follows(tabs[0])
    follows(watched.page)
    end(tabs[0])


def test_tabs_of_one_lab_miss_nothing(lab: str, open_page: OpenPage) -> None:
    """Tabs that come to a lab one after the other all have every event of it, once."""
    watched = open_page(lab)
    tabs = [watched.page]
    for _ in range(2):
        order(watched.page, "/lab/servers/C/stop")
        tabs.append(watched.another_tab(lab))
        order(watched.page, "/lab/servers/C/start")
    count = watched.page.evaluate("fetch('/lab/events?limit=1000').then(answer => answer.headers.get('Pflab-Next'))")
    for page in tabs:
        expect(page.get_by_role("slider", name="Moment of the run")).to_have_attribute("max", count)


def test_a_browser_that_cannot_share_follows_the_lab(lab: str, open_page: OpenPage) -> None:
    """Without a worker that tabs share, each tab has a stream of its own."""
    page = open_page("about:blank").page
    page.add_init_script("delete globalThis.SharedWorker")
    page.goto(lab)
    follows(page)
