"""What runs in the worker of a lab reaches nothing outside of it, and files of strangers do nothing in the page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser_workers import LabWorker
from tests.support.console_lessons import LONGEST_MS
from tests.support.console_page import OpenPage, up
from tests.support.hostile_files import HOSTILE_TOPOLOGIES, MARKUP, hostile_labs
from tests.support.lab_files import files_of, small_lab_file
from tests.support.lab_site import StaticServer, built_lab, can_be_built
from tests.support.tab_pages import post

pytestmark = can_be_built

TITLE: Final = "Contoso · pflab"
"""The title of the page: the organization of the lab in the tab."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticServer]:
    with StaticServer(built_lab(tmp_path_factory)) as server:
        yield server


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


def test_files_of_strangers_are_refused_in_a_tab(served: StaticServer, open_page: OpenPage, tmp_path: Path) -> None:
    """A tab refuses each hostile file in words, and the lab that is open plays on."""
    with ThreadPoolExecutor(1) as thread:  # the browser's driver has the event loop of this one
        lab = thread.submit(asyncio.run, small_lab_file(tmp_path)).result()
    files = [(f"{way}.zip", content) for way, content in hostile_labs(files_of(lab)).items()]
    files += [(f"{way}.yaml", text.encode()) for way, text in HOSTILE_TOPOLOGIES.items()]
    page = open_page(served.url).page
    up(page)
    expect(page).to_have_title(TITLE)
    page.get_by_role("button", name="Save …").click()
    chooser = page.get_by_label("Open a topology (.yaml) or the file of a lab")
    dialog = page.get_by_role("dialog", name="Save")
    for name, content in files:
        chooser.set_input_files({"name": name, "mimeType": "", "buffer": content})
        expect(chooser).to_be_enabled(timeout=LONGEST_MS)
        expect(dialog.get_by_role("alert"), name).not_to_be_empty(timeout=LONGEST_MS)
        chooser.set_input_files({"name": "none.yaml", "mimeType": "", "buffer": b"servers: 1\n"})
        expect(dialog.get_by_role("alert")).to_contain_text("servers")
    page.keyboard.press("Escape")
    post(page, "It plays on")
    expect(page).to_have_title(TITLE)


def test_markup_is_shown_as_text(served: StaticServer, open_page: OpenPage) -> None:
    """Subject and text of a post, which may come from a stranger, make no element of the page."""
    page = open_page(served.url).page
    up(page)
    expect(page).to_have_title(TITLE)
    post(page, MARKUP)
    page.get_by_role("button", name=MARKUP).first.click()
    expect(page.get_by_text(MARKUP).first).to_be_visible()
    assert page.locator("img[src=x], a[href^=javascript], script:not([src])").count() == 1  # that of the page itself
    expect(page).to_have_title(TITLE)
