"""Space-time diagrams of a few mails: a line for each store, an arrow for each mail, faults shaded.

Spark chooses a limited number of rows; the drawing is SVG text. Times are lab time in microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.report.words import instant
from traces.labtime import HOUR_US, MINUTE_US

MOMENTS: Final = 4
"""How many pictures a report has."""

MAILS: Final = 60
"""How many arrows a picture has; more would be hard to tell apart."""

BEFORE_US: Final = 12 * HOUR_US
AFTER_US: Final = HOUR_US

_WIDTH, _LEFT, _ROW, _TOP = 900, 70, 46, 34

TYPES: Final = {
    2: "hierarchy", 4: "content", 8: "backfill request", 16: "status", 32: "status request",
    2147483650: "hierarchy response", 2147483652: "content response",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Moment:
    """The subject of a picture: a trace, an instant, and the text of what was found then."""

    trace: str
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A moment and its SVG picture."""

    moment: Moment
    svg: str


def moments(rules: DataFrame, mismatches: DataFrame, histories: DataFrame) -> list[Moment]:
    """Return for each trace the first violation or the first change that a holder lacks, whichever is earlier; at most
    MOMENTS."""
    broken = rules.where("violations > 0 and at is not null").select(
        "trace", "at", F.concat_ws(": ", "check", "witness").alias("text")
    )
    lacks = mismatches.where("what = 'lacks'").select("trace", "number", "store", "path")
    made = histories.where("act = 'made'").select("trace", "number", "at")
    missing = lacks.join(made, ["trace", "number"]).select(
        "trace", "at", F.format_string("%s lacks a change of %s", "store", "path").alias("text")
    )
    first = F.min(F.struct("at", "text")).alias("first")
    every = broken.unionByName(missing).groupBy("trace").agg(first).orderBy("trace").limit(MOMENTS)
    return [Moment(row.trace, row.first.at, row.first.text) for row in every.collect()]


def pictures(chosen: Sequence[Moment], mails: DataFrame, events: DataFrame) -> list[Picture]:
    """Return a picture for each moment, with two small queries for all of them."""
    if not chosen:
        return []
    about = F.lit(False)
    for each in chosen:
        within = F.col("at").between(each.at - BEFORE_US, each.at + AFTER_US)
        about = about | ((F.col("trace") == each.trace) & within)
    at = F.coalesce("submitted_at", "received_at", "bad_at")
    near = mails.withColumn("at", at).where(about & F.col("sender").isNotNull())
    rows = near.orderBy(F.desc("at")).limit(MAILS * len(chosen)).collect()
    traces = [each.trace for each in chosen]
    is_fault = F.col("type").isin("fault.injected", "fault.healed")
    faults = (
        events.where((F.col("family") == "run") & is_fault & F.col("trace").isin(*traces))
        .select("trace", "fault", "type", "at")
        .limit(MAILS * len(chosen))
        .collect()
    )
    return [
        Picture(
            each,
            draw(
                each,
                [row for row in rows if row.trace == each.trace],
                [row for row in faults if row.trace == each.trace],
            ),
        )
        for each in chosen
    ]


def windows(faults: Sequence[Any], until: int) -> list[tuple[str, int, int]]:
    """Return fault, start and end of each fault. A fault that is never healed ends at `until`."""
    begun: dict[str, int] = {}
    found = []
    for row in sorted(faults, key=lambda each: (each.at, each.type != "fault.injected")):
        if row.type == "fault.injected":
            begun.setdefault(row.fault, row.at)
        elif row.fault in begun:
            found.append((row.fault, begun.pop(row.fault), row.at))
    return found + [(fault, at, until) for fault, at in begun.items()]


def draw(moment: Moment, mails: Sequence[Any], faults: Sequence[Any]) -> str:
    """Return an SVG: stores from top to bottom, time from left to right."""
    stores = sorted({row.store for row in mails} | {row.sender for row in mails})
    if not stores:
        return ""
    times = [at for row in mails for at in (row.submitted_at, row.received_at, row.dropped_at) if at is not None]
    low, high = min([*times, moment.at]), max([*times, moment.at])
    span = max(high - low, MINUTE_US)

    def x(at: int) -> float:
        return float(round(_LEFT + (_WIDTH - _LEFT - 20) * min(max(at - low, 0), span) / span, 1))

    y = {store: _TOP + index * _ROW for index, store in enumerate(stores)}
    height = _TOP + len(stores) * _ROW
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" font-size="11">']
    for fault, begin, end in windows(faults, high):
        if end >= low and begin <= high:
            width = max(x(end) - x(begin), 2)
            shade = f'<rect x="{x(begin)}" y="16" width="{width}" height="{height - 26}" fill="#f3d9a4" opacity="0.6">'
            parts.append(f"{shade}<title>fault {escape(fault)}</title></rect>")
    for store, line in y.items():
        parts.append(f'<text x="4" y="{line + 4}">{escape(store)}</text>')
        parts.append(f'<line x1="{_LEFT}" y1="{line}" x2="{_WIDTH - 20}" y2="{line}" stroke="#bbb"/>')
    parts += [_arrow(row, x, y) for row in mails]
    mark = x(moment.at)
    parts.append(f'<line x1="{mark}" y1="14" x2="{mark}" y2="{height - 8}" stroke="#a31515" stroke-dasharray="4 3"/>')
    for at, anchor in ((low, "start"), (high, "end")):
        parts.append(f'<text x="{x(at)}" y="11" text-anchor="{anchor}" fill="#555">{instant(at)}</text>')
    return "".join([*parts, "</svg>"])


def _arrow(row: Any, x: Any, y: dict[str, int]) -> str:
    """Return a mail as SVG: blue if it arrived, red if it was lost, bad or expired, grey if it is on its way."""
    ends = (
        (row.received_at, "#4c78a8"),
        (row.dropped_at, "#c44e52"),
        (row.bad_at, "#c44e52"),
        (row.expired_at, "#c44e52"),
    )
    at, colour = next(((at, colour) for at, colour in ends if at is not None), (row.submitted_at, "#999"))
    begin, end = (x(row.submitted_at), y[row.sender]), (x(at), y[row.store])
    kind = TYPES.get(row.message_type, str(row.message_type))
    title = f"{kind} <{row.mail}> from {row.sender} to {row.store}, {instant(row.submitted_at)}"
    if colour == "#c44e52":
        title += ", lost" if row.dropped_at is not None else ", not accepted"
    line = f'<line x1="{begin[0]}" y1="{begin[1]}" x2="{end[0]}" y2="{end[1]}" stroke="{colour}" stroke-width="1.5"/>'
    dot = f'<circle cx="{end[0]}" cy="{end[1]}" r="3" fill="{colour}"/>'
    return f"<g>{line}{dot}<title>{escape(title)}</title></g>"
