"""The backfill array: what is known to be missing, when it is asked for, and of whom (spec: BF-1, BF-2, BF-6).

An entry is the set found missing at one moment in one folder. It waits its time-out; what arrives meanwhile leaves it.
Then requests go out, and the entry waits the retry time-out of the round; a source that has not answered by then is
marked down and the choice is made again. `base_at` is the instant that the running wait counts from.
"""

from __future__ import annotations

from collections.abc import Sequence

from node.agent import backfill_sources
from node.agent.backfill_sources import leaver_claims, leavers
from node.agent.source_selection import Gap
from node.codec.replication_message import MessageType
from node.mail import suspension
from node.mail.send import section_of, send
from node.objects import expiry
from node.state import backfill_array
from node.state.backfill_array import RECALLED, Entry, Request, entries, find_entry, requests, save
from node.state.context import Context
from node.state.state_table import LastSent
from node.state.store_identity import LOCAL_REP
from node.state.timers import Timer, clear_timer, set_timer
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from traces import LabTime
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
from transport.stimulus import Stimulus


def _is_local(ctx: Context, fid: int, numbers: NumberSets) -> bool:
    """Some store of this site has all of it, by its row (spec: BF-2)."""
    return any(ctx.directory.same_site(ctx.name, row.store) and numbers <= row.numbers for row in ctx.rst.rows(fid))


# -- into the array


def note_missing(ctx: Context, s: Stimulus, fid: int, held: CNSet, store: str) -> None:
    """What `store`'s row claims and this store lacks enters the array (spec: BF-1, ST-5)."""
    row = ctx.rst.row(fid, store)
    if row is not None:
        note_claimed(ctx, s, fid, row.numbers, held)


def note_claimed(ctx: Context, s: Stimulus, fid: int, claimed: NumberSets, held: CNSet = CNSet.EMPTY) -> None:
    """What another store claims to have and this store lacks enters the array; `held` are numbers that wait here."""
    own = ctx.rst.own(fid)
    if own is None or own.pending:  # spec: RP-2 a store that leaves asks for nothing more
        return
    numbers = claimed - own.numbers
    if not numbers:
        return
    # What waits in the queue is not missing (spec: BF-2), nor is a change made here that the own row does not claim yet
    # (spec: RST-1): another store can have got it in a response that came before its broadcast (spec: CN-7).
    numbers = numbers.without(held)
    unsent = own.unsent(ctx.store.guid, LastSent(ctx.store.change_counter, ctx.store.change_counter))
    _account_for_replaced(ctx, s, fid, numbers & unsent)
    numbers -= unsent
    for entry in entries(s.conn, fid):
        numbers -= entry.numbers
    if not numbers:
        return
    local = _is_local(ctx, fid, numbers)
    at_once = own.fresh and ctx.config.profile.new_asks_at_once
    due_at = s.now if at_once else s.now + ctx.config.timeouts(local).first_us
    entry_id: int = s.conn.exec_driver_sql(
        "INSERT INTO entry (fid, numbers, numbers_fai, made_at, base_at, due_at, attempts, local, waiting)"
        " VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0) RETURNING id",
        (fid, *numbers.encode(), s.now, s.now, due_at, int(local)),
    ).scalar_one()
    if not suspension.stands(ctx, fid):
        set_timer(s.conn, Timer.ENTRY, entry_id, due_at)
    s.trace.record(
        EntryMade,
        folder=ctx.folders.text_of(fid),
        entry=entry_id,
        **numbers.texts(),
        local=local,
        due_at=due_at,
    )


def _account_for_replaced(ctx: Context, s: Stimulus, fid: int, numbers: NumberSets) -> None:
    """Own changes that were replaced here before they were broadcast, and that others have all the same.

    A response took them there; no broadcast of this store's will ever name them, so they are accounted for now, or the
    sets would differ for ever (spec: CV-1, CN-7).
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


def came_near(ctx: Context, s: Stimulus, fid: int, store: str) -> None:
    """A store of this site has sent its row: entries it has all of become local, their due time the earlier (spec: BF-2)."""
    row = ctx.rst.row(fid, store)
    if row is None or not ctx.directory.same_site(ctx.name, store):
        return
    for entry in entries(s.conn, fid):
        if entry.local or not entry.numbers <= row.numbers:
            continue
        entry.local = True
        due_at = entry.base_at + ctx.config.local.after(entry.attempts)
        if due_at < entry.due_at and not entry.waiting:
            if suspension.stands(ctx, fid):
                entry.due_at = due_at  # the clock stands; the time that it does is added when it goes on (spec: RP-5)
            else:
                entry.due_at = max(due_at, s.now)
                set_timer(s.conn, Timer.ENTRY, entry.id, entry.due_at)
            s.conn.exec_driver_sql("UPDATE request SET answered = ? WHERE entry = ?", (RECALLED, entry.id))
        save(s.conn, entry)


# -- out of the array


def came_in(ctx: Context, s: Stimulus, fid: int, held: CNSet = CNSet.EMPTY) -> None:
    """Numbers were accounted for: they leave entries and requests of the folder, and so do those that wait here."""
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
    """What no row claims any more leaves the array, with an event (spec: RST-4)."""
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
    """The folder is gone from here: its entries and requests end (spec: HI-6)."""
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
    backfill_array.wake_next(ctx, s)  # it may have been woken for a slot that it needs no more


def end(ctx: Context, s: Stimulus, request: Request, how: str) -> None:
    """A request ends and gives its slot to the entry longest due (spec: BF-6)."""
    s.conn.exec_driver_sql("DELETE FROM request WHERE id = ?", (request.id,))
    s.trace.record(
        RequestEnded,
        folder=ctx.folders.text_of(request.fid),
        entry=request.entry,
        source=request.source,
        how=how,
    )
    backfill_array.wake_next(ctx, s)


def response_came(ctx: Context, s: Stimulus, fid: int, source: str, sent_at: LabTime, *, empty: bool) -> None:
    """A backfill response from a source: its requests in the folder are answered; an empty one ends them (spec: BF-5).

    One sent before a request was made is no answer to it.
    """
    own = ctx.rst.own(fid)
    if own is not None and own.fresh and not empty:
        own.fresh = False
        ctx.rst.touch(own)
    for request in requests(s.conn, fid=fid):
        if request.source != source or sent_at < request.sent_at:
            continue
        if empty:
            end(ctx, s, request, "empty")
        elif not request.answered:
            s.conn.exec_driver_sql("UPDATE request SET answered = 1 WHERE id = ?", (request.id,))


def expired_there(ctx: Context, s: Stimulus, fid: int, source: str, numbers: NumberSets) -> None:
    """A source names numbers whose items have expired there: the next holder is asked at once, and what every holder has
    said so of is accounted for (spec: DL-3)."""
    own = ctx.rst.own(fid)
    if own is None or not numbers:
        return
    numbers -= own.numbers
    expiry.note_said(s, fid, source, numbers)
    account_for_expired(ctx, s, fid)
    for entry in entries(s.conn, fid):
        if not entry.numbers & numbers:
            continue
        for request in requests(s.conn, entry=entry.id):
            if request.source == source:
                _shrink(ctx, s, request, numbers, "expired")
        if not suspension.stands(ctx, fid):
            _ask(ctx, s, entry)


def account_for_expired(ctx: Context, s: Stimulus, fid: int) -> None:
    """What nobody has any more is waited for no longer."""
    missing = backfill_sources.missing_of(s.conn, fid)
    gone = expiry.said_by_all(ctx, s, fid, expiry.ever_said(s.conn, fid, missing))
    for store in leavers(s.conn, fid):  # a store that leaves keeps what it has until it is answered (spec: RP-2)
        gone -= leaver_claims(s.conn, fid, store) - expiry.said_by(s.conn, fid, store)
    if gone:
        ctx.rst.add(fid, gone)
        s.trace.record(ExpiredEverywhere, folder=ctx.folders.text_of(fid), **gone.texts())
        came_in(ctx, s, fid)


# -- asking


def timed_out(ctx: Context, s: Stimulus, entry_id: int) -> None:
    """An entry's time-out ended: sources that did not answer are marked down, and requests go out (spec: BF-3, BF-4)."""
    entry = find_entry(s.conn, entry_id)
    if entry is None:
        return
    for request in requests(s.conn, entry=entry.id):
        if request.retry_at > s.now and not request.recalled:
            continue  # what was asked in another round goes on
        if not request.answered:
            mark_down(ctx, s, request.source, entry.fid)
        end(ctx, s, request, "retry")
    account_for_expired(ctx, s, entry.fid)
    entry = find_entry(s.conn, entry_id)
    if entry is None:
        return
    if not entry.waiting:
        s.trace.record(EntryTimedOut, folder=ctx.folders.text_of(entry.fid), entry=entry.id, attempt=entry.attempts + 1)
    _ask(ctx, s, entry)


def _ask(ctx: Context, s: Stimulus, entry: Entry) -> None:
    retry_at = s.now + ctx.config.timeouts(entry.local).after(entry.attempts + 1)
    running = requests(s.conn, entry=entry.id)
    choice = backfill_sources.choose(ctx, s, entry.fid, entry.id, _gap(ctx, entry, running))
    if choice.one_by_one:  # [S3] the next is asked for what is left 24 or 48 hours later
        near = any(source.near for source, _ in choice.asked)
        retry_at = s.now + ctx.config.timeouts(near).later_retry_us
    for source, numbers in choice.asked:
        if not backfill_array.is_free(ctx, s.conn, entry):  # spec: BF-6
            entry.waiting = True
            save(s.conn, entry)
            if asked := requests(s.conn, entry=entry.id):  # their slots come back when their own time-out ends
                set_timer(s.conn, Timer.ENTRY, entry.id, min(request.retry_at for request in asked))
            s.trace.record(RequestDeferred, folder=ctx.folders.text_of(entry.fid), entry=entry.id)
            return
        _request(ctx, s, entry, source.store, numbers, retry_at)
    entry.waiting = False
    entry.attempts += 1
    entry.base_at = s.now
    # A request of an earlier round has its own retry time; its source is looked at, and its slot given back, then.
    entry.due_at = min([retry_at, *(request.retry_at for request in running)])
    save(s.conn, entry)
    set_timer(s.conn, Timer.ENTRY, entry.id, entry.due_at)
    backfill_array.wake_next(ctx, s)


def _gap(ctx: Context, entry: Entry, running: Sequence[Request]) -> Gap:
    """What of an entry is to be asked for. Where two are asked for the same, a request that goes on takes nothing off."""
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
    backfill_sources.touch(s.conn, source, s.now)  # spec: BF-9
    section = section_of(ctx, own, numbers)
    # spec: BF-8 at once, whatever the schedule
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
    """The source did not answer before the retry time-out (spec: BF-4)."""
    s.conn.exec_driver_sql(
        "INSERT INTO peer (store, down, heard_sent_at, backfilled_at) VALUES (?, 1, 0, 0)"
        " ON CONFLICT (store) DO UPDATE SET down = 1",
        (store,),
    )
    s.trace.record(SourceDown, store=store, folder=ctx.folders.text_of(fid))
