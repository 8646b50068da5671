"""When a tombstone is dropped (spec: DL-4).

A tombstone is dropped when it has reached its age limit, and every other holder has since sent a row with its number. An
earlier row is not enough, because its store may have been restored from a backup. With a setting, the age alone decides, as in
Exchange; then a store that was away for longer brings deleted items back.
"""

from __future__ import annotations

from node.codec.items import object_text
from node.state.context import Context
from node.state.tables import HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from traces.events import TombstoneDropped
from traces.labtime import LabTime
from transport.stimulus import Stimulus

A_PAGE = 1_000
"""How many tombstones are read at once."""


def drop_old(ctx: Context, s: Stimulus) -> None:
    """Drop the tombstones that may be dropped. Each status check calls this."""
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
    # A tombstone with folders under it is kept: it hides them, also on stores that join later.
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
    """Return whether every other holder sent a row with the number after the tombstone reached its age limit."""
    settings = ctx.config.settings
    if settings.tombstones_by_age_alone:
        return True
    of_age_at = modified_at + settings.tombstone_age_us
    rows = [ctx.rst.row(fid, store) for store in ctx.other_holders(fid)]
    return all(row is not None and row.sent_at >= of_age_at and number in row.numbers.kind(fai) for row in rows)


def _forget(ctx: Context, s: Stimulus, fid: int, object_id: bytes, number: ChangeNumber) -> None:
    s.conn.exec_driver_sql("DELETE FROM superseded WHERE object = ?", (object_id,))
    s.trace.record(TombstoneDropped, folder=ctx.folders.text_of(fid), object=object_text(object_id), number=number.text)
