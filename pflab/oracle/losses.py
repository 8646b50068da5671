"""Find acknowledged changes that are rightly lost: only a store that was restored or deleted had them (DU-1, RP-6).

A change is in one of three states, which follow from the events alone:

* *kept*: some store has it, a version that includes it, or a deletion of its object.
* *at risk*: a restore or a deletion of a store removed it, and now no store keeps it in any form.
* *lost*: it is still at risk when the lab is judged.

| from | to | when |
|---|---|---|
| kept | at risk | the last store that keeps it is restored, begins as new, or is deleted |
| kept | at risk | the last store that keeps it leaves the folder, and a store that permitted this lost the change since |
| at risk | kept | a mail that was under way brings it to some store, or another restore brings it back |

Example: A posts A-7, loses its disk, and is restored from an older backup. No other store has A-7, so A-7 is at risk. If the
mail with A-7 is still under way, B applies A-7 later, and A-7 is kept again.

All changes that are not lost in this way must exist. In particular, a store that leaves a folder must not drop the last copy
of a change only because the store that made it is gone: the holder that let it leave must have had the change (spec: RP-2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pflab.oracle.oracle import Change, change_of
from pflab.terms import number_sets as sets
from pflab.terms.event_handlers import event_handler, event_taker_of
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import Mark
from pflab.terms.store_objects import StoreObjects
from traces.events import (
    BackupMade,
    BackupRestored,
    ChangeMade,
    ExpiredEverywhere,
    MailReceived,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    StoreCreated,
    StoreDeleted,
    VersionApplied,
    VersionIgnored,
)

Having = dict[str, set[str]]
"""The numbers, by folder, of the changes that a store has made, applied, or found to have expired everywhere, while it held the
folder."""


class Losses:
    """The lost changes of one lab. `take` adds an event. A restored store has the numbers of its backup."""

    def __init__(self) -> None:
        self._changes: dict[str, Change] = {}
        self._ancestors: dict[str, frozenset[str]] = {}
        self._of_object: dict[str, list[str]] = {}
        self._has: dict[str, Having] = {}
        self._backups: dict[str, Having] = {}
        self._restores: dict[str, str] = {}
        self._deleted_content: dict[str, Having] = {}
        """What a store dropped because the folder, or a folder above it, was deleted. This content is lost only if the
        deletion is lost.
        """
        self._deleted_content_at: dict[str, Having] = {}
        """Copies of `_deleted_content` at each backup."""
        self._leaving: dict[tuple[str, str], set[str]] = {}
        """By store and folder that it leaves: the stores that have answered that it may drop the folder's content."""
        self._deleted_stores: set[str] = set()
        self._objects = StoreObjects()
        self._removed_by: dict[str, set[str]] = {}
        """By change: the stores that no longer had it after a restore or a deletion."""
        self._at_risk: dict[str, str] = {}
        """By change: the store whose restore or deletion put the change at risk."""
        self.take = event_taker_of(self)
        """Add an event."""

    def began_with(self, folders: Sequence[Change], stores: Iterable[str]) -> None:
        """Add the topology's folders, which these stores have from the start."""
        numbers = [folder.number for folder in folders]
        for folder in folders:
            self._know(folder)
        for store in stores:
            for number in numbers:
                self._add(store, HIERARCHY, number)

    @property
    def lost(self) -> Mapping[str, str]:
        """Each change that is lost at present, with the store that lost it."""
        return self._at_risk

    def has(self, store: str, folder: str, number: str) -> bool:
        """Return whether a store has a change: made or applied since its last restore, or contained in that backup."""
        return number in self._has.get(store, {}).get(folder, ())

    # --- events

    @event_handler
    def _made(self, event: ChangeMade) -> None:
        self._know(change_of(event))
        self._add(event.node, event.folder, event.number)

    def _know(self, change: Change) -> None:
        if change.number not in self._changes:
            self._changes[change.number] = change
            ancestor_sets = (self._ancestors.get(predecessor, frozenset()) for predecessor in change.supersedes)
            self._ancestors[change.number] = frozenset(change.supersedes).union(*ancestor_sets)
            self._of_object.setdefault(change.object, []).append(change.number)

    @event_handler
    def _applied(self, event: VersionApplied) -> None:
        self._add(event.node, event.folder, event.number)
        if self._at_risk:
            for number in (event.number, *self._ancestors.get(event.number, ())):
                self._at_risk.pop(number, None)

    @event_handler
    def _ignored(self, event: VersionIgnored) -> None:
        """Note that a store ignored a version because it keeps a better one. The ignored version is lost only with the kept one
        (spec: CN-9).
        """
        if event.reason == "old":
            self._add(event.node, event.folder, event.number)

    @event_handler
    def _expired_everywhere(self, event: ExpiredEverywhere) -> None:
        """Note that a store accounts for items that have expired on every holder. No store may have these items any more, but a
        store that permits another to leave has their numbers (spec: DL-3, RP-2).
        """
        for numbers in map(sets.parse_traced, (event.cnset, event.cnset_fai)):
            for guid, ranges in numbers.items():
                for counter in (counter for low, high in ranges for counter in range(low, high + 1)):
                    if (number := f"{guid}:{counter}") in self._changes:
                        self._add(event.node, event.folder, number)

    def _add(self, store: str, folder: str, number: str) -> None:
        self._has.setdefault(store, {}).setdefault(folder, set()).add(number)

    @event_handler
    def _pending(self, event: ReplicaPending) -> None:
        self._leaving[event.node, event.folder] = set()

    @event_handler
    def _added(self, event: ReplicaAdded) -> None:
        self._leaving.pop((event.node, event.folder), None)

    @event_handler
    def _received(self, event: MailReceived) -> None:
        for section in event.folders if Mark.RETAINED in event.marks else ():
            permitted_by = self._leaving.get((event.node, section.folder))
            if permitted_by is not None:
                permitted_by.add(event.sender)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        """Forget a dropped replica. If the store left the folder, a store that permitted this had all of the content, but that
        store may have been restored or deleted since. Otherwise the loss has no excuse.
        """
        numbers = self._has.get(event.node, {}).pop(event.folder, set())
        permitted_by = self._leaving.pop((event.node, event.folder), None)
        if permitted_by is None:
            self._deleted_content.setdefault(event.node, {}).setdefault(event.folder, set()).update(numbers)
        else:
            for number in self._with_all_included(numbers):
                if not self._removed_by.get(number, set()) & permitted_by and not self._is_kept(number):
                    self._removed_by.pop(number, None)
        self._risk(event.node)

    @event_handler
    def _backup(self, event: BackupMade) -> None:
        self._backups[event.backup] = _copied(self._has.get(event.store, {}))
        self._deleted_content_at[event.backup] = _copied(self._deleted_content.get(event.store, {}))

    @event_handler
    def _restored(self, event: BackupRestored) -> None:
        self._restores[event.store] = event.backup

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        if event.reason == "restart":
            return
        backup = self._restores.pop(event.node, None)
        before = _joined(self._has.get(event.node, {}), self._deleted_content.get(event.node, {}))
        goes_back = backup is not None and event.reason == "restored"
        after = _copied(self._backups[backup]) if backup is not None and goes_back else {}
        deleted_content = _copied(self._deleted_content_at[backup]) if backup is not None and goes_back else {}
        self._has[event.node], self._deleted_content[event.node] = after, deleted_content
        for number in {number for numbers in after.values() for number in numbers}:
            # If the backup is older than an earlier restore, it brings back what that restore lost.
            for ancestor in (number, *self._ancestors.get(number, ())):
                self._at_risk.pop(ancestor, None)
        remaining_numbers = _joined(after, deleted_content)
        lost_numbers = {number for folder in before for number in before[folder] - remaining_numbers.get(folder, set())}
        self._remove(event.node, lost_numbers)

    @event_handler
    def _created(self, event: StoreCreated) -> None:
        self._objects.created(event)

    @event_handler
    def _deleted(self, event: StoreDeleted) -> None:
        """Find what only a deleted store had (RP-6). A deletion of a folder may be lost with the store, so what the store
        dropped for that deletion counts too.
        """
        if not self._objects.ends_store(event):
            return
        before = _joined(self._has.pop(event.store, {}), self._deleted_content.pop(event.store, {}))
        if before:
            self._deleted_stores.add(event.store)
            self._remove(event.store, {number for numbers in before.values() for number in numbers})

    def fate(self, store: str) -> str:
        """Return in words why a store lost something."""
        return "deleted" if store in self._deleted_stores else "restored"

    # --- what nobody else has

    def _remove(self, store: str, numbers: Iterable[str]) -> None:
        """Note that a restore or a deletion removed changes from a store."""
        for number in self._with_all_included(numbers):
            self._removed_by.setdefault(number, set()).add(store)
        self._risk(store)

    def _risk(self, store: str) -> None:
        """Find the changes that no store keeps any more, among all that a restore or a deletion of a store has ever removed."""
        for number in sorted(self._removed_by.keys() - self._at_risk.keys()):
            if not self._is_kept(number):
                self._at_risk[number] = store

    def _is_kept(self, number: str) -> bool:
        change = self._changes[number]
        return any(self._kept(having, change) for having in self._has.values())

    def _with_all_included(self, numbers: Iterable[str]) -> set[str]:
        """Return changes and all that is lost with them: what a version replaced, and the versions of a deleted object."""
        known_numbers = [number for number in numbers if number in self._changes]
        return {ancestor for number in known_numbers for ancestor in self._included_in(number)}

    def _kept(self, having: Having, change: Change) -> bool:
        numbers = having.get(change.folder)
        return numbers is not None and any(successor in numbers for successor in self._successors(change))

    def _included_in(self, number: str) -> Iterator[str]:
        change = self._changes[number]
        yield number
        yield from self._ancestors[number] & self._changes.keys()
        if change.operation == "delete":
            yield from self._of_object[change.object]

    def _successors(self, change: Change) -> Iterator[str]:
        """Yield the change itself, the versions that include it, and every deletion of its object."""
        for number in self._of_object[change.object]:
            if (
                number == change.number
                or change.number in self._ancestors[number]
                or self._changes[number].operation == "delete"
            ):
                yield number


def _joined(left: Having, right: Having) -> Having:
    return {folder: left.get(folder, set()) | right.get(folder, set()) for folder in left.keys() | right.keys()}


def _copied(having: Having) -> Having:
    return {folder: set(numbers) for folder, numbers in having.items()}
