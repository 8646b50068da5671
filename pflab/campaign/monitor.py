"""Watching a lab while a plan is played: its new events go to the invariants and the branches, and what they may have
changed is read and checked. Cheap enough to be done after every step: only folders with news are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from node.errors import FolderUnknown
from pflab.campaign.coverage import BranchCounter
from pflab.invariants.evidence.facts import HIERARCHY, Facts
from pflab.invariants.invariant import ArrayReading, FolderReading, Invariant, InvariantSet, RowsReading, Violation
from pflab.invariants.registry import INVARIANTS
from pflab.oracle.judge import Observer
from pflab.terms.mail_types import UPDATES
from traces.events import (
    ChangeMade,
    EntryMade,
    EntryPruned,
    EntrySatisfied,
    Event,
    ItemExpired,
    MailReceived,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    RowReplaced,
    TombstoneDropped,
    TombstoneMade,
    VersionApplied,
    VersionDropped,
)
from traces.labtime import MINUTE_US, LabTime

if TYPE_CHECKING:
    from node.store.node import Node
    from node.views import EntryView, RowView
    from pflab.simulation.simulator import Simulator


_News = ChangeMade | VersionApplied | TombstoneMade | TombstoneDropped | ItemExpired | ReplicaAdded | ReplicaDropped
"""Events after which a folder is not what it was. All have a field `folder`."""

_NEWS_OF_ROWS = (EntryPruned, EntrySatisfied, VersionDropped)
"""Events after which something may be missing that nobody minds."""

_SMALL_LAB = 5
"""Up to so many stores every one is read at every instant at which it may have changed."""

_PATIENCE_US = 20 * MINUTE_US
"""In larger labs what was read so lately is not read again yet: reading would cost more than the play."""

_ENCODER = msgspec.json.Encoder()


class Violated(Exception):
    """An invariant does not hold; there is no use in playing on."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__("; ".join(each.in_words() for each in violations))
        self.violations = tuple(violations)


class Monitor:
    """Of one lab. `invariants`: others than all, for tests."""

    def __init__(self, lab: Simulator, invariants: Sequence[type[Invariant]] = INVARIANTS) -> None:
        self._lab = lab
        self.observer = Observer(lab)
        self.facts = Facts(lab.topology, self.observer.names)
        self._invariants = InvariantSet(self.facts, invariants)
        self.branches = BranchCounter(self.facts)
        self._digest = hashlib.sha256()
        self._news: dict[tuple[str, str], None] = {}
        self._rows: dict[tuple[str, str], None] = {}
        self._level: dict[tuple[str, str], tuple[str, str]] = {}
        self._waiting: dict[str, None] = {}
        self._arrays: dict[str, tuple[int, tuple[EntryView, ...]]] = {}
        self._started: dict[str, None] = {}
        self._patience_us = 0
        self._read_at: dict[tuple[str, str, str], LabTime] = {}
        self._handlers: dict[type[Event], Callable[[Any], None]] = {
            **dict.fromkeys(get_args(_News), self._on_news),
            **dict.fromkeys(_NEWS_OF_ROWS, self._on_gap),
            MailReceived: self._on_mail,
            RowReplaced: self._on_row,
            EntryMade: self._on_entry,
            NodeStarted: self._on_start,
        }
        self.last_at: dict[str, int] = {}
        """The time of each node's last event, by its own clock."""

    @property
    def digest(self) -> str:
        """Of every event so far, to the byte: the same plan gives the same one in any process."""
        return self._digest.hexdigest()

    def check(self, *, quiet: bool, closely: bool = False) -> None:
        """Takes in what is new. `quiet`: everything that was due has been done. `closely`: whatever may have changed is
        read, even in a large lab and a moment after the last time. Raises Violated.
        """
        self._patience_us = 0 if closely or len(self._lab.names) <= _SMALL_LAB else _PATIENCE_US
        for event in self.observer.observe():
            self._digest.update(_ENCODER.encode(event))
            self._invariants.event(event)
            self.branches.event(event)
            self.last_at[event.node] = event.at
            handler = self._handlers.get(type(event))
            if handler is not None:
                handler(event)
        self._read_news()
        self._read_arrays(quiet=quiet)
        if quiet:
            self._read_rows()
            self._rest()
        if self._invariants.violations:
            raise Violated(self._invariants.violations)

    def acknowledged(self, store: str, ids: Sequence[str]) -> None:
        """A store told a user that it took these changes (CN-2, DU-1): they must be among its events."""
        self.check(quiet=False)
        made = self.facts.of_object
        lost = [each for each in ids if each not in self.facts.changes and each not in made]
        if lost:
            witness = f"{store} acknowledged {', '.join(lost)} and no event tells of it"
            raise Violated([Violation("acknowledged is committed", ("CN-2", "DU-1"), self._lab.now, witness)])

    # --- what is to be read

    def _on_news(self, event: _News) -> None:
        self._news[event.node, event.folder] = None
        self._level.pop((event.node, event.folder), None)
        if isinstance(event, ChangeMade | VersionApplied) and event.kind == "folder":
            self._rows[event.node, event.object] = None  # another list of holders, perhaps

    def _on_mail(self, event: MailReceived) -> None:
        if event.message_type in UPDATES:
            self._news.update({(event.node, section.folder): None for section in event.folders})

    def _on_row(self, event: RowReplaced) -> None:
        # Statuses of a folder on which all agree say the same again and again.
        if self._level.get((event.node, event.folder)) != (event.cnset, event.cnset_fai):
            self._rows[event.node, event.folder] = None

    def _on_gap(self, event: EntryPruned | EntrySatisfied | VersionDropped) -> None:
        self._rows[event.node, event.folder] = None
        self._level.pop((event.node, event.folder), None)

    def _on_entry(self, event: EntryMade) -> None:
        self._waiting[event.node] = None

    def _on_start(self, event: NodeStarted) -> None:
        self._started[event.node] = None
        self._waiting[event.node] = None
        self._arrays.pop(event.node, None)
        for place in [place for place in self._level if place[0] == event.node]:
            del self._level[place]

    # --- reading

    def _read_news(self) -> None:
        for store in [store for store in self._started if self._lab.running(store)]:
            # Whatever it had before it went it must have now.
            del self._started[store]
            views = self._lab.read(store, lambda node: node.folders())
            self._news.update({(store, view.id): None for view in views if view.held_here})
            self._news[store, HIERARCHY] = None
        now = self._lab.now
        for store, folder in [place for place in self._news if self._ripe(place, "news")]:
            del self._news[store, folder]
            reading = self._lab.read(store, lambda node, folder=folder: read_folder(node, folder))  # type: ignore[misc]
            if reading is not None:
                self._invariants.folder(reading, now)
                self.branches.folder(reading)

    def _ripe(self, place: tuple[str, str], what: str) -> bool:
        """Whether the store runs and was not looked at for this a moment ago; if so it is looked at now."""
        if not self._lab.running(place[0]):
            return False
        if not self._patience_us:
            return True
        now = self._lab.now
        if now - self._read_at.get((*place, what), -_PATIENCE_US) < self._patience_us:
            return False
        self._read_at[*place, what] = now
        return True

    def _read_arrays(self, *, quiet: bool) -> None:
        now = self._lab.now
        for store in [store for store in self._waiting if self._ripe((store, ""), "array")]:
            entries = self._array_of(store)
            if not entries:
                del self._waiting[store]
                continue
            environment = self._lab.environment
            clock = environment.clock_of(store, now)
            # A clock that was fast stands still: what is due at once is due when the lab's has come up with it.
            awake = quiet and not environment.silent(store, now) and clock >= self.last_at.get(store, clock)
            self._invariants.array(ArrayReading(store, clock, awake, entries), now)

    def _read_rows(self) -> None:
        now, environment = self._lab.now, self._lab.environment
        for store, folder in [place for place in self._rows if self._ripe(place, "rows")]:
            if environment.silent(store, now):
                continue
            del self._rows[store, folder]
            rows = self._lab.read(store, lambda node, folder=folder: read_rows(node, folder))  # type: ignore[misc]
            if not rows:
                continue
            said = {(row.cnset, row.cnset_fai) for row in rows}
            if len(said) == 1:
                self._level[store, folder] = said.pop()
            self._invariants.rows(RowsReading(store, folder, rows, self._array_of(store)), now)

    def _array_of(self, store: str) -> tuple[EntryView, ...]:
        """Its backfill array, which is what it was while the store has had no stimulus."""
        stimuli = self._lab.read(store, lambda node: node.stimuli)
        if store not in self._arrays or self._arrays[store][0] != stimuli:
            self._arrays[store] = (stimuli, tuple(self._lab.read(store, lambda node: node.backfill())))
        return self._arrays[store][1]

    def _rest(self) -> None:
        now, environment = self._lab.now, self._lab.environment
        for store in self._lab.names:
            if self._lab.running(store) and not environment.silent(store, now):
                self._invariants.quiet(store, environment.clock_of(store, now), now)


def read_rows(node: Node, folder: str) -> tuple[RowView, ...]:
    """None of a folder that the store does not hold, or is about to give up."""
    try:
        return node.state(folder).rows if folder == HIERARCHY or node.holds(folder) else ()
    except FolderUnknown:
        return ()


def read_folder(node: Node, folder: str) -> FolderReading | None:
    """None for a folder that the store does not know, or knows no more."""
    try:
        knowledge = node.knowledge(folder)
    except FolderUnknown:
        return None
    tree = tuple(node.folders()) if folder == HIERARCHY else ()
    return FolderReading(node.name, folder, knowledge, tree)


__all__ = ["INVARIANTS", "Monitor", "Violated", "read_folder"]
