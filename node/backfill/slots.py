"""The slots for outstanding requests (spec: BF-6).

A store has a limited number of outstanding requests at a time; the limit is a setting. An entry that is due while the
limit is reached is DEFERRED, and the deferred entry with the earliest due time goes first.
"""

from __future__ import annotations

from node.backfill.rows import Entry, Request, remove_request, save_request
from node.state.context import Context
from node.state.timers import Timer, set_timer
from node.stored_values import HIERARCHY_FID
from node.tracking.number_sets import NumberSets
from traces.backfill_lives import RequestEvent
from traces.events import RequestEnded
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

_DEFERRED = "FROM entry WHERE waiting = 1 AND (fid = ? OR NOT ?)"
"""Deferred entries. Entries of content do not count while content replication is suspended (spec: RP-5)."""

OUTSTANDING = Statement("SELECT count(*) FROM request")
FIRST_DEFERRED = Statement(f"SELECT id {_DEFERRED} ORDER BY due_at, id LIMIT 1")
DEFERRED_BEFORE = Statement(f"SELECT count(*) {_DEFERRED} AND id <> ? AND (due_at, id) < (?, ?)")


def is_free(ctx: Context, conn: Connection, entry: Entry) -> bool:
    """Return whether an entry may send a request now: the limit has room for it and for all entries that wait longer."""
    before: int = conn.exec_driver_sql(
        DEFERRED_BEFORE, (HIERARCHY_FID, ctx.config.content_suspended, entry.id, entry.due_at, entry.id)
    ).scalar_one()
    return _outstanding(conn) + before < ctx.config.request_limit


def wake_next(ctx: Context, s: Stimulus) -> None:
    """Make the first deferred entry due now if the request limit is not reached."""
    if _outstanding(s.conn) >= ctx.config.request_limit:
        return
    first = s.conn.exec_driver_sql(FIRST_DEFERRED, (HIERARCHY_FID, ctx.config.content_suspended)).first()
    if first is not None:
        set_timer(s.conn, Timer.ENTRY, first[0], s.now)


def _outstanding(conn: Connection) -> int:
    count: int = conn.exec_driver_sql(OUTSTANDING).scalar_one()
    return count


def end(ctx: Context, s: Stimulus, request: Request, how: RequestEvent) -> None:
    """End a request. Its slot goes to the deferred entry with the earliest due time."""
    request.move(how)
    remove_request(s.conn, request)
    s.trace.record(
        RequestEnded,
        folder=ctx.folders.text_of(request.fid),
        entry=request.entry,
        source=request.source,
        how=how.value,
    )
    wake_next(ctx, s)


def shrink(
    ctx: Context, s: Stimulus, request: Request, surplus: NumberSets, how: RequestEvent = RequestEvent.SATISFIED
) -> None:
    """Remove numbers from a request that it need not wait for any more. If none is left, end it."""
    numbers = request.numbers - surplus
    if not numbers:
        end(ctx, s, request, how)
    elif numbers != request.numbers:
        request.numbers = numbers
        request.move(RequestEvent.PART)
        save_request(s.conn, request)
