"""What runs in the worker of a lab reaches nothing outside of it, and files of strangers do nothing in the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser_workers import LabWorker
from tests.support.console_lessons import LONGEST_MS
from tests.support.console_page import OpenPage
from tests.support.lab_site import StaticServer, built_lab, can_be_built

pytestmark = can_be_built


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticServer]:
    with StaticServer(built_lab(tmp_path_factory)) as server:
        yield server


def up(page: Page) -> None:
    """Wait until the lab of a page is up."""
    expect(page.get_by_role("tab", name="Map")).to_be_visible(timeout=LONGEST_MS)


WAYS_OUT: Final = {
    "fetch": "fetch('/outside.html')",
    "XMLHttpRequest": "new XMLHttpRequest()",
    "WebSocket": "new WebSocket('ws://127.0.0.1:9/')",
    "WebTransport": "new WebTransport('https://127.0.0.1:9/')",
    "EventSource": "new EventSource('/outside.html')",
    "importScripts": "importScripts('/outside.js')",
    "databases": "indexedDB.databases()",
    "caches": "caches.keys()",
    "files": "navigator.storage.getDirectory()",
    "service worker": "navigator.serviceWorker.getRegistrations()",
    "worker": "new Worker('/outside.js')",
    "other pages": "new BroadcastChannel('pflab')",
    "eval": "eval('1')",
    "Function": "new Function('return 1')()",
    "constructor": "(() => 1).constructor('return 1')()",
    "constructor of async functions": "(async () => 1).constructor('return 1')()",
    "constructor of generators": "(function* () {}).constructor('yield 1')()",
    "constructor of async generators": "(async function* () {}).constructor('yield 1')()",
    "text for a timer": "setTimeout('1')",
    "prototype": "Object.getPrototypeOf(Object.getPrototypeOf(self)).fetch('/outside.html')",
}
"""Programs that try to leave the worker, or to make a program of text."""


@pytest.mark.parametrize("modern", [True, False])
def test_a_worker_has_no_way_out(served: StaticServer, browser: Browser, open_page: OpenPage, modern: bool) -> None:
    """When Python is loaded, the worker has no network, no storage and no evaluation of text: in a browser with shared workers
    and service workers, and in one without both. The lab plays on."""
    watched = open_page("about:blank")
    page = watched.page
    if not modern:
        page.add_init_script("delete globalThis.SharedWorker; delete Navigator.prototype.serviceWorker")
    page.goto(served.url)
    up(page)
    worker = LabWorker(browser, page)
    asked = len(served.asked)
    for way, program in WAYS_OUT.items():
        told = worker.value(program)
        assert isinstance(told, str), way
        assert told.startswith(("ReferenceError", "TypeError", "EvalError")), (way, told)
    if modern:  # the policy that the service worker sends
        for address in ("/outside.js", "http://localhost:9/outside.js", "data:text/javascript,1"):
            assert "Failed to fetch" in worker.value(f"import('{address}')"), address
    assert served.asked[asked:] == []
    page.get_by_role("button", name="Until …").click()
    page.get_by_role("button", name="1 h", exact=True).click()
    expect(page.get_by_text("lab moves the clock to 2003-10-21T01:00:00Z").first).to_be_visible()
    watched.complaints.clear()  # the ways out are closed
