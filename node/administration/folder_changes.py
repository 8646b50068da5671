"""Administration of folders: create, change, delete. Each of these is a change of the hierarchy (spec: CN-2, HI-2, HI-6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from node.administration.folder_properties import with_fields
from node.agent.incoming import process_freed_content
from node.broadcasts.cycles import hierarchy_changed
from node.codec.items import (
    MAX_NAME_LENGTH,
    RESOLVE_DEFAULT,
    RESOLVE_NAMES,
    ROOT,
    ROOT_TEXT,
    FolderProperties,
    Version,
    encode_folder,
    object_text,
    read_folder,
)
from node.errors import FolderExists, FolderUnknown, Misuse
from node.objects import apply_folders, local_changes, retention
from node.replicas.tree_changes import settle, snapshot
from node.state.context import Context, pcl_fields
from node.state.folders import Folder
from node.tracking.change_number import ChangeNumber
from node.tracking.pcl import Pcl
from topology.arguments import FolderChanges, FolderFields
from traces.events import ChangeMade, TombstoneMade
from transport.sql import Statement
from transport.stimulus import Stimulus

ITEM = Statement("SELECT item FROM folder WHERE fid = ?")


def create(ctx: Context, s: Stimulus, path: str, fields: FolderFields) -> Version:
    """Create a folder and return its version. By default it gets its parent's replica list; a top folder gets this store."""
    above, _, name = path.strip("/").rpartition("/")
    parent = ctx.folders.visible(above) if above else None
    _check_name(name)
    same = ctx.folders.sibling(parent, name)
    if same is not None:
        raise FolderExists(f"the folder {same.path} exists already; folder names that differ only in case are equal")
    replicas = fields.get("replicas")
    if replicas is None:
        replicas = parent.props.replicas if parent is not None and parent.props is not None else [ctx.name]
    object_id = ctx.store.next_object().to_xid()
    number = ctx.store.next_change()
    stores = checked_stores(ctx, replicas)
    props = FolderProperties(
        parent=parent.object if parent else ROOT,
        name=name,
        replicas=stores,
        added_at=(s.now,) * len(stores),
        created=number,
    )
    props = with_fields(props, fields)
    pcl = Pcl.of(number)
    item = encode_folder(object_id, number, pcl, s.now, props, None)
    version = Version(object_id, number, pcl, s.now, item)
    _write(ctx, s, [(version, props, None)])
    return version


def change(ctx: Context, s: Stimulus, path: str, fields: FolderChanges) -> ChangeNumber:
    """Change the properties of a folder and return the change number. None leaves a property as it is."""
    folder = ctx.folders.visible(path)
    assert folder.props is not None, "a visible folder is alive"
    props = folder.props
    rename, move_to, replicas = fields.get("rename"), fields.get("move_to"), fields.get("replicas")
    if rename is not None:
        _check_name(rename)
        props = replace(props, name=rename)
    if move_to is not None:
        props = replace(props, parent=_new_parent(ctx, folder, move_to))
    props = with_fields(props, fields)
    if replicas is not None:
        props = props.with_replicas(checked_stores(ctx, replicas), s.now)
    return modify(ctx, s, [(folder, props)])[0]


def take_off_list(ctx: Context, s: Stimulus, folder: Folder, store: str) -> None:
    """Remove a store that is deleted by force from a folder's replica list, even if it is the last one (spec: RP-6)."""
    assert folder.props is not None, "a folder with a replica list is not deleted"
    stores = [name for name in folder.props.replicas if name != store]
    modify(ctx, s, [(folder, folder.props.with_replicas(stores, s.now))])


def modify(ctx: Context, s: Stimulus, changes: Sequence[tuple[Folder, FolderProperties]]) -> list[ChangeNumber]:
    """Make a version of each folder with other properties. Return their change numbers."""
    versions_made: list[tuple[Version, FolderProperties, Folder | None]] = []
    for folder, props in changes:
        number, pcl, modified_at = apply_folders.successor(ctx, s, folder)
        old = s.conn.exec_driver_sql(ITEM, (folder.fid,)).scalar_one()
        item = encode_folder(folder.object, number, pcl, modified_at, props, old)
        versions_made.append((Version(folder.object, number, pcl, modified_at, item), props, folder))
    _write(ctx, s, versions_made)
    return [version.number for version, _, _ in versions_made]


def delete(ctx: Context, s: Stimulus, path: str) -> None:
    """Delete a folder and its subfolders, with one change number for each folder (spec: HI-6)."""
    top = ctx.folders.visible(path)
    before = snapshot(ctx)
    for folder in ctx.folders.below(top):
        number, pcl, modified_at = apply_folders.successor(ctx, s, folder)
        version = Version(folder.object, number, pcl, modified_at, None)
        _put(ctx, s, version, None, folder)
        _record(s, version, folder.props, "delete", (folder.number,))
        s.trace.record(TombstoneMade, folder="1-1", object=folder.text, number=number.text)
    settle(ctx, s, before)
    hierarchy_changed(ctx, s)


def recover(ctx: Context, s: Stimulus, path: str) -> Version:
    """Recover a deleted folder with its subfolders and its messages, and return its version (spec: DL-5).

    All are new: they have new ids and change numbers. The folder gets its old properties; stores that have left the
    organization are not on its replica list any more.
    """
    return _recover(ctx, s, retention.folder_at(ctx, s, path), None)


def _recover(ctx: Context, s: Stimulus, deletion: retention.Retained, parent: bytes | None) -> Version:
    """Recover a folder under `parent`, or under its old parent, or under the folder that now has the path of this parent."""
    old = read_folder(deletion.item)
    above = old.parent if parent is None else parent
    over = ctx.folders.get(above)
    if above != ROOT and (over is None or not over.path):
        over = ctx.folders.find(deletion.path.rpartition("/")[0])
        if over is None:
            raise FolderUnknown(f"the folder above {deletion.path} is deleted; recover that folder first")
        above = over.object
    same = ctx.folders.sibling(over, old.name)
    if same is not None:
        raise FolderExists(f"the folder {same.path} exists already; rename it before {deletion.path} is recovered")
    replicas = tuple(store for store in old.replicas if ctx.directory.get(store) is not None)
    object_id, number = ctx.store.next_object().to_xid(), ctx.store.next_change()
    props = replace(old, parent=above, replicas=replicas, added_at=(s.now,) * len(replicas), created=number)
    pcl = Pcl.of(number)
    item = encode_folder(object_id, number, pcl, s.now, props, None)
    version = Version(object_id, number, pcl, s.now, item)
    _write(ctx, s, [(version, props, None)])
    new_folder = ctx.folders.get(object_id)
    assert new_folder is not None, "the folder was just made"
    folder, own = local_changes.replica_for_posts(ctx, new_folder.path)
    local_changes.post_recovered(ctx, s, folder, own, retention.messages_within(s, deletion))
    retention.move(s, deletion.object, object_id)
    retention.recovered(ctx, s, deletion, object_id, number.text, "1-1")
    for retained in retention.folders_under(s, deletion):
        _recover(ctx, s, retained, object_id)
    return version


def _write(ctx: Context, s: Stimulus, changes: Sequence[tuple[Version, FolderProperties, Folder | None]]) -> None:
    """Store new versions, each with the folder that it replaces, and do what their replica lists require."""
    before = snapshot(ctx)
    for version, props, old in changes:
        _put(ctx, s, version, props, old)
        _record(s, version, props, "modify" if old else "create", (old.number,) if old else ())
    process_freed_content(ctx, s, settle(ctx, s, before))
    hierarchy_changed(ctx, s)


def _put(ctx: Context, s: Stimulus, version: Version, props: FolderProperties | None, old: Folder | None) -> None:
    fid = old.fid if old else ctx.folders.next_fid
    folder = Folder(fid, version.object, version.number, version.pcl, version.modified_at, props)
    apply_folders.put(ctx, s, folder, version, old, sent=False)


def _record(
    s: Stimulus, version: Version, props: FolderProperties | None, operation: str, replaced: Sequence[ChangeNumber]
) -> None:
    s.trace.record(
        ChangeMade,
        folder="1-1",
        object=object_text(version.object),
        number=version.number.text,
        kind="folder",
        operation=operation,
        modified_at=version.modified_at,
        supersedes=tuple(number.text for number in replaced),
        **pcl_fields(version),
        digest=version.digest,
        subject=props.name if props else "",
        replicas=props.replicas if props else None,
        parent=object_text(props.parent) if props else None,
        **({"resolve": RESOLVE_NAMES[props.resolve]} if props and props.resolve in _TRACED_METHODS else {}),
    )


_TRACED_METHODS = RESOLVE_NAMES.keys() - {RESOLVE_DEFAULT}
"""The resolve methods that the trace records: all except the default."""


def _check_name(name: str) -> None:
    if name == ROOT_TEXT:
        raise Misuse(f"{ROOT_TEXT} is the name of the hierarchy; a folder needs another name")
    if not name or len(name) > MAX_NAME_LENGTH or "/" in name or not name.isprintable():
        raise Misuse(f"a folder's name has 1 to {MAX_NAME_LENGTH} printable characters and no slash, not {name!r}")


def checked_stores(ctx: Context, stores: Sequence[str]) -> tuple[str, ...]:
    unknown = [store for store in stores if ctx.directory.get(store) is None]
    if unknown:
        store_names = ", ".join(ctx.directory.stores())
        raise Misuse(f"the directory has no store {', '.join(unknown)}; its stores are {store_names}")
    if not stores:
        raise Misuse("a folder must keep at least one replica; name at least one store")  # spec: RP-2
    return tuple(dict.fromkeys(stores))


def _new_parent(ctx: Context, folder: Folder, path: str) -> bytes:
    if path in {"", "/", "1-1"}:
        return ROOT
    parent = ctx.folders.visible(path)
    if parent in ctx.folders.below(folder):
        raise Misuse(f"{folder.path} cannot be moved under itself")
    return parent.object
