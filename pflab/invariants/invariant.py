"""What must hold at every instant of a lab, whatever goes wrong: invariants, each with a name and the rules it guards.

They see the events of all stores in the order in which they were committed, and what the stores show of themselves
(`node.views`, plain values). They share no code with the agent (CV-2): evidence is gathered anew from the events in
`invariants_facts`, sets are counted anew in `invariants_sets`.

A violation carries a witness in words: who, what, and what would have been right.

What must hold in the end, after the heal and the bound: the judge's verdict (CV-1 to CV-3) as violations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pflab.terms.verdict import Judgement, Verdict
from traces.events import Event
from traces.labtime import LabTime, format_instant

if TYPE_CHECKING:
    from node.views import EntryView, FolderView, Knowledge, RowView
    from pflab.invariants.evidence.facts import Facts


Witnesses = Iterator[str]
Handlers = Mapping[type[Event], Callable[[Any], Witnesses | None]]


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that must not be. `invariant` is the id of what it violates, `at` the lab time it was seen at."""

    invariant: str
    rules: tuple[str, ...]
    at: LabTime
    witness: str

    def in_words(self) -> str:
        rules = f" ({', '.join(self.rules)})" if self.rules else ""
        return f"{self.invariant}{rules} at {format_instant(self.at)}: {self.witness}"


@dataclass(frozen=True, slots=True)
class FolderReading:
    """What a running store shows of one folder; of 1-1 the tree too."""

    store: str
    folder: str
    knowledge: Knowledge
    tree: tuple[FolderView, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrayReading:
    """A running store's backfill array. `now` is what its clock shows; `quiet`: everything due by then was done."""

    store: str
    now: LabTime
    quiet: bool
    entries: tuple[EntryView, ...]


@dataclass(frozen=True, slots=True)
class RowsReading:
    """A running store's rows of a folder that it holds, and its array, while everything due has been done."""

    store: str
    folder: str
    rows: tuple[RowView, ...]
    entries: tuple[EntryView, ...]


class Invariant:
    """One thing that must hold. A subclass says what it hears of events and what it asks of readings."""

    id: ClassVar[str]
    rules: ClassVar[tuple[str, ...]]
    says: ClassVar[str]
    """The requirement in one sentence."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def handlers(self) -> Handlers:
        """Event class to what is asked of such an event; `Event` stands for every one. The facts know the event."""
        return {}

    def on_folder(self, reading: FolderReading) -> Witnesses:
        """A folder that may have changed was read."""
        del reading
        return iter(())

    def on_array(self, reading: ArrayReading) -> Witnesses:
        """A backfill array was read."""
        del reading
        return iter(())

    def on_rows(self, reading: RowsReading) -> Witnesses:
        """The rows of a folder that may have changed were read, with the array."""
        del reading
        return iter(())

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        """All that a running store had due by what its clock shows, `now`, was done."""
        del store, now
        return iter(())


class InvariantSet:
    """All invariants of one lab together. What they find is kept in `violations`, in order."""

    def __init__(self, facts: Facts, kinds: Sequence[type[Invariant]]) -> None:
        self.facts = facts
        self.violations: list[Violation] = []
        self._all = [kind(facts) for kind in kinds]
        self._of_folders = [each for each in self._all if type(each).on_folder is not Invariant.on_folder]
        self._of_arrays = [each for each in self._all if type(each).on_array is not Invariant.on_array]
        self._of_rows = [each for each in self._all if type(each).on_rows is not Invariant.on_rows]
        self._of_quiet = [each for each in self._all if type(each).on_quiet is not Invariant.on_quiet]
        self._listeners: dict[type[Event], list[tuple[Invariant, Callable[[Any], Witnesses | None]]]] = {Event: []}
        for each in self._all:
            for kind, heard in each.handlers().items():
                self._listeners.setdefault(kind, []).append((each, heard))

    def event(self, event: Event) -> None:
        self.facts.take(event)
        # The campaigns' hottest loop: what hears every event, then what hears events of this class.
        for each, heard in self._listeners[Event]:
            for witness in heard(event) or ():
                self._found(each, event.at, witness)
        for each, heard in self._listeners.get(type(event), ()):
            for witness in heard(event) or ():
                self._found(each, event.at, witness)

    def folder(self, reading: FolderReading, at: LabTime) -> None:
        for each in self._of_folders:
            self._note(each, at, each.on_folder(reading))

    def array(self, reading: ArrayReading, at: LabTime) -> None:
        for each in self._of_arrays:
            self._note(each, at, each.on_array(reading))

    def rows(self, reading: RowsReading, at: LabTime) -> None:
        for each in self._of_rows:
            self._note(each, at, each.on_rows(reading))

    def quiet(self, store: str, now: LabTime, at: LabTime) -> None:
        """`now`: by the store's own clock."""
        for each in self._of_quiet:
            self._note(each, at, each.on_quiet(store, now))

    def _note(self, invariant: Invariant, at: LabTime, witnesses: Witnesses) -> None:
        for witness in witnesses:
            self._found(invariant, at, witness)

    def _found(self, invariant: Invariant, at: LabTime, witness: str) -> None:
        self.violations.append(Violation(invariant.id, invariant.rules, at, witness))


CONVERGED = "converged"
NOTHING_LOST = "nothing lost"
ROWS_TRUTHFUL = "rows truthful"
NOTHING_LEFT_TO_FETCH = "nothing left to fetch"

VALIDATIONS: dict[str, tuple[tuple[str, ...], str]] = {
    CONVERGED: (("CV-1", "CV-2"), "All holders of a folder know the same, and it is what was acknowledged."),
    NOTHING_LOST: (("CV-2", "DU-1"), "Every acknowledged change is kept by some store, or rightly gone."),
    ROWS_TRUTHFUL: (("CV-3", "RST-2"), "No row claims what its store does not have."),
    NOTHING_LEFT_TO_FETCH: (("CV-3", "BF-2"), "No entry remains that a present holder could satisfy."),
}
"""Each validation's rules and the requirement in one sentence."""


def violations_of(verdict: Verdict, at: LabTime) -> tuple[tuple[Violation, ...], tuple[str, ...]]:
    """What the verdict says against the run, and what it cannot tell."""
    found = tuple(Violation(id_, VALIDATIONS[id_][0], at, witness) for id_, witness in _told(verdict))
    unknown = [each for each in verdict.folders if each.judgement is Judgement.UNKNOWN]
    doubts = tuple(each.in_words() for each in unknown)
    if not verdict.folders:
        doubts = ("there is no folder to judge",)
    return found, doubts


def _told(verdict: Verdict) -> Iterator[tuple[str, str]]:
    for folder in verdict.folders:
        if folder.judgement is Judgement.NOT_CONVERGED:
            yield CONVERGED, folder.in_words()
    for id_, witnesses in (
        (NOTHING_LOST, verdict.lost),
        (ROWS_TRUTHFUL, verdict.untruthful),
        (NOTHING_LEFT_TO_FETCH, verdict.leftovers),
    ):
        for witness in witnesses:
            yield id_, witness
