"""The outcome of a change at the end of a trace: which holders of its folder have it, and which still lack it."""

from __future__ import annotations

from enum import StrEnum

from pflab.invariants.evidence.facts import Facts
from pflab.runs.events import RunEvents
from pflab.terms import number_sets as sets
from pflab.terms.event_handlers import event_handler, event_taker_of
from pflab.terms.event_words import to_the_second
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import UPDATES
from pflab.terms.store_objects import StoreObjects
from pflab.terms.verdict import join_names
from topology.model import Topology
from traces.events import (
    BackupElsewhere,
    BackupRestored,
    ChangeMade,
    ExpiredEverywhere,
    ItemExpired,
    Loss,
    MailReceived,
    NodeStarted,
    ReplicaDropped,
    StoreCreated,
    StoreDeleted,
    VersionApplied,
    VersionFailed,
    VersionHeld,
    VersionIgnored,
)


class _End(StrEnum):
    """Why a store does not need a change any more. The value completes a sentence: `Every store that holds a replica` ..."""

    HAS = "has it"
    NEWER = "has a newer version"
    DELETED = "has deleted it"
    EXPIRED = "has expired it by age"
    WITHOUT = "counts it as received without its content"
    """A mail named the number of the change, but did not contain the change: its sender no longer had it (spec: CN-6)."""


class Outcome:
    """Computes from a trace which stores have one change, and which stores still need it.

    `ends`: why a store does not need the change any more. A restore takes a store back to its backup (spec: RP-4).

    known: an event that has the number, folder, kind and object of the change.
    """

    def __init__(self, topology: Topology, run: RunEvents, version: ChangeMade | VersionApplied) -> None:
        self.number, self.folder, self.object = version.number, version.folder, version.object
        self.associated = version.kind == "fai"
        self.one_version = version.kind != "message"
        self.guid, self.counter = sets.split_number(version.number)
        self.facts = Facts(topology, run.names)
        self.ends: dict[str, _End] = {}
        self.gone: set[str] = set()
        self.objects = StoreObjects()
        self.restores: dict[str, BackupRestored] = {}
        """The last restore of each store."""
        self.loss = ""
        self.facts.backups.follow(self.ends)
        take = event_taker_of(self)
        for event in run.events:
            self.facts.take(event)
            take(event)
        self.servers = self.facts.topology.servers

    def sentence(self) -> str:
        """Return one sentence that says which stores lack the change at the end of the trace, or that none does."""
        unknown = [
            name for name, state in self.servers.items() if not state.joins_later and name not in self.facts.guid_of
        ]
        if unknown:
            return f"The trace has no start of {join_names(unknown)}, so it does not say which stores have the change."
        holders = [store for store in self.servers if store not in self.gone and self._holds(store)]
        if not holders:
            return "No store holds a replica any more."
        stores = [store for store in holders if store not in self.ends]
        if stores == holders and self.loss:
            return f"{self.loss}; no store has it."
        if stores:
            return f"{join_names(stores)} still {'lacks' if len(stores) == 1 else 'lack'} it."
        every = "Every store" if self.folder == HIERARCHY else "Every store that holds a replica"
        ends = [str(end) for end in _End if end in {self.ends[store] for store in holders}]
        return f"{every} {' or '.join(ends)}."

    def lost_by_restore(self, store: str) -> BackupRestored | None:
        """Return the last restore of a store that no longer has the change."""
        return self.restores.get(store) if store not in self.ends else None

    def _holds(self, store: str) -> bool:
        """Return whether the store holds a replica that is not being removed (spec: RP-2)."""
        knowledge = self.facts.known
        return knowledge.holds(store, self.folder) and not knowledge.pending(store, self.folder)

    def _in(self, text: str) -> bool:
        return sets.contains(text, self.guid, self.counter)

    def _stood_for(self, event: VersionApplied | VersionIgnored) -> bool:
        return event.folder == self.folder and self._in(event.stands_for)

    def _not_needed(self, store: str, why: _End) -> None:
        if self.ends.get(store, _End.WITHOUT) is _End.WITHOUT:
            self.ends[store] = why

    # --- what decides

    @event_handler
    def _made(self, event: ChangeMade) -> None:
        if event.number == self.number:
            self.ends[event.node] = _End.HAS
            self.loss = ""  # a store gives the same number to another change
        elif event.operation == "delete" and event.object == self.object:
            self.ends[event.node] = _End.DELETED
        elif self.number in event.supersedes:
            self.ends[event.node] = _End.NEWER

    @event_handler
    def _applied(self, event: VersionApplied) -> None:
        if event.number == self.number:
            self.ends[event.node] = _End.HAS
        elif event.deleted and event.object == self.object:
            self.ends[event.node] = _End.DELETED  # even if the deletion does not include the change (spec: DL-2)
        elif event.object == self.object and self.one_version and self.ends.get(event.node) is _End.HAS:
            self.ends[event.node] = _End.NEWER  # the last writer's version replaces a concurrent one (spec: HI-5, CN-9)
        elif self._stood_for(event) or self.number in self.facts.ancestors.get(event.number, ()):
            self.ends[event.node] = _End.NEWER

    @event_handler
    def _ignored(self, event: VersionIgnored) -> None:
        if event.reason != "no replica" and (event.number == self.number or self._stood_for(event)):
            self._not_needed(event.node, _End.NEWER)

    @event_handler
    def _accounted(self, event: MailReceived) -> None:
        """Note that the mail accounts for the change. Events about the versions in the mail follow."""
        if event.message_type in UPDATES and any(
            section.folder == self.folder and self._in(section.cnset_fai if self.associated else section.cnset)
            for section in event.folders
        ):
            self.ends.setdefault(event.node, _End.WITHOUT)

    @event_handler
    def _not_applied(self, event: VersionHeld | VersionFailed) -> None:
        if event.number == self.number and self.ends.get(event.node) is _End.WITHOUT:
            del self.ends[event.node]

    @event_handler
    def _expired(self, event: ItemExpired) -> None:
        if event.number == self.number:
            self.ends[event.node] = _End.EXPIRED

    @event_handler
    def _nowhere(self, event: ExpiredEverywhere) -> None:
        if event.folder == self.folder and self._in(event.cnset_fai if self.associated else event.cnset):
            self._not_needed(event.node, _End.EXPIRED)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        if event.folder == self.folder:
            self.ends.pop(event.node, None)

    @event_handler
    def _restored(self, event: BackupRestored) -> None:
        self.restores[event.store] = event

    @event_handler
    def _lost(self, event: Loss) -> None:
        """Note which store lost the change, and when (spec: DU-1)."""
        if event.folder != self.folder or not self._in(event.cnset):
            return
        when = to_the_second(event.at)
        restore = self.restores.get(event.node)
        if restore is not None and event.reason == Loss.UNSENT:
            self.loss = f"{event.node} lost it at {when} in a restore from {restore.backup} ({event.reason})"
        else:
            self.loss = f"It was lost at {when}: {event.reason}"

    @event_handler
    def _created(self, event: StoreCreated) -> None:
        self.objects.created(event)

    @event_handler
    def _deleted(self, event: StoreDeleted) -> None:
        if self.objects.ends_store(event):
            self.gone.add(event.store)

    @event_handler
    def _elsewhere(self, event: BackupElsewhere) -> None:
        self.gone.add(event.store)
        self.objects.elsewhere(event)

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        if event.node not in self.objects.copies:
            self.gone.discard(event.node)
