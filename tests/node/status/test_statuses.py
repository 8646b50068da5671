"""Statuses and status requests: when they are sent, to which stores, and which stores answer (spec: section 7, RP-1, RP-3)."""

from __future__ import annotations

import pytest

from node.errors import Misuse
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice
from tests.support.topologies import THREE_STORES_AND_CONTACT
from traces.events import MailSubmitted

NEW_STORE = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {}, E: {joins: later}}
folders:
  Projects: {replicas: [A, B]}
"""


def mails(office: PostOffice, kind: int, node: str | None = None) -> list[MailSubmitted]:
    found = [event for event in office.events if isinstance(event, MailSubmitted) and event.message_type == kind]
    return [event for event in found if node is None or event.node == node]


def test_a_status_goes_at_the_first_check_24_hours_after_the_last_update() -> None:
    """Checks run at 00:15 and 12:15 UTC; a folder must be quiet for 24 hours, so it can take up to 36 (spec: ST-1, TM-2)."""
    office = PostOffice()
    office["A"].post(office.at(20), "Projects", subject="at 00:20")
    office.run(office.at(30))
    for check in (12 * HOUR_MIN + 15, 24 * HOUR_MIN + 15):
        office.run(office.at(check))
        assert mails(office, 0x10) == []
    office.run(office.at(36 * HOUR_MIN + 14))
    assert mails(office, 0x10) == []
    office.run(office.at(36 * HOUR_MIN + 15))
    assert sorted(event.node for event in mails(office, 0x10)) == ["A", "B", "C"]
    assert {event.at for event in mails(office, 0x10)} == {office.at(36 * HOUR_MIN + 15)}
    for check in (48 * HOUR_MIN + 15, 60 * HOUR_MIN + 15, 72 * HOUR_MIN + 15):
        office.run(office.at(check))
    assert len(mails(office, 0x10)) == 3, "once for an update, and a healthy organization repeats nothing"


def test_each_update_resets_the_24_hours() -> None:
    """The status waits for 24 hours without any update (spec: ST-1)."""
    office = PostOffice()
    for hour in range(0, 60, 10):
        office["A"].post(office.at(hour * HOUR_MIN + 1), "Projects", subject=f"hour {hour}")
        office.run(office.at(hour * HOUR_MIN + 15))
    office.run(office.at(72 * HOUR_MIN + 15))
    assert mails(office, 0x10) == [], "the last update is 22 hours old at the check"
    office.run(office.at(84 * HOUR_MIN + 15))
    assert len(mails(office, 0x10)) == 3


def test_the_status_skew_moves_the_checks() -> None:
    """A skew of 14,400 s puts the checks at 04:00 and 16:00 (spec: ST-1)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Send Status Alignment Skew: 14400}\n")
    office["A"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(15))
    office.run(office.at(4 * HOUR_MIN))
    office.run(office.at(16 * HOUR_MIN))
    office.run(office.at(28 * HOUR_MIN - 1))
    assert mails(office, 0x10) == []
    office.run(office.at(28 * HOUR_MIN))
    assert len(mails(office, 0x10)) == 3


def test_a_check_missed_while_stopped_is_made_at_start() -> None:
    """A status check that came due while the store was stopped is made when it starts (spec: ST-1)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(15))
    office["A"].close(office.at(20))
    office["A"].open(office.at(40 * HOUR_MIN))
    office.run(office.at(40 * HOUR_MIN), "A")
    assert [event.at for event in mails(office, 0x10, "A")] == [office.at(40 * HOUR_MIN)]
    assert len(office.of_type("status.missed")) == 1


def test_a_lost_status_is_repeated_and_what_it_says_is_backfilled() -> None:
    """A lost status delays but loses nothing: the store repeats it to each holder whose row lacks something (spec: ST-7,
    ST-5)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="lost twice")
    office.cycle("A", office.at(15))  # the broadcast is lost
    office.cycle("A", office.at(36 * HOUR_MIN + 15))  # the status is lost
    assert office["B"].backfill() == []
    office.run(office.at(48 * HOUR_MIN + 15))
    assert office["B"].backfill() == []
    office.run(office.at(60 * HOUR_MIN + 15))
    (entry,) = office["B"].backfill()
    assert entry.missing == "A-1"
    repeats = [event for event in mails(office, 0x10, "A") if "repeat" in event.marks]
    assert len(repeats) == 2
    office.run(office.at(72 * HOUR_MIN))
    assert [message.subject for message in office["C"].messages("Projects")] == ["lost twice"]


def test_latency_alone_causes_no_repeat() -> None:
    """A healthy organization sends no repeats, though a holder's check can come half a day after the sender's (spec: ST-7)."""
    office = PostOffice()
    office["A"].post(office.at(0), "Projects", subject="x")
    mails_out = office.cycle("A", office.at(15))
    for mail in mails_out:
        office.deliver(mail, office.at(15.01))
    for hour in range(12, 120, 12):
        office.run(office.at(hour * HOUR_MIN + 15))
    assert not [event for event in mails(office, 0x10) if "repeat" in event.marks]


def test_without_repeats_a_lost_status_is_lost_as_in_exchange() -> None:
    """A setting turns repeats off, to show what happens without them (spec: ST-7)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Repeat Status: 0}\n")
    office["A"].post(office.at(1), "Projects", subject="lost for good")
    office.cycle("A", office.at(15))
    office.cycle("A", office.at(36 * HOUR_MIN + 15))
    for hour in range(48, 240, 12):
        office.run(office.at(hour * HOUR_MIN + 15))
    assert office["B"].messages("Projects") == []


def test_a_changed_replica_list_makes_every_holder_ask_all_holders() -> None:
    """Each holder requests the status of a folder when it applies a change of the folder's replica list (spec: ST-3, RP-1)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("[A, B, C]", "[A, B]"))
    office["A"].post(office.at(1), "Projects", subject="old")
    office.run(office.at(15))
    office["B"].change_folder(office.at(16), "Projects", replicas=["A", "B", "C"])
    office.run(office.at(30))
    assert office["C"].messages("Projects") == [], "the empty replica is visible at once"
    office.run(office.at(45))
    assert sorted({event.node for event in mails(office, 0x20)}) == ["A", "B", "C"]
    (entry,) = office["C"].backfill()
    assert entry.missing == "A-1"
    answers = {event.node for event in mails(office, 0x10)}
    assert answers == {"A", "B"}, "those answer that have what C lacks"
    office.run(entry.due_at)
    assert [message.subject for message in office["C"].messages("Projects")] == ["old"]


def test_a_request_that_lacks_nothing_gets_no_answer() -> None:
    """A store answers only if the requester's row lacks something that the store has (spec: ST-2)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("[A, B, C]", "[A, B]"))
    office["A"].change_folder(office.at(1), "Projects", replicas=["A", "B", "C"])
    for minutes in (15, 30, 45):
        office.run(office.at(minutes))
    assert len(mails(office, 0x20)) == 3
    assert mails(office, 0x10) == []


def test_requests_of_one_cycle_to_the_same_stores_go_in_one_mail() -> None:
    """Status requests of one cycle to the same stores are packed into one mail (spec: ST-3)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "  X: {replicas: [A, B]}\n  Y: {replicas: [A, B]}\n")
    for path in ("X", "Y"):
        office["A"].change_folder(office.at(1), path, replicas=["A", "B", "C"])
    for minutes in (15, 30):
        office.run(office.at(minutes))
    by_c = mails(office, 0x20, "C")
    assert [len(event.folders) for event in by_c] == [2]


def test_a_new_store_gets_the_hierarchy_and_then_its_replicas() -> None:
    """A new store asks all stores for 1-1, backfills it, then each content replica (spec: RP-3)."""
    office = PostOffice(NEW_STORE)
    office["A"].post(office.at(1), "Projects", subject="old")
    office.run(office.at(15))
    now = office.at(20)
    office.join("E", now)
    office.run(now)
    (request,) = mails(office, 0x20)
    assert (request.node, request.folders[0].folder, len(request.recipients)) == ("E", "1-1", 2)
    (entry,) = office["E"].backfill()
    assert (entry.path, entry.missing) == ("1-1", "Setup-1")
    office.run(entry.due_at)
    assert [folder.path for folder in office["E"].folders()] == ["Projects"]
    office["A"].change_folder(office.at(10 * HOUR_MIN), "Projects", replicas=["A", "B", "E"])
    office.run(office.at(10 * HOUR_MIN + 15))
    office.run(office.at(10 * HOUR_MIN + 30))
    entry = next(each for each in office["E"].backfill() if each.path == "Projects")
    office.run(entry.due_at)
    assert [message.subject for message in office["E"].messages("Projects")] == ["old"]


def test_registry_values_hold_at_the_next_start_and_directory_values_at_once() -> None:
    """A store reads registry values at its start, and directory values at its next read of the directory (spec: SE-1)."""
    office = PostOffice()
    office["A"].configure(
        office.at(1), {"Replication Send Status Timeout": "1 h", "Replication Always Interval": "5 min"}
    )
    office["A"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(5))
    assert len(office["B"].messages("Projects")) == 1
    office.run(office.at(12 * HOUR_MIN + 15))
    assert mails(office, 0x10) == []
    office["A"].close(office.at(13 * HOUR_MIN))
    office["A"].open(office.at(13 * HOUR_MIN))
    office.run(office.at(24 * HOUR_MIN + 15))
    assert [event.node for event in mails(office, 0x10)] == ["A", "B", "C"]
    with pytest.raises(Misuse, match="is not a setting"):
        office["A"].configure(office.at(25 * HOUR_MIN), {"Nonsense": 1})
