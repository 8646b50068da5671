"""What connectors carry: the mails and bytes of each type of mail in each hour, from events.

A mail counts on each connector that it crosses, as often as it crosses it: once for every `hop.sent`. An attempt that failed
does not count, because nobody knows how many of its bytes crossed. A replication mail has the type that its sender or its
receiver has told; what no store has submitted is ordinary mail.

Example: A in PARIS submits a content mail of 4,000 bytes to B and C in LONDON. It crosses the connector once, and is divided at
the bridgehead B; the hop from B to C stays inside the site. So the connector has carried one content mail and 4,000 bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from pflab.terms.mail_types import mail_name
from topology.file.load import topology_from_text
from topology.model import Connector, Topology
from topology.natural_order import natural_order
from traces.events import Event, HopSent, MailReceived, MailSubmitted, OrganizationChanged
from traces.labtime import HOUR_US, LabTime

ORDINARY: Final = "ordinary mail"
"""The type of a mail that no store has submitted."""

_KB: Final = 1024


@dataclass(frozen=True, slots=True)
class Carried:
    """How many mails and bytes, and how long the connector needed for them by its bandwidth."""

    mails: int = 0
    bytes: int = 0
    needed_us: int = 0

    def __add__(self, other: Carried) -> Carried:
        return Carried(self.mails + other.mails, self.bytes + other.bytes, self.needed_us + other.needed_us)

    def __str__(self) -> str:
        return f"{self.mails:,} {'mail' if self.mails == 1 else 'mails'}, {size_words(self.bytes)}"


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a connector carries of one type of mail in one hour.

    hour_at: the beginning of the hour.
    """

    connector: str
    type: str
    hour_at: LabTime
    carried: Carried


def traffic_of(events: Iterable[Event], topology: Topology | None = None, *, since_at: LabTime = 0) -> list[Traffic]:
    """Return what each connector carries, by hour and type of mail, in the order of connectors and hours.

    topology: the organization as the lab began; None if nothing is to be said about bandwidths.
    since_at: mails that crossed before this instant do not count.
    """
    types: dict[str, str] = {}
    hops: list[tuple[HopSent, int]] = []
    connectors = {} if topology is None else _connectors(topology)
    for event in events:
        if isinstance(event, MailSubmitted | MailReceived) and event.mail:
            types[event.mail] = mail_name(event.message_type)
        elif isinstance(event, HopSent) and event.connector is not None and event.at >= since_at:
            connector = connectors.get(event.connector)
            hops.append((event, 0 if connector is None else connector.transfer_us(event.size)))
        elif isinstance(event, OrganizationChanged) and topology is not None:
            connectors = _connectors(topology_from_text(event.topology))  # spec: RT-6
    sums: defaultdict[tuple[str, LabTime, str], Carried] = defaultdict(Carried)
    for hop, needed_us in hops:
        key = (hop.connector or "", hop.at - hop.at % HOUR_US, types.get(hop.mail or "", ORDINARY))
        sums[key] += Carried(1, hop.size, needed_us)
    ordered = sorted(sums, key=lambda key: (natural_order(key[0]), *key[1:]))
    return [
        Traffic(connector, type_, hour_at, sums[connector, hour_at, type_]) for connector, hour_at, type_ in ordered
    ]


def _connectors(topology: Topology) -> dict[str, Connector]:
    return {connector.name: connector for connector in topology.connectors}


def summed(rows: Iterable[Traffic], key: Callable[[Traffic], Any]) -> dict[Any, Carried]:
    """Return what the rows with each key carry together, in the order of the rows."""
    sums: defaultdict[Any, Carried] = defaultdict(Carried)
    for row in rows:
        sums[key(row)] += row.carried
    return dict(sums)


def size_words(bytes_: int) -> str:
    """Return a size as people read it, such as `3.4 MB`: rounded, in the largest unit of which it has one."""
    size, unit = float(bytes_), "bytes"
    for larger in ("KB", "MB", "GB"):
        if size < _KB:
            break
        size, unit = size / _KB, larger
    return f"{bytes_:,} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"


def signed_size(bytes_: int) -> str:
    """Return how much more or less something is, such as `+3.4 MB`."""
    return f"{'-' if bytes_ < 0 else '+'}{size_words(abs(bytes_))}"
