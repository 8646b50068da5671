"""The backfill array: which numbers are missing, when the store requests them, and from which sources (spec: BF-1, BF-2, BF-6).

An entry holds the numbers that were found missing in one folder at one moment. It is one row of `entry`. Each outstanding
request of the entry is one row of `request`. `traces.backfill_lives` has the states of both, and what moves them. In addition:

    entry      what happens                                   what is done
    (none)     numbers are found missing                      one entry for those that the site has, another one for the rest;
                                                              those of a new replica of 5.5 are due at once
    any        some of its numbers arrive                     it keeps its due time
    any        the stores of the site that are on the         the local time-out counts, if that is earlier
               replica list or leaving it have all numbers
    WAITING    they have some of the numbers                  these get a local entry
    REQUESTED  its retry time-out ends, and they have some    these get a local entry, which is due now
    any        content replication is suspended               its timer stops until it is resumed (spec: RP-5)

This module finds what is missing and what has arrived. `node.backfill.requests` asks for what is due.

Example: B of another site lacks A-5 to A-9.

    Mon 10:00  A's status claims A-5..9      entry made, WAITING, due 22:00 (12 h)
    Mon 12:00  A's broadcast brings A-7      the entry has A-5..6 and A-8..9, still due 22:00
    Mon 22:00  the time-out ends             request to A, REQUESTED, retry at Tue 22:00 (24 h)
    Mon 22:01  A's response brings A-5..6    the request is ANSWERED and has A-8..9; A's second mail is lost
    Tue 22:00  the retry time-out ends       A answered, so it stays up; a new request, retry after 48 h
    Tue 22:01  A's response brings A-8..9    request "satisfied", entry SATISFIED

What must never happen: a number in two entries of a folder; an entry with a number that the store's row or the replication
message queue has; an entry that has no timer but is neither DEFERRED nor suspended; more outstanding requests than the limit
(spec: BF-6); a source that is marked down although it answered or its request was recalled.
"""

from __future__ import annotations

from dataclasses import replace

from node.backfill import slots, suspension
from node.backfill.rows import (
    NEW,
    Entry,
    add_entry,
    entries,
    remove_entry,
    requests,
    save_entry,
    save_request,
)
from node.backfill.sources import claimed_by, leaver_claims, leavers, sources_of
from node.state import held_messages
from node.state.context import Context
from node.state.state_table import LastSent
from node.state.store_identity import LOCAL_REP
from node.state.timers import Timer, clear_timer, set_timer
from node.stored_values import HIERARCHY_FID
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from traces.backfill_lives import EntryEvent, EntryState, RequestEvent
from traces.events import EntryMade, EntryPruned, EntrySatisfied
from traces.labtime import LabTime
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

REPLACED_HERE = Statement("SELECT ctr FROM superseded WHERE rep = ? AND ctr BETWEEN ? AND ? AND fid = ? ORDER BY ctr")


def in_the_site(ctx: Context, conn: Connection, fid: int) -> NumberSets:
    """Return the numbers that some store of this site claims (spec: BF-2)."""
    return NumberSets.union_all(
        claimed_by(ctx, conn, fid, store)
        for store in sources_of(ctx, conn, fid)
        if ctx.directory.same_site(ctx.name, store)
    )


# -- into the array


def note_missing(ctx: Context, s: Stimulus, fid: int, store: str) -> None:
    """Add to the array the numbers that the row of `store` claims and this store lacks (spec: BF-1, ST-5)."""
    row = ctx.rst.row(fid, store)
    if row is not None:
        note_claimed(ctx, s, fid, row.numbers)


def note_claimed(ctx: Context, s: Stimulus, fid: int, claims: NumberSets) -> None:
    """Add to the array the claimed numbers that this store lacks."""
    own = ctx.rst.own(fid)
    if own is None or own.pending:  # spec: RP-2 a leaving store requests nothing more
        return
    numbers = claims - own.numbers
    if not numbers:
        return
    # Numbers in the queue are not missing (spec: BF-2). Changes made here that this store's row does not claim yet are
    # not missing either (spec: RST-1). Another store can get such a change by a response, before its broadcast (spec:
    # CN-7).
    if fid == HIERARCHY_FID:
        numbers = numbers.without(held_messages.held_hierarchy(s.conn))
    unsent = own.unsent(ctx.store.guid, LastSent(ctx.store.change_counter, ctx.store.change_counter))
    _account_for_replaced(ctx, s, fid, numbers & unsent)
    numbers -= unsent
    for entry in entries(s.conn, fid):
        numbers -= entry.numbers
    if not numbers:
        return
    near = numbers & in_the_site(ctx, s.conn, fid)
    at_once = own.fresh and ctx.config.profile.new_asks_at_once
    for part, local in ((near, True), (numbers - near, False)):
        if part:
            due_at = s.now if at_once else s.now + ctx.config.timeouts(local).first_us
            _make(ctx, s, Entry(NEW, fid, part, s.now, s.now, due_at, local))


def _make(ctx: Context, s: Stimulus, entry: Entry, parent: int = 0) -> None:
    """Add an entry to the array.

    `parent`: the entry that had its numbers before, or 0.
    """
    add_entry(s.conn, entry)
    if not suspension.is_suspended(ctx, entry.fid):
        set_timer(s.conn, Timer.ENTRY, entry.id, entry.due_at)
    s.trace.record(
        EntryMade,
        folder=ctx.folders.text_of(entry.fid),
        entry=entry.id,
        **entry.numbers.texts(),
        local=entry.local,
        due_at=entry.due_at,
        parent=parent,
    )


def _account_for_replaced(ctx: Context, s: Stimulus, fid: int, numbers: NumberSets) -> None:
    """Claim this store's changes that were replaced here before their broadcast and that another store has.

    That store got these changes by a response. No broadcast of this store will name them, so without this the sets of the two
    stores would stay different (spec: CV-1, CN-7).
    """
    replaced_numbers = CNSet.from_numbers(
        ctx.store.number(LOCAL_REP, ctr)
        for lo, hi in numbers.merged().ranges(ctx.store.guid)
        for (ctr,) in s.conn.exec_driver_sql(REPLACED_HERE, (LOCAL_REP, lo, hi, fid))
    )
    ctx.rst.add(fid, numbers & NumberSets(replaced_numbers, replaced_numbers))


def make_local(ctx: Context, s: Stimulus, fid: int, store: str) -> None:
    """Give the numbers that `store`, a store of this site, claims the local time-out. The earlier due time applies (spec:
    BF-2).

    If the site has only a part of an entry, the entry is divided. If it was requested already, it stays whole until the retry
    time-out.
    """
    if not ctx.directory.same_site(ctx.name, store):
        return
    remote = [entry for entry in entries(s.conn, fid) if not entry.local]
    near_numbers = in_the_site(ctx, s.conn, fid) if remote else NumberSets.EMPTY
    for entry in remote:
        near = entry.numbers & near_numbers
        if near == entry.numbers:
            _make_wholly_local(ctx, s, entry)
        elif near and entry.state is EntryState.WAITING:
            divide(ctx, s, entry, near)


def _make_wholly_local(ctx: Context, s: Stimulus, entry: Entry) -> None:
    entry.local = True
    due_at = _local_due_at(ctx, s, entry)
    if due_at < entry.due_at and entry.state is not EntryState.DEFERRED:
        entry.due_at = due_at
        if not suspension.is_suspended(ctx, entry.fid):
            set_timer(s.conn, Timer.ENTRY, entry.id, due_at)
        for request in requests(s.conn, entry=entry.id):
            request.move(RequestEvent.RECALL)
            save_request(s.conn, request)
    save_entry(s.conn, entry)


def divide(ctx: Context, s: Stimulus, entry: Entry, near: NumberSets) -> None:
    """Move the numbers that the site has into their own local entry (spec: BF-2)."""
    entry.numbers -= near
    save_entry(s.conn, entry)
    due_at = min(entry.due_at, _local_due_at(ctx, s, entry))
    _make(ctx, s, replace(entry, id=NEW, numbers=near, local=True, due_at=due_at), parent=entry.id)


def _local_due_at(ctx: Context, s: Stimulus, entry: Entry) -> LabTime:
    """Return the end of the local time-out. While content is suspended no timer runs, and the resumption moves the due time
    (spec: RP-5)."""
    due_at = entry.base_at + ctx.config.local.after(entry.attempts)
    return due_at if suspension.is_suspended(ctx, entry.fid) else max(due_at, s.now)


# -- out of the array


def remove_arrived(ctx: Context, s: Stimulus, fid: int, queue_numbers: CNSet = CNSet.EMPTY) -> None:
    """Remove from a folder's entries and requests the numbers that this store's row claims or its queue holds."""
    own = ctx.rst.own(fid)
    if own is None:
        return
    have = own.numbers | NumberSets(queue_numbers)
    for entry in entries(s.conn, fid):
        numbers = entry.numbers - have
        if numbers == entry.numbers:
            continue
        entry.numbers = numbers
        for request in requests(s.conn, entry=entry.id):
            slots.shrink(ctx, s, request, have)
        if numbers:
            save_entry(s.conn, entry)  # a partly satisfied entry keeps its time
        else:
            _remove(ctx, s, entry, EntryEvent.ARRIVED, RequestEvent.SATISFIED)
            s.trace.record(EntrySatisfied, folder=ctx.folders.text_of(fid), entry=entry.id)


def prune(ctx: Context, s: Stimulus, fid: int, reason: str) -> None:
    """Remove from the array the numbers that no row claims any more, with an event (spec: RST-4)."""
    rows = entries(s.conn, fid)
    if not rows:
        return
    claims = ctx.rst.union(fid)
    for store in leavers(s.conn, fid):
        claims |= leaver_claims(s.conn, fid, store)
    for entry in rows:
        lost_numbers = entry.numbers - claims
        if not lost_numbers:
            continue
        entry.numbers -= lost_numbers
        s.trace.record(
            EntryPruned, folder=ctx.folders.text_of(fid), entry=entry.id, **lost_numbers.texts(), reason=reason
        )
        if entry.numbers:
            save_entry(s.conn, entry)
        else:
            _remove(ctx, s, entry, EntryEvent.UNCLAIMED, RequestEvent.PRUNED)


def drop_folder(ctx: Context, s: Stimulus, fid: int, reason: str) -> None:
    """End the entries and requests of a folder whose replica is removed (spec: HI-6)."""
    for entry in entries(s.conn, fid):
        s.trace.record(
            EntryPruned, folder=ctx.folders.text_of(fid), entry=entry.id, **entry.numbers.texts(), reason=reason
        )
        _remove(ctx, s, entry, EntryEvent.UNCLAIMED, RequestEvent.PRUNED)


def _remove(ctx: Context, s: Stimulus, entry: Entry, event: EntryEvent, how: RequestEvent) -> None:
    entry.move(event)
    for request in requests(s.conn, entry=entry.id):
        slots.end(ctx, s, request, how)
    remove_entry(s.conn, entry)
    clear_timer(s.conn, Timer.ENTRY, entry.id)
    slots.wake_next(ctx, s)  # a free slot that was meant for this entry can be used by another one now
