"""Restores in a browser: a server that never started, one that shows the store of another server; and what the map and the
replicas show of parallel connectors and of folders with one replica."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pflab.client import Client
from tests.support.console_page import OpenPage
from tests.support.running_lab import lab_up

ORGANIZATION = """
sites: [SEA, NYC]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], latency: 80 ms, schedule: every 1 h}
  - {name: SEA-NYC-2, between: [SEA, NYC], cost: 20, latency: 200 ms, schedule: every 4 h}
  - {name: Satellite, between: [SEA, NYC], cost: 50}
servers: {A: {site: SEA}, B: {site: NYC}, Karlsruhe: {site: NYC}, Edinburgh: {site: NYC}, E: {site: NYC, joins: later}}
folders:
  Projects: {replicas: [A, B]}
  Internationalization: {replicas: [A, B, Karlsruhe, Edinburgh]}
  Only: {replicas: [A]}
"""

CONNECTORS = ("SEA-NYC", "SEA-NYC-2", "Satellite")
MOST_OVERLAP_PX = 3
"""How far the boxes of two lines may overlap: a box has room for letters that go below the line."""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The URL of a lab with a backup of A, a post in a folder with one replica, and a server that has never started."""
    with lab_up(tmp_path, topology=ORGANIZATION) as url:
        with Client(url) as client:
            client.post("A", "Only", subject="Hello")
            client.backup("A")
            client.advance("1 h")
        yield url


def test_a_server_that_never_started_says_how_it_can_be_restored(lab: str, open_page: OpenPage) -> None:
    """The panel of a server that has never started says why it cannot be restored, and what to do first."""
    page = open_page(lab).page
    page.get_by_role("button", name="Server E,").click()
    details = page.get_by_label("Details")
    expect(details.get_by_role("button", name="Restore …")).to_be_disabled()
    hint = details.get_by_text("E has never started. Start it once, and it can show the backup of another server.")
    expect(hint).to_be_visible()
    details.get_by_role("button", name="Start", exact=True).click()
    expect(hint).to_have_count(0)
    expect(details.get_by_role("button", name="Restore …")).to_be_enabled()


def test_a_store_that_is_only_shown_is_recognized(lab: str, open_page: OpenPage) -> None:
    """Map and panel say that B only shows the store of A, until it has a store of its own again; an earlier moment does not."""
    watched = open_page(lab)
    page = watched.page
    server = page.get_by_role("button", name="Server B,")
    with Client(lab) as client:
        client.restore("B", "backup-1")
        expect(server).to_have_accessible_name(re.compile("only shows A"))
        server.click()
        details = page.get_by_label("Details")
        expect(details.get_by_role("heading", name="Server B")).to_contain_text("shows A")
        expect(details).to_contain_text("It is shown and never replicates (event 1117, RP-8).")
        assert watched.serious_violations() == []
        page.keyboard.press("Home")
        expect(server).not_to_have_accessible_name(re.compile("only shows"))
        page.keyboard.press("End")
        client.stop("B")
        client.delete_store("B", on="A", force=True)
        client.create_store("B")
        expect(server).not_to_have_accessible_name(re.compile("only shows|deleted"))
        expect(details.get_by_role("heading", name="Server B")).not_to_contain_text("shows A")
    watched.complaints[:] = [line for line in watched.complaints if not ("503" in line and "/nodes/B/" in line)]


def test_the_only_replica_of_a_folder_is_in_sync(lab: str, open_page: OpenPage) -> None:
    """A folder with one replica has nobody to send its changes to, so it is in sync."""
    page = open_page(lab).page
    page.get_by_role("tab", name="Replicas").click()
    row = page.get_by_role("row", name=re.compile("^Only"))
    expect(row.get_by_role("button", name="in sync")).to_be_visible()


def test_names_are_not_broken_and_words_do_not_overlap(lab: str, open_page: OpenPage) -> None:
    """At a width of 1280 no name of a folder is broken inside a word, and the words of parallel connectors stand apart."""
    page = open_page(lab, width=1280).page
    texts = page.locator(".map .connector text").all()
    boxes = [text.bounding_box() for text in texts]
    rows = sorted((box["y"], box["y"] + box["height"]) for box in boxes if box is not None)
    assert len(rows) == len(texts) > len(CONNECTORS)
    overlaps = [(above, below) for above, below in pairwise(rows) if above[1] > below[0] + MOST_OVERLAP_PX]
    assert overlaps == [], "lines of letters touch, and letters do not"
    page.get_by_role("tab", name="Replicas").click()
    for name in ("Internationalization", "Projects", "the hierarchy"):
        link = page.get_by_role("rowheader").get_by_role("button", name=name)
        lines = link.locator("bdi").evaluate("element => element.getClientRects().length")
        assert lines == 1, f"{name} stands on {lines} lines"
