"""The next hop for each recipient of a mail at one server, and the time at which a copy may be sent.

`split_recipients` puts each recipient into one of four groups, by the present routes and the address book:

=================================================================  ==========  ==================================
the recipient                                                      group       what happens to it
=================================================================  ==========  ==================================
is of another organization, and there is a smart host              `hops`      a copy to the smart host (ML-5)
is on this server, or is of another organization                   `local`     delivered here
has no server in the organization                                  `returned`  goes back to the sender
is on another server; there is a route                             `hops`      a copy to the route's next server
is on another server; the mail is too large for the connector      `returned`  goes back to the sender
is on another server; the connector takes no mail from the sender  `returned`  goes back to the sender
is on another server; there is no route, or it never opens         `unrouted`  waits for a route
=================================================================  ==========  ==================================

A connector's size limit and its list of senders are for users' mail. Replication mails and notices of non-delivery are system
messages, so they cross any connector (OUT-7), except an `smtp-relay`: the ordinary mail server in it sees an ordinary mail.

`place` says when a copy may be sent:

- within the site: now
- by a connector: when its schedule is open, the transfer over a link of limited bandwidth is over, and its latency
  has passed

Example: SEA-NYC is open from 8 to 18, carries 8 KB a second and has a latency of 2 s. A mail of 80 KB that is queued at
7:59 is due at 8:00:12. A second mail of the same size begins at 8:00:10 and is due at 8:00:22. An urgent mail begins before any
less urgent mail that has not begun.

What must never happen: two copies of one mail with the same next hop and connector (RT-1); two reserved transfers that overlap
on one link.

Only `place` uses a table, to reserve a time on a slow link. The other functions are pure.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from topology.enums import ConnectorKind
from topology.model import Connector
from topology.routing import NextHop, Routing
from traces.labtime import LabTime
from transport.envelope import Priority
from transport.mta.queue_table import Place, QueueRow, reserve_link
from transport.sql import Connection

OUTSIDE: Final = "(outside)"
"""The value that an address book returns for an address of another organization. No server has this name."""

UNKNOWN: Final = "5.1.1 no such address in this organization"
TOO_LARGE: Final = "5.3.4 larger than the connector {name} takes ({limit} bytes)"
NOT_FROM: Final = "5.7.1 the connector {name} takes no mail from {sender}"
"""Reasons why a recipient goes back to the sender, each with the enhanced status code of RFC 3463."""


@dataclass(slots=True)
class Split:
    """The recipients of one mail, grouped by where their copy goes next.

    Each group keeps the order in which the mail lists its recipients.

    `returned`: address to reason.
    `hops`: by next server and connector name.
    """

    local: list[str] = field(default_factory=list)
    returned: dict[str, str] = field(default_factory=dict)
    unrouted: list[str] = field(default_factory=list)
    hops: dict[tuple[str, str | None], tuple[NextHop, list[str]]] = field(default_factory=dict)

    def copies(self) -> list[tuple[NextHop | None, tuple[str, ...]]]:
        """Return the copies to queue: one for each next hop, and one without a next hop for all unrouted recipients."""
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
    *,
    sender: str = "",
    system: bool = False,
) -> Split:
    """Return the groups of the recipients of a mail of `size` bytes at `server`.

    `system`: it is a system message.

    Without a smart host, addresses of other organizations have a mailbox here.
    """
    split = Split()

    def route(address: str, hop: NextHop | None) -> None:
        _route(split, address, hop, size, sender, system=system)

    for address in dict.fromkeys(recipients):
        server_of = addresses(address)
        if server_of is None:
            split.returned[address] = UNKNOWN
        elif server_of == OUTSIDE and smart_host is not None:
            route(address, NextHop(smart_host, None))  # spec: ML-5
        elif server_of in (server, OUTSIDE):
            split.local.append(address)
        else:
            route(address, routing.next_hop(server, server_of))
    return split


def _route(split: Split, address: str, hop: NextHop | None, size: int, sender: str, *, system: bool) -> None:
    if hop is None or (hop.connector is not None and hop.connector.schedule.is_never):
        split.unrouted.append(address)
        return
    link = hop.connector
    if link is not None and not _exempt(link, system or not sender):
        if link.size_limit is not None and size > link.size_limit:
            split.returned[address] = TOO_LARGE.format(name=link.name, limit=link.size_limit)
            return
        if link.senders is not None and sender.casefold() not in link.senders:
            split.returned[address] = NOT_FROM.format(name=link.name, sender=sender or "<>")
            return
    key = (hop.server, link.name if link else None)
    split.hops.setdefault(key, (hop, []))[1].append(address)


def _exempt(link: Connector, system: bool) -> bool:
    """Return whether the limits of a connector for users do not apply to a mail."""
    # spec: OUT-7
    return system and link.kind is not ConnectorKind.SMTP_RELAY


def place(conn: Connection, now: LabTime, hop: NextHop, size: int, priority: Priority) -> Place:
    """Return the next hop of a new copy of `size` bytes and the time at which it may be sent."""
    # spec: RT-1
    link = hop.connector
    if link is None:
        return Place(hop.server, None, now)
    starts_at = opening(hop, now)
    transfer_us = link.transfer_us(size)
    if not transfer_us:
        return Place(hop.server, link.name, starts_at + link.latency_us, starts_at)
    starts_at = reserve_link(
        conn, (link.name, hop.server), priority, now=now, opens_at=starts_at, transfer_us=transfer_us
    )
    due_at = starts_at + transfer_us + link.latency_us
    return Place(hop.server, link.name, due_at, starts_at, transfer_us)


def opening(hop: NextHop, at: LabTime) -> LabTime:
    """Return the first instant, `at` or later, at which the connector to `hop` is open."""
    # spec: RT-1
    if hop.connector is None or hop.connector.schedule.is_open(at):
        return at
    fires_at = hop.connector.schedule.next_fire(at, 0)
    assert fires_at is not None, "a connector that never opens is not a route"
    return fires_at


def differs(row: QueueRow, hop: NextHop | None) -> bool:
    """Return whether `hop` differs from the next hop and connector of `row`."""
    if hop is None:
        return row.next_hop is not None
    return row.next_hop != hop.server or row.connector != (hop.connector.name if hop.connector else None)
