"""What connectors carry: the mails and bytes of each type of mail in each hour, from events.

A mail counts on each connector that it crosses, as often as it crosses it: once for every `hop.sent`. An attempt that failed
does not count, because nobody knows how many of its bytes crossed. A replication mail has the type that its sender or its
receiver has told; what no store has submitted is ordinary mail.

Example: A in PARIS submits a content mail of 4,000 bytes to B and C in LONDON. It crosses the connector once, and is divided at
the bridgehead B; the hop from B to C stays inside the site. So the connector has carried one content mail and 4,000 bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pflab.explain.fitted_table import FittedTable
from pflab.terms.event_words import to_the_second
from pflab.terms.mail_types import mail_name
from topology.file.load import topology_from_text
from topology.model import Connector, Topology
from topology.natural_order import natural_order
from traces.events import Event, HopSent, MailReceived, MailSubmitted, OrganizationChanged, RunStarted
from traces.labtime import DAY_US, HOUR_US, SECOND_US, LabTime, format_duration, format_instant

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


def traffic_json(row: Traffic) -> dict[str, Any]:
    """Return a row as JSON values."""
    return {
        "connector": row.connector,
        "hour_at": format_instant(row.hour_at),
        "type": row.type,
        "mails": row.carried.mails,
        "bytes": row.carried.bytes,
    }


def traffic_table(rows: Sequence[Traffic], *, hourly: bool) -> FittedTable:
    """Return what each connector has carried of each type of mail, in all or hour by hour."""
    table = FittedTable(
        "Mail over connectors",
        ["Connector", *(["Hour"] if hourly else []), "Type", "Mails", "Size"],
        right=("Mails", "Size"),
    )
    sums = summed(rows, lambda row: (row.connector, row.hour_at if hourly else 0, row.type))
    for (connector, hour_at, type_), carried in sums.items():
        hour = [to_the_second(hour_at)] if hourly else []
        table.add_texts(connector, *hour, type_, f"{carried.mails:,}", size_words(carried.bytes))
    return table


def sentences(rows: Sequence[Traffic]) -> Iterator[str]:
    """Yield for each connector what it has carried, how long it needed for that, and its busiest hour."""
    for name, total in summed(rows, lambda row: row.connector).items():
        hours = summed((row for row in rows if row.connector == name), lambda row: row.hour_at)
        hour_at, most = max(hours.items(), key=lambda item: (item[1].bytes, -item[0]))
        needed = (
            f", for which the line needed {format_duration(total.needed_us - total.needed_us % SECOND_US)}"
            if total.needed_us >= SECOND_US
            else ""
        )
        yield f"{name} has carried {total}{needed}. Most arrived in the hour from {to_the_second(hour_at)} on: {most}."


def recent_sentences(events: Sequence[Event], connectors: Iterable[str], now: LabTime) -> Iterator[str]:
    """Yield for each connector what it has carried in the last day, by type of mail, and in the last hour.

    events: of a lab that has run for long perhaps only the newest; then the day is as long as they are.
    connectors: the names of those that exist. One that was removed meanwhile follows if it has carried anything.
    """
    is_whole = any(isinstance(event, RunStarted) for event in events)
    first_at = 0 if is_whole else min((event.at for event in events), default=0)
    since = "in the last day" if first_at <= now - DAY_US else f"since {to_the_second(first_at)}"
    day = traffic_of(events, since_at=now - DAY_US)
    hours = summed(traffic_of(events, since_at=now - HOUR_US), lambda row: row.connector)
    for name in dict.fromkeys((*sorted(connectors, key=natural_order), *(row.connector for row in day))):
        types = summed((row for row in day if row.connector == name), lambda row: row.type)
        if not types:
            yield f"{name} has carried no mail {since}."
            continue
        by_type = "; ".join(f"{type_}: {carried}" for type_, carried in types.items())
        hour = f"{hours[name]}" if name in hours else "nothing"
        yield f"{name} has carried {sum(types.values(), Carried())} {since} ({by_type}), {hour} in the last hour."


def size_words(bytes_: int) -> str:
    """Return a size as people read it, such as `3.4 MB`: rounded, in the largest unit of which it has one."""
    size, unit = float(bytes_), "bytes"
    for larger in ("KB", "MB", "GB"):
        if size < _KB:
            break
        size, unit = size / _KB, larger
    return f"{bytes_:,} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
