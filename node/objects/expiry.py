"""Age limits: items go from one replica alone, by its own limit, its store's or the folder's (spec: DL-3).

An expiry is no change: it takes no number and makes no tombstone, and the number stays in the own row, so stores with
different limits are in sync. What is kept of an item is its row without content, which says in a response that the item
has expired here. Who asked then asks the next holder, and when every holder has said so accounts for the number.
"""

from __future__ import annotations

from node.codec.items import object_text
from node.objects.tombstones import known_to_all
from node.objects.version_rows import conflict_over, tied_numbers
from node.state.context import Context
from node.state.tables import EXPIRED, HIERARCHY_FID
from node.state.timers import Timer, set_timer_if_none
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from traces.events import ItemExpired
from transport.sql import Connection
from transport.stimulus import Stimulus


def limit_of(ctx: Context, fid: int) -> int | None:
    """How old a message may become in a folder here, in microseconds: by this replica's limit, else by this store's, else
    by the folder's; None if it may become any age [X Q170033]."""
    folder = ctx.folders.at(fid)
    for limit in (ctx.replica_limits.get(folder.object), ctx.config.settings.age_limit_us):
        if limit is not None:
            return limit
    return folder.props.age_limit_us if folder.props is not None else None


def _limited(ctx: Context) -> list[int]:
    return [fid for fid in ctx.rst.held_fids() if fid != HIERARCHY_FID and limit_of(ctx, fid) is not None]


def plan(ctx: Context, s: Stimulus) -> None:
    """Where an age limit holds, the task that applies it runs in the store's next maintenance, and then at most once in
    its interval [X Q159196]."""
    settings = ctx.config.settings
    if not _limited(ctx):
        return
    last = s.conn.exec_driver_sql("SELECT expired_at FROM store_state").scalar_one()
    after_at = s.now if last is None else max(s.now, last + settings.expiry_interval_us - 1)
    due_at = settings.maintenance.next_fire(after_at, settings.always_interval_us)
    if due_at is not None:
        set_timer_if_none(s.conn, Timer.EXPIRY, 0, due_at)


def run(ctx: Context, s: Stimulus, key: int) -> None:
    """The task: what is older than its limit expires in every folder held here."""
    del key
    for fid in _limited(ctx):
        limit_us = limit_of(ctx, fid)
        assert limit_us is not None, "the folder has a limit"
        _expire(ctx, s, fid, limit_us)
    _forget_old(ctx, s)
    s.conn.exec_driver_sql("UPDATE store_state SET expired_at = ?", (s.now,))
    plan(ctx, s)


def _forget_old(ctx: Context, s: Stimulus) -> None:
    """What is kept of expired items goes as tombstones do: past their age, when every holder has the number, for until then one
    may ask for it and must hear that it has expired (spec: DL-4)."""
    before_at = s.now - ctx.config.settings.tombstone_age_us
    for mid, fid, rep, ctr, modified_at, fai in s.conn.exec_driver_sql(
        "SELECT mid, fid, rep, ctr, modified_at, fai FROM message WHERE deleted = ? AND modified_at <= ? ORDER BY mid",
        (EXPIRED, before_at),
    ).all():
        if known_to_all(ctx, fid, ctx.store.number(rep, ctr), modified_at, bool(fai)):
            s.conn.exec_driver_sql("DELETE FROM message WHERE mid = ?", (mid,))


def _expire(ctx: Context, s: Stimulus, fid: int, limit_us: int) -> None:
    """A message goes with all its versions when the newest is too old; what was not broadcast yet stays."""
    for (object_id,) in s.conn.exec_driver_sql(
        "SELECT object FROM message WHERE fid = ? AND deleted = 0 GROUP BY object"
        " HAVING max(modified_at) <= ? AND min(sent) = 1 ORDER BY object",
        (fid, s.now - limit_us),
    ).all():
        for rep, ctr, modified_at in s.conn.exec_driver_sql(
            "SELECT rep, ctr, modified_at FROM message WHERE object = ? AND deleted = 0 ORDER BY rep, ctr", (object_id,)
        ).all():
            s.trace.record(
                ItemExpired,
                folder=ctx.folders.text_of(fid),
                object=object_text(object_id),
                number=ctx.store.number(rep, ctr).text,
                modified_at=modified_at,
                limit_us=limit_us,
            )
        s.conn.exec_driver_sql(
            "UPDATE message SET deleted = ?, shown = 0, item = NULL, subject = '' WHERE object = ? AND deleted = 0",
            (EXPIRED, object_id),
        )
        conflict_over(s.conn, object_id)


# -- at a source


def expired_among(ctx: Context, conn: Connection, fid: int, wanted: NumberSets) -> NumberSets:
    """Of the numbers wanted those whose item has expired here, the superseded ones of that item too (spec: CN-7)."""
    if not wanted:
        return wanted
    found = NumberSets.EMPTY
    for object_id, rep, ctr, pcl, fai in conn.exec_driver_sql(
        "SELECT object, rep, ctr, pcl, fai FROM message WHERE fid = ? AND deleted = ? ORDER BY mid", (fid, EXPIRED)
    ).all():
        number = ctx.store.number(rep, ctr)
        older = [each for each in tied_numbers(ctx, conn, object_id).numbers() if Pcl.decode(pcl).includes(each)]
        found |= NumberSets.from_numbers((each, bool(fai)) for each in (number, *older))
    found &= wanted
    return found.without(_of_living(conn, fid, found.merged()))


def _of_living(conn: Connection, fid: int, numbers: CNSet) -> CNSet:
    """Those of the numbers that a version still kept here stands for."""
    if not numbers:
        return numbers
    held: list[ChangeNumber] = []
    for (pcl,) in conn.exec_driver_sql(
        "SELECT pcl FROM message WHERE fid = ? AND deleted <> ? AND object IN"
        " (SELECT object FROM message WHERE fid = ? AND deleted = ?) ORDER BY mid",
        (fid, EXPIRED, fid, EXPIRED),
    ).all():
        known = Pcl.decode(pcl)
        held += [each for each in numbers.numbers() if known.includes(each)]
    return CNSet.from_numbers(held)


# -- at a store that asks


def said_by(conn: Connection, fid: int, store: str) -> NumberSets:
    """The numbers of which a store has said that they expired there."""
    row = conn.exec_driver_sql(
        "SELECT numbers, numbers_fai FROM said_expired WHERE fid = ? AND store = ?", (fid, store)
    ).first()
    return NumberSets.decode(*row) if row else NumberSets.EMPTY


def note_said(s: Stimulus, fid: int, store: str, numbers: NumberSets) -> None:
    s.conn.exec_driver_sql(
        "INSERT OR REPLACE INTO said_expired (fid, store, numbers, numbers_fai, said_at) VALUES (?, ?, ?, ?, ?)",
        (fid, store, *(said_by(s.conn, fid, store) | numbers).encode(), s.now),
    )


def take_back(s: Stimulus, fid: int, store: str, row: NumberSets) -> None:
    """A row without a number of which its store has said that it expired there: the replica that said so is gone, or has gone
    back. If the store gets the number again, it is with the item."""
    said = said_by(s.conn, fid, store)
    if not said <= row:
        s.conn.exec_driver_sql(
            "UPDATE said_expired SET numbers = ?, numbers_fai = ? WHERE fid = ? AND store = ?",
            (*(said & row).encode(), fid, store),
        )


def ever_said(conn: Connection, fid: int, numbers: NumberSets) -> NumberSets:
    """Of the numbers those of which any store has said so."""
    said = conn.exec_driver_sql("SELECT numbers, numbers_fai FROM said_expired WHERE fid = ? ORDER BY store", (fid,))
    return numbers & NumberSets.union_all(NumberSets.decode(*row) for row in said)


def said_by_all(ctx: Context, s: Stimulus, fid: int, numbers: NumberSets) -> NumberSets:
    """Of the numbers those that no other holder can have any more: each has said that they expired there, or has said what it
    has, without them, since another said so.

    A row from before that is no word on it, for its store may have got them meanwhile; but one that has them sends a status,
    and repeats it (spec: ST-1, ST-7), so that its silence for as long as that takes is.
    """
    if not numbers:
        return numbers
    last_said_at = s.conn.exec_driver_sql("SELECT max(said_at) FROM said_expired WHERE fid = ?", (fid,)).scalar()
    silence_us = ctx.config.status_timeout_us + 2 * ctx.config.status_alignment_us
    for store in ctx.other_holders(fid):
        row = ctx.rst.row(fid, store)
        if row is None:
            return NumberSets.EMPTY
        said = said_by(s.conn, fid, store)
        if row.sent_at < last_said_at and s.now - last_said_at < silence_us:
            numbers &= said
        numbers -= row.numbers - said
    return numbers
