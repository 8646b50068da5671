"""The directory and the recipient policy in a browser, and the command that does what was ordered last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pflab.client import Client
from tests.support.console_page import OpenPage
from tests.support.running_lab import lab_up

VERSIONS = """
recipient_update: 1 h
servers: {A: {version: "2003"}, B: {version: "5.5"}, E: {joins: later}}
folders: {Projects: }
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The URL of a lab with a store of 5.5, one of 2003, and one that joins later and waits for its address."""
    with lab_up(tmp_path, topology=VERSIONS) as url, Client(url) as client:
        client.start("E")
        yield url


def test_the_directory_has_the_objects_and_the_policy(lab: str, open_page: OpenPage) -> None:
    """ML-1: each store has the object of its version; one that waits has no address until the service runs. The policy gives
    addresses of another domain, and the old ones stay."""
    watched = open_page(lab)
    page = watched.page
    page.get_by_role("button", name="Server A,").click()
    page.get_by_role("tab", name="Directory").click()
    details = page.get_by_label("Details")
    expect(details.get_by_text("Store E: no address")).to_be_visible()
    details.get_by_text("Store A:").click()
    expect(details.get_by_role("row", name="msExchOwningPFTree")).to_contain_text(
        "CN=Public Folders,CN=Folder Hierarchies"
    )
    details.get_by_text("Store B:").click()
    expect(details).to_contain_text(
        "/ou=Default-First-Site-Name/cn=Configuration/cn=Servers/cn=B/cn=Microsoft Public MDB"
    )
    assert watched.serious_violations() == []

    details.get_by_role("button", name="Update now").click()
    expect(details.get_by_text("Store E: E-IS@contoso.test")).to_be_visible()
    service = details.get_by_role("form", name="Recipient update service")
    service.get_by_label("service runs").fill("always")
    expect(service).to_contain_text("pflab directory schedule always")
    service.get_by_role("button", name="Change the service").click()
    expect(service.get_by_role("button", name="Change the service")).to_be_disabled()
    details.get_by_role("button", name="Change Default Policy …").click()
    policy = details.get_by_role("form", name="Change Default Policy")
    policy.get_by_label("addresses of").fill("fabrikam.test")
    command = "pflab directory policy change 'Default Policy' --domain fabrikam.test"
    expect(policy).to_contain_text(command)
    policy.get_by_role("button", name="Change Default Policy").click()
    expect(details.get_by_text("Store A: A-IS@fabrikam.test")).to_be_visible()
    expect(details.get_by_role("row", name="proxyAddresses smtp:A-IS@contoso.test")).to_be_visible()
    expect(page.get_by_role("status", name="The last order in a terminal")).to_contain_text(command)
    with Client(lab) as client:
        assert client.recipient_policy() == {"domain": "fabrikam.test", "recipient_update": "always"}


def test_the_directory_shows_damaged_objects(lab: str, open_page: OpenPage) -> None:
    """ML-8: an object that names no tree, and one with a second object beside it, are shown as they are."""
    page = open_page(lab).page
    page.get_by_role("button", name="Server B,").click()
    page.get_by_role("tab", name="Directory").click()
    details = page.get_by_label("Details")
    details.get_by_text("Store A:").click()
    details.get_by_text("Store B:").click()
    tree = details.get_by_role("row", name="msExchOwningPFTree").first
    expect(tree).to_contain_text("CN=Public Folders")
    with Client(lab) as client:
        client.inject("unlink", server="A")
        client.inject("double", server="B")
    expect(tree).to_have_text(re.compile("none$"))
    expect(details).to_contain_text("There is a second object of this store.")


def test_the_list_of_policies_is_changed_in_the_page(lab: str, open_page: OpenPage) -> None:
    """ML-1: policies are added with a filter, moved up, changed and removed; the Default Policy stays as the last one. An order
    that the lab refuses says why, and the form stays."""
    watched = open_page(lab)
    page = watched.page
    page.get_by_role("button", name="Server A,").click()
    page.get_by_role("tab", name="Directory").click()
    details = page.get_by_label("Details")
    policies = details.get_by_role("region", name="Recipient policies")
    for name, domain, part, of in (
        ("Old", "adatum.test", "versions", "5.5"),
        ("B", "fabrikam.test", "servers", "A, B"),
    ):
        policies.get_by_role("button", name="New policy …").click()
        form = policies.get_by_role("form", name="A new recipient policy")
        form.get_by_label("name", exact=True).fill(name)
        form.get_by_label("addresses of").fill(domain)
        expect(form.get_by_role("button", name="Add the policy")).to_be_disabled()  # it has no filter
        form.get_by_label(part).fill(of)
        form.get_by_role("button", name="Add the policy").click()
        expect(form).to_have_count(0)
    assert watched.serious_violations() == []
    expect(details.get_by_text("Store B: B-IS@adatum.test")).to_be_visible()
    expect(policies.get_by_role("row")).to_contain_text(
        [
            "Priority",
            "1Oldadatum.testversions 5.5",
            "2Bfabrikam.testservers A, B",
            "lowestDefault Policycontoso.testevery store",
        ]
    )
    expect(policies.get_by_role("button", name="Move Old up")).to_be_disabled()
    expect(policies.get_by_role("button", name="Move B down")).to_be_disabled()
    expect(policies.get_by_role("button", name="Remove Default Policy")).to_have_count(0)

    policies.get_by_role("button", name="Move B up").click()
    expect(details.get_by_text("Store B: B-IS@fabrikam.test")).to_be_visible()
    policies.get_by_role("button", name="Change B …").click()
    form = policies.get_by_role("form", name="Change B")
    form.get_by_label("servers").fill("A, X")
    form.get_by_role("button", name="Change B").click()
    expect(page.get_by_role("alert")).to_contain_text('"X" is not a server')
    watched.complaints.clear()  # Chromium writes a line for each answer that refuses
    form.get_by_label("servers").fill("A")
    expect(form).to_contain_text("pflab directory policy change B --servers A")
    form.get_by_role("button", name="Change B").click()
    expect(details.get_by_text("Store B: B-IS@adatum.test")).to_be_visible()
    policies.get_by_role("button", name="Remove Old").click()
    expect(details.get_by_text("Store B: B-IS@contoso.test")).to_be_visible()
    with Client(lab) as client:
        names = [(entry["name"], entry["filter"]) for entry in client.recipient_policies()]
    assert names == [("B", {"servers": ["A"]}), ("Default Policy", None)]


def test_the_page_says_which_command_does_the_same(lab: str, open_page: OpenPage) -> None:
    """After an order, the page shows the command for a terminal; an order that the lab refuses has none."""
    watched = open_page(lab)
    page = watched.page
    last = page.get_by_role("status", name="The last order in a terminal")
    expect(last).to_have_count(0)
    page.get_by_role("button", name="Server B,").click()
    page.get_by_role("button", name="Back up").click()
    expect(last).to_contain_text("pflab fault backup B")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(last).to_contain_text("pflab fault stop B")
    page.get_by_text("Administer B").click()
    page.get_by_role("button", name="Delete the store of B …").click()
    page.get_by_role("button", name="Really delete the store of B").click()  # refused: it has the only replica
    expect(page.get_by_role("alert")).to_contain_text(re.compile("B cannot be deleted"))
    expect(last).to_contain_text("pflab fault stop B")
    watched.complaints.clear()  # Chromium writes a line for each answer that refuses
    last.get_by_role("button", name="Hide the command").click()
    expect(last).to_have_count(0)
