"""A store drops a replica only when another store is known to have all of its data (spec: RP-2)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from node.errors import NoReplicaHere
from tests.support.clock import HOUR_MIN, STATUS_CHECK_MIN
from tests.support.post_office import PostOffice, deliver_all, lose_mail_of_another_site, mails_to
from tests.support.topologies import THREE_STORES_AND_CONTACT
from traces.labtime import HOUR_US, LabTime
from transport import stimulus


def held(office: PostOffice, name: str) -> bool:
    return office[name].folders()[0].held_here


def subjects(office: PostOffice, name: str) -> list[str]:
    return sorted(message.subject for message in office[name].messages("Projects"))


def test_a_replica_that_others_have_in_full_is_dropped_after_one_answer() -> None:
    """The leaving store tells what it has, and drops its data at the first answer (spec: RP-2)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(15))
    office["B"].change_folder(office.at(16), "Projects", replicas=["A", "B"])
    office.run(office.at(30))
    assert len(office.of_type("replica.dropped")) == 1
    assert [subjects(office, name) for name in "ABC"] == [["x"], ["x"], []]
    with pytest.raises(NoReplicaHere):
        office["C"].post(office.at(31), "Projects", subject="y")


def test_a_leaving_store_sends_at_once_what_it_has_not_sent() -> None:
    """Unsent changes go at once, whatever the schedule, and are dropped only when another store has them (spec: RP-2)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("contacts: [kim@test.test]", "schedule: never"))
    office["C"].post(office.at(1), "Projects", subject="only on C")
    office["A"].change_folder(office.at(2), "Projects", replicas=["A", "B"])
    office.run(office.at(15))
    assert [subjects(office, name) for name in "ABC"] == [["only on C"], ["only on C"], []]


SETTINGS = {"enabled": {}, "disabled": {"Replication": 0}, "suspended": {"Content Replication Suspended": 1}}


def configure(office: PostOffice, now: LabTime, settings: Mapping[str, int]) -> None:
    """Set the values on both stores, which read some only at their start."""
    for name in "AB":
        office[name].configure(now, settings)
        office[name].close(now)
        office[name].open(now)


@pytest.mark.parametrize("state", SETTINGS)
def test_a_leaving_store_claims_all_it_has_though_its_changes_take_several_stimuli(
    state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The delete-pending request claims every change of the store, also if one stimulus cannot send them all (RP-2)."""
    # spec: RP-2, OUT-1, SE-1, RP-5
    monkeypatch.setattr(stimulus, "STIMULUS_BYTES", 1)
    office = PostOffice("servers: {A: , B: }\nfolders: {Projects: {replicas: [A, B]}}\n")
    for number in range(3):
        office["A"].post(office.at(1), "Projects", subject=f"post {number}", body="x" * 200_000)
    configure(office, office.at(2), SETTINGS[state])
    office["A"].change_folder(office.at(3), "Projects", replicas=["B"], schedule="never")
    for minutes in range(15, STATUS_CHECK_MIN + 1, 15):
        office.run(office.at(minutes))
    configure(office, office.at(STATUS_CHECK_MIN + 2), dict.fromkeys(SETTINGS[state], int(state == "disabled")))
    for hours in range(48):
        office.run(office.at(STATUS_CHECK_MIN + 15 + hours * HOUR_MIN))
    assert subjects(office, "B") == ["post 0", "post 1", "post 2"]
    assert len(office.of_type("replica.dropped")) == 1


def test_a_holder_that_lacks_some_asks_the_leaving_store_and_answers_when_it_has_all() -> None:
    """A holder puts what it lacks into its array. The leaving store sends it, and only then drops its data (spec: RP-2)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("[A, B, C]", "[A, C]"))
    office["C"].post(office.at(1), "Projects", subject="lost on its way to A")
    office.cycle("C", office.at(15))  # the broadcast is lost
    office["A"].change_folder(office.at(16), "Projects", replicas=["A"])
    office.run(office.at(30))
    assert office.of_type("replica.dropped") == []
    (entry,) = office["A"].backfill()
    assert entry.missing == "C-1"
    office.run(entry.due_at)
    assert subjects(office, "A") == ["lost on its way to A"]
    assert len(office.of_type("replica.dropped")) == 1


@pytest.mark.parametrize("version", ["5.5", "2003"])
def test_a_change_that_comes_after_the_request_is_not_dropped_on_the_answer(version: str) -> None:
    """An answer whose row lacks what has come to the leaving store since permits nothing; it asks again (spec: RP-2, DU-1)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("C: {site: SEA}", f"C: {{site: SEA, version: '{version}'}}"))
    office["B"].post(office.at(1), "Projects", subject="late on C, lost to A")
    (late,) = mails_to(office.cycle("B", office.at(15)), "C")
    office["A"].change_folder(office.at(16), "Projects", replicas=["A", "B"])
    for name in "AC":  # A tells C that it must leave, and C asks; B hears nothing
        deliver_all(office, office.cycle(name, office.at(30)), office.at(30), "AC")
    answers = office.take("A", office.at(30))
    for mail in (*answers, late) if version == "5.5" else (late, *answers):
        deliver_all(office, [mail], office.at(31), "C")
    office.cycle("C", office.at(24 * HOUR_MIN))
    assert office.of_type("replica.dropped") == []
    assert subjects(office, "C") == ["late on C, lost to A"]
    for days in (1, 2):  # C asks again, now with the late post, which B has
        office.run(office.at(days * 24 * HOUR_MIN + 15))
        office.run(office.at((days + 1) * 24 * HOUR_MIN))
    assert len(office.of_type("replica.dropped")) == 1
    assert subjects(office, "B") == ["late on C, lost to A"]


def test_a_leaving_store_of_the_site_makes_an_entry_local() -> None:
    """What a leaving store of the own site has is in the site, though the store is on no list any more (spec: BF-2, RP-2)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("[A, B, C]", "[A, C]"))
    office["C"].post(office.at(1), "Projects", subject="lost on its way to A")
    office.cycle("C", office.at(15))  # the broadcast is lost
    office["A"].change_folder(office.at(16), "Projects", replicas=["A"])
    office.run(office.at(30))
    (entry,) = office["A"].backfill()
    assert entry.local
    assert entry.due_at == office.at(30 + 6 * HOUR_MIN)


def test_an_entry_becomes_local_when_a_store_of_the_site_leaves_with_it() -> None:
    """An entry that is only in another site is due earlier once a leaving store of the site has all of it (spec: BF-2)."""
    office, lost = lose_mail_of_another_site()
    (entry,) = office["B"].backfill()
    assert not entry.local
    office.deliver(lost, office.at(STATUS_CHECK_MIN + 1))  # A has it now, and B does not hear of that
    office.take("A", office.at(STATUS_CHECK_MIN + 1))
    office["B"].change_folder(office.at(STATUS_CHECK_MIN + 2), "Projects", replicas=["B", "C"])
    for name in ("B", "A"):
        deliver_all(
            office, office.cycle(name, office.at(STATUS_CHECK_MIN + 15)), office.at(STATUS_CHECK_MIN + 15), "AB"
        )
    (local,) = office["B"].backfill()
    assert local.local
    assert local.due_at == entry.due_at - 6 * HOUR_US


def test_an_unanswered_request_is_made_again_at_each_check() -> None:
    """Without an answer the leaving store repeats its request at each status check (spec: RP-2)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("[A, B, C]", "[A, C]"))
    office["A"].change_folder(office.at(1), "Projects", replicas=["A"])
    for mail in office.cycle("A", office.at(15)):
        office.deliver(mail, office.at(15))
    office.cycle("C", office.at(15))  # the request is lost
    assert office.of_type("replica.dropped") == []
    office.run(office.at(12 * HOUR_MIN + 15))
    assert len(office.of_type("replica.dropped")) == 1


def test_a_store_re_added_meanwhile_stays_and_ignores_late_answers() -> None:
    """A store that is added again before it has left is no longer pending, and ignores late answers (spec: RP-2)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("[A, B, C]", "[A, C]"))
    office["C"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(15))
    office["C"].change_folder(office.at(16), "Projects", replicas=["A"])
    requests = office.take("C", office.at(16))
    for mail in requests:
        office.deliver(mail, office.at(17))
    late = office.take("A", office.at(17))
    assert [mail[1].subject for mail in late] == ["Folder Status"]
    office["C"].change_folder(office.at(18), "Projects", replicas=["A", "C"])
    for mail in late:
        office.deliver(mail, office.at(19))
    office.run(office.at(30))
    office.run(office.at(45))
    assert held(office, "C")
    assert [subjects(office, name) for name in "AC"] == [["x"], ["x"]]


def test_a_replica_dropped_and_added_again_starts_empty_and_fills() -> None:
    """A replica that was dropped and added again starts empty and asks others for its own old changes (spec: RP-2, CN-6)."""
    office = PostOffice()
    office["C"].post(office.at(1), "Projects", subject="C's own")
    office.run(office.at(15))
    office["A"].change_folder(office.at(16), "Projects", replicas=["A", "B"])
    office.run(office.at(30))
    assert subjects(office, "C") == []
    office["A"].change_folder(office.at(31), "Projects", replicas=["A", "B", "C"])
    for minutes in (45, 60):
        office.run(office.at(minutes))
    entry = office["C"].backfill()[0]
    assert entry.missing == "C-1"
    office["C"].post(office.at(61), "Projects", subject="a new one")
    office.run(office.at(75))
    office.run(entry.due_at)
    assert [subjects(office, name) for name in "ABC"] == [["C's own", "a new one"]] * 3


def test_a_request_to_a_store_without_the_replica_is_answered_empty() -> None:
    """A store without the replica answers a 0x8 empty and marked "no replica", and its claim is removed (spec: RP-2)."""
    office = PostOffice()
    office["C"].post(office.at(1), "Projects", subject="x")
    for mail in office.cycle("C", office.at(15)):
        if mail[1].next_hop == "A":
            office.deliver(mail, office.at(15))
    office["A"].change_folder(office.at(16), "Projects", replicas=["A", "B"])
    for mail in office.cycle("A", office.at(30)):
        office.deliver(mail, office.at(30))
    # C asks A and B; A has all and answers, so C drops; B lacks it and learned of C.
    for name in ("C", "A", "C", "B"):
        for mail in office.cycle(name, office.at(31)):
            office.deliver(mail, office.at(31))
    assert len(office.of_type("replica.dropped")) == 1
    for hours in (7, 13, 20, 26, 37, 44, 50):
        office.run(office.at(hours * HOUR_MIN + 20))
    assert subjects(office, "B") == ["x"]
    assert all(office[name].backfill() == [] for name in "ABC")


def test_a_leaving_store_is_answered_when_what_it_had_has_expired() -> None:
    """When the leaving store has let its only copy of an item expire, the others claim the number on its word, and then
    answer it (spec: RP-2, DL-3)."""
    text = THREE_STORES_AND_CONTACT.replace("[A, B, C]", "[A, C]").replace(
        "C: {site: SEA}", "C: {site: SEA, settings: {Age Limit: 1 d}}"
    )
    office = PostOffice(text)
    office["C"].post(office.at(1), "Projects", subject="never came to A")
    office.cycle("C", office.at(15))  # lost
    for minutes in (24 * HOUR_MIN, 48 * HOUR_MIN, 72 * HOUR_MIN):
        office.cycle("C", office.at(minutes))
        office.cycle("C", office.at(minutes + 15))
    office["A"].change_folder(office.at(73 * HOUR_MIN), "Projects", replicas=["A"])
    office.run(office.at(73 * HOUR_MIN + 15))
    (entry,) = office["A"].backfill()
    office.run(entry.due_at)
    (dropped,) = office.of_type("replica.dropped")
    assert dropped.at == entry.due_at
