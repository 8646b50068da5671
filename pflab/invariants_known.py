"""What each store knows of the folders at every instant, told from its events: which version of each it keeps, whom that
lists as holders, which replicas it has itself.

What a restore brings back is not told by events, so after one a store's knowledge is unknown until it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pflab import invariants_sets as bits
from pflab.scenario_words import store_named
from topology import Topology
from traces.events import (
    AddressStamped,
    ChangeMade,
    Event,
    MailSubmitted,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    VersionApplied,
)

if TYPE_CHECKING:
    from pflab.invariants import FolderReading

HIERARCHY = "1-1"

DELETED = ""
"""Instead of a number: the folder's tombstone is kept."""


class Known:
    """Of all stores. `setup` tells the GUID of the topology's folders, `changes` are all changes made so far."""

    def __init__(self, topology: Topology, changes: Mapping[str, ChangeMade], setup: Callable[[str], bool]) -> None:
        self._topology = topology
        self._changes = changes
        self._setup = setup
        self._original = tuple(topology.folders.values())
        self._kept: dict[str, dict[str, str]] = {}
        self._directory: dict[str, set[str]] = {}
        self._begun: set[str] = set()
        self._from_start: set[str] = set()
        self._unread: set[str] = set()
        self._holds: dict[str, dict[str, bool]] = {}
        self._pending: set[tuple[str, str]] = set()
        self.said: dict[tuple[str, str], tuple[bits.Bits, bits.Bits]] = {}
        """Store and folder to the own row, and that of associated messages, in the store's last mail about it."""
        self.restored: set[str] = set()
        """Stores that were ever restored; what they know of the directory is unknown for good."""
        self._takers: Mapping[type[Event], Callable[[Any], None]] = {
            NodeStarted: self._started,
            AddressStamped: self._stamped,
            ChangeMade: self._folder,
            VersionApplied: self._folder,
            ReplicaAdded: self._added,
            ReplicaPending: self._leaves,
            ReplicaDropped: self._dropped,
            MailSubmitted: self._submitted,
        }

    def take(self, event: Event) -> None:
        taker = self._takers.get(type(event))
        if taker is not None:
            taker(event)

    def read(self, reading: FolderReading) -> None:
        """What a restored store shows of itself."""
        if reading.folder == HIERARCHY and reading.store in self._unread:
            self._unread.discard(reading.store)
            self._kept[reading.store] = {
                **dict.fromkeys(reading.knowledge.tombstones, DELETED),
                **{object_: kept[-1][0] for object_, kept in reading.knowledge.versions.items()},
            }
            self._holds[reading.store] = {view.id: view.held_here for view in reading.tree}

    # --- asked by the invariants

    def kept(self, store: str, folder: str) -> str | None:
        """The number of the folder's version that the store keeps, or DELETED; None: it knows none, or nobody can tell."""
        number = self._kept.get(store, {}).get(folder)
        if number is None and store in self._from_start and self._setup(bits.split(folder)[0]):
            return folder  # the topology's folders have their creating numbers for ids
        return number

    def knows(self, store: str, folder: str) -> bool | None:
        """Whether the store knows a version or the tombstone of a folder; None: nobody can tell."""
        if folder == HIERARCHY:
            return True
        return None if store in self._unread else self.kept(store, folder) is not None

    def listed(self, store: str, folder: str) -> frozenset[str] | None:
        """The stores that hold the folder by what this store knows; None where nobody can tell."""
        there = self._directory.get(store, set())
        if store in self._unread or (folder == HIERARCHY and store in self.restored):
            return None
        if folder == HIERARCHY:
            return frozenset(there)
        number = self.kept(store, folder)
        if number is None:
            return None
        return frozenset(self._replicas(number)) & there

    def others(self, store: str, folder: str) -> frozenset[str] | None:
        listed = self.listed(store, folder)
        return None if listed is None else listed - {store}

    def holds(self, store: str, folder: str) -> bool:
        """Whether the store surely has a replica of the folder, about to go or not."""
        if folder == HIERARCHY:
            return store in self._begun
        held = self._holds.get(store, {}).get(folder)
        if held is None and store in self._from_start and self._setup(bits.split(folder)[0]):
            return store in self._replicas(folder)
        return bool(held)

    def pending(self, store: str, folder: str) -> bool:
        """Whether the store waits for leave to drop its replica (RP-2)."""
        return (store, folder) in self._pending

    def _replicas(self, number: str) -> tuple[str, ...]:
        change = self._changes.get(number)
        if change is not None:
            return change.replicas or () if change.operation != "delete" else ()
        guid, counter = bits.split(number) if number != DELETED else ("", 0)
        if counter and counter <= len(self._original) and self._setup(guid):
            return tuple(self._original[counter - 1].replicas)
        return ()

    # --- taking

    def _started(self, event: NodeStarted) -> None:
        store = event.node
        if event.reason == "first" and store not in self._begun:
            self._begun.add(store)
            if not self._topology.servers[store].joins_later:
                self._from_start.add(store)
            return
        if event.reason == "restart":
            return
        self.restored.add(store)
        self._from_start.discard(store)
        self._unread.discard(store)
        if event.reason == "restored":
            self._unread.add(store)  # one that begins anew has nothing
        self._kept.pop(store, None)
        self._holds.pop(store, None)
        self._pending = {each for each in self._pending if each[0] != store}
        for key in [key for key in self.said if key[0] == store]:
            del self.said[key]

    def _stamped(self, event: AddressStamped) -> None:
        self._directory.setdefault(event.node, set()).add(event.store)

    def _folder(self, event: ChangeMade | VersionApplied) -> None:
        if event.kind != "folder":
            return
        deleted = event.deleted if isinstance(event, VersionApplied) else event.operation == "delete"
        self._kept.setdefault(event.node, {})[event.object] = DELETED if deleted else event.number
        if not deleted and event.node in self._replicas(event.number):
            self._pending.discard((event.node, event.object))

    def _added(self, event: ReplicaAdded) -> None:
        if event.store == event.node:
            self._holds.setdefault(event.node, {})[event.folder] = True

    def _leaves(self, event: ReplicaPending) -> None:
        self._pending.add((event.node, event.folder))

    def _dropped(self, event: ReplicaDropped) -> None:
        self._holds.setdefault(event.node, {})[event.folder] = False
        self._pending.discard((event.node, event.folder))
        self.said.pop((event.node, event.folder), None)

    def _submitted(self, event: MailSubmitted) -> None:
        for section in event.folders:
            self.said[event.node, section.folder] = (bits.parse(section.row), bits.parse(section.row_fai))


def stores_of(addresses: tuple[str, ...]) -> frozenset[str]:
    """The stores behind mail addresses."""
    return frozenset(map(store_named, addresses))


__all__ = ["DELETED", "HIERARCHY", "Known", "stores_of"]
