"""The rows of the backfill array: entries, and the outstanding requests of each entry (spec: BF-2, BF-6).

A store has a limited number of outstanding requests at a time; the limit is a setting. An entry that is due while the
limit is reached waits, and the waiting entry with the earliest due time goes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from node.state.context import Context
from node.state.timers import Timer, set_timer
from node.stored_values import HIERARCHY_FID
from node.tracking.number_sets import NumberSets
from traces.labtime import LabTime
from transport.sql import Connection
from transport.stimulus import Stimulus


@dataclass(slots=True)
class Entry:
    """One entry of the array: numbers of one folder that were found missing at one moment, and have the same time-outs.

    base_at   the instant from which the running time-out counts
    attempts  how many rounds of requests were sent
    local     stores of this site have the numbers, so the local time-outs apply (spec: BF-2)
    waiting   the entry is due, and the request limit was reached
    """

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
    """One outstanding request: one folder, one source (spec: BF-6).

    answered  the source has sent something in response
    recalled  the entry became due before `retry_at`, so the source is not marked down when the request ends
    """

    id: int
    entry: int
    fid: int
    source: str
    numbers: NumberSets
    sent_at: LabTime
    retry_at: LabTime
    answered: bool
    recalled: bool


NEW = 0
"""The id of an entry that is not in the array yet."""

RECALLED = 2
"""The value of the column `answered` for a recalled request."""

_ENTRY = "SELECT id, fid, numbers, numbers_fai, made_at, base_at, due_at, attempts, local, waiting FROM entry"
_REQUEST = "SELECT id, entry, fid, source, numbers, numbers_fai, sent_at, retry_at, answered FROM request"


def _entry(row: tuple[int, int, bytes, bytes, int, int, int, int, int, int]) -> Entry:
    entry_id, fid, numbers, fai, made_at, base_at, due_at, attempts, local, waiting = row
    missing = NumberSets.decode(numbers, fai)
    return Entry(entry_id, fid, missing, made_at, base_at, due_at, attempts, bool(local), bool(waiting))


def entries(conn: Connection, fid: int | None = None) -> list[Entry]:
    """Return all entries, or those of one folder, oldest first."""
    if fid is None:
        rows = conn.exec_driver_sql(f"{_ENTRY} ORDER BY id").all()
    else:
        rows = conn.exec_driver_sql(f"{_ENTRY} WHERE fid = ? ORDER BY id", (fid,)).all()
    return [_entry(row) for row in rows]


def find_entry(conn: Connection, entry_id: int) -> Entry | None:
    """Return the entry with this id, or None if it has ended."""
    row = conn.exec_driver_sql(f"{_ENTRY} WHERE id = ?", (entry_id,)).first()
    return None if row is None else _entry(row)


def requests(conn: Connection, *, entry: int | None = None, fid: int | None = None) -> list[Request]:
    """Return the outstanding requests of one entry or of one folder, oldest first."""
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


def add(conn: Connection, entry: Entry) -> int:
    """Add an entry, and return its id."""
    entry_id: int = conn.exec_driver_sql(
        "INSERT INTO entry (fid, numbers, numbers_fai, made_at, base_at, due_at, attempts, local, waiting)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            entry.fid,
            *entry.numbers.encode(),
            entry.made_at,
            entry.base_at,
            entry.due_at,
            entry.attempts,
            int(entry.local),
            int(entry.waiting),
        ),
    ).scalar_one()
    return entry_id


def save(conn: Connection, entry: Entry) -> None:
    """Write the columns of an entry that can change."""
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
"""The SQL for waiting entries. Entries of content do not count while content replication is suspended (spec: RP-5)."""


def wake_next(ctx: Context, s: Stimulus) -> None:
    """Make the first waiting entry due now if the request limit is not reached."""
    if _outstanding(s.conn) >= ctx.config.request_limit:
        return
    still = (HIERARCHY_FID, ctx.config.content_suspended)
    row = s.conn.exec_driver_sql(f"SELECT id {_QUEUE} ORDER BY due_at, id LIMIT 1", still).first()
    if row is not None:
        set_timer(s.conn, Timer.ENTRY, row[0], s.now)


def is_free(ctx: Context, conn: Connection, entry: Entry) -> bool:
    """Return whether an entry may send a request now: the limit has room for it and for all entries that wait longer."""
    before: int = conn.exec_driver_sql(
        f"SELECT count(*) {_QUEUE} AND id <> ? AND (due_at, id) < (?, ?)",
        (HIERARCHY_FID, ctx.config.content_suspended, entry.id, entry.due_at, entry.id),
    ).scalar_one()
    return _outstanding(conn) + before < ctx.config.request_limit


def _outstanding(conn: Connection) -> int:
    count: int = conn.exec_driver_sql("SELECT count(*) FROM request").scalar_one()
    return count
