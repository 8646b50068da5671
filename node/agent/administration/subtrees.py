"""Orders for a folder and all its subfolders: add, remove and replace replicas, propagate properties (spec: AD-1, RP-2).

All folders change in one transaction, each by a change of its own, and the changes go out in one cycle of the hierarchy.

| order | a folder that | becomes |
|---|---|---|
| add | lacks some of the stores | held by them too |
| remove | lists some of the stores | held by the others; a folder that no store would hold is left out |
| replace | lists the old store | held by the new store in its place; other folders stay as they are |
| propagate | differs from the top folder in a chosen property | equal to the top folder in it |

Replacing moves a replica: the new store is added, and the old one keeps the content until the new one, or another holder, has
all of it (spec: RP-2). So nothing needs to wait. For all folders at once, this empties a server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from node.agent.folder_admin import checked_stores, modify
from node.codec.items import ROOT_TEXT, FolderProperties
from node.errors import Misuse
from node.state.context import Context
from node.state.folders import Folder
from node.tracking.change_number import named
from node.views import FoldersChanged
from transport.stimulus import Stimulus

PROPAGATED = {
    "schedule": "schedule",
    "contacts": "contacts",
    "priority": "priority",
    "age_limit": "age_limit_us",
    "warning_limit": "warning_limit_bytes",
    "post_limit": "post_limit_bytes",
    "item_limit": "item_limit_bytes",
    "resolve": "resolve",
}
"""For each property that can be propagated, beside `replicas`: the field that has it."""


def add_replicas(ctx: Context, s: Stimulus, path: str, stores: Sequence[str]) -> FoldersChanged:
    """Add stores to the replica lists of a folder and its subfolders; for `1-1`, of all folders."""
    added = checked_stores(ctx, stores)
    return _relist(ctx, s, path, lambda listed: [*listed, *(each for each in added if each not in listed)])


def remove_replicas(ctx: Context, s: Stimulus, path: str, stores: Sequence[str]) -> FoldersChanged:
    """Remove stores from the replica lists, except where no store would be left."""
    return _relist(ctx, s, path, lambda listed: [each for each in listed if each not in stores])


def replace_replicas(ctx: Context, s: Stimulus, path: str, store: str, by: str) -> FoldersChanged:
    """Put the store `by` in the place of `store` on the replica lists that have `store`."""
    (new,) = checked_stores(ctx, [by])
    return _relist(ctx, s, path, lambda listed: list(dict.fromkeys(new if each == store else each for each in listed)))


def propagate(ctx: Context, s: Stimulus, path: str, properties: Sequence[str]) -> FoldersChanged:
    """Give all subfolders of a folder its values of these properties."""
    unknown = [each for each in properties if each != "replicas" and each not in PROPAGATED]
    if unknown or not properties:
        known = ", ".join(["replicas", *PROPAGATED])
        raise Misuse(f"{unknown[0] if unknown else 'nothing'} cannot be propagated; write some of {known}")
    top = ctx.folders.visible(path).props
    assert top is not None, "a visible folder is alive"
    values = {PROPAGATED[each]: getattr(top, PROPAGATED[each]) for each in properties if each in PROPAGATED}

    def like_top(props: FolderProperties) -> FolderProperties:
        same = replace(props, **values)
        if "replicas" in properties and set(same.replicas) != set(top.replicas):
            same = same.with_replicas(top.replicas, s.now)
        return same

    return _change(ctx, s, path, like_top)


def _relist(ctx: Context, s: Stimulus, path: str, relisted: Callable[[Sequence[str]], list[str]]) -> FoldersChanged:
    def changed(props: FolderProperties) -> FolderProperties:
        stores = relisted(props.replicas)
        return props if not stores or stores == list(props.replicas) else props.with_replicas(stores, s.now)

    kept = [  # spec: RP-2 the last replica is never removed
        folder.path
        for folder in _folders(ctx, path)
        if folder.props is not None and not relisted(folder.props.replicas)
    ]
    found = _change(ctx, s, path, changed)
    return replace(found, kept=kept)


def _change(
    ctx: Context, s: Stimulus, path: str, changed: Callable[[FolderProperties], FolderProperties]
) -> FoldersChanged:
    changes = [
        (folder, props)
        for folder in _folders(ctx, path)
        if folder.props is not None and (props := changed(folder.props)) != folder.props
    ]
    numbers = modify(ctx, s, changes) if changes else []
    names = ctx.store.names()
    return FoldersChanged(
        [folder.path for folder, _ in changes],
        [named(number, names) for number in numbers],
        [number.text for number in numbers],
        [],
    )


def _folders(ctx: Context, path: str) -> list[Folder]:
    """Return a folder and its subfolders, parents first; for `1-1`, all visible folders."""
    if path == ROOT_TEXT:
        return sorted((each for each in ctx.folders.all() if each.props is not None and not each.hidden), key=_path)
    return ctx.folders.below(ctx.folders.visible(path))


def _path(folder: Folder) -> str:
    return folder.path
