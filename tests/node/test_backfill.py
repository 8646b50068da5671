"""What is missing is noticed, waits, is asked for and comes (spec: section 6)."""

from __future__ import annotations

import pytest

from node.views import EntryView
from tests.node.office import THREE, Office
from traces.labtime import HOUR_US

TWO_SITES = """
organization: Test
sites: [SEA, NYC]
connectors: [{name: SEA-NYC, between: [SEA, NYC], cost: 10}]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}}
folders:
  Projects: {replicas: [A, B, C]}
"""


def lose_posts(office: Office, victim: str, *, count: int = 1) -> None:
    """A posts; the mail to `victim` is lost, and a later status tells it of what it lacks."""
    for index in range(count):
        office["A"].post(office.at(1 + index), "Projects", subject=f"lost {index}")
    for mail in office.cycle("A", office.at(15)):
        if mail[1].next_hop != victim:
            office.deliver(mail, office.at(15))


def tell(office: Office, victim: str, minutes: float) -> EntryView:
    """The next status check of A, delivered to the victim alone; the victim's one entry."""
    for mail in office.cycle("A", office.at(minutes)):
        if mail[1].next_hop == victim and mail[1].subject == "Folder Status":
            office.deliver(mail, office.at(minutes))
    (entry,) = office[victim].backfill()
    return entry


CHECK = 36 * 60 + 15  # the check at 12:15 of the second day, the first 24 h or more after a post at 00:01


@pytest.mark.parametrize(
    ("text", "victim", "hours"), [(THREE, "C", (6, 12, 24, 24)), (TWO_SITES, "C", (12, 24, 48, 48))]
)
def test_the_six_time_outs(text: str, victim: str, hours: tuple[int, ...]) -> None:
    """Content known in the site waits 6, 12, 24 hours; known only outside 12, 24, 48 (spec: BF-2)."""
    office = Office(text)
    lose_posts(office, victim)
    entry = tell(office, victim, CHECK)
    assert entry.missing == "A-1"
    due = entry.due_at
    assert due == office.at(CHECK) + hours[0] * HOUR_US
    for wait in hours[1:]:
        office[victim].tick(due - 1)
        assert office[victim].backfill()[0].attempts == entry.attempts
        office[victim].tick(due)
        (entry,) = office[victim].backfill()
        assert entry.due_at == due + wait * HOUR_US
        due = entry.due_at


def test_what_arrives_meanwhile_leaves_the_array() -> None:
    """Missing changes that arrive in time leave the array without a request (spec: BF-2)."""
    office = Office()
    office["A"].post(office.at(1), "Projects", subject="first")
    (late,) = [mail for mail in office.cycle("A", office.at(15)) if mail[1].next_hop == "B"]
    office["A"].post(office.at(16), "Projects", subject="second")
    for mail in office.cycle("A", office.at(30)):
        office.deliver(mail, office.at(30))
    assert [entry.missing for entry in office["B"].backfill()] == ["A-1"]
    office.deliver(late, office.at(31))
    assert office["B"].backfill() == []
    assert len(office.of_type("request.sent")) == 0


def test_a_response_brings_just_what_was_asked_and_ends_the_entry() -> None:
    """A request is answered at once, to the requester alone, with what it asked for (spec: BF-5)."""
    office = Office()
    lose_posts(office, "B", count=3)
    entry = tell(office, "B", CHECK)
    office.run(entry.due_at)
    assert [message.subject for message in office["B"].messages("Projects")] == ["lost 0", "lost 1", "lost 2"]
    assert office["B"].backfill() == []
    (answered,) = office.of_type("request.answered")
    assert answered.node in {"A", "C"}  # type: ignore[attr-defined]


def test_a_silent_source_is_marked_down_and_the_next_is_asked() -> None:
    """A source that does not answer before the retry time-out goes to the end; any mail from it marks it up (spec: BF-4)."""
    office = Office()
    lose_posts(office, "B")
    entry = tell(office, "B", CHECK)
    # C has applied the post and said so by a status of its own.
    for mail in office.cycle("C", office.at(CHECK)):
        if mail[1].next_hop == "B":
            office.deliver(mail, office.at(CHECK))
    first = {mail[1].next_hop for mail in office.cycle("B", entry.due_at)}
    (entry,) = office["B"].backfill()
    second = {mail[1].next_hop for mail in office.cycle("B", entry.due_at) if mail[1].subject.endswith("Request")}
    assert len(first) == len(second) == 1
    assert first != second
    assert [event.store for event in office.of_type("source.down")] == sorted(first)  # type: ignore[attr-defined]
    (silent,) = first
    office[silent].post(entry.due_at, "Projects", subject="alive")
    for mail in office.cycle(silent, entry.due_at + HOUR_US):
        if mail[1].next_hop == "B":
            office.deliver(mail, entry.due_at + HOUR_US)
    assert [event.store for event in office.of_type("source.up")] == [silent]  # type: ignore[attr-defined]


def test_a_request_that_comes_twice_is_answered_once() -> None:
    """A repeated request mail is answered once (spec: BF-5)."""
    office = Office()
    lose_posts(office, "B")
    entry = tell(office, "B", CHECK)
    (request,) = office.cycle("B", entry.due_at)
    office.deliver(request, entry.due_at)
    office.deliver(request, entry.due_at)
    assert len(office.of_type("request.answered")) == 1


def test_a_source_that_owns_none_of_it_answers_empty() -> None:
    """A source that owns none of what is asked sends an empty response, and the row in it ends the wait (spec: BF-5, RST-4)."""
    office = Office()
    lose_posts(office, "B")
    entry = tell(office, "B", CHECK)
    (request,) = office.cycle("B", entry.due_at)
    # The one asked is replaced by a store that never had it: C as a fresh lab knows it.
    other = Office()
    other.deliver((request[0], request[1]), entry.due_at)
    (answer,) = other.cycle(request[1].next_hop, entry.due_at)
    assert answer[1].subject == "Folder Content Backfill Response"
    office.deliver(answer, entry.due_at)
    assert [event.how for event in office.of_type("request.ended")] in (["empty"], ["pruned"])  # type: ignore[attr-defined]


def test_at_the_limit_requests_wait_for_a_slot_and_the_longest_due_goes_first() -> None:
    """At most so many requests are outstanding; a slot given back goes to the entry longest due (spec: BF-6)."""
    folders = "".join(f"  F{index}: {{replicas: [A, B]}}\n" for index in range(4))
    text = THREE + folders + "settings: {Replication Outstanding Backfill Limit: 2}\n"
    office = Office(text)
    for index in range(4):
        office["A"].post(office.at(1 + index), f"F{index}", subject="lost")
    office.cycle("A", office.at(15))
    for mail in office.cycle("A", office.at(CHECK)):
        if mail[1].next_hop == "B":
            office.deliver(mail, office.at(CHECK))
    due = office["B"].backfill()[0].due_at
    requests = office.cycle("B", due)
    assert len(requests) == 2
    assert [entry.waiting_for_slot for entry in office["B"].backfill()] == [False, False, True, True]
    office.deliver(requests[0], due)
    for mail in office.cycle("A", due):
        office.deliver(mail, due)
    (third,) = office.cycle("B", due)
    assert [entry.waiting_for_slot for entry in office["B"].backfill()] == [False, False, True]
    assert third[1].next_hop == "A"


def test_large_backfill_comes_in_as_many_mails_as_the_size_makes() -> None:
    """A response is cut by the size target, each mail naming only what it brings (spec: BF-5, OUT-3, CN-7)."""
    office = Office(THREE + "settings: {Replication Message Size Limit: 8 KB}\n")
    for index in range(20):
        office["A"].post(office.at(1), "Projects", subject=f"post {index}", body="x" * 1500)
    office.cycle("A", office.at(15))
    entry = tell(office, "B", CHECK)
    (request,) = office.cycle("B", entry.due_at)
    office.deliver(request, entry.due_at)
    answers = [mail for mail in office.cycle("A", entry.due_at) if mail[1].next_hop == "B"]
    assert len(answers) >= 4
    lost = answers.pop(1)
    for mail in answers:
        office.deliver(mail, entry.due_at)
    (left,) = office["B"].backfill()
    assert left.attempts == 1
    assert len(office["B"].messages("Projects")) < 20
    office.deliver(lost, entry.due_at)
    assert len(office["B"].messages("Projects")) == 20
    assert office["B"].backfill() == []
