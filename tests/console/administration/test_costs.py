"""What an order costs, asked in a browser before it is given: a move of all replicas, a replica of a folder, a restore."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from pflab.client import Client
from tests.support.console_page import OpenPage, properties
from tests.support.running_lab import lab_up

ORGANIZATION = """
sites: [PARIS, LONDON]
connectors: [{between: [PARIS, LONDON], bandwidth: 8 kbit/s}]
servers: {A: {site: PARIS}, B: {site: LONDON}, C: {site: LONDON, joins: later}}
folders: {Projects: {replicas: [A]}}
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The URL of a lab with a slow line between two sites, 200 KB in a folder with one replica, and a backup of A."""
    with lab_up(tmp_path, topology=ORGANIZATION) as url:
        with Client(url) as client:
            client.backup("A")
            for number in range(5):
                client.post("A", "Projects", subject=f"Post {number}", body="x" * 40_000)
            client.advance("1 h")
        yield url


def ask(place: Page | Locator) -> Locator:
    """Ask what an order costs, and return the answer."""
    place.get_by_role("button", name="What would it cost?").click()
    answer = place.get_by_role("region", name="What it would cost")
    expect(answer.get_by_role("status")).not_to_contain_text("plays forward")
    return answer


def test_a_move_of_all_replicas_says_what_it_costs(lab: str, open_page: OpenPage) -> None:
    """Before all replicas of a server are moved, the console says what the line to London will carry and how long that takes.
    The command says the same, and the lab does not change."""
    watched = open_page(lab)
    page = watched.page
    with Client(lab) as client:
        before = list(client.events())
        page.get_by_role("button", name="Server A,").click()
        details = page.get_by_label("Details")
        details.get_by_text("Administer A").click()
        answer = ask(details)
        expect(answer.get_by_role("row", name=re.compile("^PARIS-LONDON"))).to_contain_text(
            re.compile(r"\+\d+\s*\+2\d\d\.\d KB")
        )
        expect(answer.get_by_role("status")).to_contain_text(
            re.compile(r"All replicas agree \d+ h .*later, at 2\d Oct")
        )
        expect(answer).to_contain_text(re.compile(r"pflab what-if '\{.*\"replace\":\"A\",\"by\":\"B\".*\}' --cost"))
        assert watched.serious_violations() == []
        answer.get_by_role("button", name="Close").click()
        expect(answer).to_have_count(0)
        assert list(client.events()) == before


def test_a_replica_says_what_it_costs(lab: str, open_page: OpenPage) -> None:
    """In the properties of a folder, a replica that is ticked, and one that is added to all subfolders, say what they cost."""
    watched = open_page(lab)
    dialog = properties(watched.page, "Projects")
    subtree = dialog.get_by_role("form", name="Replicas of all subfolders")
    answer = ask(subtree)
    line = re.compile("^PARIS-LONDON")
    expect(answer.get_by_role("row", name=line)).to_contain_text("KB")
    answer.get_by_role("button", name="Close").click()
    dialog.get_by_role("checkbox", name="B").check()
    answer = ask(dialog.locator("form").first)
    expect(answer.get_by_role("row", name=line)).to_contain_text("KB")
    assert watched.serious_violations() == []
    dialog.get_by_role("checkbox", name="A").uncheck()
    expect(answer).to_have_count(0)
    expect(ask(dialog.locator("form").first).get_by_role("row", name=line)).to_contain_text("KB")


def test_a_restore_says_what_it_costs(lab: str, open_page: OpenPage) -> None:
    """Before a backup is restored, the console says what it costs. If that cannot be said, one line says why."""
    watched = open_page(lab)
    page = watched.page
    with Client(lab) as client:
        client.change_folder("A", "Projects", replicas=["A", "B"])
        client.advance("3 d")
        page.get_by_role("button", name="Server A,").click()
        details = page.get_by_label("Details")
        details.get_by_role("button", name="Restore …").click()
        answer = ask(details)
        expect(answer.get_by_role("row", name=re.compile("^PARIS-LONDON"))).to_contain_text("KB")
        expect(answer.get_by_role("status")).to_contain_text("All replicas agree")
        expect(answer).to_contain_text('"backup":"backup-1"')
        answer.get_by_role("button", name="Close").click()
        page.route("**/lab/forecast", lambda route: route.fulfill(status=409, json={"title": "x", "detail": "not now"}))
        expect(ask(details).get_by_role("status")).to_have_text("It cannot be said: not now")
        watched.complaints.clear()  # the refusal
