"""Replication cycles: the store sends its new changes to the other holders (spec: OUT-1 to OUT-5).

A change is UNSENT (`sent` = 0) until the next cycle of its folder, and then SENT. A cycle of one folder:

    1  reads the unsent changes in order of number; an object that was changed several times has one update, which names the
       superseded numbers too (spec: CN-7)
    2  divides them into mails by size and count (`node.mail.packing`)
    3  for each mail: computes the numbers that it claims, adds them to the own row, and queues it for all other holders with
       the complete own row
    4  marks the changes as sent

All of this is one transaction, so the own row claims a change exactly when its broadcast is in the queue (spec: OUT-9, RST-1).

A mail claims the numbers of its updates. It also claims all own numbers from the last number that was broadcast for the
folder up to the highest own number in this mail. Between those are holes: numbers of other folders, which only their
owner may claim for this folder (spec: CN-6). Numbers of updates in later mails of the cycle are left out.

Example: A changes folders F and G with one counter: F has A-4, A-7 and A-9, G has A-5, A-6 and A-8. A-4 was broadcast.

    one mail with A-7 and A-9     claims A-5..9
    two mails, A-7 and A-9        the first claims A-5..7, the second A-8..9
    A-7 and A-9 are one message   one update, A-9, which stands for A-7 too; claims A-5..9

If there are no other holders, or content is suspended, the changes count as broadcast without a mail; other stores get them
by backfill.

What must never happen: a mail claims a number above its last own change, or one of an update in a later mail, or one up to the
counter at which this replica began; the own row claims an unsent change; one mail has changes of two folders.
"""

from __future__ import annotations

from collections.abc import Sequence

from node.codec.items import Version
from node.codec.replication_message import MessageType, Update, names_of
from node.mail import suspension
from node.mail.packing import pending_after, split
from node.mail.send import section_of, send
from node.objects.apply_folders import hiding
from node.objects.version_rows import named_by, tied_numbers
from node.state.context import Context, next_cycle
from node.state.state_table import LastSent, OwnRow
from node.state.tables import HIERARCHY_FID
from node.state.timers import Timer, clear_timer, set_timer, set_timer_if_none
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from transport.sql import Connection
from transport.stimulus import Stimulus


def broadcast(ctx: Context, s: Stimulus, fid: int) -> None:
    """Run a replication cycle of one folder: send its unsent changes to all other holders."""
    own = ctx.rst.own(fid)
    if own is None:
        return
    hierarchy = fid == HIERARCHY_FID
    updates = unsent_folders(ctx, s.conn) if hierarchy else unsent_messages(ctx, s.conn, fid)
    if not updates:
        return
    limit = ctx.config.folder_limit if hierarchy else ctx.config.message_limit
    # Without recipients the changes count as broadcast too; other stores get them by backfill (spec: RP-2, RP-5).
    stores = [] if suspension.is_suspended(ctx, fid) else ctx.other_holders(fid)
    mails = split(updates, ctx.config.message_size, limit, hierarchy=hierarchy)
    for mail, later in zip(mails, pending_after(mails), strict=True):
        numbers = _closed(ctx, own, mail, later)
        ctx.rst.add(fid, numbers)  # broadcast now, so the own row that goes along claims it (spec: RST-1)
        if stores:
            send(
                ctx,
                s,
                MessageType.HIERARCHY if hierarchy else MessageType.CONTENT,
                stores,
                [section_of(ctx, own, numbers)],
                updates=[*hiding(ctx, mail), *mail] if hierarchy else mail,
                priority=ctx.priority(fid),
            )
    table = "folder" if hierarchy else "message"
    where = "" if hierarchy else " AND fid = ?"
    s.conn.exec_driver_sql(f"UPDATE {table} SET sent = 1 WHERE sent = 0{where}", () if hierarchy else (fid,))


def _closed(ctx: Context, own: OwnRow, mail: Sequence[Update], later: NumberSets) -> NumberSets:
    """Return the numbers that a mail claims, with the holes in this store's own range closed (spec: CN-6).

    For each kind the range begins after the last number that was broadcast for the folder, or after the counter at which
    this replica began. It ends with the highest own change in the mail.
    """
    guid = ctx.store.guid
    made = NumberSets.from_numbers((update.version.number, update.version.fai) for update in mail)
    sent = LastSent(
        max(own.last_sent.contents, made.contents.highest(guid)),
        max(own.last_sent.associated, made.associated.highest(guid)),
    )
    closed = own.unsent(guid, sent) - later
    if sent != own.last_sent:
        own.last_sent = sent
        ctx.rst.touch(own)
    return names_of(mail) | closed


def unsent_messages(ctx: Context, conn: Connection, fid: int) -> list[Update]:
    """Return this store's unsent changes in a folder, in order of number."""
    found = []
    for object_id, rep, ctr, pcl, at, item, subject, fai, supersedes in conn.exec_driver_sql(
        "SELECT object, rep, ctr, pcl, modified_at, item, subject, fai, supersedes FROM message"
        " WHERE fid = ? AND sent = 0 ORDER BY ctr",
        (fid,),
    ).all():
        version = Version(object_id, ctx.store.number(rep, ctr), Pcl.decode(pcl), at, item, subject, bool(fai))
        stands_for = named_by(version, tied_numbers(ctx, conn, object_id)) if supersedes else CNSet.EMPTY
        found.append(Update(version, stands_for))
    return found


def unsent_folders(ctx: Context, conn: Connection) -> list[Update]:
    """Return this store's unsent changes of the hierarchy, in order of number."""
    return [
        Update(
            Version(object_id, ctx.store.number(rep, ctr), Pcl.decode(pcl), at, None if deleted else item),
            tied_numbers(ctx, conn, object_id) if supersedes else CNSet.EMPTY,
        )
        for object_id, rep, ctr, pcl, at, deleted, item, supersedes in conn.exec_driver_sql(
            "SELECT object, rep, ctr, pcl, modified_at, deleted, item, supersedes FROM folder"
            " WHERE sent = 0 ORDER BY ctr"
        ).all()
    ]


def reschedule(ctx: Context, s: Stimulus, fid: int) -> None:
    """Set the next cycle of a folder by its new schedule, if it has unsent changes."""
    clear_timer(s.conn, Timer.CYCLE, fid)
    if fid == HIERARCHY_FID:
        waits = s.conn.exec_driver_sql("SELECT 1 FROM folder WHERE sent = 0 LIMIT 1").first()
    else:
        waits = s.conn.exec_driver_sql("SELECT 1 FROM message WHERE fid = ? AND sent = 0 LIMIT 1", (fid,)).first()
    due_at = next_cycle(ctx.config, ctx.schedule(fid), s.now)
    if waits and due_at is not None:
        set_timer(s.conn, Timer.CYCLE, fid, due_at)


def hierarchy_changed(ctx: Context, s: Stimulus) -> None:
    """Set the next cycle of the hierarchy after a change made here. Schedules of content do not apply (spec: HI-3)."""
    own = ctx.rst.own(HIERARCHY_FID)
    assert own is not None, "every store holds the hierarchy"
    own.last_update_at = s.now
    own.status_sent_at = None
    ctx.rst.touch(own)
    due_at = next_cycle(ctx.config, ctx.schedule(HIERARCHY_FID), s.now)
    assert due_at is not None
    set_timer_if_none(s.conn, Timer.CYCLE, HIERARCHY_FID, due_at)
