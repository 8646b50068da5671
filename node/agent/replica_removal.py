"""How a replica goes: kept until another store is known to have all of it (spec: RP-2).

The leaving store asks all holders by a 0x20 marked delete-pending, with everything it has. A holder that has all of it
answers; one that lacks some enters that in its array, with the leaving store among the sources, and answers when it has
all. The first answer lets the data be dropped; until then the leaving store serves backfill.
"""

from __future__ import annotations

from node.agent import backfill
from node.codec.replication_message import Mark, MessageType, ReplicationMail, Section
from node.mail.send import section_of, send
from node.objects.expiry import expired_among
from node.state.context import Context
from node.state.folders import Folder
from node.state.state_table import OwnRow
from node.state.timers import Timer, clear_timer, is_set, set_timer_if_none
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from traces.events import ReplicaDropped
from traces.labtime import DAY_US
from transport.stimulus import Stimulus

_OF_A_FOLDER = (
    "message", "superseded", "conflict", "asked", "wanted", "repeated", "leaving", "leaver", "posted", "said_expired",
)  # fmt: skip
"""Tables with a column `fid` whose rows mean nothing once the replica is gone."""

# -- at the leaving store


def announce(ctx: Context, s: Stimulus, own: OwnRow) -> None:
    """Asks every holder whether it has all that this store has; again at each check while none has answered."""
    stores = ctx.other_holders(own.fid)
    if not stores:
        return
    section = section_of(ctx, own, marks=Mark.DELETE_PENDING, responders=stores)
    mail = send(ctx, s, MessageType.STATUS_REQUEST, stores, [section])
    if mail is not None:
        s.conn.exec_driver_sql("INSERT INTO leaving (mail, fid) VALUES (?, ?)", (mail, own.fid))


def is_said(s: Stimulus, fid: int) -> bool:
    """Whether this store has told the holders that it leaves."""
    return s.conn.exec_driver_sql("SELECT 1 FROM leaving WHERE fid = ? LIMIT 1", (fid,)).first() is not None


def announce_again(ctx: Context, s: Stimulus) -> None:
    """The status check of the replicas that wait to be dropped."""
    for fid in ctx.rst.held_fids():
        own = ctx.rst.own(fid)
        if own is not None and own.pending and not is_set(s.conn, Timer.DROP, fid):
            announce(ctx, s, own)


def stay(ctx: Context, s: Stimulus, own: OwnRow) -> None:
    """Re-added meanwhile: pending ends, and late answers find nothing that they answer."""
    own.pending = False
    ctx.rst.touch(own)
    s.conn.exec_driver_sql("DELETE FROM leaving WHERE fid = ?", (own.fid,))
    clear_timer(s.conn, Timer.DROP, own.fid)


def on_retained(ctx: Context, s: Stimulus, mail: ReplicationMail, own: OwnRow) -> None:
    """An answer to a request of this very leaving, from a store that is in the list now: the data may go."""
    asked = s.conn.exec_driver_sql(
        "SELECT 1 FROM leaving WHERE mail = ? AND fid = ?", (mail.in_reply_to, own.fid)
    ).first()
    if not own.pending or not asked or mail.store not in ctx.holders(own.fid):
        return
    if ctx.config.profile.drops_after_midnight:  # [X Q253297]
        set_timer_if_none(s.conn, Timer.DROP, own.fid, s.now - s.now % DAY_US + DAY_US)
    else:
        drop_now(ctx, s, own.fid)


def drop_now(ctx: Context, s: Stimulus, fid: int) -> None:
    """Another store has all of the replica, and the time has come."""
    drop(ctx, s, ctx.folders.at(fid), "the replica is removed")


def drop(ctx: Context, s: Stimulus, folder: Folder, reason: str) -> None:
    """The content goes, with its rows, entries, requests and timers (spec: HI-6, RP-2)."""
    fid = folder.fid
    backfill.drop_folder(ctx, s, fid, reason)
    own = ctx.rst.own(fid)
    numbers = own.numbers.merged() if own else CNSet.EMPTY
    ctx.rst.drop(s.conn, fid)
    for table in _OF_A_FOLDER:
        s.conn.exec_driver_sql(f"DELETE FROM {table} WHERE fid = ?", (fid,))
    clear_timer(s.conn, Timer.CYCLE, fid)
    clear_timer(s.conn, Timer.DROP, fid)
    s.trace.record(ReplicaDropped, folder=folder.text, cnset=numbers.text())


# -- at a holder


def on_pending_request(ctx: Context, s: Stimulus, mail: ReplicationMail, section: Section, own: OwnRow) -> None:
    """A leaving store says what it has: answered now, or when this store has all of it."""
    s.conn.exec_driver_sql(
        "INSERT OR REPLACE INTO leaver (fid, store, mail, numbers, numbers_fai) VALUES (?, ?, ?, ?, ?)",
        (own.fid, mail.store, mail.message_id, *section.row.encode()),
    )
    backfill.prune(ctx, s, own.fid, f"{mail.store} no longer claims it")
    backfill.note_claimed(ctx, s, own.fid, section.row)
    answer_leavers(ctx, s, own.fid)


def answer_leavers(ctx: Context, s: Stimulus, fid: int) -> None:
    """Answers the leaving stores of which this store now has everything; and where an age limit has taken some of it here,
    every other holder too, for one of them may still fetch that from the leaving store (spec: DL-3, DU-1)."""
    own = ctx.rst.own(fid)
    if own is None or own.pending:
        return
    for store, mail, numbers, fai in s.conn.exec_driver_sql(
        "SELECT store, mail, numbers, numbers_fai FROM leaver WHERE fid = ? ORDER BY store", (fid,)
    ).all():
        claimed = NumberSets.decode(numbers, fai)
        if not claimed <= own.numbers or not _others_have_what_expired(ctx, s, fid, claimed):
            continue
        section = section_of(ctx, own, marks=Mark.RETAINED)
        send(ctx, s, MessageType.STATUS, [store], [section], in_reply_to=mail)
        s.conn.exec_driver_sql("DELETE FROM leaver WHERE fid = ? AND store = ?", (fid, store))


def _others_have_what_expired(ctx: Context, s: Stimulus, fid: int, numbers: NumberSets) -> bool:
    gone = expired_among(ctx, s.conn, fid, numbers)
    if not gone:
        return True
    rows = [ctx.rst.row(fid, store) for store in ctx.other_holders(fid)]
    return all(row is not None and gone <= row.numbers for row in rows)


def leaver_gone(ctx: Context, s: Stimulus, fid: int, store: str) -> None:
    """A store answered that it holds no replica: as a source it is gone, and what only it claimed is claimed no more."""
    s.conn.exec_driver_sql("DELETE FROM leaver WHERE fid = ? AND store = ?", (fid, store))
    backfill.prune(ctx, s, fid, f"{store} holds no replica any more")


def forget_leavers(ctx: Context, s: Stimulus, fid: int) -> None:
    """A store that is in the list again is no leaver."""
    for store in ctx.holders(fid):
        s.conn.exec_driver_sql("DELETE FROM leaver WHERE fid = ? AND store = ?", (fid, store))
    backfill.prune(ctx, s, fid, "the store that claimed it is no leaver any more")
