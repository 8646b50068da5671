"""Replication cycles: the store sends its new changes to the other holders (spec: OUT-1 to OUT-5).

A change is UNSENT (`sent` = 0) until the next cycle of its folder, and then SENT. A cycle of one folder:

    1  reads the unsent changes in order of number; an object that was changed several times has one update, which names the
       superseded numbers too (spec: CN-7)
    2  divides them into mails by size and count (`node.mail.packing`)
    3  for each mail: computes the numbers that the mail claims and adds them to the store's own row; then queues the mail,
       which contains the complete row, for all other holders
    4  marks the changes as sent

All of this is one transaction, so the store's row claims a change exactly when its broadcast is in the queue (spec: OUT-9,
RST-1). A cycle of many changes is divided: one stimulus sends some mails (`node.mail.packing.portion`) and sets the timer of
the cycle again, to the same instant. The mails are the same as if one stimulus sent them all.

A mail claims the numbers of its updates. It also claims all numbers of this store from the last number that was broadcast for
the folder up to the highest one in this mail. Between these numbers are holes: numbers of other folders, which only this store
may claim for this folder (spec: CN-6). The claim omits the numbers of updates in later mails of the cycle.

Example: A changes folders F and G with one counter: F has A-4, A-7 and A-9, G has A-5, A-6 and A-8. A-4 was broadcast.

    one mail with A-7 and A-9     claims A-5..9
    two mails, A-7 and A-9        the first claims A-5..7, the second A-8..9
    A-7 and A-9 change one item   one update, A-9, which stands for A-7 too; claims A-5..9

If there are no other holders, or content is suspended, the changes count as broadcast without a mail; other stores get them
by backfill.

What must never happen: a mail that claims a number above this store's last change in it, a number of an update in a later
mail, or a number from before this replica began; a row that claims an unsent change of this store; a mail with changes of two
folders.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from node.backfill import suspension
from node.codec.items import Version
from node.codec.replication_message import MessageType, Update, names_of
from node.mail.packing import pending_after, portion, split
from node.mail.send import section_of, send
from node.objects.apply_folders import hiding
from node.objects.version_rows import named_by, tied_numbers
from node.state.context import Context, next_cycle, plan_cycle
from node.state.state_table import LastSent, OwnRow
from node.state.store_identity import LOCAL_REP
from node.state.timers import Timer, clear_timer, set_timer
from node.stored_values import HIERARCHY_FID
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

_NAMED_LATER = (
    "SELECT superseded.ctr, change.pcl, {fai}, change.item IS NULL FROM superseded"
    " JOIN {table} AS change ON change.object = superseded.object{same_folder}"
    " WHERE superseded.fid = ? AND superseded.rep = ? AND superseded.ctr BETWEEN ? AND ?"
    " AND change.sent = 0 AND change.rep = superseded.rep AND change.ctr > ?"
)

# Each of these is a pair: the statement for the content of a folder, and the one for the hierarchy, which has its own table.
MARK_SENT = (
    Statement("UPDATE message SET sent = 1 WHERE fid = ? AND sent = 0 AND (ctr, rep) <= (?, ?)"),
    Statement("UPDATE folder SET sent = 1 WHERE sent = 0 AND (ctr, rep) <= (?, ?)"),
)
HAS_UNSENT = (
    Statement("SELECT 1 FROM message WHERE fid = ? AND sent = 0 AND (ctr, rep) > (?, ?) LIMIT 1"),
    Statement("SELECT 1 FROM folder WHERE sent = 0 AND (ctr, rep) > (?, ?) LIMIT 1"),
)
NAMED_LATER = (
    Statement(_NAMED_LATER.format(fai="change.fai", table="message", same_folder=" AND change.fid = superseded.fid")),
    Statement(_NAMED_LATER.format(fai="0", table="folder", same_folder="")),
)
UNSENT_MESSAGES = Statement(
    "SELECT object, rep, ctr, pcl, modified_at, item, subject, fai, supersedes FROM message"
    " WHERE fid = ? AND sent = 0 ORDER BY ctr, rep"
)
UNSENT_NUMBERS = Statement("SELECT rep, ctr FROM message WHERE fid = ? AND sent = 0 ORDER BY ctr, rep LIMIT ?")
UNSENT_FOLDERS = Statement(
    "SELECT object, rep, ctr, pcl, modified_at, deleted, item, supersedes FROM folder WHERE sent = 0 ORDER BY ctr, rep"
)


def broadcast(ctx: Context, s: Stimulus, fid: int) -> None:
    """Run a replication cycle of one folder: send its unsent changes to all other holders."""
    own = ctx.rst.own(fid)
    if own is None:
        return
    hierarchy = fid == HIERARCHY_FID
    updates = unsent_folders(ctx, s.conn) if hierarchy else unsent_messages(ctx, s.conn, fid)
    limit = ctx.config.folder_limit if hierarchy else ctx.config.message_limit
    # Without recipients the changes count as broadcast too; other stores get them by backfill (spec: RP-2, RP-5).
    stores = [] if suspension.is_suspended(ctx, fid) else ctx.other_holders(fid)
    mails = portion(s, split(updates, ctx.config.message_size, limit, hierarchy=hierarchy))
    updates.close()
    if not mails:
        return
    number = mails[-1][-1].version.number
    last = (number.counter, ctx.store.rep(s.conn, number.guid))
    has_more = _has_unsent(s.conn, fid, last)
    named_later = _named_later(ctx, s.conn, own, number.counter) if has_more else NumberSets.EMPTY
    for mail, later in zip(mails, pending_after(mails, named_later), strict=True):
        numbers = _closed(ctx, own, mail, later)
        ctx.rst.add(fid, numbers)  # they are broadcast now, so the row in the mail claims them (spec: RST-1)
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
    s.conn.exec_driver_sql(MARK_SENT[hierarchy], (*_key(fid), *last))
    if has_more:
        set_timer(s.conn, Timer.CYCLE, fid, s.now)


def _key(fid: int) -> tuple[int, ...]:
    """Return the first parameters of a statement about the changes of a folder. The table of the hierarchy has no folders."""
    return () if fid == HIERARCHY_FID else (fid,)


def _has_unsent(conn: Connection, fid: int, after: tuple[int, int] = (0, 0)) -> bool:
    """Return whether a folder has unsent changes after the position `after`: a counter and a local replica number."""
    return conn.exec_driver_sql(HAS_UNSENT[fid == HIERARCHY_FID], (*_key(fid), *after)).first() is not None


def _named_later(ctx: Context, conn: Connection, own: OwnRow, upto: int) -> NumberSets:
    """Return this store's superseded numbers up to the counter `upto` that belong to unsent changes after `upto`.

    Later mails of the cycle name these numbers, so the mails of this stimulus must not claim them.
    """
    later_numbers = NumberSets.EMPTY
    for ctr, pcl, is_fai, deleted in conn.exec_driver_sql(
        NAMED_LATER[own.fid == HIERARCHY_FID],
        (own.fid, LOCAL_REP, max(own.began, min(own.last_sent)) + 1, upto, upto),
    ).all():
        number = ctx.store.number(LOCAL_REP, ctr)
        if deleted or is_fai or own.fid == HIERARCHY_FID or Pcl.decode(pcl).includes(number):
            later_numbers |= NumberSets.of_kind(CNSet.of(number), bool(is_fai))
    return later_numbers


def _closed(ctx: Context, own: OwnRow, mail: Sequence[Update], later: NumberSets) -> NumberSets:
    """Return the numbers that a mail claims, including the holes in this store's range (spec: CN-6).

    For each kind the range begins after the last number that was broadcast for the folder, or after the counter at which
    this replica began. It ends with this store's highest change in the mail.
    """
    guid = ctx.store.guid
    mail_numbers = NumberSets.from_numbers((update.version.number, update.version.fai) for update in mail)
    last_sent = LastSent(
        max(own.last_sent.contents, mail_numbers.contents.highest(guid)),
        max(own.last_sent.associated, mail_numbers.associated.highest(guid)),
    )
    holes = own.unsent(guid, last_sent) - later
    if last_sent != own.last_sent:
        own.last_sent = last_sent
        ctx.rst.touch(own)
    return names_of(mail) | holes


def unsent_messages(ctx: Context, conn: Connection, fid: int) -> Generator[Update, None, None]:
    """Yield this store's unsent changes in a folder, in order of number."""
    fresh = ctx.fresh.get(fid)
    if fresh and _are_unsent(conn, fid, fresh):
        yield from map(Update, fresh)
        return
    for object_id, rep, ctr, pcl, at, item, subject, fai, supersedes in conn.exec_driver_sql(
        UNSENT_MESSAGES,
        (fid,),
    ):
        version = Version(object_id, ctx.store.number(rep, ctr), Pcl.decode(pcl), at, item, subject, bool(fai))
        stands_for = named_by(version, tied_numbers(ctx, conn, object_id)) if supersedes else CNSet.EMPTY
        yield Update(version, stands_for)


def _are_unsent(conn: Connection, fid: int, versions: Sequence[Version]) -> bool:
    """Return whether these changes of this store are all unsent changes in a folder."""
    numbers = conn.exec_driver_sql(UNSENT_NUMBERS, (fid, len(versions) + 1)).all()
    return numbers == [(LOCAL_REP, version.number.counter) for version in versions]


def unsent_folders(ctx: Context, conn: Connection) -> Generator[Update, None, None]:
    """Yield this store's unsent changes of the hierarchy, in order of number."""
    for object_id, rep, ctr, pcl, at, deleted, item, supersedes in conn.exec_driver_sql(UNSENT_FOLDERS):
        version = Version(object_id, ctx.store.number(rep, ctr), Pcl.decode(pcl), at, None if deleted else item)
        yield Update(version, tied_numbers(ctx, conn, object_id) if supersedes else CNSet.EMPTY)


def reschedule(ctx: Context, s: Stimulus, fid: int) -> None:
    """Set the next cycle of a folder by its new schedule, if it has unsent changes."""
    clear_timer(s.conn, Timer.CYCLE, fid)
    due_at = next_cycle(ctx.config, ctx.schedule(fid), s.now)
    if _has_unsent(s.conn, fid) and due_at is not None:
        set_timer(s.conn, Timer.CYCLE, fid, due_at)


def hierarchy_changed(ctx: Context, s: Stimulus) -> None:
    """Set the next cycle of the hierarchy after a change made here. Schedules of content do not apply (spec: HI-3)."""
    own = ctx.rst.own(HIERARCHY_FID)
    assert own is not None, "every store holds the hierarchy"
    own.last_update_at = s.now
    own.status_sent_at = None
    ctx.rst.touch(own)
    plan_cycle(ctx, s, HIERARCHY_FID)
