"""When a tombstone is dropped (spec: DL-4).

A tombstone is dropped when it has reached its age limit, and every other holder has since sent a row with its number. An
earlier row is not enough, because its store may have been restored from a backup. With a setting, the age alone decides, as in
Exchange; then a store that was away for longer brings deleted items back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from node.codec.items import object_text
from node.state.context import Context
from node.state.timers import Timer, set_timer
from node.stored_values import DELETED, HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from traces.events import TombstoneDropped
from traces.labtime import LabTime
from transport.sql import Statement
from transport.stimulus import STIMULUS_BYTES, UPDATE_BYTES, Stimulus

REMOVE_TOMBSTONE = Statement("DELETE FROM message WHERE mid = ?")
IS_SENT = Statement("SELECT sent FROM folder WHERE fid = ?")
REMOVE_FOLDER = Statement("DELETE FROM folder WHERE fid = ?")
FORGET_SUPERSEDED = Statement("DELETE FROM superseded WHERE object = ?")

A_PAGE = 1_000
"""How many tombstones are read at once."""

MOST_AT_ONCE = STIMULUS_BYTES // UPDATE_BYTES
"""The largest number of tombstones that one stimulus drops."""

NEXT_FOLDER = "SELECT min(fid) FROM message WHERE deleted <> 0 AND fid > ?"
REMOVED = (
    "SELECT modified_at, mid, object, rep, ctr, fai FROM message WHERE deleted <> 0 AND fid = ? AND deleted = ?"
    " AND sent = 1 AND modified_at <= ? AND (modified_at, mid) > (?, ?) ORDER BY modified_at, mid LIMIT ?"
)


def drop_old(ctx: Context, s: Stimulus) -> None:
    """Drop the tombstones that may be dropped. Each status check calls this.

    If there are many, further stimuli at the same instant drop the rest. The timer for tombstones starts these stimuli.
    """
    removals = [row for fid in folders_with_removed(ctx, s) for row in removed_and_known(ctx, s, fid, DELETED)]
    for row in sorted(removals, key=lambda row: row.age):
        if s.enough:
            set_timer(s.conn, Timer.TOMBSTONES, 0, s.now)
            return
        s.conn.exec_driver_sql(REMOVE_TOMBSTONE, (row.mid,))
        _forget(ctx, s, row.fid, row.object, row.number)
        s.work += UPDATE_BYTES
    _drop_old_folders(ctx, s)


def _drop_old_folders(ctx: Context, s: Stimulus) -> None:
    before_at = s.now - ctx.config.settings.tombstone_age_us
    # A tombstone with folders under it is kept: it hides them, also on stores that join later.
    parents = {folder.props.parent for folder in ctx.folders.all() if folder.props is not None}
    for folder in [folder for folder in ctx.folders.all() if folder.props is None and folder.modified_at <= before_at]:
        if folder.object in parents:
            continue
        is_sent = s.conn.exec_driver_sql(IS_SENT, (folder.fid,)).scalar_one()
        if is_sent and known_to_all(ctx, HIERARCHY_FID, folder.number, folder.modified_at, False):
            s.conn.exec_driver_sql(REMOVE_FOLDER, (folder.fid,))
            ctx.folders.forget(folder)
            _forget(ctx, s, HIERARCHY_FID, folder.object, folder.number)


@dataclass(frozen=True, slots=True)
class Removed:
    """A row without content: a tombstone, or an item that has expired here.

    age: sorts rows, the oldest first.
    """

    mid: int
    fid: int
    object: bytes
    number: ChangeNumber
    age: tuple[LabTime, int]


def folders_with_removed(ctx: Context, s: Stimulus) -> Iterator[int]:
    """Yield the folders held here that have rows without content."""
    fid = s.conn.exec_driver_sql(NEXT_FOLDER, (0,)).scalar()
    while fid is not None:
        if ctx.rst.own(fid) is not None:
            yield fid
        fid = s.conn.exec_driver_sql(NEXT_FOLDER, (fid,)).scalar()


def removed_and_known(ctx: Context, s: Stimulus, fid: int, how: int) -> list[Removed]:
    """Return the removed rows that have reached the age limit and may be dropped. `how` is DELETED or EXPIRED.

    There are at most MOST_AT_ONCE + 1, the oldest first. Rows that reached the age limit after some holder's last mail are not
    read.
    """
    removals: list[Removed] = []
    before_at = _known_before(ctx, s, fid)
    after = (0, 0)
    while before_at is not None and (
        page := s.conn.exec_driver_sql(REMOVED, (fid, how, before_at, *after, A_PAGE)).all()
    ):
        for modified_at, mid, object_id, rep, ctr, fai in page:
            after = (modified_at, mid)
            number = ctx.store.number(rep, ctr)
            if known_to_all(ctx, fid, number, modified_at, bool(fai)):
                removals.append(Removed(mid, fid, object_id, number, after))
        if len(removals) > MOST_AT_ONCE:
            break
    return removals[: MOST_AT_ONCE + 1]


def _known_before(ctx: Context, s: Stimulus, fid: int) -> LabTime | None:
    """Return the latest modification time with which a row may be dropped; None if no row may be."""
    settings = ctx.config.settings
    before_at = s.now - settings.tombstone_age_us
    if settings.tombstones_by_age_alone:
        return before_at
    rows = [ctx.rst.row(fid, store) for store in ctx.other_holders(fid)]
    heard_at = [row.sent_at for row in rows if row is not None]
    if len(heard_at) < len(rows):
        return None
    return min([before_at, *(store - settings.tombstone_age_us for store in heard_at)])


def known_to_all(ctx: Context, fid: int, number: ChangeNumber, modified_at: LabTime, fai: bool) -> bool:
    """Return whether every other holder sent a row with the number after the tombstone reached its age limit."""
    settings = ctx.config.settings
    if settings.tombstones_by_age_alone:
        return True
    of_age_at = modified_at + settings.tombstone_age_us
    rows = [ctx.rst.row(fid, store) for store in ctx.other_holders(fid)]
    return all(row is not None and row.sent_at >= of_age_at and number in row.numbers.kind(fai) for row in rows)


def _forget(ctx: Context, s: Stimulus, fid: int, object_id: bytes, number: ChangeNumber) -> None:
    s.conn.exec_driver_sql(FORGET_SUPERSEDED, (object_id,))
    s.trace.record(TombstoneDropped, folder=ctx.folders.text_of(fid), object=object_text(object_id), number=number.text)
