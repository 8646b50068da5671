"""The replication agent: a stimulus changes the tables and puts mail into the queue. It does no other I/O.

This module has the entry points and maps each kind of timer to its handler.

If the registry value `Replication` was 0 when the store started, the agent is disabled (spec: SE-1). Users can still change
messages; their changes wait for a broadcast. Age limits are applied. The store sends nothing, no replication timer fires, and
replication mail that arrives is kept. The next start with the agent enabled processes the kept mail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from node.agent import incoming, store_restore
from node.backfill import array, requests, responses, suspension
from node.broadcasts import cycles
from node.errors import NodeError
from node.objects import conflict_age, expiry, retention, tombstones
from node.replicas import removal, tree_changes
from node.state import application_log, held_messages
from node.state.context import Context
from node.state.directory import StoreObject
from node.state.timers import Timer, is_set, next_due, overdue, set_timer, set_timer_if_none, take_due
from node.status import statuses
from node.stored_values import HIERARCHY_FID
from node.user_mail import deliveries, limit_warnings
from node.user_mail.conflict_notices import notify_for_silent_stores
from traces.events import StatusMissed
from transport.envelope import LocalDelivery
from transport.mime.headers import scan_header
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

KEEP_MAIL = Statement("INSERT INTO waiting (sender, content) VALUES (?, ?)")
FIRST_KEPT_MAIL = Statement("SELECT id, sender, content FROM waiting ORDER BY id LIMIT 1")
REMOVE_KEPT_MAIL = Statement("DELETE FROM waiting WHERE id = ?")

TIMERS_WITHOUT_AGENT: Final = (Timer.EXPIRY, Timer.RETENTION, Timer.LIMITS, Timer.STAMP)
"""The timers that fire without an agent: age limits, retention (spec: DL-3, DL-5), warnings of full folders
(spec: AD-2) and the directory are not replication."""

SENDING_TIMERS: Final = (Timer.CYCLE, Timer.STATUS_CHECK, Timer.STATUS_REQUEST, Timer.ENTRY, Timer.RESPONSE)
"""The timers whose handlers send mail. They wait while the store itself has no address (spec: ML-1)."""

ALL_TIMERS: Final = tuple(Timer)
SILENT_TIMERS: Final = tuple(timer for timer in Timer if timer not in SENDING_TIMERS)

MAX_STEPS_A_TICK = 100_000
"""The largest number of timers that one tick runs. If more are due, a handler sets its timer to the same instant again and
again. Then `tick` raises an error instead of running for ever.
"""


def tick(ctx: Context, s: Stimulus) -> bool:
    """Run the handlers of the timers that are due now. Return True if some are left for the next stimulus."""
    stamp_due(ctx, s)
    kinds = timers_of(ctx)
    for _ in range(MAX_STEPS_A_TICK):
        due = take_due(s.conn, s.now, kinds)
        if due is None:
            return False
        kind, key = due
        _TIMERS[kind](ctx, s, key)
        if s.enough:
            return True
    raise NodeError(
        f"{ctx.name}: more than {MAX_STEPS_A_TICK} timers were due at one instant; the last was {kind} {key}"
    )


def timers_of(ctx: Context) -> tuple[Timer, ...]:
    """Return the kinds of timer that fire in this store: none in a store that is only shown (spec: RP-8)."""
    if ctx.store.copy_of is not None:
        return ()
    if not ctx.replicates:
        return TIMERS_WITHOUT_AGENT
    return ALL_TIMERS if ctx.directory.address(ctx.name) is not None else SILENT_TIMERS


def run_due_cycles(ctx: Context, s: Stimulus) -> None:
    """At the end of a stimulus, run the cycles that its changes made due at once: they commit together (spec: OUT-1).

    If the agent cannot send now, they get timers, which wait.
    """
    if ctx.due_cycles:
        stamp_due(ctx, s)
    while ctx.due_cycles:
        fid = min(ctx.due_cycles)
        ctx.due_cycles.remove(fid)
        if Timer.CYCLE in timers_of(ctx):
            _cycle(ctx, s, fid)
        else:
            set_timer_if_none(s.conn, Timer.CYCLE, fid, s.now)


def deliver(ctx: Context, s: Stimulus, local: Sequence[LocalDelivery]) -> None:
    """Deliver mails whose recipients are on this server. Folders and people get a mail before the store does.

    a folder, a person  `node.user_mail.deliveries`: a post in the folder, or a mail in the mailbox for people
    this store          `node.agent.incoming`, as replication mail. Without an agent it waits; ordinary mail is still bad mail
    """
    stamp_due(ctx, s)  # before the answers to these mails
    for mail in local:
        for_store = any(map(ctx.book.is_this_store, mail.recipients))
        if not for_store or len(mail.recipients) > 1:
            deliveries.deliver(ctx, s, mail)
        if not for_store:
            continue
        if mail.system and not ctx.replicates:
            if ctx.store.copy_of is None:  # spec: IN-2 durably, so its sender may delete it; RP-8: never read
                s.conn.exec_driver_sql(KEEP_MAIL, (mail.sender, mail.content))
        else:
            incoming.receive(ctx, s, mail.sender, mail.content, mail.message_id, system=mail.system)


def entered(ctx: Context, s: Stimulus, store: str, object_: StoreObject, missing: str) -> None:
    """Enter a store into the directory, or replace its object (spec: RP-3, ML-1). Mail goes to it when it has an address."""
    with _addresses_change(ctx, s):
        ctx.directory.update(s, store, object_, missing)


def stamp_due(ctx: Context, s: Stimulus) -> None:
    """Let the stamps of the directory that are due take effect (spec: ML-1)."""
    if ctx.directory.due_at <= s.now:
        with _addresses_change(ctx, s):
            ctx.directory.stamp_due(s)


@contextmanager
def _addresses_change(ctx: Context, s: Stimulus) -> Iterator[None]:
    """Request the statuses that waited for an address of any store (spec: ML-1). If this store gets one, move the cycles that
    waited for it to the next one of their schedules (spec: OUT-1), and record that it missed a status check while it had none,
    if it did (spec: ST-1)."""
    before = ctx.directory.address(ctx.name)
    yield
    statuses.want_what_waits(ctx, s)
    if before is not None or ctx.directory.address(ctx.name) is None:
        return
    for fid in overdue(s.conn, Timer.CYCLE, s.now):
        own = ctx.rst.own(fid)
        if own is not None and not own.pending:
            cycles.reschedule(ctx, s, fid)
    if ctx.replicates and missed_check(s):
        s.trace.record(StatusMissed)


def missed_check(s: Stimulus) -> bool:
    """Return whether a status check came due before now (spec: ST-1)."""
    due_at = next_due(s.conn, (Timer.STATUS_CHECK,))
    return due_at is not None and due_at < s.now


def started(ctx: Context, s: Stimulus, *, first: bool, joins_later: bool, restored: bool, missed_check: bool) -> None:
    """Start the agent. A new or restored store requests statuses (spec: RP-3, RP-4, ST-3); any store resumes its checks.

    first         the first start of this database
    joins_later   the store joins a running organization
    missed_check  a status check was due while the store was stopped
    """
    if ctx.store.copy_of is not None:
        application_log.write(ctx.config, s.conn, s.now, 1117, {})  # spec: RP-8
        return
    _plan_maintenance(ctx, s, restored=restored)
    if not ctx.replicates:
        application_log.write(ctx.config, s.conn, s.now, 3002, {})  # spec: EV-1
    _start_agent(ctx, s, first=first, joins_later=joins_later, restored=restored, missed_check=missed_check)


def _plan_maintenance(ctx: Context, s: Stimulus, *, restored: bool) -> None:
    expiry.plan(ctx, s)
    limit_warnings.plan(ctx, s)
    if restored:
        conflict_age.restart_ages(s)
    conflict_age.plan(ctx, s)
    retention.plan(ctx, s)
    if suspension.apply_setting(ctx, s):
        for fid in ctx.rst.held_fids():
            if not is_set(s.conn, Timer.CYCLE, fid):  # the cycle was due while content was suspended
                cycles.reschedule(ctx, s, fid)


def _start_agent(
    ctx: Context, s: Stimulus, *, first: bool, joins_later: bool, restored: bool, missed_check: bool
) -> None:
    if first and joins_later:
        statuses.want_status(ctx, s, HIERARCHY_FID, at_once=True)
    if first:
        set_timer(s.conn, Timer.STATUS_CHECK, 0, statuses.next_check(ctx, s.now))
        return
    if missed_check and ctx.replicates:
        s.trace.record(StatusMissed)
    if restored:
        store_restore.request_statuses(ctx, s)
    if not ctx.replicates:
        return
    for sender, content in _take_mails(s.conn):
        incoming.receive(ctx, s, sender, content, scan_header(content).message_id, system=True)
    tree_changes.announce_removals(ctx, s)
    if not restored:
        statuses.at_start(ctx, s)


def _take_mails(conn: Connection) -> Iterator[tuple[str, bytes]]:
    """Yield and delete the kept mails in order of arrival, as (sender, content)."""
    while (row := conn.exec_driver_sql(FIRST_KEPT_MAIL).first()) is not None:
        conn.exec_driver_sql(REMOVE_KEPT_MAIL, (row[0],))
        yield row[1], row[2]


def _cycle(ctx: Context, s: Stimulus, fid: int) -> None:
    own = ctx.rst.own(fid)
    if own is not None and own.pending:
        tree_changes.go_on_with_removal(ctx, s, own)
    elif not suspension.is_suspended(ctx, fid):  # otherwise the timer is set again when content is resumed
        cycles.broadcast(ctx, s, fid)


def _status_check(ctx: Context, s: Stimulus, key: int) -> None:
    """Run a status check, and what else is done twice a day."""
    del key
    responses.forget_old_requests(s)
    removal.announce_again(ctx, s)
    tombstones.drop_old(ctx, s)
    statuses.check(ctx, s)
    notify_for_silent_stores(ctx, s)


def _held_expired(ctx: Context, s: Stimulus, held_id: int) -> None:
    """Drop a held item whose wait has ended. From now on its numbers are missing (spec: HI-4, BF-2)."""
    if held_messages.expired(s, held_id) is None:
        return
    for store in ctx.other_holders(HIERARCHY_FID):
        array.note_missing(ctx, s, HIERARCHY_FID, store)


_TIMERS: Mapping[Timer, Callable[[Context, Stimulus, int], None]] = {
    Timer.CYCLE: _cycle,
    Timer.STATUS_CHECK: _status_check,
    Timer.STATUS_REQUEST: lambda ctx, s, key: statuses.send_wanted(ctx, s),
    Timer.ENTRY: requests.timed_out,
    Timer.RESPONSE: responses.go_on,
    Timer.STAMP: lambda ctx, s, key: stamp_due(ctx, s),
    Timer.HELD: _held_expired,
    Timer.TOMBSTONES: lambda ctx, s, key: tombstones.drop_old(ctx, s),
    Timer.DROP: removal.at_midnight,
    Timer.EXPIRY: expiry.run,
    Timer.RETENTION: lambda ctx, s, key: retention.purge(ctx, s),
    Timer.LIMITS: lambda ctx, s, key: limit_warnings.send(ctx, s),
    Timer.CONFLICT: conflict_age.run,
}
