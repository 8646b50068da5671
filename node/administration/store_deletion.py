"""The deletion of a store from the directory (spec: RP-6).

The deletion is refused while the store is on a replica list. A forced deletion removes the store from every replica list by
hierarchy changes, even if it has the last replica. Every other store deletes its rows about the deleted store. Missing numbers
that only the deleted store claimed are removed from the backfill array and reported as lost.
"""

from __future__ import annotations

from node.administration import folder_changes
from node.backfill import array, slots
from node.backfill.rows import requests
from node.backfill.sources import leavers, missing_of
from node.errors import Misuse
from node.state.context import Context
from traces.backfill_lives import RequestEvent
from traces.events import Loss, StoreDeleted
from transport.sql import Statement
from transport.stimulus import Stimulus

FORGET_STORE = tuple(
    Statement(f"DELETE FROM {table} WHERE {column} = ?")
    for table, column in (
        ("leaver", "store"),
        ("said_expired", "store"),
        ("repeated", "store"),
        ("asked", "responder"),
        ("peer", "store"),
    )
)
"""For each table with rows about another store: the statement that deletes the rows of a deleted store."""


def delete(ctx: Context, s: Stimulus, store: str, *, force: bool) -> None:
    """Delete a store as an administrator. Raise Misuse while it holds replicas, unless `force`."""
    if ctx.directory.get(store) is None:
        raise Misuse(f"store {store} is not in the directory; the stores are {', '.join(ctx.directory.stores())}")
    if store == ctx.name:
        raise Misuse(f"a store cannot delete itself; delete {store} on another store")
    holding = [folder for folder in ctx.folders.all() if folder.props is not None and store in folder.props.replicas]
    leaving = [ctx.folders.at(fid) for fid in ctx.rst.held_fids() if store in leavers(s.conn, fid)]  # spec: RP-2
    instances = {folder.path or folder.text for folder in (*holding, *leaving)}
    if instances and not force:
        paths = ", ".join(sorted(instances))
        raise Misuse(
            f"store {store} cannot be deleted: it holds replicas of {paths};"
            " move the replicas first, or delete the store by force"
        )
    forget_store(ctx, s, store, forced=bool(instances))  # before the lists change, so that losses are reported
    for folder in holding:
        folder_changes.take_off_list(ctx, s, folder, store)


def forget_predecessor(ctx: Context, s: Stimulus, store: str, number: int) -> None:
    """Before the entry of a store that was created again comes into the directory, forget the deleted store of its name, if
    this store has not heard of the deletion yet (spec: RP-7)."""
    entry = ctx.directory.get(store)
    if entry is not None and entry.number < number and store != ctx.name:
        forget_store(ctx, s, store, forced=False)


def forget_store(ctx: Context, s: Stimulus, store: str, *, forced: bool) -> None:
    """Remove a store from the directory here, with all rows about it. Report as lost the changes that only that store had."""
    entry = ctx.directory.get(store)
    if entry is None:
        return
    ctx.directory.leave(s, store)
    s.trace.record(StoreDeleted, store=store, forced=forced, directory_object=entry.number)
    for statement in FORGET_STORE:
        s.conn.exec_driver_sql(statement, (store,))
    for fid in ctx.rst.held_fids():
        before = missing_of(s.conn, fid).merged()
        ctx.rst.drop_row(s.conn, fid, store)
        for request in requests(s.conn, fid=fid):
            if request.source == store:
                slots.end(ctx, s, request, RequestEvent.PRUNED)
        array.prune(ctx, s, fid, f"{store} was deleted")
        lost = before - missing_of(s.conn, fid).merged()
        if lost:
            folder = ctx.folders.text_of(fid)
            s.trace.record(Loss, folder=folder, cnset=lost.text(), reason=f"only {store} had it, which was deleted")
