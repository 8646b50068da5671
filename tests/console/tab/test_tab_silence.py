"""A lab in a browser tab whose worker hangs: the page says so, and goes on from the last state."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser_workers import LabWorker
from tests.support.console_lessons import LONGEST_MS
from tests.support.console_page import OpenPage, up
from tests.support.lab_site import StaticServer, built_lab, can_be_built
from tests.support.tab_pages import KEPT_AFTER, post

pytestmark = can_be_built


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticServer]:
    with StaticServer(built_lab(tmp_path_factory)) as server:
        yield server


@pytest.mark.parametrize("shared", [True, False])
def test_a_worker_that_hangs_is_ended(
    served: StaticServer, browser: Browser, open_page: OpenPage, shared: bool
) -> None:
    """If the worker does not answer, the page says so, ends it, and goes on with the state that was kept: with a shared
    worker, and with one of the page's own where a browser has no other."""
    watched = open_page("about:blank")
    page = watched.page
    if not shared:
        page.add_init_script("delete globalThis.SharedWorker")
    page.goto(served.url)
    up(page)
    before = page.evaluate(KEPT_AFTER, 0)
    post(page, "Before it hung")
    page.evaluate(KEPT_AFTER, before)
    LabWorker(browser, page).start("for (;;);")
    page.get_by_role("button", name="Until …").click()
    page.get_by_role("button", name="1 h", exact=True).click()
    expect(page.get_by_text("The lab has not answered for")).to_be_visible(timeout=LONGEST_MS)
    page.get_by_role("button", name="End it and begin again").click()
    page.get_by_role("button", name="Go on with the lab of").click(timeout=LONGEST_MS)
    up(page)
    page.get_by_role("tab", name="Folders").click()
    expect(page.get_by_role("button", name="Before it hung").first).to_be_visible()


def test_a_worker_that_hangs_before_its_lab_is_up_is_ended(
    served: StaticServer, browser: Browser, open_page: OpenPage
) -> None:
    """If the kept lab is chosen and the worker does not answer, the page says so too, and another worker offers it again."""
    watched = open_page(served.url)
    up(watched.page)
    watched.page.evaluate(KEPT_AFTER, 0)
    watched.page.close()
    page = watched.another_tab(served.url)
    go_on = page.get_by_role("button", name="Go on with the lab of")
    expect(go_on).to_be_visible(timeout=LONGEST_MS)
    LabWorker(browser, page).start("for (;;);")
    go_on.click()
    page.get_by_role("button", name="End it and begin again").click(timeout=LONGEST_MS)
    go_on.click(timeout=LONGEST_MS)
    up(page)
