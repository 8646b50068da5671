"""Replicas here come and go as the hierarchy says (spec: HI-6, RP-1, RP-2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from node.agent import backfill, replica_removal
from node.agent.status import want_status
from node.codec.items import FolderProperties
from node.mail.broadcast import broadcast, reschedule
from node.objects import conflicts, expiry
from node.state.context import Context
from node.state.folders import Folder
from node.state.state_table import OwnRow
from node.state.timers import Timer, clear_timer
from node.tracking.cnset import CNSet
from traces.events import FolderHidden, FolderShown, ReplicaAdded, ReplicaPending
from transport.stimulus import Stimulus


@dataclass(frozen=True, slots=True)
class Before:
    """A folder as it stood before a hierarchy change."""

    props: FolderProperties | None
    hidden: bool
    path: str


def snapshot(ctx: Context) -> dict[int, Before]:
    return {folder.fid: Before(folder.props, folder.hidden, folder.path) for folder in ctx.folders.all()}


def settle(ctx: Context, s: Stimulus, before: Mapping[int, Before]) -> list[Folder]:
    """Brings the replicas here in line with the tree; the folders that are new here, or newly held."""
    ctx.folders.arrange()
    news: list[Folder] = []
    for folder in ctx.folders.all():
        was = before.get(folder.fid)
        own = ctx.rst.own(folder.fid)
        if was is None or (folder.props is not None and was.hidden != folder.hidden):
            _tell(s, folder, was)
        if folder.props is None or folder.hidden:
            if own is not None:
                replica_removal.drop(ctx, s, folder, "the folder is deleted")
            if was is None:
                news.append(folder)
            continue
        listed = ctx.name in folder.props.replicas
        if listed and own is None:
            _add(ctx, s, folder)
            news.append(folder)
        elif own is not None:
            _kept(ctx, s, folder, own, was, listed)
        elif was is None:
            news.append(folder)
    expiry.plan(ctx, s)
    conflicts.plan(ctx, s)
    return news


def _tell(s: Stimulus, folder: Folder, was: Before | None) -> None:
    if folder.props is None:
        return
    if not folder.hidden:
        s.trace.record(FolderShown, folder=folder.text, path=folder.path)
    elif was is None or not was.hidden:
        s.trace.record(FolderHidden, folder=folder.text, path=was.path if was else folder.props.name)


def _add(ctx: Context, s: Stimulus, folder: Folder) -> None:
    """A replica begins here: empty, visible at once, and asking who has what (spec: RP-1)."""
    ctx.rst.begin(s.conn, folder.fid, ctx.store.change_counter, fresh=True)
    s.trace.record(ReplicaAdded, folder=folder.text, store=ctx.name)
    if ctx.other_holders(folder.fid):
        want_status(ctx, s, folder.fid)


def _kept(ctx: Context, s: Stimulus, folder: Folder, own: OwnRow, was: Before | None, listed: bool) -> None:
    assert folder.props is not None
    old = was.props if was else None
    if not listed and not own.pending:
        _leave(ctx, s, folder, own)
    back = listed and own.pending
    if back:
        replica_removal.stay(ctx, s, own)
    _as_listed(ctx, s, folder, old, listed=listed, back=back)
    if back:  # what others told while this store was leaving was not asked for (spec: BF-1, RP-2)
        for row in ctx.rst.rows(folder.fid):
            backfill.note_missing(ctx, s, folder.fid, CNSet.EMPTY, row.store)
    if old is not None and old.schedule != folder.props.schedule:
        reschedule(ctx, s, folder.fid)


def _as_listed(
    ctx: Context, s: Stimulus, folder: Folder, old: FolderProperties | None, *, listed: bool, back: bool
) -> None:
    """The list of holders has changed, perhaps."""
    assert folder.props is not None
    if old is not None and set(old.replicas) != set(folder.props.replicas):
        gone = [row.store for row in ctx.rst.rows(folder.fid) if row.store not in folder.props.replicas]
        for store in gone:  # spec: RST-4 a leaving store's row is dropped
            ctx.rst.drop_row(s.conn, folder.fid, store)
        replica_removal.forget_leavers(ctx, s, folder.fid)
        if gone:
            backfill.prune(ctx, s, folder.fid, "the stores that claimed it left the replica list")
        asks = back or ctx.config.profile.every_holder_asks  # spec: ST-3 else the added store alone
        if listed and asks and ctx.other_holders(folder.fid):
            want_status(ctx, s, folder.fid)


def _leave(ctx: Context, s: Stimulus, folder: Folder, own: OwnRow) -> None:
    """The leaving store sends at once what it has not sent, and keeps its data until it may be dropped (spec: RP-2)."""
    if ctx.config.replicates:  # else the start of an agent does it, or a cycle if the store is back by then
        broadcast(ctx, s, folder.fid)
        clear_timer(s.conn, Timer.CYCLE, folder.fid)
    backfill.drop_folder(ctx, s, folder.fid, "this store left the replica list")
    own.pending = True
    ctx.rst.touch(own)
    s.trace.record(ReplicaPending, folder=folder.text)
    if ctx.config.replicates:
        replica_removal.announce(ctx, s, own)


def say_leaving(ctx: Context, s: Stimulus) -> None:
    """What left its list while there was no agent to say so says it now (spec: RP-2, SE-1)."""
    for fid in ctx.rst.held_fids():
        own = ctx.rst.own(fid)
        if own is not None and own.pending and not replica_removal.is_said(s, fid):
            broadcast(ctx, s, fid)
            clear_timer(s.conn, Timer.CYCLE, fid)
            replica_removal.announce(ctx, s, own)
