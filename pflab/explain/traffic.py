"""What connectors carry, in tables and sentences for people, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pflab.explain.fitted_table import FittedTable
from pflab.runs.traffic_sums import Carried, Traffic, size_words, summed, traffic_of
from pflab.terms.event_words import to_the_second
from topology.natural_order import natural_order
from traces.events import Event, RunStarted
from traces.labtime import DAY_US, HOUR_US, SECOND_US, LabTime, format_duration, format_instant


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
