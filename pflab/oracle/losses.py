"""Which acknowledged changes are rightly gone: lost with a store that was restored, when no other store had them (DU-1).

Worked out from the events alone, at each start on a backup or as new: what the store had before and has no more, and
nobody else keeps in any form, is at risk. It is found again if a mail that was under way brings it to some store; what is
never found is lost, and only that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pflab.oracle.oracle import HIERARCHY, Change, change_of
from traces.events import (
    BackupMade,
    BackupRestored,
    ChangeMade,
    Event,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    StoreDeleted,
    VersionApplied,
    VersionIgnored,
)

Having = dict[str, set[str]]
"""By folder the numbers of the changes that a store has made or applied there while it held the folder."""


class Losses:
    """Grows by `take`. A store's numbers go back with its backup."""

    def __init__(self) -> None:
        self._changes: dict[str, Change] = {}
        self._ancestors: dict[str, frozenset[str]] = {}
        self._of_object: dict[str, list[str]] = {}
        self._has: dict[str, Having] = {}
        self._backups: dict[str, Having] = {}
        self._restores: dict[str, str] = {}
        self._deleted_content: dict[str, Having] = {}
        """What a store dropped because the folder was deleted, or one above it; that goes where the deletion goes."""
        self._deleted_content_at: dict[str, Having] = {}
        """The same, as it stood at each backup."""
        self._leaving: set[tuple[str, str]] = set()
        self._deleted_stores: set[str] = set()
        self._went_back: set[str] = set()
        """Changes that some store no longer had after a restore."""
        self._at_risk: dict[str, str] = {}
        """Change to the store with which it went."""
        self._handlers: Mapping[type[Event], Callable[[Any], None]] = {
            ChangeMade: self._made,
            VersionApplied: self._applied,
            VersionIgnored: self._ignored,
            ReplicaPending: lambda event: self._leaving.add((event.node, event.folder)),
            ReplicaAdded: lambda event: self._leaving.discard((event.node, event.folder)),
            ReplicaDropped: self._dropped,
            BackupMade: self._backup,
            BackupRestored: self._restored,
            NodeStarted: self._started,
            StoreDeleted: self._deleted,
        }

    def take(self, event: Event) -> None:
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)

    def began_with(self, folders: Sequence[Change], stores: Iterable[str]) -> None:
        """The topology's folders, which these stores had from the start."""
        numbers = [folder.number for folder in folders]
        for folder in folders:
            self._know(folder)
        for store in stores:
            for number in numbers:
                self._add(store, HIERARCHY, number)

    @property
    def lost(self) -> Mapping[str, str]:
        """Each change that is gone for good, as it stands, with the store that lost it."""
        return self._at_risk

    def has(self, store: str, folder: str, number: str) -> bool:
        """Whether a store has made or applied a change in its present life."""
        return number in self._has.get(store, {}).get(folder, ())

    # --- taking

    def _made(self, event: ChangeMade) -> None:
        self._know(change_of(event))
        self._add(event.node, event.folder, event.number)

    def _know(self, change: Change) -> None:
        if change.number not in self._changes:
            self._changes[change.number] = change
            older = (self._ancestors.get(each, frozenset()) for each in change.supersedes)
            self._ancestors[change.number] = frozenset(change.supersedes).union(*older)
            self._of_object.setdefault(change.object, []).append(change.number)

    def _applied(self, event: VersionApplied) -> None:
        self._add(event.node, event.folder, event.number)
        if self._at_risk:
            for number in (event.number, *self._ancestors.get(event.number, ())):
                self._at_risk.pop(number, None)

    def _ignored(self, event: VersionIgnored) -> None:
        """What lost against a version here is accounted for by that one, and goes when that one goes (spec: CN-9)."""
        if event.reason == "old":
            self._add(event.node, event.folder, event.number)

    def _add(self, store: str, folder: str, number: str) -> None:
        self._has.setdefault(store, {}).setdefault(folder, set()).add(number)

    def _dropped(self, event: ReplicaDropped) -> None:
        """Of a store that leaves: another store has said that it has all of this, and may have gone back to a backup since."""
        dropped = self._has.get(event.node, {}).pop(event.folder, set())
        place = (event.node, event.folder)
        if place in self._leaving:
            self._leaving.discard(place)
        else:
            self._deleted_content.setdefault(event.node, {}).setdefault(event.folder, set()).update(dropped)
        self._risk(event.node)

    def _backup(self, event: BackupMade) -> None:
        self._backups[event.backup] = _copied(self._has.get(event.store, {}))
        self._deleted_content_at[event.backup] = _copied(self._deleted_content.get(event.store, {}))

    def _restored(self, event: BackupRestored) -> None:
        self._restores[event.store] = event.backup

    def _started(self, event: NodeStarted) -> None:
        if event.reason == "restart":
            return
        backup = self._restores.pop(event.node, None)
        before = _joined(self._has.get(event.node, {}), self._deleted_content.get(event.node, {}))
        goes_back = backup is not None and event.reason == "restored"
        after = _copied(self._backups[backup]) if backup is not None and goes_back else {}
        deleted_content = _copied(self._deleted_content_at[backup]) if backup is not None and goes_back else {}
        self._has[event.node], self._deleted_content[event.node] = after, deleted_content
        for number in {each for numbers in after.values() for each in numbers}:
            # A backup made before an earlier restore brings back what went with that one.
            for each in (number, *self._ancestors.get(number, ())):
                self._at_risk.pop(each, None)
        still = _joined(after, deleted_content)
        gone = {number for folder in before for number in before[folder] - still.get(folder, set())}
        # With a version goes what it stood for: whatever it replaced, and all that a deletion deleted_content.
        self._went_back |= {each for number in gone & self._changes.keys() for each in self._stood_for(number)}
        self._risk(event.node)

    def _deleted(self, event: StoreDeleted) -> None:
        """What only a store had that is deleted goes with it (RP-6)."""
        before = self._has.pop(event.store, {})
        if before:
            self._deleted_stores.add(event.store)
            gone = {number for numbers in before.values() for number in numbers}
            self._went_back |= {each for number in gone & self._changes.keys() for each in self._stood_for(number)}
            self._risk(event.store)

    def fate(self, store: str) -> str:
        """What became of a store with which something was lost."""
        return "deleted" if store in self._deleted_stores else "restored"

    # --- what nobody else has

    def _risk(self, store: str) -> None:
        """Of all that ever went back: what was kept by a later change of its object may go with that one."""
        for number in sorted(self._went_back - self._at_risk.keys()):
            change = self._changes.get(number)
            if change is not None and not any(self._kept(each, change) for each in self._has.values()):
                self._at_risk[number] = store

    def _kept(self, having: Having, change: Change) -> bool:
        kept = having.get(change.folder)
        return kept is not None and any(each in kept for each in self._successors(change))

    def _stood_for(self, number: str) -> Iterator[str]:
        change = self._changes[number]
        yield number
        yield from self._ancestors[number] & self._changes.keys()
        if change.operation == "delete":
            yield from self._of_object[change.object]

    def _successors(self, change: Change) -> Iterator[str]:
        """The change itself, whatever incorporates it, and every deletion of its object."""
        for number in self._of_object[change.object]:
            if (
                number == change.number
                or change.number in self._ancestors[number]
                or self._changes[number].operation == "delete"
            ):
                yield number


def _joined(one: Having, other: Having) -> Having:
    return {folder: one.get(folder, set()) | other.get(folder, set()) for folder in one.keys() | other.keys()}


def _copied(having: Having) -> Having:
    return {folder: set(numbers) for folder, numbers in having.items()}
