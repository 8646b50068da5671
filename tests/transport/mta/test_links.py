"""Links of the MTA: latency, bandwidth, opening hours and sizes, all in lab time."""

import pytest

from tests.support.clock import START_AT
from tests.support.mta_server import LINES, TOPOLOGY, Server, make_server, to
from topology.file.load import topology_from_text
from topology.routing import Routing
from traces.events import HopFailed, HopSent
from traces.labtime import HOUR_US, MINUTE_US, SECOND_US
from transport.envelope import IncomingHop, Priority, RefusalError, SendOutcome, SendState
from transport.mta.retry_policy import MtaPolicy
from transport.sql import Connection


def test_a_copy_over_a_connector_is_due_after_its_latency(a: Server) -> None:
    """RT-1: a copy over a connector is due after the latency, one within the site at once."""
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


def test_a_hop_has_a_beginning(a: Server) -> None:
    """The trace says when a mail began to cross: at its turn on a slow link, at its opening, or when the attempt began."""
    a.submit(*to("E"), size=1000, message_id="1")
    a.submit(*to("E"), size=2000, message_id="2")
    a.submit(*to("C"), message_id="3")
    a.submit(*to("B"), message_id="4")
    started_at = a.at
    a.at += 5 * SECOND_US
    begun: dict[str | None, int | None] = {}
    for transmission in a.ready():
        outcome = SendOutcome(SendState.DELIVERED, begun_at=transmission.sent_at)
        a.at += SECOND_US
        a.mta.concluded(a.stimulus(), transmission.queue_id, outcome)
        (hop,) = a.trace.events
        assert isinstance(hop, HopSent)
        begun[hop.mail] = None if hop.begun_at is None else hop.begun_at - started_at
    assert begun == {"1": 0, "2": SECOND_US, "3": 0, "4": 5 * SECOND_US}


def test_an_attempt_that_fails_has_a_beginning_too(a: Server) -> None:
    """A retry begins when it is made; an attempt that took no lab time has no beginning of its own."""
    a.submit(*to("C"), message_id="3")
    a.at += SECOND_US
    (first,) = a.ready()
    a.deferred(first.queue_id, "450 later")
    (failed,) = a.trace.events
    a.at += HOUR_US
    (again,) = a.ready()
    a.mta.concluded(a.stimulus(), again.queue_id, SendOutcome(SendState.DELIVERED, begun_at=a.at))
    (hop,) = a.trace.events
    assert isinstance(failed, HopFailed) and isinstance(hop, HopSent)
    assert (failed.begun_at, hop.begun_at) == (START_AT, None)


def test_an_urgent_mail_overtakes_those_that_have_not_begun(a: Server) -> None:
    """RT-2: on a slow link, an urgent mail goes before mails that wait, but not before a transfer that has begun."""
    for name, priority in (("1", 0), ("2", 0), ("3", -1)):
        a.submit(*to("E"), size=1000, priority=Priority(priority), message_id=name)
    a.at += SECOND_US // 2
    a.submit(*to("E"), size=1000, priority=Priority.URGENT, message_id="urgent")
    a.submit(*to("E"), size=1000, priority=Priority.NORMAL, message_id="4")
    due = {q.message_id: (q.due_at - START_AT) // SECOND_US for q in a.mta.queued(a.conn)}
    assert due == {"1": 2, "urgent": 3, "2": 4, "4": 5, "3": 6}


def test_a_transfer_that_begins_at_this_instant_is_not_overtaken(a: Server) -> None:
    """RT-2: an urgent mail waits for a transfer that begins at the same instant."""
    a.submit(*to("E"), size=1000, message_id="1")
    a.submit(*to("E"), size=1000, priority=Priority.URGENT, message_id="urgent")
    assert {q.message_id: q.due_at - START_AT for q in a.mta.queued(a.conn)} == {
        "1": 2 * SECOND_US,
        "urgent": 3 * SECOND_US,
    }


def test_a_held_mail_gives_up_its_place_on_the_link(a: Server) -> None:
    """A held mail is due when the fault says, whatever the link carries meanwhile."""
    for name in ("1", "2"):
        a.submit(*to("E"), size=1000, message_id=name)
    a.mta.hold(a.stimulus(), 2, START_AT + HOUR_US)
    a.submit(*to("E"), size=1000, priority=Priority.URGENT, message_id="urgent")
    assert a.mta.queued(a.conn)[-1].due_at == START_AT + HOUR_US


def test_mails_on_a_slow_link_never_overlap_and_go_by_priority(a: Server) -> None:
    """RT-1, RT-2: for any queue, the link carries one mail at a time, without a pause while mails wait."""
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
    """RT-1: a connector with a schedule carries mail only in its quarter hours, new mail and retries alike."""
    scheduled = topology_from_text(LINES.replace("cost: 50,", "cost: 1, schedule: every 4 h,"))
    d = make_server(conn)
    d.mta.routing = Routing(scheduled)
    d.at = START_AT + HOUR_US
    d.submit(*to("D"))
    assert d.next_due() == START_AT + 4 * HOUR_US
    d.at = START_AT + 4 * HOUR_US + 14 * MINUTE_US
    d.deferred(d.ready()[0].queue_id, "busy")
    assert d.next_due() == START_AT + 8 * HOUR_US
    (event,) = d.trace.events
    assert isinstance(event, HopFailed) and event.retry_at == START_AT + 8 * HOUR_US


def test_a_users_mail_too_large_for_its_connector_goes_back(a: Server) -> None:
    """OUT-7: only a connector with a size limit limits the size; a smaller mail crosses it."""
    a.route("SEA-NYC")
    limit = next(connector.size_limit for connector in TOPOLOGY.connectors if connector.name == "SEA-LON")
    assert limit is not None
    assert a.submit(*to("D"), size=limit) == []
    (notice,) = a.submit(*to("D"), size=limit + 1, message_id="<2@A>")
    assert notice.recipients == to("A") and b"5.3.4 larger than the connector SEA-LON" in notice.content
    assert a.count("mta_queue") == 1


RESTRICTED = LINES.replace("kind: x400,", "kind: x400, senders: [Kim@Contoso.test],")


@pytest.mark.parametrize(
    ("sender", "system", "crosses"),
    [
        ("kim@contoso.test", False, True),
        ("lee@contoso.test", False, False),
        ("A-IS@contoso.test", True, True),
        ("", False, True),
    ],
)
def test_a_connector_may_take_mail_of_some_senders_only(
    conn: Connection, sender: str, system: bool, crosses: bool
) -> None:
    """OUT-7: a user's mail needs a listed sender; replication mails and notices pass anyway."""
    a = make_server(conn)
    a.known["lee@contoso.test"] = "A"
    a.mta.routing = Routing(topology_from_text(RESTRICTED), frozenset({"SEA-NYC"}))
    returned = a.submit(*to("D"), sender=sender, system=system)
    assert a.count("mta_queue") == int(crosses)
    assert len(returned) == int(not crosses)
    if returned:
        assert b"5.7.1 the connector SEA-LON takes no mail from lee@contoso.test" in returned[0].content


def test_the_message_size_limit_of_a_server_is_for_users(a: Server) -> None:
    """OUT-7: a larger mail of a user goes back if it begins here, and is refused if it arrives; a replication mail passes."""
    a.mta.policy = MtaPolicy(message_size=1000)
    (notice,) = a.submit(*to("D"), size=1001)
    assert b"5.2.3 larger than the Message Size Limit of this server (1000 bytes)" in notice.content
    assert a.submit(*to("D"), size=1001, system=True, message_id="<2@A>") == []
    large = b"Subject: x\r\n\r\n" + b"x" * 1000
    with pytest.raises(RefusalError, match=r"5\.2\.3 larger than") as refused:
        a.accept(IncomingHop("outside", None, 0), to("A"), large)
    assert refused.value.code == 552
    assert a.accept(IncomingHop("B", None, 0, system=True), to("A"), large)


def test_size_limits_do_not_apply_to_system_messages(a: Server) -> None:
    """OUT-7: a replication mail crosses any connector, also one to which it is rerouted, or retried."""
    a.submit(*to("D"), size=9000, system=True)
    assert a.mta.queued(a.conn)[0].connector == "SEA-NYC"
    a.route("SEA-NYC")
    assert a.mta.reroute(a.stimulus()) == []
    (row,) = a.mta.queued(a.conn)
    assert row.connector == "SEA-LON"
    assert a.deferred(row.queue_id, "busy") == []
    assert [row.connector for row in a.mta.queued(a.conn)] == ["SEA-LON"]


def test_a_relay_applies_its_size_limit_to_system_messages_too(conn: Connection) -> None:
    """OUT-7: the ordinary mail server in an smtp-relay cannot tell a replication mail from a user's."""
    relayed = topology_from_text(LINES.replace("kind: x400", "kind: smtp-relay"))
    a = make_server(conn)
    a.mta.routing = Routing(relayed, frozenset({"SEA-NYC"}))
    (notice,) = a.submit(*to("D"), size=9000, system=True)
    assert b"5.3.4 larger than the connector SEA-LON" in notice.content
    assert a.submit(*to("D"), size=2000, system=True, message_id="<2@A>") == []
