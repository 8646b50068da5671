"""The MTA takes mail, splits it by next hop, and keeps it in its queue."""

import re

import pytest

from tests.support.clock import START_AT
from tests.support.mta_server import Server, database, fail_until_empty, make_server, outgoing, to
from traces.events import HopReceived, HopSent
from traces.labtime import HOUR_US, SECOND_US
from transport.envelope import (
    IncomingHop,
    LocalDelivery,
    Priority,
    RefusalError,
    SendOutcome,
    SendState,
    Transmission,
    UnknownRecipientError,
)
from transport.mta import queue_table
from transport.mta.retry_policy import HOP_LIMIT
from transport.sql import Connection

# --- splitting


def test_a_mail_for_this_server_is_delivered_at_once(a: Server) -> None:
    """A mail from the store to an address on its own server is not queued."""
    assert a.submit("kim@contoso.test") == [
        LocalDelivery(("kim@contoso.test",), "A-IS@contoso.test", outgoing("x").content, "<1@A>", None, subject="a")
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
    """A recipient that occurs twice counts once."""
    a.submit(*to("B", "B"))
    assert [t.recipients for t in a.ready()] == [to("B")]


def test_a_bridgehead_relays(conn: Connection) -> None:
    """RT-1: a bridgehead queues what is for other servers, and delivers what is for itself."""
    c = make_server(conn, "C")
    hop = IncomingHop("A", START_AT - 5, 41, Priority.URGENT)
    content = b"Subject: a\r\nMessage-ID: <1@A>\r\n\r\nb\r\n"
    local = c.accept(hop, to("C", "C2", "D"), content)
    received = b"Received: from A by C with ESMTP; Tue, 21 Oct 2003 00:00:00 +0000\r\n"
    assert local == [LocalDelivery(to("C"), "A-IS@contoso.test", received + content, "1@A", hop, subject="a")]
    passed = [(t.next_hop, t.connector, t.recipients, t.content, t.priority) for t in c.ready()]
    assert passed == [
        ("C2", None, to("C2"), received + content, Priority.URGENT),
        ("D", "NYC-LON", to("D"), received + content, Priority.URGENT),
    ]
    (event,) = c.trace.events
    assert isinstance(event, HopReceived)
    assert (event.peer, event.recipients, event.size, event.mail) == ("A", to("C", "C2", "D"), len(content), "1@A")
    assert event.lamport == 42 and {t.lamport for t in c.ready()} == {42}


def test_mail_for_another_site_goes_to_the_bridgehead(conn: Connection) -> None:
    """RT-1: a connector is crossed by its bridgehead; other servers send the mail to it within the site."""
    b = make_server(conn, "B")
    b.submit(*to("C", "D"))
    assert [(t.next_hop, t.connector, t.recipients) for t in b.ready()] == [("A", None, to("C", "D"))]


# --- refusing


def test_an_unknown_recipient_is_refused(a: Server) -> None:
    """ML-7: an address outside the organization is refused at RCPT and after the content; nothing changes."""
    a.mta.check_recipient("kim@contoso.test")
    with pytest.raises(UnknownRecipientError, match=r"550 5\.1\.1"):
        a.mta.check_recipient("x@elsewhere.test")
    with pytest.raises(UnknownRecipientError) as refusal:
        a.accept(IncomingHop("x", None, 99), (*to("B"), "x@elsewhere.test"), b"a\r\n")
    assert refusal.value.addresses == ("x@elsewhere.test",)
    assert (a.next_due(), a.trace.events, a.trace.lamport) == (None, [], 0)


def test_a_mail_loop_is_refused(a: Server) -> None:
    """ML-7: a mail with more Received lines than the limit is refused; one with exactly the limit is accepted."""
    for hops in (HOP_LIMIT, HOP_LIMIT + 1):
        content = b"received: from x by y\r\n" * hops + b"Subject: Received: a\r\n\r\nReceived: b\r\n"
        if hops == HOP_LIMIT:
            a.accept(IncomingHop("x", None, 0), to("B"), content)
            continue
        with pytest.raises(RefusalError, match=r"554 5\.4\.6 a mail loop"):
            a.accept(IncomingHop("x", None, 0), to("B"), content)
    assert a.count("mta_queue") == 1


def test_a_mail_without_recipients_is_refused(a: Server) -> None:
    """A mail without recipients is refused with 554."""
    with pytest.raises(RefusalError, match="554"):
        a.accept(IncomingHop("x", None, 0), (), b"a\r\n")


# --- the queue


def test_due_mail_goes_by_priority_then_time_then_order(a: Server) -> None:
    """OUT-8, RT-2: due mail is sent by priority, then by due time, then by id."""
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
    """It has envelope, content, the lab time of the attempt and the Lamport number of the queueing."""
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
    """OUT-9: a copy stays queued until it is delivered, the content until no copy needs it."""
    a.submit(*to("B", "C"))
    a.at += SECOND_US
    first, second = a.ready()
    a.delivered(first.queue_id)
    (event,) = a.trace.events
    assert isinstance(event, HopSent)
    assert (event.next_hop, event.recipients, event.attempt, event.size) == ("B", to("B"), 1, 100)
    assert (a.count("mta_content"), a.count("mta_queue")) == (1, 1)
    a.mta.concluded(a.stimulus(), second.queue_id, SendOutcome(SendState.DELIVERED))
    assert (a.count("mta_content"), a.count("mta_queue"), a.next_due()) == (0, 0, None)


def test_a_report_of_a_row_that_is_gone_changes_nothing(a: Server) -> None:
    """OUT-9: a repeated or late report is harmless, and ids are never reused."""
    a.submit(*to("B"))
    (t,) = a.ready()
    a.delivered(t.queue_id)
    a.submit(*to("B"), message_id="<2@A>")
    assert a.delivered(t.queue_id) == []
    assert a.refused(t.queue_id, "x") == []
    assert a.trace.events == [] and [q.message_id for q in a.mta.queued(a.conn)] == ["<2@A>"]


def test_a_held_mail_waits_until_its_time(a: Server) -> None:
    """The delay fault is a due time, like every other delay."""
    a.submit(*to("B"))
    a.mta.hold(a.stimulus(), a.ready()[0].queue_id, START_AT + HOUR_US)
    assert a.ready() == [] and a.next_due() == START_AT + HOUR_US
    a.at = START_AT + HOUR_US
    assert len(a.ready()) == 1


def test_a_released_mail_leaves_at_once(a: Server) -> None:
    """The end of a hold makes the mail due; a mail that has left already changes nothing."""
    a.submit(*to("B"))
    (held,) = a.ready()
    a.mta.hold(a.stimulus(), held.queue_id, START_AT + HOUR_US)
    a.mta.release(a.stimulus(), held.queue_id)
    assert [each.queue_id for each in a.ready()] == [held.queue_id]
    a.delivered(held.queue_id)
    a.mta.release(a.stimulus(), held.queue_id)
    assert a.next_due() is None


@pytest.mark.parametrize("store", ["B", "E"])
def test_a_mail_whose_store_has_left_the_directory_can_be_released(a: Server, store: str) -> None:
    """RP-6, RT-5: the mail keeps its way, in the site or over a connector, and is tried there."""
    a.submit(*to(store))
    (held,) = a.mta.queued(a.conn)
    a.mta.hold(a.stimulus(), held.queue_id, START_AT + HOUR_US)
    del a.known[f"{store}-IS@contoso.test"]
    a.mta.release(a.stimulus(), held.queue_id)
    (released,) = a.ready()
    assert (released.next_hop, released.connector) == (held.next_hop, held.connector)
    a.mta.change_queue(a.stimulus(), "freeze", None, a.mta.queued(a.conn))
    a.at += HOUR_US
    a.mta.change_queue(a.stimulus(), "unfreeze", None, a.mta.queued(a.conn))
    assert [mail.queue_id for mail in a.ready()] == [held.queue_id]


# --- determinism


def test_the_same_stimuli_give_the_same_bytes() -> None:
    """The MTA depends only on its stimuli."""
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
    """Every statement that runs for each mail uses an index; none scans a table."""
    for number in range(50):
        a.submit(*to("B", "E"), message_id=f"<{number}@A>")
    statements = [
        (queue_table._DUE_OF_PRIORITY, (0, a.at, 10)),
        (queue_table._FIRST_DUE, ()),
        (queue_table._UNROUTED, (a.at, 10)),
        (queue_table._SELECT_ROW + " WHERE q.id = ?", (1,)),
        (queue_table._DELETE_CONTENT, (1, 1)),
        (queue_table._FIRST_WAITING, ("slow", "E", 0, a.at)),
        (queue_table._PUSH_BACK, (1, 1, "slow", "E", 0, a.at)),
        (queue_table._LINK_FREE, ("slow", "E")),
    ]
    for sql, parameters in statements:
        plan = [row[3] for row in a.conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters)]
        assert not any(re.match(r"SCAN (q|c|mta_\w+)\b", step) for step in plan), (sql, plan)
