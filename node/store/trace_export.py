"""Move a store's events from its database into closed segment files.

The export writes the segments first and deletes the events afterwards. If the process is killed between the two steps, the
next export finds these events in the folder and deletes them without writing them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from traces.segments import SegmentName, exported_through, list_segments, read_end, read_lines, write_segment
from transport.sql import Connection, Statement

if TYPE_CHECKING:
    from node.state.database import Database

UNWRITTEN_BATCHES = Statement("SELECT incarnation, seq, batch FROM event WHERE seq > ? ORDER BY seq")
LAST_SEQ = Statement("SELECT coalesce(max(seq), 0) FROM event")
REMOVE_BATCHES = Statement("DELETE FROM event WHERE seq <= ?")
FIRST_SEQ = Statement("SELECT min(seq) FROM event")
LAST_SEQ_BEFORE = Statement("SELECT coalesce(max(seq), 0) FROM event WHERE seq <= ?")
BATCHES = Statement("SELECT seq, batch FROM event WHERE seq >= ? ORDER BY seq LIMIT ?")

EVENTS_BYTES: Final = 4 * 1024 * 1024
"""How many bytes of events are read at once."""

ROWS_AT_ONCE: Final = 200


def export_events(database: Database, node: str, folder: Path) -> None:
    """Write one segment for each incarnation that has waiting events."""
    last_exported = exported_through(folder, node)
    conn = database.reading()
    waiting = conn.exec_driver_sql(UNWRITTEN_BATCHES, (last_exported,)).all()
    last = conn.exec_driver_sql(LAST_SEQ).scalar_one()
    for incarnation in sorted({row[0] for row in waiting}):
        rows = [row for row in waiting if row[0] == incarnation]
        name, batches = SegmentName(node, incarnation, rows[0][1]), (row[2] for row in rows)
        write_segment(folder, name, batches, durable=database.path is not None)
    with database.writing() as conn:
        conn.exec_driver_sql(REMOVE_BATCHES, (last,))


def export_file(path: Path, node: str, folder: Path) -> None:
    """Export the events of a store that does not run from its database file. Raises as `Database.open` does."""
    from node.state.database import Database  # noqa: PLC0415 - readers of events need no SQLAlchemy

    database = Database(path, "normal")
    database.open()
    with closing(database):
        export_events(database, node, folder)


def events_after(
    conn: Connection, node: str, folder: Path | None, seq: int, limit_bytes: int
) -> list[tuple[int, bytes]]:
    """Return events from number `seq` + 1 on, with their numbers; at least one if there is any."""
    first = conn.exec_driver_sql(FIRST_SEQ).scalar()
    if folder is not None and (first is None or seq + 1 < first):
        lines = _taken(_of_segments(folder, node, seq), seq, limit_bytes)
        if lines:
            return lines
    return _taken(_of_table(conn, seq), seq, limit_bytes)


def _of_table(conn: Connection, seq: int) -> Iterator[tuple[int, bytes]]:
    at = conn.exec_driver_sql(LAST_SEQ_BEFORE, (seq + 1,)).scalar_one()
    while True:
        rows = conn.exec_driver_sql(BATCHES, (at, ROWS_AT_ONCE)).all()
        for first, batch in rows:
            yield from enumerate(batch.splitlines(), start=first)
        if len(rows) < ROWS_AT_ONCE:
            return
        at = rows[-1][0] + 1


def _of_segments(folder: Path, node: str, seq: int) -> Iterator[tuple[int, bytes]]:
    segments = [(name.first_seq, path) for name, path in list_segments(folder) if name.node == node]
    starts = [first for first, _ in segments if first <= seq + 1]
    for first, path in segments:
        if first >= max(starts, default=0):
            yield from enumerate((line for line in read_lines(path) if read_end(line) is None), start=first)


def _taken(events: Iterable[tuple[int, bytes]], seq: int, limit_bytes: int) -> list[tuple[int, bytes]]:
    lines: list[tuple[int, bytes]] = []
    size = 0
    for number, line in events:
        if number <= seq:
            continue
        lines.append((number, line))
        size += len(line)
        if size >= limit_bytes:
            break
    return lines
