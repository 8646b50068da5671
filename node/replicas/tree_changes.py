"""Adds and removes this store's replicas when the hierarchy changes (spec: HI-6, RP-1, RP-2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from node.backfill import array
from node.broadcasts.cycles import broadcast, reschedule
from node.codec.items import FolderProperties
from node.objects import conflict_age, expiry, retention
from node.replicas import removal
from node.state.context import Context
from node.state.folders import Folder
from node.state.state_table import OwnRow
from node.state.timers import Timer, clear_timer, is_set, set_timer
from node.status.statuses import want_status
from node.user_mail import limit_warnings
from traces.events import FolderHidden, FolderMoved, FolderShown, ReplicaAdded, ReplicaPending
from transport.stimulus import Stimulus


@dataclass(frozen=True, slots=True)
class Before:
    """A folder before a hierarchy change."""

    props: FolderProperties | None
    hidden: bool
    path: str


def snapshot(ctx: Context) -> dict[int, Before]:
    """Return all folders as they are now, so that `settle` can compare them after the change."""
    return {folder.fid: Before(folder.props, folder.hidden, folder.path) for folder in ctx.folders.all()}


def settle(ctx: Context, s: Stimulus, before: Mapping[int, Before]) -> list[Folder]:
    """Compute the tree again, then add, update and drop replicas. Return the folders that are new or newly held here."""
    ctx.folders.arrange()
    new_folders: list[Folder] = []
    for folder in ctx.folders.all():
        was = before.get(folder.fid)
        own = ctx.rst.own(folder.fid)
        if was is None or (folder.props is not None and was.hidden != folder.hidden):
            _record_visibility(s, folder, was)
        elif folder.props is not None and not folder.hidden and was.path != folder.path:
            s.trace.record(FolderMoved, folder=folder.text, path=folder.path)
        if folder.props is None or folder.hidden:
            if own is not None:
                if was is not None and was.props is not None and folder.props is None and not own.pending:  # spec: DL-5
                    retention.keep_folder(ctx, s, folder, was.props, was.path)
                removal.drop(ctx, s, folder, "the folder is deleted")
            if was is None:
                new_folders.append(folder)
            continue
        listed = ctx.name in folder.props.replicas
        if listed and own is None:
            _add_replica(ctx, s, folder)
            new_folders.append(folder)
        elif own is not None:
            _update_replica(ctx, s, folder, own, was, listed)
        elif was is None:
            new_folders.append(folder)
    expiry.plan(ctx, s)
    limit_warnings.plan(ctx, s)
    conflict_age.plan(ctx, s)
    return new_folders


def _record_visibility(s: Stimulus, folder: Folder, was: Before | None) -> None:
    if folder.props is None:
        return
    if not folder.hidden:
        s.trace.record(FolderShown, folder=folder.text, path=folder.path)
    elif was is None or not was.hidden:
        s.trace.record(FolderHidden, folder=folder.text, path=was.path if was else folder.props.name)


def _add_replica(ctx: Context, s: Stimulus, folder: Folder) -> None:
    """Begin an empty replica, visible at once, and request the status of the other holders (spec: RP-1)."""
    ctx.rst.begin(s.conn, folder.fid, ctx.store.change_counter, fresh=True)
    s.trace.record(ReplicaAdded, folder=folder.text, store=ctx.name)
    if ctx.other_holders(folder.fid):
        want_status(ctx, s, folder.fid)


def _update_replica(ctx: Context, s: Stimulus, folder: Folder, own: OwnRow, was: Before | None, listed: bool) -> None:
    assert folder.props is not None
    old = was.props if was else None
    if not listed and not own.pending:
        _begin_removal(ctx, s, folder, own)
    back = listed and own.pending
    if back:
        removal.cancel_removal(ctx, s, own)
    _on_list_change(ctx, s, folder, old, listed=listed, back=back)
    if back:  # while it was leaving, the store made no backfill entries (spec: BF-1, RP-2)
        for row in ctx.rst.rows(folder.fid):
            array.note_missing(ctx, s, folder.fid, row.store)
    if old is not None and old.schedule != folder.props.schedule and not own.pending:
        reschedule(ctx, s, folder.fid)


def _on_list_change(
    ctx: Context, s: Stimulus, folder: Folder, old: FolderProperties | None, *, listed: bool, back: bool
) -> None:
    """If the replica list changed, drop the rows of stores that left, and request status (spec: RST-4, ST-3)."""
    assert folder.props is not None
    if old is not None and set(old.replicas) != set(folder.props.replicas):
        removed = [row.store for row in ctx.rst.rows(folder.fid) if row.store not in folder.props.replicas]
        for store in removed:  # spec: RST-4
            ctx.rst.drop_row(s.conn, folder.fid, store)
        if removed:
            array.prune(ctx, s, folder.fid, "the stores that claimed it left the replica list")
        removal.forget_leavers(ctx, s, folder.fid)
        asks = back or ctx.config.profile.every_holder_asks  # spec: ST-3
        if listed and asks and ctx.other_holders(folder.fid):
            want_status(ctx, s, folder.fid)


def _begin_removal(ctx: Context, s: Stimulus, folder: Folder, own: OwnRow) -> None:
    """Mark this replica delete-pending, and begin its removal (spec: RP-2)."""
    array.drop_folder(ctx, s, folder.fid, "this store left the replica list")
    own.pending = True
    ctx.rst.touch(own)
    s.trace.record(ReplicaPending, folder=folder.text)
    if ctx.replicates:  # otherwise `announce_removals` does it when the agent is enabled
        go_on_with_removal(ctx, s, own)


def go_on_with_removal(ctx: Context, s: Stimulus, own: OwnRow) -> None:
    """Broadcast what is unsent at once. When nothing is left, send the delete-pending request (spec: RP-2).

    If the changes need several stimuli, the timer of the folder's cycle starts the next one. If this store has no address, the
    same timer continues when it has one (spec: ML-1).
    """
    if ctx.directory.address(ctx.name) is None:
        set_timer(s.conn, Timer.CYCLE, own.fid, s.now)
        return
    clear_timer(s.conn, Timer.CYCLE, own.fid)
    broadcast(ctx, s, own.fid)
    if not is_set(s.conn, Timer.CYCLE, own.fid):
        removal.announce(ctx, s, own)


def announce_removals(ctx: Context, s: Stimulus) -> None:
    """Announce the removals of replicas that happened while the agent was disabled (spec: RP-2, SE-1)."""
    for fid in ctx.rst.held_fids():
        own = ctx.rst.own(fid)
        if own is not None and own.pending and not removal.is_announced(s, fid):
            go_on_with_removal(ctx, s, own)
