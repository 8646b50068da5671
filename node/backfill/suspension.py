"""Suspending and resuming content replication for the organization (spec: RP-5).

While content is suspended, a store of 2003 or 2007 sends no content, no content responses and no requests for content. Statuses
and the hierarchy continue, and content that arrives is applied. The backfill entries of content have no timers meanwhile. When
content is resumed, each entry waits the time that was left.
"""

from __future__ import annotations

from node.backfill.rows import entries, requests, save_entry, save_request
from node.state.context import Context
from node.state.timers import Timer, clear_timer, set_timer
from node.stored_values import HIERARCHY_FID
from traces.backfill_lives import EntryState
from traces.events import ContentResumed, ContentSuspended
from traces.labtime import LabTime
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

SUSPEND = Statement("UPDATE store_state SET suspended_at = ?")
RESUME = Statement("UPDATE store_state SET suspended_at = NULL")
SUSPENDED_AT = Statement("SELECT suspended_at FROM store_state")


def is_suspended(ctx: Context, fid: int) -> bool:
    """Return whether the content of a folder is suspended. The hierarchy never is."""
    return fid != HIERARCHY_FID and ctx.config.content_suspended


def apply_setting(ctx: Context, s: Stimulus) -> bool:
    """Suspend or resume content if the setting has changed. It may have changed while the store was stopped.

    Return True if content is resumed now. Then the caller sets the cycles of unsent changes.
    """
    since_at = _since(s.conn)
    if ctx.config.content_suspended and since_at is None:
        s.conn.exec_driver_sql(SUSPEND, (s.now,))
        for entry in entries(s.conn):
            if entry.fid != HIERARCHY_FID:
                clear_timer(s.conn, Timer.ENTRY, entry.id)
        s.trace.record(ContentSuspended)
    elif not ctx.config.content_suspended and since_at is not None:
        s.conn.exec_driver_sql(RESUME)
        _resume(s, since_at)
        s.trace.record(ContentResumed)
        return True
    return False


def _since(conn: Connection) -> LabTime | None:
    since_at: LabTime | None = conn.exec_driver_sql(SUSPENDED_AT).scalar()
    return since_at


def _resume(s: Stimulus, since_at: LabTime) -> None:
    for entry in entries(s.conn):
        if entry.fid == HIERARCHY_FID:
            continue
        paused_us = s.now - max(since_at, entry.base_at)
        for request in requests(s.conn, entry=entry.id):
            request.retry_at += s.now - max(since_at, request.sent_at)
            save_request(s.conn, request)
        entry.base_at += paused_us
        entry.due_at += paused_us
        save_entry(s.conn, entry)
        set_timer(
            s.conn, Timer.ENTRY, entry.id, s.now if entry.state is EntryState.DEFERRED else max(entry.due_at, s.now)
        )
