"""The replication status of folders, computed from the rows of the replication state table (spec: RST-3)."""

from __future__ import annotations

from node.store.node import Node
from node.views import SyncState
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice, deliver_all, mails_to
from tests.support.topologies import TWO_STORES
from traces.labtime import MINUTE_US

CHECK_MIN = 36 * HOUR_MIN + 15
"""The first status check at which a change of the first minutes is 24 hours old."""


def shown(node: Node, folder: str = "Projects") -> dict[str, str]:
    """Return the status of each replica; delete-pending replicas are marked."""
    (status,) = node.replication_status(folder)
    return {each.store: f"{each.sync}{', pending' if each.pending else ''}" for each in status.replicas}


def test_a_store_is_modified_until_the_others_have_reported_its_change() -> None:
    """RST-3, RST-2: the table of the module. A shows B as behind until B reports, although B has everything."""
    office = PostOffice(TWO_STORES)
    assert shown(office["A"]) == {"A": "in sync", "B": "in sync"}
    office["A"].post(office.at(1), "Projects", subject="x")
    assert shown(office["A"]) == {"A": "locally modified", "B": "in sync"}
    assert office["A"].replication_status("Projects")[0].unsent == "A-1"
    mails = office.cycle("A", office.at(15))
    assert shown(office["A"]) == {"A": "locally modified", "B": "behind"}
    deliver_all(office, mails, office.at(16))
    assert shown(office["B"]) == {"B": "in sync", "A": "in sync"}
    office.run(office.at(CHECK_MIN))
    assert shown(office["A"]) == {"A": "in sync", "B": "in sync"}


def test_a_store_that_knows_that_it_lacks_something_is_behind() -> None:
    """RST-3: behind names what is missing; received_at and transmission_us describe the mails of the other store."""
    office = PostOffice(TWO_STORES)
    office["A"].post(office.at(1), "Projects", subject="lost", associated=True)
    office.cycle("A", office.at(15))  # the broadcast is lost
    office["A"].post(office.at(16), "Projects", subject="second")
    deliver_all(office, office.cycle("A", office.at(30)), office.at(32))
    (status,) = office["B"].replication_status("Projects")
    own, other = status.replicas
    assert (own.store, own.sync, own.missing, own.missing_fai) == ("B", SyncState.BEHIND, "", "A-1")
    assert (own.received_at, own.transmission_us) == (None, None)
    assert (other.store, other.sync, other.missing) == ("A", SyncState.LOCALLY_MODIFIED, "")
    assert (other.received_at, other.transmission_us) == (office.at(32), 2 * MINUTE_US)


def test_a_new_replica_has_not_heard_yet() -> None:
    """RST-3: a replica that no mail has reached is not in sync, though no row shows that it lacks anything."""
    office = PostOffice("servers: {A: , B: , C: }\nfolders: {Projects: {replicas: [A, B]}}\n")
    office["A"].change_folder(office.at(1), "Projects", replicas=["A", "B", "C"])
    hierarchy, *statuses = mails_to(office.cycle("A", office.at(15)), "C")
    office.deliver(hierarchy, office.at(15))
    assert shown(office["C"]) == {"C": "not yet heard", "A": "not yet heard", "B": "not yet heard"}
    assert shown(office["A"]) == {"A": "in sync", "B": "in sync", "C": "not yet heard"}
    deliver_all(office, statuses, office.at(15))
    assert shown(office["C"]) == {"C": "in sync", "A": "in sync", "B": "not yet heard"}
    assert [each.path for each in office["C"].replication_status()] == ["1-1", "Projects"]


def test_a_replica_that_waits_to_be_dropped_is_pending_at_both_ends() -> None:
    """RP-2: the leaving store and a holder that lacks some of its changes show the replica as delete-pending."""
    office = PostOffice(TWO_STORES)
    office["A"].post(office.at(1), "Projects", subject="lost")
    office.cycle("A", office.at(15))
    office["A"].change_folder(office.at(16), "Projects", replicas=["B"])
    office.run(office.at(30))
    assert shown(office["A"]) == {"A": "locally modified, pending", "B": "behind"}
    assert shown(office["B"]) == {"B": "behind", "A": "locally modified, pending"}
    assert [(each.path, each.pending, each.items) for each in office["A"].instances()] == [("Projects", True, 1)]
    assert [(each.path, each.pending, each.items) for each in office["B"].instances()] == [("Projects", False, 0)]
    office.run(office["B"].backfill()[0].due_at)
    assert office["A"].instances() == []
    assert office["A"].replication_status("Projects") == []
    assert shown(office["B"]) == {"B": "in sync"}


def test_the_statistics_of_a_replica() -> None:
    """AD-1: items and associated messages are counted apart; a message in conflict is one item; a deletion is a change."""
    office = PostOffice(TWO_STORES)
    assert [each.changed_at for each in office["A"].instances()] == [None]
    message = office["A"].post(office.at(1), "Projects", subject="x", body="b" * 5000).id
    office["A"].post(office.at(2), "Projects", subject="a view", associated=True)
    office.run(office.at(15))
    (before,) = office["A"].instances()
    assert (before.items, before.associated, before.changed_at) == (1, 1, office.at(2))
    assert before.size > 5000
    for name in "AB":
        office[name].edit(office.at(16), "Projects", message, subject=f"by {name}")
    office.run(office.at(30))
    (conflict,) = office["A"].instances()
    assert (conflict.items, conflict.size > before.size) == (1, True)
    office["A"].delete(office.at(31), "Projects", message)
    (after,) = office["A"].instances()
    assert (after.items, after.associated, after.changed_at) == (0, 1, office.at(31))
