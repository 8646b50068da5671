"""Which way the recipients of a mail go from one server, and when a copy is at the other end of its link.

Pure functions of the routing and the address book that hold now; only `place` touches a table, to take its
place on a slow link.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from topology.routing import NextHop, Routing
from traces.labtime import LabTime
from transport.envelope import Priority
from transport.mta.queue_table import Place, QueueRow, reserve_link
from transport.sql import Connection

OUTSIDE: Final = "(outside)"
"""What an address book says of an address that is of another organization: the name of no server."""

UNKNOWN: Final = "5.1.1 no such address in this organization"
TOO_LARGE: Final = "5.3.4 larger than the connector {name} takes ({limit} bytes)"
"""Reasons why a recipient goes back to the sender, each with the enhanced status code of RFC 3463."""


@dataclass(slots=True)
class Split:
    """Recipients by what happens to them, in the order of the mail.

    `local`: they live here. `returned`: address to reason. `unrouted`: no way at the moment. `hops`: by next
    server and connector name.
    """

    local: list[str] = field(default_factory=list)
    returned: dict[str, str] = field(default_factory=dict)
    unrouted: list[str] = field(default_factory=list)
    hops: dict[tuple[str, str | None], tuple[NextHop, list[str]]] = field(default_factory=dict)

    def copies(self) -> list[tuple[NextHop | None, tuple[str, ...]]]:
        """The copies to queue: one for each next hop, and one that waits for a route."""
        # spec: RT-1
        copies: list[tuple[NextHop | None, tuple[str, ...]]] = [
            (hop, tuple(recipients)) for hop, recipients in self.hops.values()
        ]
        if self.unrouted:
            copies.append((None, tuple(self.unrouted)))
        return copies


def split_recipients(
    server: str,
    routing: Routing,
    addresses: Callable[[str], str | None],
    recipients: Iterable[str],
    size: int,
    smart_host: str | None = None,
) -> Split:
    """Splits the recipients of a mail of `size` bytes that is at `server`; without a smart host who is outside has a
    mailbox here."""
    split = Split()
    for address in dict.fromkeys(recipients):
        home = addresses(address)
        if home is None:
            split.returned[address] = UNKNOWN
        elif home == OUTSIDE and smart_host is not None:
            _route(split, address, NextHop(smart_host, None), size)  # spec: ML-5
        elif home in (server, OUTSIDE):
            split.local.append(address)
        else:
            _route(split, address, routing.next_hop(server, home), size)
    return split


def _route(split: Split, address: str, hop: NextHop | None, size: int) -> None:
    if hop is None or (hop.connector is not None and hop.connector.schedule.is_never):
        split.unrouted.append(address)
        return
    link = hop.connector
    if link is not None and link.size_limit is not None and size > link.size_limit:
        # spec: OUT-7
        split.returned[address] = TOO_LARGE.format(name=link.name, limit=link.size_limit)
        return
    key = (hop.server, link.name if link else None)
    split.hops.setdefault(key, (hop, []))[1].append(address)


def place(conn: Connection, now: LabTime, hop: NextHop, size: int, priority: Priority) -> Place:
    """Where and when a new copy of `size` bytes goes: at once in a site, else when the link has carried it."""
    # spec: RT-1
    link = hop.connector
    if link is None:
        return Place(hop.server, None, now)
    starts_at = opening(hop, now)
    transfer_us = link.transfer_us(size)
    if not transfer_us:
        return Place(hop.server, link.name, starts_at + link.latency_us)
    starts_at = reserve_link(
        conn, (link.name, hop.server), priority, now=now, opens_at=starts_at, transfer_us=transfer_us
    )
    due_at = starts_at + transfer_us + link.latency_us
    return Place(hop.server, link.name, due_at, starts_at, transfer_us)


def opening(hop: NextHop, at: LabTime) -> LabTime:
    """The first instant, `at` or later, at which the way to `hop` is open."""
    # spec: RT-1
    if hop.connector is None or hop.connector.schedule.is_open(at):
        return at
    fires_at = hop.connector.schedule.next_fire(at, 0)
    assert fires_at is not None, "a connector that never opens is no route"
    return fires_at


def differs(row: QueueRow, hop: NextHop | None) -> bool:
    """True when `hop` is another way than the one that `row` is queued for."""
    if hop is None:
        return row.next_hop is not None
    return row.next_hop != hop.server or row.connector != (hop.connector.name if hop.connector else None)
