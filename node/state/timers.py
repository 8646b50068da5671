"""The timers of the replication agent. Each delay is a row, so a warp can jump to it and a restart resumes it."""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from traces.labtime import LabTime
from transport.sql import Connection, Statement

SET = Statement("INSERT OR REPLACE INTO timer (kind, key, due_at) VALUES (?, ?, ?)")
SET_IF_NONE = Statement("INSERT OR IGNORE INTO timer (kind, key, due_at) VALUES (?, ?, ?)")
CLEAR = Statement("DELETE FROM timer WHERE kind = ? AND key = ?")
IS_SET = Statement("SELECT 1 FROM timer WHERE kind = ? AND key = ?")
OVERDUE = Statement("SELECT key FROM timer WHERE kind = ? AND due_at < ? ORDER BY key")


class Timer(StrEnum):
    """The kinds of timer. The key of a row is a folder, an entry, a response or a held mail, or 0 for a kind with one row."""

    CYCLE = "cycle"  # a folder's next broadcast (spec: OUT-1)
    STATUS_CHECK = "status check"  # spec: ST-1
    STATUS_REQUEST = "status request"  # the cycle that sends what `wanted` lists (spec: ST-3)
    ENTRY = "entry"  # a backfill entry's time-out (spec: BF-2)
    EXPIRY = "expiry"  # the next run of the task that applies age limits (spec: DL-3)
    TOMBSTONES = "tombstones"  # the rest of the tombstones that a status check drops (spec: DL-4)
    DROP = "drop"  # the midnight at which a store of 5.5 drops a removed replica (spec: RP-2)
    RETENTION = "retention"  # the end of the retention of the item that was deleted first (spec: DL-5)
    LIMITS = "limits"  # the midnight at which contacts are warned of full folders (spec: AD-2)
    CONFLICT = "conflict"  # the age of the oldest conflict that this store ends (spec: CF-5)
    RESPONSE = "response"  # the rest of a backfill response or a Send Contents (spec: BF-5, AD-1)
    STAMP = "stamp"  # the next stamp of an entry in the directory (spec: ML-1)
    HELD = "held"  # the end of a wait in the replication message queue (spec: HI-4)


def set_timer(conn: Connection, kind: Timer, key: int, due_at: LabTime) -> None:
    """Set a timer, replacing one with the same kind and key."""
    conn.exec_driver_sql(SET, (kind.value, key, due_at))


def set_timer_if_none(conn: Connection, kind: Timer, key: int, due_at: LabTime) -> None:
    """Set a timer unless one with the same kind and key is set."""
    conn.exec_driver_sql(SET_IF_NONE, (kind.value, key, due_at))


def clear_timer(conn: Connection, kind: Timer, key: int) -> None:
    """Delete a timer if it is set."""
    conn.exec_driver_sql(CLEAR, (kind.value, key))


def is_set(conn: Connection, kind: Timer, key: int) -> bool:
    """Return whether a timer is set."""
    return conn.exec_driver_sql(IS_SET, (kind.value, key)).first() is not None


def next_due(conn: Connection, kinds: tuple[Timer, ...]) -> LabTime | None:
    """Return when the next timer of these kinds is due, or None if none is set."""
    due: LabTime | None = conn.exec_driver_sql(
        f"SELECT due_at FROM timer WHERE {_among(kinds)} ORDER BY due_at LIMIT 1", _values(kinds)
    ).scalar()
    return due


def overdue(conn: Connection, kind: Timer, now: LabTime) -> list[int]:
    """Return the keys of the timers of a kind that were due before `now`."""
    rows = conn.exec_driver_sql(OVERDUE, (kind.value, now))
    return [key for (key,) in rows]


def take_due(conn: Connection, now: LabTime, kinds: tuple[Timer, ...]) -> tuple[Timer, int] | None:
    """Delete and return the earliest timer of these kinds that is due at `now`, or return None."""
    row = conn.exec_driver_sql(
        f"SELECT kind, key FROM timer WHERE due_at <= ? AND {_among(kinds)} ORDER BY due_at, kind, key LIMIT 1",
        (now, *_values(kinds)),
    ).first()
    if row is None:
        return None
    clear_timer(conn, Timer(row[0]), row[1])
    return Timer(row[0]), row[1]


@cache  # each stimulus calls this, with one of two values
def _among(kinds: tuple[Timer, ...]) -> str:
    """Return an SQL condition on the kind.

    The plus sign in the condition makes SQLite use the index by time. With the index by kind, SQLite would sort all rows.
    """
    if len(set(kinds)) == len(Timer):
        return "1"
    return f"+kind IN ({', '.join('?' * len(kinds))})"


@cache
def _values(kinds: tuple[Timer, ...]) -> tuple[str, ...]:
    return () if len(set(kinds)) == len(Timer) else tuple(kind.value for kind in kinds)
