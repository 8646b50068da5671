"""The folders as each store knows them, gathered from events: which version it keeps, who is on its list, who has joined.

A help of the invariants; nothing here looks at a store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pflab import invariants_sets as bits
from pflab.invariants_backups import Backups
from topology import Topology
from traces.events import AddressStamped, ChangeMade, NodeStarted, TombstoneDropped, VersionApplied
from traces.labtime import LabTime

HIERARCHY = "1-1"

Rank = tuple[LabTime, bytes, int]
"""Later is larger: time, then the raw bytes of the number's GUID, then its counter (CN-8)."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A version of a folder. `parent` None: it is deleted. `created`: what orders folders of one name (HI-7)."""

    object: str
    rank: Rank
    parent: str | None
    title: str = ""
    replicas: tuple[str, ...] = ()
    created: tuple[bytes, int] = (b"", 0)

    @property
    def dead(self) -> bool:
        return self.parent is None


def standing_of(change: ChangeMade) -> Standing:
    guid, counter = bits.split(change.number)
    rank = (change.modified_at, bytes.fromhex(guid), counter)
    if change.operation == "delete":
        return Standing(change.object, rank, None)
    return Standing(change.object, rank, change.parent or HIERARCHY, change.subject, tuple(change.replicas or ()))


def genesis_of(topology: Topology, setup: str, counter: int) -> Standing | None:
    """The n-th folder of the topology, parents before children; it is object and number n of the GUID named Setup."""
    paths = list(topology.folders)
    if not 0 < counter <= len(paths):
        return None
    folder = topology.folders[paths[counter - 1]]
    parent = HIERARCHY if folder.parent is None else f"{setup}:{paths.index(folder.parent) + 1}"
    guid = bytes.fromhex(setup)
    rank = (topology.start_at, guid, counter)
    return Standing(f"{setup}:{counter}", rank, parent, folder.name, tuple(folder.replicas), (guid, counter))


class Folders:
    """What each store keeps of the tree. `forgotten` tombstones are no folders any more."""

    def __init__(self, topology: Topology, backups: Backups) -> None:
        self._topology = topology
        self._kept: dict[tuple[str, str], Standing | None] = {}
        self._bare: dict[str, bool] = {}
        """Stores that began without the topology's folders."""
        self._joined: dict[str, set[str]] = {}
        self._setup = ""
        for mapping in (self._kept, self._bare, self._joined):
            backups.follow(mapping)

    def started(self, event: NodeStarted, *, known_before: bool) -> None:
        if event.reason == "first":
            self._bare[event.node] = known_before or self._topology.servers[event.node].joins_later

    def stamped(self, event: AddressStamped) -> None:
        self._joined.setdefault(event.node, set()).add(event.store)

    def made(self, event: ChangeMade) -> None:
        if event.kind == "folder":
            self._kept[event.node, event.object] = standing_of(event)

    def applied(self, event: VersionApplied, change: ChangeMade | None) -> None:
        if event.kind != "folder":
            return
        if change is not None:
            self._kept[event.node, event.object] = standing_of(change)
        else:
            guid, counter = bits.split(event.number)
            self._kept[event.node, event.object] = genesis_of(self._topology, guid, counter)

    def forgot(self, event: TombstoneDropped) -> None:
        if event.folder == HIERARCHY:
            self._kept[event.node, event.object] = None

    def begins_with(self, setup: str) -> None:
        """The GUID under which the topology's folders were made."""
        self._setup = setup

    def folder(self, store: str, object_: str) -> Standing | None:
        if (store, object_) in self._kept:
            return self._kept[store, object_]
        guid, counter = bits.split(object_)
        if guid != self._setup or self._bare.get(store, True):
            return None
        return genesis_of(self._topology, guid, counter)

    def all(self, store: str) -> Iterator[Standing]:
        """Every folder that the store knows, tombstones too."""
        ids = {object_: None for name, object_ in self._kept if name == store}
        if self._setup:
            ids |= {f"{self._setup}:{counter}": None for counter in range(1, len(self._topology.folders) + 1)}
        found = (self.folder(store, object_) for object_ in ids)
        return (each for each in found if each is not None)

    def holders(self, store: str, folder: str) -> frozenset[str]:
        """Who holds the folder as that store knows it: those on the list that have joined (HI-1)."""
        joined = self._joined.get(store, set())
        if folder == HIERARCHY:
            return frozenset(joined)
        known = self.folder(store, folder)
        return frozenset() if known is None else frozenset(known.replicas) & joined
