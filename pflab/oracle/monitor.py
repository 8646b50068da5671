"""Check the invariants of a lab while a scenario is played. The lab must have its events in order (`Lab.events_in_order`).

Each check passes the new events to the invariants. The events show which folders, rows and backfill arrays may have changed.
The monitor reads only these from the stores and passes them to the invariants, so each check is cheap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from node.errors import FolderUnknown
from pflab.invariants.evidence.facts import Facts
from pflab.invariants.invariant import ArrayReading, FolderReading, Invariant, InvariantSet, RowsReading, Violation
from pflab.invariants.registry import INVARIANTS
from pflab.oracle.judge import Observer
from pflab.terms.event_handlers import event_handler, event_taker_of
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import UPDATES
from pflab.terms.store_objects import StoreObjects
from traces.events import (
    BackupElsewhere,
    ChangeMade,
    EntryMade,
    EntryPruned,
    EntrySatisfied,
    Event,
    ItemExpired,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    OrganizationChanged,
    ReplicaAdded,
    ReplicaDropped,
    RowReplaced,
    StoreCreated,
    TombstoneDropped,
    TombstoneMade,
    VersionApplied,
    VersionDropped,
)
from traces.labtime import MINUTE_US, LabTime

if TYPE_CHECKING:
    from node.views import EntryView, RowView
    from pflab.lab.lab import Lab, LabNode


_FolderChange = (
    ChangeMade | VersionApplied | TombstoneMade | TombstoneDropped | ItemExpired | ReplicaAdded | ReplicaDropped
)
"""The types of events that change what a store has of a folder. Each has a field `folder`."""

ACKNOWLEDGED_IS_COMMITTED = "acknowledged is committed"
"""The invariant about what a user was told, which is no event."""

COPIES_ARE_SILENT = "stores that are only shown are silent"
"""The invariant about a backup that was restored on another server."""

MONITORED: Final[Mapping[str, tuple[str, ...]]] = {
    ACKNOWLEDGED_IS_COMMITTED: ("CN-2", "DU-1"),
    COPIES_ARE_SILENT: ("RP-8",),
}
"""The invariants that a monitor checks itself, with their rules."""

_SMALL_LAB = 5
"""A lab with at most this many stores is small: every check reads everything that may have changed."""

_REREAD_AFTER_US = 20 * MINUTE_US
"""In a larger lab, checks read each folder, row and array at most once in this time, because reading is slower than playing."""


class Violated(Exception):
    """Raised when an invariant is violated. This ends the play."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__("; ".join(violation.in_words() for violation in violations))
        self.violations = tuple(violations)


class Monitor:
    """Checks the invariants of one lab. `pflab.scenario.session.Play` passes it each event. Tests pass other `invariants`."""

    def __init__(self, lab: Lab, invariants: Sequence[type[Invariant]] = INVARIANTS) -> None:
        self._lab = lab
        self.observer = Observer(lab)
        self.facts = Facts(lab.topology, self.observer.names)
        self._invariants = InvariantSet(self.facts, invariants)
        self._acknowledged: list[tuple[str, str]] = []
        self._changed_folders: dict[tuple[str, str], None] = {}
        self._changed_rows: dict[tuple[str, str], None] = {}
        self._agreed_rows: dict[tuple[str, str], tuple[str, str]] = {}
        self._with_entries: dict[str, None] = {}
        self._arrays: dict[str, tuple[int | None, tuple[EntryView, ...]]] = {}
        self._started: dict[str, None] = {}
        self._objects = StoreObjects()
        self._reread_after_us = 0
        self._read_at: dict[tuple[str, str, str], LabTime] = {}
        self._take = event_taker_of(self)
        self.last_at: dict[str, int] = {}
        """The time of each node's last event, by its own clock."""

    def check(self, *, quiet: bool, closely: bool = False) -> None:
        """Check everything that may have changed since the last check. Raises Violated if an invariant does not hold.

        quiet: the lab is quiet, so everything that was due is done.
        closely: read everything that may have changed, also in a large lab.
        """
        self._reread_after_us = 0 if closely or len(self._lab.names) <= _SMALL_LAB else _REREAD_AFTER_US
        self._read_folders()
        self._read_arrays(quiet=quiet)
        if quiet:
            self._read_rows()
            self._check_quiet()
            self._check_acknowledged()
        if self._invariants.violations:
            raise Violated(self._invariants.violations)

    def take(self, event: Event) -> None:
        """Check an event, and note what it may have changed."""
        self._invariants.event(event)
        self.last_at[event.node] = event.at
        if event.node in self._objects.copies:  # nothing is due there, and the state is not read (RP-8)
            self._copies_are_silent(event)
        else:
            self._take(event)

    def acknowledged(self, store: str, changes: Sequence[str]) -> None:
        """Require that, at the next quiet instant, the store has an event for each change that it acknowledged to a user."""
        self._acknowledged += [(store, change) for change in changes]

    def _check_acknowledged(self) -> None:  # spec: CN-2, DU-1
        for store, change in self._acknowledged:
            if change not in self.facts.changes:
                witness = f"{store} acknowledged {change}, but no event has it"
                violation = Violation(
                    ACKNOWLEDGED_IS_COMMITTED, MONITORED[ACKNOWLEDGED_IS_COMMITTED], self._lab.now, witness
                )
                self._invariants.violations.append(violation)
        self._acknowledged = []

    def _copies_are_silent(self, event: Event) -> None:
        """Add a violation if a store that is only shown makes a change or sends replication mail."""  # spec: RP-8
        if isinstance(event, ChangeMade | VersionApplied | MailSubmitted):
            witness = f"{event.node}, which only shows the store of another server, has the event {event.__struct_config__.tag}"
            self._invariants.violations.append(
                Violation(COPIES_ARE_SILENT, MONITORED[COPIES_ARE_SILENT], self._lab.now, witness)
            )

    # --- events: what must be read

    @event_handler
    def _on_elsewhere(self, event: BackupElsewhere) -> None:
        self._objects.elsewhere(event)
        self._forget(event.store)

    @event_handler
    def _on_reorganized(self, event: OrganizationChanged) -> None:
        if event.removed_server is not None:
            self._forget(event.removed_server)

    def _forget(self, store: str) -> None:
        """Read nothing of the store that a server had."""
        for of_store in (self._with_entries, self._arrays, self._started):
            of_store.pop(store, None)
        for of_place in (self._changed_folders, self._changed_rows, self._agreed_rows):
            for place in [place for place in of_place if place[0] == store]:
                del of_place[place]

    @event_handler
    def _on_created(self, event: StoreCreated) -> None:
        self._objects.created(event)

    @event_handler
    def _on_folder_change(self, event: _FolderChange) -> None:
        self._changed_folders[event.node, event.folder] = None
        self._agreed_rows.pop((event.node, event.folder), None)
        if isinstance(event, ChangeMade | VersionApplied) and event.kind == "folder":
            self._changed_rows[event.node, event.object] = None  # the replica list may have changed

    @event_handler
    def _on_mail(self, event: MailReceived) -> None:
        if event.message_type in UPDATES:
            self._changed_folders.update({(event.node, section.folder): None for section in event.folders})

    @event_handler
    def _on_row(self, event: RowReplaced) -> None:
        # When all stores agree on a folder, each status mail repeats the same row. Such a row is not checked again.
        if self._agreed_rows.get((event.node, event.folder)) != (event.cnset, event.cnset_fai):
            self._changed_rows[event.node, event.folder] = None

    @event_handler
    def _on_gap(self, event: EntryPruned | EntrySatisfied | VersionDropped) -> None:
        # A missing change may have lost its backfill entry although no row changed.
        self._changed_rows[event.node, event.folder] = None
        self._agreed_rows.pop((event.node, event.folder), None)

    @event_handler
    def _on_entry(self, event: EntryMade) -> None:
        self._with_entries[event.node] = None

    @event_handler
    def _on_start(self, event: NodeStarted) -> None:
        self._started[event.node] = None
        self._with_entries[event.node] = None
        self._arrays.pop(event.node, None)
        for place in [place for place in self._agreed_rows if place[0] == event.node]:
            del self._agreed_rows[place]

    # --- reading

    def _read_folders(self) -> None:
        for store in [store for store in self._started if self._lab.running(store)]:
            # Read everything again: after its start, a store must have what it had before it stopped.
            del self._started[store]
            views = self._lab.read(store, lambda node: node.folders())
            self._changed_folders.update({(store, view.id): None for view in views if view.held_here})
            self._changed_folders[store, HIERARCHY] = None
        for store, folder in [place for place in self._changed_folders if self._should_read(place, "folder")]:
            del self._changed_folders[store, folder]
            reading = self._lab.read(store, lambda node, folder=folder: read_folder(node, folder))  # type: ignore[misc]
            if reading is not None:
                self.check_folder(reading)

    def check_folder(self, reading: FolderReading) -> None:
        self._invariants.folder(reading, self._lab.now)

    def _should_read(self, place: tuple[str, str], what: str) -> bool:
        """Return whether to read `what` from the store now: the store runs, and the last reading is old enough. If so, note the
        time."""
        if not self._lab.running(place[0]):
            return False
        if not self._reread_after_us:
            return True
        now = self._lab.now
        if now - self._read_at.get((*place, what), -_REREAD_AFTER_US) < self._reread_after_us:
            return False
        self._read_at[*place, what] = now
        return True

    def _read_arrays(self, *, quiet: bool) -> None:
        now = self._lab.now
        for store in [store for store in self._with_entries if self._should_read((store, ""), "array")]:
            entries = self._array_of(store)
            if not entries:
                del self._with_entries[store]
                continue
            clock = self._lab.clock_of(store)
            # If a server's clock was fast, it stops until lab time reaches it. Until then the server does none of its due work.
            quiet_here = quiet and not self._lab.silent(store) and clock >= self.last_at.get(store, clock)
            self._invariants.array(ArrayReading(store, clock, quiet_here, entries), now)

    def _read_rows(self) -> None:
        now = self._lab.now
        for store, folder in [place for place in self._changed_rows if self._should_read(place, "rows")]:
            if self._lab.silent(store):
                continue
            del self._changed_rows[store, folder]
            rows = self._lab.read(store, lambda node, folder=folder: read_rows(node, folder))  # type: ignore[misc]
            if not rows:
                continue
            claims = {(row.cnset, row.cnset_fai) for row in rows}
            if len(claims) == 1:
                self._agreed_rows[store, folder] = claims.pop()
            self._invariants.rows(RowsReading(store, folder, rows, self._array_of(store)), now)

    def _array_of(self, store: str) -> tuple[EntryView, ...]:
        """Return the backfill array of a store. The array is read again only after a stimulus of the store."""
        stimuli = self._lab.read(
            store, lambda node: getattr(node, "stimuli", None)
        )  # only a node in this process has it
        if stimuli is None or store not in self._arrays or self._arrays[store][0] != stimuli:
            self._arrays[store] = (stimuli, tuple(self._lab.read(store, lambda node: node.backfill())))
        return self._arrays[store][1]

    def _check_quiet(self) -> None:
        for store in self._lab.names:
            if self._lab.running(store) and not self._lab.silent(store) and store not in self._objects.copies:
                self._invariants.quiet(store, self._lab.clock_of(store), self._lab.now)


def read_rows(node: LabNode, folder: str) -> tuple[RowView, ...]:
    """Return a store's state table of a folder: no rows if the store does not hold the folder or is leaving it."""
    try:
        is_held = folder == HIERARCHY or any(view.id == folder and view.held_here for view in node.folders())
        return node.state(folder).rows if is_held else ()
    except FolderUnknown:
        return ()


def read_folder(node: LabNode, folder: str) -> FolderReading | None:
    """Return what a store shows of a folder, or None if the store does not know the folder."""
    try:
        knowledge = node.knowledge(folder)
    except FolderUnknown:
        return None
    tree = tuple(node.folders()) if folder == HIERARCHY else ()
    return FolderReading(node.name, folder, knowledge, tree)
