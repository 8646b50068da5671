"""Statuses and status requests: how stores learn what other stores have when broadcasts get lost (spec: ST-1 to ST-7).

A status says what its sender has. A status request asks other stores for their statuses. A store makes a status check twice a
day, at 00:15 and 12:15 UTC by default, for all its replicas that are not delete-pending. `node.agent.incoming` handles the
rows of a status and the missing numbers in them, as for any mail.

The columns `last_update_at` and `status_sent_at` of this store's row give the state of a folder:

    IDLE      no status is owed                UPDATED   an update, and no status since
    REPORTED  a status was sent after the last update

    state     what happens                                        next state
    any       an update is made or applied here, or a restore     UPDATED; the 24 hours start again
    IDLE, REPORTED  an update is applied here by 5.5 with SP4     IDLE: only changes made here need a status (spec: ST-6)
    UPDATED   a check, at least 24 h after the update             REPORTED; one status to all other holders
    REPORTED  a check, at least 24 h after that status, while a   REPORTED; a status marked "repeat" to that holder,
              holder's row is absent or lacks something           at most once in 24 h (spec: ST-7)

A status request makes one row of `asked` for each required responder. The row is deleted when a mail about the folder arrives
that the responder sent after the request. Each check sends the request again, marked "repeat", to the responders that still
have a row, except those that cannot have anything new (`_has_answered`). A row from a backup does not tell
that: the other store may have later changes by now, and count them as known here.

    mail                                    who answers it
    status                                  nobody
    status, marked repeat                   its receiver
    status request                          a required responder that has something which the sender's row lacks (spec: ST-2)
    status request, marked repeat           a required responder
    status request, marked delete-pending   see `node.replicas.removal`

An answer is a status that goes only to the sender, and it is never marked repeat.

Example: A posts on Monday at 13:00, and the broadcast to B is lost.

    Tue 00:15, 12:15  checks             the update is less than 24 h old
    Wed 00:15         check, status      B learns that A has A-1; its backfill array has a new entry
    Thu 00:15         check              if the status was lost too, B's row here lacks A-1: a repeat to B, which answers

What must never happen: a repeat in an organization that loses no mail and restores no store; an answer to an answer; 36 hours
without a status after a folder's last update; a delete-pending replica that sends a status by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from node.codec.replication_message import Mark, MessageType, ReplicationMail, Section
from node.mail.send import section_of, send
from node.state.context import Context, next_cycle
from node.state.state_table import OwnRow, PeerRow
from node.state.timers import Timer, set_timer, set_timer_if_none
from node.state.version_profiles import Responders
from node.status.responders import choose
from node.stored_values import HIERARCHY_FID
from topology.schedule import ALWAYS
from traces.events import StatusDue
from traces.labtime import DAY_US, LabTime
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

WANT = Statement("INSERT OR IGNORE INTO wanted (fid) VALUES (?)")
WANTED = Statement("SELECT fid FROM wanted")
WANTED_IN_ORDER = Statement("SELECT fid FROM wanted ORDER BY fid")
FORGET_WANTED = Statement("DELETE FROM wanted")
AWAIT = Statement("INSERT OR REPLACE INTO asked (fid, responder, sent_at) VALUES (?, ?, ?)")
STOP_AWAITING_BEFORE = Statement("DELETE FROM asked WHERE fid = ? AND responder = ? AND sent_at <= ?")
RESTORED_AT = Statement("SELECT restored_at FROM store_state")
AWAITED = Statement("SELECT fid, responder, sent_at FROM asked WHERE sent_at < ? ORDER BY responder, fid")
STOP_AWAITING = Statement("DELETE FROM asked WHERE fid = ? AND responder = ?")
NOTE_REPEATED = Statement("INSERT OR REPLACE INTO repeated (fid, store, at) VALUES (?, ?, ?)")
REPEATED_AT = Statement("SELECT at FROM repeated WHERE fid = ? AND store = ?")

FOLDERS_A_MAIL = 1000
"""The largest number of folders in one status or status request. Receivers accept four times as many."""

# -- requests


def want_status(ctx: Context, s: Stimulus, fid: int, *, at_once: bool = False) -> None:
    """Request the status of a folder at the next cycle. Requests of one cycle share a mail (spec: ST-3)."""
    s.conn.exec_driver_sql(WANT, (fid,))
    due_at = s.now if at_once else next_cycle(ctx.config, ALWAYS, s.now)
    assert due_at is not None, "the always schedule has a next cycle"
    set_timer_if_none(s.conn, Timer.STATUS_REQUEST, 0, due_at)


def want_what_waits(ctx: Context, s: Stimulus) -> None:
    """At the next cycle, request the statuses that could not be requested from any store: a store may have an address now
    (spec: ML-1)."""
    for (fid,) in s.conn.exec_driver_sql(WANTED).all():
        want_status(ctx, s, fid)


def send_wanted(ctx: Context, s: Stimulus) -> None:
    """Send the status requests that wait for this cycle."""
    fids = [fid for (fid,) in s.conn.exec_driver_sql(WANTED_IN_ORDER)]
    s.conn.exec_driver_sql(FORGET_WANTED)
    owned = [own for fid in fids if (own := ctx.rst.own(fid)) is not None and not own.pending]
    # In every version, all holders must respond about the hierarchy of a new store (spec: ST-3, RP-3).
    tree = [own for own in owned if own.fid == HIERARCHY_FID]
    request(ctx, s, tree, Responders.ALL_HOLDERS)
    request(ctx, s, [own for own in owned if own not in tree], ctx.config.profile.list_responders)


def request(ctx: Context, s: Stimulus, owned: Iterable[OwnRow], way: Responders, *, awaited: bool = True) -> None:
    """Send a status request to all other holders of these folders. `way` determines the responders (spec: ST-3, ST-4).

    `awaited`: the next check repeats the request to responders that have not answered (spec: ST-7). A store without an address
        requests the statuses when it has one, and a store whose fellow holders have none waits for them (spec: ML-1).
    """
    if ctx.directory.address(ctx.name) is None:
        for own in owned:
            want_status(ctx, s, own.fid, at_once=True)
        return
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[OwnRow]] = {}
    for own in owned:
        stores = ctx.other_holders(own.fid)
        if stores and not own.pending:
            groups.setdefault((tuple(stores), tuple(choose(ctx, s, own, way))), []).append(own)
            if awaited and not ctx.reached(own.fid, stores):
                s.conn.exec_driver_sql(WANT, (own.fid,))
    marks = Mark.ALL_RESPOND if way is Responders.ALL_HOLDERS else Mark.NONE
    for (addressed, responders), group in groups.items():
        for part in _parts(group):
            _request(ctx, s, addressed, responders, part, marks, is_awaited=awaited)


def _request(
    ctx: Context,
    s: Stimulus,
    stores: Sequence[str],
    responders: Sequence[str],
    group: Sequence[OwnRow],
    marks: Mark,
    *,
    is_awaited: bool = True,
) -> None:
    sections = [section_of(ctx, own, marks=marks, responders=responders) for own in group]
    send(ctx, s, MessageType.STATUS_REQUEST, stores, sections)
    if is_awaited:
        s.conn.exec_driver_sql(
            AWAIT,
            [(own.fid, store, s.now) for own in group for store in responders],
        )


def at_start(ctx: Context, s: Stimulus) -> None:
    """Send the status requests that the version, or a registry value, requires at a start (spec: ST-3)."""
    profile, settings = ctx.config.profile, ctx.config.settings
    if profile.asks_nightly and not settings.startup_messages_disabled:
        request(ctx, s, _active(ctx), Responders.ALL_HOLDERS, awaited=False)
    if settings.startup_messages_enabled:
        request(ctx, s, _active(ctx), profile.restore_responders)
    elif settings.replication_flags:
        rows_behind = [own for own in _active(ctx) if own.fid == HIERARCHY_FID or _is_behind(ctx, own)]
        request(ctx, s, rows_behind, profile.restore_responders)


def _is_behind(ctx: Context, own: OwnRow) -> bool:
    """Return whether the rows of the other holders together have something that this store lacks (spec: RST-3)."""
    return not ctx.rst.union(own.fid) <= own.numbers


def _by_stores(items: Iterable[tuple[OwnRow, list[str]]]) -> list[tuple[list[str], list[OwnRow]]]:
    """Group folders whose mail goes to the same stores: each group is one mail (spec: OUT-6, ST-3)."""
    groups: dict[tuple[str, ...], list[OwnRow]] = {}
    for own, stores in items:
        if stores:
            groups.setdefault(tuple(stores), []).append(own)
    return [(list(stores), part) for stores, group in groups.items() for part in _parts(group)]


def _parts(group: Sequence[OwnRow]) -> list[list[OwnRow]]:
    return [list(group[at : at + FOLDERS_A_MAIL]) for at in range(0, len(group), FOLDERS_A_MAIL)]


# -- answers


def on_request(ctx: Context, s: Stimulus, mail: ReplicationMail) -> None:
    """Answer a status request with one status about the folders for which this store must answer (spec: ST-2)."""
    answers = []
    for own, section in _replicas_of(ctx, mail.sections):
        if Mark.DELETE_PENDING not in section.marks and _must_answer(ctx, own, section):
            answers.append(section_of(ctx, own))
    if answers:
        send(ctx, s, MessageType.STATUS, [mail.store], answers, in_reply_to=mail.message_id)


def _must_answer(ctx: Context, own: OwnRow, section: Section) -> bool:
    if Mark.REPEAT in section.marks:  # spec: ST-7 always answered
        return ctx.name in section.responders
    is_required = Mark.ALL_RESPOND in section.marks or ctx.name in section.responders
    # The request has the requester's complete row, which is newer than the copy here.
    return is_required and not own.numbers <= section.row


def on_status(ctx: Context, s: Stimulus, mail: ReplicationMail) -> None:
    """Answer a status that is marked repeat (spec: ST-7). Its rows are already replaced (spec: ST-5)."""
    answers = [
        section_of(ctx, own) for own, section in _replicas_of(ctx, mail.sections) if Mark.REPEAT in section.marks
    ]
    if answers:
        send(ctx, s, MessageType.STATUS, [mail.store], answers, in_reply_to=mail.message_id)


def _replicas_of(ctx: Context, sections: Sequence[Section]) -> list[tuple[OwnRow, Section]]:
    """Return the sections about folders whose replica here is not delete-pending, each with this store's row."""
    replicas = []
    for section in sections:
        fid = ctx.folders.fid_of(section.folder)
        own = ctx.rst.own(fid) if fid is not None else None
        if own is not None and not own.pending:
            replicas.append((own, section))
    return replicas


def clear_awaited(conn: Connection, fid: int, store: str, sent_at: LabTime) -> None:
    """Note that `store` sent a mail about the folder at `sent_at`. Earlier requests to it are not repeated (spec: ST-7)."""
    conn.exec_driver_sql(STOP_AWAITING_BEFORE, (fid, store, sent_at))


# -- the check


def next_check(ctx: Context, now: LabTime) -> LabTime:
    """Return the next status check after `now`: at 00:15 and 12:15 UTC by default (spec: ST-1)."""
    alignment, offset = ctx.config.status_alignment_us, ctx.config.status_offset_us
    return now + alignment - (now - offset) % alignment


def check(ctx: Context, s: Stimulus) -> None:
    """Repeat mails that may have been lost, send what is due, and set the time of the next check."""
    set_timer(s.conn, Timer.STATUS_CHECK, 0, next_check(ctx, s.now))
    _nightly(ctx, s)
    if ctx.config.repeat_status:
        _repeat_requests(ctx, s)
        _repeat_statuses(ctx, s)
    _send_due(ctx, s)


def _nightly(ctx: Context, s: Stimulus) -> None:
    """Do what 5.5 does at the first check of each day: request the status of everything it holds.

    Before SP4 it also sends the status of the hierarchy to all stores, changed or not (spec: ST-6).
    """
    if not ctx.config.profile.asks_nightly or s.now % DAY_US >= ctx.config.status_alignment_us:
        return
    request(ctx, s, _active(ctx), Responders.ALL_HOLDERS, awaited=False)
    tree, stores = ctx.rst.own(HIERARCHY_FID), ctx.other_holders(HIERARCHY_FID)
    if ctx.config.tells_hierarchy_daily and tree is not None and stores:
        send(ctx, s, MessageType.STATUS, stores, [section_of(ctx, tree)])


def _send_due(ctx: Context, s: Stimulus) -> None:
    due_rows = [
        own
        for own in _active(ctx)
        if not (own.fid == HIERARCHY_FID and ctx.config.tells_hierarchy_daily)
        and own.last_update_at is not None
        and own.status_sent_at is None
        and s.now - own.last_update_at >= ctx.config.status_timeout_us
    ]
    if not due_rows:
        return
    s.trace.record(
        StatusDue,
        folders=tuple(ctx.folders.text_of(own.fid) for own in due_rows),
        last_update_at=max(own.last_update_at or 0 for own in due_rows),
    )
    for own in due_rows:
        own.status_sent_at = s.now
        ctx.rst.touch(own)
    for stores, group in _by_stores((own, ctx.other_holders(own.fid)) for own in due_rows):
        send(ctx, s, MessageType.STATUS, stores, [section_of(ctx, own) for own in group])


def _repeat_requests(ctx: Context, s: Stimulus) -> None:
    """Repeat status requests to the required responders that sent nothing since (spec: ST-7)."""
    again: dict[str, list[OwnRow]] = {}
    restored_at = s.conn.exec_driver_sql(RESTORED_AT).scalar_one()
    for fid, store, asked_at in s.conn.exec_driver_sql(AWAITED, (s.now,)).all():
        own, row = ctx.rst.own(fid), ctx.rst.row(fid, store)
        if row is not None and restored_at is not None and (row.heard_at or 0) <= restored_at:
            row = None  # it is from the backup
        if own is None or own.pending or not ctx.is_holder(fid, store) or _has_answered(ctx, own, row, asked_at):
            s.conn.exec_driver_sql(STOP_AWAITING, (fid, store))
        else:
            again.setdefault(store, []).append(own)
    for store in sorted(again):
        for part in _parts(again[store]):
            _request(ctx, s, [store], [store], part, Mark.REPEAT)


def _has_answered(ctx: Context, own: OwnRow, row: PeerRow | None, asked_at: LabTime) -> bool:
    """Return whether a silent responder need not be asked again. A responder without a row here is asked again.

    If its row equals this store's row, it has nothing that could have been lost. If the responder sent a mail about the
    folder in the cycle before the request, it was silent because it had nothing more (spec: ST-2). All holders of a
    changed replica list send such a mail.
    """
    if row is None:
        return False
    return row.numbers == own.numbers or row.sent_at >= asked_at - ctx.config.always_us


def _repeat_statuses(ctx: Context, s: Stimulus) -> None:
    """Repeat the status to holders that seem to lack something, at most once in 24 hours for each (spec: ST-7).

    The first repeat also waits 24 hours after the status. By then every holder has made its own check, even one that
    received the last update later. So an organization that lost no mail sends no repeats.
    """
    again: dict[str, list[OwnRow]] = {}
    for own in _active(ctx):
        if own.status_sent_at is None or s.now - own.status_sent_at < ctx.config.status_timeout_us:
            continue
        for store in ctx.other_holders(own.fid):
            row = ctx.rst.row(own.fid, store)
            lacks = row is None or not own.numbers <= row.numbers
            if lacks and _may_repeat(ctx, s, own.fid, store):
                again.setdefault(store, []).append(own)
    for store in sorted(again):
        for part in _parts(again[store]):
            sections = [section_of(ctx, own, marks=Mark.REPEAT) for own in part]
            send(ctx, s, MessageType.STATUS, [store], sections)
        s.conn.exec_driver_sql(
            NOTE_REPEATED,
            [(own.fid, store, s.now) for own in again[store]],
        )


def _may_repeat(ctx: Context, s: Stimulus, fid: int, store: str) -> bool:
    at = s.conn.exec_driver_sql(REPEATED_AT, (fid, store)).scalar()
    return at is None or s.now - at >= ctx.config.status_timeout_us


def _active(ctx: Context) -> list[OwnRow]:
    rows = [ctx.rst.own(fid) for fid in ctx.rst.held_fids()]
    return [own for own in rows if own is not None and not own.pending]


__all__ = [
    "at_start",
    "check",
    "clear_awaited",
    "next_check",
    "on_request",
    "on_status",
    "request",
    "send_wanted",
    "want_status",
]
