"""Every delay of the agent is a row here, so that warp can jump to it and a restart resumes it."""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from traces import LabTime
from transport.sql import Connection


class Timer(StrEnum):
    """What a row waits for; `key` is a folder, an entry or a held mail, 0 where there is but one."""

    CYCLE = "cycle"  # a folder's next broadcast (spec: OUT-1)
    STATUS_CHECK = "status check"  # spec: ST-1
    STATUS_REQUEST = "status request"  # the cycle that sends what `wanted` lists (spec: ST-3)
    ENTRY = "entry"  # a backfill entry's time-out (spec: BF-2)
    EXPIRY = "expiry"  # the next run of the task that applies age limits (spec: DL-3)
    DROP = "drop"  # the midnight at which a 5.5 replica goes that may go (spec: RP-2)
    CONFLICT = "conflict"  # the age of the oldest conflict that this store ends (spec: CF-5)
    HELD = "held"  # the end of a wait in the replication message queue (spec: HI-4)


def set_timer(conn: Connection, kind: Timer, key: int, due_at: LabTime) -> None:
    conn.exec_driver_sql("INSERT OR REPLACE INTO timer (kind, key, due_at) VALUES (?, ?, ?)", (kind.value, key, due_at))


def set_timer_if_none(conn: Connection, kind: Timer, key: int, due_at: LabTime) -> None:
    conn.exec_driver_sql("INSERT OR IGNORE INTO timer (kind, key, due_at) VALUES (?, ?, ?)", (kind.value, key, due_at))


def clear_timer(conn: Connection, kind: Timer, key: int) -> None:
    conn.exec_driver_sql("DELETE FROM timer WHERE kind = ? AND key = ?", (kind.value, key))


def is_set(conn: Connection, kind: Timer, key: int) -> bool:
    """Whether there is such a row."""
    return conn.exec_driver_sql("SELECT 1 FROM timer WHERE kind = ? AND key = ?", (kind.value, key)).first() is not None


def next_due(conn: Connection, kinds: tuple[Timer, ...]) -> LabTime | None:
    """When the next row of these kinds is due; None if there is none."""
    due: LabTime | None = conn.exec_driver_sql(
        f"SELECT due_at FROM timer WHERE {_among(kinds)} ORDER BY due_at LIMIT 1", _values(kinds)
    ).scalar()
    return due


def take_due(conn: Connection, now: LabTime, kinds: tuple[Timer, ...]) -> tuple[Timer, int] | None:
    """The earliest row of these kinds due at or before `now`, removed; None if there is none."""
    row = conn.exec_driver_sql(
        f"SELECT kind, key FROM timer WHERE due_at <= ? AND {_among(kinds)} ORDER BY due_at, kind, key LIMIT 1",
        (now, *_values(kinds)),
    ).first()
    if row is None:
        return None
    clear_timer(conn, Timer(row[0]), row[1])
    return Timer(row[0]), row[1]


@cache  # every stimulus asks, and there are but two answers
def _among(kinds: tuple[Timer, ...]) -> str:
    """A condition. The plus keeps SQLite to the index by time: by kind it would read and sort every row each time."""
    if len(set(kinds)) == len(Timer):
        return "1"
    return f"+kind IN ({', '.join('?' * len(kinds))})"


@cache
def _values(kinds: tuple[Timer, ...]) -> tuple[str, ...]:
    return () if len(set(kinds)) == len(Timer) else tuple(kind.value for kind in kinds)
