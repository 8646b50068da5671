"""The surroundings of a few violations: the nearest mails and events, as space-time diagrams."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analytics.drawing.spacetime import Diagram, End, Event, Mail
from analytics.report.runs import Found, Run
from analytics.rows import Answers
from traces.labtime import HOUR_US, MINUTE_US

MARKED: Final = ("change.made", "backup.restored", "conflict.arose", "store.deleted", "replica.dropped")
"""The events that a picture always shows, even if there is no finding at their time."""

FEW: Final = 8
"""A picture has at least these mails, however far apart they are."""

PAUSE_US: Final = 10 * MINUTE_US
LANES: Final = 8
"""How many servers a picture has. In a larger organization only the servers of the mails are shown."""

_ID_NAMED: Final = 4
"""How much the id of a mail, change or object in a text weighs. A folder and a server weigh 1 each."""


def diagrams(answers: Answers, about: Sequence[tuple[Run, Found]]) -> list[Diagram | None]:
    """Return a diagram for each finding; None for a finding whose time is unknown."""
    timed = [(index, run, finding) for index, (run, finding) in enumerate(about) if finding.at is not None]
    moments = {"moments": [(index, finding.trace, finding.at) for index, _, finding in timed]}
    mails, events = answers("moment_mails", moments), answers("moment_events", moments)
    guids = answers("store_guids", {"runs": sorted({(finding.trace,) for _, _, finding in timed})})
    drawn: dict[int, Diagram] = {}
    for index, run, finding in timed:
        names = {row.guid: row.name for row in guids if row.trace == finding.trace}
        mine = [row for row in mails if row.nth == index]
        drawn[index] = diagram(run, finding, mine, [row for row in events if row.nth == index], names)
    return [drawn.get(index) for index in range(len(about))]


def diagram(run: Run, finding: Found, mails: Sequence[Any], events: Sequence[Any], names: Mapping[str, str]) -> Diagram:
    """Return the diagram of a finding from the rows of the queries."""
    arrows = tuple(_mail(row) for row in _together(mails, finding.at or 0))
    low = min([arrow.sent_at for arrow in arrows], default=finding.at or 0) - HOUR_US
    high = max([arrow.sent_at for arrow in arrows], default=finding.at or 0) + HOUR_US
    servers = run.servers
    witness = _witness(finding, events, names, servers)
    marked = tuple(_event(row, names) for row in events if row.type in MARKED and low <= row.at <= high)
    named = {server for server in servers if _named_at(server, finding.text) >= 0}
    ends = {arrow.sender for arrow in arrows} | {arrow.recipient for arrow in arrows} | named
    lanes = tuple(servers) if 0 < len(servers) <= LANES else tuple(sorted(ends))
    faults = tuple(
        fault for fault in run.faults if fault.begin_at <= high and (fault.end_at is None or fault.end_at >= low)
    )
    return Diagram(run.start_at, lanes, arrows, marked, faults, finding.at, witness)


def _together(mails: Sequence[Any], at: int) -> list[Any]:
    """Return the mails that are near to a time together. Beyond a long pause a picture would show little of what is near."""
    near = sorted(mails, key=lambda row: abs(row.submitted_at - at))
    distances = [max(abs(row.submitted_at - at), PAUSE_US) for row in near]
    many = next((nth for nth in range(FEW, len(near)) if distances[nth] > 4 * distances[nth - 1]), len(near))
    return near[:many]


def _mail(row: Any) -> Mail:
    ends: tuple[tuple[End, int | None], ...] = (
        ("received", row.received_at),
        ("lost", row.dropped_at),
        ("rejected", row.bad_at),
        ("expired", row.expired_at),
        ("lost", row.deleted_at),
    )
    end, at = next(((end, at) for end, at in ends if at is not None), ("on its way", None))
    return Mail(row.mail, row.sender, row.store, row.message_type, row.submitted_at, end, at)  # type: ignore[arg-type]


def _witness(finding: Found, events: Sequence[Any], names: Mapping[str, str], servers: Sequence[str]) -> Event | None:
    """Return the event that a finding is about: at its time, with an id that the text names.

    If there is none, only the place is known, which is the first server that the text names. Then the event has no type.
    """
    then = [row for row in events if row.at == finding.at and _likeness(row, finding.text) >= _ID_NAMED]
    if then:
        return _event(min(then, key=lambda row: (-_likeness(row, finding.text), row.node, row.seq)), names)
    places = {_named_at(server, finding.text): server for server in servers}
    first = min((at for at in places if at >= 0), default=None)
    return None if first is None else Event(places[first], finding.at or 0, "")


def _named_at(name: str, text: str) -> int:
    """Return where a text has a server or an id as a whole; -1 if it does not."""
    named = re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", text)
    return named.start() if named else -1


def _likeness(row: Any, text: str) -> int:
    """Return how many of the ids of an event a text names. The id of a mail or of a change counts more than a server."""
    number = row.number if ":" in (row.number or "") else None  # of a change; a mail has its own number
    ids = sum(_ID_NAMED for value in (row.mail, number, row.object) if value and _named_at(value, text) >= 0)
    folder = 1 if row.folder and row.folder in text else 0
    return ids + folder + (1 if _named_at(row.node, text) >= 0 else 0)


def _event(row: Any, names: Mapping[str, str]) -> Event:
    guid, _, counter = (row.number or "").strip("{}").partition(":")
    guid = guid.strip("{}")
    number = f"{names.get(guid, 'Setup')}-{counter}" if counter.isdigit() else ""
    subject = f"'{row.subject}'" if row.subject else ""
    return Event(row.node, row.at, row.type, " ".join(part for part in (number, subject) if part))
