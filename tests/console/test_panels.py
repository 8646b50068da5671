"""The panels of a server, a mail and a connector, and the dialog with the faults, used as a trainer uses them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pflab.client import Client, ClientError
from tests.support.console_page import AXE, OpenPage, open_server
from tests.support.running_lab import lab_up
from traces.labtime import HOUR_US, parse_instant

PROJECTS = re.compile("Projects on Server A")


@pytest.fixture(scope="module")
def lost(lab: str) -> Iterator[Client]:
    """The lab after B has lost the mail with A-1, and while a mail from A waits for the connector to NYC."""
    with Client(lab) as client:
        client.json("POST", "/lab/faults", {"kind": "lose", "from": "A", "to": "B", "type": "content", "count": 1})
        client.post("A", "Projects", subject="Hello")
        client.advance("24 h 30 min")
        client.json("POST", "/lab/faults", {"kind": "hold", "connector": "SEA-NYC", "lasts": "10 days"})
        client.post("A", "Projects", subject="Waiting")
        client.advance("16 min")
        yield client


def test_a_server_shows_what_it_lacks_and_when_it_asks(lab: str, lost: Client, open_page: OpenPage) -> None:
    """The state table names the missing change as Microsoft's tools did, and the backfill array counts down to the request."""
    page = open_page(lab).page
    open_server(page, "B", "State table")
    details = page.get_by_label("Details")
    expect(details.get_by_role("row", name=PROJECTS)).to_contain_text("A-2 received")
    expect(details.get_by_role("row", name=re.compile("Projects on Server B"))).to_contain_text("A-1 missing")
    details.get_by_role("tab", name="Backfill").click()
    expect(details.get_by_role("row", name=re.compile("A-1"))).to_contain_text(re.compile(r"06:15\s+in 5 h 29 min"))


def test_a_setting_is_changed(lab: str, lost: Client, open_page: OpenPage) -> None:
    """A setting is changed in its row, and the store has the new value."""
    page = open_page(lab).page
    open_server(page, "C", "Settings")
    page.get_by_label("Find").last.fill("always interval")
    page.get_by_role("button", name="Change Replication Always Interval").click()
    page.get_by_label("New value of Replication Always Interval").fill("30 min")
    page.get_by_role("button", name="Set", exact=True).click()
    expect(page.get_by_label("Details")).to_contain_text("default 15 min")
    found = lost.json("GET", "/nodes/C/settings")["not_default"]
    assert found["Replication Always Interval"]["value"] == "30 min"


def test_a_server_is_backed_up_stopped_and_restored(lab: str, lost: Client, open_page: OpenPage) -> None:
    """The buttons back up, stop and restore a server; a restore asks for the backup, because it loses what came after."""
    watched = open_page(lab)
    page = watched.page
    open_server(page, "D", "State table")
    actions = page.get_by_role("group", name="Actions on D")
    actions.get_by_role("button", name="Back up").click()
    expect(actions.get_by_role("button", name="Restore …")).to_be_enabled()
    actions.get_by_role("button", name="Stop").click()
    expect(actions.get_by_role("button", name="Start")).to_be_visible()
    actions.get_by_role("button", name="Restore …").click()
    page.get_by_role("button", name="Restore D").click()
    expect(actions.get_by_role("button", name="Stop")).to_be_visible()
    # The page may ask D before it has heard that D has stopped.
    watched.complaints[:] = [line for line in watched.complaints if not ("503" in line and "/nodes/D/" in line)]


def test_a_backup_is_shown_on_another_server(lab: str, lost: Client, open_page: OpenPage) -> None:
    """Another server can start on a backup. The form says that it will show the other store and never replicate (RP-8)."""
    backup = lost.backup("D")
    page = open_page(lab).page
    open_server(page, "E", "State table")
    actions = page.get_by_role("group", name="Actions on E")
    actions.get_by_role("button", name="Restore …").click()
    page.get_by_label("Backup").select_option(backup)
    expect(page.get_by_label("Details")).to_contain_text("E shows the store of D as it was, and never replicates again")
    expect(page.get_by_label("Details")).to_contain_text(f"pflab fault restore E --backup {backup}")
    with page.expect_response(re.compile("/restore$")) as answer:
        page.get_by_role("button", name="Restore E").click()
    assert answer.value.ok
    with pytest.raises(ClientError, match="it is only shown, and takes no changes"):
        lost.post("E", "Company", subject="refused")


def test_a_waiting_mail_is_read_released_and_dropped(lab: str, lost: Client, open_page: OpenPage) -> None:
    """A mail in a queue shows its content to each property; it can be held, released, and dropped when it leaves."""
    page = open_page(lab).page
    open_server(page, "A", "Mail queue")
    details = page.get_by_label("Details")
    details.get_by_role("button", name="content").first.click()
    expect(details.get_by_role("tabpanel")).to_contain_text("PR_SUBJECT")
    details.get_by_role("tab", name="Raw message").click()
    expect(details.get_by_role("tabpanel")).to_contain_text("Message-ID: <")
    copy = details.get_by_role("region", name=re.compile("Copy for"))
    copy.get_by_role("button", name="Drop").click()
    expect(copy).to_have_count(0)  # the mail was held; it is released, leaves, and is lost on arrival
    expect(details.get_by_role("row", name=re.compile("A → C"))).to_contain_text("lost")


def test_a_connector_is_cut_and_healed(lab: str, lost: Client, open_page: OpenPage) -> None:
    """The buttons of a connector cut it and heal it."""
    page = open_page(lab).page
    page.get_by_role("button", name="Connector NYC-LON").click()
    actions = page.get_by_role("group", name="Actions on NYC-LON")
    actions.get_by_role("button", name="Cut").click()
    expect(page.get_by_label("Details")).to_contain_text("refuses connections on NYC-LON")
    actions.get_by_role("button", name="Heal").click()
    expect(actions.get_by_role("button", name="Heal")).to_be_disabled()


def test_a_connector_says_what_it_has_carried(lab: str, lost: Client, open_page: OpenPage) -> None:
    """A connector has the number and size of the mails that have crossed it, by type, as the events of the lab say. Its chart
    has a bar for each hour of the last two days in which mails crossed it, and a table with the same hours."""
    lost.advance("30 h")
    crossed = [hop for hop in lost.events() if hop["type"] == "hop.sent" and hop["connector"] == "NYC-LON"]
    assert crossed
    watched = open_page(lab)
    page = watched.page
    page.get_by_role("button", name="Connector NYC-LON").click()
    details = page.get_by_label("Details")
    rows = details.locator("table.traffic").first.locator("tbody tr")
    expect(rows.get_by_role("rowheader", name="status", exact=True)).to_have_count(1)
    assert sum(int(mails) for mails in rows.locator("td:nth-child(2)").all_inner_texts()) == len(crossed)
    first = parse_instant(lost.now()) // HOUR_US - 47
    by_hour: Counter[int] = Counter()
    for hop in crossed:
        if hop["at"] // HOUR_US >= first:
            by_hour[hop["at"] // HOUR_US] += hop["size"]
    chart = details.get_by_role("img", name=re.compile("What NYC-LON has carried in each of the last 48 hours"))
    expect(chart.locator("g")).to_have_count(len(by_hour))
    heights = [
        sum(float(bar.get_attribute("height") or 0) for bar in hour.locator("rect").all())
        for hour in chart.locator("g").all()
    ]
    most = max(by_hour.values())
    assert heights == pytest.approx([by_hour[hour] / most * max(heights) for hour in sorted(by_hour)])
    details.get_by_text("By hour as a table").click()
    expect(details.locator("details.by-hour tbody tr")).to_have_count(len(by_hour))
    assert watched.serious_violations() == []
    page.keyboard.press("Home")
    expect(details.get_by_text("No mail yet.")).to_be_visible()


def test_faults_are_injected_and_healed_from_the_keyboard(lab: str, lost: Client, open_page: OpenPage) -> None:
    """The key f opens the dialog; a form injects a fault, and its row says in words what it does and heals it."""
    page = open_page(lab).page
    expect(page.get_by_role("button", name="Server A")).to_be_visible()
    page.keyboard.press("f")
    dialog = page.get_by_role("dialog", name="Faults")
    dialog.get_by_role("button", name="Delay").press("Enter")
    dialog.get_by_role("combobox", name="from", exact=True).select_option("A")
    dialog.get_by_role("combobox", name="to", exact=True).select_option("B")
    dialog.get_by_role("textbox", name="by", exact=True).fill("2 h")
    dialog.get_by_role("textbox", name="by", exact=True).press("Enter")
    row = dialog.get_by_role("row", name=re.compile("delays mails from A to B by 2 h"))
    row.get_by_role("button", name=re.compile("Heal")).press("Enter")
    expect(row).to_have_count(0)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed; make test-console installs it if there is npm")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everybody_can_read_the_panels(lab: str, lost: Client, open_page: OpenPage, dark: bool) -> None:
    """axe-core finds no serious violation in each part of a server, in a mail, and in the dialog with the faults."""
    watched = open_page(lab, dark=dark)
    page = watched.page
    found = {}
    for part in ("State table", "Backfill", "Mail queue", "Folders", "Log", "Settings"):
        open_server(page, "B", part)
        found[part] = watched.serious_violations()
    page.keyboard.press("f")
    found["faults"] = watched.serious_violations()
    assert {part: each for part, each in found.items() if each} == {}


def test_the_application_log_is_searched(lab: str, open_page: OpenPage) -> None:
    """The log of a server is filtered by the id of an event, its text and its level, and at an earlier moment it has only what
    was written until then."""
    with Client(lab) as client:
        client.post("A", "Projects", subject="Logged")
        client.advance("20 min")
        ids = [each["event"] for each in client.json("GET", "/nodes/A/log?limit=1000")]
    page = open_page(lab).page
    page.get_by_role("button", name="Server A,").click()
    page.get_by_role("tab", name="Log").click()
    count = page.get_by_role("region", name="Selected").get_by_role("status")
    search = page.get_by_label("Entries with this event id, category or text")
    expect(count).to_have_text(f"{len(ids)} of {len(ids)} entries")
    search.fill(str(ids[0]))
    expect(count).to_have_text(f"{ids.count(ids[0])} of {len(ids)} entries")
    search.fill("no such words")
    expect(count).to_have_text(f"0 of {len(ids)} entries")
    search.fill("")
    page.get_by_label("Level").select_option("Error")
    expect(count).to_have_text(f"0 of {len(ids)} entries")
    page.get_by_role("slider", name="Moment of the run").fill("1")
    expect(count).to_have_text("0 of 0 entries")


VERSIONS = """
servers: {OLD: {version: "2000"}, NEW: {version: "2003"}, LAST: {version: "2007"}}
folders: {Projects: {replicas: [OLD, NEW]}}
"""


def test_an_organization_is_administered(tmp_path: Path, open_page: OpenPage) -> None:
    """Content is suspended in the organization, and the banner names the versions that cannot obey. All replicas of a server
    move to another one, and its store is deleted when it is stopped."""
    with lab_up(tmp_path, topology=VERSIONS) as url, Client(url) as client:
        watched = open_page(url)
        page = watched.page
        open_server(page, "NEW", "Folders")
        details = page.get_by_label("Details")
        expect(details.get_by_role("row", name=re.compile("^Projects"))).to_contain_text("the store's")
        details.get_by_text("Administer NEW").click()
        details.get_by_role("button", name="Suspend content replication").click()
        banner = page.locator(".banner")
        expect(banner).to_contain_text("Content replication is suspended on NEW, LAST")
        expect(banner).to_contain_text("Their versions cannot suspend it: OLD.")
        assert watched.serious_violations() == []
        details.get_by_role("button", name="Resume content replication").click()
        expect(banner).to_have_count(0)
        details.get_by_role("button", name="Synchronize the hierarchy").click()
        expect(page.locator(".notice")).to_contain_text("NEW asks for the status of the hierarchy: LAST, OLD")
        details.locator("select[name=by]").select_option("LAST")
        details.get_by_role("button", name="Move all replicas").click()
        expect(page.locator(".notice")).to_contain_text("To LAST: Projects")
        assert client.folders("NEW")[0]["replicas"] == ["OLD", "LAST"]
        client.advance("3 d")
        details.get_by_role("button", name="Stop", exact=True).click()
        details.get_by_role("button", name="Delete the store of NEW …").click()
        sure = details.get_by_role("region", name="Really delete the store of NEW")
        expect(sure).to_contain_text("Other servers have all changes of NEW.")
        sure.get_by_role("button", name="Really delete the store of NEW").click()
        expect(page.get_by_role("button", name="Server NEW,")).to_contain_text("deleted")
        # The page may ask NEW before it has heard that NEW has stopped.
        watched.complaints[:] = [line for line in watched.complaints if not ("503" in line and "/nodes/NEW/" in line)]


def test_a_queue_is_frozen_and_its_mails_are_returned(lab: str, lost: Client, open_page: OpenPage) -> None:
    """The queue of a server freezes and goes on, and its mails are frozen, returned or deleted, as in Queue Viewer (RT-5)."""
    page = open_page(lab).page
    open_server(page, "B", "Mail queue")
    details = page.get_by_label("Details")
    details.get_by_label("Next hop").select_option("A")
    details.get_by_role("button", name="Freeze the queue").click()
    queue = details.get_by_role("region", name="Queue for A")
    expect(queue).to_contain_text("frozen")
    lost.post("B", "Projects", subject="Kept")
    lost.advance("16 min")
    mail = details.get_by_role("row", name=re.compile("content")).first
    expect(mail).to_contain_text("frozen")
    mail.get_by_role("button", name="Return").click()
    expect(details.get_by_role("row", name=re.compile("content"))).to_have_count(0)
    queue.get_by_role("button", name="Unfreeze queue").click()
    expect(queue).to_have_count(0)
    assert lost.frozen_queues("B") == []
    assert [event["recipients"] for event in lost.events() if event["type"] == "hop.expired" and event["node"] == "B"]


def test_what_cannot_be_undone_is_asked_twice(tmp_path: Path, open_page: OpenPage) -> None:
    """Before a server is killed, a queue is emptied or a store is deleted, the page says what will be lost. Who cancels has
    changed nothing."""
    organization = "servers: {A: , B: }\nfolders: {Projects: {replicas: [A, B]}, Only: {replicas: [A]}}\n"
    with lab_up(tmp_path, topology=organization) as url, Client(url) as client:
        client.inject("cut", between=["A", "B"])
        client.post("A", "Projects", subject="Hello")
        client.post("A", "Only", subject="Hello")
        client.advance("16 min")
        watched = open_page(url)
        page = watched.page
        page.get_by_role("button", name="Server A,").click()
        details = page.get_by_label("Details")
        details.get_by_role("tab", name="Mail queue").click()
        queue = details.get_by_role("region", name="Queue for B")
        queue.get_by_role("button", name="Delete all …").click()
        sure = queue.get_by_role("region", name="Delete all mails for B")
        expect(sure).to_contain_text(
            "1 mail will be deleted, and nobody gets a notice. What 1 mail of replication would bring"
        )
        assert watched.serious_violations() == []
        sure.get_by_role("button", name="Cancel").click()
        expect(sure).to_have_count(0)
        assert len(client.queue("A")) == 1
        queue.get_by_role("button", name="Delete all …").click()
        sure.get_by_role("button", name="Delete all mails for B").click()
        expect(queue).to_have_count(0)
        assert client.queue("A") == []
        details.get_by_role("button", name="Kill …").click()
        expect(details.get_by_role("region", name="Kill A")).to_contain_text("as in a power failure")
        details.get_by_role("button", name="Kill A", exact=True).click()
        expect(page.get_by_role("button", name="Server A,")).to_have_accessible_name(re.compile("killed"))
        details.get_by_text("Administer A").click()
        details.get_by_role("button", name="Delete the store of A …").click()
        expect(details.get_by_role("region", name="Really delete the store of A")).to_contain_text(
            re.compile(r"No other server has .*1 change of Only.*they are lost for good\.")
        )
        assert watched.serious_violations() == []
        watched.complaints[:] = [line for line in watched.complaints if not ("503" in line and "/nodes/A/" in line)]
