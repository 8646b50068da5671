"""The message transfer agent on a real database and a real routing, without a socket."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
import sqlalchemy
from sqlalchemy.pool import StaticPool

from topology.load import topology_from_text
from topology.routes import Routing
from topology.settings import RawSetting, Settings
from topology.versions import ServerVersion
from traces.events import HopExpired, HopFailed, HopReceived, HopSent
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, SECOND_US, parse_instant
from traces.recorder import Recorder
from transport import mta_queue
from transport.mta import Mta
from transport.mta_values import (
    IncomingHop,
    LocalDelivery,
    OutgoingMail,
    Priority,
    RecipientRefusal,
    RefusalError,
    SendOutcome,
    SendState,
    Transmission,
    UnknownRecipientError,
)
from transport.policy import EXPIRY_US, HOP_LIMIT, RETRY_US, MtaPolicy, PriorityPolicy
from transport.sql import Connection
from transport.stimulus import Stimulus
from transport.tables import create_tables

START_AT = parse_instant("2003-10-21T00:00Z")

LINES = """
organization: Contoso
domain: contoso.test
sites: [SEA, NYC, LON, TKO]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}, C2: {site: NYC}, D: {site: LON}, E: {site: TKO}}
connectors:
  - {name: SEA-NYC, kind: routing-group, between: [SEA, NYC], cost: 10, latency: 80 ms}
  - {name: NYC-LON, kind: routing-group, between: [NYC, LON], cost: 10}
  - {name: SEA-LON, kind: x400, between: [SEA, LON], cost: 50, size_limit: 2 KB}
  - {name: slow, kind: routing-group, between: [SEA, TKO], cost: 10, bandwidth: 8 kbit/s, latency: 1 s}
"""
TOPOLOGY = topology_from_text(LINES)


@dataclass
class Server:
    """A server's MTA with its database; `at` is the lab time of the next stimulus."""

    mta: Mta
    conn: Connection
    trace: Recorder
    at: int = START_AT
    known: dict[str, str] = field(default_factory=dict)

    def stimulus(self) -> Stimulus:
        self.trace.begin(self.at)
        return Stimulus(self.conn, self.at, self.trace)

    def submit(self, *recipients: str, size: int = 100, **more: object) -> list[LocalDelivery]:
        return self.mta.submit(self.stimulus(), outgoing(*recipients, size=size, **more))

    def ready(self, limit: int = 100, busy: Sequence[int] = ()) -> list[Transmission]:
        return self.mta.ready(self.conn, self.at, limit, frozenset(busy))

    def next_due(self) -> int | None:
        return self.mta.next_due(self.conn)

    def count(self, table: str) -> int:
        return int(self.conn.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())

    def route(self, *down: str) -> None:
        self.mta.routing = Routing(TOPOLOGY, frozenset(down))


def outgoing(*recipients: str, size: int = 100, **more: object) -> OutgoingMail:
    """A mail of `size` bytes from A's store."""
    values: dict[str, object] = {
        "message_id": "<1@A>",
        "sender": "A-IS@contoso.test",
        "recipients": tuple(recipients),
        "content": (b"Subject: a\r\n\r\n" + b"x" * size)[: size - 2] + b"\r\n",
        "priority": Priority.NORMAL,
        "subject": "a",
    }
    return OutgoingMail(**(values | more))  # type: ignore[arg-type]


def make_server(conn: Connection, name: str = "A", policy: MtaPolicy | None = None) -> Server:
    known = {f"{server}-IS@contoso.test": server for server in TOPOLOGY.servers}
    known["kim@contoso.test"] = "A"
    mta = Mta(name, Routing(TOPOLOGY), known.get, policy)
    return Server(mta, conn, Recorder(run="r", node=name, checked=True), known=known)


@contextmanager
def database() -> Iterator[Connection]:
    engine = sqlalchemy.create_engine("sqlite://", poolclass=StaticPool)
    with engine.connect() as connection:
        create_tables(connection)
        yield Connection.of(connection)
    engine.dispose()


@pytest.fixture
def conn() -> Iterator[Connection]:
    with database() as connection:
        yield connection


@pytest.fixture
def a(conn: Connection) -> Server:
    """Server A of site SEA, which is the bridgehead there."""
    return make_server(conn)


def to(*servers: str) -> tuple[str, ...]:
    return tuple(f"{server}-IS@contoso.test" for server in servers)


# --- splitting


def test_a_mail_for_this_server_is_delivered_at_once(a: Server) -> None:
    """What the store sends to an address of its own server needs no queue."""
    assert a.submit("kim@contoso.test") == [
        LocalDelivery(("kim@contoso.test",), "A-IS@contoso.test", outgoing("x").content, "<1@A>", None)
    ]
    assert a.next_due() is None


def test_one_copy_goes_to_each_next_hop(a: Server) -> None:
    """RT-1: one copy crosses a connector for all recipients behind it; servers of the site get one each."""
    assert a.submit(*to("C", "B", "D", "C2")) == []
    a.at += SECOND_US
    copies = {(t.next_hop, t.connector): t.recipients for t in a.ready()}
    assert copies == {("C", "SEA-NYC"): to("C", "D", "C2"), ("B", None): to("B")}
    assert a.count("mta_content") == 1


def test_a_recipient_named_twice_gets_one_copy(a: Server) -> None:
    """Doubled recipients are one."""
    a.submit(*to("B", "B"))
    assert [t.recipients for t in a.ready()] == [to("B")]


def test_a_bridgehead_relays(conn: Connection) -> None:
    """RT-1: what a bridgehead is given for other servers it passes on, and what is for itself it delivers."""
    c = make_server(conn, "C")
    hop = IncomingHop("A", START_AT - 5, 41, Priority.URGENT)
    content = b"Subject: a\r\n\r\nb\r\n"
    local = c.mta.accept(
        c.stimulus(), hop, "A-IS@contoso.test", to("C", "C2", "D"), content, message_id="<1@A>", subject="a"
    )
    received = b"Received: from A by C with ESMTP; Tue, 21 Oct 2003 00:00:00 +0000\r\n"
    assert local == [LocalDelivery(to("C"), "A-IS@contoso.test", received + content, "<1@A>", hop)]
    passed = [(t.next_hop, t.connector, t.recipients, t.content, t.priority) for t in c.ready()]
    assert passed == [
        ("C2", None, to("C2"), received + content, Priority.URGENT),
        ("D", "NYC-LON", to("D"), received + content, Priority.URGENT),
    ]
    (event,) = c.trace.events
    assert isinstance(event, HopReceived)
    assert (event.peer, event.recipients, event.size, event.mail) == ("A", to("C", "C2", "D"), 17, "<1@A>")
    assert event.lamport == 42 and {t.lamport for t in c.ready()} == {42}


def test_a_server_that_is_no_bridgehead_hands_on_to_the_one_that_is(conn: Connection) -> None:
    """RT-1: the connector is crossed by its bridgehead; the way there is within the site."""
    b = make_server(conn, "B")
    b.submit(*to("C", "D"))
    assert [(t.next_hop, t.connector, t.recipients) for t in b.ready()] == [("A", None, to("C", "D"))]


# --- refusing


def test_an_unknown_recipient_is_refused(a: Server) -> None:
    """ML-7: nobody outside the organization is relayed for, at RCPT or after; nothing is changed."""
    a.mta.check_recipient("kim@contoso.test")
    with pytest.raises(UnknownRecipientError, match=r"550 5\.1\.1"):
        a.mta.check_recipient("x@elsewhere.test")
    with pytest.raises(UnknownRecipientError) as refusal:
        a.mta.accept(
            a.stimulus(),
            IncomingHop("x", None, 99),
            "",
            (*to("B"), "x@elsewhere.test"),
            b"a\r\n",
            message_id="",
            subject="",
        )
    assert refusal.value.addresses == ("x@elsewhere.test",) and refusal.value.permanent
    assert (a.next_due(), a.trace.events, a.trace.lamport) == (None, [], 0)


def test_a_mail_loop_is_refused(a: Server) -> None:
    """ML-7: a mail with more Received lines than the limit is refused; one with as many as that is taken."""
    for hops in (HOP_LIMIT, HOP_LIMIT + 1):
        content = b"received: from x by y\r\n" * hops + b"Subject: Received: a\r\n\r\nReceived: b\r\n"
        give = (a.stimulus(), IncomingHop("x", None, 0), "", to("B"), content)
        if hops == HOP_LIMIT:
            a.mta.accept(*give, message_id="", subject="")
            continue
        with pytest.raises(RefusalError, match=r"554 5\.4\.6 a mail loop"):
            a.mta.accept(*give, message_id="", subject="")
    assert a.count("mta_queue") == 1


def test_a_mail_without_recipients_is_refused(a: Server) -> None:
    """There is nobody to take it for."""
    with pytest.raises(RefusalError, match="554"):
        a.mta.accept(a.stimulus(), IncomingHop("x", None, 0), "", (), b"a\r\n", message_id="", subject="")


# --- the queue


def test_due_mail_goes_by_priority_then_time_then_order(a: Server) -> None:
    """OUT-8, RT-2: the urgent first, then the older, then the one queued before."""
    for number, priority in enumerate([0, -1, 1, 0, 1]):
        a.at = START_AT + number // 2
        a.submit(*to("B"), priority=Priority(priority), message_id=f"<{number}@A>")
    a.at = START_AT + SECOND_US
    assert [t.message_id for t in a.ready()] == ["<2@A>", "<4@A>", "<0@A>", "<3@A>", "<1@A>"]
    assert [t.message_id for t in a.ready(limit=2)] == ["<2@A>", "<4@A>"]
    busy = [t.queue_id for t in a.ready(limit=2)]
    assert [t.message_id for t in a.ready(limit=2, busy=busy)] == ["<0@A>", "<3@A>"]
    assert [q.message_id for q in a.mta.queued(a.conn)] == ["<2@A>", "<4@A>", "<0@A>", "<3@A>", "<1@A>"]


def test_a_transmission_says_all_that_a_driver_needs(a: Server) -> None:
    """Envelope, content, the lab time of the attempt and the Lamport number of the queueing."""
    a.trace.lamport = 7
    a.submit(*to("B"))
    a.at += 5
    (t,) = a.ready()
    assert t == Transmission(
        queue_id=1,
        next_hop="B",
        connector=None,
        sender="A-IS@contoso.test",
        recipients=to("B"),
        content=outgoing("x").content,
        message_id="<1@A>",
        subject="a",
        attempts=0,
        priority=Priority.NORMAL,
        sent_at=START_AT + 5,
        lamport=7,
    )
    assert t.hop_from("A") == IncomingHop("A", START_AT + 5, 7)


def test_a_content_is_stored_once_and_goes_with_its_last_copy(a: Server) -> None:
    """OUT-9: a copy stays queued until it is reported delivered, a content until no copy needs it."""
    a.submit(*to("B", "C"))
    a.at += SECOND_US
    first, second = a.ready()
    a.mta.delivered(a.stimulus(), first.queue_id)
    (event,) = a.trace.events
    assert isinstance(event, HopSent)
    assert (event.next_hop, event.recipients, event.attempt, event.size) == ("B", to("B"), 1, 100)
    assert (a.count("mta_content"), a.count("mta_queue")) == (1, 1)
    a.mta.concluded(a.stimulus(), second.queue_id, SendOutcome(SendState.DELIVERED))
    assert (a.count("mta_content"), a.count("mta_queue"), a.next_due()) == (0, 0, None)


def test_a_report_of_a_row_that_is_gone_changes_nothing(a: Server) -> None:
    """OUT-9: a repeated or late report is harmless, and no id is ever used for another mail."""
    a.submit(*to("B"))
    (t,) = a.ready()
    a.mta.delivered(a.stimulus(), t.queue_id)
    a.submit(*to("B"), message_id="<2@A>")
    assert a.mta.delivered(a.stimulus(), t.queue_id) == []
    assert a.mta.deferred(a.stimulus(), t.queue_id, "x", permanent=True) == []
    assert a.trace.events == [] and [q.message_id for q in a.mta.queued(a.conn)] == ["<2@A>"]


def test_a_held_mail_waits_until_its_time(a: Server) -> None:
    """The delay fault is a due time, like every other delay."""
    a.submit(*to("B"))
    a.mta.hold(a.stimulus(), a.ready()[0].queue_id, START_AT + HOUR_US)
    assert a.ready() == [] and a.next_due() == START_AT + HOUR_US
    a.at = START_AT + HOUR_US
    assert len(a.ready()) == 1


# --- links


def test_latency_is_lab_time_before_the_other_end_is_reached(a: Server) -> None:
    """RT-1: a copy over a connector is due when the latency has passed, one within the site at once."""
    a.submit(*to("C", "B"))
    assert [t.next_hop for t in a.ready()] == ["B"]
    a.at += 80_000 - 1
    assert [t.next_hop for t in a.ready()] == ["B"]
    a.at += 1
    assert [t.next_hop for t in a.ready()] == ["B", "C"]


def test_bandwidth_lets_one_mail_pass_at_a_time(a: Server) -> None:
    """RT-1: 1000 bytes keep a link of 8 kbit/s busy for a second; the next mail begins after it."""
    a.submit(*to("E"), size=1000)
    a.submit(*to("E"), size=2000)
    assert [q.due_at - START_AT for q in a.mta.queued(a.conn)] == [2 * SECOND_US, 4 * SECOND_US]
    a.at += 10 * SECOND_US
    a.submit(*to("E"), size=1000)
    assert a.mta.queued(a.conn)[-1].due_at == START_AT + 12 * SECOND_US


def test_an_urgent_mail_overtakes_those_that_have_not_begun(a: Server) -> None:
    """RT-2: on a slow link the urgent goes before what waits, but not before what is on its way."""
    for name, priority in (("1", 0), ("2", 0), ("3", -1)):
        a.submit(*to("E"), size=1000, priority=Priority(priority), message_id=name)
    a.at += SECOND_US // 2
    a.submit(*to("E"), size=1000, priority=Priority.URGENT, message_id="urgent")
    a.submit(*to("E"), size=1000, priority=Priority.NORMAL, message_id="4")
    due = {q.message_id: (q.due_at - START_AT) // SECOND_US for q in a.mta.queued(a.conn)}
    assert due == {"1": 2, "urgent": 3, "2": 4, "4": 5, "3": 6}


def test_what_begins_this_instant_has_begun(a: Server) -> None:
    """RT-2: an urgent mail of the same instant goes second to the one that found the link free."""
    a.submit(*to("E"), size=1000, message_id="1")
    a.submit(*to("E"), size=1000, priority=Priority.URGENT, message_id="urgent")
    assert {q.message_id: q.due_at - START_AT for q in a.mta.queued(a.conn)} == {
        "1": 2 * SECOND_US,
        "urgent": 3 * SECOND_US,
    }


def test_a_held_mail_gives_up_its_place_on_the_link(a: Server) -> None:
    """Its due time is the one of the fault, whatever goes over the link meanwhile."""
    for name in ("1", "2"):
        a.submit(*to("E"), size=1000, message_id=name)
    a.mta.hold(a.stimulus(), 2, START_AT + HOUR_US)
    a.submit(*to("E"), size=1000, priority=Priority.URGENT, message_id="urgent")
    assert a.mta.queued(a.conn)[-1].due_at == START_AT + HOUR_US


def test_mails_on_a_slow_link_never_overlap_and_go_by_priority(a: Server) -> None:
    """RT-1, RT-2: whatever is queued when, the link carries one mail at a time without a pause between waiting ones."""
    for number in range(60):
        a.at += (number * 7919) % 1300 * 1000
        priority = Priority((number * 31) % 3 - 1)
        a.submit(*to("E"), size=200 + (number * 577) % 1800, priority=priority, message_id=str(number))
    rows = a.conn.exec_driver_sql(
        "SELECT starts_at, transfer_us, due_at, priority FROM mta_queue ORDER BY starts_at"
    ).fetchall()
    for (starts_at, transfer_us, due_at, _), after in zip(rows, [*rows[1:], None], strict=True):
        assert due_at == starts_at + transfer_us + SECOND_US
        assert after is None or starts_at + transfer_us <= after[0]
    waiting = [row[3] for row in rows if row[0] > a.at]
    assert waiting == sorted(waiting, reverse=True) and len(waiting) > 10


def test_a_mail_waits_for_its_connector_to_open(conn: Connection) -> None:
    """RT-1: a connector with a schedule is crossed in its quarter hours only, new mail and retries alike."""
    scheduled = topology_from_text(LINES.replace("cost: 50,", "cost: 1, schedule: every 4 h,"))
    d = make_server(conn)
    d.mta.routing = Routing(scheduled)
    d.at = START_AT + HOUR_US
    d.submit(*to("D"))
    assert d.next_due() == START_AT + 4 * HOUR_US
    d.at = START_AT + 4 * HOUR_US + 14 * MINUTE_US
    d.mta.deferred(d.stimulus(), d.ready()[0].queue_id, "busy")
    assert d.next_due() == START_AT + 8 * HOUR_US
    (event,) = d.trace.events
    assert isinstance(event, HopFailed) and event.retry_at == START_AT + 8 * HOUR_US


def test_a_mail_too_large_for_its_connector_goes_back(a: Server) -> None:
    """OUT-7: only a connector that says so limits the size; what fits crosses."""
    a.route("SEA-NYC")
    limit = next(connector.size_limit for connector in TOPOLOGY.connectors if connector.name == "SEA-LON")
    assert limit is not None
    assert a.submit(*to("D"), size=limit) == []
    (notice,) = a.submit(*to("D"), size=limit + 1, message_id="<2@A>")
    assert notice.recipients == to("A") and b"5.3.4 larger than the connector SEA-LON" in notice.content
    assert a.count("mta_queue") == 1


# --- retry, expiry, return


def test_a_failed_mail_is_tried_again_after_the_interval(a: Server) -> None:
    """RT-2: the retry is a due time; the failure is in the trace with it."""
    a.submit(*to("B"))
    (t,) = a.ready()
    a.mta.concluded(a.stimulus(), t.queue_id, SendOutcome(SendState.DEFERRED, "450 later"))
    (event,) = a.trace.events
    assert isinstance(event, HopFailed)
    assert (event.next_hop, event.reason, event.retry_at) == ("B", "450 later", START_AT + RETRY_US)
    assert a.ready() == [] and a.next_due() == START_AT + RETRY_US
    a.at += RETRY_US
    (again,) = a.ready()
    assert (again.queue_id, again.attempts) == (t.queue_id, 1)
    assert a.mta.queued(a.conn)[0].last_error == "450 later"


def fail_until_empty(server: Server) -> tuple[int, list[LocalDelivery]]:
    """Every attempt fails; gives the number of attempts and what came back."""
    attempts = 0
    local: list[LocalDelivery] = []
    for _ in range(1000):
        due_at = server.next_due()
        if due_at is None:
            return attempts, local
        server.at = max(server.at, due_at)
        local += server.mta.tick(server.stimulus())
        for transmission in server.ready():
            attempts += 1
            local += server.mta.deferred(server.stimulus(), transmission.queue_id, "nobody there")
    raise AssertionError("the queue never became empty")


def test_an_expired_mail_is_returned(a: Server) -> None:
    """RT-2, ML-7: after two days the sender gets a notice from the null sender, and the trace says so."""
    a.submit(*to("B", "C2"))
    attempts, local = fail_until_empty(a)
    # One at once, one after each interval; the last retry of the mail over the link comes at the expiry, too.
    assert attempts == 2 * (EXPIRY_US // RETRY_US + 1)
    assert a.at == START_AT + EXPIRY_US
    assert [(delivery.recipients, delivery.sender) for delivery in local] == [(to("A"), "")] * 2
    assert b"nobody there" in local[0].content and b"4.4.7" in local[0].content
    event = a.trace.events[-1]
    assert isinstance(event, HopExpired) and event.reason.startswith("4.4.7 not delivered before it expired")


def test_patience_depends_on_the_priority(conn: Connection) -> None:
    """RT-2: interval and expiry are settings per priority."""
    policy = MtaPolicy(urgent=PriorityPolicy(MINUTE_US, HOUR_US), not_urgent=PriorityPolicy(HOUR_US, DAY_US))
    for priority, attempts in ((Priority.URGENT, 61), (Priority.NOT_URGENT, 25)):
        server = make_server(conn, policy=policy)
        server.submit(*to("B"), priority=priority)
        assert fail_until_empty(server)[0] == attempts


def test_the_number_of_retries_can_be_limited(conn: Connection) -> None:
    """RT-2: a mail goes back after so many retries, however young it is."""
    server = make_server(conn, policy=MtaPolicy(max_retries=3))
    server.submit(*to("B"))
    attempts, (notice,) = fail_until_empty(server)
    assert attempts == 4 and b"not delivered in 3 retries" in notice.content


def test_the_policy_comes_from_the_settings() -> None:
    """SE-1: what an administrator set is what the MTA does; the defaults of both are the same."""
    assert MtaPolicy.of_settings(Settings.read(ServerVersion.V2003)) == MtaPolicy()
    own: dict[str, RawSetting] = {
        "MTA Retry Interval Urgent": "1 min",
        "MTA Expiry Not Urgent": "1 h",
        "MTA Hop Limit": 5,
        "MTA Maximum Retries": 2,
    }
    policy = MtaPolicy.of_settings(Settings.read(ServerVersion.V2003, own))
    assert policy == MtaPolicy(
        urgent=PriorityPolicy(retry_us=MINUTE_US),
        not_urgent=PriorityPolicy(expiry_us=HOUR_US),
        hop_limit=5,
        max_retries=2,
    )
    with pytest.raises(ValueError, match="above zero"):
        PriorityPolicy(retry_us=0)


def test_a_refused_mail_is_returned_at_once(a: Server) -> None:
    """RT-2: 5xx is no reason to try again."""
    a.submit(*to("B"))
    outcome = SendOutcome(SendState.REFUSED, "554 5.4.6 a mail loop")
    (notice,) = a.mta.concluded(a.stimulus(), a.ready()[0].queue_id, outcome)
    assert b"Status: 5.4.6" in notice.content and a.count("mta_content") == 0
    failed, expired = a.trace.events
    assert isinstance(failed, HopFailed) and failed.retry_at is None
    assert isinstance(expired, HopExpired) and expired.recipients == to("B")


def test_no_notice_answers_a_notice(a: Server) -> None:
    """ML-7: what comes from the null sender is given up in silence, save in the trace."""
    a.submit(*to("B"), sender="")
    assert a.mta.deferred(a.stimulus(), a.ready()[0].queue_id, "550 no", permanent=True) == []
    assert isinstance(a.trace.events[-1], HopExpired)
    assert (a.count("mta_queue"), a.count("mta_content")) == (0, 0)


def test_a_notice_travels_to_a_sender_elsewhere(conn: Connection) -> None:
    """ML-7: a relay that gives up sends the notice on its way, from the null sender."""
    c = make_server(conn, "C")
    hop = IncomingHop("A", None, 0)
    c.mta.accept(c.stimulus(), hop, "A-IS@contoso.test", to("D"), b"a\r\n", message_id="<1@A>", subject="a")
    assert c.mta.deferred(c.stimulus(), c.ready()[0].queue_id, "550 5.1.1 no", permanent=True) == []
    c.at += SECOND_US
    (notice,) = c.ready()
    assert (notice.sender, notice.recipients, notice.next_hop) == ("", to("A"), "A")
    assert notice.subject == "Undeliverable: a"


def test_a_mail_to_nobody_comes_back_at_once(a: Server) -> None:
    """ML-7: an address that the organization does not have is answered with a notice; the others get the mail."""
    (notice,) = a.submit("x@contoso.test", *to("B"))
    assert notice.recipients == to("A") and b"5.1.1 no such address" in notice.content
    assert [t.recipients for t in a.ready()] == [to("B")]
    assert a.submit("x@contoso.test", sender="y@elsewhere.test") == []


def test_refused_recipients_are_told_from_those_that_got_the_mail(a: Server) -> None:
    """Of one copy some may be delivered, some come back and some be tried again."""
    a.submit(*to("C", "C2", "D"))
    a.at += SECOND_US
    refusals = (RecipientRefusal(to("C2")[0], "550 no", True), RecipientRefusal(to("D")[0], "450 full", False))
    outcome = SendOutcome(SendState.DELIVERED, "250 ok", refusals)
    (notice,) = a.mta.concluded(a.stimulus(), a.ready()[0].queue_id, outcome)
    sent, failed, expired = a.trace.events
    assert isinstance(sent, HopSent) and sent.recipients == to("C")
    assert isinstance(failed, HopFailed) and failed.retry_at == a.at + RETRY_US
    assert isinstance(expired, HopExpired) and expired.recipients == to("C2")
    assert b"550 no" in notice.content and b"450 full" not in notice.content
    assert [(q.recipients, q.attempts) for q in a.mta.queued(a.conn)] == [(to("D"), 1)]


def test_a_copy_that_nobody_took_is_judged_by_recipient(a: Server) -> None:
    """With all recipients refused, those for good come back and the others are tried again."""
    a.submit(*to("C", "D"))
    a.at += SECOND_US
    refusals = (RecipientRefusal(to("C")[0], "550 no", True), RecipientRefusal(to("D")[0], "450 full", False))
    outcome = SendOutcome(SendState.DEFERRED, "550 no; 450 full", refusals)
    (notice,) = a.mta.concluded(a.stimulus(), a.ready()[0].queue_id, outcome)
    assert [type(event) for event in a.trace.events] == [HopFailed, HopExpired]
    assert notice.recipients == to("A")
    assert [q.recipients for q in a.mta.queued(a.conn)] == [to("D")]


# --- routes that change


def test_a_link_that_went_down_changes_the_route_of_what_failed(a: Server) -> None:
    """RT-2: at the next failure the mail takes the way that is open, at once; recipients may part."""
    a.submit(*to("C", "D"))
    a.at += SECOND_US
    (t,) = a.ready()
    a.route("SEA-NYC")
    a.mta.deferred(a.stimulus(), t.queue_id, "nobody there")
    assert [(t.next_hop, t.connector, t.recipients) for t in a.ready()] == [("D", "SEA-LON", to("C", "D"))]
    a.route("SEA-NYC", "NYC-LON")
    a.mta.deferred(a.stimulus(), t.queue_id, "nobody there")
    # D is tried again on the same way after the interval, C has none.
    assert a.ready() == []
    rows = [(q.next_hop, q.recipients, q.attempts, q.expires_at) for q in a.mta.queued(a.conn)]
    assert rows == [
        ("D", to("D"), 2, START_AT + EXPIRY_US),
        (None, to("C"), 2, START_AT + EXPIRY_US),
    ]
    assert a.count("mta_content") == 1


def test_rerouting_moves_what_waits(a: Server) -> None:
    """RT-2: when links change, queued mail goes the new way without waiting for its retry."""
    a.submit(*to("C", "B"))
    a.at += SECOND_US
    for t in a.ready():
        a.mta.deferred(a.stimulus(), t.queue_id, "nobody there")
    assert a.ready() == []
    a.route("SEA-NYC")
    assert a.mta.reroute(a.stimulus()) == []
    assert [(t.next_hop, t.connector, t.attempts) for t in a.ready()] == [("D", "SEA-LON", 1)]
    assert a.mta.reroute(a.stimulus()) == []
    assert len(a.mta.queued(a.conn)) == 2


def test_a_mail_without_a_route_waits_for_one(a: Server) -> None:
    """RT-2: no route is looked at again every interval, costs no attempt, and expires like a mail that fails."""
    a.route("slow")
    a.submit(*to("E"))
    (event,) = a.trace.events
    assert isinstance(event, HopFailed)
    assert (event.next_hop, event.connector, event.retry_at) == ("", None, START_AT + RETRY_US)
    a.at += RETRY_US
    assert a.ready() == [] and a.mta.tick(a.stimulus()) == []
    assert a.next_due() == START_AT + 2 * RETRY_US
    a.route()
    a.at += RETRY_US
    assert a.mta.tick(a.stimulus()) == [] and a.trace.events == []
    (row,) = a.mta.queued(a.conn)
    assert (row.next_hop, row.attempts, row.due_at) == ("E", 0, a.at + 1_100_000)


def test_a_mail_that_never_finds_a_route_is_returned(a: Server) -> None:
    """RT-2: the notice says that there was no route."""
    a.route("slow")
    a.submit(*to("E"))
    attempts, (notice,) = fail_until_empty(a)
    assert attempts == 0 and a.at == START_AT + EXPIRY_US
    assert b"4.4.4 no route" in notice.content


def test_a_connector_that_never_opens_is_no_route(a: Server) -> None:
    """RT-1: mail waits as if the connector were down."""
    a.mta.routing = Routing(topology_from_text(LINES.replace("cost: 50,", "cost: 1, schedule: never,")))
    a.submit(*to("D"))
    assert [q.next_hop for q in a.mta.queued(a.conn)] == [None]


def test_an_address_that_moved_here_or_vanished_leaves_the_queue(a: Server) -> None:
    """A mail follows its recipient; when that is now this server, it is delivered here."""
    a.submit(*to("B", "C"))
    a.known[to("B")[0]] = "A"
    del a.known[to("C")[0]]
    local = a.mta.reroute(a.stimulus())
    assert [delivery.recipients for delivery in local] == [to("B"), to("A")]
    assert (a.count("mta_queue"), a.count("mta_content")) == (0, 0)
    a.submit(*to("D", "C2"))
    del a.known[to("D")[0]]
    (notice,) = a.mta.reroute(a.stimulus())
    assert notice.recipients == to("A")
    assert [q.recipients for q in a.mta.queued(a.conn)] == [to("C2")]


def test_another_connector_to_the_same_server_is_another_way(a: Server) -> None:
    """RT-2: when one of two connectors goes down, the mail takes the other, with that one's latency."""
    two = "  - {name: spare, kind: x400, between: [SEA, NYC], cost: 20, latency: 1 s}\n"
    twofold = topology_from_text(LINES + two)
    a.mta.routing = Routing(twofold)
    a.submit(*to("C"))
    a.mta.routing = Routing(twofold, frozenset({"SEA-NYC"}))
    a.mta.reroute(a.stimulus())
    assert [(q.connector, q.due_at) for q in a.mta.queued(a.conn)] == [("spare", START_AT + SECOND_US)]


# --- determinism


def test_the_same_stimuli_give_the_same_bytes() -> None:
    """Nothing in the agent depends on anything but what it is handed."""
    runs = []
    for _ in range(2):
        with database() as conn:
            server = make_server(conn)
            local = server.submit("x@contoso.test", *to("B", "C", "E", "D"))
            fail_until_empty(server)
            runs.append((local, server.trace.take(), server.trace.seq))
    assert runs[0] == runs[1] and runs[0][1]


# --- cost


def test_a_long_queue_costs_no_more_than_a_short_one(a: Server) -> None:
    """What runs for every mail looks things up by an index, and goes through no table."""
    for number in range(50):
        a.submit(*to("B", "E"), message_id=f"<{number}@A>")
    statements = [
        (mta_queue._DUE_OF_PRIORITY, (0, a.at, 10)),
        (mta_queue._NEXT_DUE, ()),
        (mta_queue._UNROUTED, (a.at,)),
        (mta_queue._SELECT_ROW + " WHERE q.id = ?", (1,)),
        (mta_queue._DELETE_CONTENT, (1, 1)),
        (mta_queue._FIRST_WAITING, ("slow", "E", 0, a.at)),
        (mta_queue._PUSH_BACK, (1, 1, "slow", "E", 0, a.at)),
        (mta_queue._LINK_FREE, ("slow", "E")),
    ]
    for sql, parameters in statements:
        plan = [row[3] for row in a.conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters)]
        assert not any(re.match(r"SCAN (q|c|mta_\w+)\b", step) for step in plan), (sql, plan)
