"""The slots of outstanding backfill requests: so many at a time, and the entry longest due goes first (spec: BF-6)."""

from __future__ import annotations

from typing import Final

from node.array import Entry
from node.context import Context
from node.tables import HIERARCHY_FID
from node.timers import Timer, set_timer
from transport.sql import Connection
from transport.stimulus import Stimulus

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
