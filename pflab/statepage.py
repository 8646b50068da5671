"""The replication state tables as people see them: laid out as the source prints them, and when each row was last
heard.

For each store one table a folder: the store's own replica with the last update it sent, and under each other holder
what that store said it has (RST-1, RST-2). Backfill arrays beside them, entry by entry (BF-2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rich.table import Table

from pflab import oracle_sets as sets
from pflab.oracle import HIERARCHY
from pflab.scenario_words import SETUP, hours_and_minutes, to_the_second
from traces.labtime import format_instant

if TYPE_CHECKING:
    from node.views import EntryView, RowView, StateView
    from traces.labtime import LabTime


def state_tables(states: Iterable[StateView], now: LabTime | None = None) -> list[Table]:
    """One table for each store's folder. `now` adds how long ago a row was heard."""
    return [_state_table(state, now) for state in states]


def _state_table(state: StateView, now: LabTime | None) -> Table:
    table = Table(
        title=f"Replication State Table for Server {state.store}",
        title_justify="left",
        show_lines=True,
        title_style="bold",
    )
    for heading in ("Replica", "Data", "Last heard"):
        table.add_column(heading)
    for row in sorted(state.rows, key=lambda row: (not row.is_local, row.store)):
        table.add_row(_replica(state, row), "\n".join(data_lines(row)), _heard(row, now))
    return table


def _replica(state: StateView, row: RowView) -> str:
    name = "Folder hierarchy (1-1)" if HIERARCHY in (state.path, state.folder) else state.path
    return f"{name} on Server {row.store}" + ("\n(local replica)" if row.is_local else "")


def data_lines(row: RowView) -> list[str]:
    """`Last update sent: A-100` for the own row; for another's `A-100 received`, with the gaps below it if there are
    any."""
    if row.is_local:
        return [f"Last update sent: {row.last_sent or 'none'}"]
    lines = [f"{text} received" for text in received(row.numbers)]
    lines += [f"{text} received (associated)" for text in received(row.numbers_fai)]
    return lines or ["nothing received"]


def received(numbers: str) -> list[str]:
    """`A-1..100 B-1..50` as people say it: `A-100`, `B-50`; a store's set with gaps says them: `A-100 (not 3..7)`.

    What lies below the first number belongs to other folders and is no gap; numbers of the setting-up are left out
    where there are others (nobody changed anything by them).
    """
    known = sets.parse_named(numbers)
    names = [name for name in sorted(known) if name != SETUP] or sorted(known)
    return [_highest(name, known[name]) for name in names]


def _highest(name: str, ranges: Sequence[tuple[int, int]]) -> str:
    gaps = [(left[1] + 1, right[0] - 1) for left, right in pairwise(ranges)]
    told = ", ".join(str(low) if low == high else f"{low}..{high}" for low, high in gaps)
    return f"{name}-{ranges[-1][1]}" + (f" (not {told})" if told else "")


def _heard(row: RowView, now: LabTime | None) -> str:
    if row.is_local:
        return ""
    if row.heard_at is None:
        return "never"
    ago = "" if now is None else f"\n{hours_and_minutes(now - row.heard_at)} ago"
    return to_the_second(row.heard_at) + ago


def state_json(state: StateView) -> dict[str, Any]:
    """A store's rows of a folder for programs: sets as ranges by store, instants as text."""
    return {
        "store": state.store,
        "folder": state.path,
        "rows": [
            {
                "store": row.store,
                "local": row.is_local,
                "has": _ranges(row.numbers),
                "has_fai": _ranges(row.numbers_fai),
                "last_sent": row.last_sent,
                "heard_at": None if row.heard_at is None else format_instant(row.heard_at),
            }
            for row in state.rows
        ],
    }


def _ranges(numbers: str) -> dict[str, list[list[int]]]:
    return {name: [list(each) for each in ranges] for name, ranges in sets.parse_named(numbers).items()}


def backfill_table(store: str, entries: Sequence[EntryView]) -> Table:
    """A store's backfill array."""
    table = Table(title=f"Backfill array of Server {store}", title_justify="left", show_lines=True, title_style="bold")
    for heading in ("Folder", "Missing", "Since", "Time-out ends", "Asked so far", "Outstanding requests"):
        table.add_column(heading)
    for entry in entries:
        requests = [
            f"{each.source}: {each.numbers}, sent {format_instant(each.sent_at)}, again {format_instant(each.retry_at)}"
            for each in entry.requests
        ]
        due = format_instant(entry.due_at) + (" (waits for a free slot)" if entry.waiting_for_slot else "")
        where = "in the site" if entry.local else "outside the site"
        table.add_row(
            entry.path,
            f"{entry.missing or 'nothing'}\n(known {where})"
            + (f"\nassociated: {entry.missing_fai}" if entry.missing_fai else ""),
            format_instant(entry.made_at),
            due,
            f"{entry.attempts} times" if entry.attempts != 1 else "once",
            "\n".join(requests) or "none",
        )
    return table


def entry_json(store: str, entry: EntryView) -> dict[str, Any]:
    return {
        "store": store,
        "id": entry.id,
        "folder": entry.path,
        "missing": _ranges(entry.missing),
        "missing_fai": _ranges(entry.missing_fai),
        "made_at": format_instant(entry.made_at),
        "due_at": format_instant(entry.due_at),
        "attempts": entry.attempts,
        "local": entry.local,
        "waiting_for_slot": entry.waiting_for_slot,
        "requests": [
            {
                "source": each.source,
                "numbers": _ranges(each.numbers),
                "sent_at": format_instant(each.sent_at),
                "retry_at": format_instant(each.retry_at),
            }
            for each in entry.requests
        ],
    }
