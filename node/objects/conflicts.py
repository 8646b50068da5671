"""Conflicts that nobody ended: past an age the folder's home store ends them, keeping the winner (spec: CF-5).

Every holder notes since when a message is in conflict with it, so that a store that becomes home knows the age; but only the
home store does anything about it. A store that comes back from a backup counts anew: what ended the conflict meanwhile is to
come by backfill first.
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
from traces import LabTime
from traces.events import ConflictAged
from transport.sql import Connection
from transport.stimulus import Stimulus

OLDEST_FIRST: Final = "SELECT object, fid, since_at FROM conflict ORDER BY since_at, object"


class _Conflict(NamedTuple):
    object: bytes
    fid: int
    since_at: LabTime


def plan(ctx: Context, s: Stimulus) -> None:
    """The timer stands for the oldest conflict of the folders whose home store this is. To be called when a setting or a
    replica list may have changed."""
    limit_us = ctx.config.settings.conflict_age_us
    oldest = None if limit_us is None else next(_at_home(ctx, s.conn), None)
    if limit_us is None or oldest is None:
        clear_timer(s.conn, Timer.CONFLICT, 0)
    else:
        set_timer(s.conn, Timer.CONFLICT, 0, max(s.now, oldest.since_at + limit_us))


def arose(ctx: Context, s: Stimulus, folder: Folder) -> None:
    """There is a conflict, perhaps a new one. It is younger than any for which the timer stands already."""
    limit_us = ctx.config.settings.conflict_age_us
    if limit_us is not None and folder.home == ctx.name:
        set_timer_if_none(s.conn, Timer.CONFLICT, 0, s.now + limit_us)


def run(ctx: Context, s: Stimulus, key: int) -> None:
    """Ends every conflict that is old enough by now."""
    del key
    limit_us = ctx.config.settings.conflict_age_us
    assert limit_us is not None, "without a limit there is no such timer"
    for old in list(takewhile(lambda each: each.since_at + limit_us <= s.now, _at_home(ctx, s.conn))):
        _end(ctx, s, old, limit_us)
    plan(ctx, s)


def begin_anew(s: Stimulus) -> None:
    """After a restore: how long a conflict has lasted since the backup is not known here (spec: RP-4)."""
    s.conn.exec_driver_sql("UPDATE conflict SET since_at = ?", (s.now,))


def _at_home(ctx: Context, conn: Connection) -> Iterator[_Conflict]:
    """Messages in conflict in folders whose home store this is, the oldest first, read only as far as they are asked for."""
    for row in conn.exec_driver_sql(OLDEST_FIRST):
        if ctx.folders.at(row[1]).home == ctx.name:
            yield _Conflict(*row)


def _end(ctx: Context, s: Stimulus, old: _Conflict, limit_us: int) -> None:
    conflict_over(s.conn, old.object)
    own = ctx.rst.own(old.fid)
    assert own is not None, "a conflict goes with the replica"
    folder = ctx.folders.at(old.fid)
    done = keep_winner(ctx, s, folder, own, old.object)
    if done is None:
        return
    number, winner = done
    s.trace.record(
        ConflictAged,
        folder=folder.text,
        object=object_text(old.object),
        number=number,
        winner=winner,
        since_at=old.since_at,
        limit_us=limit_us,
    )
