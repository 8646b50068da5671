"""Missing changes are detected, waited for, requested and delivered (spec: section 6)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from node.codec.items import ROOT
from node.codec.replication_message import MessageType, ReplicationMail, Section
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from node.views import EntryView
from tests.support.clock import HOUR_MIN, STATUS_CHECK_MIN
from tests.support.forged_mail import HOP, altered
from tests.support.post_office import (
    PostOffice,
    deliver_all,
    deliver_lost_mail_to_the_site,
    lose_mail_of_another_site,
    mails_to,
)
from tests.support.topologies import THREE_STORES_AND_CONTACT, TWO_SITES
from traces.events import MailSubmitted, RequestEnded
from traces.labtime import HOUR_US
from transport.envelope import Transmission
from transport.mime.headers import incoming_mail


def lose_posts(office: PostOffice, victim: str, *, count: int = 1) -> None:
    """A posts and the mail to `victim` is lost; a later status of A tells the victim what it lacks."""
    for index in range(count):
        office["A"].post(office.at(1 + index), "Projects", subject=f"lost {index}")
    for mail in office.cycle("A", office.at(15)):
        if mail[1].next_hop != victim:
            office.deliver(mail, office.at(15))


def tell(office: PostOffice, victim: str, minutes: float) -> EntryView:
    """Deliver A's next status to the victim alone, and return the victim's one entry."""
    for mail in office.cycle("A", office.at(minutes)):
        if mail[1].next_hop == victim and mail[1].subject == "Folder Status":
            office.deliver(mail, office.at(minutes))
    (entry,) = office[victim].backfill()
    return entry


@pytest.mark.parametrize(
    ("text", "victim", "hours"), [(THREE_STORES_AND_CONTACT, "C", (6, 12, 24, 24)), (TWO_SITES, "C", (12, 24, 48, 48))]
)
def test_the_six_time_outs(text: str, victim: str, hours: tuple[int, ...]) -> None:
    """Content that a store of the site has waits 6, 12, then 24 hours; other content waits 12, 24, then 48 (spec: BF-2)."""
    office = PostOffice(text)
    lose_posts(office, victim)
    entry = tell(office, victim, STATUS_CHECK_MIN)
    assert entry.missing == "A-1"
    due = entry.due_at
    assert due == office.at(STATUS_CHECK_MIN) + hours[0] * HOUR_US
    for wait in hours[1:]:
        office[victim].tick(due - 1)
        assert office[victim].backfill()[0].attempts == entry.attempts
        office[victim].tick(due)
        (entry,) = office[victim].backfill()
        assert entry.due_at == due + wait * HOUR_US
        due = entry.due_at


def test_what_arrives_meanwhile_leaves_the_array() -> None:
    """Missing changes that arrive in time leave the array without a request (spec: BF-2)."""
    office = PostOffice()
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
    """The source answers a request at once, to the requester alone, with exactly what it asked for (spec: BF-5)."""
    office = PostOffice()
    lose_posts(office, "B", count=3)
    entry = tell(office, "B", STATUS_CHECK_MIN)
    office.run(entry.due_at)
    assert [message.subject for message in office["B"].messages("Projects")] == ["lost 0", "lost 1", "lost 2"]
    assert office["B"].backfill() == []
    (answered,) = office.of_type("request.answered")
    # C has the posts too, but B has heard only from A that it has them.
    assert answered.node == "A"  # type: ignore[attr-defined]


def test_a_silent_source_is_marked_down_and_the_next_is_asked() -> None:
    """A source that does not answer within the retry time-out moves to the end of the list; any mail from it marks it up
    (spec: BF-4)."""
    office = PostOffice()
    lose_posts(office, "B")
    entry = tell(office, "B", STATUS_CHECK_MIN)
    # C has applied the post and said so by a status of its own.
    for mail in office.cycle("C", office.at(STATUS_CHECK_MIN)):
        if mail[1].next_hop == "B":
            office.deliver(mail, office.at(STATUS_CHECK_MIN))
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
    office = PostOffice()
    lose_posts(office, "B")
    entry = tell(office, "B", STATUS_CHECK_MIN)
    (request,) = office.cycle("B", entry.due_at)
    office.deliver(request, entry.due_at)
    office.deliver(request, entry.due_at)
    assert len(office.of_type("request.answered")) == 1


def test_every_folder_that_a_request_names_is_answered_once() -> None:
    """A request that names several folders gets one answer for each, and the trace names each in the same form (spec: BF-5)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="lost")
    office.cycle("A", office.at(15))  # lost
    (status_mail,) = mails_to(office.cycle("A", office.at(STATUS_CHECK_MIN)), "B")
    unknown = ChangeNumber(b"n" * 16, 7).to_xid()

    def request(mail: ReplicationMail) -> ReplicationMail:
        projects = replace(mail.sections[0], numbers=mail.sections[0].row)
        tree = Section(ROOT, NumberSets.EMPTY, NumberSets(CNSet.span(b"n" * 16, 1, 2)))
        nowhere = Section(unknown, NumberSets.EMPTY, NumberSets(CNSet.span(b"n" * 16, 1, 2)))
        return replace(
            mail,
            type=MessageType.BACKFILL_REQUEST,
            sections=(projects, tree, nowhere, projects),
            message_id="several@a",
        )

    content = altered(office, status_mail[1].content, request)
    for _ in range(2):
        office["B"].mail_in(office.at(STATUS_CHECK_MIN), HOP, incoming_mail("", ["B-IS@contoso.test"], content))
    folders = [event.folder for event in office.of_type("request.answered")]  # type: ignore[attr-defined]
    assert folders == [office["B"].folders()[0].id, "1-1", f"{(b'n' * 16).hex()}:7"]
    assert {mail[1].next_hop for mail in office.take("B", office.at(STATUS_CHECK_MIN))} == {"A"}


def test_a_source_that_owns_none_of_it_answers_empty() -> None:
    """A source that has none of the requested changes sends an empty response, whose row ends the wait (spec: BF-5, RST-4)."""
    office = PostOffice()
    lose_posts(office, "B")
    entry = tell(office, "B", STATUS_CHECK_MIN)
    (request,) = office.cycle("B", entry.due_at)
    # The one asked is replaced by a store that never had it: C as a fresh lab knows it.
    other = PostOffice()
    other.deliver((request[0], request[1]), entry.due_at)
    (answer,) = other.cycle(request[1].next_hop, entry.due_at)
    assert answer[1].subject == "Folder Content Backfill Response"
    office.deliver(answer, entry.due_at)
    assert [event.how for event in office.of_type("request.ended")] in (["empty"], ["pruned"])  # type: ignore[attr-defined]


def test_a_source_claims_only_what_it_owns_of_what_was_asked() -> None:
    """A source that has only part of a request answers that part, and the rest stays missing everywhere (spec: BF-5, CN-7)."""
    office = PostOffice()
    lose_posts(office, "B", count=2)
    entry = tell(office, "B", STATUS_CHECK_MIN)
    assert entry.missing == "A-1..2"
    (request,) = office.cycle("B", entry.due_at)
    # The one asked is replaced by a store that has the first of the two only.
    other = PostOffice()
    other["A"].post(other.at(1), "Projects", subject="lost 0")
    deliver_all(other, other.cycle("A", other.at(15)), other.at(15), to="C")
    other.deliver(request, entry.due_at)
    answers = [mail for mail in other.take(request[1].next_hop, entry.due_at) if "Response" in mail[1].subject]
    assert len(answers) == 1
    office.deliver(answers[0], entry.due_at)
    assert len(office["B"].messages("Projects")) == 1
    assert office["B"].knowledge("Projects").numbers == other["A"].knowledge("Projects").numbers


def test_at_the_limit_requests_wait_for_a_slot_and_the_longest_due_goes_first() -> None:
    """The number of outstanding requests is limited; a slot that becomes free goes to the entry that has been due longest
    (spec: BF-6)."""
    folders = "".join(f"  F{index}: {{replicas: [A, B]}}\n" for index in range(4))
    text = THREE_STORES_AND_CONTACT + folders + "settings: {Replication Outstanding Backfill Limit: 2}\n"
    office = PostOffice(text)
    for index in range(4):
        office["A"].post(office.at(1 + index), f"F{index}", subject="lost")
    office.cycle("A", office.at(15))
    for mail in office.cycle("A", office.at(STATUS_CHECK_MIN)):
        if mail[1].next_hop == "B":
            office.deliver(mail, office.at(STATUS_CHECK_MIN))
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


def test_a_large_response_is_split_by_the_size_target() -> None:
    """A response is split by the size target, and each mail names only the changes that it brings (spec: BF-5, OUT-3, CN-7)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Message Size Limit: 8 KB}\n")
    for index in range(20):
        office["A"].post(office.at(1), "Projects", subject=f"post {index}", body="x" * 1500)
    office.cycle("A", office.at(15))
    entry = tell(office, "B", STATUS_CHECK_MIN)
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


def test_a_free_slot_is_not_lost_when_its_next_entry_is_satisfied() -> None:
    """A free slot goes to the entry that has been due longest. No entry waits for ever while slots are free (spec: BF-6,
    CN-7)."""
    folders = "".join(f"  F{index}: {{replicas: [A, B]}}\n" for index in range(3))
    office = PostOffice(THREE_STORES_AND_CONTACT + folders + "settings: {Replication Outstanding Backfill Limit: 1}\n")
    for index in range(3):
        office["A"].post(office.at(1 + index), f"F{index}", subject="lost")
    late = mails_to(office.cycle("A", office.at(15)), "B")
    deliver_all(office, office.cycle("A", office.at(STATUS_CHECK_MIN)), office.at(STATUS_CHECK_MIN), "B")
    due = office["B"].backfill()[0].due_at
    (request,) = office.cycle("B", due)
    office.deliver(request, due)
    deliver_all(office, office.cycle("A", due), due)  # F0's answer: its slot goes to F1 at the next tick,
    office.deliver(late[1], due)  # but F1's lost mail comes before that
    for hours in range(0, 10 * 24, 6):
        office.run(due + hours * HOUR_US)
    assert [entry.path for entry in office["B"].backfill()] == []
    assert len(office["B"].messages("F2")) == 1


def test_a_store_of_the_site_that_comes_to_have_it_is_asked_at_the_earlier_time() -> None:
    """If a store of the site gets all of it later, the entry's due time becomes the earlier of the two (spec: BF-2)."""
    office, lost = lose_mail_of_another_site()
    asked_at = office["B"].backfill()[0].due_at
    office.cycle("B", asked_at)  # the request to C is lost
    deliver_lost_mail_to_the_site(office, lost, asked_at + HOUR_US)
    (entry,) = office["B"].backfill()
    assert (entry.local, entry.due_at) == (True, asked_at + 12 * HOUR_US)
    requests = office.cycle("B", asked_at + 12 * HOUR_US)
    assert [mail[1].recipients for mail in requests] == [("A-IS@contoso.test",)]


PARTLY_LOCAL = """
organization: Test
sites: [SEA, NYC]
connectors: [{between: [SEA, NYC], cost: 10, latency: 0 s, bridgeheads: {SEA: E, NYC: W}}]
servers: {R: {site: SEA}, L: {site: SEA}, W: {site: NYC}, M: {site: NYC}, E: {site: SEA}}
folders: {Projects: {replicas: [W, M, L, R]}}
settings: {Repeat Status: 0}
"""


def misses_two(order: str) -> PostOffice:
    """R misses W-1 and W-2 since minute 45. M has both, and L, in R's site, has W-1. R hears from them in the given order, 15
    minutes apart."""
    office = PostOffice(PARTLY_LOCAL)

    def posts(store: str, minute: int, *lose: str) -> None:
        office[store].post(office.at(minute - 5), "Projects", subject=f"from {store}")
        mails = office.cycle(store, office.at(minute))
        while mails:
            name, mail = mails.pop(0)
            kept = tuple(each for each in mail.recipients if each.partition("-")[0] not in lose)
            if kept:
                office.deliver((name, structs.replace(mail, recipients=kept)), office.at(minute))
                mails += office.cycle(mail.next_hop, office.at(minute))

    posts("W", 15, "R")
    posts("W", 30, "R", "L")
    for index, store in enumerate(order):
        posts(store, 45 + 15 * index, *"LMW")
    return office


@pytest.mark.parametrize("order", ["ML", "LM"])
def test_each_missing_number_has_the_time_out_of_its_place(order: str) -> None:
    """What the site has waits for the local time-out, and what only other sites have for the remote one, whichever store is
    heard first (spec: BF-2)."""
    office = misses_two(order)
    since = {"ML": (45, 45), "LM": (45, 60)}[order]
    found = sorted((entry.missing[-1], entry.local, entry.due_at) for entry in office["R"].backfill())
    assert found == [
        ("1", True, office.at(since[0]) + 6 * HOUR_US),
        ("2", False, office.at(since[1]) + 12 * HOUR_US),
    ]


def test_numbers_that_no_row_claims_any_more_leave_the_array() -> None:
    """Numbers that no row claims any more leave the array, with an event, so that no entry waits for ever (spec: RST-4, RP-2,
    RP-4)."""
    office = PostOffice()
    backup = office["B"].backup()
    office["B"].post(office.at(1), "Projects", subject="only here")
    office.cycle("B", office.at(15))  # lost
    office["A"].change_folder(office.at(16), "Projects", replicas=["A", "C"])
    office.run(office.at(30))  # B leaves and says what it has
    assert [entry.missing for entry in office["A"].backfill()] == ["B-1"]
    office["B"].close(office.at(31))
    office["B"].restore(office.at(40), backup)  # and has it no more
    for hours in range(0, 10 * 24, 3):
        office.run(office.at(40 + hours * HOUR_MIN))
    assert {name: office[name].backfill() for name in "AC"} == {"A": [], "C": []}


def misses_e0(office: PostOffice) -> tuple[list[tuple[str, Transmission]], int]:
    """B has not received A's post to E0. Return the mail, which may arrive later, and the time when B's entry is due."""
    office["A"].post(office.at(1), "E0", subject="e0")
    late = mails_to(office.cycle("A", office.at(15)), "B")
    deliver_all(office, office.cycle("A", office.at(STATUS_CHECK_MIN)), office.at(STATUS_CHECK_MIN), "B")
    return late, office["B"].backfill()[0].due_at


def test_each_request_gives_its_slot_back_when_its_own_retry_time_ends() -> None:
    """A source that is silent until the retry time-out is marked down then, and its slot becomes free (spec: BF-4, BF-6)."""
    text = THREE_STORES_AND_CONTACT.replace("Projects:", "P:") + "  E0: {replicas: [A, B]}\n"
    office = PostOffice(text + "settings: {Replication Outstanding Backfill Limit: 2}\n")
    late, start = misses_e0(office)

    def at(hours: float) -> int:
        return start + int(hours * HOUR_US)

    office.cycle("B", at(0))  # the request to A is lost, and 12 h later A is marked down for its silence
    office["A"].post(at(0), "P", subject="a")
    office["C"].post(at(0), "P", subject="c")
    deliver_all(office, office.cycle("A", at(0.25)), at(0.25), "")
    deliver_all(office, office.cycle("C", at(0.25)), at(0.25), "A")
    office["A"].post(at(7) - 1, "P", subject="a2")
    deliver_all(office, office.cycle("A", at(7)), at(7), "B")  # A has all, C has its own: one entry
    office["C"].post(at(7) + 1, "P", subject="c2")
    deliver_all(office, office.cycle("C", at(8)), at(8), "B")
    for hours in range(8, 26):
        if hours == 19:
            deliver_all(office, late, at(hours))  # a slot comes free: A is asked in a second round
        office.cycle("B", at(hours))
    # C, asked at 13 h, has been silent for its 12 h.
    downs = {event.store: event.at for event in office.of_type("source.down")}  # type: ignore[attr-defined]
    assert downs.get("C") == at(25)


def test_what_waits_in_the_queue_is_not_asked_for_again() -> None:
    """Numbers held in the queue are not missing; once dropped they make a new entry (spec: BF-2)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Message Size Limit: 1 KB}\n")
    big = ["x" * 900 + "@test.test"]
    office["A"].create_folder(office.at(1), "X", replicas=["A"], contacts=big)
    office["A"].create_folder(office.at(2), "X/Y", replicas=["A"], contacts=big)
    office["A"].change_folder(office.at(3), "X", rename="X2")  # the parent's number is now the later one
    office.cycle("A", office.at(15))
    deliver_all(office, office.cycle("A", office.at(STATUS_CHECK_MIN)), office.at(STATUS_CHECK_MIN), "B")
    due = office["B"].backfill()[0].due_at
    deliver_all(office, office.cycle("B", due), due)
    child, _ = mails_to(office.cycle("A", due), "B")
    office.deliver(child, due)  # the mail with the parent is lost
    [waits] = office.of_type("version.held")
    assert waits.way == "backfill", "it came in a response"  # type: ignore[attr-defined]
    office.cycle("B", office["B"].backfill()[0].due_at)
    asked = [CNSet.parse(event.cnset) for event in office.of_type("request.sent")]  # type: ignore[attr-defined]
    held = ChangeNumber(office["A"]._ctx.store.guid, 2)  # type: ignore[union-attr]
    assert [held in numbers for numbers in asked] == [True, False]


def test_a_backfill_of_associated_messages_brings_no_contents() -> None:
    """In the set of associated messages the numbers of contents are holes; the response brings no content for them (spec:
    BF-5, CN-9)."""
    office = PostOffice()
    for index in range(20):
        office["A"].post(office.at(1), "Projects", subject=f"content {index}")
    office.run(office.at(15))
    office["A"].post(office.at(16), "Projects", subject="a view", associated=True)
    office.cycle("A", office.at(30))  # lost
    entry = tell(office, "B", STATUS_CHECK_MIN + 12 * HOUR_MIN)
    assert (entry.missing, entry.missing_fai) == ("", "A-1..21")
    office.run(entry.due_at)
    answers = [
        event
        for event in office.events
        if isinstance(event, MailSubmitted) and event.message_type == MessageType.CONTENT_RESPONSE
    ]
    assert [(len(answer.folders), answer.folders[0].updates) for answer in answers] == [(1, 1)]
    assert office["B"].backfill() == []
    assert office["B"].knowledge("Projects") == office["A"].knowledge("Projects")


FOUR = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {}, C: {}, D: {}}
settings: {Replication Outstanding Backfill Limit: 2}
folders:
  E0: {replicas: [A, B]}
  P: {replicas: [A, B, C, D]}
"""


def test_a_deferred_entry_keeps_each_slot_only_for_its_retry_time() -> None:
    """A deferred entry keeps each slot that it has until that slot's retry time ends, and no longer (spec: BF-4, BF-6)."""
    office = PostOffice(FOUR)
    late, start = misses_e0(office)

    def at(hours: float) -> int:
        return start + int(hours * HOUR_US)

    office.cycle("B", at(0))  # the request to A is lost, and 12 h later A is marked down for its silence
    for name in "ACD":
        office[name].post(at(0), "P", subject=name)
    for name in "ACD":
        deliver_all(office, office.cycle(name, at(0.25)), at(0.25), "" if name == "A" else "A")
    office["A"].post(at(7) - 1, "P", subject="a2")
    deliver_all(office, office.cycle("A", at(7)), at(7), "B")  # A has all, C and D have their own: one entry
    for name in "CD":
        office[name].post(at(7) + 1, "P", subject="more")
        deliver_all(office, office.cycle(name, at(8)), at(8), "B")
    for hours in range(8, 30):
        if hours == 19:
            deliver_all(office, late, at(hours))  # E0's slot comes free: D is asked, and for A there is none
        office.cycle("B", at(hours))
    # C, asked at 13 h, has been silent for its 12 h.
    downs = {event.store: event.at for event in office.of_type("source.down")}  # type: ignore[attr-defined]
    assert downs.get("C") == at(25)


def test_a_mail_of_a_response_that_claims_nothing_is_no_empty_response() -> None:
    """Here a response sends each version of a conflict in its own mail, and one of them was not requested. The mail that
    claims nothing does not end the request: the other version, and the rest of the request, are still to come (spec: BF-5,
    BF-6)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Message Size Limit: 1 KB}\n")
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office.run(office.at(15))
    for name in "AB":
        office[name].edit(office.at(16), "Projects", message, body=name * 3000)
    from_a, from_b = office.cycle("A", office.at(30)), office.cycle("B", office.at(30))
    deliver_all(office, from_a, office.at(30), "B")  # lost for C
    deliver_all(office, from_b, office.at(30))
    office["A"].post(office.at(31), "Projects", subject="tells of the one")
    deliver_all(office, mails_to(office.cycle("A", office.at(45)), "C"), office.at(45))
    (entry,) = office["C"].backfill()
    assert entry.missing == "A-2"
    requests = office.cycle("C", entry.due_at)
    deliver_all(office, requests, entry.due_at)
    answers = mails_to(office.cycle("A", entry.due_at), "C")
    assert len(answers) == 2
    deliver_all(office, answers, entry.due_at)
    assert office["C"].backfill() == []
    ended = [event for event in office.events if isinstance(event, RequestEnded)]
    assert [event.how for event in ended] == ["satisfied"]
