"""Replication state tables and backfill arrays for people, laid out as Microsoft printed them.

A store has one table for each folder, with a row for each holder. The row of the store itself shows the last update it
sent; the row of another store shows what that store said it has (RST-1, RST-2, RST-3). Added are: what is missing, when the row
was last heard, and whether a replica is being removed (RP-2). Another table shows what decides which stores are asked for
missing changes (BF-3). A backfill array is a table with a row for each entry (BF-2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from pflab.explain.fitted_table import FittedTable
from pflab.terms import number_sets as sets
from pflab.terms.event_words import SETUP, hours_and_minutes, to_the_second
from pflab.terms.folder_ids import HIERARCHY
from topology.problems import counted
from traces.labtime import MINUTE_US, SECOND_US, format_instant

if TYPE_CHECKING:
    from node.views import EntryView, RowView, SourceView, StateView
    from traces.labtime import LabTime


MOST_RANGES: Final = 6
"""The largest number of ranges of a set that are shown. Of a larger set, the last number and the number of ranges are shown
too."""


def state_tables(states: Iterable[StateView], now: LabTime | None = None) -> list[FittedTable]:
    """Return one table for each folder of a store. With `now`, the column *Last heard* also says how long ago that was."""
    return [_state_table(state, now) for state in states]


def _state_table(state: StateView, now: LabTime | None) -> FittedTable:
    title = f"Replication State Table for Server {state.store}"
    table = FittedTable(title, ("Replica", "Data", "Last heard"), show_lines=True)
    stores = [*state.rows, *state.leavers]
    for row in sorted(state.rows, key=lambda row: row.store):
        table.add_texts(_replica(state, row), "\n".join(data_lines(row, stores)), _heard(row, now))
    for row in state.leavers:
        table.add_texts(f"{_replica(state, row)}\n(delete-pending)", "\n".join(data_lines(row)), "")
    return table


def _replica(state: StateView, row: RowView) -> str:
    name = "Folder hierarchy (1-1)" if HIERARCHY in (state.path, state.folder) else state.path
    mark = "local replica, delete-pending" if state.pending else "local replica"
    return f"{name} on Server {row.store}" + (f"\n({mark})" if row.is_local else "")


def data_lines(row: RowView, rows: Sequence[RowView] = (), *, unreported: bool = True) -> list[str]:
    """Return `Last update sent: A-100` for the store's own row, and `A-100 received` for the row of another store.

    The lines of both also name the missing numbers.

    rows: all rows of the table, which show what numbers exist. A store may have more than its row says, so numbers above its
        highest one are only "not reported" (RST-2).
    unreported: name these too.
    """
    content = _Data(row.numbers, [column.numbers for column in rows])
    associated = _Data(row.numbers_fai, [column.numbers_fai for column in rows], " (associated)")
    if row.is_local:
        lines = [f"Last update sent: {row.last_sent or 'none'}", *content.missing(), *associated.missing()]
        return [*lines, *content.unknown("received"), *associated.unknown("received")]
    lines = [*content.received(), *associated.received()] or ["nothing received"]
    if not unreported:
        return lines
    return [*lines, *content.unknown("reported"), *associated.unknown("reported")]


class _Data:
    """One set of a row, shown as lines of text.

    The numbers in a gap are missing, because a mail also claims the numbers that belong to other folders. Numbers below the
    first one may be older than the folder, so they are missing only if a row of the table has them (RST-3). No user made
    the changes that created the topology's folders, so their numbers are left out if there are other numbers to show.
    """

    def __init__(self, numbers: str, table: Sequence[str], suffix: str = "") -> None:
        all_numbers = self._all = sets.parse_named(numbers)
        self._numbers = {
            name: all_numbers[name] for name in sorted(all_numbers) if name != SETUP or len(all_numbers) == 1
        }
        self._table = sets.union(map(sets.parse_named, table))
        self._what = suffix

    def received(self) -> list[str]:
        """Return `A-100 received` if no number up to A-100 is missing, else lines such as `A-2..50 received`, `A-1 missing`."""
        lines = []
        for name, ranges in self._numbers.items():
            holes = self._holes(name)
            words = _listed(name, ranges) if holes else f"{name}-{ranges[-1][1]}"
            lines += [f"{words} received{self._what}", *self._lines_of(name, holes)]
        return lines

    def missing(self) -> list[str]:
        """Return one line such as `A-1, A-5..7 missing` for each store of which numbers are missing."""
        return [line for name in self._numbers for line in self._lines_of(name, self._holes(name))]

    def unknown(self, done: str) -> list[str]:
        """Return lines such as `A-1 exists, not received` for the numbers that exist above the highest one of each store."""
        lines = []
        for name, ranges in sorted(sets.minus(self._table, self._all).items()):
            highest = self._all[name][-1][1] if name in self._all else 0
            above = [span for span in ranges if span[0] > highest]
            if above:
                exist = "exists" if len(above) == 1 and above[0][0] == above[0][1] else "exist"
                lines.append(f"{_listed(name, above)} {exist}, not {done}{self._what}")
        return lines

    def _lines_of(self, name: str, holes: sets.Ranges) -> list[str]:
        return [f"{_listed(name, holes)} missing{self._what}"] if holes else []

    def _holes(self, name: str) -> sets.Ranges:
        ranges = self._numbers[name]
        between = [(name, gap_start[1] + 1, right[0] - 1) for gap_start, right in pairwise(ranges)]
        below = sets.common({name: [(0, ranges[0][0] - 1)]}, self._table)
        return sets.union([sets.tidy(between), below]).get(name, [])


def _listed(name: str, ranges: sets.Ranges) -> str:
    words = sets.words({name: ranges[:MOST_RANGES]})
    return (
        words
        if len(ranges) <= MOST_RANGES
        else f"{words}, ... up to {name}-{ranges[-1][1]} ({counted(len(ranges), 'range')})"
    )


def numbers_text(contents: str, associated: str = "") -> str:
    """Return a set in the form for people, without the ranges that are too many to read."""
    parts = [_listed(name, ranges) for name, ranges in sets.parse_named(contents).items()]
    parts += [f"{_listed(name, ranges)} (associated)" for name, ranges in sets.parse_named(associated).items()]
    return ", ".join(parts)


def _heard(row: RowView, now: LabTime | None) -> str:
    if row.is_local:
        return ""
    if row.heard_at is None:
        return "never"
    ago = "" if now is None else f"\n{_span(now - row.heard_at)} ago"
    return to_the_second(row.heard_at) + ago


def _span(span_us: int) -> str:
    """Return a span as text: in seconds if it is below a minute."""
    return f"{span_us // SECOND_US} s" if span_us < MINUTE_US else hours_and_minutes(span_us)


def sources_table(store: str, sources: Sequence[SourceView]) -> FittedTable:
    """Return what decides which stores a store asks for missing changes, in the order in which it would ask them."""
    headings = ("Server", "Site", "Version", "Cost", "Mail takes", "Last request", "State")
    table = FittedTable(f"Backfill sources of Server {store}, best first", headings)
    for source in sources:
        marks = {"preferred": source.preferred, "unavailable": source.unavailable, "no address": not source.addressed}
        table.add_texts(
            source.store,
            source.site,
            source.version,
            "no route" if source.cost is None else str(source.cost),
            "unknown" if source.transit_us is None else average(source.transit_us),
            "never" if source.backfilled_at is None else to_the_second(source.backfilled_at),
            "\n".join(mark for mark, holds in marks.items() if holds) or "available",
        )
    return table


def average(span_us: int) -> str:
    """Return the time that a mail takes: `0.12 s`, `2 s` or `15 min`."""
    return f"{span_us / SECOND_US:.3g} s" if span_us < MINUTE_US else hours_and_minutes(span_us)


def state_json(state: StateView, sources: Iterable[SourceView]) -> dict[str, Any]:
    """Return a store's rows of a folder as JSON values. Sets are ranges by store, instants are text.

    sources: what the store knows about other stores; it is added to their rows.
    """
    sources_by_store = {source.store: source for source in sources}
    return {
        "store": state.store,
        "folder": state.path,
        "delete_pending": state.pending,
        "leaving": [{"store": row.store, "has": ranges_json(row.numbers)} for row in state.leavers],
        "rows": [
            {
                "store": row.store,
                "local": row.is_local,
                "has": ranges_json(row.numbers),
                "has_fai": ranges_json(row.numbers_fai),
                "last_sent": row.last_sent,
                "heard_at": None if row.heard_at is None else format_instant(row.heard_at),
                "source": _source_json(sources_by_store[row.store]) if row.store in sources_by_store else None,
            }
            for row in state.rows
        ],
    }


def _source_json(source: SourceView) -> dict[str, Any]:
    return {
        "version": source.version,
        "site": source.site,
        "cost": source.cost,
        "transit_s": None if source.transit_us is None else source.transit_us / SECOND_US,
        "last_request_at": None if source.backfilled_at is None else format_instant(source.backfilled_at),
        "unavailable": source.unavailable,
        "preferred": source.preferred,
        "addressed": source.addressed,
    }


def ranges_json(numbers: str) -> dict[str, list[list[int]]]:
    """Return a set in the form for people as JSON values: for each store, its ranges of counters."""
    return {name: [list(span) for span in ranges] for name, ranges in sets.parse_named(numbers).items()}


def backfill_table(store: str, entries: Sequence[EntryView]) -> FittedTable:
    """Return a store's backfill array as a table."""
    headings = ("Folder", "Missing", "Since, time-out ends", "Requests")
    table = FittedTable(f"Backfill array of Server {store}", headings, show_lines=True)
    for entry in entries:
        table.add_texts(entry.path, *map("\n".join, (_what(entry), _when(entry), _requests(entry))))
    return table


def _what(entry: EntryView) -> list[str]:
    lines = [entry.missing or "nothing"]
    lines += [f"associated: {entry.missing_fai}"] if entry.missing_fai else []
    return [*lines, "(known in the site)" if entry.local else "(known outside the site)"]


def _when(entry: EntryView) -> list[str]:
    lines = [to_the_second(entry.made_at), to_the_second(entry.due_at)]
    return [*lines, "(waits for a slot)"] if entry.waiting_for_slot else lines


def _requests(entry: EntryView) -> list[str]:
    lines = [{0: "not asked yet", 1: "asked once"}.get(entry.attempts, f"asked {entry.attempts} times")]
    for request in entry.requests:
        lines += [f"{request.source} for {request.numbers}", f"at {to_the_second(request.sent_at)}"]
        lines += [f"again {to_the_second(request.retry_at)}"]
    return lines


def entry_json(store: str, entry: EntryView) -> dict[str, Any]:
    return {
        "store": store,
        "id": entry.id,
        "folder": entry.path,
        "missing": ranges_json(entry.missing),
        "missing_fai": ranges_json(entry.missing_fai),
        "made_at": format_instant(entry.made_at),
        "due_at": format_instant(entry.due_at),
        "attempts": entry.attempts,
        "local": entry.local,
        "waiting_for_slot": entry.waiting_for_slot,
        "requests": [
            {
                "source": request.source,
                "numbers": ranges_json(request.numbers),
                "sent_at": format_instant(request.sent_at),
                "retry_at": format_instant(request.retry_at),
            }
            for request in entry.requests
        ],
    }
