"""Content replication suspended for the organization and resumed (spec: RP-5).

While it is suspended a store that obeys sends no content, no content responses and no requests for content; statuses and
the hierarchy go on, and what arrives is applied. The clocks of content's entries stand still: their timers are taken away,
and when content is resumed every wait begins where it stopped.
"""

from __future__ import annotations

from node.state.backfill_array import entries, requests, save
from node.state.context import Context
from node.state.tables import HIERARCHY_FID
from node.state.timers import Timer, clear_timer, set_timer
from traces import LabTime
from traces.events import ContentResumed, ContentSuspended
from transport.sql import Connection
from transport.stimulus import Stimulus


def stands(ctx: Context, fid: int) -> bool:
    """Whether a folder's content is not replicated now."""
    return fid != HIERARCHY_FID and ctx.config.content_suspended


def settle(ctx: Context, s: Stimulus) -> bool:
    """Does what a changed setting asks for; at a start too, for what changed while the store was stopped. True if content
    goes on now: what waited for its cycle wants a new one."""
    since_at = _since(s.conn)
    if ctx.config.content_suspended and since_at is None:
        s.conn.exec_driver_sql("UPDATE store_state SET suspended_at = ?", (s.now,))
        for entry in entries(s.conn):
            if entry.fid != HIERARCHY_FID:
                clear_timer(s.conn, Timer.ENTRY, entry.id)
        s.trace.record(ContentSuspended)
    elif not ctx.config.content_suspended and since_at is not None:
        s.conn.exec_driver_sql("UPDATE store_state SET suspended_at = NULL")
        _go_on(s, since_at)
        s.trace.record(ContentResumed)
        return True
    return False


def _since(conn: Connection) -> LabTime | None:
    since_at: LabTime | None = conn.exec_driver_sql("SELECT suspended_at FROM store_state").scalar()
    return since_at


def _go_on(s: Stimulus, since_at: LabTime) -> None:
    for entry in entries(s.conn):
        if entry.fid == HIERARCHY_FID:
            continue
        stood_us = s.now - max(since_at, entry.base_at)
        for request in requests(s.conn, entry=entry.id):
            stood = s.now - max(since_at, request.sent_at)
            s.conn.exec_driver_sql("UPDATE request SET retry_at = retry_at + ? WHERE id = ?", (stood, request.id))
        entry.base_at += stood_us
        entry.due_at += stood_us
        save(s.conn, entry)
        set_timer(s.conn, Timer.ENTRY, entry.id, s.now if entry.waiting else max(entry.due_at, s.now))
