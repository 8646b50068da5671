"""A store that comes back from a backup (spec: RP-4).

Its counter stands where it stood at the backup, and the world has seen higher numbers of it. So by default it takes a new
replica GUID: the old one's numbers are then like any other store's, and what others still have of them comes back by
backfill. A setting leaves the new GUID out, so that a class can watch change numbers being reissued.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from node.agent.status import request, want_status
from node.codec.items import ROOT_TEXT, object_text
from node.objects.version_rows import tied_numbers
from node.seeded_ids import guid_from
from node.state.context import Context
from node.state.store_identity import LOCAL_REP, Begins, StoreState
from node.state.store_settings import store_settings
from node.state.tables import HIERARCHY_FID
from node.tracking.cnset import CNSet
from node.tracking.idset import decode_idset, encode_idset
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from topology.settings.values import RawSetting
from traces import LabTime
from traces.events import Loss
from transport.sql import Connection
from transport.stimulus import Stimulus

Unsent = dict[str, CNSet]
"""By folder, as traces write it, the changes made here that were not broadcast yet."""


@dataclass(frozen=True, slots=True)
class Continued:
    """What does not go back with a backup: the trace's numbers, which are the lab's and not the store's, and the settings,
    which stand in the registry and the directory."""

    incarnation: int
    seq: int
    lamport: int
    last_at: LabTime
    settings: Mapping[str, RawSetting]
    unsent: Unsent


def unsent(conn: Connection) -> Unsent:
    """Of a store's database, whether it runs or not; and what a restore has taken from it and no start has told of yet."""
    store = StoreState(conn)
    found = _untold(conn)
    for object_id, rep, ctr in conn.exec_driver_sql(
        "SELECT NULL, rep, ctr FROM folder WHERE sent = 0 UNION ALL"
        " SELECT folder.object, message.rep, message.ctr FROM message JOIN folder USING (fid) WHERE message.sent = 0"
    ):
        folder = ROOT_TEXT if object_id is None else object_text(object_id)
        found[folder] = found.get(folder, CNSet.EMPTY) | CNSet.of(store.number(rep, ctr))
    return found


def _untold(conn: Connection) -> Unsent:
    rows = conn.exec_driver_sql("SELECT folder, numbers FROM unsent_before").all()
    return {folder: decode_idset(numbers) for folder, numbers in rows}


def tell_losses(ctx: Context, s: Stimulus) -> None:
    """What was unsent before the restore and is not in the backup is nowhere else (spec: RP-4, DU-1).

    The backup can be newer than the life that it ends, if that one was begun from an older backup: it may have seen the
    broadcast of a change that was still unsent there.
    """
    before = _untold(s.conn)
    if not before:
        return
    s.conn.exec_driver_sql("DELETE FROM unsent_before")
    now = unsent(s.conn)
    for fid in ctx.rst.held_fids():
        own = ctx.rst.own(fid)
        if own is not None:
            folder = ctx.folders.text_of(fid)
            now[folder] = now.get(folder, CNSet.EMPTY) | own.numbers.merged()
    for folder in sorted(before):
        lost = before[folder] - now.get(folder, CNSet.EMPTY)
        if lost:
            s.trace.record(Loss, folder=folder, cnset=lost.text(), reason="unsent, and newer than the backup")


def prepare(conn: Connection, continued: Continued, seed: bytes, *, new_guid: bool) -> None:
    """Makes a backup fit to start from, before it takes the database's place."""
    store = StoreState(conn)
    _go_on(conn, store, continued)
    store.begins = Begins.RESTORED
    store.save(conn)
    if new_guid:
        _take_new_guid(conn, store, seed)


def prepare_anew(conn: Connection, continued: Continued, name: str, seed: bytes) -> None:
    """Makes an empty database a new store's that has a trace already."""
    guid = guid_from(seed, "replica", continued.incarnation)
    store = StoreState.create(conn, name, guid, continued.last_at)
    _go_on(conn, store, continued)
    store.begins = Begins.ANEW
    store.save(conn)


def _go_on(conn: Connection, store: StoreState, continued: Continued) -> None:
    store.incarnation, store.seq = continued.incarnation, continued.seq
    store.lamport, store.last_at = continued.lamport, max(store.last_at, continued.last_at)
    # In the database, for the process may die before its first stimulus is committed.
    conn.exec_driver_sql("DELETE FROM unsent_before")
    for folder, numbers in continued.unsent.items():
        conn.exec_driver_sql(
            "INSERT INTO unsent_before (folder, numbers) VALUES (?, ?)", (folder, encode_idset(numbers))
        )
    conn.exec_driver_sql("DELETE FROM setting")
    store_settings(conn, continued.settings)  # spec: SE-1


def _take_new_guid(conn: Connection, store: StoreState, seed: bytes) -> None:
    """The old GUID becomes another replica's, and counting begins anew under a new one."""
    old = store.guid
    fresh: int = conn.exec_driver_sql("SELECT max(rep) + 1 FROM replid").scalar_one()
    guid = guid_from(seed, "replica", store.incarnation)
    conn.exec_driver_sql("UPDATE replid SET guid = ? WHERE rep = ?", (guid, LOCAL_REP))
    conn.exec_driver_sql("INSERT INTO replid (rep, guid, store) VALUES (?, ?, ?)", (fresh, old, store.name))
    for table in ("message", "folder", "superseded"):
        conn.exec_driver_sql(f"UPDATE {table} SET rep = ? WHERE rep = ?", (fresh, LOCAL_REP))
    conn.exec_driver_sql("UPDATE replica SET began = 0, last_sent = 0, last_sent_fai = 0")
    conn.exec_driver_sql("UPDATE store_state SET guid = ?, change_counter = 0, object_counter = 0", (guid,))


def ask_around(ctx: Context, s: Stimulus) -> None:
    """The first start after the restore: 1-1 and every content replica, from two or three responders (spec: ST-3, ST-4).

    A restore counts as an update, so a status follows after 24 quiet hours (spec: ST-1).
    """
    _account_for_unsent(ctx, s)
    owned = [own for fid in ctx.rst.held_fids() if (own := ctx.rst.own(fid)) is not None]
    for own in owned:
        own.last_update_at, own.status_sent_at = s.now, None
        ctx.rst.touch(own)
    if ctx.config.replicates:
        request(ctx, s, owned, ctx.config.profile.restore_responders)
        return
    for own in owned:  # asked by the first cycle of an agent
        want_status(ctx, s, own.fid)


def _account_for_unsent(ctx: Context, s: Stimulus) -> None:
    """Changes under the old GUID that the backup has count as here, although the backup has not seen their broadcast.

    They are another replica's numbers now, and those are accounted for where their change is (spec: RST-1); or this store
    would miss, and ask for, what others got of it after the backup.
    """
    for fid in ctx.rst.held_fids():
        table, where = ("folder", "") if fid == HIERARCHY_FID else ("message", " AND fid = ?")
        fai = "0" if fid == HIERARCHY_FID else "fai"
        found = s.conn.exec_driver_sql(
            f"SELECT rep, ctr, {fai}, object, pcl FROM {table} WHERE sent = 0 AND rep <> ?{where} ORDER BY rep, ctr",
            (LOCAL_REP,) if fid == HIERARCHY_FID else (LOCAL_REP, fid),
        ).all()
        numbers = NumberSets.EMPTY
        for rep, ctr, is_fai, object_id, pcl in found:
            known = Pcl.decode(pcl)  # what a change took the place of goes with it (spec: CN-7)
            older = [each for each in tied_numbers(ctx, s.conn, object_id).numbers() if known.includes(each)]
            numbers |= NumberSets.of_kind(CNSet.from_numbers([ctx.store.number(rep, ctr), *older]), bool(is_fai))
        ctx.rst.add(fid, numbers)
