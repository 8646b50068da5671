"""What an administrator does with a folder and its subfolders in a browser: a mail address, another name and place, replicas of
the whole subtree; and where he sees what the servers hold of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pflab.client import Client
from tests.support.console_page import AXE, OpenPage, properties
from tests.support.running_lab import lab_up

ORGANIZATION = """
servers: {A: , B: , C: }
folders:
  Projects: {replicas: [A, B]}
  Projects/2003: {replicas: [A]}
  Projects/2003/Plans: {replicas: [B]}
  Archive: {replicas: [A, B]}
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The URL of a lab with three stores, a tree of folders and a paused clock."""
    with lab_up(tmp_path, topology=ORGANIZATION) as url:
        yield url


def replicas(client: Client) -> dict[str, list[str]]:
    return {view["path"]: view["replicas"] for view in client.folders("A")}


def test_a_folder_gets_a_mail_address(lab: str, open_page: OpenPage) -> None:
    """The alias of a folder is changed with its properties, the command is shown, and an alias that cannot be is refused."""
    watched = open_page(lab)
    page = watched.page
    dialog = properties(page, "Projects")
    alias = dialog.get_by_label("Mail address, before the @")
    expect(alias).to_have_value("Projects")
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    alias.fill("no alias")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("is not an alias")
    watched.complaints.clear()  # the refusal
    alias.fill("plans")
    dialog.get_by_label("Age limit").fill("30 d")
    expect(dialog).to_contain_text("pflab folder change Projects --node A --age-limit '30 d' --alias plans")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_have_count(0)
    with Client(lab) as client:
        (view,) = (view for view in client.folders("A") if view["path"] == "Projects")
    assert (view["address"].split("@")[0], view["age_limit"]) == ("plans", "30 d")
    expect(properties(page, "Projects").get_by_label("Mail address, before the @")).to_have_value("plans")


def test_a_folder_is_renamed_and_moved(lab: str, open_page: OpenPage) -> None:
    """A folder gets another name and another parent by one button, and its subfolders move with it. It cannot be put below
    itself."""
    page = open_page(lab).page
    form = properties(page, "Projects").get_by_role("form", name="Name and place")
    expect(form.get_by_role("button", name="Rename or move")).to_be_disabled()
    expect(form.get_by_role("combobox", name="in", exact=True).get_by_role("option")).to_have_text(
        ["(at the top)", "Archive"]
    )
    form.get_by_label("name").fill("Old plans")
    form.get_by_role("combobox", name="in", exact=True).select_option("Archive")
    expect(form).to_contain_text(
        "pflab folder rename Projects 'Old plans' --node A && pflab folder move 'Old plans' Archive --node A"
    )
    form.get_by_role("button", name="Rename or move").click()
    expect(page.get_by_role("heading", name="Archive/Old plans")).to_be_visible()
    with Client(lab) as client:
        assert set(replicas(client)) >= {"Archive/Old plans", "Archive/Old plans/2003/Plans"}


def test_replicas_of_a_whole_subtree(lab: str, open_page: OpenPage) -> None:
    """A replica is added, removed and replaced in a folder and all its subfolders. The last replica of a folder stays, and the
    page says so (AD-1, RP-2)."""
    page = open_page(lab).page

    def change(way: str, server: str, command: str, by: str = "") -> None:
        form = properties(page, "Projects").get_by_role("form", name="Replicas of all subfolders")
        form.get_by_label("order").select_option(label=way)
        form.get_by_label("server").select_option(server)
        if by:
            form.get_by_label("by").select_option(by)
        expect(form).to_contain_text(command)
        form.get_by_role("button", name="Change all subfolders").click()
        expect(page.get_by_role("dialog")).to_have_count(0)

    with Client(lab) as client:
        change("Add a replica on", "B", "pflab replicas add Projects --replica B --on A")
        expect(page.locator(".notice")).to_contain_text("Folders whose replicas change: 1.")
        assert replicas(client)["Projects/2003"] == ["A", "B"]
        change("Replace the replica on", "B", "pflab replicas replace Projects --replica B --by C --on A", by="C")
        expect(page.locator(".notice")).to_contain_text("Folders whose replicas change: 3.")
        assert replicas(client)["Projects/2003/Plans"] == ["C"]
        change("Remove the replica on", "C", "pflab replicas remove Projects --replica C --on A")
        expect(page.locator(".notice")).to_contain_text(
            "Folders whose replicas change: 2. Folders that keep their last replica: 1."
        )
        lists = replicas(client)
    assert (lists["Projects"], lists["Projects/2003"], lists["Projects/2003/Plans"]) == (["A"], ["A"], ["C"])
    assert lists["Archive"] == ["A", "B"]


def test_what_the_servers_hold_of_a_folder(lab: str, open_page: OpenPage) -> None:
    """The panel of a server has items, size and last change of each replica; the view of a folder's replicas compares the item
    counts of the servers (AD-1)."""
    with Client(lab) as client:
        client.post("A", "Projects", subject="Hello", body="x" * 3000)
        client.advance("16 min")
        client.post("A", "Projects", subject="Not sent yet")
        views = {view["path"]: view for view in client.instances("A")}
    assert views["Projects"]["items"] == 2
    page = open_page(lab).page
    page.get_by_role("button", name="Server A,").click()
    details = page.get_by_label("Details")
    details.get_by_role("tab", name="Folders").click()
    row = details.get_by_role("row", name=re.compile("^Projects "))
    expect(row).to_contain_text("KB")
    expect(row.first).to_contain_text(re.compile(r"\d+ [A-Z][a-z]{2} \d\d:\d\d"))
    page.get_by_role("tab", name="Replicas").click()
    page.locator("#view").get_by_role("button", name="Projects", exact=True).click()
    items = page.locator("#view").get_by_role("row").locator("td:nth-child(3)")
    expect(items).to_have_text(["2", "1"])


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed; make test-console installs it if there is npm")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everybody_can_use_the_forms(lab: str, open_page: OpenPage, dark: bool) -> None:
    """axe-core finds no serious violation in the forms for the subtree and for another name and place."""
    watched = open_page(lab, dark=dark)
    form = properties(watched.page, "Projects").get_by_role("form", name="Name and place")
    form.get_by_label("name").fill("Plans")
    assert watched.serious_violations() == []
