"""Invariants of the folder tree: a store shows the tree that its folder versions require (HI-7), and holds the folders that it
must hold (RP-1).

The tree is computed in three steps:

1. If folders form a cycle, the folder of the cycle with the latest version moves to the top.
2. Folders below a deleted folder have no place in the tree.
3. Of folders with the same name in one parent, the one created first keeps the name; the others get suffixes such as `(2)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.invariant import FolderReading, Invariant, Witnesses
from pflab.terms.folder_ids import HIERARCHY
from topology.model import Topology
from traces.events import ChangeMade
from traces.labtime import LabTime

if TYPE_CHECKING:
    from pflab.invariants.evidence.facts import Facts

Rank = tuple[LabTime, bytes, int]
"""The rank of a version: time, then the raw bytes of the number's GUID, then its counter (CN-8)."""


@dataclass(frozen=True, slots=True)
class FolderVersion:
    """A version of a folder. `parent` is None if the folder is deleted. `created` orders folders of the same name (HI-7)."""

    object: str
    rank: Rank
    parent: str | None
    title: str = ""
    replicas: tuple[str, ...] = ()
    created: tuple[bytes, int] = (b"", 0)

    @property
    def deleted(self) -> bool:
        return self.parent is None


def folder_version_of(change: ChangeMade) -> FolderVersion:
    guid, counter = bits.split(change.number)
    rank = (change.modified_at, bytes.fromhex(guid), counter)
    if change.operation == "delete":
        return FolderVersion(change.object, rank, None)
    return FolderVersion(change.object, rank, change.parent or HIERARCHY, change.subject, tuple(change.replicas or ()))


def genesis_of(topology: Topology, setup: str, counter: int) -> FolderVersion | None:
    """Return the first version of the n-th folder of the topology. Its object id and change number are number n of the GUID
    Setup."""
    paths = list(topology.folders)
    if not 0 < counter <= len(paths):
        return None
    folder = topology.folders[paths[counter - 1]]
    parent = HIERARCHY if folder.parent is None else f"{setup}:{paths.index(folder.parent) + 1}"
    guid = bytes.fromhex(setup)
    rank = (topology.start_at, guid, counter)
    return FolderVersion(f"{setup}:{counter}", rank, parent, folder.name, tuple(folder.replicas), (guid, counter))


Tree = Mapping[str, FolderVersion]


def paths_of(folders: Tree) -> dict[str, str]:
    """Return the path of each folder that has a place in the tree.

    `folders`: those that are not deleted, by object.
    """
    parents = {object_: folder.parent or HIERARCHY for object_, folder in folders.items()}
    for latest in [max(cycle, key=lambda object_: folders[object_].rank) for cycle in cycles_of(parents)]:
        parents[latest] = HIERARCHY
    children: dict[str, list[str]] = {}
    for object_, parent in parents.items():
        children.setdefault(parent, []).append(object_)
    paths: dict[str, str] = {}
    ahead = [(HIERARCHY, "")]
    for parent, above in ahead:
        names_here: set[str] = set()
        for object_ in sorted(children.get(parent, ()), key=lambda id_: (folders[id_].created, id_)):
            title = folders[object_].title
            names = (title if count == 1 else f"{title} ({count})" for count in range(1, len(names_here) + 2))
            name = next(used_name for used_name in names if used_name not in names_here)
            names_here.add(name)
            paths[object_] = above + name
            ahead.append((object_, f"{above}{name}/"))
    return paths


def cycles_of(parents: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield each cycle of folders once."""
    visited: set[str] = set()
    for start in parents:
        chain: list[str] = []
        at = start
        while at in parents and at not in visited:
            visited.add(at)
            chain.append(at)
            at = parents[at]
        if at in chain:
            yield chain[chain.index(at) :]


class TreeIsComputed(Invariant):
    id = "the tree follows from the versions"
    rules = ("HI-7", "HI-6", "HI-5")
    says = (
        "The tree that a store shows follows from its folder versions by the rules: cycles are cut, and equal "
        "names get suffixes."
    )

    def on_folder(self, reading: FolderReading) -> Witnesses:
        folders = kept_folders(self.facts, reading)
        if folders is None:
            return
        paths = paths_of(folders)
        for view in reading.tree:
            path = paths.get(view.id)
            subject = self.facts.names.what(HIERARCHY, view.id)
            if path is None and not view.hidden:
                yield f"{reading.store} shows {subject} as {view.path}, but all folders above it are deleted or unknown"
            elif path is not None and view.hidden:
                yield f"{reading.store} hides {subject}, which has its place at {path}"
            elif path is not None and view.path != path:
                yield f"{reading.store} shows {subject} as {view.path}; by its versions it is {path}"


class ListedStoresHold(Invariant):
    id = "listed stores hold"
    rules = ("RP-1", "RP-2", "HI-6")
    says = "A store holds exactly the folders that it shows and whose replica list it is on."

    def on_folder(self, reading: FolderReading) -> Witnesses:
        folders = kept_folders(self.facts, reading)
        if folders is None:
            return
        paths = paths_of(folders)
        for view in reading.tree:
            must_hold = view.id in paths and reading.store in folders[view.id].replicas
            subject = self.facts.names.what(HIERARCHY, view.id)
            if view.held_here and not must_hold:
                why = "is not on its replica list" if view.id in paths else "has no place for it in its tree"
                yield f"{reading.store} holds {subject}, but {why}"
            elif must_hold and not view.held_here:
                yield f"{reading.store} is on the replica list of {subject}, but holds no replica"


def kept_folders(facts: Facts, reading: FolderReading) -> dict[str, FolderVersion] | None:
    """Return the folders of a store that are not deleted, by object.

    Return None if the reading is not of 1-1, or if nobody made one of the versions (another invariant reports this).
    """
    if reading.folder != HIERARCHY:
        return None
    folders: dict[str, FolderVersion] = {}
    for object_, versions in reading.knowledge.versions.items():
        number = versions[0][0]
        change = facts.changes.get(number)
        if change is None:
            guid, counter = bits.split(number)
            version = genesis_of(facts.topology, guid, counter) if facts.setup(guid) else None
        else:
            version = replace(folder_version_of(change), created=_created(facts, object_))
        if version is None:
            return None
        folders[object_] = version
    return folders


def _created(facts: Facts, object_: str) -> tuple[bytes, int]:
    """Return the number of the folder's creation; for a folder of the topology this is the folder's id."""
    creations = [version.number for version in facts.of_object.get(object_, ()) if version.operation == "create"]
    guid, counter = bits.split(creations[0] if creations else object_)
    return bytes.fromhex(guid), counter


TREE: tuple[type[Invariant], ...] = (TreeIsComputed, ListedStoresHold)
