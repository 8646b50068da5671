"""The replication agent: a stimulus comes in, state changes, mail waits in the queue. It does no I/O but its own tables.

This module puts the parts together and says which part a timer belongs to; each part knows its own rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from node.agent import agent_disabled, backfill, incoming, replica_removal, replicas, status, store_restore
from node.errors import NodeError
from node.mail import broadcast, suspension, user_mail
from node.objects import conflicts, expiry
from node.state import held_messages
from node.state.context import Context
from node.state.tables import HIERARCHY_FID
from node.state.timers import Timer, is_set, set_timer, take_due
from traces.events import StatusMissed
from transport.envelope import LocalDelivery
from transport.mime.headers import scan_header
from transport.stimulus import Stimulus

STEPS_A_TICK = 100_000
"""More rows than this due at one instant means that one of them makes itself due again: an error, never a hang."""


def tick(ctx: Context, s: Stimulus) -> None:
    """Does everything that is due at the stimulus's instant."""
    kinds = agent_disabled.timers_of(ctx)
    for _ in range(STEPS_A_TICK):
        due = take_due(s.conn, s.now, kinds)
        if due is None:
            return
        kind, key = due
        _TIMERS[kind](ctx, s, key)
    raise NodeError(f"{ctx.name}: more than {STEPS_A_TICK} timers due at one instant; the last was {kind} {key}")


def deliver(ctx: Context, s: Stimulus, deliveries: Sequence[LocalDelivery]) -> None:
    """Mail that goes no further: to folders, to people, to this server's store."""
    for delivery in deliveries:
        if not user_mail.deliver(ctx, s, delivery):
            continue
        if delivery.system and not ctx.config.replicates:  # what is no system message is bad mail in any case
            agent_disabled.keep(s, delivery)
            continue
        incoming.receive(ctx, s, delivery.sender, delivery.content, delivery.message_id, system=delivery.system)


def joined(ctx: Context, s: Stimulus, store: str) -> None:
    """A store has entered the directory (spec: RP-3). Folders that wait for it are broadcast to it from now on."""
    ctx.directory.join(s, store, s.now)


def started(ctx: Context, s: Stimulus, *, first: bool, joins_later: bool, restored: bool, missed_check: bool) -> None:
    """The store comes up: a new or restored one asks around (spec: RP-3, RP-4, ST-3), each resumes its status checks."""
    expiry.plan(ctx, s)
    if restored:
        conflicts.begin_anew(s)
    conflicts.plan(ctx, s)
    if suspension.settle(ctx, s):
        for fid in ctx.rst.held_fids():
            if not is_set(s.conn, Timer.CYCLE, fid):  # one that was missed comes at once
                broadcast.reschedule(ctx, s, fid)
    if not ctx.config.replicates:
        agent_disabled.tell(ctx, s)
    if first and joins_later:
        status.want_status(ctx, s, HIERARCHY_FID, at_once=True)
    if first:
        set_timer(s.conn, Timer.STATUS_CHECK, 0, status.next_check(ctx, s.now))
        return
    if missed_check and ctx.config.replicates:
        s.trace.record(StatusMissed)
    if restored:
        store_restore.ask_around(ctx, s)
    if not ctx.config.replicates:
        return
    for sender, content in agent_disabled.take(s.conn):
        incoming.receive(ctx, s, sender, content, scan_header(content).message_id, system=True)
    replicas.say_leaving(ctx, s)
    if not restored:
        status.at_start(ctx, s)


def _cycle(ctx: Context, s: Stimulus, fid: int) -> None:
    if suspension.stands(ctx, fid):
        return  # the cycle is set anew when content is resumed
    broadcast.broadcast(ctx, s, fid)


def _status_check(ctx: Context, s: Stimulus, key: int) -> None:
    del key
    status.check(ctx, s)


def _status_request(ctx: Context, s: Stimulus, key: int) -> None:
    del key
    status.send_wanted(ctx, s)


def _held(ctx: Context, s: Stimulus, held_id: int) -> None:
    """What expired in the queue is missing now (spec: HI-4, BF-2)."""
    if held_messages.expired(ctx, s, held_id) is None:
        return
    for store in ctx.other_holders(HIERARCHY_FID):
        incoming.note_missing(ctx, s, HIERARCHY_FID, store)


_TIMERS: Mapping[Timer, Callable[[Context, Stimulus, int], None]] = {
    Timer.CYCLE: _cycle,
    Timer.STATUS_CHECK: _status_check,
    Timer.STATUS_REQUEST: _status_request,
    Timer.ENTRY: backfill.timed_out,
    Timer.HELD: _held,
    Timer.DROP: replica_removal.drop_now,
    Timer.EXPIRY: expiry.run,
    Timer.CONFLICT: conflicts.run,
}
