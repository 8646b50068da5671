"""Backup and restore, and when tombstones are dropped (spec: RP-4, DL-4)."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from node.errors import Crashed, Misuse
from node.state.database import Database
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice, deliver_all
from tests.support.topologies import THREE_STORES_AND_CONTACT

DAY = 24 * 60


def subjects(office: PostOffice, name: str) -> list[str]:
    return sorted(message.subject for message in office[name].messages("Projects"))


def test_a_restored_store_takes_a_new_guid_and_gets_its_own_changes_back() -> None:
    """It requests statuses and gets the changes that it made after the backup back from others (spec: RP-4, ST-3)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="before")
    office.run(office.at(15))
    backup = office["A"].backup()
    office["A"].post(office.at(16), "Projects", subject="after, broadcast")
    office.run(office.at(30))
    office["A"].abandon()
    office["A"].restore(office.at(31), backup)
    assert subjects(office, "A") == ["before"]
    office.run(office.at(31))
    (entry,) = office["A"].backfill()
    assert entry.missing == "A-2"
    office["A"].post(office.at(32), "Projects", subject="anew")
    office.run(office.at(45))
    office.run(entry.due_at)
    for name in "ABC":
        assert subjects(office, name) == ["after, broadcast", "anew", "before"]
        assert office[name].knowledge("Projects").numbers == office["A"].knowledge("Projects").numbers
    assert "A.2-1" in [message.number for message in office["B"].messages("Projects")]
    assert all(office[name].backfill() == [] for name in "ABC")


def test_unsent_changes_of_the_backup_are_sent() -> None:
    """A change that was not broadcast at the time of the backup is sent after the restore, under its old number (spec: RP-4,
    DU-1)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="unsent at the backup")
    backup = office["A"].backup()
    office["A"].abandon()
    office["A"].restore(office.at(2), backup)
    office.run(office.at(15))
    here, there = office["A"].messages("Projects"), office["B"].messages("Projects")
    assert [message.number for message in here] == ["A-1"]
    assert [message.change for message in there] == [message.change for message in here]
    assert subjects(office, "C") == ["unsent at the backup"]


def test_a_restored_store_asks_for_nothing_that_its_backup_has() -> None:
    """A change that was unsent at the backup and broadcast later is in others' rows, and is not missing here (spec: BF-1,
    RP-4)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="unsent at the backup")
    backup = office["A"].backup()
    office.run(office.at(15))
    office["A"].abandon()
    office["A"].restore(office.at(16), backup)
    deliver_all(office, office.take("A", office.at(16)), office.at(16))  # before A's broadcast, which is overdue
    answers = office.cycle("B", office.at(16)) + office.cycle("C", office.at(16))
    deliver_all(office, answers, office.at(16))
    assert office["A"].backfill() == []
    office.run(office.at(16))
    assert office["A"].knowledge("Projects").numbers == office["B"].knowledge("Projects").numbers
    office.run(office.at(30))
    assert all(office[name].backfill() == [] for name in "ABC")


def test_what_an_unsent_change_of_the_backup_replaced_is_not_asked_for_either() -> None:
    """The edit of a version that was never sent accounts for that version's number too (spec: CN-7, BF-1, RP-4)."""
    office = PostOffice()
    message = office["A"].post(office.at(1), "Projects", subject="first").id
    office["A"].edit(office.at(2), "Projects", message, subject="second")
    backup = office["A"].backup()
    office.run(office.at(15))
    office["A"].abandon()
    office["A"].restore(office.at(16), backup)
    deliver_all(office, office.take("A", office.at(16)), office.at(16))
    deliver_all(office, office.cycle("B", office.at(16)) + office.cycle("C", office.at(16)), office.at(16))
    assert office["A"].backfill() == []


def test_a_restored_store_asks_until_it_has_heard_what_others_have() -> None:
    """The rows of the backup may equal the store's own, although the others have later changes of this store. So its status
    requests are repeated until each required responder has answered (spec: ST-7, RP-4)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="before")
    office.run(office.at(15))
    office.run(office.at(48 * HOUR_MIN))
    backup = office["A"].backup()
    office["A"].post(office.at(48 * HOUR_MIN + 1), "Projects", subject="after")
    office.run(office.at(48 * HOUR_MIN + 15))
    office["A"].abandon()
    office["A"].restore(office.at(49 * HOUR_MIN), backup)
    lost = office.cycle("A", office.at(49 * HOUR_MIN))
    assert {mail[1].next_hop for mail in lost} == {"B", "C"}
    office.run(office.at(60 * HOUR_MIN + 15))
    assert [entry.missing for entry in office["A"].backfill()] == ["A-2"]


def test_unsent_changes_newer_than_the_backup_are_reported_lost() -> None:
    """Unsent changes newer than the backup are lost with the restore, and an event names them (spec: RP-4, DU-1)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="in the backup, unsent")
    backup = office["A"].backup()
    office.run(office.at(15))
    office["A"].post(office.at(16), "Projects", subject="broadcast")
    office.run(office.at(30))
    lost = office["A"].post(office.at(31), "Projects", subject="unsent").id
    office["A"].change_folder(office.at(31), "Projects", rename="Plans")
    numbers = {event.object: event.number for event in office.of_type("change.made")}  # type: ignore[attr-defined]
    folder = office["A"].folders()[0].id
    office["A"].abandon()
    office["A"].restore(office.at(32), backup)
    told = {event.folder: event.cnset for event in office.of_type("loss")}  # type: ignore[attr-defined]
    assert (told[folder], told["1-1"]) == (numbers[lost], numbers[folder])


def test_restoring_a_newer_backup_recovers_changes_of_an_older_one() -> None:
    """A change is not lost if it was unsent in the store restored from an old backup and is in the newer backup (RP-4)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="in both backups")
    older = office["A"].backup()
    office.run(office.at(15))
    newer = office["A"].backup()
    for minute, backup in ((16, older), (17, newer)):
        office["A"].abandon()
        office["A"].restore(office.at(minute), backup)
    assert office.of_type("loss") == []


def test_a_change_that_the_newer_backup_has_replaced_is_not_reported_lost() -> None:
    """A change that was unsent after the restore of an older backup is not lost if a deletion replaced it in the newer backup
    (spec: RP-4, DU-1)."""
    office = PostOffice()
    message = office["A"].post(office.at(1), "Projects", subject="in both backups").id
    older = office["A"].backup()
    office["A"].delete(office.at(2), "Projects", message)
    newer = office["A"].backup()
    deletion = office.of_type("tombstone.made")[0].number  # type: ignore[attr-defined]
    for minute, backup in ((3, older), (4, newer)):
        office["A"].abandon()
        office["A"].restore(office.at(minute), backup)
    assert [event.cnset for event in office.of_type("loss")] == [deletion]  # type: ignore[attr-defined]
    assert subjects(office, "A") == []


def test_without_a_new_guid_numbers_are_reissued() -> None:
    """A setting keeps the old GUID, to show a class what goes wrong (spec: RP-4)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {New Replica GUID On Restore: 0}\n")
    backup = office["A"].backup()
    office["A"].post(office.at(1), "Projects", subject="first A-1")
    office.run(office.at(15))
    office["A"].abandon()
    office["A"].restore(office.at(16), backup)
    office["A"].post(office.at(17), "Projects", subject="second A-1")
    office.run(office.at(30))
    assert subjects(office, "A") == ["second A-1"]
    numbers = {message.change for message in office["B"].messages("Projects")}
    assert len(numbers) == 1, "two messages with one change number"


def test_the_trace_goes_on_without_a_gap_after_a_restore() -> None:
    """Sequence numbers and incarnations belong to the run; a restore does not set them back (spec: section 16)."""
    office = PostOffice()
    backup = office["A"].backup()
    office["A"].post(office.at(1), "Projects", subject="x")
    office["A"].abandon()
    office["A"].restore(office.at(2), backup)
    mine = [event for event in office.events if event.node == "A"]
    assert [event.seq for event in mine] == list(range(1, len(mine) + 1))
    assert mine[-1].incarnation == 2


def test_a_tombstone_goes_when_it_is_old_and_every_holder_knows_it() -> None:
    """A store drops a tombstone past its age once every holder has since said that it has its number (spec: DL-4)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Folder Tombstone Age Limit: 3}\n")
    message = office["A"].post(office.at(1), "Projects", subject="x").id
    office.run(office.at(15))
    office["A"].delete(office.at(16), "Projects", message)
    office.run(office.at(30))
    for half_day in range(1, 14):
        office.run(office.at(half_day * 12 * HOUR_MIN + 15))
        if half_day == 5:
            assert office["B"].knowledge("Projects").tombstones == (message,), "too young"
        if half_day == 8:
            assert office["B"].knowledge("Projects").tombstones == (message,), "nobody has said anything since"
            office["A"].post(office.at(half_day * 12 * HOUR_MIN + 16), "Projects", subject="y")
    for name in "ABC":
        assert office[name].knowledge("Projects").tombstones == ()
        assert len(office[name].messages("Projects")) == 1
    assert len(office.of_type("tombstone.dropped")) == 3


@pytest.mark.parametrize(("by_age", "kept"), [(0, True), (1, False)])
def test_a_tombstone_that_a_holder_may_not_know_is_kept(by_age: int, kept: bool) -> None:
    """Dropping by age alone, as Exchange does, is too early; the store waits until all holders know the tombstone (spec:
    DL-4)."""
    text = f"settings: {{Replication Folder Tombstone Age Limit: 3, Drop Tombstones By Age Alone: {by_age}}}\n"
    office = PostOffice(THREE_STORES_AND_CONTACT + text)
    message = office["A"].post(office.at(1), "Projects", subject="x").id
    office.run(office.at(15))
    office["C"].abandon()
    office["A"].delete(office.at(16), "Projects", message)
    for half_day in range(1, 12):
        now = office.at(half_day * 12 * HOUR_MIN + 15)
        for name in "AB":
            for mail in office.cycle(name, now):
                if mail[1].next_hop != "C":
                    office.deliver(mail, now)
    assert (office["A"].knowledge("Projects").tombstones == (message,)) is kept


def test_a_backup_older_than_a_tombstone_is_not_restored() -> None:
    """A backup older than the tombstone age would bring deleted items back, so the store begins as new (spec: DL-4, RP-3)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Folder Tombstone Age Limit: 3}\n")
    office["A"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(15))
    backup = office["C"].backup()
    office["C"].abandon()
    late = office.at(5 * DAY)
    office["C"].restore(late, backup)
    assert office["C"].folders() == []
    office.run(late)
    for hours in (7, 14, 21, 28, 35, 42, 49, 56, 63, 70):
        office.run(late + hours * HOUR_MIN * 60_000_000)
    assert subjects(office, "C") == ["x"]


def test_the_shortest_tombstone_age_of_all_stores_counts() -> None:
    """Another store with a shorter age may have dropped a tombstone that this backup never knew (spec: DL-4)."""
    office = PostOffice(
        THREE_STORES_AND_CONTACT.replace(
            "A: {site: SEA}", "A: {site: SEA, settings: {Replication Folder Tombstone Age Limit: 3}}"
        )
    )
    backup = office["C"].backup()
    office["C"].abandon()
    office["C"].restore(office.at(5 * DAY), backup)
    assert office["C"].folders() == []


def test_tables_of_another_version_are_refused(tmp_path: Path) -> None:
    """A database with tables of another version is refused in one line and is not changed (spec: IN-2)."""
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE store_state (name TEXT)")
        other.execute("PRAGMA user_version = 7")
        other.commit()
    with pytest.raises(Misuse, match="made by another version of pflab"):
        Database(path, "normal").open()
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("store_state",)]
        assert other.execute("PRAGMA user_version").fetchone() == (7,)


def test_a_restore_that_is_killed_in_the_middle_reissues_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill at any instruction loses nothing, and no counter is ever reused (spec: CN-1, RP-4)."""
    office = PostOffice()
    node = office["A"]
    node.post(office.at(1), "Projects", subject="1")
    office.run(office.at(15))
    backup = node.backup()
    node.post(office.at(16), "Projects", subject="2")
    office.run(office.at(30))
    node.close(office.at(31))

    def killed(*_: object) -> None:
        raise Crashed("killed")

    with monkeypatch.context() as patch, suppress(Crashed):
        patch.setattr(node, "_start", killed)
        node.restore(office.at(40), backup)
    node.abandon()
    node.reopen(office.at(41))
    node.post(office.at(42), "Projects", subject="3")
    for hours in range(1, 5 * 24, 6):
        office.run(office.at(42 + hours * HOUR_MIN))
    for name in "ABC":
        assert sorted(each.subject for each in office[name].messages("Projects")) == ["1", "2", "3"]


def test_a_restored_store_that_crashes_at_its_start_still_requests_statuses() -> None:
    """A restored store requests the status of 1-1 and of its replicas at its start (spec: RP-4, ST-3)."""
    office = PostOffice()
    node = office["A"]
    node.post(office.at(1), "Projects", subject="1")
    office.run(office.at(15))
    backup = node.backup()
    node.close(office.at(31))
    node.crash_at = "before commit"
    with pytest.raises(Crashed):
        node.restore(office.at(40), backup)
    node.abandon()
    node.reopen(office.at(41))
    subjects = {mail[1].subject for mail in office.cycle("A", office.at(45))}
    assert "Folder Status Request" in subjects


def test_a_restore_reports_its_losses_although_the_first_start_fails() -> None:
    """The first start that succeeds reports the lost changes, once, also if the process died before or another backup was
    restored since (spec: RP-4, DU-1)."""
    office = PostOffice()
    node = office["A"]
    backup = node.backup()
    node.post(office.at(1), "Projects", subject="gone")
    node.close(office.at(31))
    for _ in range(2):
        node.crash_at = "before commit"
        with pytest.raises(Crashed):
            node.restore(office.at(40), backup)
        node.abandon()
    node.reopen(office.at(41))
    node.close(office.at(42))
    node.open(office.at(43))
    losses = list(office.of_type("loss"))
    assert [(event.node, event.cnset.rpartition(":")[2]) for event in losses] == [("A", "1")]  # type: ignore[attr-defined]


@pytest.mark.parametrize("later", [2, 200 * DAY])
def test_a_restore_does_not_restore_settings(later: int) -> None:
    """Settings are in the registry and the directory, not in the store: the present ones apply after a restore (spec: SE-1,
    RP-4)."""
    office = PostOffice()
    office["A"].configure(office.at(1), {"Age Limit": "3 d"})
    backup = office["A"].backup()
    office["A"].configure(office.at(2), {"Age Limit": "5 d"})
    office["A"].close(office.at(later))
    office["A"].restore(office.at(later), backup)
    assert office["A"].settings().text("Age Limit") == "5 d"
