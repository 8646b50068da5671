"""The backfill array as rows: its entries, and the requests that are outstanding for them (spec: BF-2, BF-6)."""

from __future__ import annotations

from dataclasses import dataclass

from node.cnset import CNSet
from node.idset import decode_idset, encode_idset
from traces import LabTime
from transport.sql import Connection


@dataclass(slots=True)
class Entry:
    """One row of the array."""

    id: int
    fid: int
    numbers: CNSet
    fai: CNSet
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
    numbers: CNSet
    fai: CNSet
    sent_at: LabTime
    retry_at: LabTime
    answered: bool
    recalled: bool


RECALLED = 2
"""In the column `answered`: the entry is due before this request's own time, and then it ends without blame."""

_ENTRY = "SELECT id, fid, numbers, numbers_fai, made_at, base_at, due_at, attempts, local, waiting FROM entry"
_REQUEST = "SELECT id, entry, fid, source, numbers, numbers_fai, sent_at, retry_at, answered FROM request"


def _entry(row: tuple[int, int, bytes, bytes, int, int, int, int, int, int]) -> Entry:
    return Entry(
        row[0],
        row[1],
        decode_idset(row[2]),
        decode_idset(row[3]),
        row[4],
        row[5],
        row[6],
        row[7],
        bool(row[8]),
        bool(row[9]),
    )


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
            r[0], r[1], r[2], r[3], decode_idset(r[4]), decode_idset(r[5]), r[6], r[7], bool(r[8]), r[8] == RECALLED
        )
        for r in rows
    ]


def save(conn: Connection, entry: Entry) -> None:
    """Writes what of an entry may change."""
    conn.exec_driver_sql(
        "UPDATE entry SET numbers = ?, numbers_fai = ?, base_at = ?, due_at = ?, attempts = ?, local = ?, waiting = ?"
        " WHERE id = ?",
        (
            encode_idset(entry.numbers),
            encode_idset(entry.fai),
            entry.base_at,
            entry.due_at,
            entry.attempts,
            int(entry.local),
            int(entry.waiting),
            entry.id,
        ),
    )
