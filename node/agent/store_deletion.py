"""A store taken out of the directory (spec: RP-6).

It is refused while folders list the store. By force it goes off every list, as hierarchy changes, the last replica of a
folder too. Every store forgets it: its rows go, and what only it claimed is waited for no more and is reported lost.
"""

from __future__ import annotations

from node.agent import backfill, folder_admin
from node.agent.backfill_sources import leavers, missing_of
from node.errors import Misuse
from node.state.backfill_array import requests
from node.state.context import Context
from traces.events import Loss, StoreDeleted
from transport.stimulus import Stimulus

_BY_STORE = {"leaver": "store", "said_expired": "store", "repeated": "store", "asked": "responder", "peer": "store"}
"""Tables in which a store that is gone has no business, and the column that names it."""


def delete(ctx: Context, s: Stimulus, store: str, *, force: bool) -> None:
    """An administrator deletes a store here. Misuse while it holds replicas, unless by force."""
    if ctx.directory.get(store) is None:
        raise Misuse(f"no store {store} in the directory; the stores are {', '.join(ctx.directory.stores())}")
    if store == ctx.name:
        raise Misuse(f"{store} does not delete itself; do it on another store")
    holding = [each for each in ctx.folders.all() if each.props is not None and store in each.props.replicas]
    leaving = [ctx.folders.at(fid) for fid in ctx.rst.held_fids() if store in leavers(s.conn, fid)]  # spec: RP-2
    instances = {each.path or each.text for each in (*holding, *leaving)}
    if instances and not force:
        paths = ", ".join(sorted(instances))
        raise Misuse(f"store {store} cannot be deleted: it holds replicas of {paths}; move them, or delete it by force")
    gone(ctx, s, store, forced=bool(instances))  # before the lists change, so that what only it had is told
    for folder in holding:
        folder_admin.take_off_list(ctx, s, folder, store)


def gone(ctx: Context, s: Stimulus, store: str, *, forced: bool) -> None:
    """The store is in the directory no more; what is known of it is forgotten here."""
    if ctx.directory.get(store) is None:
        return
    ctx.directory.leave(s, store)
    s.trace.record(StoreDeleted, store=store, forced=forced)
    for table, column in _BY_STORE.items():
        s.conn.exec_driver_sql(f"DELETE FROM {table} WHERE {column} = ?", (store,))
    for fid in ctx.rst.held_fids():
        before = missing_of(s.conn, fid).merged()
        ctx.rst.drop_row(s.conn, fid, store)
        for request in requests(s.conn, fid=fid):
            if request.source == store:
                backfill.end(ctx, s, request, "pruned")
        backfill.prune(ctx, s, fid, f"{store} was deleted")
        lost = before - missing_of(s.conn, fid).merged()
        if lost:
            folder = ctx.folders.text_of(fid)
            s.trace.record(Loss, folder=folder, cnset=lost.text(), reason=f"only {store} had it, which was deleted")
