"""Space-time diagrams: a lane for each server, an arrow for each mail, lab time from left to right.

An arrow begins at the sender when the mail was submitted and ends at the recipient when something happened to it there. How it
ends is a shape, not only a colour:

| end | drawn as |
|---|---|
| received | a line with a dot at its end |
| lost, rejected or expired | a dashed line with a red cross |
| on its way | a dotted line with an open circle |

Mails between the same servers that would cover each other are one arrow with their number. Mail often takes seconds in a
picture of days, so an arrow leans at least LEAN pixels; the times in its tooltip are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from analytics.drawing.lab_time import Axis, day_time
from analytics.drawing.mail_types import kind_of, name_of
from analytics.drawing.svg import cleaned, counted, element, natural, picture, text, title
from traces.labtime import SECOND_US

End = Literal["received", "lost", "rejected", "expired", "on its way"]

WIDTH: Final = 1040
LEFT: Final = 84
RIGHT: Final = WIDTH - 24
LANE: Final = 42
LEAN: Final = 9.0
SHOWN_FAULTS: Final = 5
LABELS: Final = 8

_NEAR: Final = 5.0
"""Arrows whose ends are closer than this many pixels are one arrow."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to one recipient.

    end_at: when that end came; None while the mail is on its way.
    """

    mail: str
    sender: str
    recipient: str
    message_type: int
    sent_at: int
    end: End
    end_at: int | None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on a server.

    label: a few words beside it.
    what: the event type, for the tooltip.
    """

    server: str
    at: int
    what: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault from its injection to its end; end_at is None if it never ended.

    words: what it does.
    server: the server that does not run because of it.
    """

    fault: str
    words: str
    begin_at: int
    end_at: int | None
    server: str = ""


@dataclass(frozen=True, slots=True)
class Diagram:
    """What a diagram shows.

    start_at: the start of the run.
    at: the time that the diagram is about, if there is one.
    witness: the event at this time, with its server; its type is '' if only the place is known.
    servers: the lanes.
    """

    start_at: int
    servers: tuple[str, ...]
    mails: tuple[Mail, ...]
    events: tuple[Event, ...] = ()
    faults: tuple[Fault, ...] = ()
    at: int | None = None
    witness: Event | None = None


@dataclass(frozen=True, slots=True)
class _Arrow:
    """Mails that are drawn as one."""

    mails: tuple[Mail, ...]
    begin: tuple[float, float]
    end: tuple[float, float]


def draw(diagram: Diagram) -> str:
    """Return the diagram as SVG; '' if there is no server."""
    servers = sorted(diagram.servers, key=natural)
    if not servers:
        return ""
    axis = _axis(diagram)
    faults = [fault for fault in diagram.faults if _overlaps(fault, axis)]
    top = 34 + 15 * min(len(faults), SHOWN_FAULTS + 1)
    lanes = {server: top + 22 + LANE * index for index, server in enumerate(servers)}
    bottom = top + LANE * len(servers)
    parts = [axis.drawn(top, bottom, 8), _faults(faults, axis, bottom)]
    parts += [_lane(server, y, diagram.faults, axis) for server, y in lanes.items()]
    if diagram.at is not None:
        parts.append(_mark(diagram, axis, top, bottom))
    arrows = _arrows(diagram.mails, lanes, axis)
    parts += [_arrow(arrow, diagram) for arrow in arrows]
    parts += _events(diagram, lanes, axis)
    label = (
        f"Space-time diagram of {', '.join(servers)}, {day_time(axis.low, axis.start_at)} to "
        f"{day_time(axis.high, axis.start_at)}: {counted(len(diagram.mails), 'mail')}"
    )
    return picture(WIDTH, bottom + 36, label, *parts)


def _axis(diagram: Diagram) -> Axis:
    """Return an axis that has room for each mail, event and the time that the diagram is about."""
    times = [mail.sent_at for mail in diagram.mails] + [event.at for event in diagram.events]
    times += [mail.end_at for mail in diagram.mails if mail.end_at is not None]
    times += [] if diagram.at is None else [diagram.at]
    low, high = min(times, default=diagram.start_at), max(times, default=diagram.start_at)
    room = max((high - low) // 24, SECOND_US)
    return Axis(diagram.start_at, low - room, high + room, LEFT, RIGHT)


def _overlaps(fault: Fault, axis: Axis) -> bool:
    return fault.begin_at <= axis.high and (fault.end_at is None or fault.end_at >= axis.low)


def _faults(faults: Sequence[Fault], axis: Axis, bottom: float) -> str:
    """Return a shaded stripe for each fault, with its words in a row above the lanes."""
    parts = []
    ordered = sorted(faults, key=lambda fault: (fault.begin_at, natural(fault.fault)))
    for row, fault in enumerate(ordered[:SHOWN_FAULTS]):
        x, y = axis.x(fault.begin_at), 18 + 15 * row
        until = axis.high if fault.end_at is None else fault.end_at
        width = max(axis.x(until) - x, 2.0)
        near_the_end = x > RIGHT - 240
        words = text(
            f"{fault.fault} {fault.words}",
            x + width - 4 if near_the_end else x + 4,
            y + 10,
            class_="fault-words",
            text_anchor="end" if near_the_end else None,
        )
        tip = title(
            f"fault {fault.fault}: {fault.words}, {day_time(fault.begin_at, axis.start_at)} to {_end_of(fault, axis)}"
        )
        shade = element("rect", x=x, y=y, width=width, height=bottom - y, class_="fault")
        parts.append(element("g", tip, shade, words))
    if len(faults) > SHOWN_FAULTS:
        parts.append(
            text(
                f"and {counted(len(faults) - SHOWN_FAULTS, 'more fault')}",
                LEFT,
                28 + 15 * SHOWN_FAULTS,
                class_="fault-words",
            )
        )
    return "".join(parts)


def _end_of(fault: Fault, axis: Axis) -> str:
    return "the end" if fault.end_at is None else day_time(fault.end_at, axis.start_at)


def _lane(server: str, y: float, faults: Sequence[Fault], axis: Axis) -> str:
    """Return the name of a server and its line, dotted where the server does not run."""
    name = text(cleaned(server, 9), 8, y + 5, class_="server")
    parts = [name, element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="lane")]
    for fault in faults:
        if fault.server == server and _overlaps(fault, axis):
            until = axis.high if fault.end_at is None else fault.end_at
            tip = title(f"{server} does not run")
            parts.append(
                element("line", tip, x1=axis.x(fault.begin_at), x2=axis.x(until), y1=y, y2=y, class_="lane down")
            )
    return "".join(parts)


def _mark(diagram: Diagram, axis: Axis, top: float, bottom: float) -> str:
    """Return the line at the time that the diagram is about, with the time above it."""
    assert diagram.at is not None
    x = axis.x(diagram.at)
    anchor = "start" if x < LEFT + 60 else "end" if x > RIGHT - 60 else "middle"
    flag = text(day_time(diagram.at, diagram.start_at), x, 12, class_="mark-words", text_anchor=anchor)
    line = element("line", x1=x, x2=x, y1=16, y2=bottom, class_="mark")
    return element("g", line, flag, element("path", d=f"M{x - 5} 15h10l-5 8z", class_="mark-flag"))


def _arrows(mails: Sequence[Mail], lanes: Mapping[str, float], axis: Axis) -> list[_Arrow]:
    """Return the arrows: mails of one kind, with the same ends in servers and nearly the same in time, are one."""
    groups: dict[tuple[object, ...], list[Mail]] = {}
    for mail in sorted(mails, key=lambda mail: (mail.sent_at, mail.mail, mail.recipient)):
        if mail.sender in lanes and mail.recipient in lanes:
            end_x = axis.x(mail.sent_at if mail.end_at is None else mail.end_at)
            place = round(axis.x(mail.sent_at) / _NEAR), round(end_x / _NEAR)
            groups.setdefault((mail.sender, mail.recipient, kind_of(mail.message_type), mail.end, *place), []).append(
                mail
            )
    arrows = []
    for group in groups.values():
        first = group[0]
        x1 = axis.x(first.sent_at)
        x2 = axis.x(first.sent_at if first.end_at is None else first.end_at)
        end = min(max(x2, x1 + LEAN), RIGHT + 12.0)
        arrows.append(_Arrow(tuple(group), (x1, lanes[first.sender]), (end, lanes[first.recipient])))
    return arrows


def _arrow(arrow: _Arrow, diagram: Diagram) -> str:
    first = arrow.mails[0]
    (x1, y1), (x2, y2) = arrow.begin, arrow.end
    ended = {"received": "received", "on its way": "waiting"}.get(first.end, "lost")
    if ended == "lost":  # The cross is short of the lane, so that it does not cover what is there.
        x2, y2 = x1 + (x2 - x1) * 0.8, y1 + (y2 - y1) * 0.8
    parts = [title(_said(arrow, diagram)), element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="way")]
    if ended == "lost":
        parts.append(element("path", d=f"M{x2 - 4:.1f} {y2 - 4:.1f}l8 8m0 -8l-8 8", class_="cross"))
    else:
        parts.append(element("circle", cx=x2, cy=y2, r=3.5, class_="dot"))
    if len(arrow.mails) > 1:
        at = x1 + (x2 - x1) * 0.6 + 4, y1 + (y2 - y1) * 0.6 + 3
        parts.append(text(f"{len(arrow.mails)}\u00d7", *at, class_="count"))
    return element("g", *parts, class_=f"mail {kind_of(first.message_type)} {ended}")


def _said(arrow: _Arrow, diagram: Diagram) -> str:
    """Return what an arrow is, in words."""
    first = arrow.mails[0]
    more = f", and {len(arrow.mails) - 1} more" if len(arrow.mails) > 1 else ""
    return f"{described(first, diagram.start_at)}{more}"


def described(mail: Mail, start_at: int) -> str:
    """Return a mail in words: its type, servers, times and end."""
    ended = "" if mail.end_at is None else f" {day_time(mail.end_at, start_at)}"
    return (
        f"{name_of(mail.message_type)} from {mail.sender} to {mail.recipient}, sent {day_time(mail.sent_at, start_at)}, "
        f"{mail.end}{ended} <{mail.mail}>"
    )


def _events(diagram: Diagram, lanes: Mapping[str, float], axis: Axis) -> list[str]:
    """Return a mark for each event, labels where there is room, and a ring around the witness."""
    parts = []
    label_spans: list[tuple[float, float, float]] = []
    witness = diagram.witness
    if witness is not None and witness.server in lanes:
        x = axis.x(witness.at)
        label_spans.append((x - 10, x + 7.4 * len(f"{witness.what} {witness.label}"[:40]) + 20, lanes[witness.server]))
    for event in sorted(diagram.events, key=lambda event: event.at):
        if event.server not in lanes or event == diagram.witness:
            continue
        x, y = axis.x(event.at), lanes[event.server]
        tip = title(f"{event.what} on {event.server}, {day_time(event.at, diagram.start_at)} {event.label}".strip())
        mark = [tip, element("path", d=f"M{x} {y - 5}l5 5l-5 5l-5 -5z", class_="happened")]
        label = cleaned(event.label, 22)
        if label and len(label_spans) < LABELS and _has_room(label_spans, x, y, 6.4 * len(label)):
            near_the_end = x + 6.4 * len(label) > RIGHT + 20
            mark.append(text(label, x, y - 9, class_="event-words", text_anchor="end" if near_the_end else None))
        parts.append(element("g", *mark))
    if witness is not None and witness.server in lanes:
        x, y = axis.x(witness.at), lanes[witness.server]
        words = f"{witness.what} {witness.label}".strip()
        near_the_end = x > RIGHT - 7 * len(words)
        parts.append(
            element(
                "g",
                title(f"{words or 'here'} on {witness.server}, {day_time(witness.at, diagram.start_at)}"),
                element("circle", cx=x, cy=y, r=9, class_="ring"),
                element("circle", cx=x, cy=y, r=4, class_="ring-dot"),
                text(cleaned(words, 40), x - 13 if near_the_end else x + 13, y - 9, class_="witness-words",
                     text_anchor="end" if near_the_end else None),
                class_="witness",
            )
        )  # fmt: skip
    return parts


def _has_room(label_spans: list[tuple[float, float, float]], x: float, y: float, width: float) -> bool:
    """Return whether a label at this place covers no other label, and remember it."""
    free = all(y != other_y or x > right or x + width < left for left, right, other_y in label_spans)
    if free:
        label_spans.append((x, x + width, y))
    return free
