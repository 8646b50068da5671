"""Routes that change under mail that waits."""

from tests.support.clock import START_AT
from tests.support.mta_server import LINES, Server, fail_until_empty, to
from topology.file.load import topology_from_text
from topology.routing import Routing
from traces.events import HopFailed
from traces.labtime import SECOND_US
from transport.mta.retry_policy import EXPIRY_US, RETRY_US


def test_a_failed_mail_takes_the_present_route(a: Server) -> None:
    """RT-2: after a failure the mail takes the route that is open now, at once; its recipients may be split."""
    a.submit(*to("C", "D"))
    a.at += SECOND_US
    (t,) = a.ready()
    a.route("SEA-NYC")
    a.deferred(t.queue_id, "nobody there")
    assert [(t.next_hop, t.connector, t.recipients) for t in a.ready()] == [("D", "SEA-LON", to("C", "D"))]
    a.route("SEA-NYC", "NYC-LON")
    a.deferred(t.queue_id, "nobody there")
    # D is tried again on the same way after the interval, C has none.
    assert a.ready() == []
    rows = [(q.next_hop, q.recipients, q.attempts, q.expires_at) for q in a.mta.queued(a.conn)]
    assert rows == [
        ("D", to("D"), 2, START_AT + EXPIRY_US),
        (None, to("C"), 2, START_AT + EXPIRY_US),
    ]
    assert a.count("mta_content") == 1


def test_rerouting_moves_what_waits(a: Server) -> None:
    """RT-2: when links change, queued mail takes the new route without waiting for its retry."""
    a.submit(*to("C", "B"))
    a.at += SECOND_US
    for t in a.ready():
        a.deferred(t.queue_id, "nobody there")
    assert a.ready() == []
    a.route("SEA-NYC")
    assert a.mta.reroute(a.stimulus()) == []
    assert [(t.next_hop, t.connector, t.attempts) for t in a.ready()] == [("D", "SEA-LON", 1)]
    assert a.mta.reroute(a.stimulus()) == []
    assert len(a.mta.queued(a.conn)) == 2


def test_a_mail_without_a_route_waits_for_one(a: Server) -> None:
    """RT-2: without a route nothing is tried; when routes change the mail is sent, with its attempts not counted."""
    a.route("slow")
    a.submit(*to("E"))
    (event,) = a.trace.events
    assert isinstance(event, HopFailed)
    assert (event.next_hop, event.connector, event.retry_at) == ("", None, START_AT + EXPIRY_US)
    a.at += RETRY_US
    assert a.ready() == [] and a.mta.tick(a.stimulus()) == []
    assert a.next_due() == START_AT + EXPIRY_US
    a.route()
    assert a.mta.reroute(a.stimulus()) == [] and a.trace.events == []
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
    """A mail follows its recipient: it is delivered here if the recipient is now on this server."""
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
    """RT-2: when one of two connectors goes down, the mail takes the other, with its latency."""
    two = "  - {name: spare, kind: x400, between: [SEA, NYC], cost: 20, latency: 1 s}\n"
    twofold = topology_from_text(LINES + two)
    a.mta.routing = Routing(twofold)
    a.submit(*to("C"))
    a.mta.routing = Routing(twofold, frozenset({"SEA-NYC"}))
    a.mta.reroute(a.stimulus())
    assert [(q.connector, q.due_at) for q in a.mta.queued(a.conn)] == [("spare", START_AT + SECOND_US)]
