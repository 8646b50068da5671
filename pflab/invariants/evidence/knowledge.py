"""What each store knows of folders, from its events: the version of each folder that it keeps, the replica list of that
version, and the replicas that the store has. A restored store knows what it knew at its backup (RP-4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.backups import Backups
from pflab.invariants.evidence.organizations import Organizations
from pflab.terms.event_handlers import event_handler, event_taker_of
from pflab.terms.event_words import store_named
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import Mark
from topology.enums import ResolveMethod
from traces.events import (
    AddressLacking,
    AddressMissing,
    AddressStamped,
    ChangeMade,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    StoreDeleted,
    TombstoneDropped,
    TreeLacking,
    TreeLinked,
    VersionApplied,
)

DELETED = ""
"""Takes the place of a number if the folder's tombstone is kept."""

TOMBSTONE_DROPPED = "tombstone dropped"
"""Takes the place of a number if the tombstone was dropped (DL-4)."""


class Known:
    """What all stores know.

    `setup`: whether a GUID belongs to the topology's folders; `changes`: all changes so far.
    """

    def __init__(
        self,
        organizations: Organizations,
        changes: Mapping[str, ChangeMade],
        setup: Callable[[str], bool],
        backups: Backups,
    ) -> None:
        self._organizations = organizations
        self._changes = changes
        self._setup = setup
        self._original = tuple(organizations.present.folders.values())
        self._setup_guid = ""
        self._started_before: set[str] = set()
        self._folder_versions: dict[str, dict[str, str]] = backups.follow({})
        self._directory: dict[str, set[str]] = backups.follow({})
        self._addressed: dict[str, set[str]] = backups.follow({})
        self._unlinked: dict[str, set[str]] = backups.follow({})
        self._from_start: dict[str, bool] = backups.follow({})
        self._holds: dict[str, dict[str, bool]] = backups.follow({})
        self._pending: dict[tuple[str, str], bool] = backups.follow({})
        self.claims: dict[tuple[str, str], bits.Bits] = backups.follow({})
        """By store and folder: the store's own row, with both kinds of numbers, in its last mail about the folder."""
        self.leavers: dict[tuple[str, str, str], bits.Bits] = backups.follow({})
        """By store, folder and leaving store: what the leaving store said that it has. The leaving store is a source until its
        request is answered. It is also no source if it has no replica, is deleted, or is on the replica list again (RP-2)."""
        self.take = event_taker_of(self)
        """Add an event."""

    # --- questions of the invariants

    def began_with_folders(self, store: str) -> bool:
        """Return whether a store had the topology's folders from its start."""
        return bool(self._from_start.get(store))

    def kept(self, store: str, folder: str) -> str | None:
        """Return the number of the folder's version that a store keeps, DELETED, or None if it knows no version."""
        number = self._folder_versions.get(store, {}).get(folder)
        if number is None and self._from_start.get(store) and self._is_original(folder):
            return folder  # the id of a topology's folder is the number of its creation
        return None if number == TOMBSTONE_DROPPED else number

    def knows(self, store: str, folder: str) -> bool:
        """Return whether a store knows a version or the tombstone of a folder."""
        return folder == HIERARCHY or self.kept(store, folder) is not None

    def listed(self, store: str, folder: str) -> frozenset[str] | None:
        """Return the holders of a folder as a store knows them, or None if it does not know the folder."""
        entries = self._directory.get(store, set())
        if folder == HIERARCHY:
            return frozenset(entries)
        number = self.kept(store, folder)
        if number is None:
            return None
        return frozenset(self._replicas(number)) & entries

    def holders(self, store: str, folder: str) -> frozenset[str]:
        """Return the same as `listed`, but an empty set if the folder is unknown."""
        return self.listed(store, folder) or frozenset()

    def home(self, store: str, folder: str) -> str | None:
        """Return the home store of a folder as a store knows it: the first of the replica list (CF-2), or None."""
        return next(iter(self._replicas(self.kept(store, folder) or DELETED)), None)

    def before(self, store: str, folder: str) -> tuple[str, ...] | None:
        """Return the holders before the store in a folder's replica list as the store knows it; None if it is not listed."""
        holders = self._replicas(self.kept(store, folder) or DELETED)
        return holders[: holders.index(store)] if store in holders else None

    def resolve(self, store: str, folder: str) -> ResolveMethod:
        """Return the resolve method of a folder as a store knows it (CF-4)."""
        change = self._changes.get(self.kept(store, folder) or DELETED)
        if change is not None:
            return ResolveMethod(change.resolve)
        if not self._is_original(folder):
            return ResolveMethod.DEFAULT
        counter = bits.split(folder)[1]
        return self._original[counter - 1].resolve if counter <= len(self._original) else ResolveMethod.DEFAULT

    def contacts(self, store: str, folder: str) -> tuple[str, ...] | None:
        """Return the contacts of a folder as a store knows it (CF-3), or None if they are unknown: no event
        has the contacts of a folder that was created or changed during the run."""
        number = self.kept(store, folder)
        if not number or number in self._changes or not self._is_original(number):
            return None
        return self._original[bits.split(number)[1] - 1].contacts

    def below(self, store: str, folder: str) -> list[str]:
        """Return the folders directly below `folder` that are not deleted, as far as the store knows."""
        ids = dict.fromkeys(self._folder_versions.get(store, ()))
        if self._setup_guid:
            ids |= {f"{self._setup_guid}:{counter + 1}": None for counter in range(len(self._original))}
        return sorted(folder_id for folder_id in ids if self._parent(self.kept(store, folder_id)) == folder)

    def others(self, store: str, folder: str) -> frozenset[str] | None:
        holders = self.listed(store, folder)
        return None if holders is None else holders - {store}

    def addressed(self, store: str) -> frozenset[str]:
        """Return the stores whose entries have an address, as a store reads the directory (ML-1)."""
        return frozenset(self._addressed.get(store, ()))

    def entries(self, store: str) -> frozenset[str]:
        """Return the stores that are in the directory as a store reads it."""
        return frozenset(self._directory.get(store, ()))

    def unlinked(self, store: str) -> frozenset[str]:
        """Return the stores whose objects name no tree, as a store reads the directory (ML-8)."""
        return frozenset(self._unlinked.get(store, ()))

    def is_mute(self, store: str) -> bool:
        """Return whether a store has no address itself, so that it sends nothing (ML-1)."""
        return store in self._directory.get(store, ()) and store not in self.addressed(store)

    def recipients(self, store: str, folder: str) -> frozenset[str]:
        """Return the stores to which a store can send mail about a folder, and itself if it can send (ML-1). If the object of a
        store names no tree, it gets nothing about the hierarchy, and nobody gets anything about its folders (ML-8)."""
        unlinked = self._unlinked.get(store, set()) - {store}
        if folder == HIERARCHY:
            return self.addressed(store) - unlinked
        return frozenset() if unlinked & self.holders(store, folder) else self.addressed(store)

    def reached(self, store: str, folder: str) -> frozenset[str] | None:
        """Return the other holders of a folder to which a store can send mail; None if it does not know the folder."""
        holders = self.others(store, folder)
        return None if holders is None else holders & self.recipients(store, folder)

    def holds(self, store: str, folder: str) -> bool:
        """Return whether a store certainly has a replica of a folder, even if it is leaving."""
        if folder == HIERARCHY:
            return store in self._started_before
        began_at = self._holds.get(store, {}).get(folder)
        if began_at is None and self._from_start.get(store) and self._is_original(folder):
            return store in self._replicas(folder)
        return bool(began_at)

    def pending(self, store: str, folder: str) -> bool:
        """Return whether a store waits for permission to drop its replica (RP-2)."""
        return (store, folder) in self._pending

    def _is_original(self, folder: str) -> bool:
        guid, _ = bits.split(folder)
        if not self._setup(guid):
            return False
        self._setup_guid = guid
        return True

    def _parent(self, number: str | None) -> str | None:
        """Return the parent of a folder's version, or None if the folder is deleted or unknown."""
        change = self._changes.get(number or "")
        if change is not None:
            return change.parent if change.operation != "delete" else None
        if not number or not self._is_original(number):
            return None
        parent = self._original[bits.split(number)[1] - 1].parent
        if parent is None:
            return HIERARCHY
        return f"{self._setup_guid}:{list(self._organizations.present.folders).index(parent) + 1}"

    def _replicas(self, number: str) -> tuple[str, ...]:
        change = self._changes.get(number)
        if change is not None:
            return change.replicas or () if change.operation != "delete" else ()
        guid, counter = bits.split(number) if number != DELETED else ("", 0)
        if counter and counter <= len(self._original) and self._setup(guid):
            return tuple(self._original[counter - 1].replicas)
        return ()

    # --- events

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        if event.reason == "first":  # its first start, or it begins as new because its backup was too old (DL-4)
            server = self._organizations.present.servers.get(event.node)
            from_start = server is not None and not server.joins_later
            self._from_start[event.node] = from_start and event.node not in self._started_before
            self._started_before.add(event.node)

    @event_handler
    def _stamped(self, event: AddressStamped) -> None:
        self._directory.setdefault(event.node, set()).add(event.store)
        self._addressed.setdefault(event.node, set()).add(event.store)

    @event_handler
    def _unstamped(self, event: AddressMissing) -> None:
        self._directory.setdefault(event.node, set()).add(event.store)
        self._addressed.setdefault(event.node, set()).discard(event.store)

    @event_handler
    def _linked(self, event: TreeLinked) -> None:
        unlinked = self._unlinked.setdefault(event.node, set())
        (unlinked.discard if event.linked else unlinked.add)(event.store)

    @event_handler
    def _deleted(self, event: StoreDeleted) -> None:
        self._unlinked.setdefault(event.node, set()).discard(event.store)
        self._directory.setdefault(event.node, set()).discard(event.store)
        self._addressed.setdefault(event.node, set()).discard(event.store)
        self._forget_leavers(lambda node, folder, store: (node, store) == (event.node, event.store))

    @event_handler
    def _folder(self, event: ChangeMade | VersionApplied) -> None:
        if event.kind != "folder":
            return
        deleted = event.deleted if isinstance(event, VersionApplied) else event.operation == "delete"
        old = frozenset(self._replicas(self.kept(event.node, event.object) or DELETED))
        self._folder_versions.setdefault(event.node, {})[event.object] = DELETED if deleted else event.number
        new = frozenset(self._replicas(event.number))
        if old != new:
            self._forget_leavers(
                lambda node, folder, store: (node, folder) == (event.node, event.object) and store in new
            )
        if not deleted and event.node in self._replicas(event.number):
            self._pending.pop((event.node, event.object), None)

    @event_handler
    def _added(self, event: ReplicaAdded) -> None:
        if event.store == event.node:
            self._holds.setdefault(event.node, {})[event.folder] = True

    @event_handler
    def _leaves(self, event: ReplicaPending) -> None:
        self._pending[event.node, event.folder] = True

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        self._holds.setdefault(event.node, {})[event.folder] = False
        self._pending.pop((event.node, event.folder), None)
        self.claims.pop((event.node, event.folder), None)
        self._forget_leavers(lambda node, folder, store: (node, folder) == (event.node, event.folder))

    @event_handler
    def _tombstone_dropped(self, event: TombstoneDropped) -> None:
        if event.folder == HIERARCHY:
            self._folder_versions.setdefault(event.node, {})[event.object] = TOMBSTONE_DROPPED

    @event_handler
    def _submitted(self, event: MailSubmitted) -> None:
        for section in event.folders:
            self.claims[event.node, section.folder] = bits.by_kind(section.row, section.row_fai)
            if Mark.RETAINED in event.marks:
                for store in stores_of(event.recipients):
                    self.leavers.pop((event.node, section.folder, store), None)

    @event_handler
    def _received(self, event: MailReceived) -> None:
        for section in event.folders if event.marks else ():
            leaver = (event.node, section.folder, event.sender)
            if Mark.NO_REPLICA in event.marks:
                self.leavers.pop(leaver, None)
            elif Mark.DELETE_PENDING in event.marks and self.holds(*leaver[:2]) and not self.pending(*leaver[:2]):
                self.leavers[leaver] = bits.by_kind(section.row, section.row_fai)

    def _forget_leavers(self, which: Callable[[str, str, str], bool]) -> None:
        for leaver in [leaver for leaver in self.leavers if which(*leaver)]:
            del self.leavers[leaver]


def folders_of(event: AddressLacking | TreeLacking) -> tuple[str, ...]:
    """Return the folders about which a mail was not sent."""
    return (event.folder,) if isinstance(event, TreeLacking) else event.folders


def stores_of(addresses: tuple[str, ...]) -> frozenset[str]:
    """Return the stores of mail addresses."""
    return frozenset(map(store_named, addresses))


__all__ = ["DELETED", "HIERARCHY", "Known", "folders_of", "stores_of"]
