"""A store that is restored from a backup (spec: RP-4).

Its change counter is the one in the backup, but other stores may have seen higher numbers. So by default the store takes a new
replica GUID. Numbers of the old GUID are then like the numbers of any other store, and backfill brings back the changes that
other stores have. With a setting the store keeps its GUID, so that a lesson can show change numbers that are given out twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from node.codec.items import ROOT_TEXT, object_text
from node.objects.version_rows import tied_numbers
from node.seeded_ids import guid_from
from node.state.context import Context
from node.state.store_identity import LOCAL_REP, Begins, StoreState
from node.state.store_settings import store_settings
from node.status.statuses import request, want_status
from node.stored_values import HIERARCHY_FID
from node.tracking.cnset import CNSet
from node.tracking.idset import decode_idset, encode_idset
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from topology.settings.values import RawSetting
from traces.events import Loss
from traces.labtime import LabTime
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

UNSENT = Statement(
    "SELECT NULL, rep, ctr FROM folder WHERE sent = 0 UNION ALL"
    " SELECT folder.object, message.rep, message.ctr FROM message JOIN folder USING (fid) WHERE message.sent = 0"
)
UNREPORTED = Statement("SELECT folder, numbers FROM unsent_before")
FORGET_UNREPORTED = Statement("DELETE FROM unsent_before")
NOTE_UNREPORTED = Statement("INSERT INTO unsent_before (folder, numbers) VALUES (?, ?)")
FORGET_SETTINGS = Statement("DELETE FROM setting")
NEXT_REP = Statement("SELECT max(rep) + 1 FROM replid")
REPLACE_GUID = Statement("UPDATE replid SET guid = ? WHERE rep = ?")
ADD_GUID = Statement("INSERT INTO replid (rep, guid, store) VALUES (?, ?, ?)")
RESET_REPLICAS = Statement("UPDATE replica SET began = 0, last_sent = 0, last_sent_fai = 0")
RESET_COUNTERS = Statement("UPDATE store_state SET guid = ?, change_counter = 0, object_counter = 0")
BECOME_COPY = Statement("UPDATE store_state SET copy_of = ?, name = ?")
NAME_OWN_REPLICA = Statement("UPDATE replid SET store = ? WHERE rep = ?")
LEAVE_BEHIND = tuple(
    Statement(f"DELETE FROM {table}")
    for table in ("mta_queue", "mta_frozen_queue", "mta_content", "event", "waiting", "log")
)
NOTE_RESTORE = Statement("UPDATE store_state SET restored_at = ?")

RENUMBER = tuple(
    Statement(f"UPDATE {table} SET rep = ? WHERE rep = ?") for table in ("message", "folder", "superseded", "retained")
)
IS_SUPERSEDED = Statement("SELECT 1 FROM superseded JOIN replid USING (rep) WHERE guid = ? AND ctr = ?")
UNSENT_OF_OTHERS = (
    Statement(
        "SELECT rep, ctr, fai, object, pcl FROM message WHERE sent = 0 AND rep <> ? AND fid = ? ORDER BY rep, ctr"
    ),
    Statement("SELECT rep, ctr, 0, object, pcl FROM folder WHERE sent = 0 AND rep <> ? ORDER BY rep, ctr"),
)
"""Changes with the number of another store that were not broadcast: those of a folder, and those of the hierarchy."""

Unsent = dict[str, CNSet]
"""This store's changes that were not broadcast yet, by folder id as traces write it."""


@dataclass(frozen=True, slots=True)
class Continued:
    """What a restore does not reset: the numbers of the trace, which belong to the lab, and the settings, which are in the
    registry and the directory."""

    incarnation: int
    seq: int
    lamport: int
    last_at: LabTime
    settings: Mapping[str, RawSetting]
    unsent: Unsent


def unsent(conn: Connection) -> Unsent:
    """Return the unsent changes in a store's database, and those that an earlier restore removed and no start reported yet."""
    store = StoreState(conn)
    versions = _unreported(conn)
    for object_id, rep, ctr in conn.exec_driver_sql(UNSENT):
        folder = ROOT_TEXT if object_id is None else object_text(object_id)
        versions[folder] = versions.get(folder, CNSet.EMPTY) | CNSet.of(store.number(rep, ctr))
    return versions


def _unreported(conn: Connection) -> Unsent:
    rows = conn.exec_driver_sql(UNREPORTED).all()
    return {folder: decode_idset(numbers) for folder, numbers in rows}


def record_losses(ctx: Context, s: Stimulus) -> None:
    """Report as lost the changes that were unsent before the restore and are not in the backup (spec: RP-4, DU-1).

    The state that is replaced may itself come from an older backup. Then a change that was unsent in that state may already be
    broadcast in this backup, or replaced by a newer change. Such a change is not lost.
    """
    before = _unreported(s.conn)
    if not before:
        return
    s.conn.exec_driver_sql(FORGET_UNREPORTED)
    now = unsent(s.conn)
    for fid in ctx.rst.held_fids():
        own = ctx.rst.own(fid)
        if own is not None:
            folder = ctx.folders.text_of(fid)
            now[folder] = now.get(folder, CNSet.EMPTY) | own.numbers.merged()
    for folder in sorted(before):
        lost = before[folder] - now.get(folder, CNSet.EMPTY)
        lost -= _superseded_among(s.conn, lost)
        if lost:
            s.trace.record(Loss, folder=folder, cnset=lost.text(), reason=Loss.UNSENT)


def _superseded_among(conn: Connection, numbers: CNSet) -> CNSet:
    """Return the part of `numbers` that newer versions in this database have replaced."""
    return CNSet.from_numbers(
        number
        for number in numbers.numbers()
        if conn.exec_driver_sql(IS_SUPERSEDED, (number.guid, number.counter)).first()
    )


def prepare(conn: Connection, continued: Continued, seed: bytes, *, new_guid: bool) -> None:
    """Prepare a backup for its first start, before it replaces the database."""
    store = StoreState(conn)
    _continue(conn, store, continued)
    store.begins = Begins.RESTORED
    store.save(conn)
    if new_guid:
        _take_new_guid(conn, store, seed)


def prepare_elsewhere(conn: Connection, continued: Continued, name: str, seed: bytes) -> None:
    """Prepare the backup of another server's store for its first start here, where it is only shown (spec: RP-8). What that
    server was about to send, and its events, stay with that server."""
    store = StoreState(conn)
    _continue(conn, store, continued)
    store.begins = Begins.RESTORED
    store.save(conn)
    _take_new_guid(conn, store, seed)
    conn.exec_driver_sql(BECOME_COPY, (store.name, name))
    conn.exec_driver_sql(NAME_OWN_REPLICA, (name, LOCAL_REP))
    for statement in LEAVE_BEHIND:
        conn.exec_driver_sql(statement)


def prepare_new(conn: Connection, continued: Continued, name: str, seed: bytes, directory_object: int) -> None:
    """Turn an empty database into the database of a new store that continues an existing trace."""
    guid = guid_from(seed, "replica", continued.incarnation)
    store = StoreState.create(conn, name, guid, continued.last_at, directory_object)
    _continue(conn, store, continued)
    store.begins = Begins.AS_NEW
    store.save(conn)


def _continue(conn: Connection, store: StoreState, continued: Continued) -> None:
    store.incarnation, store.seq = continued.incarnation, continued.seq
    store.lamport, store.last_at = continued.lamport, max(store.last_at, continued.last_at)
    # This is in the database, because the process may be killed before its first stimulus commits.
    conn.exec_driver_sql(FORGET_UNREPORTED)
    for folder, numbers in continued.unsent.items():
        conn.exec_driver_sql(NOTE_UNREPORTED, (folder, encode_idset(numbers)))
    conn.exec_driver_sql(FORGET_SETTINGS)
    store_settings(conn, continued.settings)  # spec: SE-1


def _take_new_guid(conn: Connection, store: StoreState, seed: bytes) -> None:
    """Give the store a new GUID and set its counters to 0. The old GUID becomes the GUID of another replica."""
    old = store.guid
    fresh: int = conn.exec_driver_sql(NEXT_REP).scalar_one()
    guid = guid_from(seed, "replica", store.incarnation)
    conn.exec_driver_sql(REPLACE_GUID, (guid, LOCAL_REP))
    conn.exec_driver_sql(ADD_GUID, (fresh, old, store.name))
    for statement in RENUMBER:
        conn.exec_driver_sql(statement, (fresh, LOCAL_REP))
    conn.exec_driver_sql(RESET_REPLICAS)
    conn.exec_driver_sql(RESET_COUNTERS, (guid,))


def request_statuses(ctx: Context, s: Stimulus) -> None:
    """Request the status of 1-1 and of every content replica, at the first start after a restore (spec: ST-3, ST-4).

    Two or three stores must respond. A restore counts as an update, so a status follows after 24 quiet hours (spec: ST-1).
    """
    _account_for_unsent(ctx, s)
    s.conn.exec_driver_sql(NOTE_RESTORE, (s.now,))
    owned = [own for fid in ctx.rst.held_fids() if (own := ctx.rst.own(fid)) is not None]
    for own in owned:
        own.last_update_at, own.status_sent_at = s.now, None
        ctx.rst.touch(own)
    if ctx.replicates:
        request(ctx, s, owned, ctx.config.profile.restore_responders)
        return
    for own in owned:  # the requests are sent when the agent is enabled, in its first cycle
        want_status(ctx, s, own.fid)


def _account_for_unsent(ctx: Context, s: Stimulus) -> None:
    """Claim the unsent changes of the old GUID that the backup has.

    Their numbers now belong to another replica, and a store claims such numbers as soon as it has the change (spec: RST-1).
    Without this, the store would request changes that it already has.
    """
    for fid in ctx.rst.held_fids():
        rows = s.conn.exec_driver_sql(
            UNSENT_OF_OTHERS[fid == HIERARCHY_FID], (LOCAL_REP,) if fid == HIERARCHY_FID else (LOCAL_REP, fid)
        ).all()
        numbers = NumberSets.EMPTY
        for rep, ctr, is_fai, object_id, pcl in rows:
            predecessors = Pcl.decode(pcl)  # with the numbers that this change superseded (spec: CN-7)
            older = [
                number for number in tied_numbers(ctx, s.conn, object_id).numbers() if predecessors.includes(number)
            ]
            numbers |= NumberSets.of_kind(CNSet.from_numbers([ctx.store.number(rep, ctr), *older]), bool(is_fai))
        ctx.rst.add(fid, numbers)
