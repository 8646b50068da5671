"""The application log: the real ids, categories, levels and text forms; it survives restarts and is pruned (EV-1)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from node.broadcasts import cycles
from node.errors import Misuse
from node.state import application_log
from node.state.application_log import KINDS, Level
from tests.support.post_office import PostOffice
from tests.support.topologies import THREE_STORES_AND_CONTACT
from topology.settings.catalogue import LOGGED_CATEGORIES
from traces.labtime import DAY_US
from transport.envelope import IncomingHop, SendOutcome, SendState
from transport.mime.headers import incoming_mail

OUT = {3014, 3016, 3017, 3018, 3019, 3020, 3021}


def texts(office: PostOffice, name: str, event: int) -> list[str]:
    return [entry.text for entry in office[name].event_log(event=event)]


def test_every_id_is_there_with_level_and_category() -> None:
    """Ids 3014 to 3021 for sent mails, ten more for received ones, and the others each have a level and a category (EV-1)."""
    others = {1117, 3002, 3005, 3079, 3085, 3089, 3092, 3116, 3118, 3119, 7004, 7010, 8231, *range(20001, 20006)}
    assert set(KINDS) == OUT | {id_ + 10 for id_ in OUT} | others
    assert {KINDS[id_].category for id_ in OUT} == {"Replication Outgoing Messages"}
    assert {KINDS[id_ + 10].category for id_ in OUT} == {"Replication Incoming Messages"}
    assert {id_ for id_ in KINDS if KINDS[id_].level is Level.ERROR} == {3079, 3085, 7004, 7010, 8231}
    assert {KINDS[id_].source for id_ in (7004, 7010)} == {"MSExchangeTransport"}


SALES = """
organization: Test
sites: [SEA]
servers: {A: {site: SEA, version: "VERSION"}, B: {site: SEA, version: "VERSION"}}
folders:
  Sales: {replicas: [A, B]}
"""
DN_OF_A = "/o=Test/ou=SEA/cn=Configuration/cn=Servers/cn=A/cn=Microsoft Public MDB"
STORE_GROUP = "First Storage Group\\Public Folder Store (B)"


def office_of(version: str) -> PostOffice:
    return PostOffice(SALES.replace("VERSION", version))


@pytest.mark.parametrize(
    ("version", "source", "incoming", "directory", "level"),
    [
        ("5.5", "MSExchangeIS Public", "Replication Incoming", "Replication DS Updates", "Maximum"),
        ("2000", "MSExchangeIS Public Store", "Replication Incoming Messages", "Replication AD Updates", "Maximum"),
        ("2003", "MSExchangeIS Public Store", "Replication Incoming Messages", "Replication AD Updates", "Maximum"),
        ("2007", "MSExchangeIS Public Store", "Replication Incoming Messages", "Replication DS Updates", "Expert"),
    ],
)
def test_source_category_and_level_are_those_of_the_version(
    version: str, source: str, incoming: str, directory: str, level: str
) -> None:
    """Each version names the source, the categories and the levels of its entries in its own way (EV-1)."""
    office = office_of(version)
    office["A"].post(office.at(1), "Sales", subject="Order")
    office.run(office.at(16))
    office["A"].delete_folder(office.at(17), "Sales")
    office.run(office.at(31))
    [mail, removed] = [office["B"].event_log(event=event)[0] for event in (3030, 3005)]
    assert (mail.source, mail.category, mail.logging) == (source, incoming, level)
    assert (removed.source, removed.category, removed.logging) == (source, directory, "Medium")
    assert re.fullmatch(r"A replica of public folder \([0-9a-f]+-[0-9A-F]+\) was removed\.", removed.text)


@pytest.mark.parametrize(
    ("version", "mail_id", "body", "server"),
    [
        ("5.5", r"1-[0-9A-F]+", [r"CN min: 3-1", r"CN max: 3-1"], DN_OF_A.upper()),
        (
            "2000",
            r"1-[0-9A-F]+",
            [rf'Database "{re.escape(STORE_GROUP)}"\.', r"CN min: 3-1 CN max: 3-1"],
            DN_OF_A.upper(),
        ),
        ("2003", r"<\S+@\S+>", [rf'Database "{re.escape(STORE_GROUP)}"', r"CN min: 3-1, CN max: 3-1"], DN_OF_A),
        (
            "2007",
            r"<\S+@\S+>",
            [r'Database "Second Storage Group\\Public Folder Database"', r"CN min: 3-1, CN max: 3-1"],
            DN_OF_A,
        ),
    ],
)
def test_the_text_of_a_mail_is_that_of_the_version(version: str, mail_id: str, body: list[str], server: str) -> None:
    """Each version has its form of the mail's id, of the database, if it names one, and of the change numbers (EV-1)."""
    office = office_of(version)
    office["A"].post(office.at(1), "Sales", subject="Order")
    office.run(office.at(16))
    [text] = texts(office, "B", 3030)
    record = r"1: [0-9a-f]+-1,3-1,28" if version == "5.5" else r"1\) MID: [0-9a-f]+-1, CN: 3-1, Offset: 28"
    lines = [
        r"An incoming replication message was processed\.",
        r"Type: 0x4",
        rf"Message ID: {mail_id}",
        r"Folder: \([0-9a-f]+-[0-9A-F]+\) IPM_SUBTREE\\Sales",
        *body,
        r"RMIs: 1",
        record,
        r"Order",
        r"Server:",
        re.escape(server),
    ]
    assert re.fullmatch("\n".join(lines), text)


def test_two_mails_never_have_one_store_id() -> None:
    """The ids that a 5.5 store gives mails in its log differ, those of sent and of received mails too."""
    office = office_of("5.5")
    for minutes in range(0, 60, 15):
        office["A"].post(office.at(minutes + 1), "Sales", subject="Order")
        office["B"].post(office.at(minutes + 1), "Sales", subject="Order")
        office.run(office.at(minutes + 16))
    found = [line for entry in office["A"].event_log() for line in entry.text.splitlines() if "Message ID" in line]
    assert len(set(found)) == len(found) >= 8


def test_the_form_of_a_version_fills_in_every_place() -> None:
    """Each text of each version's form can be written: it has no place that no value fills."""
    for event, kind in KINDS.items():
        for version in ("5.5", "2000", "2003", "2007"):
            if kind.source is None and event not in OUT and event - 10 not in OUT:
                office = office_of(version)
                values = {
                    "folder": "1-1",
                    "path": " x",
                    "code": "0x1",
                    "error": "e",
                    "stack": (),
                    "reason": "r",
                    "server": "s",
                    "type": "0x4",
                    "stores": ["s"],
                }
                office["A"].log(office.at(1), event, **values)
                [entry] = office["A"].event_log(event=event)
                assert ("Storage Group" in entry.text) == (version != "5.5" and event in {3002, 3079, 3089})


def test_2007_has_five_levels_and_logs_mails_at_the_highest() -> None:
    """On 2007 the levels are Lowest to Expert, and mails are logged at Expert only. The names of other versions work too."""
    office = office_of("2007")
    name = "Diagnostics Logging Replication Outgoing Messages"
    for cycle, (level, shown, expected) in enumerate(
        [("High", "High", 0), ("Expert", "Expert", 1), ("None", "Lowest", 1), ("Maximum", "Expert", 2)]
    ):
        office["A"].configure(office.at(15 * cycle + 1), {name: level})
        [view] = [each for each in office["A"].setting_views() if each.name == name]
        assert (view.value, view.default) == (shown, "Expert")
        office["A"].post(office.at(15 * cycle + 2), "Sales", subject=level)
        office.run(office.at(15 * cycle + 16))
        assert len(texts(office, "A", 3020)) == expected


def test_a_hierarchy_mail_is_3018_and_3028() -> None:
    """The texts of 3018 and 3028 show ids with the local replid 1 at the sender and another one at the receiver (EV-1)."""
    office = PostOffice()
    office["A"].create_folder(office.at(1), "Test 1", replicas=["A", "B"])
    office.run(office.at(16))
    [out] = texts(office, "A", 3018)
    lines = out.splitlines()
    assert lines[:2] == ["An outgoing replication message was issued.", "Type: 0x2"]
    assert re.fullmatch(r"Message ID: <\S+@\S+>", lines[2])
    assert lines[3:] == [
        'Database "First Storage Group\\Public Folder Store (A)"',
        "CN min: 1-1, CN max: 1-1",
        "RFIs: 1",
        "1) FID: 1-1, PFID: 1-1, Offset: 28",
        "IPM_SUBTREE\\Test 1",
    ]
    [into] = texts(office, "B", 3028)
    assert into.splitlines()[0] == "An incoming replication message was processed."
    assert lines[2] in into
    assert re.search(r"1\) FID: [2-9a-f]+-1, PFID: 1-1, Offset: 28\nIPM_SUBTREE\\Test 1\n", into)
    assert into.endswith("Server:\n/o=Test/ou=SEA/cn=Configuration/cn=Servers/cn=A/cn=Microsoft Public MDB")


def test_a_content_mail_is_3020_and_3030_with_the_items_subjects() -> None:
    """The entries of a content mail name the folder and each item, up to a limit."""
    office = PostOffice()
    for number in range(25):
        office["A"].post(office.at(1), "Projects", subject=f"item {number}")
    office.run(office.at(16))
    for name, event in (("A", 3020), ("B", 3030), ("C", 3030)):
        [text] = texts(office, name, event)
        assert "IPM_SUBTREE\\Projects" in text
        assert text.count("MID: ") == 20
        assert "\nitem 0\n" in text
        assert "... (25 in all)" in text


def test_a_lost_mail_is_followed_in_the_log() -> None:
    """Status, backfill request and response are 3017, 3016 and 3021 at the sender, and ten more at the receiver."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="lost")
    assert len(office.cycle("A", office.at(16))) == 2  # to B and C, and lost
    for minutes in range(30, 60 * 60, 15):
        office.run(office.at(minutes))
    assert any("Outgoing message type 0x10\n" in text for text in texts(office, "A", 3017))
    assert any("Type: 0x10\n" in text and "IPM_SUBTREE\\Projects" in text for text in texts(office, "B", 3027))
    [request] = texts(office, "B", 3016)
    assert request.startswith("Outgoing message type 0x8\nMessage ID: <")
    assert re.search(r"CNSET: [0-9a-f]+-1,[0-9a-f]+-1\nCNSET\(FAI\): \{0\}\nServer: /o=Test/ou=SEA/", request)
    assert len(texts(office, "A", 3026)) == 2
    response = texts(office, "A", 3021)[0]
    assert response.startswith("An outgoing replication message was issued.\nType: 0x80000004\n")
    assert "CNSET: 1-1,1-1" in response
    assert response.endswith("lost\nIDCN Deleted:\n{0}")
    assert "lost" in texts(office, "B", 3031)[0]


def test_deletions_are_pairs_and_tombstones_have_no_name() -> None:
    """A deleted folder is `IDCN deleted: FID,CN`; an item with a tombstone here shows its id and no name (IN-4)."""
    office = PostOffice()
    made = office["A"].post(office.at(1), "Projects", subject="secret").id
    [(_, late)] = [each for each in office.cycle("A", office.at(16)) if each[1].next_hop == "B"]
    office["A"].delete(office.at(17), "Projects", made)
    office.run(office.at(31))
    assert re.search(r"IDCN deleted: 1-1,1-2", texts(office, "A", 3020)[-1])
    office.deliver(("A", late), office.at(32))
    last = texts(office, "B", 3030)[-1]
    assert "MID: " in last
    assert "secret" not in last


def test_problems_are_logged() -> None:
    """Bad mail is 3089, an item that cannot be decoded 3092, a dropped replica 3005."""
    office = PostOffice()
    office["A"].mail_in(
        office.at(1), IncomingHop("x", None, 0), incoming_mail("x@y.test", ["A-IS@contoso.test"], b"Subject: x\r\n\r\n")
    )
    [bad] = office["A"].event_log(event=3089)
    assert (bad.level, bad.category, bad.logging) == ("Warning", "Replication Errors", "Medium")
    assert bad.text.startswith("Error 0x8004010f occurred while processing an incoming replication message on Public")
    office["A"].change_folder(office.at(2), "Projects", replicas=["A", "B"])
    for minutes in range(15, 120, 15):
        office.run(office.at(minutes))
    [text] = texts(office, "C", 3005)
    assert re.fullmatch(r"A replica of public folder \([0-9a-f]+-1\) IPM_SUBTREE\\Projects was removed.", text)


def levels(office: PostOffice, name: str, level: str, *categories: str) -> None:
    office[name].configure(office.at(1), {f"Diagnostics Logging {each}": level for each in categories})


def test_the_level_of_a_category_decides_what_is_logged() -> None:
    """Each category has a level of its own, which takes effect at once; entries of level None are always written (EV-1)."""
    office = PostOffice()
    levels(office, "A", "Medium", "Replication Outgoing Messages")
    levels(office, "B", "None", *LOGGED_CATEGORIES)
    office["A"].post(office.at(2), "Projects", subject="x")
    office.run(office.at(16))
    assert office["A"].event_log() == []
    assert office["B"].event_log() == []
    assert [entry.event for entry in office["C"].event_log()] == [3030]
    levels(office, "A", "Maximum", "Replication Outgoing Messages")
    office["B"].configure(office.at(17), {"Replication": 0})
    office["B"].close(office.at(17))
    office["B"].open(office.at(18))
    assert [entry.event for entry in office["B"].event_log()] == [3002]
    office["A"].post(office.at(18), "Projects", subject="y")
    office.run(office.at(31))
    assert [entry.event for entry in office["A"].event_log()] == [3020]
    [view] = [each for each in office["A"].setting_views() if each.name == "Diagnostics Logging Replication Errors"]
    assert view.place.endswith(r"\Diagnostics\9001 Public\Replication Errors")


def test_conflicts_and_returned_mails_have_categories_of_their_own() -> None:
    """A conflict is in the category of conflicts, a mail that was returned in that of non-delivery reports."""
    office = PostOffice()
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office.run(office.at(16))
    office["A"].edit(office.at(17), "Projects", message, subject="from A")
    office["B"].edit(office.at(17), "Projects", message, subject="from B")
    office.run(office.at(31))
    [conflict] = office["C"].event_log(event=20003)
    assert (conflict.level, conflict.category, conflict.logging) == ("Warning", "Replication Conflicts", "Minimum")
    office["A"].post(office.at(32), "Projects", subject="two")
    office["A"].tick(office.at(46))
    for transmission in office["A"].outgoing(office.at(46)):
        office["A"].hop_concluded(office.at(46), transmission.queue_id, SendOutcome(SendState.REFUSED, "552 too large"))
    returned = office["A"].event_log(event=20004)
    assert {each.category for each in returned} == {"Non-Delivery Reports"}
    assert all(each.text.startswith("A mail could not be delivered to") for each in returned)


def test_a_lost_change_of_a_folder_is_a_conflict_in_the_log() -> None:
    """A concurrent change of a folder that is lost has an entry on each store that got both, with the numbers (HI-5, EV-1)."""
    office = PostOffice()
    office["A"].change_folder(office.at(1), "Projects", description="of A")
    office["B"].change_folder(office.at(2), "Projects", description="of B")
    office.run(office.at(16))
    office.run(office.at(17))
    for name in "ABC":
        [conflict] = office[name].event_log(event=20003)
        assert (conflict.level, conflict.category) == ("Warning", "Replication Conflicts")
        first, folder, *changes = conflict.text.splitlines()
        assert first == "Concurrent changes of a folder are in conflict."
        assert folder.endswith(r"IPM_SUBTREE\Projects")
        assert changes == ["In force: B-1", "Lost: A-1"]


def test_an_unexpected_error_is_3079_with_the_functions_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error inside the agent rolls back its stimulus, reaches the driver, and leaves a log entry with the stack."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="x")

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a planted defect")

    monkeypatch.setattr(cycles, "split", broken)
    with pytest.raises(ZeroDivisionError):
        office["A"].tick(office.at(16))
    [entry] = office["A"].event_log(event=3079)
    lines = entry.text.splitlines()
    assert entry.level == "Error"
    assert lines[0] == (
        'Unexpected replication thread error 0x80004005 on database "First Storage Group\\Public Folder Store (A)".'
    )
    assert lines[1:3] == ["broken", "broadcast"]
    assert lines[-1] == "ZeroDivisionError: a planted defect"
    monkeypatch.undo()
    office["A"].tick(office.at(17))
    assert texts(office, "A", 3020)


def test_a_driver_may_log_what_only_it_knows() -> None:
    """7004 and 7010 have the published form; an unknown id or a missing value is refused."""
    office = PostOffice()
    values = {"connection": 29, "peer": "B", "verb": "xexch50", "reply": "504 Need to authenticate first"}
    office["A"].log(office.at(1), 7004, command="XEXCH50 2336 3", **values)
    [entry] = office["A"].event_log(event=7004)
    assert entry.text == (
        "This is an SMTP protocol error log for virtual server ID 1, connection #29. The remote host"
        ' "B", responded to the SMTP command "xexch50" with "504 Need to authenticate first ". The full command sent was'
        ' "XEXCH50 2336 3 ". This will probably cause the connection to fail.'
    )
    with pytest.raises(Misuse, match="the log has no event"):
        office["A"].log(office.at(1), 1)
    with pytest.raises(Misuse, match="command"):
        office["A"].log(office.at(1), 7010, **values)


def test_the_log_survives_a_restart_and_is_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries survive a kill; the log keeps only the newest, and the ids go on."""
    office = PostOffice(THREE_STORES_AND_CONTACT, tmp_path)
    office["A"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(16))
    before = office["A"].event_log()
    assert before
    office["A"].abandon()
    office["A"].reopen(office.at(17))
    assert office["A"].event_log() == before
    monkeypatch.setattr(application_log, "LOG_KEPT", 3)
    monkeypatch.setattr(application_log, "PRUNED_EVERY", 1)
    for number in range(5):
        office["A"].post(office.at(20 + 15 * number), "Projects", subject="y")
        office.run(office.at(31 + 15 * number))
    after = office["A"].event_log()
    assert len(after) == 3
    assert office["A"].event_log(after=after[1].id) == after[2:]
    assert after[0].id > before[-1].id
    assert after[-1].at - before[-1].at < DAY_US


def test_a_stimulus_that_is_rolled_back_leaves_no_entry() -> None:
    """Entries are written in the transaction that they describe, so a rollback removes them."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="x")
    office["A"].crash_at = "before commit"
    with pytest.raises(BaseException, match="before commit"):
        office["A"].tick(office.at(16))
    office["A"].reopen(office.at(16))
    assert texts(office, "A", 3020) == []
