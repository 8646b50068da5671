"""A change of the organization under mail that waits (RT-6)."""

from __future__ import annotations

from tests.support.clock import START_AT
from tests.support.mta_server import LINES, Server, to
from topology.changes import connector_added, connector_changed, connector_removed
from topology.file.load import topology_from_text
from topology.model import Topology
from topology.routing import Routing
from traces.labtime import HOUR_US, MINUTE_US, SECOND_US
from transport.envelope import LocalDelivery, Priority, SendOutcome, SendState
from transport.mta.retry_policy import RETRY_US, MtaPolicy
from transport.protocol.link_state import LinkRule

BEGAN = topology_from_text(LINES)
NINE_SECONDS = 9_000
"""How many bytes the connector `slow` carries in nine seconds."""


def changed(name: str, topology: Topology = BEGAN, **fields: object) -> Topology:
    return connector_changed(topology, name, fields)


def reorganize(server: Server, topology: Topology) -> list[LocalDelivery]:
    return server.mta.reorganize(server.stimulus(), Routing(topology))


def queue(server: Server) -> list[tuple[str | None, str | None, int]]:
    """Return the next hop, the connector and the due time of each copy, as time since the start."""
    return [(row.next_hop, row.connector, row.due_at - START_AT) for row in server.mta.queued(server.conn)]


def test_mail_that_waits_takes_the_new_route(a: Server) -> None:
    """RT-6: mail that has not begun to cross is like new mail on its new route."""
    reorganize(a, changed("SEA-NYC", schedule="Mon-Sun 20:00-06:00"))
    a.at = START_AT + 12 * HOUR_US
    a.submit(*to("C"))
    ((hop, connector, due_us),) = queue(a)
    assert (hop, connector) == ("C", "SEA-NYC") and due_us > 12 * HOUR_US + MINUTE_US
    closed = connector_changed(changed("SEA-NYC", schedule="Mon-Sun 20:00-06:00"), "SEA-NYC", {"cost": 100})
    reorganize(a, closed)
    assert queue(a) == [("D", "SEA-LON", 12 * HOUR_US)]


def test_mail_that_crosses_arrives(a: Server) -> None:
    """RT-6: mail that crosses a connector arrives as before, even if another way is cheaper now."""
    a.submit(*to("C"))
    a.at += 40_000
    reorganize(a, changed("SEA-NYC", cost=100))
    assert queue(a) == [("C", "SEA-NYC", 80_000)]


def test_mail_that_crosses_a_removed_connector_is_sent_again(a: Server) -> None:
    """RT-6: a connector that is gone carries nothing. The mail takes another way, under a new id."""
    a.submit(*to("C"))
    (before,) = a.mta.queued(a.conn)
    a.at += 40_000
    reorganize(a, connector_removed(BEGAN, "SEA-NYC"))
    (after,) = a.mta.queued(a.conn)
    assert (after.next_hop, after.connector, after.due_at) == ("D", "SEA-LON", a.at)
    assert after.queue_id != before.queue_id
    assert (a.count("mta_queue"), a.count("mta_content")) == (1, 1)


def test_mail_that_crosses_to_another_bridgehead_is_sent_again(a: Server) -> None:
    """RT-6: a connector that ends at another server does not lead to the old one."""
    a.submit(*to("C"))
    a.at += 40_000
    reorganize(a, changed("SEA-NYC", bridgeheads={"NYC": "C2"}))
    assert queue(a) == [("C2", "SEA-NYC", 120_000)]


def test_a_server_that_is_no_bridgehead_any_more_hands_its_mail_on(a: Server) -> None:
    """RT-6: if another server of the site crosses the connector, waiting mail goes to that server first."""
    a.submit(*to("C"))
    a.at += SECOND_US
    (sent,) = a.ready()
    a.deferred(sent.queue_id, "nobody there")
    reorganize(a, changed("SEA-NYC", bridgeheads={"SEA": "B"}))
    assert queue(a) == [("B", None, SECOND_US)]


def test_an_attempt_in_flight_on_the_old_route_counts_for_nothing(a: Server) -> None:
    """RT-6: the copy on the new route has another id, so the end of the old attempt does not remove it."""
    a.submit(*to("C"))
    a.at += SECOND_US
    (sent,) = a.ready()
    reorganize(a, connector_removed(BEGAN, "SEA-NYC"))
    assert a.delivered(sent.queue_id) == []
    assert [row.next_hop for row in a.mta.queued(a.conn)] == ["D"]


def test_a_failed_mail_keeps_the_time_of_its_retry(a: Server) -> None:
    """RT-6: after a failed attempt a copy waits for its retry also if the connector has other times."""
    a.submit(*to("C"))
    a.at += SECOND_US
    (sent,) = a.ready()
    a.deferred(sent.queue_id, "nobody there")
    reorganize(a, changed("SEA-NYC", latency="20 min"))
    assert queue(a) == [("C", "SEA-NYC", SECOND_US + RETRY_US)]


def test_a_retry_waits_until_its_connector_is_open(a: Server) -> None:
    """RT-1, RT-6: a copy is not tried while the connector is closed by its new schedule."""
    a.at = START_AT + 12 * HOUR_US
    a.submit(*to("C"))
    a.at += SECOND_US
    (sent,) = a.ready()
    a.deferred(sent.queue_id, "nobody there")
    evening = changed("SEA-NYC", schedule="Mon-Sun 20:00-06:00")
    reorganize(a, evening)
    ((_, _, due_us),) = queue(a)
    connector = Routing(evening).connector("SEA-NYC")
    assert connector is not None and connector.schedule.is_open(START_AT + due_us)
    assert due_us > 12 * HOUR_US + MINUTE_US


def test_what_a_fault_holds_stays_held(a: Server) -> None:
    """RT-6: other times of a connector do not end the delay of a mail."""
    a.submit(*to("C"))
    (row,) = a.mta.queued(a.conn)
    a.mta.hold(a.stimulus(), row.queue_id, START_AT + HOUR_US)
    reorganize(a, changed("SEA-NYC", latency="2 s"))
    assert queue(a) == [("C", "SEA-NYC", HOUR_US)]


def test_mail_that_has_crossed_is_not_delayed(a: Server) -> None:
    """RT-6: a copy that is due has crossed its connector. It does not cross it again when the connector becomes slow."""
    a.submit(*to("C"))
    a.at += SECOND_US
    reorganize(a, changed("SEA-NYC", latency="20 min"))
    assert [sent.next_hop for sent in a.ready()] == ["C"]


def test_waiting_mail_gets_new_places_on_a_slow_link(a: Server) -> None:
    """RT-2, RT-6: the mail that crosses keeps its time. The others cross one after the other as fast as the link is now."""
    for _ in range(3):
        a.submit(*to("E"), size=NINE_SECONDS)
    assert [due_us for _, _, due_us in queue(a)] == [10 * SECOND_US, 19 * SECOND_US, 28 * SECOND_US]
    a.at += 4 * SECOND_US
    fast = changed("slow", bandwidth="72 kbit/s")
    reorganize(a, fast)
    assert [due_us for _, _, due_us in queue(a)] == [10 * SECOND_US, 11 * SECOND_US, 12 * SECOND_US]
    a.submit(*to("E"), size=NINE_SECONDS)
    assert queue(a)[-1] == ("E", "slow", 13 * SECOND_US)


def test_the_more_urgent_mail_still_crosses_first(a: Server) -> None:
    """RT-2, RT-6: among the copies that get new places, those of a higher priority come first."""
    a.submit(*to("E"), size=NINE_SECONDS)
    a.submit(*to("E"), size=NINE_SECONDS, message_id="<later@A>", priority=Priority.NOT_URGENT)
    a.submit(*to("E"), size=NINE_SECONDS, message_id="<urgent@A>", priority=Priority.URGENT)
    reorganize(a, changed("slow", bandwidth="72 kbit/s"))
    due = {row.message_id: row.due_at - START_AT for row in a.mta.queued(a.conn)}
    assert due == {"<1@A>": 10 * SECOND_US, "<urgent@A>": 11 * SECOND_US, "<later@A>": 12 * SECOND_US}


def test_a_link_without_a_limit_forgets_its_reservations(a: Server) -> None:
    """RT-2, RT-6: after the limit is gone, nothing waits for the mail before it."""
    for _ in range(3):
        a.submit(*to("E"), size=NINE_SECONDS)
    a.at += SECOND_US
    reorganize(a, changed("slow", bandwidth="none"))
    assert [due_us for _, _, due_us in queue(a)] == [2 * SECOND_US, 2 * SECOND_US, 10 * SECOND_US]


def test_frozen_mail_moves_and_stays_frozen(a: Server) -> None:
    """RT-5, RT-6: a copy that an administrator has frozen follows the routes, and is not tried."""
    a.submit(*to("C"))
    rows = a.mta.queued(a.conn)
    a.mta.change_queue(a.stimulus(), "freeze", None, rows)
    a.at += SECOND_US
    reorganize(a, connector_removed(BEGAN, "SEA-NYC"))
    assert [(row.next_hop, bool(row.frozen)) for row in a.mta.queued(a.conn)] == [("D", True)]
    assert a.ready() == []


def test_mail_in_a_frozen_queue_leaves_it(a: Server) -> None:
    """RT-5, RT-6: a copy that was frozen with the queue of its next hop is free in another queue."""
    a.mta.change_queue(a.stimulus(), "freeze", "C", [])
    a.submit(*to("C"))
    a.at += SECOND_US
    assert a.ready() == []
    reorganize(a, connector_removed(BEGAN, "SEA-NYC"))
    assert [sent.next_hop for sent in a.ready()] == ["D"]


def test_a_mail_without_a_route_gets_one(a: Server) -> None:
    """RT-2, RT-6: the only connector is gone, and mail waits. It takes the next connector that comes."""
    a.submit(*to("E"))
    gone = connector_removed(BEGAN, "slow")
    reorganize(a, gone)
    assert [row.next_hop for row in a.mta.queued(a.conn)] == [None]
    a.at += MINUTE_US
    assert a.ready() == [] and a.mta.tick(a.stimulus()) == []
    reorganize(a, connector_added(gone, "cable", {"between": ["SEA", "TKO"], "latency": "80 ms"}))
    assert queue(a) == [("E", "cable", MINUTE_US + 80_000)]


def test_a_limit_that_a_mail_exceeds_sends_it_back(a: Server) -> None:
    """OUT-7, RT-6: a user's mail that a connector takes no longer goes back to its sender."""
    a.submit(*to("C"), sender="kim@contoso.test", size=5_000)
    a.at += SECOND_US
    (notice,) = reorganize(a, changed("SEA-NYC", size_limit="2 KB"))
    assert b"5.3.4 larger than the connector SEA-NYC takes" in notice.content
    assert (a.count("mta_queue"), a.count("mta_content")) == (0, 0)


def test_mail_is_queued_in_the_form_of_its_connector(a: Server) -> None:
    """RT-1, RT-6: if a connector becomes an X.400 connector, the mail that waits for it gets the form of X.400."""
    evening = changed("SEA-NYC", schedule="Mon-Sun 20:00-06:00")
    reorganize(a, evening)
    a.at = START_AT + 12 * HOUR_US
    a.submit(*to("C"))
    reorganize(a, changed("SEA-NYC", evening, kind="x400"))
    a.at += 24 * HOUR_US
    (sent,) = a.ready()
    assert sent.x400 and sent.content.startswith(b"X400-Originator: ")


def fails(server: Server, times: int) -> None:
    """Let connections over SEA-NYC be refused so often, where links that are down are reported."""
    server.mta.policy = MtaPolicy(link_rule=LinkRule.TOLD_IF_ANOTHER_WAY)
    for _ in range(times):
        due_at = server.next_due()
        assert due_at is not None
        server.at = max(server.at, due_at)
        for sent in server.ready():
            outcome = SendOutcome(SendState.DEFERRED, "refused", unreachable=True)
            server.mta.concluded(server.stimulus(), sent.queue_id, outcome)


def test_reports_of_a_removed_connector_are_forgotten(a: Server) -> None:
    """RT-2, RT-6: a connector that comes back under its name begins as up, also after a restart."""
    a.submit(*to("C"))
    fails(a, 3)
    assert a.mta.routing.down == {"SEA-NYC"} and a.count("mta_link_report") == 1
    gone = connector_removed(BEGAN, "SEA-NYC")
    reorganize(a, gone)
    assert (a.count("mta_link_report"), a.count("mta_link_failure")) == (0, 0)
    assert a.count("mta_link_call WHERE connector = 'SEA-NYC'") == 0
    back = connector_added(gone, "SEA-NYC", {"between": ["SEA", "NYC"], "cost": 10})
    reorganize(a, back)
    assert a.mta.routing.down == frozenset()
    a.mta.recall(a.conn)
    assert a.mta.routing.down == frozenset()


def test_a_link_that_is_down_stays_down(a: Server) -> None:
    """RT-2, RT-6: a change of another connector does not end the detour around a link that is down."""
    a.submit(*to("C"))
    fails(a, 3)
    reorganize(a, changed("slow", cost=20))
    assert a.mta.routing.down == {"SEA-NYC"}
    assert [row.next_hop for row in a.mta.queued(a.conn)] == ["D"]
