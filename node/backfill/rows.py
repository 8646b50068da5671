"""The rows of the backfill array: entries, and the outstanding requests of each entry (spec: BF-2, BF-6).

The columns `attempts` and `waiting` of an entry, and `answered` of a request, have its state (`traces.backfill_lives`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from node.tracking.number_sets import NumberSets
from traces.backfill_lives import (
    ENTRY_MOVES,
    REQUEST_MOVES,
    EntryEvent,
    EntryState,
    RequestEvent,
    RequestState,
    next_state,
)
from traces.labtime import LabTime
from transport.sql import Connection, Statement

_ENTRY_COLUMNS = "id, fid, numbers, numbers_fai, made_at, base_at, due_at, attempts, local, waiting"
_REQUEST_COLUMNS = "id, entry, fid, source, numbers, numbers_fai, sent_at, retry_at, answered"

ALL_ENTRIES = Statement(f"SELECT {_ENTRY_COLUMNS} FROM entry ORDER BY id")
ENTRIES_OF_FOLDER = Statement(f"SELECT {_ENTRY_COLUMNS} FROM entry WHERE fid = ? ORDER BY id")
ENTRY = Statement(f"SELECT {_ENTRY_COLUMNS} FROM entry WHERE id = ?")
ADD_ENTRY = Statement(
    "INSERT INTO entry (fid, numbers, numbers_fai, made_at, base_at, due_at, attempts, local, waiting)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
)
SAVE_ENTRY = Statement(
    "UPDATE entry SET numbers = ?, numbers_fai = ?, base_at = ?, due_at = ?, attempts = ?, local = ?, waiting = ?"
    " WHERE id = ?"
)
REMOVE_ENTRY = Statement("DELETE FROM entry WHERE id = ?")
REQUESTS_OF_ENTRY = Statement(f"SELECT {_REQUEST_COLUMNS} FROM request WHERE entry = ? ORDER BY id")
REQUESTS_OF_FOLDER = Statement(f"SELECT {_REQUEST_COLUMNS} FROM request WHERE fid = ? ORDER BY id")
ADD_REQUEST = Statement(
    "INSERT INTO request (entry, fid, source, numbers, numbers_fai, sent_at, retry_at, answered)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
SAVE_REQUEST = Statement("UPDATE request SET numbers = ?, numbers_fai = ?, retry_at = ?, answered = ? WHERE id = ?")
REMOVE_REQUEST = Statement("DELETE FROM request WHERE id = ?")

_STORED: Final = (RequestState.SILENT, RequestState.ANSWERED, RequestState.RECALLED)
"""The states of a request, by the value of the column `answered`."""

NEW = 0
"""The id of an entry or a request that is not in the array yet."""


@dataclass(slots=True)
class Entry:
    """One entry of the array: numbers of one folder that were found missing at one moment, and have the same time-outs.

    base_at   the instant from which the running time-out counts
    attempts  how many rounds of requests were sent
    local     stores of this site have the numbers, so the local time-outs apply (spec: BF-2)
    """

    id: int
    fid: int
    numbers: NumberSets
    made_at: LabTime
    base_at: LabTime
    due_at: LabTime
    local: bool
    attempts: int = 0
    state: EntryState = EntryState.WAITING

    def move(self, event: EntryEvent) -> None:
        """Change the state as the table says. Raise IllegalMove if the event cannot happen now."""
        self.state = next_state(ENTRY_MOVES, self.state, event, f"entry {self.id}")


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
    state: RequestState = RequestState.SILENT

    def move(self, event: RequestEvent) -> None:
        """Change the state as the table says. Raise IllegalMove if the event cannot happen now."""
        self.state = next_state(REQUEST_MOVES, self.state, event, f"request {self.id} to {self.source}")


def _entry(row: tuple[int, int, bytes, bytes, int, int, int, int, int, int]) -> Entry:
    entry_id, fid, numbers, fai, made_at, base_at, due_at, attempts, local, waiting = row
    active = EntryState.REQUESTED if attempts else EntryState.WAITING
    state = EntryState.DEFERRED if waiting else active
    lacking_numbers = NumberSets.decode(numbers, fai)
    return Entry(entry_id, fid, lacking_numbers, made_at, base_at, due_at, bool(local), attempts, state)


def entries(conn: Connection, fid: int | None = None) -> list[Entry]:
    """Return all entries, or those of one folder, oldest first."""
    matches = conn.exec_driver_sql(ALL_ENTRIES) if fid is None else conn.exec_driver_sql(ENTRIES_OF_FOLDER, (fid,))
    return [_entry(row) for row in matches.all()]


def find_entry(conn: Connection, entry_id: int) -> Entry | None:
    """Return the entry with this id, or None if it has ended."""
    row = conn.exec_driver_sql(ENTRY, (entry_id,)).first()
    return None if row is None else _entry(row)


def add_entry(conn: Connection, entry: Entry) -> None:
    """Add an entry, and give it its id."""
    entry.id = conn.exec_driver_sql(
        ADD_ENTRY,
        (
            entry.fid,
            *entry.numbers.encode(),
            entry.made_at,
            entry.base_at,
            entry.due_at,
            entry.attempts,
            int(entry.local),
            int(entry.state is EntryState.DEFERRED),
        ),
    ).scalar_one()


def save_entry(conn: Connection, entry: Entry) -> None:
    """Write the columns of an entry that can change."""
    conn.exec_driver_sql(
        SAVE_ENTRY,
        (
            *entry.numbers.encode(),
            entry.base_at,
            entry.due_at,
            entry.attempts,
            int(entry.local),
            int(entry.state is EntryState.DEFERRED),
            entry.id,
        ),
    )


def remove_entry(conn: Connection, entry: Entry) -> None:
    """Delete the row of an entry that has ended."""
    conn.exec_driver_sql(REMOVE_ENTRY, (entry.id,))


def requests(conn: Connection, *, entry: int | None = None, fid: int | None = None) -> list[Request]:
    """Return the outstanding requests of one entry or of one folder, oldest first."""
    statement, key = (REQUESTS_OF_ENTRY, entry) if entry is not None else (REQUESTS_OF_FOLDER, fid)
    return [
        Request(
            request_id,
            of_entry,
            of_folder,
            source,
            NumberSets.decode(numbers, fai),
            sent_at,
            retry_at,
            _STORED[answered],
        )
        for request_id, of_entry, of_folder, source, numbers, fai, sent_at, retry_at, answered in conn.exec_driver_sql(
            statement, (key,)
        ).all()
    ]


def add_request(conn: Connection, request: Request) -> None:
    """Add a request that is sent now."""
    conn.exec_driver_sql(
        ADD_REQUEST,
        (
            request.entry,
            request.fid,
            request.source,
            *request.numbers.encode(),
            request.sent_at,
            request.retry_at,
            _STORED.index(request.state),
        ),
    )


def save_request(conn: Connection, request: Request) -> None:
    """Write the columns of a request that can change."""
    conn.exec_driver_sql(
        SAVE_REQUEST, (*request.numbers.encode(), request.retry_at, _STORED.index(request.state), request.id)
    )


def remove_request(conn: Connection, request: Request) -> None:
    """Delete the row of a request that has ended."""
    conn.exec_driver_sql(REMOVE_REQUEST, (request.id,))
