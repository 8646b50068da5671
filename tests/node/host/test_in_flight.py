"""The limits on mails in flight, in total and for each next server."""

from __future__ import annotations

import asyncio

from node.host.in_flight import MAX_DELIVERIES, MAX_PER_HOP, MailsInFlight
from transport.envelope import Priority, Transmission


def mail(queue_id: int, next_hop: str) -> Transmission:
    return Transmission(queue_id, next_hop, None, "a@x", ("b@x",), b"", "<1@a>", "", 0, Priority.NORMAL, 0, 0)


async def test_a_silent_peer_takes_no_room_from_others() -> None:
    """A next hop with its full number of mails in flight gets no more, so the rest of the room is for others."""
    flights = MailsInFlight()
    task = asyncio.create_task(asyncio.sleep(0))
    for number in range(MAX_PER_HOP):
        assert flights.takes("B")
        flights.begin(mail(number, "B"), task)
    assert not flights.takes("B")
    assert flights.crowded == {"B"}
    assert flights.room == MAX_DELIVERIES
    assert flights.takes("C")
    flights.end(mail(0, "B"))
    assert flights.takes("B")
    assert not flights.crowded
    await task
