"""The base class of invariants, and the set of all invariants of one lab.

An invariant must hold at every instant of a lab, whatever fails. It has a name, the rules that it checks, and two kinds of
input:

| input | method | when |
|---|---|---|
| an event of any store | each method that `event_handler` marks as a handler of this type of event | in the order of commits |
| a folder of a store: versions, tombstones, tree | `on_folder` | after the folder may have changed |
| the backfill array of a store | `on_array` | after each step, while the store has entries |
| the rows of a folder, with the array | `on_rows` | while the lab is quiet, after the rows may have changed |
| the fact that all due work of a store is done | `on_quiet` | at each quiet instant, for each running store |

Each method yields witnesses: sentences that say which store did what, and what would have been right. Each witness becomes a
`Violation`. For example, "mail numbers grow" keeps the last mail number of each store, and its handler of `MailSubmitted`
yields "A sent mail number 7 after mail number 7".

Invariants share no code with the replication agent (CV-2), because they must not repeat its mistakes. They know only events
and the plain values of `node.views`. `evidence.facts` collects what the events prove, and `evidence.bit_sets` has sets of
numbers. `InvariantSet` passes each event to the facts first, so a handler finds its event in the facts.

`VALIDATIONS` has the requirements for the end of a run, when all faults were healed and the bound has passed (CV-1 to CV-3).
`violations_of` returns what the judge's verdict says against them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pflab.terms.event_handlers import event_handlers_of
from pflab.terms.verdict import Judgement, Verdict
from traces.events import Event
from traces.labtime import LabTime, format_instant

if TYPE_CHECKING:
    from node.views import EntryView, FolderView, Knowledge, RowView
    from pflab.invariants.evidence.facts import Facts


Witnesses = Iterator[str]


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of an invariant.

    `invariant`: its id; `at`: the lab time at which it was found.
    """

    invariant: str
    rules: tuple[str, ...]
    at: LabTime
    witness: str

    def in_words(self) -> str:
        rules = f" ({', '.join(self.rules)})" if self.rules else ""
        return f"{self.invariant}{rules} at {format_instant(self.at)}: {self.witness}"


@dataclass(frozen=True, slots=True)
class FolderReading:
    """What a running store shows of one folder; if this is the hierarchy 1-1, also the tree."""

    store: str
    folder: str
    knowledge: Knowledge
    tree: tuple[FolderView, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrayReading:
    """A running store's backfill array.

    `now`: the time on its clock; `quiet`: everything due by then is done.
    """

    store: str
    now: LabTime
    quiet: bool
    entries: tuple[EntryView, ...]


@dataclass(frozen=True, slots=True)
class RowsReading:
    """A running store's rows of a folder that it holds, and its backfill array, while the lab is quiet."""

    store: str
    folder: str
    rows: tuple[RowView, ...]
    entries: tuple[EntryView, ...]


class Invariant:
    """One invariant. A subclass has an id, rules, `says`, and some of the methods below."""

    id: ClassVar[str]
    rules: ClassVar[tuple[str, ...]]
    says: ClassVar[str]
    """The requirement in one sentence."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.remember()

    def remember(self) -> None:
        """Create the attributes in which the invariant keeps what it has seen."""

    def on_folder(self, reading: FolderReading) -> Witnesses:
        """Check a folder that may have changed."""
        del reading
        return iter(())

    def on_array(self, reading: ArrayReading) -> Witnesses:
        """Check a backfill array."""
        del reading
        return iter(())

    def on_rows(self, reading: RowsReading) -> Witnesses:
        """Check a folder's rows, which may have changed, and the backfill array."""
        del reading
        return iter(())

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        """Check a running store that has done everything due by `now`, the time on its clock."""
        del store, now
        return iter(())


class InvariantSet:
    """All invariants of one lab, and their violations in the order in which they were found."""

    def __init__(self, facts: Facts, kinds: Sequence[type[Invariant]]) -> None:
        self.facts = facts
        self.violations: list[Violation] = []
        every = [kind(facts) for kind in kinds]
        self._of_folders: _Asked = [
            (invariant, invariant.on_folder) for invariant in every if _has_own(invariant, "on_folder")
        ]
        self._of_arrays: _Asked = [
            (invariant, invariant.on_array) for invariant in every if _has_own(invariant, "on_array")
        ]
        self._of_rows: _Asked = [
            (invariant, invariant.on_rows) for invariant in every if _has_own(invariant, "on_rows")
        ]
        self._of_quiet: _Asked = [
            (invariant, invariant.on_quiet) for invariant in every if _has_own(invariant, "on_quiet")
        ]
        handlers: dict[type[Event], _Asked] = {}
        for invariant in every:
            for kind, handler in event_handlers_of(invariant).items():
                handlers.setdefault(kind, []).append((invariant, handler))
        # Handlers of all events come first, then handlers of the event's class.
        self._of_any = handlers.pop(Event, [])
        self._of_events = {kind: [*self._of_any, *methods] for kind, methods in handlers.items()}

    def event(self, event: Event) -> None:
        self.facts.take(event)
        self._ask(self._of_events.get(type(event), self._of_any), event.at, event)

    def folder(self, reading: FolderReading, at: LabTime) -> None:
        self._ask(self._of_folders, at, reading)

    def array(self, reading: ArrayReading, at: LabTime) -> None:
        self._ask(self._of_arrays, at, reading)

    def rows(self, reading: RowsReading, at: LabTime) -> None:
        self._ask(self._of_rows, at, reading)

    def quiet(self, store: str, now: LabTime, at: LabTime) -> None:
        """Check a store that is quiet.

        `now`: the time on its own clock.
        """
        self._ask(self._of_quiet, at, store, now)

    def _ask(self, checks: _Asked, at: LabTime, *arguments: Any) -> None:
        # No other loop of a campaign runs as often.
        for invariant, method in checks:
            for witness in method(*arguments) or ():
                self.violations.append(Violation(invariant.id, invariant.rules, at, witness))


_Asked = list[tuple[Invariant, Callable[..., Witnesses | None]]]
"""Invariants, each with the method that gets a certain input."""


def _has_own(invariant: Invariant, method: str) -> bool:
    """Return whether the class of an invariant overrides a method of `Invariant`."""
    return getattr(type(invariant), method) is not getattr(Invariant, method)


CONVERGED = "converged"
NOTHING_LOST = "nothing lost"
ROWS_TRUTHFUL = "rows truthful"
NOTHING_LEFT_TO_FETCH = "nothing left to fetch"

VALIDATIONS: dict[str, tuple[tuple[str, ...], str]] = {
    CONVERGED: (("CV-1", "CV-2"), "All holders of a folder agree, and have what was acknowledged."),
    NOTHING_LOST: (("CV-2", "DU-1"), "Every acknowledged change is kept by some store, unless DU-1 permits its loss."),
    ROWS_TRUTHFUL: (("CV-3", "RST-2"), "No row claims what its store does not have."),
    NOTHING_LEFT_TO_FETCH: (("CV-3", "BF-2"), "No entry remains that a present holder could satisfy."),
}
"""For each validation, its rules and its requirement in one sentence."""


def violations_of(verdict: Verdict, at: LabTime) -> tuple[tuple[Violation, ...], tuple[str, ...]]:
    """Return the violations in a verdict, and a text for each question that the verdict leaves open."""
    violations = tuple(Violation(id_, VALIDATIONS[id_][0], at, witness) for id_, witness in _of(verdict))
    unknown = [folder for folder in verdict.folders if folder.judgement is Judgement.UNKNOWN]
    doubts = tuple(folder.in_words() for folder in unknown)
    if not verdict.folders:
        doubts = ("there is no folder to judge",)
    return violations, doubts


def _of(verdict: Verdict) -> Iterator[tuple[str, str]]:
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
