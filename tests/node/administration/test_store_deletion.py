"""Deleting a store from the directory, and creating it again (spec: RP-6, RP-7)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from node.errors import Misuse, NoReplicaHere
from node.state.database import Database
from node.state.directory import Stamp, StoreObject
from tests.support.clock import HOUR_MIN, STATUS_CHECK_MIN
from tests.support.post_office import PostOffice, deliver_all
from tests.support.topologies import THREE_STORES_AND_CONTACT
from traces.events import AddressStamped, Loss, NodeStarted, StoreDeleted

ONLY = THREE_STORES_AND_CONTACT + "  Alone: {replicas: [C]}\n"


def test_a_store_that_holds_replicas_is_not_deleted() -> None:
    """A store that still has folder instances is not deleted from the directory (spec: RP-6)."""
    office = PostOffice(ONLY)
    with pytest.raises(Misuse, match="holds replicas of Alone, Projects"):
        office["A"].delete_store(office.at(1), "C")
    with pytest.raises(Misuse, match="store Z is not in the directory"):
        office["A"].delete_store(office.at(1), "Z")
    with pytest.raises(Misuse, match="cannot delete itself"):
        office["A"].delete_store(office.at(1), "A")


def test_a_store_without_replicas_is_deleted() -> None:
    """A store that is off all lists can be deleted, and no store writes to it any more (spec: RP-6)."""
    office = PostOffice()
    office["A"].change_folder(office.at(1), "Projects", replicas=["A", "B"])
    for minutes in (15, 30):
        office.run(office.at(minutes))
    office["A"].delete_store(office.at(31), "C")
    office["B"].left(office.at(31), "C")
    office.running.remove("C")
    office["A"].post(office.at(32), "Projects", subject="x")
    mails = office.cycle("A", office.at(45))
    assert {mail[1].next_hop for mail in mails} == {"B"}
    assert {row.store for row in office["A"].state("1-1").rows} == {"A", "B"}


def removed_by_force(told: Sequence[str] = ("A", "B")) -> PostOffice:
    """Only C has its post, as A and B know. C is gone, and A deletes it by force, of which these stores hear."""
    office = PostOffice(ONLY)
    office["C"].post(office.at(1), "Projects", subject="only there")
    office.cycle("C", office.at(15))
    deliver_all(office, office.cycle("C", office.at(STATUS_CHECK_MIN)), office.at(STATUS_CHECK_MIN))
    assert [entry.missing for entry in office["A"].backfill()] == ["C-1"]
    office["C"].close(office.at(STATUS_CHECK_MIN + 1))
    office.running.remove("C")
    office["A"].delete_store(office.at(STATUS_CHECK_MIN + 2), "C", force=True)
    if "B" in told:
        office["B"].left(office.at(STATUS_CHECK_MIN + 2), "C")
        for minutes in (15, 30):
            office.run(office.at(STATUS_CHECK_MIN + minutes))
    return office


def test_a_forced_removal_takes_it_off_all_lists_and_tells_what_is_lost() -> None:
    """Hierarchy changes take the store off all replica lists, its rows go, and what only it had is reported lost (spec:
    RP-6)."""
    office = removed_by_force()
    for name in "AB":
        lists = {view.path: view.replicas for view in office[name].folders()}
        assert lists == {"Projects": ("A", "B"), "Alone": ()}
        assert {row.store for row in office[name].state("Projects").rows} == {"A", "B"}
        assert office[name].backfill() == []
    losses = [event for event in office.events if isinstance(event, Loss)]
    assert {(event.node, event.reason) for event in losses} == {
        (name, "only C had it, which was deleted") for name in "AB"
    }
    with pytest.raises(NoReplicaHere, match="holders are: none"):
        office["A"].post(office.at(STATUS_CHECK_MIN + 60), "Alone", subject="x")


def test_what_the_deleted_store_still_sends_is_bad_mail() -> None:
    """A store that is not in the directory does not belong to the organization, so its mail is bad mail (spec: RP-6, IN-5)."""
    office = PostOffice()
    office["C"].post(office.at(1), "Projects", subject="too late")
    mails = office.cycle("C", office.at(15))
    office["A"].delete_store(office.at(16), "C", force=True)
    deliver_all(office, mails, office.at(17), "A")
    assert office["A"].messages("Projects") == []
    assert len(office["A"].bad_mail()) == 1


def test_a_mail_that_waits_for_its_folder_outlives_the_deletion_of_its_sender() -> None:
    """Content that arrived while its sender was in the directory is applied when its folder arrives (HI-4, RP-6)."""
    office = PostOffice()
    office["C"].create_folder(office.at(1), "News", replicas=["A", "B", "C"])
    deliver_all(office, office.cycle("C", office.at(15)), office.at(15), "B")  # the hierarchy's mail to A is lost
    office["C"].post(office.at(16), "News", subject="the last word")
    deliver_all(office, office.cycle("C", office.at(30)), office.at(30))
    assert "News" not in [view.path for view in office["A"].folders()]
    office["C"].close(office.at(31))
    office.running.remove("C")
    office["B"].delete_store(office.at(32), "C", force=True)
    office["A"].left(office.at(32), "C")
    office.run(office.at(45))
    assert [message.subject for message in office["A"].messages("News")] == ["the last word"]


def test_an_orphan_left_in_a_list_is_asked_for_ever() -> None:
    """Stores go on asking a deleted store that was left in a list, after each retry time-out (spec: RP-6, BF-2, BF-4)."""
    office = PostOffice(ONLY)
    office["C"].post(office.at(1), "Projects", subject="only there")
    office.cycle("C", office.at(15))
    deliver_all(office, office.cycle("C", office.at(STATUS_CHECK_MIN)), office.at(STATUS_CHECK_MIN), "A")
    office["C"].close(office.at(STATUS_CHECK_MIN + 1))
    office.running.remove("C")
    due = []
    for _ in range(5):
        (entry,) = office["A"].backfill()
        due.append((entry.due_at - office.start) / (HOUR_MIN * 60_000_000))
        office.cycle("A", entry.due_at)
    assert [round(later - earlier) for earlier, later in pairwise(due)] == [12, 24, 24, 24]


def test_a_store_that_has_not_left_its_folder_yet_is_not_deleted() -> None:
    """A store that is off the list but waits for another store to have all of its data still has a replica. A forced deletion
    reports its data as lost (spec: RP-6, RP-2)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("[A, B, C]", "[A, C]"))
    office["C"].post(office.at(1), "Projects", subject="only there")
    office.cycle("C", office.at(15))  # lost
    office["A"].change_folder(office.at(16), "Projects", replicas=["A"])
    office.run(office.at(30))
    with pytest.raises(Misuse, match="holds replicas of Projects"):
        office["A"].delete_store(office.at(31), "C")
    office["A"].delete_store(office.at(32), "C", force=True)
    assert [event.node for event in office.events if isinstance(event, Loss)] == ["A"]


def test_a_store_that_heard_of_neither_deletion_nor_creation_forgets_the_old_object_first() -> None:
    """A store that did not run meanwhile deletes the old object with its rows, before it enters the new one (spec: RP-7)."""
    office = removed_by_force(told=("A",))
    before = len(office.events)
    office["B"].enter(office.at(STATUS_CHECK_MIN + 60), "C", StoreObject((Stamp("contoso.test", 0),), number=1))
    news = [event for event in office.events[before:] if isinstance(event, StoreDeleted | Loss | AddressStamped)]
    assert [type(event) for event in news] == [StoreDeleted, Loss, AddressStamped]
    office["B"].enter(office.at(STATUS_CHECK_MIN + 61), "C", StoreObject((Stamp("contoso.test", 0),), number=1))
    assert not [event for event in office.events[before + len(news) :] if isinstance(event, StoreDeleted)]


def test_a_created_store_is_empty_and_has_another_guid() -> None:
    """A store that is created again begins as new: without folders, and with a new replica GUID (spec: RP-7, CN-1)."""
    office = removed_by_force()
    now = office.at(STATUS_CHECK_MIN + 60)
    office["C"].restore(now, Database.of_new_store("C", 1, now))
    started = [event for event in office.events if isinstance(event, NodeStarted) and event.node == "C"]
    assert [event.reason for event in started] == ["first", "first"]
    assert started[0].replica_guid != started[1].replica_guid
    assert [folder.path for folder in office["C"].folders()] == []
    assert not [event for event in office.events if isinstance(event, Loss) and event.node == "C"]
