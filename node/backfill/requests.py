"""Backfill requests: a due entry asks the sources that its version chooses (spec: BF-3 to BF-6).

An entry that is due chooses sources (`node.backfill.sources`), and asks each for its share if a slot is free. Each answer is a
mail, which arrives as any other: `node.backfill.array` removes what it brings, and this module notes that the source is not
silent. If a source has nothing, or the items expired there, the entry asks the next source at once, in the same round.
"""

from __future__ import annotations

from collections.abc import Sequence

from node.backfill import array, slots, sources, suspension
from node.backfill.rows import (
    NEW,
    Entry,
    Request,
    add_request,
    entries,
    find_entry,
    requests,
    save_entry,
    save_request,
)
from node.backfill.source_selection import Choice, Gap
from node.backfill.sources import claimed_by, leaver_claims, leavers
from node.codec.replication_message import MessageType
from node.mail.send import section_of, send
from node.objects import expiry
from node.state import peers
from node.state.context import Context
from node.state.timers import Timer, set_timer
from node.tracking.number_sets import NumberSets
from traces.backfill_lives import EntryEvent, EntryState, RequestEvent, RequestState
from traces.events import EntryTimedOut, ExpiredEverywhere, RequestDeferred, RequestSent, SourceDown
from traces.labtime import LabTime
from transport.stimulus import Stimulus

# -- answers


def on_response(ctx: Context, s: Stimulus, fid: int, source: str, sent_at: LabTime, *, empty: bool) -> None:
    """Mark the requests to a source as answered by its response. An empty response ends them (spec: BF-5).

    The response has the source's row. If the source does not claim some of the requested numbers any more, they are requested
    from the next source at once (spec: BF-3). A response that was sent before a request does not answer it.
    """
    own = ctx.rst.own(fid)
    if own is not None and own.fresh and not empty:
        own.fresh = False
        ctx.rst.touch(own)
    claims = claimed_by(ctx, s.conn, fid, source)
    for request in requests(s.conn, fid=fid):
        if request.source != source or sent_at < request.sent_at:
            continue
        gap = request.numbers - claims
        if empty:
            slots.end(ctx, s, request, RequestEvent.EMPTY)
        elif gap:
            slots.shrink(ctx, s, request, gap, RequestEvent.EMPTY)
        else:
            request.move(RequestEvent.ANSWER)
            save_request(s.conn, request)
        if gap:
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
                slots.shrink(ctx, s, request, numbers, RequestEvent.EXPIRED)
        _ask_another(ctx, s, entry.id)


def account_for_expired(ctx: Context, s: Stimulus, fid: int) -> None:
    """Account for the missing numbers whose items have expired at every store that had them (spec: DL-3)."""
    gap = sources.missing_of(s.conn, fid)
    expired_numbers = expiry.expired_everywhere(ctx, s, fid, expiry.expired_anywhere(s.conn, fid, gap))
    for store in leavers(s.conn, fid):  # a leaving store keeps its data until it is answered (spec: RP-2)
        expired_numbers -= leaver_claims(s.conn, fid, store) - expiry.expired_at_store(s.conn, fid, store)
    if expired_numbers:
        ctx.rst.add(fid, expired_numbers)
        s.trace.record(ExpiredEverywhere, folder=ctx.folders.text_of(fid), **expired_numbers.texts())
        array.remove_arrived(ctx, s, fid)


# -- asking


def timed_out(ctx: Context, s: Stimulus, entry_id: int) -> None:
    """Handle the end of an entry's time-out: mark silent sources down and send requests (spec: BF-3, BF-4)."""
    entry = find_entry(s.conn, entry_id)
    if entry is None:
        return
    for request in requests(s.conn, entry=entry.id):
        if request.retry_at > s.now and request.state is not RequestState.RECALLED:
            continue  # a request of another round has its own time-out
        if request.state is RequestState.SILENT:
            mark_down(ctx, s, request.source, entry.fid)
        slots.end(ctx, s, request, RequestEvent.RETRY)
    account_for_expired(ctx, s, entry.fid)
    entry = find_entry(s.conn, entry_id)
    if entry is None:
        return
    near = NumberSets.EMPTY if entry.local else entry.numbers & array.in_the_site(ctx, s.conn, entry.fid)
    deferred = entry.state is EntryState.DEFERRED
    if near and near != entry.numbers and not deferred and not requests(s.conn, entry=entry.id):
        array.divide(ctx, s, entry, near)
    if not deferred:
        entry.move(EntryEvent.TIMED_OUT)
        s.trace.record(EntryTimedOut, folder=ctx.folders.text_of(entry.fid), entry=entry.id, attempt=entry.attempts + 1)
    _ask(ctx, s, entry)


def _ask_another(ctx: Context, s: Stimulus, entry_id: int) -> None:
    """Request what no request of an entry asks for now, in the same round. Without another source, its time-out runs on."""
    entry = find_entry(s.conn, entry_id)
    if entry is None or entry.state is not EntryState.REQUESTED or suspension.is_suspended(ctx, entry.fid):
        return
    running = requests(s.conn, entry=entry.id)
    gap = _gap(ctx, entry, running)
    if gap.numbers:
        choice = sources.choose(ctx, s, entry.fid, entry.id, gap)
        if choice.shares:
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
    entry.move(EntryEvent.CHOSEN)
    # An entry that asks before its time-out ends is due from now on (spec: BF-6).
    entry.due_at = min(entry.due_at, s.now)
    retry_at = s.now + ctx.config.timeouts(entry.local).after(attempts)
    if choice.one_by_one:  # [S3] the rest is requested from the next source 24 or 48 hours later
        near = any(source.near for source, _ in choice.shares)
        retry_at = s.now + ctx.config.timeouts(near).later_retry_us
    for source, numbers in choice.shares:
        if not slots.is_free(ctx, s.conn, entry):  # spec: BF-6
            entry.move(EntryEvent.NO_SLOT)
            save_entry(s.conn, entry)
            # Their slots become free when their own time-out ends.
            if open_requests := requests(s.conn, entry=entry.id):
                set_timer(s.conn, Timer.ENTRY, entry.id, min(request.retry_at for request in open_requests))
            s.trace.record(RequestDeferred, folder=ctx.folders.text_of(entry.fid), entry=entry.id)
            return
        entry.move(EntryEvent.ASKED)
        _request(ctx, s, Request(NEW, entry.id, entry.fid, source.store, numbers, s.now, retry_at))
    entry.attempts = attempts
    entry.base_at = s.now
    # A request of an earlier round has its own retry time. At that time its source is checked, and its slot becomes free.
    entry.due_at = min([retry_at, *(request.retry_at for request in running)])
    save_entry(s.conn, entry)
    set_timer(s.conn, Timer.ENTRY, entry.id, entry.due_at)
    slots.wake_next(ctx, s)


def _gap(ctx: Context, entry: Entry, running: Sequence[Request]) -> Gap:
    """Return what to request for an entry. A 5.5 server requests the same numbers from two sources at the same time."""
    stores = frozenset(request.source for request in running)
    if ctx.config.profile.asks_twice:
        return Gap(entry.numbers, stores)
    return Gap(entry.numbers - NumberSets.union_all(request.numbers for request in running), stores)


def _request(ctx: Context, s: Stimulus, request: Request) -> None:
    own = ctx.rst.own(request.fid)
    assert own is not None, "an entry's folder is held here"
    add_request(s.conn, request)
    peers.note_request(s.conn, request.source, s.now)  # spec: BF-9
    section = section_of(ctx, own, request.numbers)
    # spec: BF-8 sent at once, whatever the schedule
    send(ctx, s, MessageType.BACKFILL_REQUEST, [request.source], [section], priority=ctx.priority(request.fid))
    s.trace.record(
        RequestSent,
        folder=ctx.folders.text_of(request.fid),
        entry=request.entry,
        source=request.source,
        **request.numbers.texts(),
        retry_at=request.retry_at,
    )


def mark_down(ctx: Context, s: Stimulus, store: str, fid: int) -> None:
    """Mark a source as down, because it did not answer before the retry time-out (spec: BF-4)."""
    peers.mark_down(s.conn, store)
    s.trace.record(SourceDown, store=store, folder=ctx.folders.text_of(fid))
