"""When tombstones are dropped, and what they prevent until then (spec: DL-2, DL-4)."""

from __future__ import annotations

import pytest

from node.objects import tombstones
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice, deliver_all
from tests.support.topologies import THREE_STORES_AND_CONTACT


def test_tombstones_that_must_stay_do_not_keep_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tombstone past its age that all holders know is dropped, even if others must stay (spec: DL-4)."""
    monkeypatch.setattr(tombstones, "A_PAGE", 1)
    office = PostOffice(
        THREE_STORES_AND_CONTACT.replace("Projects: {replicas: [A, B, C]", "Projects: {replicas: [A, B]")
        + "  Q: {replicas: [A, C]}\nsettings: {Replication Folder Tombstone Age Limit: 1 d}\n"
    )
    deleted = [office["A"].post(office.at(1), path, subject="x").id for path in ("Projects", "Q")]
    office.run(office.at(15))
    for path, message in zip(("Projects", "Q"), deleted, strict=True):
        office["A"].delete(office.at(16), path, message)
    office.running = ["A", "C"]  # B is down and never hears of it
    for hours in range(1, 5 * 24, 3):
        office.run(office.at(17 + hours * HOUR_MIN))
    assert office["A"].knowledge("Projects").tombstones == (deleted[0],)
    assert office["A"].knowledge("Q").tombstones == ()


@pytest.mark.parametrize("what", ["message", "folder"])
def test_a_late_duplicate_does_not_bring_back_what_was_deleted_and_forgotten(what: str) -> None:
    """A store applies only numbers that are new to it: a duplicate changes nothing, however late, whoever sends it (spec:
    IN-1, IN-3, IN-4, DL-4)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Folder Tombstone Age Limit: 1 d}\n")
    if what == "message":
        message = office["A"].post(office.at(1), "Projects", subject="x").id
    else:
        office["A"].create_folder(office.at(1), "News", replicas=["A", "B", "C"])
    mails = office.cycle("A", office.at(15))
    deliver_all(office, mails, office.at(15))
    office.run(office.at(30))
    if what == "message":
        office["A"].delete(office.at(31), "Projects", message)
    else:
        office["A"].delete_folder(office.at(31), "News")
    for hours in range(1, 5 * 24, 3):
        office.run(office.at(31 + hours * HOUR_MIN))
    path = "Projects" if what == "message" else "1-1"
    assert office["B"].knowledge(path).tombstones == ()
    deliver_all(office, mails, office.at(6 * 24 * HOUR_MIN), "B")
    assert office["B"].knowledge(path).versions == office["A"].knowledge(path).versions


def test_a_lost_edit_is_reported_although_the_deletion_comes_by_backfill() -> None:
    """A tombstone carries its author's predecessor list, not what its source knows besides. So the home store sees that an
    edit lost to it (spec: DL-2, CF-2)."""
    office = PostOffice(THREE_STORES_AND_CONTACT)
    message = office["A"].post(office.at(1), "Projects", subject="x").id
    office.run(office.at(15))
    office["A"].edit(office.at(16), "Projects", message, subject="edited")
    office["B"].delete(office.at(17), "Projects", message)
    deliver_all(office, office.cycle("A", office.at(30)), office.at(30), "C")  # C has the edit first
    deliver_all(office, office.cycle("B", office.at(30)), office.at(30), "C")  # the deletion is lost on its way to A
    for hours in range(1, 72):
        now = office.at(30 + hours * HOUR_MIN)
        while mails := [mail for name in "ABC" for mail in office.cycle(name, now)]:
            for sender, mail in mails:
                if {sender, mail.next_hop} != {"A", "B"}:
                    office.deliver((sender, mail), now)
    assert office["A"].messages("Projects") == []
    assert [event.node for event in office.of_type("conflict.notice") if event.node == "A"]
