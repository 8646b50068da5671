"""A timeline of a run: mails by kind as stacked bars, faults shaded, violations marked, over lab time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from analytics.drawing.lab_time import Axis, day_time, duration
from analytics.drawing.mail_types import KINDS
from analytics.drawing.spacetime import Fault
from analytics.drawing.svg import counted, element, natural, picture, text, title

WIDTH: Final = 1040
LEFT: Final = 44
RIGHT: Final = WIDTH - 24
BARS_TOP: Final = 34
BARS_HEIGHT: Final = 104
ROWS: Final = 4
"""How many rows of faults are drawn below the bars."""

BARS: Final = 96
"""The largest number of bars that a timeline has."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of the run: when it begins, the copies of mails submitted in it by kind, and how many of them never arrived."""

    at: int
    copies: dict[str, int]
    lost: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A violation: when, what, and the anchor of its description on the page."""

    at: int
    words: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """What a timeline shows.

    width_us: how long a slot is.
    """

    start_at: int
    end_at: int
    width_us: int
    slots: tuple[Slot, ...]
    faults: tuple[Fault, ...]
    marks: tuple[Mark, ...]


def draw(line: Timeline) -> str:
    """Return the timeline as SVG."""
    high = max(line.end_at, line.start_at + 1)
    axis = Axis(line.start_at, line.start_at, high, LEFT, RIGHT)
    most = max((sum(slot.copies.values()) for slot in line.slots), default=0)
    rows, left_out = _rows(line.faults, axis)
    floor = BARS_TOP + BARS_HEIGHT
    bottom = floor + (8 + 17 * len(rows) if rows else 0)
    parts = [_shades(line.faults, axis, floor), _scale(most), axis.drawn(BARS_TOP, bottom, 12)]
    parts += [_bar(slot, line, axis, most) for slot in line.slots]
    for index, row in enumerate(rows):
        parts += [_fault(fault, axis, floor + 8 + 17 * index) for fault in row]
    parts += [_mark(mark, axis, bottom) for mark in line.marks]
    if left_out:
        parts.append(
            text(f"and {counted(left_out, 'more fault')}", RIGHT, bottom + 30, class_="fault-words", text_anchor="end")
        )
    mails = sum(sum(slot.copies.values()) for slot in line.slots)
    label = (
        f"Timeline of {duration(high - line.start_at)} of lab time: {mails} copies of mails, "
        f"{counted(len(line.faults), 'fault')}, {counted(len(line.marks), 'finding')}"
    )
    return picture(WIDTH, bottom + 36, label, *parts)


def _scale(most: int) -> str:
    """Return the vertical axis: nothing, and the largest number of copies in a slot."""
    words = text(f"{most:,}", LEFT - 6, BARS_TOP + 5, class_="tick", text_anchor="end")
    zero = text("0", LEFT - 6, BARS_TOP + BARS_HEIGHT + 4, class_="tick", text_anchor="end")
    base = BARS_TOP + BARS_HEIGHT
    return words + zero + element("line", x1=LEFT, x2=RIGHT, y1=base, y2=base, class_="lane")


def _bar(slot: Slot, line: Timeline, axis: Axis, most: int) -> str:
    x = axis.x(slot.at)
    width = max(axis.x(slot.at + line.width_us) - x - 1, 2.0)
    y = float(BARS_TOP + BARS_HEIGHT)
    parts = []
    phrases = []
    for kind, words in KINDS.items():
        copies = slot.copies.get(kind, 0)
        if copies:
            height = BARS_HEIGHT * copies / max(most, 1)
            y -= height
            phrases.append(f"{copies} {words}")
            parts.append(element("rect", x=x, y=y, width=width, height=height, class_=f"bar {kind}"))
    if slot.lost:
        phrases.append(f"{slot.lost} never arrived")
        at = x + width / 2, max(y - 7, 30)
        parts.append(element("path", d=f"M{at[0] - 3:.1f} {at[1] - 3:.1f}l6 6m0 -6l-6 6", class_="cross"))
    return element("g", title(f"from {day_time(slot.at, line.start_at)}: {', '.join(phrases)}"), *parts)


def _shades(faults: Sequence[Fault], axis: Axis, floor: float) -> str:
    """Return the times in which a fault was active, each shaded once."""
    spans = sorted((fault.begin_at, axis.high if fault.end_at is None else fault.end_at) for fault in faults)
    merged: list[tuple[int, int]] = []
    for begin, end in spans:
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return "".join(
        element("rect", x=axis.x(begin), y=BARS_TOP, width=max(axis.x(end) - axis.x(begin), 1.5),
                height=floor - BARS_TOP, class_="fault")
        for begin, end in merged
    )  # fmt: skip


def _rows(faults: Sequence[Fault], axis: Axis) -> tuple[list[list[Fault]], int]:
    """Return rows of faults that leave room for their words, and the number of faults without a row."""
    rows: list[list[Fault]] = []
    ends: list[float] = []
    left_out = 0
    for fault in sorted(faults, key=lambda fault: (fault.begin_at, natural(fault.fault))):
        begin, end = _place(fault, axis)
        free = next((index for index, at in enumerate(ends) if at + 6 <= begin), None)
        if free is not None:
            rows[free].append(fault)
            ends[free] = end
        elif len(rows) < ROWS:
            rows.append([fault])
            ends.append(end)
        else:
            left_out += 1
    return rows, left_out


def _place(fault: Fault, axis: Axis) -> tuple[float, float]:
    """Return where a fault and its words begin and end."""
    begin = axis.x(fault.begin_at)
    end = axis.x(axis.high if fault.end_at is None else fault.end_at)
    words = 6.1 * len(f"{fault.fault} {fault.words}"[:40]) + 10
    return (min(begin, RIGHT - words), max(end, RIGHT)) if begin + words > RIGHT else (begin, max(end, begin + words))


def _fault(fault: Fault, axis: Axis, y: float) -> str:
    x = axis.x(fault.begin_at)
    until = axis.high if fault.end_at is None else fault.end_at
    words = f"{fault.fault} {fault.words}"[:40]
    ended = "the end" if fault.end_at is None else day_time(fault.end_at, axis.start_at)
    tip = title(f"fault {fault.fault}: {fault.words}, {day_time(fault.begin_at, axis.start_at)} to {ended}")
    bar = element("rect", x=x, y=y, width=max(axis.x(until) - x, 3.0), height=14, rx=3, class_="fault-bar")
    return element("g", tip, bar, text(words, _place(fault, axis)[0] + 5, y + 11, class_="fault-words"))


def _mark(mark: Mark, axis: Axis, bottom: float) -> str:
    x = axis.x(mark.at)
    flag = element("path", d=f"M{x - 6} 14h12l-6 10z", class_="mark-flag")
    line = element("line", x1=x, x2=x, y1=24, y2=bottom, class_="mark")
    tip = title(f"{day_time(mark.at, axis.start_at)}: {mark.words}")
    return element("a", tip, line, flag, href=f"#{mark.anchor}", aria_label=f"violation: {mark.words}")
