"""Orders for a folder and all its subfolders: add, remove and replace replicas, propagate properties (spec: AD-1, RP-2).

All folders change in one transaction, each by its own change, and the changes go out in one cycle of the hierarchy.

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
from dataclasses import dataclass, replace
from typing import Final

from node.administration.folder_changes import checked_stores, modify
from node.administration.folder_properties import PROPERTIES
from node.codec.items import ROOT_TEXT, FolderProperties
from node.errors import Misuse
from node.state.context import Context
from node.state.folders import Folder
from node.tracking.change_number import named
from node.views import FoldersChanged
from transport.stimulus import Stimulus

_PROPAGATED: Final = {name: row.attribute for name, row in PROPERTIES.items() if row.propagated}
"""For each property that can be propagated, beside `replicas`: the field that has it."""


@dataclass(frozen=True, slots=True)
class ReplicaOrder:
    """An order for the replicas of many folders: one of `add`, `remove` and `replace`, the last with `by`.

    add, remove: stores.
    replace, by: a store, and the one that takes its place.

    Raises Misuse for another combination.
    """

    add: Sequence[str] | None = None
    remove: Sequence[str] | None = None
    replace: str | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        if sum(order is not None for order in (self.add, self.remove, self.replace)) != 1:
            raise Misuse("give one of add, remove and replace")
        if (self.replace is None) != (self.by is None):
            raise Misuse("give both replace and by, such as {replace: A, by: B}")

    def checked(self, ctx: Context) -> ReplicaOrder:
        """Return the order without repeated stores. Raise Misuse if the directory does not have a store that it adds."""
        if self.add is not None:
            return ReplicaOrder(add=checked_stores(ctx, self.add))
        if self.by is not None:
            checked_stores(ctx, [self.by])
        return self

    def applied(self, stores: Sequence[str]) -> list[str]:
        """Return a replica list after the order."""
        if self.add is not None:
            return [*stores, *(store for store in self.add if store not in stores)]
        if self.remove is not None:
            return [store for store in stores if store not in self.remove]
        assert self.by is not None, "an order that neither adds nor removes replaces a store by another"
        return list(dict.fromkeys(self.by if store == self.replace else store for store in stores))


def change_replicas(ctx: Context, s: Stimulus, path: str, order: ReplicaOrder) -> FoldersChanged:
    """Carry out an order for the replica lists of a folder and its subfolders; for `1-1`, of all folders."""
    checked = order.checked(ctx)

    def changed(props: FolderProperties) -> FolderProperties:
        stores = checked.applied(props.replicas)
        return props if not stores or stores == list(props.replicas) else props.with_replicas(stores, s.now)

    kept = [  # spec: RP-2 the last replica is never removed
        folder.path
        for folder in _folders(ctx, path)
        if folder.props is not None and not checked.applied(folder.props.replicas)
    ]
    return replace(_change(ctx, s, path, changed), kept=kept)


def propagate(ctx: Context, s: Stimulus, path: str, properties: Sequence[str]) -> FoldersChanged:
    """Give all subfolders of a folder its values of these properties."""
    unknown = [name for name in properties if name != "replicas" and name not in _PROPAGATED]
    if unknown or not properties:
        property_names = ", ".join(["replicas", *_PROPAGATED])
        raise Misuse(f"{unknown[0] if unknown else 'nothing'} cannot be propagated; write some of {property_names}")
    top = ctx.folders.visible(path).props
    assert top is not None, "a visible folder is alive"
    values = {_PROPAGATED[name]: getattr(top, _PROPAGATED[name]) for name in properties if name in _PROPAGATED}

    def like_top(props: FolderProperties) -> FolderProperties:
        same = replace(props, **values)
        if "replicas" in properties and set(same.replicas) != set(top.replicas):
            same = same.with_replicas(top.replicas, s.now)
        return same

    return _change(ctx, s, path, like_top)


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
        return sorted(
            (folder for folder in ctx.folders.all() if folder.props is not None and not folder.hidden), key=_path
        )
    return ctx.folders.below(ctx.folders.visible(path))


def _path(folder: Folder) -> str:
    return folder.path
