"""Orders of an administrator: freeze, unfreeze, delete, return (RT-5)."""

from collections.abc import Callable

import pytest

from tests.support.mta_server import Server, make_server, to
from traces.events import HopDeleted, HopExpired, QueueFrozen, QueueUnfrozen
from traces.labtime import MINUTE_US
from transport.envelope import LocalDelivery, SendOutcome, SendState
from transport.mta import queue_table
from transport.mta.mta import QueueOrder
from transport.mta.retry_policy import EXPIRY_US, RETRY_US
from transport.sql import Connection

Orders = Callable[..., list[LocalDelivery]]


@pytest.fixture
def order(a: Server) -> Orders:
    """Give A an order about the mails with these ids, or about the queue of a next hop."""

    def give(order: QueueOrder, *ids: int, next_hop: str | None = None) -> list[LocalDelivery]:
        found = [queue_table.find_row(a.conn, number) for number in ids]
        rows = [row for row in found if row is not None]
        if next_hop is not None:
            rows = queue_table.of_queue(a.conn, next_hop)
        return a.mta.change_queue(a.stimulus(), order, next_hop, rows)

    return give


def test_a_frozen_mail_is_neither_tried_nor_expires(a: Server, order: Orders) -> None:
    """RT-5: a frozen mail waits beyond its expiry; then it is tried once more, like any mail at its expiry."""
    a.submit(*to("B"))
    (waiting,) = a.ready()
    order("freeze", waiting.queue_id)
    (frozen,) = a.trace.events
    assert isinstance(frozen, QueueFrozen) and (frozen.next_hop, frozen.queue_id) == ("B", waiting.queue_id)
    assert a.ready() == [] and a.next_due() is None
    a.at += EXPIRY_US + MINUTE_US
    assert a.mta.tick(a.stimulus()) == [] and a.ready() == []
    order("unfreeze", waiting.queue_id)
    (unfrozen,) = a.trace.events
    assert isinstance(unfrozen, QueueUnfrozen) and unfrozen.queue_id == waiting.queue_id
    (again,) = a.ready()
    assert again.queue_id == waiting.queue_id
    (notice,) = a.deferred(again.queue_id, "nobody there")
    assert b"4.4.7" in notice.content


def test_a_mail_without_a_route_can_be_frozen(a: Server, order: Orders) -> None:
    """RT-5: a frozen mail without a route does not expire, and gets a route like any other."""
    a.route("slow")
    a.submit(*to("E"))
    (row,) = a.mta.queued(a.conn)
    order("freeze", row.queue_id)
    a.at += EXPIRY_US
    assert a.mta.tick(a.stimulus()) == [] and a.next_due() is None
    a.route()
    a.mta.reroute(a.stimulus())
    (moved,) = a.mta.queued(a.conn)
    assert moved.next_hop is not None and moved.frozen and a.next_due() is None


def test_a_frozen_queue_keeps_what_comes_later(a: Server, order: Orders) -> None:
    """RT-5: a frozen queue keeps its mails and those that come later; other queues go on."""
    a.submit(*to("B"))
    order("freeze", next_hop="B")
    a.submit(*to("B", "C2"))
    assert {row.next_hop for row in a.mta.queued(a.conn) if row.frozen} == {"B"}
    assert a.mta.frozen_queues(a.conn) == ["B"]
    a.at += 60 * MINUTE_US
    assert "B" not in [mail.next_hop for mail in a.ready()]
    order("unfreeze", next_hop="B")
    assert [mail.next_hop for mail in a.ready()].count("B") == 2
    assert a.mta.frozen_queues(a.conn) == []


def test_a_mail_that_is_frozen_itself_stays_frozen(a: Server, order: Orders) -> None:
    """RT-5: unfreezing a queue does not unfreeze a mail that was frozen by itself."""
    for _ in range(2):
        a.submit(*to("B"))
    first, _ = a.mta.queued(a.conn)
    order("freeze", first.queue_id)
    order("freeze", next_hop="B")
    order("unfreeze", next_hop="B")
    assert [mail.queue_id == first.queue_id for mail in a.ready()] == [False]


def test_unfreezing_makes_no_retry_earlier(a: Server, order: Orders) -> None:
    """RT-2, RT-5: a mail that failed waits for its retry interval, whether it was frozen or not."""
    a.submit(*to("B"))
    (mail,) = a.ready()
    order("freeze", mail.queue_id)
    a.deferred(mail.queue_id, "450 later")  # the attempt had begun before
    assert a.next_due() is None
    order("unfreeze", mail.queue_id)
    assert a.next_due() == a.at + RETRY_US


def test_a_deleted_mail_leaves_an_event_and_no_notice(a: Server, order: Orders) -> None:
    """RT-5: a mail that is deleted leaves the queue, and only the trace says so."""
    a.submit(*to("B", "C2"))
    copy = next(row for row in a.mta.queued(a.conn) if row.next_hop == "B")
    assert order("delete", copy.queue_id) == []
    assert [row.next_hop for row in a.mta.queued(a.conn)] != ["B"] and a.count("mta_queue") == 1
    (event,) = a.trace.events
    assert isinstance(event, HopDeleted) and (event.queue_id, event.recipients) == (copy.queue_id, to("B"))
    # The end of an attempt that was in flight counts for nothing.
    assert a.mta.concluded(a.stimulus(), copy.queue_id, SendOutcome(SendState.DELIVERED)) == []


def test_a_returned_mail_goes_back_at_once(a: Server, order: Orders) -> None:
    """RT-5, ML-7: the sender of a returned mail gets a notice; a notice itself is only removed."""
    a.submit(*to("B"))
    (notice,) = order("return", next_hop="B")
    assert notice.recipients == to("A") and notice.sender == "" and b"Status: 4.3.2" in notice.content
    a.submit(*to("B"), sender="")
    assert order("return", next_hop="B") == []
    assert [type(event) for event in a.trace.events] == [HopExpired]
    assert (a.count("mta_queue"), a.count("mta_content")) == (0, 0)


def test_a_frozen_queue_outlives_the_server(a: Server, order: Orders, conn: Connection) -> None:
    """RT-5: what is frozen is in the tables, so a crash does not unfreeze it."""
    order("freeze", next_hop="B")
    again = make_server(conn)
    again.submit(*to("B"))
    assert again.ready() == [] and again.mta.frozen_queues(conn) == ["B"]
