"""The oracle: what must exist, computed only from acknowledged changes.

It shares no code with the node (CV-2): no change sets, no predecessor lists. Its input is every `change.made` event of a run,
and the topology's folders at the start. Its rules:

* A version is superseded if another one names it in `supersedes`, directly or through others. The others are maximal, and all
  of them must be kept (CN-4, CF-1).
* A deletion of an object wins over all its other versions, in any order (DL-2, HI-6).
* Of a folder's versions only the winner is kept: the version with the later time, then with the larger GUID by its raw bytes,
  then with the larger counter (HI-5, CN-8).
* A deleted folder removes its content and everything below it (HI-6).
* The holders of a folder are the replica list of its winning version (HI-1).

Example: A creates a message as A-1. B edits it as B-1, and A edits it as A-2 at the same time. Both supersede A-1, so B-1
and A-2 are maximal, and every holder must keep both: they are in conflict. If C deletes the message, every holder must have
the tombstone and no version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.number_sets import split_number
from topology.model import Topology
from traces.events import ChangeMade


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One acknowledged change. `number` and `object` are `guidhex:counter`; `modified_at` is lab time in µs."""

    store: str
    folder: str
    object: str
    number: str
    kind: str
    operation: str
    modified_at: int
    supersedes: tuple[str, ...] = ()
    digest: str = ""
    subject: str = ""
    replicas: tuple[str, ...] | None = None
    parent: str | None = None


def change_of(event: ChangeMade) -> Change:
    """Return the fields of a `change.made` event that the oracle reads. The oracle uses nothing that a node derived."""
    return Change(
        store=event.node,
        folder=event.folder,
        object=event.object,
        number=event.number,
        kind=event.kind,
        operation=event.operation,
        modified_at=event.modified_at,
        supersedes=tuple(event.supersedes),
        digest=event.digest,
        subject=event.subject,
        replicas=None if event.replicas is None else tuple(event.replicas),
        parent=event.parent,
    )


def genesis_of(topology: Topology, setup_guid: str) -> list[tuple[Change, str]]:
    """Return the creations of the topology's folders, with their paths.

    Parents come before children. The object id and change number of the n-th folder are number n of the GUID named Setup.
    """
    ids = {path: f"{setup_guid}:{index}" for index, path in enumerate(topology.folders, start=1)}
    changes = []
    for path, folder in topology.folders.items():
        change = Change(
            store="Setup",
            folder=HIERARCHY,
            object=ids[path],
            number=ids[path],
            kind="folder",
            operation="create",
            modified_at=topology.start_at,
            subject=folder.name,
            replicas=folder.replicas,
            parent=HIERARCHY if folder.parent is None else ids[folder.parent],
        )
        changes.append((change, path))
    return changes


@dataclass(frozen=True, slots=True)
class FolderTruth:
    """What must exist in one folder.

    `versions`: by object that is not deleted, the numbers of its maximal versions.
    `tombstones`: by deleted object, the number of a deletion.
    `doubt`: why the changes alone do not determine the content; '' if they do.
    """

    id: str
    path: str
    holders: tuple[str, ...]
    versions: dict[str, frozenset[str]]
    tombstones: dict[str, str]
    doubt: str = ""


@dataclass(slots=True)
class History:
    """All changes of one object."""

    changes: dict[str, Change] = field(default_factory=dict)

    def deletion(self) -> str | None:
        """Return the number of the earliest deletion, or None."""
        deletions = [change for change in self.changes.values() if change.operation == "delete"]
        return min(deletions, key=last_writer).number if deletions else None

    def maximal(self) -> frozenset[str]:
        beaten = {number for change in self.changes.values() for number in change.supersedes}
        return frozenset(self.changes.keys() - beaten)

    def ancestors(self, number: str) -> frozenset[str]:
        """Return every number that `number` supersedes, directly or through others."""
        numbers: set[str] = set()
        ahead = [number]
        while ahead:
            change = self.changes.get(ahead.pop())
            fresh = (
                []
                if change is None
                else [predecessor for predecessor in change.supersedes if predecessor not in numbers]
            )
            numbers.update(fresh)
            ahead.extend(fresh)
        return frozenset(numbers)

    def winner(self) -> Change:
        """Return the last writer's version, which is the only one kept of folders and associated messages (HI-5, CN-9)."""
        return max(self.changes.values(), key=last_writer)


def last_writer(change: Change) -> tuple[int, bytes, int]:
    """Return the rank of a version: time, then the raw bytes of the number's GUID, then its counter (CN-8)."""
    guid, counter = split_number(change.number)
    return (change.modified_at, bytes.fromhex(guid), counter)


class Oracle:
    """Computes from acknowledged changes what must exist. `take` accepts the changes in any order.

    stores: the holders of 1-1; `joined` adds one.
    genesis: the creations of the topology's folders.
    """

    def __init__(self, genesis: Iterable[Change], stores: Iterable[str]) -> None:
        self._objects: dict[str, dict[str, History]] = {}
        self._stores = list(dict.fromkeys(stores))
        self._deleted: set[str] = set()
        for change in genesis:
            self.take(change)

    @property
    def stores(self) -> tuple[str, ...]:
        return tuple(self._stores)

    def joined(self, store: str) -> None:
        self._deleted.discard(store)  # spec: RP-7
        if store not in self._stores:
            self._stores.append(store)

    def left(self, store: str) -> None:
        """Remove a store that was deleted from the directory (RP-6)."""
        self._deleted.add(store)
        if store in self._stores:
            self._stores.remove(store)

    def take(self, change: Change) -> None:
        """Add an acknowledged change. The same change a second time has no effect."""
        folder = self._objects.setdefault(change.folder, {})
        folder.setdefault(change.object, History()).changes.setdefault(change.number, change)

    def without(self, lost_numbers: Collection[str]) -> Oracle:
        """Return an oracle without the changes that are rightly lost (DU-1). A version must exist again if all changes that
        replaced it are lost.
        """
        if not lost_numbers:
            return self
        oracle = Oracle((), self._stores)
        oracle._deleted = self._deleted
        for objects in self._objects.values():
            for history in objects.values():
                for change in history.changes.values():
                    if change.number not in lost_numbers:
                        predecessors = sorted({*change.supersedes, *history.ancestors(change.number)})
                        oracle.take(replace(change, supersedes=tuple(predecessors)))
        return oracle

    def history(self, folder: str, object_: str) -> History:
        return self._objects.get(folder, {}).get(object_, History())

    def histories(self, folder: str) -> Mapping[str, History]:
        return self._objects.get(folder, {})

    # spec: CV-2
    def truth(self) -> dict[str, FolderTruth]:
        """Return what must exist in each folder, by folder id. The first is 1-1. The others are the folders that are neither
        deleted nor below a deleted folder, sorted by path."""
        folders = self._objects.get(HIERARCHY, {})
        dead = {id_ for id_, history in folders.items() if history.deletion()}
        live_folders = {id_: history.winner() for id_, history in folders.items() if id_ not in dead}
        truths = {HIERARCHY: self._contents(HIERARCHY, HIERARCHY, self.stores)}
        paths = {id_: _path(id_, live_folders) for id_ in live_folders}
        for id_ in sorted(live_folders, key=lambda folder_id: (paths[folder_id], folder_id)):
            if _below_dead(live_folders[id_].parent, live_folders, dead):
                continue
            holders = [store for store in live_folders[id_].replicas or () if store not in self._deleted]
            truths[id_] = self._contents(id_, paths[id_], tuple(holders), self._doubt(id_, live_folders, dead))
        return truths

    def _contents(self, id_: str, path: str, holders: tuple[str, ...], doubt: str = "") -> FolderTruth:
        versions: dict[str, frozenset[str]] = {}
        tombstones: dict[str, str] = {}
        for object_, history in sorted(self._objects.get(id_, {}).items()):
            deletion = history.deletion()
            if deletion is not None:
                tombstones[object_] = deletion
            elif id_ == HIERARCHY or history.winner().kind == "fai":
                versions[object_] = frozenset({history.winner().number})
            else:
                versions[object_] = history.maximal()
        return FolderTruth(id_, path, holders, versions, tombstones, doubt)

    def _doubt(self, id_: str, live_folders: Mapping[str, Change], dead: set[str]) -> str:
        # A folder that was once moved below a deleted folder was hidden, and stores that saw this dropped its content. When the
        # folder is shown again, it is empty at these stores (HI-6, RP-1). The changes alone do not show which stores these are.
        versions = self._objects[HIERARCHY][id_].changes.values()
        if any(_below_dead(version.parent, live_folders, dead) for version in versions):
            return "it once lay below a deleted folder, so stores may rightly lack its older content"
        return ""


def _below_dead(parent: str | None, live_folders: Mapping[str, Change], dead: set[str]) -> bool:
    visited: set[str] = set()
    while parent is not None and parent != HIERARCHY and parent not in visited:
        if parent in dead:
            return True
        visited.add(parent)
        change = live_folders.get(parent)
        parent = None if change is None else change.parent
    return False


def _path(id_: str, live_folders: Mapping[str, Change]) -> str:
    names: list[str] = []
    visited: set[str] = set()
    at: str | None = id_
    while at is not None and at != HIERARCHY and at not in visited and at in live_folders:
        visited.add(at)
        names.append(live_folders[at].subject)
        at = live_folders[at].parent
    return "/".join(reversed(names))
