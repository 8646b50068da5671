"""The removal of a replica: the data is kept until another store has all of it (spec: RP-2).

States of a replica at the leaving store:

    ACTIVE     `pending` = 0                       DUE   `pending` = 1 and a DROP timer, only in 5.5
    SENDING    `pending` = 1 and a CYCLE timer     GONE  no row of this store
    PENDING    `pending` = 1, rows in `leaving`

    state         what happens                                        next state
    ACTIVE        the store is taken off the replica list             SENDING: it ends its entries and broadcasts what is
                                                                      unsent, at one instant in as many stimuli as needed
    SENDING       nothing is unsent                                   PENDING: it sends all holders a delete-pending status
                                                                      request with its row
    PENDING       a status check                                      PENDING; the request is sent again
    PENDING       a holder answers, and its row has all of the data   GONE; in 5.5 DUE
    PENDING       a holder answers, but a change has arrived since    PENDING; the answer has no effect
    DUE           midnight, and the row still has all of the data     GONE
    DUE           midnight, and it does not                           PENDING
    any but GONE  the store is on the replica list again              ACTIVE; later answers have no effect
    any           the folder is deleted or hidden                     GONE (spec: HI-6)

A holder that gets the request has a row of `leaver` with what the leaving store claims:

    what happens                                                      the row
    the request arrives                                               is written; missing numbers go into the backfill array
    this store has all numbers, and other holders have those whose    is deleted; a status marked "retained" answers the
    items expired here                                                request
    the leaving store answers a backfill request: "no replica"        is deleted; numbers that only it claimed are pruned
    the store is on the replica list again                            is deleted

Until it is GONE, the leaving store answers backfill requests, so it is a source for the holders.

Example: A and B hold a folder; A has A-1..5, B has A-1..4. A is taken off the list. A's request claims A-1..5; B makes an
entry for A-5 and does not answer the request yet. B's backfill request goes to A, whose response contains A-5. B answers
"retained"; A drops the data. But if a broadcast of C with C-9 reached A after the request, and never reached B, B's answer
lacks C-9: A keeps the data and claims C-9 in its next request.

What must never happen: a request that is sent while changes are unsent, because its row does not claim them; data that is
dropped before the row of a store on the present list has all of it; an answer that counts although its sender is itself
leaving, or although it answers a request of an earlier removal; the loss of the last copy of an item that did not expire
(DU-1).
"""

from __future__ import annotations

from node.backfill import array
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
from transport.sql import Statement
from transport.stimulus import Stimulus

ANNOUNCED = Statement("INSERT INTO leaving (mail, fid) VALUES (?, ?)")
IS_ANNOUNCED = Statement("SELECT 1 FROM leaving WHERE fid = ? LIMIT 1")
CANCEL = Statement("DELETE FROM leaving WHERE fid = ?")
NOTE_ANSWER = Statement("UPDATE leaving SET answered_by = ? WHERE mail = ? AND fid = ?")
ANSWERED_BY = Statement("SELECT DISTINCT answered_by FROM leaving WHERE fid = ? AND answered_by IS NOT NULL")
NOTE_LEAVER = Statement("INSERT OR REPLACE INTO leaver (fid, store, mail, numbers, numbers_fai) VALUES (?, ?, ?, ?, ?)")
LEAVERS = Statement("SELECT store, mail, numbers, numbers_fai FROM leaver WHERE fid = ? ORDER BY store")
FORGET_LEAVER = Statement("DELETE FROM leaver WHERE fid = ? AND store = ?")

FORGET_FOLDER = tuple(
    Statement(f"DELETE FROM {table} WHERE fid = ?")
    for table in (
        "message", "superseded", "conflict", "asked", "wanted", "repeated", "leaving", "leaver", "posted", "said_expired",
    )
)  # fmt: skip
"""For each table with a column `fid`: the statement that deletes the rows of a replica."""

# -- at the leaving store


def announce(ctx: Context, s: Stimulus, own: OwnRow) -> None:
    """Send the delete-pending request: ask every holder whether it has all that this store has."""
    stores = ctx.other_holders(own.fid)
    if not stores:
        return
    section = section_of(ctx, own, marks=Mark.DELETE_PENDING, responders=stores)
    mail = send(ctx, s, MessageType.STATUS_REQUEST, stores, [section])
    if mail is not None:
        s.conn.exec_driver_sql(ANNOUNCED, (mail, own.fid))


def is_announced(s: Stimulus, fid: int) -> bool:
    """Return whether the delete-pending request of a folder was sent."""
    return s.conn.exec_driver_sql(IS_ANNOUNCED, (fid,)).first() is not None


def announce_again(ctx: Context, s: Stimulus) -> None:
    """At a status check, repeat the delete-pending requests that no holder has answered."""
    for fid in ctx.rst.held_fids():
        own = ctx.rst.own(fid)
        if own is not None and own.pending and not any(is_set(s.conn, kind, fid) for kind in (Timer.DROP, Timer.CYCLE)):
            announce(ctx, s, own)


def cancel_removal(ctx: Context, s: Stimulus, own: OwnRow) -> None:
    """Make a pending replica active again, because the store is on the list again. Late answers have no effect."""
    own.pending = False
    ctx.rst.touch(own)
    s.conn.exec_driver_sql(CANCEL, (own.fid,))
    clear_timer(s.conn, Timer.DROP, own.fid)


def on_status(ctx: Context, s: Stimulus, mail: ReplicationMail) -> None:
    """Handle the answers in a status to this store's delete-pending requests."""
    for section in mail.sections:
        fid = ctx.folders.fid_of(section.folder)
        own = ctx.rst.own(fid) if fid is not None else None
        if Mark.RETAINED in section.marks and own is not None:
            _on_retained(ctx, s, mail, own)


def _on_retained(ctx: Context, s: Stimulus, mail: ReplicationMail, own: OwnRow) -> None:
    """Drop the replica, if the mail answers a request of this removal and its sender is a holder that has all of the data.

    Changes can arrive between the request and the answer. The sender need not have these, so its row decides (spec: DU-1).
    """
    answered = s.conn.exec_driver_sql(NOTE_ANSWER, (mail.store, mail.in_reply_to, own.fid)).rowcount
    if not own.pending or not answered or not _has_all(ctx, own, mail.store):
        return
    if ctx.config.profile.drops_after_midnight:  # [X Q253297]
        set_timer_if_none(s.conn, Timer.DROP, own.fid, s.now - s.now % DAY_US + DAY_US)
    else:
        drop_now(ctx, s, own.fid)


def at_midnight(ctx: Context, s: Stimulus, fid: int) -> None:
    """Drop the replica of a 5.5 store, if a holder that answered still has all of the data."""
    own = ctx.rst.own(fid)
    assert own is not None, "the timer is cleared with the replica"
    answered = s.conn.exec_driver_sql(ANSWERED_BY, (fid,)).all()
    if any(_has_all(ctx, own, store) for (store,) in answered):
        drop_now(ctx, s, fid)


def _has_all(ctx: Context, own: OwnRow, store: str) -> bool:
    row = ctx.rst.row(own.fid, store) if ctx.is_holder(own.fid, store) else None
    return row is not None and own.numbers <= row.numbers


def drop_now(ctx: Context, s: Stimulus, fid: int) -> None:
    """Drop a replica, because another store has all its changes."""
    drop(ctx, s, ctx.folders.at(fid), "the replica is removed")


def drop(ctx: Context, s: Stimulus, folder: Folder, reason: str) -> None:
    """Delete the content of a replica with its rows, entries, requests and timers (spec: HI-6, RP-2)."""
    fid = folder.fid
    array.drop_folder(ctx, s, fid, reason)
    own = ctx.rst.own(fid)
    numbers = own.numbers.merged() if own else CNSet.EMPTY
    ctx.rst.drop(s.conn, fid)
    for statement in FORGET_FOLDER:
        s.conn.exec_driver_sql(statement, (fid,))
    clear_timer(s.conn, Timer.CYCLE, fid)
    clear_timer(s.conn, Timer.DROP, fid)
    s.trace.record(ReplicaDropped, folder=folder.text, cnset=numbers.text())


# -- at a holder


def on_request(ctx: Context, s: Stimulus, mail: ReplicationMail) -> None:
    """Handle the delete-pending requests of a leaving store in a status request."""
    for section in mail.sections:
        fid = ctx.folders.fid_of(section.folder)
        own = ctx.rst.own(fid) if fid is not None else None
        if Mark.DELETE_PENDING in section.marks and own is not None and not own.pending:
            _on_pending_request(ctx, s, mail, section, own)


def _on_pending_request(ctx: Context, s: Stimulus, mail: ReplicationMail, section: Section, own: OwnRow) -> None:
    """Note what a leaving store has. If this store has all of it, answer now, otherwise later."""
    s.conn.exec_driver_sql(
        NOTE_LEAVER,
        (own.fid, mail.store, mail.message_id, *section.row.encode()),
    )
    array.prune(ctx, s, own.fid, f"{mail.store} no longer claims it")
    array.note_claimed(ctx, s, own.fid, section.row)
    answer_leavers(ctx, s, own.fid)


def answer_leavers(ctx: Context, s: Stimulus, fid: int) -> None:
    """Answer the leaving stores whose numbers this store now has.

    If items of some of these numbers have expired here, the answer also waits until every other holder has these
    numbers. Otherwise another holder could no longer get the items from the leaving store (spec: DL-3, DU-1).
    """
    own = ctx.rst.own(fid)
    if own is None or own.pending:
        return
    for store, mail, numbers, fai in s.conn.exec_driver_sql(LEAVERS, (fid,)).all():
        claimed = NumberSets.decode(numbers, fai)
        if not claimed <= own.numbers or not _others_have_expired_items(ctx, s, fid, claimed):
            continue
        section = section_of(ctx, own, marks=Mark.RETAINED)
        send(ctx, s, MessageType.STATUS, [store], [section], in_reply_to=mail)
        s.conn.exec_driver_sql(FORGET_LEAVER, (fid, store))


def _others_have_expired_items(ctx: Context, s: Stimulus, fid: int, numbers: NumberSets) -> bool:
    expired = expired_among(ctx, s.conn, fid, numbers)
    if not expired:
        return True
    rows = [ctx.rst.row(fid, store) for store in ctx.other_holders(fid)]
    return all(row is not None and expired <= row.numbers for row in rows)


def forget_leaver(ctx: Context, s: Stimulus, fid: int, store: str) -> None:
    """Delete the row of a leaving store that answered "no replica", and prune the numbers that only it claimed."""
    s.conn.exec_driver_sql(FORGET_LEAVER, (fid, store))
    array.prune(ctx, s, fid, f"{store} holds no replica any more")


def forget_leavers(ctx: Context, s: Stimulus, fid: int) -> None:
    """Delete the rows of leaving stores that are on the replica list again, and prune the numbers that only they claimed."""
    for store in ctx.holders(fid):
        if s.conn.exec_driver_sql(FORGET_LEAVER, (fid, store)).rowcount:
            array.prune(ctx, s, fid, f"{store} is on the replica list again, and has not said what it has")
