"""What an administrator does in a browser and no other module tries: all properties of a folder, its deletion and recovery,
replicas, a queue with mails, a site that is removed, and a store that is deleted by force and created again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pflab.client import Client
from tests.support.console_page import OpenPage, open_server, properties
from tests.support.running_lab import lab_up

ORGANIZATION = """
servers: {A: {settings: {Deleted Item Retention: 7 d}}, B: , C: }
folders:
  Projects: {replicas: [A, B]}
  Archive: {replicas: [A]}
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The URL of a lab with three stores and a paused clock. A retains what it deletes."""
    with lab_up(tmp_path, topology=ORGANIZATION) as url:
        yield url


def test_limits_priority_and_contacts_of_a_folder(lab: str, open_page: OpenPage) -> None:
    """Each limit, the priority and the contacts are properties of a folder (AD-2, OUT-8, CF-2)."""
    dialog = properties(open_page(lab).page, "Projects")
    dialog.get_by_label("Priority of replication mails").fill("urgent")
    dialog.get_by_label("Issue warning at").fill("8 MB")
    dialog.get_by_label("Prohibit post at").fill("10 MB")
    dialog.get_by_label("Maximum item size").fill("300 KB")
    dialog.get_by_label("Contacts for conflicts").fill("kim@contoso.test")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_have_count(0)
    with Client(lab) as client:
        (view,) = (view for view in client.folders("A") if view["path"] == "Projects")
    limits = view["warning_limit"], view["post_limit"], view["item_limit"]
    assert (view["priority"], *limits, view["contacts"]) == ("urgent", "8 MB", "10 MB", "300 KB", ["kim@contoso.test"])


def test_replicas_are_added_and_removed_in_the_properties(lab: str, open_page: OpenPage) -> None:
    """The replica list is a list of servers with ticks (RP-1, RP-2)."""
    page = open_page(lab).page
    dialog = properties(page, "Projects")
    servers = dialog.get_by_role("group", name="Replicas on")
    servers.get_by_label("C").check()
    servers.get_by_label("B").uncheck()
    expect(dialog).to_contain_text("pflab folder change Projects --node A --replicas A,C")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_have_count(0)
    with Client(lab) as client:
        assert {view["path"]: view["replicas"] for view in client.folders("A")}["Projects"] == ["A", "C"]


def test_a_folder_and_a_post_are_deleted_and_recovered(lab: str, open_page: OpenPage) -> None:
    """What a store retains is in a list, and comes back by a button (DL-5)."""
    with Client(lab) as client:
        post = client.post("A", "Projects", subject="Offer")["id"]
        client.delete("A", "Projects", post)
        page = open_page(lab).page
        dialog = properties(page, "Archive")
        dialog.get_by_role("button", name="Delete the folder").click()
        dialog.get_by_role("button", name="Really delete it with all its subfolders").click()
        expect(dialog).to_have_count(0)
        assert "Archive" not in [view["path"] for view in client.folders("A") if not view["hidden"]]
        page.get_by_role("navigation", name="Folders").get_by_role("button", name=re.compile("^Projects ")).click()
        page.get_by_role("button", name="Recover …").first.click()
        deletions = page.get_by_role("dialog", name="Deleted on A")
        for name in ("Archive", "Offer"):
            deletions.get_by_role("row", name=re.compile(name)).get_by_role("button", name="Recover").click()
            expect(deletions.get_by_role("row", name=re.compile(name))).to_have_count(0)
        assert "Archive" in [view["path"] for view in client.folders("A")]
        assert [message["subject"] for message in client.messages("A", "Projects")] == ["Offer"]


def test_a_queue_with_mails_is_frozen(lab: str, open_page: OpenPage) -> None:
    """A queue in which mails wait has a button of its own (RT-5)."""
    with Client(lab) as client:
        client.inject("cut", between=["A", "B"])
        client.post("A", "Projects", subject="Waits")
        client.advance("16 min")
        page = open_page(lab).page
        open_server(page, "A", "Mail queue")
        queue = page.get_by_label("Details").get_by_role("region", name="Queue for B")
        queue.get_by_role("button", name="Freeze queue").click()
        expect(queue).to_contain_text("frozen")
        assert client.frozen_queues("A") == ["B"]


def test_a_site_without_servers_is_removed(lab: str, open_page: OpenPage) -> None:
    """A site that was added by mistake is removed where it was added (RT-6)."""
    with Client(lab) as client:
        client.add_site("PAR")
        page = open_page(lab).page
        page.get_by_role("button", name="Server A,").click()
        page.get_by_text("Administer A").click()
        form = page.get_by_role("form", name="A site without servers")
        form.get_by_role("button", name="Remove a site").click()
        expect(form).to_have_count(0)
        assert "PAR" not in client.json("GET", "/lab/sites")


def test_a_store_is_deleted_by_force_and_created_again(lab: str, open_page: OpenPage) -> None:
    """A store that holds replicas is deleted only by force. Its server then gets a new store (RP-6, RP-7)."""
    with Client(lab) as client:
        client.advance("1 h")
        client.stop("B")
        page = open_page(lab).page
        page.get_by_role("button", name="Server B,").click()
        details = page.get_by_label("Details")
        details.get_by_text("Administer B").click()
        details.get_by_label("even if it holds replicas").check()
        details.get_by_role("button", name="Delete the store of B …").click()
        details.get_by_role("button", name="Really delete the store of B").click()
        expect(page.get_by_role("button", name="Server B,")).to_contain_text("deleted")
        assert {view["path"]: view["replicas"] for view in client.folders("A")}["Projects"] == ["A"]
        details.get_by_role("button", name="New store").click()
        expect(details.get_by_role("button", name="Stop", exact=True)).to_be_visible()


def test_replicas_show_how_many_items_each_has(lab: str, open_page: OpenPage) -> None:
    """The numbers of items of a folder on all servers stand beside each other."""
    with Client(lab) as client:
        client.post("A", "Projects", subject="Offer")
        client.advance("16 min")
    page = open_page(lab).page
    page.get_by_role("tab", name="Replicas", exact=True).first.click()
    page.get_by_role("row", name=re.compile("Projects")).get_by_role("button").first.click()
    items = page.get_by_role("columnheader", name="Items")
    expect(items).to_be_visible()
    table = page.get_by_role("table").filter(has=items)
    expect(table.locator("td.items")).to_have_text(["1", "1"])
