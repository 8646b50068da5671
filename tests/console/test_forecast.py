"""The expected future in a browser: until when something is missing, marked as what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from pflab.client import Client
from tests.support.console_page import OpenPage


@pytest.fixture(scope="module")
def lost(lab: str) -> Iterator[Client]:
    """A lab in which the mail with A's first change was lost on its way to B, and a copy waits on C for the line to LON."""
    with Client(lab) as client:
        client.inject("lose", from_="A", to="B", type="content", count=1)
        client.post("A", "Projects", subject="Hello")
        client.advance("20 min")
        yield client


def test_a_server_says_until_when_it_lacks_a_change(lab: str, lost: Client, open_page: OpenPage) -> None:
    """The panel of B says why it lacks A-1, and what is expected until it has it; the lab then does exactly this."""
    watched = open_page(lab)
    page = watched.page
    page.get_by_role("button", name="Server B,").click()
    told = page.get_by_label("Details").get_by_role("listitem").filter(has_text="A-1 of Projects")
    expect(told).to_contain_text("the copy was lost between A and B")
    expect(told.locator(".expected")).to_contain_text(
        "A's status tells B at 22 Oct 00:15; B asks A at 22 Oct 06:15; B has it at 22 Oct 06:15"
    )
    assert watched.serious_violations() == []


def test_a_waiting_mail_says_until_when(lab: str, lost: Client, open_page: OpenPage) -> None:
    """A mail in a queue says where it waits, when it is expected to leave, and when it will arrive."""
    page = open_page(lab).page
    page.get_by_role("button", name="Server C,").click()
    details = page.get_by_label("Details")
    details.get_by_role("tab", name="Mail queue").click()
    details.get_by_role("button", name="content").click()
    copy = details.get_by_role("region", name="Copy for E")
    expect(copy.locator(".expected")).to_contain_text(
        re.compile(r"leaves C at 21 Oct 01:00 over NYC-LON, arrives at E")
    )


def test_a_post_says_until_when_each_server_lacks_it(lab: str, lost: Client, open_page: OpenPage) -> None:
    """The list of posts and the panel of a post say when the change is expected; the past and a lesson have no such words."""
    page = open_page(lab).page
    page.get_by_role("tab", name="Folders").click()
    page.get_by_role("navigation", name="Folders").get_by_role("button", name=re.compile("^Projects")).first.click()
    page.get_by_label("Server", exact=True).select_option("A")
    page.locator("#view button.post", has_text="Hello").first.click()
    row = page.get_by_label("Details").get_by_role("row", name=re.compile("^E"))
    expect(row).to_contain_text("the content mail with it waits on C")
    expect(row.locator(".expected")).to_contain_text("E has it at 21 Oct 01:00")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".clock .how")).to_have_text("an earlier moment")
    expect(page.locator(".panel .expected")).to_have_count(0)


def test_what_if_shows_both_futures_and_changes_nothing(lab: str, lost: Client, open_page: OpenPage) -> None:
    """What would happen only with a change stands beside what happens only without it, with the instants of agreement."""
    before = list(lost.events())
    watched = open_page(lab)
    page = watched.page
    page.get_by_role("button", name="Connector NYC-LON").click()
    page.get_by_role("button", name="What if NYC-LON is cut?").click()
    dialog = page.get_by_role("dialog", name="What if NYC-LON is cut?")
    agree = dialog.get_by_role("row", name=re.compile("All replicas agree"))
    expect(agree).to_contain_text(re.compile(r"from 22 Oct 06:15 on\s*not before 24 Oct"))
    expect(dialog.locator("td.without", has_text="E applies A-1, 'Hello' in Projects (broadcast)")).to_have_count(1)
    expect(dialog.locator("td.with", has_text="E applies")).to_have_count(0)
    # What the connector would carry stands beside what it carries without the change.
    expect(dialog.get_by_role("row", name=re.compile("NYC-LON carries"))).to_contain_text(
        re.compile(r"\d+ mails, [\d.]+ KB\s*0 mails, 0 bytes")
    )
    assert watched.serious_violations() == []
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_label("Details").get_by_text("No mail yet.")).to_be_visible()
    assert list(lost.events()) == before


def test_what_if_is_asked_of_the_mail_that_is_expected(lab: str, lost: Client, open_page: OpenPage) -> None:
    """A server that lacks a change offers to lose the mail that will bring it, also one that is not written yet."""
    page = open_page(lab).page
    page.get_by_role("button", name="Server B,").click()
    page.get_by_role("button", name="What if the mail from A to B at 22 Oct 06:15 is lost?").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("td.with", has_text="B loses a mail from A")).to_have_count(1)
    expect(dialog.locator("td.without", has_text="B applies A-1, 'Hello' in Projects (backfill)")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_the_future_can_be_switched_off_and_changes_with_the_lab(lab: str, lost: Client, open_page: OpenPage) -> None:
    """The button of the diagram switches the expected future off; after a change of the lab it is another one."""
    page = open_page(lab).page
    page.get_by_role("button", name="Server B,").click()
    expected = page.locator(".panel .prospects .expected")
    expect(expected).to_contain_text("22 Oct 06:15")
    switch = page.get_by_role("button", name="Expected", exact=True)
    switch.click()
    expect(expected).to_have_count(0)
    switch.click()
    expect(expected).to_contain_text("22 Oct 06:15")
    with Client(lab) as client:
        client.stop("A")
        expect(expected).to_contain_text("not before 22 Oct")
        client.start("A")
        expect(expected).to_contain_text("B has it at 22 Oct")


def test_the_future_is_another_one_after_each_change(lab: str, lost: Client, open_page: OpenPage) -> None:
    """A page that stays open shows the future of the lab as it is now, whatever has changed, and whoever has changed it."""
    page = open_page(lab).page
    page.get_by_role("button", name="Server B,").click()
    expected = page.locator(".panel .prospects .expected")
    for _ in range(2):
        expect(expected).to_contain_text("B has it at 22 Oct")
        lost.stop("A")
        expect(expected).to_contain_text("not before 22 Oct")
        lost.start("A")


def test_map_and_matrix_show_what_is_expected(lab: str, lost: Client, open_page: OpenPage) -> None:
    """The card of a server that is behind, and its cell in the matrix, say when it is expected to have everything. The mails
    that are expected next are drawn on the map, apart from those that are on their way. An earlier moment has none of this."""
    watched = open_page(lab)
    page = watched.page
    server = page.get_by_role("button", name="Server B,")
    expect(server.locator(".expected")).to_have_text(re.compile(r"^expected: all at 22 Oct \d\d:15$"))
    expect(page.get_by_role("button", name="Server A,").locator(".expected")).to_have_count(0)
    ghosts = page.get_by_role("img", name=re.compile("^expected: .* from C to E at 21 Oct 01:00"))
    expect(ghosts).to_have_count(1)
    assert watched.serious_violations() == []
    page.get_by_role("tab", name="Replicas").click()
    cell = page.get_by_role("row", name=re.compile("^Projects")).locator("td").nth(1)
    expect(cell.locator(".expected")).to_have_text(re.compile(r"^expected: all at 22 Oct \d\d:15$"))
    assert watched.serious_violations() == []
    page.keyboard.press("PageUp")
    expect(page.locator(".clock .how")).to_have_text("an earlier moment")
    expect(page.locator("#view .expected")).to_have_count(0)
    page.get_by_role("tab", name="Map").click()
    expect(page.locator("#view .expected")).to_have_count(0)


def test_a_mail_on_a_slow_line_is_on_the_line_in_the_present(lab: str, open_page: OpenPage) -> None:
    """A lab tells of a hop when it has ended. Until then the map shows the mail where it is, with the time that it still takes,
    and not as one that will leave; the list and the panel of the mail say the same, also if no future is wanted."""
    with Client(lab) as client:
        client.post("A", "Projects", subject="Large", body="x" * 250_000)
        client.until_mail("content", "1 h", on="A")
        client.advance("2 s")
        watched = open_page(lab)
        page = watched.page
        envelope = page.locator('.flights .envelope[data-from="A"][data-to="C"]')
        expect(envelope).to_have_count(1)
        expect(envelope.locator("small")).to_have_text(re.compile(r"^[\d.]+ s left$"))
        expect(page.get_by_role("img", name=re.compile("^expected: content from A to C"))).to_have_count(0)
        sent, reached = (page.get_by_role("button", name=f"Server {name},").bounding_box() for name in "AC")
        place = envelope.bounding_box()
        assert sent and reached and place
        assert sent["x"] + sent["width"] < place["x"] + place["width"] / 2 < reached["x"]
        page.get_by_role("button", name="Expected", exact=True).click()
        expect(envelope).to_have_count(1)
        page.get_by_role("tab", name="Mails").click()
        expect(page.get_by_role("row", name=re.compile("content"))).to_contain_text(["on its way, arrived"])
        page.get_by_role("row", name=re.compile("content")).first.get_by_role("button").click()
        details = page.get_by_label("Details")
        expect(details).to_contain_text("On its way from A to C for C, E")
        expect(details.get_by_role("row", name=re.compile("^A → C"))).to_contain_text(re.compile("on its way.*s left"))
        assert watched.serious_violations() == []
        page.get_by_role("tab", name="Map").click()
        client.advance("30 s")
        expect(envelope).to_have_count(0)
