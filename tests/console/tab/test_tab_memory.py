"""A lab in a browser tab whose worker has no memory left: the page says so, and goes on from the last state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser_workers import LabWorker
from tests.support.console_lessons import LONGEST_MS
from tests.support.console_page import OpenPage, up
from tests.support.lab_site import StaticServer, built_lab, can_be_built
from tests.support.tab_pages import KEPT_AFTER, POSTED, post

pytestmark = can_be_built

NO_MORE: Final = """WebAssembly.Memory.prototype.grow = () => {
  throw new RangeError("WebAssembly.Memory.grow(): Maximum memory size exceeded");
}"""
"""What a browser does if its machine has no memory left."""

MOST_POSTS: Final = 1_000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticServer]:
    with StaticServer(built_lab(tmp_path_factory)) as server:
        yield server


@pytest.mark.parametrize("letters", [100_000, 50_000_000], ids=["many posts", "one request"])
def test_a_worker_without_memory_is_ended(
    served: StaticServer, browser: Browser, open_page: OpenPage, letters: int
) -> None:
    """If the lab needs more memory than the browser has, for its posts or for one request, each of its pages says so. The page
    ends the lab, and another one goes on with the state that was kept."""
    watched = open_page(served.url)
    page = watched.page
    up(page)
    beside = watched.another_tab(served.url)
    up(beside)
    before = page.evaluate(KEPT_AFTER, 0)
    post(page, "Before the end")
    page.evaluate(KEPT_AFTER, before)
    LabWorker(browser, page).value(NO_MORE)
    assert page.evaluate(POSTED, [letters, MOST_POSTS]) < MOST_POSTS
    for each in (page, beside):
        expect(each.get_by_text("This browser has no memory left for the lab")).to_be_visible(timeout=LONGEST_MS)
    page.get_by_role("button", name="End it and begin again").click()
    page.get_by_role("button", name="Go on with the lab of").click(timeout=LONGEST_MS)
    for each in (page, beside):
        up(each)
        each.get_by_role("tab", name="Folders").click()
        expect(each.get_by_role("button", name="Before the end").first).to_be_visible()
    assert page.evaluate(POSTED.replace("default 0", "default 1"), [100_000, 1]) == 1
