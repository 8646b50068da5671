"""The backfill array as rows: its entries, and the requests that are outstanding for them (spec: BF-2, BF-6).

The slots of outstanding backfill requests: so many at a time, and the entry longest due goes first (spec: BF-6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from node.state.context import Context
from node.state.tables import HIERARCHY_FID
from node.state.timers import Timer, set_timer
from node.tracking.number_sets import NumberSets
from traces import LabTime
from transport.sql import Connection
from transport.stimulus import Stimulus


@dataclass(slots=True)
class Entry:
    """One row of the array."""

    id: int
    fid: int
    numbers: NumberSets
    made_at: LabTime
    base_at: LabTime
    due_at: LabTime
    attempts: int
    local: bool
    waiting: bool


@dataclass(slots=True)
class Request:
    """One outstanding request: one folder, one source (spec: BF-6)."""

    id: int
    entry: int
    fid: int
    source: str
    numbers: NumberSets
    sent_at: LabTime
    retry_at: LabTime
    answered: bool
    recalled: bool


RECALLED = 2
"""In the column `answered`: the entry is due before this request's own time, and then it ends without blame."""

_ENTRY = "SELECT id, fid, numbers, numbers_fai, made_at, base_at, due_at, attempts, local, waiting FROM entry"
_REQUEST = "SELECT id, entry, fid, source, numbers, numbers_fai, sent_at, retry_at, answered FROM request"


def _entry(row: tuple[int, int, bytes, bytes, int, int, int, int, int, int]) -> Entry:
    entry_id, fid, numbers, fai, made_at, base_at, due_at, attempts, local, waiting = row
    missing = NumberSets.decode(numbers, fai)
    return Entry(entry_id, fid, missing, made_at, base_at, due_at, attempts, bool(local), bool(waiting))


def entries(conn: Connection, fid: int | None = None) -> list[Entry]:
    """The array, or one folder's part of it, oldest first."""
    if fid is None:
        rows = conn.exec_driver_sql(f"{_ENTRY} ORDER BY id").all()
    else:
        rows = conn.exec_driver_sql(f"{_ENTRY} WHERE fid = ? ORDER BY id", (fid,)).all()
    return [_entry(row) for row in rows]


def find_entry(conn: Connection, entry_id: int) -> Entry | None:
    """An entry by its id; None if it is there no more."""
    row = conn.exec_driver_sql(f"{_ENTRY} WHERE id = ?", (entry_id,)).first()
    return None if row is None else _entry(row)


def requests(conn: Connection, *, entry: int | None = None, fid: int | None = None) -> list[Request]:
    """Outstanding requests, of one entry or one folder."""
    column, value = ("entry", entry) if entry is not None else ("fid", fid)
    rows = conn.exec_driver_sql(f"{_REQUEST} WHERE {column} = ? ORDER BY id", (value,)).all()
    return [
        Request(
            row[0],
            row[1],
            row[2],
            row[3],
            NumberSets.decode(row[4], row[5]),
            row[6],
            row[7],
            bool(row[8]),
            row[8] == RECALLED,
        )
        for row in rows
    ]


def save(conn: Connection, entry: Entry) -> None:
    """Writes what of an entry may change."""
    conn.exec_driver_sql(
        "UPDATE entry SET numbers = ?, numbers_fai = ?, base_at = ?, due_at = ?, attempts = ?, local = ?, waiting = ?"
        " WHERE id = ?",
        (
            *entry.numbers.encode(),
            entry.base_at,
            entry.due_at,
            entry.attempts,
            int(entry.local),
            int(entry.waiting),
            entry.id,
        ),
    )


_QUEUE: Final = "FROM entry WHERE waiting = 1 AND (fid = ? OR NOT ?)"
"""Entries that wait for a slot; content that stands still is in nobody's way (spec: RP-5)."""


def wake_next(ctx: Context, s: Stimulus) -> None:
    """If a slot is free, the entry longest due gets its turn."""
    if _outstanding(s.conn) >= ctx.config.request_limit:
        return
    still = (HIERARCHY_FID, ctx.config.content_suspended)
    row = s.conn.exec_driver_sql(f"SELECT id {_QUEUE} ORDER BY due_at, id LIMIT 1", still).first()
    if row is not None:
        set_timer(s.conn, Timer.ENTRY, row[0], s.now)


def is_free(ctx: Context, conn: Connection, entry: Entry) -> bool:
    """A slot that no entry longer due is waiting for."""
    before: int = conn.exec_driver_sql(
        f"SELECT count(*) {_QUEUE} AND id <> ? AND (due_at, id) < (?, ?)",
        (HIERARCHY_FID, ctx.config.content_suspended, entry.id, entry.due_at, entry.id),
    ).scalar_one()
    return _outstanding(conn) + before < ctx.config.request_limit


def _outstanding(conn: Connection) -> int:
    count: int = conn.exec_driver_sql("SELECT count(*) FROM request").scalar_one()
    return count
