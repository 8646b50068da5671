"""The folder tree on every store (spec: section 2)."""

from __future__ import annotations

import pytest

from node.errors import FolderExists, FolderUnknown, Misuse, NoReplicaHere
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice, deliver_all
from tests.support.topologies import LATE_STORE_AND_SHORT_TOMBSTONES, THREE_STORES_AND_CONTACT
from traces.labtime import HOUR_US
from transport.envelope import Transmission


def paths(office: PostOffice, name: str) -> list[str]:
    return [folder.path for folder in office[name].folders() if not folder.hidden]


def to(mails: list[tuple[str, Transmission]], store: str) -> list[tuple[str, Transmission]]:
    return [mail for mail in mails if mail[1].next_hop == store]


def test_every_store_has_the_whole_hierarchy_and_content_only_on_holders() -> None:
    """Hierarchy goes to every store of the tree, content to a folder's holders (spec: HI-1)."""
    office = PostOffice()
    office["A"].create_folder(office.at(1), "News", replicas=["A", "B"])
    office["A"].post(office.at(2), "News", subject="x")
    office.run(office.at(15))
    assert all(paths(office, name) == ["News", "Projects"] for name in "ABC")
    assert [len(office[name].messages("News")) for name in "ABC"] == [1, 1, 0]
    with pytest.raises(NoReplicaHere):
        office["C"].post(office.at(16), "News", subject="y")


def test_a_child_before_its_parent_waits_and_is_freed_by_it() -> None:
    """A hierarchy change whose parent is unknown waits in the queue, and its numbers are not missing (spec: HI-4, BF-2)."""
    office = PostOffice()
    office["A"].create_folder(office.at(1), "Top", replicas=["A"])
    parent = to(office.cycle("A", office.at(15)), "B")
    office["A"].create_folder(office.at(16), "Top/Child", replicas=["A", "B"])
    office["A"].post(office.at(17), "Top/Child", subject="content for a folder not yet known")
    child = to(office.cycle("A", office.at(30)), "B")
    for mail in child:
        office.deliver(mail, office.at(30))
    assert paths(office, "B") == ["Projects"]
    assert len(office.of_type("version.held")) == 1
    (entry,) = office["B"].backfill()
    assert entry.missing == "A-1", "the parent is missing, the child that waits is not"
    for mail in parent:
        office.deliver(mail, office.at(31))
    assert paths(office, "B") == ["Projects", "Top", "Top/Child"]
    assert [message.subject for message in office["B"].messages("Top/Child")] == ["content for a folder not yet known"]
    assert office["B"].backfill() == []


def test_what_waits_too_long_is_dropped_and_becomes_missing() -> None:
    """A change that expires in the queue is dropped, becomes missing and comes back by backfill (spec: HI-4)."""
    office = PostOffice()
    office["A"].create_folder(office.at(1), "Top", replicas=["A"])
    office.cycle("A", office.at(15))
    office["A"].create_folder(office.at(16), "Top/Child", replicas=["A"])
    for mail in to(office.cycle("A", office.at(30)), "B"):
        office.deliver(mail, office.at(30))
    office["B"].tick(office.at(30 + 7 * 24 * HOUR_MIN - 1))
    assert office.of_type("version.dropped") == []
    office["B"].tick(office.at(30 + 7 * 24 * HOUR_MIN))
    assert len(office.of_type("version.dropped")) == 1
    assert [entry.missing for entry in office["B"].backfill()] == ["A-1", "A-2"]


def test_content_for_an_unknown_folder_waits_four_hours() -> None:
    """Content for an unknown folder waits 4 hours and is then dropped (spec: HI-4)."""
    for hours, arrives in ((3, True), (5, False)):
        office = PostOffice()
        office["A"].create_folder(office.at(1), "News", replicas=["A", "B"])
        hierarchy = to(office.cycle("A", office.at(15)), "B")
        office["A"].post(office.at(16), "News", subject="early")
        for mail in to(office.cycle("A", office.at(30)), "B"):
            office.deliver(mail, office.at(30))
        office["B"].tick(office.at(30 + hours * HOUR_MIN))
        for mail in hierarchy:
            office.deliver(mail, office.at(30 + hours * HOUR_MIN))
        assert bool(office["B"].messages("News")) is arrives


def test_the_later_change_of_a_folder_wins_whole() -> None:
    """If two stores change a folder, the version with the later modification time wins, with its replica list (spec: HI-5)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("[A, B, C]", "[A, B]"))
    office["A"].change_folder(office.at(1), "Projects", replicas=["A", "B", "C"], rename="Early")
    office["B"].change_folder(office.at(2), "Projects", rename="Late")
    for minutes in (15, 30, 45):
        office.run(office.at(minutes))
    for name in "ABC":
        (folder,) = office[name].folders()
        assert (folder.path, folder.replicas) == ("Late", ("A", "B"))
        assert office[name].backfill() == []


def test_deleting_a_tree_takes_one_number_a_folder_and_one_mail() -> None:
    """Deleting a folder with subfolders takes one number for each folder and one mail, whatever they contain (spec: HI-6)."""
    office = PostOffice()
    for path in ("Top", "Top/A", "Top/A/B"):
        office["A"].create_folder(office.at(1), path, replicas=["A", "B"])
    office["A"].post(office.at(2), "Top/A", subject="gone with it")
    office.run(office.at(15))
    office["B"].delete_folder(office.at(16), "Top")
    mails = office.cycle("B", office.at(30))
    assert len({mail[1].message_id for mail in mails}) == 1
    for mail in mails:
        office.deliver(mail, office.at(30))
    assert all(paths(office, name) == ["Projects"] for name in "ABC")
    rows = {row.store: row.numbers for row in office["A"].state("1-1").rows}
    assert "B-1..3" in rows["A"]


def test_content_for_a_deleted_folder_is_dropped_and_never_held() -> None:
    """Content for a deleted folder is dropped at once, and no store requests it (spec: HI-6)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="too late")
    content = to(office.cycle("A", office.at(15)), "B")
    office["B"].delete_folder(office.at(16), "Projects")
    for mail in content:
        office.deliver(mail, office.at(17))
    office.run(office.at(30))
    assert all(paths(office, name) == [] for name in "ABC")
    assert all(office[name].backfill() == [] for name in "ABC")


def test_a_folder_created_under_a_deleted_one_is_hidden_until_it_moves() -> None:
    """A folder under a tombstone is applied and hidden; under an existing folder it is shown again (spec: HI-6)."""
    office = PostOffice()
    office["A"].create_folder(office.at(1), "Top", replicas=["A", "B", "C"])
    office.run(office.at(15))
    office["A"].delete_folder(office.at(16), "Top")
    office["B"].create_folder(office.at(17), "Top/Child", replicas=["A", "B", "C"])
    office.run(office.at(30))
    for name in "ABC":
        assert paths(office, name) == ["Projects"]
        assert [folder.path for folder in office[name].folders() if folder.hidden] == ["Child"]


def test_concurrent_moves_that_make_a_cycle_are_cut_alike_everywhere() -> None:
    """Every store cuts a cycle at the folder with the latest version, and puts that folder under 1-1 (spec: HI-7)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "  X: {replicas: [A]}\n  Y: {replicas: [A]}\n")
    office["A"].change_folder(office.at(1), "X", move_to="Y")
    office["B"].change_folder(office.at(2), "Y", move_to="X")
    office.run(office.at(15))
    assert all(paths(office, name) == ["Projects", "Y", "Y/X"] for name in "ABC")


def test_folders_of_one_name_stay_and_the_younger_is_shown_with_a_suffix() -> None:
    """Folders with one name under one parent all stay; those with the larger creating numbers get a suffix (spec: HI-7)."""
    office = PostOffice()
    office["A"].create_folder(office.at(1), "Same", replicas=["A"])
    office["B"].create_folder(office.at(1), "Same", replicas=["B"])
    office.run(office.at(15))
    views = [[(folder.path, folder.id) for folder in office[name].folders()] for name in "ABC"]
    assert [path for path, _ in views[0]] == ["Projects", "Same", "Same (2)"]
    assert views[0] == views[1] == views[2]


def test_a_folder_s_own_schedule_overrides_the_store_s() -> None:
    """A folder's schedule overrides its store's; a change of it applies at once to waiting changes (spec: OUT-1)."""
    office = PostOffice()
    office["A"].change_folder(office.at(1), "Projects", schedule="every 4 h")
    office.run(office.at(15))
    office["A"].post(office.at(16), "Projects", subject="waits")
    office.run(office.at(60))
    assert office["B"].messages("Projects") == []
    office.run(office.at(4 * HOUR_MIN))
    assert len(office["B"].messages("Projects")) == 1
    office["A"].post(office.at(4 * HOUR_MIN + 1), "Projects", subject="waits no more")
    office["A"].change_folder(office.at(4 * HOUR_MIN + 2), "Projects", schedule="always")
    office.run(office.at(4 * HOUR_MIN + 15))
    assert len(office["B"].messages("Projects")) == 2


def test_mistakes_are_refused() -> None:
    """An impossible act on a folder gives one clear error."""
    office = PostOffice()
    with pytest.raises(FolderExists):
        office["A"].create_folder(office.at(1), "Projects")
    with pytest.raises(FolderExists, match="the folder Projects exists already"):
        office["A"].create_folder(office.at(1), "PROJECTS")
    with pytest.raises(FolderUnknown):
        office["A"].create_folder(office.at(1), "No/Child")
    with pytest.raises(Misuse, match="no store X"):
        office["A"].change_folder(office.at(1), "Projects", replicas=["A", "X"])
    with pytest.raises(Misuse, match="at least one replica"):
        office["A"].change_folder(office.at(1), "Projects", replicas=[])
    with pytest.raises(Misuse, match="under itself"):
        office["A"].change_folder(office.at(1), "Projects", move_to="Projects")
    with pytest.raises(Misuse, match="slash"):
        office["A"].change_folder(office.at(1), "Projects", rename="a/b")
    assert paths(office, "A") == ["Projects"]


RING = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {}, E: {joins: later}}
folders:
  P: {replicas: [A, B]}
"""


def cycle_before_a_new_store(settings: str = "") -> PostOffice:
    """A moves X under Y while B moves Y under X. Then E joins, which knows neither."""
    office = PostOffice(RING + settings)
    for path in ("X", "Y"):
        office["A"].create_folder(office.at(1), path, replicas=["A"])
    office.run(office.at(15))
    office["A"].change_folder(office.at(16), "X", move_to="Y")
    office["B"].change_folder(office.at(17), "Y", move_to="X")
    office.run(office.at(30))
    office.join("E", office.at(31))
    return office


def test_a_cycle_of_folders_reaches_a_new_store_too() -> None:
    """On a store that knows neither, folders under each other do not wait for each other for ever (spec: HI-4, HI-7)."""
    office = cycle_before_a_new_store()
    office.run(office.at(31))
    office.run(office["E"].backfill()[0].due_at)
    assert office["E"].backfill() == []
    assert paths(office, "E") == paths(office, "A") == ["P", "Y", "Y/X"]


def test_a_cycle_of_folders_is_applied_although_each_arrives_late() -> None:
    """Folders under each other are applied, even if each arrives after the other has left the queue (spec: HI-4)."""
    office = cycle_before_a_new_store("settings: {Replication Folder Tree RMQ Timeout: 1 h}\n")
    office.run(office.at(150))
    office["A"].change_folder(office.at(151), "Y", schedule="every 1 h")
    for minutes in range(165, 3 * 24 * 60, 15):
        office.run(office.at(minutes))
    assert office["E"].backfill() == []
    assert paths(office, "E") == paths(office, "A") == ["P", "Y", "Y/X"]


def test_a_hidden_folder_does_not_keep_a_new_store_waiting_for_ever() -> None:
    """A new store applies and hides a folder under a tombstone, even a tombstone past its age, so it does not wait for ever
    (spec: HI-6, DL-4, CN-7)."""
    office = PostOffice(LATE_STORE_AND_SHORT_TOMBSTONES)
    office["A"].delete_folder(office.at(1), "P")
    office["B"].create_folder(office.at(2), "P/Q", replicas=["A", "B"])
    office.run(office.at(15))
    for half_days in range(8):
        office.run(office.at(15 + half_days * 12 * HOUR_MIN))
    now = office.at(5 * 24 * HOUR_MIN)
    office.join("E", now)
    for hours in range(0, 30 * 24, 6):
        office.run(now + hours * HOUR_US)
    assert office["E"].backfill() == []
    assert office["E"].knowledge("1-1").versions == office["A"].knowledge("1-1").versions


def test_content_that_waits_for_a_replica_is_taken_when_the_replica_is_added_here() -> None:
    """Content for a replica that the store does not know yet waits until any store adds the replica (spec: HI-4)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("[A, B, C]", "[A, B]"))
    office["A"].change_folder(office.at(1), "Projects", replicas=["A", "B", "C"])
    office.cycle("A", office.at(15))  # the hierarchy mail is lost
    office["A"].post(office.at(16), "Projects", subject="early")
    deliver_all(office, office.cycle("A", office.at(30)), office.at(30))
    office["C"].change_folder(office.at(31), "Projects", replicas=["A", "B", "C"])
    assert [each.subject for each in office["C"].messages("Projects")] == ["early"]


def test_a_folder_that_comes_after_its_parents_tombstone_was_forgotten_is_not_held_for_ever() -> None:
    """A folder whose parent was deleted is applied and hidden, however late it arrives, so no store waits for ever (spec:
    HI-6, HI-4, DL-4, CN-7)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Folder Tombstone Age Limit: 1 d}\n")
    office["C"].create_folder(office.at(1), "Projects/New", replicas=["A", "C"])
    office["A"].delete_folder(office.at(2), "Projects")
    deliver_all(office, office.cycle("C", office.at(15)), office.at(15), "A")  # lost on its way to B
    deliver_all(office, office.cycle("A", office.at(15)), office.at(15))
    for hours in range(72):
        now = office.at(30 + hours * HOUR_MIN)
        while mails := [mail for name in "ABC" for mail in office.cycle(name, now)]:
            for sender, mail in mails:
                if not (sender == "B" and mail.subject.endswith("Backfill Request")):  # as are B's requests at first
                    office.deliver((sender, mail), now)
    for hours in range(72, 30 * 24, 6):
        office.run(office.at(30 + hours * HOUR_MIN))
    assert office["B"].backfill() == []
    assert office["B"].knowledge("1-1").versions == office["A"].knowledge("1-1").versions
