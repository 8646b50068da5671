"""Age limits: items expire on each replica separately, by the limit of the replica, its store or the folder (spec: DL-3).

An expiry is not a change. It uses up no change number and makes no tombstone. The item's number stays in the store's row, so
stores with different limits are in sync. The store keeps the record of an expired item without its content, and its responses
say that the item has expired here. The requester then asks the next holder. When every holder has said that the item has
expired, the requester accounts for the number.
"""

from __future__ import annotations

from node.codec.items import object_text
from node.objects.tombstones import MOST_AT_ONCE, folders_with_removed, removed_and_known
from node.objects.version_rows import conflict_over, tied_numbers
from node.state.context import Context
from node.state.timers import Timer, set_timer, set_timer_if_none
from node.stored_values import EXPIRED, HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from traces.events import ItemExpired
from transport.sql import Connection, Statement
from transport.stimulus import UPDATE_BYTES, Stimulus

EXPIRED_AT = Statement("SELECT expired_at FROM store_state")
NOTE_RUN = Statement("UPDATE store_state SET expired_at = ?")
REMOVE_VERSION = Statement("DELETE FROM message WHERE mid = ?")
LIVE_VERSIONS = Statement(
    "SELECT rep, ctr, modified_at FROM message WHERE object = ? AND deleted = 0 ORDER BY rep, ctr"
)
EXPIRE_OBJECT = Statement(
    "UPDATE message SET deleted = ?, shown = 0, item = NULL, subject = '' WHERE object = ? AND deleted = 0"
)
EXPIRED_VERSIONS = Statement(
    "SELECT object, rep, ctr, pcl, fai FROM message WHERE deleted <> 0 AND fid = ? AND deleted = ? ORDER BY mid"
)
NEWER_VERSIONS = Statement(
    "SELECT pcl FROM message WHERE fid = ? AND deleted <> ? AND object IN"
    " (SELECT object FROM message WHERE deleted <> 0 AND fid = ? AND deleted = ?) ORDER BY mid"
)
EXPIRED_AT_STORE = Statement("SELECT numbers, numbers_fai FROM said_expired WHERE fid = ? AND store = ?")
NOTE_EXPIRED_AT_STORE = Statement(
    "INSERT OR REPLACE INTO said_expired (fid, store, numbers, numbers_fai, said_at) VALUES (?, ?, ?, ?, ?)"
)
SET_EXPIRED_AT_STORE = Statement("UPDATE said_expired SET numbers = ?, numbers_fai = ? WHERE fid = ? AND store = ?")
EXPIRED_ANYWHERE = Statement("SELECT numbers, numbers_fai FROM said_expired WHERE fid = ? ORDER BY store")
LAST_NOTED = Statement("SELECT max(said_at) FROM said_expired WHERE fid = ?")

TOO_OLD = (
    "SELECT DISTINCT object FROM message AS old WHERE deleted = 0 AND fid = ? AND modified_at <= ? AND sent = 1"
    " AND NOT EXISTS (SELECT 1 FROM message AS other WHERE other.object = old.object AND other.deleted = 0"
    " AND (other.modified_at > ? OR other.sent = 0)) LIMIT ?"
)


def limit_of(ctx: Context, fid: int) -> int | None:
    """Return the age limit of a folder here in microseconds, or None.

    The limit of the replica, the store or the folder applies: the first of these that is set [X Q170033].
    """
    folder = ctx.folders.at(fid)
    for limit in (ctx.replica_limits.get(folder.object), ctx.config.settings.age_limit_us):
        if limit is not None:
            return limit
    return folder.props.age_limit_us if folder.props is not None else None


def _limited(ctx: Context) -> list[int]:
    return [fid for fid in ctx.rst.held_fids() if fid != HIERARCHY_FID and limit_of(ctx, fid) is not None]


def plan(ctx: Context, s: Stimulus) -> None:
    """Set the timer of the task that applies age limits, if any folder has an age limit.

    The task runs in the next maintenance window of the store, and at most once in its interval [X Q159196].
    """
    settings = ctx.config.settings
    if not _limited(ctx):
        return
    last = s.conn.exec_driver_sql(EXPIRED_AT).scalar_one()
    after_at = s.now if last is None else max(s.now, last + settings.expiry_interval_us - 1)
    due_at = settings.maintenance.next_fire(after_at, settings.always_interval_us)
    if due_at is not None:
        set_timer_if_none(s.conn, Timer.EXPIRY, 0, due_at)


def run(ctx: Context, s: Stimulus, key: int) -> None:
    """Expire the items that are older than their limit, in every folder held here.

    If there are many, further stimuli at the same instant expire the rest. The run ends with the last of them, so a store that
    is killed before this continues the run.
    """
    del key
    if _expired_all(ctx, s) and _forgot_old(ctx, s):
        s.conn.exec_driver_sql(NOTE_RUN, (s.now,))
        plan(ctx, s)
    else:
        set_timer(s.conn, Timer.EXPIRY, 0, s.now)


def _expired_all(ctx: Context, s: Stimulus) -> bool:
    """Expire items until the stimulus has done enough. Return True if no item is left to expire."""
    for fid in _limited(ctx):
        limit_us = limit_of(ctx, fid)
        assert limit_us is not None, "the folder has a limit"
        if not _expire(ctx, s, fid, limit_us):
            return False
    return True


def _forgot_old(ctx: Context, s: Stimulus) -> bool:
    """Delete the rows of old expired items, by the rule for tombstones: every holder must have the number (spec: DL-4).

    Until then a holder may request the number, and the response must say that the item has expired. Return whether none are
    left.
    """
    for fid in folders_with_removed(ctx, s):
        removals = removed_and_known(ctx, s, fid, EXPIRED)
        for row in removals:
            if s.enough:
                return False
            s.conn.exec_driver_sql(REMOVE_VERSION, (row.mid,))
            s.work += UPDATE_BYTES
    return True


def _expire(ctx: Context, s: Stimulus, fid: int, limit_us: int) -> bool:
    """Expire the messages of which all versions are sent and too old. Return True if no such message is left."""
    before_at = s.now - limit_us
    rows = s.conn.exec_driver_sql(TOO_OLD, (fid, before_at, before_at, MOST_AT_ONCE)).all()
    for (object_id,) in sorted(rows):
        if s.enough:
            return False
        for rep, ctr, modified_at in s.conn.exec_driver_sql(LIVE_VERSIONS, (object_id,)).all():
            s.trace.record(
                ItemExpired,
                folder=ctx.folders.text_of(fid),
                object=object_text(object_id),
                number=ctx.store.number(rep, ctr).text,
                modified_at=modified_at,
                limit_us=limit_us,
            )
        s.conn.exec_driver_sql(
            EXPIRE_OBJECT,
            (EXPIRED, object_id),
        )
        conflict_over(s.conn, object_id)
        s.work += UPDATE_BYTES
    return len(rows) < MOST_AT_ONCE


# -- at a source


def expired_among(ctx: Context, conn: Connection, fid: int, candidates: NumberSets) -> NumberSets:
    """Return the wanted numbers whose items have expired here, including superseded numbers (spec: CN-7)."""
    if not candidates:
        return candidates
    expired_numbers = NumberSets.EMPTY
    for object_id, rep, ctr, pcl, fai in conn.exec_driver_sql(
        EXPIRED_VERSIONS,
        (fid, EXPIRED),
    ).all():
        number = ctx.store.number(rep, ctr)
        predecessors = [
            older_number
            for older_number in tied_numbers(ctx, conn, object_id).numbers()
            if Pcl.decode(pcl).includes(older_number)
        ]
        expired_numbers |= NumberSets.from_numbers((candidate, bool(fai)) for candidate in (number, *predecessors))
    expired_numbers &= candidates
    return expired_numbers.without(_of_living(conn, fid, expired_numbers.merged()))


def _of_living(conn: Connection, fid: int, numbers: CNSet) -> CNSet:
    """Return the part of `numbers` that a version with content here includes."""
    if not numbers:
        return numbers
    numbers_held: list[ChangeNumber] = []
    for (pcl,) in conn.exec_driver_sql(
        NEWER_VERSIONS,
        (fid, EXPIRED, fid, EXPIRED),
    ).all():
        predecessors = Pcl.decode(pcl)
        numbers_held += [number for number in numbers.numbers() if predecessors.includes(number)]
    return CNSet.from_numbers(numbers_held)


# -- at a requester


def expired_at_store(conn: Connection, fid: int, store: str) -> NumberSets:
    """Return the numbers of the items that have expired at `store`, as `store` has said."""
    row = conn.exec_driver_sql(EXPIRED_AT_STORE, (fid, store)).first()
    return NumberSets.decode(*row) if row else NumberSets.EMPTY


def note_expired_at(s: Stimulus, fid: int, store: str, numbers: NumberSets) -> None:
    """Note that, according to `store`, the items of these numbers have expired there."""
    s.conn.exec_driver_sql(
        NOTE_EXPIRED_AT_STORE,
        (fid, store, *(expired_at_store(s.conn, fid, store) | numbers).encode(), s.now),
    )


def drop_unclaimed(s: Stimulus, fid: int, store: str, row: NumberSets) -> None:
    """Delete the notes that items have expired at `store` if its new row does not claim their numbers.

    The store has removed its replica, or was restored from a backup. If it gets such a number again, it has the item.
    """
    claims = expired_at_store(s.conn, fid, store)
    if not claims <= row:
        s.conn.exec_driver_sql(
            SET_EXPIRED_AT_STORE,
            (*(claims & row).encode(), fid, store),
        )


def expired_anywhere(conn: Connection, fid: int, numbers: NumberSets) -> NumberSets:
    """Return the part of `numbers` whose items have expired at some store, as that store has said."""
    claims = conn.exec_driver_sql(EXPIRED_ANYWHERE, (fid,))
    return numbers & NumberSets.union_all(NumberSets.decode(*row) for row in claims)


def expired_everywhere(ctx: Context, s: Stimulus, fid: int, numbers: NumberSets) -> NumberSets:
    """Return the part of `numbers` that other holders can no longer have.

    Each holder said that the items have expired there, or its row lacks the numbers. If the row was sent before the last store
    said so, its holder may have received the numbers since. Then this waits until such a holder would have sent a status and
    repeated it (spec: ST-1, ST-7).
    """
    if not numbers:
        return numbers
    last_said_at = s.conn.exec_driver_sql(LAST_NOTED, (fid,)).scalar()
    silence_us = ctx.config.status_timeout_us + 2 * ctx.config.status_alignment_us
    for store in ctx.other_holders(fid):
        row = ctx.rst.row(fid, store)
        if row is None:
            return NumberSets.EMPTY
        claims = expired_at_store(s.conn, fid, store)
        if row.sent_at < last_said_at and s.now - last_said_at < silence_us:
            numbers &= claims
        numbers -= row.numbers - claims
    return numbers
