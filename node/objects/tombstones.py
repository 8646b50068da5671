"""When a tombstone may be forgotten (spec: DL-4).

Past its age and known to every other holder, by a row that was sent since it came of age: an earlier row may be that of a
store that has gone back to a backup since and has not been heard of. A setting drops it by age alone, as the originals
did, and then a store that was away for longer brings back what was deleted.
"""

from __future__ import annotations

from node.codec.items import object_text
from node.state.context import Context
from node.state.tables import HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from traces import LabTime
from traces.events import TombstoneDropped
from transport.stimulus import Stimulus

A_PAGE = 1_000
"""Tombstones read at once."""


def drop_old(ctx: Context, s: Stimulus) -> None:
    """The status check's look at tombstones past their age."""
    before_at = s.now - ctx.config.settings.tombstone_age_us
    after = (0, 0)
    while page := s.conn.exec_driver_sql(
        "SELECT modified_at, mid, fid, object, rep, ctr, fai FROM message WHERE deleted = 1 AND sent = 1"
        " AND modified_at <= ? AND (modified_at, mid) > (?, ?) ORDER BY modified_at, mid LIMIT ?",
        (before_at, *after, A_PAGE),
    ).all():
        for modified_at, mid, fid, object_id, rep, ctr, fai in page:
            after = (modified_at, mid)
            number = ctx.store.number(rep, ctr)
            if ctx.rst.own(fid) is not None and known_to_all(ctx, fid, number, modified_at, bool(fai)):
                s.conn.exec_driver_sql("DELETE FROM message WHERE mid = ?", (mid,))
                _forget(ctx, s, fid, object_id, number)
    # A folder under a tombstone is hidden by it, on every store to come too.
    hiding = {each.props.parent for each in ctx.folders.all() if each.props is not None}
    for folder in [each for each in ctx.folders.all() if each.props is None and each.modified_at <= before_at]:
        if folder.object in hiding:
            continue
        sent = s.conn.exec_driver_sql("SELECT sent FROM folder WHERE fid = ?", (folder.fid,)).scalar_one()
        if sent and known_to_all(ctx, HIERARCHY_FID, folder.number, folder.modified_at, False):
            s.conn.exec_driver_sql("DELETE FROM folder WHERE fid = ?", (folder.fid,))
            ctx.folders.forget(folder)
            _forget(ctx, s, HIERARCHY_FID, folder.object, folder.number)


def known_to_all(ctx: Context, fid: int, number: ChangeNumber, modified_at: LabTime, fai: bool) -> bool:
    """Whether every other holder has said, since the number came of age, that it has it."""
    settings = ctx.config.settings
    if settings.tombstones_by_age_alone:
        return True
    of_age_at = modified_at + settings.tombstone_age_us
    rows = [ctx.rst.row(fid, store) for store in ctx.other_holders(fid)]
    return all(row is not None and row.sent_at >= of_age_at and number in row.numbers.kind(fai) for row in rows)


def _forget(ctx: Context, s: Stimulus, fid: int, object_id: bytes, number: ChangeNumber) -> None:
    s.conn.exec_driver_sql("DELETE FROM superseded WHERE object = ?", (object_id,))
    s.trace.record(TombstoneDropped, folder=ctx.folders.text_of(fid), object=object_text(object_id), number=number.text)
