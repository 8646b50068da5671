"""Conflicts that nobody ended: past an age the folder's home store ends them, keeping the winner (spec: CF-5).

Every holder notes since when a message is in conflict with it, so that a store that becomes home knows the age; but only the
home store does anything about it. A store that comes back from a backup counts anew: what ended the conflict meanwhile is to
come by backfill first.
"""

from __future__ import annotations

from node.changes import keep_winner
from node.context import Context
from node.folders import object_text
from node.kept import conflict_over
from node.timers import Timer, clear_timer, set_timer
from traces import LabTime
from traces.events import ConflictAged
from transport.sql import Connection
from transport.stimulus import Stimulus


def plan(ctx: Context, s: Stimulus) -> None:
    """The timer stands for the oldest conflict of the folders whose home store this is. To be called when a conflict arose,
    and when a setting or a replica list may have changed."""
    limit_us = ctx.config.settings.conflict_age_us
    oldest_at = (
        min((since_at for _, _, since_at in _at_home(ctx, s.conn)), default=None) if limit_us is not None else None
    )
    if limit_us is None or oldest_at is None:
        clear_timer(s.conn, Timer.CONFLICT, 0)
    else:
        set_timer(s.conn, Timer.CONFLICT, 0, max(s.now, oldest_at + limit_us))


def run(ctx: Context, s: Stimulus, key: int) -> None:
    """Ends every conflict that is old enough by now."""
    del key
    limit_us = ctx.config.settings.conflict_age_us
    assert limit_us is not None, "without a limit there is no such timer"
    for object_id, fid, since_at in _at_home(ctx, s.conn):
        if since_at + limit_us <= s.now:
            _end(ctx, s, fid, object_id, since_at, limit_us)
    plan(ctx, s)


def begin_anew(s: Stimulus) -> None:
    """After a restore: how long a conflict has lasted since the backup is not known here (spec: RP-4)."""
    s.conn.exec_driver_sql("UPDATE conflict SET since_at = ?", (s.now,))


def _at_home(ctx: Context, conn: Connection) -> list[tuple[bytes, int, LabTime]]:
    """Messages in conflict in folders whose home store this is, with folder and since when."""
    rows = conn.exec_driver_sql("SELECT object, fid, since_at FROM conflict ORDER BY since_at, object").all()
    return [(object_id, fid, since_at) for object_id, fid, since_at in rows if ctx.folders.at(fid).home == ctx.name]


def _end(ctx: Context, s: Stimulus, fid: int, object_id: bytes, since_at: LabTime, limit_us: int) -> None:
    conflict_over(s.conn, object_id)
    own = ctx.rst.own(fid)
    assert own is not None, "a conflict goes with the replica"
    folder = ctx.folders.at(fid)
    done = keep_winner(ctx, s, folder, own, object_id)
    if done is None:
        return
    number, winner = done
    s.trace.record(
        ConflictAged,
        folder=folder.text,
        object=object_text(object_id),
        number=number,
        winner=winner,
        since_at=since_at,
        limit_us=limit_us,
    )
