"""Old conflicts: when a conflict reaches an age limit, the folder's home store resolves it and keeps the winner (spec: CF-5).

Every holder records when a message got into conflict, so that a store that becomes the home store knows the age. Only the
home store resolves. After a restore the age starts again, because a resolution may still arrive by backfill.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Final, NamedTuple

from node.codec.items import object_text
from node.objects.local_changes import keep_winner
from node.objects.version_rows import conflict_over
from node.state.context import Context
from node.state.folders import Folder
from node.state.timers import Timer, clear_timer, set_timer, set_timer_if_none
from traces.events import ConflictAged
from traces.labtime import LabTime
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

RESTART_AGES = Statement("UPDATE conflict SET since_at = ?")

OLDEST_FIRST: Final = "SELECT object, fid, since_at FROM conflict ORDER BY since_at, object"


class _Conflict(NamedTuple):
    object: bytes
    fid: int
    since_at: LabTime


def plan(ctx: Context, s: Stimulus) -> None:
    """Set the timer for the oldest conflict of the folders whose home store this is.

    Call it when a setting or a replica list may have changed.
    """
    limit_us = ctx.config.settings.conflict_age_us
    oldest = None if limit_us is None else next(_at_home(ctx, s.conn), None)
    if limit_us is None or oldest is None:
        clear_timer(s.conn, Timer.CONFLICT, 0)
    else:
        set_timer(s.conn, Timer.CONFLICT, 0, max(s.now, oldest.since_at + limit_us))


def schedule(ctx: Context, s: Stimulus, folder: Folder) -> None:
    """Set the timer after a conflict arose. If a timer is already set, it belongs to an older conflict and stays."""
    limit_us = ctx.config.settings.conflict_age_us
    if limit_us is not None and folder.home == ctx.name:
        set_timer_if_none(s.conn, Timer.CONFLICT, 0, s.now + limit_us)


def run(ctx: Context, s: Stimulus, key: int) -> None:
    """Resolve every conflict that has reached the age limit."""
    del key
    limit_us = ctx.config.settings.conflict_age_us
    assert limit_us is not None, "without a limit there is no such timer"
    for old in list(takewhile(lambda conflict: conflict.since_at + limit_us <= s.now, _at_home(ctx, s.conn))):
        _end(ctx, s, old, limit_us)
    plan(ctx, s)


def restart_ages(s: Stimulus) -> None:
    """Start the age of every conflict again, after a restore (spec: RP-4)."""
    s.conn.exec_driver_sql(RESTART_AGES, (s.now,))


def _at_home(ctx: Context, conn: Connection) -> Iterator[_Conflict]:
    """Yield the conflicts in folders whose home store this is, oldest first. Rows are read only as needed."""
    for row in conn.exec_driver_sql(OLDEST_FIRST):
        if ctx.folders.at(row[1]).home == ctx.name:
            yield _Conflict(*row)


def _end(ctx: Context, s: Stimulus, old: _Conflict, limit_us: int) -> None:
    conflict_over(s.conn, old.object)
    own = ctx.rst.own(old.fid)
    assert own is not None, "the conflicts of a dropped replica are deleted"
    folder = ctx.folders.at(old.fid)
    resolution = keep_winner(ctx, s, folder, own, old.object)
    if resolution is None:
        return
    number, winner = resolution
    s.trace.record(
        ConflictAged,
        folder=folder.text,
        object=object_text(old.object),
        number=number,
        winner=winner,
        since_at=old.since_at,
        limit_us=limit_us,
    )
