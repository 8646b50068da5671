"""The organization in a browser: connectors are changed, added and removed, and sites and servers added and removed, as an
administrator does it, and the map follows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from pflab.client import Client
from tests.support.console_page import AXE, OpenPage
from tests.support.running_lab import lab_up


@pytest.fixture
def lab(project_root: Path, tmp_path: Path) -> Iterator[str]:
    """The URL of a lab with the connectors SEA-NYC and NYC-LON and a paused clock."""
    organization = (project_root / "topology" / "examples" / "default.yaml").read_text("utf-8")
    with lab_up(tmp_path, topology=organization) as url:
        yield url


def on_map(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=f"Connector {name},")


def change_cost(page: Page, name: str, cost: int) -> None:
    page.get_by_role("button", name="Change …").click()
    form = page.get_by_role("form", name=f"Change {name}")
    form.get_by_label("Cost", exact=True).fill(str(cost))
    expect(form).to_contain_text(f"pflab connector change {name} --cost {cost}")
    form.get_by_role("button", name=f"Change {name}").click()
    expect(form).to_have_count(0)


def test_the_map_follows_changed_added_and_removed_connectors(lab: str, open_page: OpenPage) -> None:
    """A cost is changed in the panel of a connector, a connector is added from a server, and one is removed. The map shows it,
    also an earlier moment as it was then, and a page that is opened later begins with the first organization (RT-6)."""
    page = open_page(lab).page
    expect(on_map(page, "SEA-NYC")).to_have_accessible_name(re.compile("cost 10"))
    on_map(page, "SEA-NYC").click()
    change_cost(page, "SEA-NYC", 5)
    expect(on_map(page, "SEA-NYC")).to_have_accessible_name(re.compile("cost 5"))

    page.get_by_role("button", name="Server E,").click()
    page.get_by_text("Administer E").click()
    added = page.get_by_role("form", name="A new connector")
    added.get_by_label("from LON to").select_option("SEA")
    added.get_by_label("cost").fill("7")
    expect(added).to_contain_text("pflab connector add LON-SEA --between LON,SEA --cost 7")
    added.get_by_role("button", name="Add a connector").click()
    expect(on_map(page, "LON-SEA")).to_have_accessible_name(re.compile("cost 7"))

    on_map(page, "SEA-NYC").click()
    page.get_by_role("button", name="Remove …").click()
    expect(page.get_by_text("pflab connector remove SEA-NYC")).to_be_visible()
    page.get_by_role("button", name="Remove SEA-NYC").click()
    expect(on_map(page, "SEA-NYC")).to_have_count(0)
    with Client(lab) as client:
        entries = client.json("GET", "/lab/connectors")
    assert {entry["name"]: entry["cost"] for entry in entries} == {"NYC-LON": 50, "LON-SEA": 7}

    for browser_page in (page, open_page(lab).page):
        expect(on_map(browser_page, "LON-SEA")).to_be_visible()
        expect(on_map(browser_page, "SEA-NYC")).to_have_count(0)
        browser_page.keyboard.press("Home")
        expect(on_map(browser_page, "SEA-NYC")).to_have_accessible_name(re.compile("cost 10"))
        expect(on_map(browser_page, "LON-SEA")).to_have_count(0)
        on_map(browser_page, "SEA-NYC").click()
        expect(browser_page.get_by_label("Details")).to_contain_text("In the present there is no such connector")
        expect(browser_page).to_have_url(re.compile("select=connector&id=SEA-NYC.*event=0"))
        browser_page.reload()  # the address names a connector that the lab had
        expect(browser_page.get_by_label("Details")).to_contain_text("Connector SEA-NYC")
        browser_page.keyboard.press("End")
        expect(on_map(browser_page, "SEA-NYC")).to_have_count(0)
        expect(on_map(browser_page, "LON-SEA")).to_be_visible()


def test_a_site_and_a_server_are_added(lab: str, open_page: OpenPage) -> None:
    """A site and a server of 5.5 are added in the panel of a server. The server is on the map at once, it is started there, and
    gets a connector. An earlier moment has neither (RT-6)."""
    page = open_page(lab).page
    page.get_by_role("button", name="Server E,").click()
    page.get_by_text("Administer E").click()
    site = page.get_by_role("form", name="A new site")
    site.get_by_label("name").fill("PAR")
    expect(site).to_contain_text("pflab site add PAR")
    site.get_by_role("button", name="Add a site").click()
    expect(page.get_by_role("form", name="A site without servers")).to_contain_text("pflab site remove PAR")
    server = page.get_by_role("form", name="A new server")
    server.get_by_label("name").fill("F")
    server.get_by_label("site").select_option("PAR")
    server.get_by_label("version").select_option("5.5")
    expect(server).to_contain_text("pflab server add F --site PAR --version 5.5")
    server.get_by_role("button", name="Add a server").click()
    expect(page.get_by_role("form", name="A site without servers")).to_have_count(0)

    page.get_by_role("button", name="Server F,").click()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("button", name="Server F,")).to_have_accessible_name(re.compile("lacks 3"))
    page.get_by_text("Administer F").click()
    line = page.get_by_role("form", name="A new connector")
    line.get_by_label("from PAR to").select_option("LON")
    line.get_by_role("button", name="Add a connector").click()
    expect(on_map(page, "PAR-LON")).to_be_visible()
    with Client(lab) as client:
        organization = client.json("GET", "/lab/topology")
    assert organization["servers"]["F"]["version"] == "5.5"

    for browser_page in (page, open_page(lab).page):
        expect(browser_page.get_by_role("button", name="Server F,")).to_be_visible()
        browser_page.keyboard.press("Home")
        expect(browser_page.get_by_role("button", name="Server F,")).to_have_count(0)
        browser_page.keyboard.press("End")
        expect(browser_page.get_by_role("button", name="Server F,")).to_be_visible()


def test_a_server_is_removed_after_its_store(lab: str, open_page: OpenPage) -> None:
    """In the panel of a server, its store is deleted, and then the server is removed. It disappears from the map, and an
    earlier moment shows it, with the mails that it sent (RP-9)."""
    with Client(lab) as client:
        client.advance("1 h")
        client.stop("B")
        client.delete_store("B", on="A", force=True)
    page = open_page(lab).page
    page.get_by_role("button", name="Server B,").click()
    expect(page.get_by_label("Details")).to_contain_text("its store was deleted")
    page.get_by_text("Administer B").click()
    form = page.get_by_role("form", name="A server without a store")
    expect(form.get_by_label("server")).to_have_value("B")
    expect(form).to_contain_text("pflab server remove B")
    form.get_by_role("button", name="Remove a server").click()
    expect(page.get_by_role("button", name="Server B,")).to_have_count(0)
    with Client(lab) as client:
        assert "B" not in client.json("GET", "/lab/topology")["servers"]
        client.advance("1 d")
    for browser_page in (page, open_page(lab).page):
        expect(browser_page.get_by_role("button", name="Server A,")).to_be_visible()
        expect(browser_page.get_by_role("button", name="Server B,")).to_have_count(0)
        browser_page.keyboard.press("Home")
        browser_page.get_by_role("button", name="Server B,").click()
        expect(browser_page.get_by_label("Details")).to_contain_text("B was removed since")
        browser_page.keyboard.press("End")
        expect(browser_page.get_by_role("button", name="Server B,")).to_have_count(0)


def test_schedules_of_connectors_and_stores_are_chosen_in_a_grid(lab: str, open_page: OpenPage) -> None:
    """OUT-1: the form of a connector and the setting of a store have the same grid as a folder."""
    watched = open_page(lab)
    page = watched.page
    on_map(page, "SEA-NYC").click()
    page.get_by_role("button", name="Change …").click()
    form = page.get_by_role("form", name="Change SEA-NYC")
    form.get_by_text("Choose the times of SEA-NYC …").click()
    expect(form.get_by_role("radiogroup", name="Times of SEA-NYC").get_by_role("radio")).to_have_count(
        6
    )  # there is no default
    form.get_by_label("Never run").check()
    form.get_by_role("button", name="all of Sat").click()
    expect(form.get_by_label("Schedule", exact=True)).to_have_value("Sat")
    expect(form).to_contain_text("pflab connector change SEA-NYC --schedule Sat")
    form.get_by_role("button", name="Change SEA-NYC").click()
    expect(form).to_have_count(0)

    page.get_by_role("button", name="Server A,").click()
    page.get_by_role("tab", name="Settings").click()
    page.get_by_role("button", name="Change Replication Schedule").click()
    details = page.get_by_label("Details")
    details.get_by_text("Choose the times of A …").click()
    details.get_by_label("Run every 2 hours").check()
    expect(details.get_by_label("New value of Replication Schedule")).to_have_value("every 2 h")
    assert watched.serious_violations() == []
    details.get_by_role("button", name="Set", exact=True).click()
    expect(details.get_by_role("row", name="Replication Schedule")).to_contain_text("every 2 h")
    with Client(lab) as client:
        lines = {entry["name"]: entry["schedule"] for entry in client.json("GET", "/lab/connectors")}
    assert lines["SEA-NYC"] == "Sat"


def test_a_refused_change_says_why(lab: str, open_page: OpenPage) -> None:
    """What the lab refuses stays in the form, and the page says what is wrong."""
    watched = open_page(lab)
    page = watched.page
    on_map(page, "NYC-LON").click()
    page.get_by_role("button", name="Change …").click()
    form = page.get_by_role("form", name="Change NYC-LON")
    form.get_by_label("Schedule").fill("at noon")
    form.get_by_role("button", name="Change NYC-LON").click()
    expect(page.locator(".notice")).to_contain_text("at noon")
    expect(form.get_by_label("Schedule")).to_have_value("at noon")
    watched.complaints.clear()


def test_a_stopped_server_has_not_read_the_change(lab: str, open_page: OpenPage) -> None:
    """The panel of a server that was stopped says that it does not know the change, until it starts."""
    with Client(lab) as client:
        client.stop("B")
        client.change_connector("SEA-NYC", cost=5)
    page = open_page(lab).page
    page.get_by_role("button", name="Server B,").click()
    lag = page.get_by_label("Details").get_by_text("Has not read the last change of the organization")
    expect(lag).to_be_visible()
    page.get_by_role("group", name="Actions on B").get_by_role("button", name="Start").click()
    expect(lag).to_have_count(0)


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed; make test-console installs it if there is npm")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everybody_can_use_the_forms(lab: str, open_page: OpenPage, dark: bool) -> None:
    """axe-core finds no serious violation in the forms that change, remove and add a connector."""
    watched = open_page(lab, dark=dark)
    page = watched.page
    found = {}
    on_map(page, "SEA-NYC").click()
    for form in ("Change …", "Remove …"):
        page.get_by_role("button", name=form).click()
        found[form] = watched.serious_violations()
    page.get_by_role("button", name="Server E,").click()
    page.get_by_text("Administer E").click()
    found["add"] = watched.serious_violations()
    assert {form: violations for form, violations in found.items() if violations} == {}
