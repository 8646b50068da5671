"""Which sources a store asks for which changes, and what every mail carries (spec: BF-3, OUT-4, OUT-6, RST-2, BF-8)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from node.codec.replication_message import MessageType, ReplicationMail, decode
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from tests.support.clock import STATUS_CHECK_MIN
from tests.support.forged_mail import HOP, altered
from tests.support.post_office import PostOffice, deliver_all, mails_to
from tests.support.topologies import THREE_STORES_AND_CONTACT
from traces.events import SourcesConsidered
from traces.labtime import HOUR_US
from transport.envelope import Transmission
from transport.mapi.tnef import decode_tnef
from transport.mime.headers import incoming_mail
from transport.mime.message import parse_mail

SITES = """
organization: Test
sites: [SEA, NYC, LON]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10}
  - {name: SEA-LON, between: [SEA, LON], cost: 50}
servers:
  A: {site: SEA}
  B: {site: SEA}
  C: {site: NYC}
  D: {site: LON, settings: {}}
folders:
  Projects: {replicas: [A, B, C, D]}
"""


def opened(office: PostOffice, mail: tuple[str, Transmission]) -> ReplicationMail:
    body = parse_mail(mail[1].content).body
    assert body is not None
    return decode(decode_tnef(body), office["A"]._present().verifier)


def missing_on_a(office: PostOffice) -> SourcesConsidered:
    """B, C and D post and A misses it all, learns of the posts by their statuses and asks. Return the choice as the trace
    shows it."""
    for index, name in enumerate("BCD"):
        office[name].post(office.at(1 + index), "Projects", subject=f"by {name}")
    for name in "BCD":
        for mail in office.cycle(name, office.at(15)):
            if mail[1].next_hop != "A" and mail[1].recipients != ("A-IS@contoso.test",):
                office.deliver(mail, office.at(15))
    for name in "BCD":
        for mail in office.cycle(name, office.at(STATUS_CHECK_MIN)):
            if mail[1].subject == "Folder Status" and mail[1].next_hop == "A":
                office.deliver(mail, office.at(STATUS_CHECK_MIN))
    for entry in office["A"].backfill():
        office["A"].tick(entry.due_at)
    (choice,) = [event for event in office.events if isinstance(event, SourcesConsidered)][:1]
    return choice


def test_sources_are_sorted_by_site_then_cost() -> None:
    """Sources in the same site come first, then by cost of the route; the first is asked for what it has (spec: BF-3)."""
    choice = missing_on_a(PostOffice(SITES))
    assert [candidate.store for candidate in choice.candidates] == ["B", "C", "D"]
    assert [candidate.cost for candidate in choice.candidates] == [0, 10, 50]
    assert choice.chosen[0] == "B"


def test_an_administrator_sees_what_decides_between_sources() -> None:
    """`sources` lists all other stores in their order: cost, transit time, last request, unavailability (BF-3, BF-4)."""
    office = PostOffice(SITES)
    assert [(each.store, each.cost, each.transit_us) for each in office["D"].sources()] == [
        ("A", 50, None),
        ("B", 50, None),
        ("C", 60, None),
    ]
    missing_on_a(office)
    asked = {each.store: each.backfilled_at for each in office["A"].sources()}
    assert asked["B"] == min(event.at for event in office.of_type("request.sent"))
    retries = [request.retry_at for entry in office["A"].backfill() for request in entry.requests]
    office["A"].tick(max(retries))
    assert [each.store for each in office["A"].sources() if each.unavailable] == ["B", "C", "D"]


def test_a_preferred_source_goes_before_all_that_are_up() -> None:
    """The preferred backfill source moves to the head of the list, whatever its cost (spec: BF-3)."""
    preferring = "A: {site: SEA, settings: {Preferred Backfill Source: D}}"
    choice = missing_on_a(PostOffice(SITES.replace("A: {site: SEA}", preferring)))
    assert [candidate.store for candidate in choice.candidates] == ["D", "B", "C"]
    assert choice.candidates[0].passed_over in {"", "is not known to have any of it"}


def test_one_source_s_gap_is_filled_by_the_next_at_once() -> None:
    """If the first source does not have everything, the next is asked for the rest at once (spec: BF-3)."""
    office = PostOffice()
    for name in "BC":
        office[name].post(office.at(1), "Projects", subject=f"by {name}")
    for name in "BC":
        office.cycle(name, office.at(15))  # lost to everybody
    for name in "BC":
        for mail in office.cycle(name, office.at(STATUS_CHECK_MIN)):
            if mail[1].next_hop == "A":
                office.deliver(mail, office.at(STATUS_CHECK_MIN))
    first, second = office["A"].backfill()
    assert first.due_at == second.due_at
    requests = office.cycle("A", first.due_at)
    assert sorted(mail[1].next_hop for mail in requests) == ["B", "C"]


def test_every_mail_names_its_set_and_carries_the_sender_s_own_row() -> None:
    """A mail has its type, names the numbers of its updates and carries the sender's whole row (spec: OUT-4, OUT-6)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="one")
    office.run(office.at(15))
    office["A"].post(office.at(16), "Projects", subject="two")
    mail = opened(office, office.cycle("A", office.at(30))[0])
    (section,) = mail.sections
    names = {office["A"]._ctx.store.guid: "A"} if office["A"]._ctx else {}
    assert mail.type is MessageType.CONTENT
    assert (section.numbers.contents.named(names), section.row.contents.named(names)) == ("A-2", "A-1..2")
    assert [update.version.subject for update in mail.updates] == ["two"]


def test_a_status_may_name_several_folders() -> None:
    """Folders with the same holders share one status mail (spec: OUT-6)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "  More: {replicas: [A, B, C]}\n")
    for path in ("Projects", "More"):
        office["A"].post(office.at(1), path, subject="x")
    office.run(office.at(15))
    statuses = [mail for mail in office.cycle("A", office.at(STATUS_CHECK_MIN)) if mail[1].subject == "Folder Status"]
    assert {len(opened(office, mail).sections) for mail in statuses} == {2}


def test_a_row_is_only_what_its_store_said_in_its_own_last_mail() -> None:
    """A store learns about another only from that store's own mail; a row can be out of date and shows when it was heard
    (spec: RST-2)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(15))
    rows = {row.store: (row.numbers, row.heard_at) for row in office["B"].state("Projects").rows}
    assert rows["A"] == ("A-1", office.at(15))
    assert rows["C"] == ("", None), "C has it too, and has not said so"
    office["C"].post(office.at(16), "Projects", subject="y")
    office.run(office.at(30))
    rows = {row.store: (row.numbers, row.heard_at) for row in office["B"].state("Projects").rows}
    assert rows["C"] == ("A-1, C-1", office.at(30))


def test_backfill_is_not_bound_by_the_schedule() -> None:
    """Requests and responses go at once, whatever the folder's schedule says (spec: BF-8)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("contacts: [kim@test.test]", "schedule: every 4 h"))
    office["A"].post(office.at(1), "Projects", subject="x")
    for mail in office.cycle("A", office.at(240)):
        if mail[1].next_hop != "B":
            office.deliver(mail, office.at(240))
    for mail in office.cycle("A", office.at(STATUS_CHECK_MIN)):
        office.deliver(mail, office.at(STATUS_CHECK_MIN))
    (entry,) = office["B"].backfill()
    office.run(entry.due_at)
    assert entry.due_at % (4 * 3_600_000_000) != 0
    assert [message.subject for message in office["B"].messages("Projects")] == ["x"]


def test_a_mail_sent_before_the_silence_does_not_mark_its_sender_up() -> None:
    """A replayed mail does not mark its sender up, so an outsider cannot keep a dead source at the head of the list (spec:
    BF-4, ML-6)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="heard")
    (captured,) = mails_to(office.cycle("A", office.at(15)), "B")
    office.deliver(captured, office.at(15))
    office["A"].post(office.at(16), "Projects", subject="lost")
    deliver_all(office, office.cycle("A", office.at(30)), office.at(30), "")
    deliver_all(office, office.cycle("A", office.at(STATUS_CHECK_MIN)), office.at(STATUS_CHECK_MIN), "B")
    (entry,) = office["B"].backfill()
    office.cycle("B", entry.due_at)  # the request is lost
    (entry,) = office["B"].backfill()
    office.cycle("B", entry.due_at)
    assert len(office.of_type("source.down")) == 1
    office.deliver(captured, entry.due_at + HOUR_US)
    assert office.of_type("source.up") == []


PREFERRING_A = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {settings: {Preferred Backfill Source: A}}, C: {}}
folders: {Projects: {replicas: [A, B, C]}}
"""


@pytest.mark.parametrize(
    ("sends", "claims", "asked"),
    [
        ((), (), "A-1..2"),
        ((1,), (1,), "A-2"),
        ((), (1, 2), ""),
    ],
)
def test_what_a_source_turns_out_to_lack_is_requested_from_the_next_at_once(
    sends: tuple[int, ...], claims: tuple[int, ...], asked: str
) -> None:
    """If a source answers and claims some of the requested numbers no more, the next source is asked for them at the same
    instant, in the same round. A source that claims what it does not send is not asked again before the retry time-out (spec:
    BF-3, BF-5)."""
    office = PostOffice(PREFERRING_A)
    for number in (1, 2):
        office["A"].post(office.at(number), "Projects", subject=f"lost {number}")
    deliver_all(office, office.cycle("A", office.at(15)), office.at(15), "C")
    statuses = [mails_to(office.cycle(name, office.at(STATUS_CHECK_MIN)), "B") for name in "AC"]
    for mails in statuses:
        deliver_all(office, mails, office.at(STATUS_CHECK_MIN))
    (entry,) = office["B"].backfill()
    (request,) = office.cycle("B", entry.due_at)
    assert request[1].next_hop == "A"
    guid = opened(office, request).sections[0].numbers.contents.guids()[0]

    def answer(mail: ReplicationMail) -> ReplicationMail:
        row, numbers = (
            NumberSets(CNSet.from_numbers(ChangeNumber(guid, each) for each in counters))
            for counters in (claims, sends)
        )
        section = replace(mail.sections[0], row=row, numbers=numbers)
        return replace(
            mail,
            type=MessageType.CONTENT_RESPONSE,
            sections=(section,),
            sent_at=entry.due_at,
            number=99,
            message_id="x@a",
        )

    forged = altered(office, statuses[0][0][1].content, answer)
    office["B"].mail_in(entry.due_at, HOP, incoming_mail("", ["B-IS@contoso.test"], forged))
    requests = office.cycle("B", entry.due_at)
    assert [mail[1].next_hop for mail in requests] == (["C"] if asked else [])
    (after,) = office["B"].backfill()
    assert (after.attempts, after.due_at) == (1, entry.due_at + 12 * HOUR_US)
    assert [(each.source, each.numbers) for each in after.requests] == ([("C", asked)] if asked else [])
    assert office.of_type("source.down") == []


def test_an_old_empty_response_does_not_end_a_new_request() -> None:
    """A request ends with its own answer or its time-out. A replayed older, empty response neither ends it nor keeps a silent
    source from being marked down (spec: BF-4, BF-5, BF-6)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="lost")
    office.cycle("A", office.at(15))
    (status_mail,) = mails_to(office.cycle("A", office.at(STATUS_CHECK_MIN)), "B")
    office.deliver(status_mail, office.at(STATUS_CHECK_MIN))

    def old_and_empty(mail: ReplicationMail) -> ReplicationMail:
        section = replace(mail.sections[0], numbers=NumberSets.EMPTY)
        kind = MessageType.CONTENT_RESPONSE
        return replace(mail, type=kind, sections=(section,), in_reply_to="an-older-request@x.test")

    due = office["B"].backfill()[0].due_at
    office.cycle("B", due)  # the request is lost
    content = altered(office, status_mail[1].content, old_and_empty)
    office["B"].mail_in(due + HOUR_US, HOP, incoming_mail("", ["B-IS@contoso.test"], content))
    (entry,) = office["B"].backfill()
    assert [request.source for request in entry.requests] == ["A"]
    office.cycle("B", entry.due_at)
    assert len(office.of_type("source.down")) == 1
