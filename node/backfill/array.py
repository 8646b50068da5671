"""The backfill array: which numbers are missing, when the store requests them, and from which sources (spec: BF-1, BF-2, BF-6).

An entry holds the numbers that were found missing in one folder at one moment. It is one row of `entry`. Each outstanding
request of the entry is one row of `request`.

An entry is in one of these states. In the second table, `ask` is a step: it chooses sources and sends requests.

    WAITING    attempts = 0       the first time-out runs; nothing was requested yet
    REQUESTED  attempts > 0       the retry time-out of this round runs
    DEFERRED   waiting = 1        the entry is due, but the limit of outstanding requests was reached
    SATISFIED  row deleted        all numbers arrived
    PRUNED     row deleted        no row claims the remaining numbers, or the replica was removed

    state      what happens                                   next state
    (none)     numbers are found missing                      WAITING (a new replica of 5.5 is due at once); one entry for
                                                              those that the site has, another one for the rest
    WAITING    the first time-out ends                        ask
    REQUESTED  the retry time-out ends                        silent sources are marked down, then ask
    DEFERRED   an earlier request ends                        ask
    REQUESTED  a source says that the items expired there,    ask another source at once; the round goes on, and
               or answers and does not claim them any more    without another source nothing changes (spec: DL-3, BF-5)
    ask        each chosen source is sent a request           REQUESTED
    ask        the limit was reached                          DEFERRED
    any        some of the numbers arrive                     the same, with the same due time
    any        the stores of the site that are on the         the same, due at the local time-out if that is earlier
               replica list or leaving it have all numbers
    WAITING    they have some of the numbers                  these get a local entry of their own
    REQUESTED  the retry time-out ends, and they have some    these get a local entry of their own, which is due now
    any        the last numbers arrive                        SATISFIED
    any        the last numbers are no longer claimed         PRUNED (spec: RST-4)
    any        content replication is suspended               the same, without a timer until it is resumed (spec: RP-5)

The column `answered` has the state of a request: 0 SILENT; 1 ANSWERED (the source sent something); 2 RECALLED (the entry
became due before the retry time-out). A request ends when its numbers arrived ("satisfied"), when its source answers and has
none of them ("empty") or their items expired there ("expired"), when its retry time-out ended ("retry"), or when its entry was
pruned ("pruned").

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

from collections.abc import Sequence
from dataclasses import replace

from node.backfill import rows, sources, suspension
from node.backfill.rows import NEW, RECALLED, Entry, Request, add, entries, find_entry, requests, save
from node.backfill.source_selection import Choice, Gap
from node.backfill.sources import claimed_by, leaver_claims, leavers, sources_of
from node.codec.replication_message import MessageType
from node.mail.send import section_of, send
from node.objects import expiry
from node.state.context import Context
from node.state.state_table import LastSent
from node.state.store_identity import LOCAL_REP
from node.state.timers import Timer, clear_timer, set_timer
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from traces.events import (
    EntryMade,
    EntryPruned,
    EntrySatisfied,
    EntryTimedOut,
    ExpiredEverywhere,
    RequestDeferred,
    RequestEnded,
    RequestSent,
    SourceDown,
)
from traces.labtime import LabTime
from transport.sql import Connection
from transport.stimulus import Stimulus


def _in_the_site(ctx: Context, conn: Connection, fid: int) -> NumberSets:
    """Return the numbers that some store of this site claims (spec: BF-2)."""
    return NumberSets.union_all(
        claimed_by(ctx, conn, fid, store)
        for store in sources_of(ctx, conn, fid)
        if ctx.directory.same_site(ctx.name, store)
    )


# -- into the array


def note_missing(ctx: Context, s: Stimulus, fid: int, held: CNSet, store: str) -> None:
    """Add to the array the numbers that the row of `store` claims and this store lacks (spec: BF-1, ST-5)."""
    row = ctx.rst.row(fid, store)
    if row is not None:
        note_claimed(ctx, s, fid, row.numbers, held)


def note_claimed(ctx: Context, s: Stimulus, fid: int, claimed: NumberSets, held: CNSet = CNSet.EMPTY) -> None:
    """Add to the array the claimed numbers that this store lacks.

    `held`: numbers in the replication message queue here.
    """
    own = ctx.rst.own(fid)
    if own is None or own.pending:  # spec: RP-2 a leaving store requests nothing more
        return
    numbers = claimed - own.numbers
    if not numbers:
        return
    # Numbers in the queue are not missing (spec: BF-2). Changes made here that this store's row does not claim yet are
    # not missing either (spec: RST-1). Another store can get such a change by a response, before its broadcast (spec:
    # CN-7).
    numbers = numbers.without(held)
    unsent = own.unsent(ctx.store.guid, LastSent(ctx.store.change_counter, ctx.store.change_counter))
    _account_for_replaced(ctx, s, fid, numbers & unsent)
    numbers -= unsent
    for entry in entries(s.conn, fid):
        numbers -= entry.numbers
    if not numbers:
        return
    near = numbers & _in_the_site(ctx, s.conn, fid)
    at_once = own.fresh and ctx.config.profile.new_asks_at_once
    for part, local in ((near, True), (numbers - near, False)):
        if part:
            due_at = s.now if at_once else s.now + ctx.config.timeouts(local).first_us
            _make(ctx, s, Entry(NEW, fid, part, s.now, s.now, due_at, attempts=0, local=local, waiting=False))


def _make(ctx: Context, s: Stimulus, entry: Entry, parent: int = 0) -> None:
    """Add an entry to the array.

    `parent`: the entry that had its numbers before, or 0.
    """
    entry.id = add(s.conn, entry)
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
    found = CNSet.from_numbers(
        ctx.store.number(LOCAL_REP, ctr)
        for lo, hi in numbers.merged().ranges(ctx.store.guid)
        for (ctr,) in s.conn.exec_driver_sql(
            "SELECT ctr FROM superseded WHERE rep = ? AND ctr BETWEEN ? AND ? AND fid = ? ORDER BY ctr",
            (LOCAL_REP, lo, hi, fid),
        )
    )
    ctx.rst.add(fid, numbers & NumberSets(found, found))


def make_local(ctx: Context, s: Stimulus, fid: int, store: str) -> None:
    """Give the numbers that `store`, a store of this site, claims the local time-out. The earlier due time applies (spec:
    BF-2).

    An entry of which the site has a part is divided. If it was requested already, it stays whole until the retry time-out.
    """
    if not ctx.directory.same_site(ctx.name, store):
        return
    remote = [entry for entry in entries(s.conn, fid) if not entry.local]
    in_the_site = _in_the_site(ctx, s.conn, fid) if remote else NumberSets.EMPTY
    for entry in remote:
        near = entry.numbers & in_the_site
        if near == entry.numbers:
            _make_wholly_local(ctx, s, entry)
        elif near and not entry.attempts and not entry.waiting:
            _divide(ctx, s, entry, near)


def _make_wholly_local(ctx: Context, s: Stimulus, entry: Entry) -> None:
    entry.local = True
    due_at = _local_due_at(ctx, s, entry)
    if due_at < entry.due_at and not entry.waiting:
        entry.due_at = due_at
        if not suspension.is_suspended(ctx, entry.fid):
            set_timer(s.conn, Timer.ENTRY, entry.id, due_at)
        s.conn.exec_driver_sql("UPDATE request SET answered = ? WHERE entry = ?", (RECALLED, entry.id))
    save(s.conn, entry)


def _divide(ctx: Context, s: Stimulus, entry: Entry, near: NumberSets) -> None:
    """Move the numbers that the site has into a local entry of their own (spec: BF-2)."""
    entry.numbers -= near
    save(s.conn, entry)
    due_at = min(entry.due_at, _local_due_at(ctx, s, entry))
    _make(ctx, s, replace(entry, id=NEW, numbers=near, local=True, due_at=due_at), parent=entry.id)


def _local_due_at(ctx: Context, s: Stimulus, entry: Entry) -> LabTime:
    """Return the end of the local time-out. While content is suspended no timer runs, and the resumption moves the due time
    (spec: RP-5)."""
    due_at = entry.base_at + ctx.config.local.after(entry.attempts)
    return due_at if suspension.is_suspended(ctx, entry.fid) else max(due_at, s.now)


# -- out of the array


def remove_arrived(ctx: Context, s: Stimulus, fid: int, held: CNSet = CNSet.EMPTY) -> None:
    """Remove from a folder's entries and requests the numbers that this store's row claims or its queue holds."""
    own = ctx.rst.own(fid)
    if own is None:
        return
    have = own.numbers | NumberSets(held)
    for entry in entries(s.conn, fid):
        numbers = entry.numbers - have
        if numbers == entry.numbers:
            continue
        entry.numbers = numbers
        for request in requests(s.conn, entry=entry.id):
            _shrink(ctx, s, request, have)
        if numbers:
            save(s.conn, entry)  # a partly satisfied entry keeps its time
        else:
            _remove(ctx, s, entry, "satisfied")
            s.trace.record(EntrySatisfied, folder=ctx.folders.text_of(fid), entry=entry.id)


def _shrink(ctx: Context, s: Stimulus, request: Request, have: NumberSets, how: str = "satisfied") -> None:
    numbers = request.numbers - have
    if not numbers:
        end(ctx, s, request, how)
    elif numbers != request.numbers:
        s.conn.exec_driver_sql(
            "UPDATE request SET numbers = ?, numbers_fai = ?, answered = 1 WHERE id = ?",
            (*numbers.encode(), request.id),
        )


def prune(ctx: Context, s: Stimulus, fid: int, reason: str) -> None:
    """Remove from the array the numbers that no row claims any more, with an event (spec: RST-4)."""
    found = entries(s.conn, fid)
    if not found:
        return
    claimed = ctx.rst.union(fid)
    for store in leavers(s.conn, fid):
        claimed |= leaver_claims(s.conn, fid, store)
    for entry in found:
        lost = entry.numbers - claimed
        if not lost:
            continue
        entry.numbers -= lost
        s.trace.record(EntryPruned, folder=ctx.folders.text_of(fid), entry=entry.id, **lost.texts(), reason=reason)
        if entry.numbers:
            save(s.conn, entry)
        else:
            _remove(ctx, s, entry, "pruned")


def drop_folder(ctx: Context, s: Stimulus, fid: int, reason: str) -> None:
    """End the entries and requests of a folder whose replica is removed (spec: HI-6)."""
    for entry in entries(s.conn, fid):
        s.trace.record(
            EntryPruned, folder=ctx.folders.text_of(fid), entry=entry.id, **entry.numbers.texts(), reason=reason
        )
        _remove(ctx, s, entry, "pruned")


def _remove(ctx: Context, s: Stimulus, entry: Entry, how: str) -> None:
    for request in requests(s.conn, entry=entry.id):
        end(ctx, s, request, how)
    s.conn.exec_driver_sql("DELETE FROM entry WHERE id = ?", (entry.id,))
    clear_timer(s.conn, Timer.ENTRY, entry.id)
    rows.wake_next(ctx, s)  # a free slot that was meant for this entry can be used by another one now


def end(ctx: Context, s: Stimulus, request: Request, how: str) -> None:
    """End a request. Its slot goes to the waiting entry with the earliest due time (spec: BF-6)."""
    s.conn.exec_driver_sql("DELETE FROM request WHERE id = ?", (request.id,))
    s.trace.record(
        RequestEnded,
        folder=ctx.folders.text_of(request.fid),
        entry=request.entry,
        source=request.source,
        how=how,
    )
    rows.wake_next(ctx, s)


def on_response(ctx: Context, s: Stimulus, fid: int, source: str, sent_at: LabTime, *, empty: bool) -> None:
    """Mark the requests to a source as answered by its response. An empty response ends them (spec: BF-5).

    The response has the source's row. If the source does not claim some of the requested numbers any more, they are requested
    from the next source at once (spec: BF-3). A response that was sent before a request does not answer it.
    """
    own = ctx.rst.own(fid)
    if own is not None and own.fresh and not empty:
        own.fresh = False
        ctx.rst.touch(own)
    claimed = claimed_by(ctx, s.conn, fid, source)
    for request in requests(s.conn, fid=fid):
        if request.source != source or sent_at < request.sent_at:
            continue
        lacking = request.numbers - claimed
        if empty:
            end(ctx, s, request, "empty")
        elif lacking:
            _shrink(ctx, s, request, lacking, "empty")
        elif not request.answered:
            s.conn.exec_driver_sql("UPDATE request SET answered = 1 WHERE id = ?", (request.id,))
        if lacking:
            _ask_another(ctx, s, request.entry)


def on_expired(ctx: Context, s: Stimulus, fid: int, source: str, numbers: NumberSets) -> None:
    """Note the numbers whose items have expired at a source, and ask the next source at once.

    Numbers whose items have expired at every holder are accounted for (spec: DL-3).
    """
    own = ctx.rst.own(fid)
    if own is None or not numbers:
        return
    numbers -= own.numbers
    expiry.note_expired_at(s, fid, source, numbers)
    account_for_expired(ctx, s, fid)
    for entry in entries(s.conn, fid):
        if not entry.numbers & numbers:
            continue
        for request in requests(s.conn, entry=entry.id):
            if request.source == source:
                _shrink(ctx, s, request, numbers, "expired")
        _ask_another(ctx, s, entry.id)


def account_for_expired(ctx: Context, s: Stimulus, fid: int) -> None:
    """Account for the missing numbers whose items have expired at every store that had them (spec: DL-3)."""
    missing = sources.missing_of(s.conn, fid)
    expired = expiry.expired_everywhere(ctx, s, fid, expiry.expired_anywhere(s.conn, fid, missing))
    for store in leavers(s.conn, fid):  # a leaving store keeps its data until it is answered (spec: RP-2)
        expired -= leaver_claims(s.conn, fid, store) - expiry.expired_at_store(s.conn, fid, store)
    if expired:
        ctx.rst.add(fid, expired)
        s.trace.record(ExpiredEverywhere, folder=ctx.folders.text_of(fid), **expired.texts())
        remove_arrived(ctx, s, fid)


# -- asking


def timed_out(ctx: Context, s: Stimulus, entry_id: int) -> None:
    """Handle the end of an entry's time-out: mark silent sources down and send requests (spec: BF-3, BF-4)."""
    entry = find_entry(s.conn, entry_id)
    if entry is None:
        return
    for request in requests(s.conn, entry=entry.id):
        if request.retry_at > s.now and not request.recalled:
            continue  # a request of another round has its own time-out
        if not request.answered:
            mark_down(ctx, s, request.source, entry.fid)
        end(ctx, s, request, "retry")
    account_for_expired(ctx, s, entry.fid)
    entry = find_entry(s.conn, entry_id)
    if entry is None:
        return
    near = NumberSets.EMPTY if entry.local else entry.numbers & _in_the_site(ctx, s.conn, entry.fid)
    if near and near != entry.numbers and not entry.waiting and not requests(s.conn, entry=entry.id):
        _divide(ctx, s, entry, near)
    if not entry.waiting:
        s.trace.record(EntryTimedOut, folder=ctx.folders.text_of(entry.fid), entry=entry.id, attempt=entry.attempts + 1)
    _ask(ctx, s, entry)


def _ask_another(ctx: Context, s: Stimulus, entry_id: int) -> None:
    """Request what no request of an entry asks for now, in the same round. Without another source, its time-out runs on."""
    entry = find_entry(s.conn, entry_id)
    if entry is None or entry.waiting or not entry.attempts or suspension.is_suspended(ctx, entry.fid):
        return
    running = requests(s.conn, entry=entry.id)
    gap = _gap(ctx, entry, running)
    if gap.numbers:
        choice = sources.choose(ctx, s, entry.fid, entry.id, gap)
        if choice.asked:
            _send_requests(ctx, s, entry, choice, running, attempts=entry.attempts)


def _ask(ctx: Context, s: Stimulus, entry: Entry) -> None:
    """Begin the next round of requests of an entry that is due."""
    running = requests(s.conn, entry=entry.id)
    choice = sources.choose(ctx, s, entry.fid, entry.id, _gap(ctx, entry, running))
    _send_requests(ctx, s, entry, choice, running, attempts=entry.attempts + 1)


def _send_requests(
    ctx: Context, s: Stimulus, entry: Entry, choice: Choice, running: Sequence[Request], *, attempts: int
) -> None:
    """Ask the chosen sources, or let the entry wait for a slot.

    `attempts`: the number of rounds with this one.
    """
    entry.due_at = min(
        entry.due_at, s.now
    )  # an entry that asks before its time-out ends is due from now on (spec: BF-6)
    retry_at = s.now + ctx.config.timeouts(entry.local).after(attempts)
    if choice.one_by_one:  # [S3] the rest is requested from the next source 24 or 48 hours later
        near = any(source.near for source, _ in choice.asked)
        retry_at = s.now + ctx.config.timeouts(near).later_retry_us
    for source, numbers in choice.asked:
        if not rows.is_free(ctx, s.conn, entry):  # spec: BF-6
            entry.waiting = True
            save(s.conn, entry)
            if asked := requests(s.conn, entry=entry.id):  # their slots become free when their own time-out ends
                set_timer(s.conn, Timer.ENTRY, entry.id, min(request.retry_at for request in asked))
            s.trace.record(RequestDeferred, folder=ctx.folders.text_of(entry.fid), entry=entry.id)
            return
        _request(ctx, s, entry, source.store, numbers, retry_at)
    entry.waiting = False
    entry.attempts = attempts
    entry.base_at = s.now
    # A request of an earlier round has its own retry time. At that time its source is checked, and its slot becomes free.
    entry.due_at = min([retry_at, *(request.retry_at for request in running)])
    save(s.conn, entry)
    set_timer(s.conn, Timer.ENTRY, entry.id, entry.due_at)
    rows.wake_next(ctx, s)


def _gap(ctx: Context, entry: Entry, running: Sequence[Request]) -> Gap:
    """Return what to request for an entry. A 5.5 server requests the same numbers from two sources at the same time."""
    stores = frozenset(request.source for request in running)
    if ctx.config.profile.asks_twice:
        return Gap(entry.numbers, stores)
    return Gap(entry.numbers - NumberSets.union_all(request.numbers for request in running), stores)


def _request(ctx: Context, s: Stimulus, entry: Entry, source: str, numbers: NumberSets, retry_at: LabTime) -> None:
    own = ctx.rst.own(entry.fid)
    assert own is not None, "an entry's folder is held here"
    s.conn.exec_driver_sql(
        "INSERT INTO request (entry, fid, source, numbers, numbers_fai, sent_at, retry_at, answered)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
        (entry.id, entry.fid, source, *numbers.encode(), s.now, retry_at),
    )
    sources.note_request(s.conn, source, s.now)  # spec: BF-9
    section = section_of(ctx, own, numbers)
    # spec: BF-8 sent at once, whatever the schedule
    send(ctx, s, MessageType.BACKFILL_REQUEST, [source], [section], priority=ctx.priority(entry.fid))
    s.trace.record(
        RequestSent,
        folder=ctx.folders.text_of(entry.fid),
        entry=entry.id,
        source=source,
        **numbers.texts(),
        retry_at=retry_at,
    )


def mark_down(ctx: Context, s: Stimulus, store: str, fid: int) -> None:
    """Mark a source as down, because it did not answer before the retry time-out (spec: BF-4)."""
    s.conn.exec_driver_sql(
        "INSERT INTO peer (store, down, heard_sent_at, backfilled_at) VALUES (?, 1, 0, 0)"
        " ON CONFLICT (store) DO UPDATE SET down = 1",
        (store,),
    )
    s.trace.record(SourceDown, store=store, folder=ctx.folders.text_of(fid))
