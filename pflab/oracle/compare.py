"""Compare what must exist (`pflab.oracle.oracle`) with the state of each store. The result says in words which store lacks what
(CV-1 to CV-3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pflab.oracle.oracle import FolderTruth, History, Oracle
from pflab.terms import number_sets as sets
from pflab.terms.verdict import FolderVerdict, Judgement, Verdict, join_names

if TYPE_CHECKING:
    from node.views import EntryView, Knowledge, RowView

WITNESS_LIMIT = 12
"""The largest number of witnesses for one folder. If everything is missing, a longer list does not help."""

NameOf = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Reading:
    """The state of one running store: its knowledge and its rows, both by folder id, and its backfill array."""

    store: str
    knowledge: Mapping[str, Knowledge]
    rows: Mapping[str, tuple[RowView, ...]] = field(default_factory=dict)
    entries: tuple[EntryView, ...] = ()


@dataclass(frozen=True, slots=True)
class _Due:
    """The maximal versions of one object that is not deleted."""

    object: str
    history: History
    numbers: frozenset[str]

    def kept(self, knowledge: Knowledge) -> dict[str, str]:
        """Return what a store keeps of the object: digests by number."""
        return dict(knowledge.versions.get(self.object, ()))


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares the oracle with the readings of all running stores.

    name_of: returns the name of a GUID: A, Setup.
    dropped_replicas: (store, folder id) of each replica that was ever dropped; a later replica starts empty (RP-2).
    """

    oracle: Oracle
    readings: Mapping[str, Reading]
    name_of: NameOf
    dropped_replicas: frozenset[tuple[str, str]] = frozenset()
    dropped_tombstones: frozenset[str] = frozenset()
    """Deleted objects whose tombstone some store has dropped. Stores that account for the deletion need not keep it (DL-4)."""
    expired: frozenset[str] = frozenset()
    """Messages that have expired at some store. A store that accounts for such a message need not keep it (DL-3)."""
    lost: tuple[str, ...] = ()
    """The changes in words that are lost for a permitted reason, and so are not in the oracle (DU-1)."""
    is_home: Callable[[str, str, str], bool] = lambda _store, _folder, _number: True
    """Return whether a store has made or applied a change of a folder, and has not lost it in a restore."""

    def verdict(self, *, at_rest: bool = True) -> Verdict:
        """Return the verdict on all folders. `at_rest` adds the requirements that hold only after the lab has converged
        (CV-3)."""
        truths = self.oracle.truth()
        folders = tuple(self.folder(truth) for truth in truths.values())
        losses = tuple(self.unexplained(truths.values()))
        if not at_rest:
            return Verdict(folders, losses, rightly_lost=self.lost)
        untruthful, leftovers = tuple(self.untruthful(truths)), tuple(self.leftovers(truths))
        return Verdict(folders, losses, untruthful, leftovers, self.lost)

    # --- one folder (CV-1, CV-2)

    def folder(self, truth: FolderTruth) -> FolderVerdict:
        # spec: CV-1
        if stopped := self._stopped(truth):
            return FolderVerdict(truth.id, truth.path, Judgement.UNKNOWN, truth.holders, (stopped,))
        states = {name: self._held(name, truth.id) for name in truth.holders}
        witnesses = [f"{name} holds no replica of it" for name, state in states.items() if state is None]
        knowledge_by_store = {name: state for name, state in states.items() if state is not None}
        witnesses += self._content_witnesses(truth, knowledge_by_store)
        witnesses += self._number_witnesses(truth, knowledge_by_store)
        if len(witnesses) > WITNESS_LIMIT:
            witnesses = [*witnesses[:WITNESS_LIMIT], f"and {len(witnesses) - WITNESS_LIMIT} more"]
        judgement = Judgement.NOT_CONVERGED if witnesses else Judgement.CONVERGED
        return FolderVerdict(truth.id, truth.path, judgement, truth.holders, tuple(witnesses))

    def _stopped(self, truth: FolderTruth) -> str:
        """Return in words which holders of a folder are stopped, so that nobody knows what they have; '' if none is."""
        stopped = [name for name in truth.holders if name not in self.readings]
        return f"{join_names(stopped)} {'is' if len(stopped) == 1 else 'are'} stopped" if stopped else ""

    def differences(self, folder: str) -> list[str]:
        """Compare the holders of a folder with each other, not with the oracle. Return how they differ; [] if they do not."""
        # spec: CV-2
        truth = self.oracle.truth()[folder]
        if stopped := self._stopped(truth):
            return [stopped]
        states = {store: self._held(store, folder) for store in truth.holders}
        knowledge_by_store = {store: state for store, state in states.items() if state is not None}
        numbers = [(store, _numbers(state)) for store, state in knowledge_by_store.items()]
        words = [f"{store} holds no replica of it" for store, state in states.items() if state is None]
        words += [
            f"{store} and {numbers[0][0]} account for other numbers"
            for store, state in numbers
            if state != numbers[0][1]
        ]
        return words + _differences(knowledge_by_store)

    def _held(self, store: str, folder: str) -> Knowledge | None:
        state = self.readings[store].knowledge.get(folder)
        return state if state is not None and state.holds else None

    def _content_witnesses(self, truth: FolderTruth, knowledge_by_store: Mapping[str, Knowledge]) -> list[str]:
        if truth.doubt:
            # Stores may differ in expired objects and in dropped tombstones (spec: DL-3, DL-4).
            return _differences(knowledge_by_store, but=self.expired | self.dropped_tombstones)
        witnesses: list[str] = []
        for object_, numbers in truth.versions.items():
            obligation = _Due(object_, self.oracle.history(truth.id, object_), numbers)
            for store in knowledge_by_store:
                witnesses += self._object_witnesses(store, obligation, knowledge_by_store)
        for object_, number in truth.tombstones.items():
            history = self.oracle.history(truth.id, object_)
            subject = self._what(history, number)
            for store, state in knowledge_by_store.items():
                if state.versions.get(object_):
                    witnesses.append(f"{store} still has {self._subject(history)}, deleted by {self._shown(number)}")
                elif object_ not in state.tombstones and not self._forgot(state, object_, history):
                    witnesses.append(f"{store} lacks {subject}")
        for store, state in knowledge_by_store.items():
            strange = sorted(state.versions.keys() - truth.versions.keys() - truth.tombstones.keys())
            witnesses += [f"{store} has object {self._shown(object_)}, which nobody made" for object_ in strange]
        return witnesses

    def _forgot(self, knowledge: Knowledge, object_: str, history: History) -> bool:
        """Return whether a store accounts for a deletion whose tombstone may be dropped."""  # spec: DL-4
        numbers = _numbers(knowledge)
        deletions = sets.of_numbers(
            change.number for change in history.changes.values() if change.operation == "delete"
        )
        return object_ in self.dropped_tombstones and bool(sets.common(numbers, deletions))

    def _object_witnesses(
        self, store: str, obligation: _Due, knowledge_by_store: Mapping[str, Knowledge]
    ) -> Iterator[str]:
        history = obligation.history
        versions = obligation.kept(knowledge_by_store[store])
        lost_numbers: set[str] = set()
        if obligation.object in self.expired:
            if not versions:
                return  # spec: DL-3 the comparison of sets checks whether the store accounts for it
            # A version that has expired everywhere cannot be sent. A store without it still keeps the version before it.
            lost_numbers = {
                number
                for number in obligation.numbers
                if not any(number in obligation.kept(knowledge) for knowledge in knowledge_by_store.values())
            }
        for number in sorted(obligation.numbers - versions.keys() - lost_numbers):
            owners = [name for name, knowledge in knowledge_by_store.items() if number in obligation.kept(knowledge)]
            has = "has" if len(owners) < 2 else "have"
            yield f"{store} lacks {self._what(history, number)}; {join_names(owners)} {has} it"
        for number in sorted(versions.keys() - obligation.numbers):
            by = [knowledge for knowledge in sorted(obligation.numbers) if number in history.ancestors(knowledge)]
            # A later version of an associated message wins, although it does not include the other one (CN-9).
            if lost_numbers.issuperset(by or obligation.numbers):
                continue
            why = f"superseded by {join_names(map(self._shown, by))}" if by else "which lost to a later version"
            if number not in history.changes:
                why = "which nobody made"
            yield f"{store} still keeps {self._shown(number)} of {self._subject(history)}, {why}"
        for number in sorted(obligation.numbers & versions.keys()):
            digest = history.changes[number].digest
            if digest and versions[number] != digest:
                yield f"{store} has other bytes for {self._what(history, number)} than its author"

    def _number_witnesses(self, truth: FolderTruth, knowledge_by_store: Mapping[str, Knowledge]) -> Iterator[str]:
        accounts = {store: _numbers(knowledge) for store, knowledge in knowledge_by_store.items()}
        all_numbers = sets.union(accounts.values())
        # A version that was superseded or deleted before it was sent need not be in any set (CN-6). But a number in one
        # holder's set must be in the sets of all holders (CN-7), so the sets are compared.
        true_numbers = sets.of_numbers(number for versions in truth.versions.values() for number in versions)
        for store, numbers in accounts.items():
            gaps = {} if truth.doubt else sets.minus(true_numbers, numbers)
            strays = sets.minus(sets.minus(all_numbers, numbers), gaps)
            if gaps:
                yield f"{store} does not account for {sets.words(gaps, self.name_of)}"
            if strays:
                owners = [knowledge for knowledge in accounts if sets.common(accounts[knowledge], strays)]
                counts = "accounts for" if len(owners) == 1 else "account for"
                yield f"{store} does not account for {sets.words(strays, self.name_of)}, which {join_names(owners)} {counts}"

    # --- losses (DU-1, CV-2)

    def unexplained(self, truths: Iterable[FolderTruth]) -> Iterator[str]:
        """Yield acknowledged changes that no store keeps in any form. This is known only if all stores run."""
        # spec: CV-2, DU-1
        if any(store not in self.readings for store in self.oracle.stores):
            return
        for truth in truths:
            if truth.doubt:
                continue
            for object_, versions in truth.versions.items():
                for number in sorted(versions) if object_ not in self.expired else ():
                    change = self.oracle.history(truth.id, object_).changes[number]
                    if not any(self._keeps(name, truth.id, object_, number) for name in self.readings):
                        subject = self._what_change(change.operation, change.subject, number)
                        yield f"{subject} in {truth.path}: no store has it"

    def lost_at_home(self) -> list[str]:
        """Return a line for each change that its own store lost: the store keeps neither the change, nor a later version, nor a
        tombstone.
        """
        losses = []
        for truth in self.oracle.truth().values():
            if truth.doubt:
                continue
            for object_, history in self.oracle.histories(truth.id).items():
                for number, change in history.changes.items():
                    if not self.is_home(change.store, truth.id, number):
                        continue
                    state = self._home(change.store, truth.id)
                    if state is None or object_ in self.expired:
                        continue
                    if not _accounted(state, history, object_, number):
                        subject = self._what_change(change.operation, change.subject, number)
                        losses.append(f"{change.store} acknowledged {subject} in {truth.path} and no longer has it")
        return losses

    def _home(self, store: str, folder: str) -> Knowledge | None:
        if store not in self.readings or (store, folder) in self.dropped_replicas:
            return None
        return self._held(store, folder)

    def _keeps(self, store: str, folder: str, object_: str, number: str) -> bool:
        state = self.readings[store].knowledge.get(folder)
        return state is not None and number in dict(state.versions.get(object_, ()))

    # --- rows and backfill (CV-3)

    def untruthful(self, folders: Iterable[str]) -> Iterator[str]:
        """Yield rows that claim more than their store has."""  # spec: CV-3
        for folder in folders:
            for store, reading in self.readings.items():
                for row in reading.rows.get(folder, ()):
                    if row.is_local or row.store not in self.readings:
                        continue
                    state = self.readings[row.store].knowledge.get(folder)
                    has = {} if state is None else sets.renamed(_numbers(state), self.name_of)
                    claims = self._claimed(row)
                    too_much = sets.minus(claims, has)
                    if too_much:
                        row_name = f"{store}'s row for {row.store} in {self._path(folder)}"
                        yield f"{row_name} claims {sets.words(too_much)}, which {row.store} lacks"

    def leftovers(self, folders: Iterable[str]) -> Iterator[str]:
        """Yield backfill entries that some holder could satisfy, at least in part."""  # spec: CV-3
        folder_ids = set(folders)
        for store, reading in self.readings.items():
            for entry in reading.entries:
                if entry.folder not in folder_ids:
                    continue
                gap = self._shown_sets(entry.cnset, entry.cnset_fai)
                for row in reading.rows.get(entry.folder, ()):
                    overlap = {} if row.is_local else sets.common(gap, self._claimed(row))
                    if overlap:
                        yield f"{store} still waits for {sets.words(overlap)} in {entry.path}, which {row.store} has"

    def _claimed(self, row: RowView) -> sets.Numbers:
        return self._shown_sets(row.cnset, row.cnset_fai)

    def _shown_sets(self, numbers: str, numbers_fai: str) -> sets.Numbers:
        """Return sets with the judge's names of GUIDs, because a store may not know the names of all GUIDs (RP-4)."""
        return sets.renamed(sets.union(map(sets.parse_traced, (numbers, numbers_fai))), self.name_of)

    # --- words

    def _path(self, folder: str) -> str:
        truth = self.oracle.truth().get(folder)
        return folder if truth is None else truth.path

    def _shown(self, number: str) -> str:
        guid, counter = sets.split_number(number)
        return f"{self.name_of(guid)}-{counter}"

    def _subject(self, history: History) -> str:
        subjects = [change.subject for change in history.changes.values() if change.subject]
        return repr(subjects[-1]) if subjects else "an object"

    def _what(self, history: History, number: str) -> str:
        change = history.changes[number]
        return self._what_change(change.operation, change.subject or self._subject(history).strip("'"), number)

    def _what_change(self, operation: str, subject: str, number: str) -> str:
        nouns = {"create": "the creation", "modify": "the edit", "delete": "the deletion"}
        return f"{self._shown(number)} ({nouns.get(operation, operation)} of {subject!r})"


def _accounted(knowledge: Knowledge, history: History, object_: str, number: str) -> bool:
    if object_ in knowledge.tombstones:
        return True
    versions = dict(knowledge.versions.get(object_, ()))
    if number in versions or any(number in history.ancestors(version) for version in versions):
        return True
    # Of concurrent versions of a folder or an associated message, only the last writer's is kept (HI-5, CN-9).
    return history.changes[number].kind != "message" and history.winner().number in versions


def _differences(knowledge_by_store: Mapping[str, Knowledge], but: frozenset[str] = frozenset()) -> list[str]:
    """Return which stores differ in content from the first one. Objects in `but` are not compared."""
    stores = list(knowledge_by_store)
    if not stores:
        return []
    first = stores[0]
    pairs = [
        (
            {key: versions for key, versions in knowledge_by_store[store].versions.items() if key not in but},
            set(knowledge_by_store[store].tombstones) - but,
        )
        for store in stores
    ]
    return [
        f"{store} and {first} differ in content" for store, pair in zip(stores, pairs, strict=True) if pair != pairs[0]
    ]


def _numbers(knowledge: Knowledge) -> sets.Numbers:
    return sets.union([sets.parse_traced(knowledge.numbers), sets.parse_traced(knowledge.numbers_fai)])
