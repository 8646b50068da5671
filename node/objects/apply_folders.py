"""Applying versions of folders: the last writer wins, and a deletion wins over all (spec: HI-4 to HI-6)."""

from __future__ import annotations

from collections.abc import Sequence

from node.codec.items import ROOT, FolderProperties, Version, object_text, read_folder
from node.codec.replication_message import Update
from node.objects.apply_versions import Applied, LostDesign, record_version
from node.objects.version_rows import tie
from node.state import held_messages
from node.state.context import Context
from node.state.folders import Folder
from node.stored_values import HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from traces.events import TombstoneMade, VersionFailed
from traces.events.change import Way
from transport.errors import CodecError
from transport.sql import Statement
from transport.stimulus import Stimulus

MARK_SUPERSEDING = Statement("UPDATE folder SET supersedes = 1 WHERE fid = ?")
PUT_FOLDER = Statement(
    "INSERT OR REPLACE INTO folder (fid, object, rep, ctr, pcl, modified_at, deleted, sent, supersedes, item)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def apply_folders(ctx: Context, s: Stimulus, updates: Sequence[Update], way: Way, sender: str) -> Applied:
    """Apply folder versions and deletions. Versions whose parent is not known yet are held.

    This does not compute the tree. The caller computes it after all versions of the mail (`node.replicas.tree_changes.settle`).
    """
    result = Applied()
    fresh = _without_dropped(ctx, s, updates, way, result)
    queue: list[tuple[Update, Way]] = [(update, way) for update in fresh]
    for update, by in queue:
        parent = _unknown_parent(ctx, s, update.version)
        if parent is not None:
            held_messages.hold_folder(ctx, s, parent, update, by, sender)
            continue
        try:
            _apply_one(ctx, s, update, by, result)
        except CodecError as error:
            s.trace.record(VersionFailed, number=update.version.number.text, reason=str(error))
            result.failed |= update.names
            continue
        queue.extend((freed_update, "queue") for freed_update in held_messages.freed_folders(s, update.version.object))
    return result


def _without_dropped(ctx: Context, s: Stimulus, updates: Sequence[Update], way: Way, result: Applied) -> list[Update]:
    """Return the updates without those whose folder was deleted and whose tombstone was dropped (spec: IN-1, DL-4).

    The number of such an update is in this store's row although the folder is unknown. A dropped tombstone that hides a folder
    of this mail is applied again: the sender added the tombstone for this purpose (`hiding`).
    """
    own = ctx.rst.own(HIERARCHY_FID)
    assert own is not None, "every store holds the hierarchy"
    fresh: list[Update] = []
    dropped_updates: list[Update] = []
    for update in updates:
        version = update.version
        old = ctx.folders.get(version.object) is None and version.number in own.numbers.contents
        (dropped_updates if old else fresh).append(update)
    parents = {_parent_of(update.version) for update in fresh} if dropped_updates else set()
    returns = []
    for update in dropped_updates:
        if update.version.item is None and update.version.object in parents:
            returns.append(update)
        else:
            result.numbers |= NumberSets(update.names)
            record_version(ctx, s, HIERARCHY_FID, update.version, way, update.names, "old", kind="folder")
    return returns + fresh


def _parent_of(version: Version) -> bytes | None:
    try:
        return read_folder(version.item).parent if version.item is not None else None
    except CodecError:
        return None  # reported when it is applied


def hiding(ctx: Context, updates: Sequence[Update]) -> list[Update]:
    """Return the tombstones directly above a mail's folders. They are sent before the folders (spec: HI-6, HI-4).

    Otherwise a store that has dropped such a tombstone, or never had it, would hold the folder again and again.
    """
    objects = {update.version.object for update in updates}
    updates_by_object: dict[bytes, Update] = {}
    for update in updates:
        folder = ctx.folders.get(update.version.object)
        above = ctx.folders.get(folder.props.parent) if folder is not None and folder.props is not None else None
        if above is not None and above.props is None and above.object not in objects:
            deletion = Version(above.object, above.number, above.pcl, above.modified_at, None)
            updates_by_object[above.object] = Update(deletion, CNSet.EMPTY)
    return list(updates_by_object.values())


def _unknown_parent(ctx: Context, s: Stimulus, version: Version) -> bytes | None:
    """Return the parent that a version must wait for, or None (spec: HI-4). A tombstoned parent is known (spec: HI-6).

    Concurrent moves can put folders under each other. On a store that knows none of these folders, each would wait for the
    next. The version that closes such a cycle in the queue is applied without its parent, which frees the others (spec: HI-7).
    """
    if version.item is None:
        return None
    try:
        parent = read_folder(version.item).parent
    except CodecError:
        return None  # reported when it is applied
    if parent == ROOT or ctx.folders.get(parent) is not None or held_messages.waits_for(s.conn, parent, version.object):
        return None
    return parent


def _apply_one(ctx: Context, s: Stimulus, update: Update, way: Way, result: Applied) -> None:
    version = update.version
    present = ctx.folders.get(version.object)
    props = read_folder(version.item) if version.item is not None else None
    reason = _reason_ignored(present, version)
    result.lost_designs += _lost(ctx, present, version, props, reason)
    names = update.names | CNSet.from_numbers(version.pcl.numbers())
    if not reason:
        fid = present.fid if present else ctx.folders.next_fid
        folder = Folder(fid, version.object, version.number, version.pcl, version.modified_at, props)
        put(ctx, s, folder, version, present, sent=True)
        if props is None:
            s.trace.record(TombstoneMade, folder="1-1", object=object_text(version.object), number=version.number.text)
    current = ctx.folders.get(version.object)
    assert current is not None, "a version was applied or one is known"
    old_numbers = names - CNSet.of(current.number)
    if old_numbers:
        tie(ctx, s.conn, HIERARCHY_FID, version.object, old_numbers.numbers())
        s.conn.exec_driver_sql(MARK_SUPERSEDING, (current.fid,))
    result.numbers |= NumberSets(names)
    result.fresh = result.fresh or not reason
    record_version(ctx, s, HIERARCHY_FID, version, way, names, reason, kind="folder")


def _lost(
    ctx: Context, present: Folder | None, version: Version, props: FolderProperties | None, reason: str
) -> tuple[LostDesign, ...]:
    """Return the version that loses if two are concurrent and this store did not have both already (spec: HI-5)."""
    own = ctx.rst.own(HIERARCHY_FID)
    assert own is not None, "every store holds the hierarchy"
    if present is None or present.props is None or props is None or version.number in own.numbers.contents:
        return ()
    if version.pcl.includes(present.number) or present.pcl.includes(version.number):
        return ()
    loser, loser_props = (version.number, props) if reason else (present.number, present.props)
    return (LostDesign(version.object, loser, loser_props),)


def _reason_ignored(present: Folder | None, version: Version) -> str:
    """Return why a version is ignored, or ''."""
    if present is None:
        return ""
    if present.number == version.number:
        return "duplicate"
    rank = (version.modified_at, version.number)
    if present.props is None:
        if version.item is not None:
            return "tombstoned"  # spec: HI-6 deletion wins over concurrent changes
        return "" if rank > present.rank else "old"  # two deletions: the higher rank stays
    if version.item is None:
        return ""
    return "" if rank > present.rank else "old"  # spec: HI-5


def put(ctx: Context, s: Stimulus, folder: Folder, version: Version, old: Folder | None, *, sent: bool) -> None:
    """Write a folder's winning version. The number of the previous version stays tied to the folder."""
    if old is not None:
        tie(ctx, s.conn, HIERARCHY_FID, folder.object, [old.number])
    s.conn.exec_driver_sql(
        PUT_FOLDER,
        (
            folder.fid,
            folder.object,
            ctx.store.rep(s.conn, folder.number.guid),
            folder.number.counter,
            folder.pcl.encode(),
            folder.modified_at,
            int(version.item is None),
            int(sent),
            int(old is not None),
            version.item,
        ),
    )
    ctx.folders.put(folder)


def successor(ctx: Context, s: Stimulus, old: Folder) -> tuple[ChangeNumber, Pcl, int]:
    """Return number, PCL and time for a version made from `old` (spec: CN-3, CN-8)."""
    number = ctx.store.next_change()
    return number, old.pcl.merge(Pcl.of(number)), max(s.now, old.modified_at + 1)
