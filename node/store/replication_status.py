"""The replication status of folders, as the administrators' tools of Exchange showed it (spec: RST-3, AD-1).

A store computes the status of each holder of a folder, itself included, from the rows of its replication state table. The rows
of other holders are what these stores last reported, so a status is as old as the last mail about the folder. All changes that
any row of the table has are *known* here.

    status             when
    not yet heard      there is no row: no mail of this holder about the folder has arrived; for the store itself: the folder
                       has other holders, and none of them has a row
    behind             the holder's row lacks something that is known here
    locally modified   the row lacks nothing, and the row of another holder lacks a change that was made on this holder
    in sync            otherwise

The first line that is true decides. The store's own changes that wait for their broadcast are in no row; they count as made
here, so the store is locally modified from the instant of a change.

Example: A and B hold a folder and both have A-1..3. A user posts A-4 on A.

    time    event                              on A: status of A   on A: of B   on B: status of A   on B: of B
    00:00   the post                           locally modified    in sync      in sync             in sync
    00:15   A broadcasts A-4, and B gets it    locally modified    behind       in sync             in sync
    36:15   B sends a status                   in sync             in sync      in sync             in sync

So A shows B as behind for more than a day, although B has everything: A knows only what B says (spec: RST-2).

The replica that this store is removing is *delete-pending*, and so are the replicas of leaving stores that have asked this
store to take over what they have (spec: RP-2). Their changes are known here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from node.state.context import Context
from node.stored_values import HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from node.tracking.number_sets import NumberSets
from node.views import FolderStatus, ReplicaStatus, SyncState
from traces.labtime import LabTime
from transport.sql import Connection, Statement

TRANSIT_TIMES = Statement("SELECT store, transit_us FROM peer")
UNSENT = Statement(
    "SELECT fid, rep, ctr, fai FROM message WHERE sent = 0"
    f" UNION ALL SELECT {HIERARCHY_FID}, rep, ctr, 0 FROM folder WHERE sent = 0"
)
LEAVERS = Statement("SELECT fid, store, numbers, numbers_fai FROM leaver ORDER BY store")


@dataclass(frozen=True, slots=True)
class _Replica:
    """A holder of a folder as this store knows it.

    numbers: of its row; None: not yet heard.
    own_changes: the numbers of its own changes.
    """

    store: str
    numbers: NumberSets | None
    own_changes: NumberSets
    received_at: LabTime | None = None
    pending: bool = False


def folder_status(ctx: Context, conn: Connection, names: Mapping[bytes, str], fid: int | None) -> list[FolderStatus]:
    """Return the status of one folder that has a replica here, or of all of them, the hierarchy first."""
    unsent, leavers = _unsent(ctx, conn), _leavers(conn)
    transit = dict(conn.exec_driver_sql(TRANSIT_TIMES).all())
    statuses = []
    for folder_id in ctx.rst.held_fids() if fid is None else [fid]:
        if ctx.rst.own(folder_id) is None:
            continue
        own_unsent = unsent.get(folder_id, NumberSets.EMPTY)
        replicas = tuple(_replicas(ctx, folder_id, own_unsent, leavers.get(folder_id, {})))
        all_numbers = NumberSets.union_all(replica.numbers for replica in replicas if replica.numbers is not None)
        statuses.append(
            FolderStatus(
                folder=ctx.folders.text_of(folder_id),
                path=ctx.folders.path_of(folder_id),
                store=ctx.name,
                unsent=own_unsent.merged().named(names),
                replicas=tuple(
                    _view(replica, replicas, all_numbers, names, transit.get(replica.store)) for replica in replicas
                ),
            )
        )
    return statuses


def _replicas(ctx: Context, fid: int, unsent: NumberSets, leavers: Mapping[str, NumberSets]) -> Iterator[_Replica]:
    own = ctx.rst.own(fid)
    assert own is not None
    stores = ctx.other_holders(fid)
    rows = [(store, ctx.rst.row(fid, store)) for store in stores]
    alone = bool(stores) and not any(row for _, row in rows)
    yield _Replica(
        ctx.name,
        None if alone and not leavers else own.numbers,
        _made_on(ctx, ctx.name, own.numbers) | unsent,
        pending=own.pending,
    )
    for store, row in rows:
        if row is None:
            yield _Replica(store, None, NumberSets.EMPTY)
        else:
            yield _Replica(store, row.numbers, _made_on(ctx, store, row.numbers), row.heard_at)
    for store, numbers in leavers.items():
        if store not in stores:
            yield _Replica(store, numbers, _made_on(ctx, store, numbers), pending=True)


def _made_on(ctx: Context, store: str, numbers: NumberSets) -> NumberSets:
    """Return those of the numbers that were made on a store. A restored store has several GUIDs (spec: RP-4)."""
    guids = [guid for guid, name in ctx.store.store_of.items() if name == store]
    return NumberSets(numbers.contents.only(guids), numbers.associated.only(guids))


def _view(
    replica: _Replica,
    replicas: tuple[_Replica, ...],
    all_numbers: NumberSets,
    names: Mapping[bytes, str],
    transit_us: int | None,
) -> ReplicaStatus:
    lacking_numbers = NumberSets.EMPTY if replica.numbers is None else all_numbers - replica.numbers
    return ReplicaStatus(
        store=replica.store,
        sync=_state(replica, replicas, lacking_numbers),
        pending=replica.pending,
        missing=lacking_numbers.contents.named(names),
        missing_fai=lacking_numbers.associated.named(names),
        received_at=replica.received_at,
        transmission_us=transit_us,
    )


def _state(replica: _Replica, replicas: tuple[_Replica, ...], lacking_numbers: NumberSets) -> SyncState:
    # spec: RST-3
    if replica.numbers is None:
        return SyncState.NOT_HEARD
    if lacking_numbers:
        return SyncState.BEHIND
    other_sets = [peer.numbers or NumberSets.EMPTY for peer in replicas if peer is not replica and not peer.pending]
    if all(replica.own_changes <= numbers for numbers in other_sets):
        return SyncState.IN_SYNC
    return SyncState.LOCALLY_MODIFIED


def _unsent(ctx: Context, conn: Connection) -> dict[int, NumberSets]:
    """Return this store's changes that wait for their broadcast, by folder."""
    changes: dict[int, list[tuple[ChangeNumber, bool]]] = {}
    for fid, rep, ctr, fai in conn.exec_driver_sql(UNSENT):
        changes.setdefault(fid, []).append((ctx.store.number(rep, ctr), bool(fai)))
    return {fid: NumberSets.from_numbers(numbers) for fid, numbers in changes.items()}


def _leavers(conn: Connection) -> dict[int, dict[str, NumberSets]]:
    """Return what the leaving stores of each folder claim (spec: RP-2)."""
    rows_by_folder: dict[int, dict[str, NumberSets]] = {}
    for fid, store, numbers, fai in conn.exec_driver_sql(LEAVERS):
        rows_by_folder.setdefault(fid, {})[store] = NumberSets.decode(numbers, fai)
    return rows_by_folder
