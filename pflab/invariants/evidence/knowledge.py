"""What each store knows of the folders at every instant, told from its events: which version of each it keeps, whom that
lists as holders, which replicas it has itself. A restored store knows again what it knew at its backup (RP-4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.backups import Backups
from pflab.terms.lexicon import store_named
from topology import ResolveMethod, Topology
from traces.events import (
    AddressStamped,
    ChangeMade,
    Event,
    MailSubmitted,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    StoreDeleted,
    TombstoneDropped,
    VersionApplied,
)

HIERARCHY = "1-1"

DELETED = ""
"""Instead of a number: the folder's tombstone is kept."""

FORGOTTEN = "forgotten"
"""Instead of a number: the tombstone was dropped (DL-4)."""


class Known:
    """Of all stores. `setup` tells the GUID of the topology's folders, `changes` are all changes made so far."""

    def __init__(
        self,
        topology: Topology,
        changes: Mapping[str, ChangeMade],
        setup: Callable[[str], bool],
        backups: Backups,
    ) -> None:
        self._topology = topology
        self._changes = changes
        self._setup = setup
        self._original = tuple(topology.folders.values())
        self._setup_guid = ""
        self._begun: set[str] = set()
        self._kept: dict[str, dict[str, str]] = {}
        self._directory: dict[str, set[str]] = {}
        self._from_start: dict[str, bool] = {}
        self._holds: dict[str, dict[str, bool]] = {}
        self._pending: dict[tuple[str, str], bool] = {}
        self.said: dict[tuple[str, str], bits.Bits] = {}
        """Store and folder to the own row, and that of associated messages, in the store's last mail about it."""
        for mapping in (self._kept, self._directory, self._from_start, self._holds, self._pending, self.said):
            backups.follow(mapping)
        self._handlers: Mapping[type[Event], Callable[[Any], None]] = {
            NodeStarted: self._started,
            AddressStamped: self._stamped,
            StoreDeleted: self._deleted,
            ChangeMade: self._folder,
            VersionApplied: self._folder,
            ReplicaAdded: self._added,
            ReplicaPending: self._leaves,
            ReplicaDropped: self._dropped,
            TombstoneDropped: self._forgot,
            MailSubmitted: self._submitted,
        }

    def take(self, event: Event) -> None:
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)

    # --- asked by the invariants

    def began_with_folders(self, store: str) -> bool:
        """Whether the topology's folders stood on the store from its start."""
        return bool(self._from_start.get(store))

    def kept(self, store: str, folder: str) -> str | None:
        """The number of the folder's version that the store keeps, or DELETED; None: it knows none."""
        number = self._kept.get(store, {}).get(folder)
        if number is None and self._from_start.get(store) and self._is_original(folder):
            return folder  # the topology's folders have their creating numbers for ids
        return None if number == FORGOTTEN else number

    def knows(self, store: str, folder: str) -> bool:
        """Whether the store knows a version or the tombstone of a folder."""
        return folder == HIERARCHY or self.kept(store, folder) is not None

    def listed(self, store: str, folder: str) -> frozenset[str] | None:
        """The stores that hold the folder by what this store knows; None if it knows nothing of the folder."""
        there = self._directory.get(store, set())
        if folder == HIERARCHY:
            return frozenset(there)
        number = self.kept(store, folder)
        if number is None:
            return None
        return frozenset(self._replicas(number)) & there

    def holders(self, store: str, folder: str) -> frozenset[str]:
        """As `listed`; nobody, of a folder that the store does not know."""
        return self.listed(store, folder) or frozenset()

    def home(self, store: str, folder: str) -> str | None:
        """The folder's home store, the first in its list (CF-2), by what a store knows of the folder; None: nobody."""
        return next(iter(self._replicas(self.kept(store, folder) or DELETED)), None)

    def resolve(self, store: str, folder: str) -> ResolveMethod:
        """How a folder shows conflicts and tells of them (CF-4), by what a store knows of the folder."""
        change = self._changes.get(self.kept(store, folder) or DELETED)
        if change is not None:
            return ResolveMethod(change.resolve)
        if not self._is_original(folder):
            return ResolveMethod.DEFAULT
        counter = bits.split(folder)[1]
        return self._original[counter - 1].resolve if counter <= len(self._original) else ResolveMethod.DEFAULT

    def below(self, store: str, folder: str) -> list[str]:
        """The living folders right below another, as the store knows them."""
        ids = dict.fromkeys(self._kept.get(store, ()))
        if self._setup_guid:
            ids |= {f"{self._setup_guid}:{counter + 1}": None for counter in range(len(self._original))}
        return sorted(each for each in ids if self._parent(self.kept(store, each)) == folder)

    def others(self, store: str, folder: str) -> frozenset[str] | None:
        listed = self.listed(store, folder)
        return None if listed is None else listed - {store}

    def holds(self, store: str, folder: str) -> bool:
        """Whether the store surely has a replica of the folder, about to go or not."""
        if folder == HIERARCHY:
            return store in self._begun
        held = self._holds.get(store, {}).get(folder)
        if held is None and self._from_start.get(store) and self._is_original(folder):
            return store in self._replicas(folder)
        return bool(held)

    def pending(self, store: str, folder: str) -> bool:
        """Whether the store waits for leave to drop its replica (RP-2)."""
        return (store, folder) in self._pending

    def _is_original(self, folder: str) -> bool:
        guid, _ = bits.split(folder)
        if not self._setup(guid):
            return False
        self._setup_guid = guid
        return True

    def _parent(self, number: str | None) -> str | None:
        """Of a folder's version; None: it is deleted, or not known."""
        change = self._changes.get(number or "")
        if change is not None:
            return change.parent if change.operation != "delete" else None
        if not number or not self._is_original(number):
            return None
        parent = self._original[bits.split(number)[1] - 1].parent
        if parent is None:
            return HIERARCHY
        return f"{self._setup_guid}:{list(self._topology.folders).index(parent) + 1}"

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
        if event.reason == "first":  # for the first time, or anew on a backup that was too old (DL-4)
            joins_later = self._topology.servers[event.node].joins_later
            self._from_start[event.node] = not joins_later and event.node not in self._begun
            self._begun.add(event.node)

    def _stamped(self, event: AddressStamped) -> None:
        self._directory.setdefault(event.node, set()).add(event.store)

    def _deleted(self, event: StoreDeleted) -> None:
        self._directory.setdefault(event.node, set()).discard(event.store)

    def _folder(self, event: ChangeMade | VersionApplied) -> None:
        if event.kind != "folder":
            return
        deleted = event.deleted if isinstance(event, VersionApplied) else event.operation == "delete"
        self._kept.setdefault(event.node, {})[event.object] = DELETED if deleted else event.number
        if not deleted and event.node in self._replicas(event.number):
            self._pending.pop((event.node, event.object), None)

    def _added(self, event: ReplicaAdded) -> None:
        if event.store == event.node:
            self._holds.setdefault(event.node, {})[event.folder] = True

    def _leaves(self, event: ReplicaPending) -> None:
        self._pending[event.node, event.folder] = True

    def _dropped(self, event: ReplicaDropped) -> None:
        self._holds.setdefault(event.node, {})[event.folder] = False
        self._pending.pop((event.node, event.folder), None)
        self.said.pop((event.node, event.folder), None)

    def _forgot(self, event: TombstoneDropped) -> None:
        if event.folder == HIERARCHY:
            self._kept.setdefault(event.node, {})[event.object] = FORGOTTEN

    def _submitted(self, event: MailSubmitted) -> None:
        for section in event.folders:
            self.said[event.node, section.folder] = bits.by_kind(section.row, section.row_fai)


def stores_of(addresses: tuple[str, ...]) -> frozenset[str]:
    """The stores behind mail addresses."""
    return frozenset(map(store_named, addresses))


__all__ = ["DELETED", "HIERARCHY", "Known", "stores_of"]
