"""Send Hierarchy and Send Contents: an administrator has recent changes sent again (spec: AD-1).

The mails are ordinary hierarchy and content mails with the mark "resent". They go to the stores that the administrator chose. A
receiver ignores what it has, so sending too much is harmless.

For each store that made changes, the mails have its changes from the first one of the last n days on, as far as this store has
them. Their sets close the holes between these numbers, as a backfill response does (spec: CN-6).

Unsent changes wait for their cycle. Under a schedule that never fires there is no cycle, so all unsent changes go too, and
then count as broadcast. Stores that were not chosen learn of these changes from the next row, and request them (spec: RST-1).
"""

from __future__ import annotations

from collections.abc import Sequence

from node.backfill.responses import send_again
from node.objects.expiry import expired_among
from node.state.context import Context, next_cycle
from node.state.state_table import LastSent, OwnRow
from node.state.store_identity import LOCAL_REP
from node.stored_values import DELETED, HIERARCHY_FID
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from traces.events import ChangesResent
from traces.labtime import LabTime
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

FIRST_FOLDER_CHANGES = Statement("SELECT rep, min(ctr) FROM folder WHERE modified_at >= ? GROUP BY rep")
FIRST_MESSAGE_CHANGES = Statement(
    "SELECT rep, min(ctr) FROM ("
    " SELECT rep, ctr FROM message WHERE deleted = 0 AND fid = ? AND modified_at >= ?"
    " UNION ALL SELECT rep, ctr FROM message WHERE deleted <> 0 AND fid = ? AND deleted = ? AND modified_at >= ?"
    ") GROUP BY rep"
)
_LAST_BEFORE = (
    "SELECT max(coalesce((SELECT max(ctr) FROM {table} WHERE {in_folder}rep = ? AND ctr < ?), 0),"
    " coalesce((SELECT max(ctr) FROM superseded WHERE fid = ? AND rep = ? AND ctr < ? AND NOT EXISTS"
    " (SELECT 1 FROM {table} AS now WHERE now.object = superseded.object AND now.modified_at >= ?)), 0))"
)
LAST_BEFORE = (
    Statement(_LAST_BEFORE.format(table="message", in_folder="fid = ? AND ")),
    Statement(_LAST_BEFORE.format(table="folder", in_folder="")),
)
"""The last number before a change: among the changes of a folder, and among those of the hierarchy."""
LAST_UNSENT = Statement("SELECT fai, max(ctr) FROM message WHERE fid = ? AND sent = 0 AND rep = ? GROUP BY fai")


def resend(ctx: Context, s: Stimulus, own: OwnRow, stores: Sequence[str], since_at: LabTime) -> NumberSets:
    """Send the folder's changes since `since_at` to the stores. Return the numbers that the mails claim."""
    numbers = own.numbers & _since(ctx, s.conn, own, since_at)
    if own.fid != HIERARCHY_FID:
        numbers -= expired_among(ctx, s.conn, own.fid, numbers)  # spec: DL-3
    if next_cycle(ctx.config, ctx.schedule(own.fid), s.now) is None:
        numbers |= _unsent(ctx, s.conn, own)
    s.trace.record(
        ChangesResent,
        folder=ctx.folders.text_of(own.fid),
        stores=tuple(stores),
        since_at=since_at,
        **numbers.texts(),
    )
    if numbers:
        send_again(ctx, s, own, stores, numbers)
    return numbers


def _since(ctx: Context, conn: Connection, own: OwnRow, since_at: LabTime) -> NumberSets:
    """Return the numbers of each store that made changes, from the holes before its first change since `since_at` to the last
    number here."""
    hierarchy = own.fid == HIERARCHY_FID
    if hierarchy:
        rows = conn.exec_driver_sql(FIRST_FOLDER_CHANGES, (since_at,))
    else:  # each part has its own index
        rows = conn.exec_driver_sql(
            FIRST_MESSAGE_CHANGES,
            (own.fid, since_at, own.fid, DELETED, since_at),
        )
    own_numbers = own.numbers.merged()
    spans = CNSet.EMPTY
    for rep, first in rows.all():
        guid = ctx.store.number(rep, first).guid
        # A superseded number belongs to the earlier changes unless its object has changed since.
        before: int = conn.exec_driver_sql(
            LAST_BEFORE[hierarchy],
            (*(() if hierarchy else (own.fid,)), rep, first, own.fid, rep, first, since_at),
        ).scalar_one()
        if (last := own_numbers.highest(guid)) > before:
            spans |= CNSet.span(guid, before + 1, last)
    return NumberSets(spans, spans)


def _unsent(ctx: Context, conn: Connection, own: OwnRow) -> NumberSets:
    """Return this store's unsent changes of a folder, with the holes between them."""
    highest = dict(
        conn.exec_driver_sql(
            LAST_UNSENT,
            (own.fid, LOCAL_REP),
        ).all()
    )
    return own.unsent(ctx.store.guid, LastSent(highest.get(0, 0), highest.get(1, 0)))
