"""Invariants of the state of stores: kept versions, tombstones, winners, the tree, the backfill array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.facts import rank_of
from pflab.invariants.invariant import ArrayReading, FolderReading, Invariant, Witnesses
from pflab.terms.folder_ids import HIERARCHY
from traces.events import ChangeMade
from traces.labtime import format_instant

if TYPE_CHECKING:
    from node.views import Knowledge


def accounts_for(knowledge: Knowledge, change: ChangeMade) -> bool:
    """Return whether a store accounts for a change. Only the set of the change's kind counts (CN-6, CN-9)."""
    return bits.has(bits.parse(knowledge.numbers_fai if change.kind == "fai" else knowledge.numbers), change.number)


class NothingLostAtHome(Invariant):
    id = "nothing lost at home"
    rules = ("DU-1",)
    says = "A store that acknowledged a change keeps the change, a later version, or the tombstone of the object."

    def on_folder(self, reading: FolderReading) -> Witnesses:
        knowledge = reading.knowledge
        if not knowledge.holds:
            return
        tombstones = frozenset(knowledge.tombstones)
        for change in self.facts.own_changes.get((reading.store, reading.folder), ()):
            versions = dict(knowledge.versions.get(change.object, ()))
            if not self.facts.accounted(change, versions, has_tombstone=change.object in tombstones):
                yield f"{reading.store} acknowledged {self.facts.what(change)}, but no longer has it"


class ClaimsAreKept(Invariant):
    id = "claims are kept"
    rules = ("CN-7", "RST-1", "IN-1")
    says = "For each change that a store accounts for, it keeps the version, or a version that replaced it."

    def on_folder(self, reading: FolderReading) -> Witnesses:
        knowledge = reading.knowledge
        if not knowledge.holds:
            return
        tombstones = frozenset(knowledge.tombstones)
        for change in self.facts.of_folder.get(reading.folder, ()):
            if not accounts_for(knowledge, change) or self.facts.may_be_a_hole(change):
                continue
            versions = dict(knowledge.versions.get(change.object, ()))
            if not self.facts.accounted(change, versions, has_tombstone=change.object in tombstones):
                yield f"{reading.store} accounts for {self.facts.what(change)}, but has neither the change nor a later version"


class DeletesWin(Invariant):
    id = "deletes win"
    rules = ("DL-2", "HI-6")
    says = (
        "If an object was deleted once, a store that accounts for the deletion keeps no version of the object, unless it is "
        "leaving the folder. The tombstone may be gone before a restored store learns that it is no longer a holder (DL-4)."
    )

    def on_folder(self, reading: FolderReading) -> Witnesses:
        if self.facts.known.pending(reading.store, reading.folder):
            return
        knowledge = reading.knowledge
        for object_ in knowledge.versions:
            deletions = self.facts.deletions(object_)
            if len(deletions) == 1 and accounts_for(knowledge, deletions[0]):
                subject = self.facts.names.what(reading.folder, object_)
                number_words = self.facts.shown(deletions[0].number)
                yield f"{reading.store} accounts for {number_words}, which deleted {subject}, but still shows it"


class OneWinner(Invariant):
    id = "one winner"
    rules = ("CF-1", "CN-8")
    says = (
        "Stores that keep the same versions of a message show the same winner: the latest version. If two versions "
        "are equally late, the winner is the version with the larger GUID."
    )

    def remember(self) -> None:
        self._winners: dict[tuple[str, tuple[str, ...]], tuple[str, str]] = {}

    def on_folder(self, reading: FolderReading) -> Witnesses:
        if reading.folder == HIERARCHY:
            return
        for object_, versions in reading.knowledge.versions.items():
            numbers = tuple(number for number, _ in versions)
            shown_number = reading.knowledge.shown.get(object_)
            subject = self.facts.names.what(reading.folder, object_)
            if shown_number is None:
                yield f"{reading.store} keeps {subject}, but shows no version of it"
                continue
            first, store = self._winners.setdefault((object_, numbers), (shown_number, reading.store))
            if first != shown_number:
                text = f"{self.facts.shown(shown_number)} of {subject} and {store} shows {self.facts.shown(first)}"
                yield f"{reading.store} shows {text}, although both keep the same versions"
            changes = [self.facts.changes[number] for number in numbers if number in self.facts.changes]
            winner = max(changes, key=rank_of).number if len(changes) == len(numbers) else shown_number
            if winner != shown_number:
                text = f"{self.facts.shown(shown_number)} of {subject}"
                yield f"{reading.store} shows {text}, but {self.facts.shown(winner)} is later"


class OneTree(Invariant):
    id = "one tree"
    rules = ("HI-7", "HI-1")
    says = "Stores that keep the same folder versions show the same tree."

    def remember(self) -> None:
        self._trees: dict[tuple[tuple[str, str], ...], tuple[tuple[tuple[str, str, bool], ...], str]] = {}

    def on_folder(self, reading: FolderReading) -> Witnesses:
        if reading.folder != HIERARCHY:
            return
        knowledge = reading.knowledge
        folders = [(object_, number) for object_, versions in knowledge.versions.items() for number, _ in versions]
        key = tuple(sorted([*folders, *((object_, "") for object_ in knowledge.tombstones)]))
        # The name of a hidden folder is not compared, because it has no place in the tree.
        tree = tuple(sorted((view.id, "" if view.hidden else view.path, view.hidden) for view in reading.tree))
        first, store = self._trees.setdefault(key, (tree, reading.store))
        if first != tree:
            own_paths, other_paths = set(tree) - set(first), set(first) - set(tree)
            text = f"{_paths(own_paths)} and {store} shows {_paths(other_paths)}"
            yield f"{reading.store} shows {text}, although both know the same versions of all folders"


def _paths(tree: set[tuple[str, str, bool]]) -> str:
    return ", ".join(sorted("a hidden folder" if hidden else path for _, path, hidden in tree)) or "nothing more"


class VersionsKeptUnchanged(Invariant):
    id = "versions are kept unchanged"
    rules = ("HI-2", "DU-1")
    says = "A store keeps only versions that some store made, each with exactly the bytes that the maker wrote."

    def on_folder(self, reading: FolderReading) -> Witnesses:
        facts = self.facts
        for object_, versions in reading.knowledge.versions.items():
            for number, digest in versions:
                change = facts.changes.get(number)
                if change is None:
                    if not facts.setup(bits.split(number)[0]):
                        yield f"{reading.store} keeps {facts.shown(number)}, which nobody made"
                elif change.object != object_ or change.digest != digest:
                    yield f"{reading.store} keeps {facts.what(change)} with other bytes than its author's"


class NoEntryIsOverdue(Invariant):
    id = "no entry is overdue"
    rules = ("BF-2", "BF-6")
    says = "While the lab is quiet, a backfill entry is overdue only if it waits for a slot and all slots are taken."

    def on_array(self, reading: ArrayReading) -> Witnesses:
        limit = self.facts.topology.servers[reading.store].settings.outstanding_backfill_limit
        slots_in_use = sum(len(entry.requests) for entry in reading.entries)
        if slots_in_use > limit:
            yield f"{reading.store} has {slots_in_use} requests outstanding, but its limit is {limit}"
        for entry in reading.entries if reading.quiet else ():
            subject = f"{reading.store}'s entry {entry.id} ({entry.missing or entry.missing_fai} of {entry.path})"
            if entry.folder != HIERARCHY and reading.store in self.facts.suspended:
                pass  # spec: RP-5 the time-outs of suspended content are suspended too
            elif self.facts.known.is_mute(reading.store):
                pass  # spec: ML-1 a store without an address can ask nobody
            elif entry.waiting_for_slot:
                if slots_in_use < limit:
                    yield f"{subject} waits for a slot, but only {slots_in_use} of {limit} are taken"
            elif entry.due_at < reading.now:
                text = f"was due at {format_instant(entry.due_at)}, but the lab time is {format_instant(reading.now)}"
                yield f"{subject} {text}"
            if not entry.missing and not entry.missing_fai:
                yield f"{subject} is empty, but was not removed"


STATE: tuple[type[Invariant], ...] = (
    NothingLostAtHome,
    ClaimsAreKept,
    DeletesWin,
    OneWinner,
    OneTree,
    VersionsKeptUnchanged,
    NoEntryIsOverdue,
)
