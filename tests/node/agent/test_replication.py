"""How one change travels from the store that made it to the others (spec: sections 2 to 5)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from node.codec.items import Version
from node.codec.replication_message import MessageType, ReplicationMail, Section, Update, encode
from node.errors import FolderUnknown, MessageUnknown, Misuse, NodeError, NoReplicaHere
from node.mail.packing import split
from node.tracking.change_number import ChangeNumber
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from tests.support.clock import HOUR_MIN, STATUS_CHECK_MIN
from tests.support.post_office import AUTHORITY, PostOffice, deliver_all, mails_to
from tests.support.topologies import THREE_STORES_AND_CONTACT
from traces.events import ChangeMade
from traces.labtime import HOUR_US


def test_a_post_is_on_the_other_holders_after_the_next_cycle() -> None:
    """Changes are broadcast at the next cycle and applied with their number and time (spec: OUT-1, IN-1, CN-8)."""
    office = PostOffice()
    message = office["A"].post(office.at(1), "Projects", subject="Hello", body="text").id
    office.run(office.at(14))
    assert office["B"].messages("Projects") == []
    office.run(office.at(15))
    here, there = office["A"].messages("Projects"), office["B"].messages("Projects")
    assert here == there == office["C"].messages("Projects")
    assert (there[0].id, there[0].number, there[0].subject) == (message, "A-1", "Hello")
    assert office["B"].body("Projects", message) == "text"


def test_the_own_row_leaves_out_what_is_not_broadcast() -> None:
    """A store claims a change in its own row only after the broadcast (spec: RST-1)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="Hello")
    assert office["A"].state("Projects").rows[0].numbers == ""
    office.run(office.at(15))
    rows = {row.store: row.numbers for row in office["A"].state("Projects").rows}
    assert rows == {"A": "A-1", "B": "", "C": ""}
    assert {row.store: row.numbers for row in office["B"].state("Projects").rows} == {"A": "A-1", "B": "A-1", "C": ""}


def test_an_edit_replaces_the_older_version_everywhere() -> None:
    """A store removes a version whose number is in the predecessor list of the arriving one (spec: CN-4, HI-2)."""
    office = PostOffice()
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office.run(office.at(15))
    office["B"].edit(office.at(16), "Projects", message, subject="two")
    office.run(office.at(30))
    for name in "ABC":
        (shown,) = office[name].messages("Projects")
        assert (shown.subject, shown.number, shown.in_conflict) == ("two", "B-1", False)


def test_a_deletion_reaches_all_and_leaves_a_tombstone() -> None:
    """A delete is a change that each replica keeps as a tombstone (spec: DL-1)."""
    office = PostOffice()
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office.run(office.at(15))
    office["C"].delete(office.at(16), "Projects", message)
    office.run(office.at(30))
    for name in "ABC":
        assert office[name].messages("Projects") == []
        assert office[name].knowledge("Projects").tombstones == (message,)
    with pytest.raises(MessageUnknown):
        office["A"].edit(office.at(31), "Projects", message, subject="again")


def edited_by_two() -> tuple[PostOffice, str]:
    """Return an office with a message that A and B have edited at once, and the id of the message."""
    office = PostOffice()
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office.run(office.at(15))
    office["A"].edit(office.at(16), "Projects", message, subject="from A")
    office["B"].edit(office.at(17), "Projects", message, subject="from B")
    office.run(office.at(30))
    return office, message


def test_concurrent_edits_are_kept_and_one_is_shown_alike() -> None:
    """Every replica keeps all concurrent versions and shows the same one (spec: CF-1)."""
    office, _ = edited_by_two()
    for name in "ABC":
        (shown,) = office[name].messages("Projects")
        assert (shown.subject, shown.in_conflict, len(shown.versions)) == ("from B", True, 2)
    assert [notice.subject for notice in office["A"].mailbox()] == ["Conflict in Projects"]
    assert office["B"].mailbox() == []


@pytest.mark.parametrize("keep", ["first", "all", "edit"])
def test_a_resolution_at_any_replica_ends_the_conflict_everywhere(keep: str) -> None:
    """The resolution's list covers every version and replaces them everywhere (spec: CF-3)."""
    office, message = edited_by_two()
    versions = office["C"].messages("Projects")[0].versions
    if keep == "edit":
        office["C"].edit(office.at(31), "Projects", message, subject="merged")
    else:
        office["C"].resolve(office.at(31), "Projects", message, "all" if keep == "all" else versions[1])
    office.run(office.at(45))
    expected = {"first": ["from A"], "all": ["from A", "from B"], "edit": ["merged"]}[keep]
    for name in "ABC":
        shown = office[name].messages("Projects")
        assert sorted(each.subject for each in shown) == expected
        assert not any(each.in_conflict for each in shown)


def test_the_changes_of_a_resolution_that_keeps_all_take_numbers_in_their_order() -> None:
    """The change that ends the conflict takes the next number, and the separate messages take those after it (spec: CN-2)."""
    office, message = edited_by_two()
    numbers = office["C"].resolve(office.at(31), "Projects", message, "all").changes
    made = [each for each in office.of_type("change.made") if isinstance(each, ChangeMade) and each.node == "C"]
    assert [each.number.rpartition(":")[2] for each in made] == ["1", "2"]
    assert [each.object == message for each in made] == [True, False]
    assert numbers == [each.number for each in made]


def test_a_delete_wins_over_a_concurrent_edit_in_either_order() -> None:
    """A delete wins over every concurrent version, and the contacts get a notice of the lost edit (spec: DL-2)."""
    for editor, deleter in (("A", "B"), ("B", "A")):
        office = PostOffice()
        message = office["A"].post(office.at(1), "Projects", subject="one").id
        office.run(office.at(15))
        office[editor].edit(office.at(16), "Projects", message, subject="edited", body="precious")
        office[deleter].delete(office.at(17), "Projects", message)
        office.run(office.at(30))
        for name in "ABC":
            assert office[name].messages("Projects") == []
            assert office[name].knowledge("Projects").tombstones == (message,)
        assert "precious" in office["A"].mailbox()[0].body


def test_a_superseded_unsent_number_is_accounted_for() -> None:
    """An update names the numbers that it supersedes, so no store waits for a version that no longer exists (spec: CN-7)."""
    office = PostOffice()
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office["A"].edit(office.at(2), "Projects", message, subject="two")
    office.run(office.at(15))
    assert {row.store: row.numbers for row in office["B"].state("Projects").rows}["B"] == "A-1..2"
    assert office["B"].backfill() == []


def test_holes_in_the_own_range_are_closed_and_an_idle_folder_never_grows() -> None:
    """A broadcast covers the own numbers after the last one sent, up to the folder's own last change (spec: CN-6)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "  Other: {replicas: [A, B]}\n")
    office["A"].post(office.at(1), "Projects", subject="1")
    office["A"].post(office.at(2), "Other", subject="2")
    office["A"].post(office.at(3), "Projects", subject="3")
    office["A"].post(office.at(4), "Other", subject="4")
    office.run(office.at(15))
    own = {folder: office["B"].state(folder).rows[0].numbers for folder in ("Projects", "Other")}
    assert own == {"Projects": "A-1..3", "Other": "A-1..4"}


def test_a_schedule_of_never_neither_sends_nor_claims() -> None:
    """With schedule never content is neither broadcast nor claimed; the hierarchy goes on (spec: RST-1, HI-3)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("contacts: [kim@test.test]", "schedule: never"))
    office["A"].post(office.at(1), "Projects", subject="1")
    office["A"].create_folder(office.at(1), "News", replicas=["A", "B"])
    office.run(office.at(15))
    assert office["A"].state("Projects").rows[0].numbers == ""
    assert office["B"].messages("Projects") == []
    assert [folder.path for folder in office["C"].folders()] == ["News", "Projects"]


def test_mistakes_are_refused_and_change_nothing() -> None:
    """An impossible act gives one clear error, and the store stays as it was."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "  Other: {replicas: [B]}\n")
    with pytest.raises(FolderUnknown, match="no folder 'Nowhere' here"):
        office["A"].post(office.at(1), "Nowhere", subject="x")
    with pytest.raises(NoReplicaHere, match="holders are: B"):
        office["A"].post(office.at(1), "Other", subject="x")
    with pytest.raises(Misuse, match="not a message id"):
        office["A"].edit(office.at(1), "Projects", "junk", subject="x")
    office["A"].post(office.at(2), "Projects", subject="fine")
    assert office["A"].messages("Projects")[0].number == "A-1"


def test_an_associated_message_is_last_writer_wins() -> None:
    """Associated messages have a set of their own and never conflict (spec: CN-9)."""
    office = PostOffice()
    message = office["A"].post(office.at(1), "Projects", subject="view", associated=True).id
    office.run(office.at(15))
    office["A"].edit(office.at(16), "Projects", message, subject="view A")
    office["B"].edit(office.at(17), "Projects", message, subject="view B")
    office.run(office.at(30))
    for name in "ABC":
        (shown,) = office[name].messages("Projects")
        assert (shown.subject, shown.in_conflict, shown.associated) == ("view B", False, True)
        rows = {row.store: (row.numbers, row.numbers_fai) for row in office[name].state("Projects").rows}
        assert rows[name] == ("", "A-1..2, B-1")
    assert all(office[name].backfill() == [] for name in "ABC")


def test_the_holes_of_either_set_are_closed_whatever_the_other_still_waits_for() -> None:
    """A mail closes the holes of either set, though later mails bring such numbers of the other (spec: CN-6, CN-9)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Message Size Limit: 1 KB}\n")
    message = office["A"].post(office.at(1), "Projects", subject="one", body="x" * 2000).id
    office["A"].edit(office.at(2), "Projects", message, subject="two")
    office["A"].post(office.at(3), "Projects", subject="view", body="y" * 2000, associated=True)
    office["A"].edit(office.at(4), "Projects", message, subject="three")
    office.run(office.at(15))
    (row, *_) = (row for row in office["B"].state("Projects").rows if row.store == "A")
    assert (row.numbers, row.numbers_fai) == ("A-1..4", "A-1..3")


def test_a_broadcast_names_only_the_numbers_that_its_version_supersedes() -> None:
    """An update names its own number and those that it supersedes, not those of a version beside it (spec: CN-7, DU-1)."""
    office = PostOffice(
        THREE_STORES_AND_CONTACT.replace(
            "{A: {site: SEA}, B: {site: SEA}, C: {site: SEA}}", "{A: {}, B: {}, C: {}, D: {}}"
        ).replace("[A, B, C]", "[A, B, C, D]")
    )
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office.run(office.at(15))
    office["B"].edit(office.at(16), "Projects", message, subject="first of B")
    deliver_all(office, office.cycle("B", office.at(30)), office.at(30), "D")
    office["A"].edit(office.at(31), "Projects", message, subject="from A")
    office["B"].edit(office.at(32), "Projects", message, subject="second of B")
    deliver_all(office, office.cycle("B", office.at(45)), office.at(45), "A")
    deliver_all(office, office.cycle("A", office.at(45)), office.at(45), "CD")
    office.running = ["C", "D"]  # A and B are lost, and with them B's second edit; its first one is on D
    for hours in range(1, 10 * 24, 3):
        office.run(office.at(45 + hours * HOUR_MIN))
    assert office["C"].knowledge("Projects").versions == office["D"].knowledge("Projects").versions


def test_a_mail_full_of_deletions_can_be_encoded() -> None:
    """What is packed into a mail can be encoded and read, so no cycle fails for ever (spec: OUT-3, HI-6)."""
    guid = b"g" * 16
    folder = ChangeNumber(guid, 1).to_xid()
    numbers = [ChangeNumber(guid, index) for index in range(2, 70_000)]
    deletions = [Update(Version(number.to_xid(), number, Pcl.of(number), 1, None)) for number in numbers]
    for mail in split(deletions, 16 * 1024 * 1024, None, hierarchy=False):
        section = Section(folder, NumberSets.EMPTY)
        encode(
            ReplicationMail(MessageType.CONTENT, "A", guid, 0, 1, 1, "x@y.test", (section,), tuple(mail)),
            AUTHORITY.identity("A"),
        )


@pytest.mark.parametrize("act", [
    lambda node, now: node.post(now, "Projects", subject="\ud800"),
    lambda node, now: node.create_folder(now, "X", contacts=["\ud800"]),
    lambda node, now: node.create_folder(now, "X", contacts=["x"] * 70_000),
    lambda node, now: node.body("Projects", "junk"),
    lambda node, now: node.restore(now, b"junk"),
], ids=["subject", "contact", "contacts", "body", "restore"])  # fmt: skip
def test_each_mistake_of_a_user_is_a_node_error(act: Callable[..., object]) -> None:
    """Each mistake is one clear NodeError, and changes nothing (docs: node.errors)."""
    office = PostOffice()
    before = office["A"].knowledge("1-1"), office["A"].knowledge("Projects")
    with pytest.raises(NodeError):
        act(office["A"], office.at(1))
    assert (office["A"].knowledge("1-1"), office["A"].knowledge("Projects")) == before


def test_an_unsent_change_that_others_have_is_claimed_after_its_deletion() -> None:
    """All holders end with equal knowledge, and no store repeats a status (spec: CV-1, CN-7, ST-7)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("contacts: [kim@test.test]", "schedule: every 4 h"))
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    mails = office.cycle("A", office.at(4 * HOUR_MIN))
    deliver_all(office, mails, office.at(4 * HOUR_MIN), "C")  # lost on its way to B
    deliver_all(office, mails_to(office.cycle("A", office.at(STATUS_CHECK_MIN)), "B"), office.at(STATUS_CHECK_MIN))
    (entry,) = office["B"].backfill()
    due = entry.due_at
    office["A"].edit(due - 10, "Projects", message, subject="two")  # A-2, not broadcast yet: a response takes it to B
    office["C"].delete(due - 10, "Projects", message)  # C-1, which knows nothing of A-2
    deliver_all(office, mails_to(office.cycle("B", due), "A"), due)
    deliver_all(office, mails_to(office.cycle("A", due), "B"), due)
    assert [each.subject for each in office["B"].messages("Projects")] == ["two"]
    now = due + 4 * HOUR_US
    deliver_all(office, office.cycle("C", now), now)  # the deletion comes to A before A's own cycle
    for hours in range(0, 20 * 24, 3):
        office.run(now + hours * HOUR_US)
    assert {office[name].knowledge("Projects").numbers for name in "ABC"} == {office["B"].knowledge("Projects").numbers}


def test_a_changed_schedule_sends_what_waited() -> None:
    """A directory value applies from the next read: changes held back by "never" go with the new schedule's cycles (spec:
    SE-1, OUT-1)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Schedule: never}\n")
    office["A"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(15))
    office["A"].configure(office.at(16), {"Replication Schedule": "always"})
    for hours in range(1, 4 * 24, 3):
        office.run(office.at(hours * HOUR_MIN))
    assert [len(office[name].messages("Projects")) for name in "ABC"] == [1, 1, 1]
