"""Why things are as they are, in a browser: sources, notices to people, the moment of an event, and what Next did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pflab.client import Client
from tests.support.console_page import OpenPage
from tests.support.running_lab import lab_up


@pytest.fixture(scope="module")
def quiet(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A lab of servers of 2000, in which nothing has happened yet."""
    organization = (project_root / "topology" / "examples" / "default.yaml").read_text("utf-8")
    assert 'version: "2003"' in organization
    place = tmp_path_factory.mktemp("lab")
    with lab_up(place, topology=organization.replace('"2003"', '"2000"')) as url:
        yield url


@pytest.fixture
def asked(quiet: str) -> str:
    """The lab after B has lost A-1 and has asked for it, and after a conflict whose contact has got a notice."""
    with Client(quiet) as client:
        if not any(event["type"] == "sources.considered" for event in client.events()):
            client.inject("lose", from_="A", to="B", type="content", count=1)
            client.post("A", "Projects", subject="Hello")
            client.advance("31 h")
    return quiet


def open_part(page: Page, server: str, part: str) -> None:
    page.get_by_role("button", name=f"Server {server},").click()
    page.get_by_label("Details").get_by_role("tab", name=part).click()


def test_next_says_so_if_nothing_can_be_seen(quiet: str, open_page: OpenPage) -> None:
    """A check that is due and finds nothing is told, because nothing moves on the screen."""
    page = open_page(quiet).page
    page.get_by_role("button", name="▶❘ Next").click()
    expect(page.get_by_role("alert")).to_contain_text(
        re.compile(r"\d\d:15:00: a check was due, and found nothing to send")
    )


def test_six_groups_are_a_picture(asked: str, open_page: OpenPage) -> None:
    """A server shows whom it asked, in which group each holder was, and why the others were passed over."""
    watched = open_page(asked)
    page = watched.page
    open_part(page, "B", "Backfill")
    choice = page.get_by_role("figure", name=re.compile("B asks A for A-1 of Projects"))
    groups = choice.get_by_role("listitem")
    expect(groups).to_have_count(6)
    expect(groups.nth(0)).to_contain_text(re.compile("A 2000 never asked before: asked"))
    expect(choice).to_contain_text("passed over: is not known to have any of it")
    assert watched.serious_violations() == []


def test_a_post_says_why_it_came_from_there(asked: str, open_page: OpenPage) -> None:
    """Where a change came by backfill, its panel has the choice of the source."""
    page = open_page(asked).page
    page.get_by_role("tab", name="Folders").click()
    page.get_by_role("navigation", name="Folders").get_by_role("button", name=re.compile("^Projects")).first.click()
    page.locator("#view button.post", has_text="Hello").first.click()
    row = page.get_by_label("Details").get_by_role("row", name=re.compile("^B has it"))
    row.get_by_text("Why from A?").click()
    expect(row.get_by_role("figure", name=re.compile("B asks A for A-1"))).to_be_visible()


def test_an_event_of_a_server_shows_its_moment(asked: str, open_page: OpenPage) -> None:
    """A click on an event in a server's log shows the lab just after it."""
    page = open_page(asked).page
    open_part(page, "B", "Log")
    page.get_by_label("Details").get_by_role("button", name=re.compile("misses A-1")).click()
    expect(page.locator(".clock .how")).to_have_text("an earlier moment")
    expect(page.locator(".travel .event")).to_contain_text("misses A-1 of Projects")


def test_replicas_are_shown_as_a_server_knows_them(asked: str, open_page: OpenPage) -> None:
    """Beside the lab's own knowledge there is that of each server: each cell is what this server answers. Where the lab
    knows of a change that the server has not heard of, the cell says so."""
    with Client(asked) as client:
        client.inject("lose", from_="A", to="B", type="content", count=1)
        client.post("A", "Projects", subject="Unheard")
        client.advance("16 min")
        statuses = {each["path"]: each["replicas"] for each in client.json("GET", "/nodes/B/replication-status")}
    known = {each["store"]: each["sync"].replace("locally ", "") for each in statuses["Projects"]}
    watched = open_page(asked)
    page = watched.page
    page.get_by_role("tab", name="Replicas").click()
    row = page.get_by_role("row", name=re.compile("^Projects ")).first
    expect(row.get_by_title(re.compile("^B: behind, lacks A-"))).to_be_visible()
    page.get_by_label("As known by").select_option("B")
    for store, sync in known.items():
        expect(row.get_by_title(f"{store}, as B knows it: ")).to_contain_text(sync)
    assert known["B"] == "in sync"
    expect(row.get_by_title("B, as B knows it: in sync")).to_contain_text(re.compile("lab: lacks A-"))
    assert watched.serious_violations() == []


def test_notices_to_people_are_read(asked: str, open_page: OpenPage) -> None:
    """The notice that a store writes to the contact of a folder, when a conflict arises, can be read on that server."""
    with Client(asked) as client:
        post = client.post("A", "Projects", subject="Plan", body="One", sender="kim@contoso.test")["id"]
        client.advance("2 h")
        client.edit("A", "Projects", post, body="Two")
        client.edit("B", "Projects", post, body="Three")
        client.advance("2 h")
        told = {name: client.json("GET", f"/nodes/{name}/mailbox") for name in "ABCE"}
    server = next(name for name, notices in told.items() if notices)
    watched = open_page(asked)
    open_part(watched.page, server, "Notices")
    notice = watched.page.locator(".notices li").first
    expect(notice).to_contain_text(told[server][-1]["subject"])
    expect(notice).to_contain_text(told[server][-1]["recipient"])
    assert watched.serious_violations() == []
