"""The outcome of a change at the end of a trace: which holders of its folder have it, and which still lack it."""

from __future__ import annotations

from enum import StrEnum

from pflab.invariants.evidence.facts import HIERARCHY, Facts
from pflab.runs.events import RunEvents
from pflab.terms import number_sets as sets
from pflab.terms.event_handlers import event_handler, event_taker_of
from pflab.terms.verdict import join_names
from topology import Topology
from traces.events import (
    ChangeMade,
    ExpiredEverywhere,
    ItemExpired,
    NodeStarted,
    ReplicaDropped,
    StoreDeleted,
    VersionApplied,
    VersionIgnored,
)


class _End(StrEnum):
    """Why a store does not need a change any more, in the words that follow `Every store that holds a replica`."""

    HAS = "has it"
    NEWER = "has a newer version"
    EXPIRED = "has expired it by age"


def standing(run: RunEvents, number: str, folder: str, *, associated: bool) -> str:
    """Return one sentence that says which stores lack a change at the end of the trace, or that none does.

    associated: the change is of an associated message. Returns '' if the topology of the run cannot be read.
    """
    if run.topology is None:
        return ""
    return _Now(run.topology, run, number, folder, associated).sentence()


class _Now:
    """Read the whole trace once and keep how each store ended. A restore takes a store back to its backup."""

    def __init__(self, topology: Topology, run: RunEvents, number: str, folder: str, associated: bool) -> None:
        self.number, self.folder, self.associated = number, folder, associated
        self.guid, self.counter = sets.split_number(number)
        self.stores = tuple(topology.servers)
        self.facts = Facts(topology, run.names)
        self.ends: dict[str, _End] = {}
        self.gone: set[str] = set()
        self.facts.backups.follow(self.ends)
        take = event_taker_of(self)
        for event in run.events:
            self.facts.take(event)
            take(event)

    def sentence(self) -> str:
        holders = [store for store in self.stores if store not in self.gone and self._holds(store)]
        if not holders:
            return "No store holds a replica any more."
        lacking = [store for store in holders if store not in self.ends]
        if lacking:
            return f"{join_names(lacking)} still {'lacks' if len(lacking) == 1 else 'lack'} it."
        every = "Every store" if self.folder == HIERARCHY else "Every store that holds a replica"
        ends = [str(end) for end in _End if end in {self.ends[store] for store in holders}]
        return f"{every} {' or '.join(ends)}."

    def _holds(self, store: str) -> bool:
        """Return whether the store holds a replica that is not being removed (spec: RP-2)."""
        known = self.facts.known
        return known.holds(store, self.folder) and not known.pending(store, self.folder)

    def _in(self, text: str) -> bool:
        return sets.contains(text, self.guid, self.counter)

    def _stood_for(self, event: VersionApplied | VersionIgnored) -> bool:
        return event.folder == self.folder and self._in(event.stands_for)

    # --- what decides

    @event_handler
    def _made(self, event: ChangeMade) -> None:
        if event.number == self.number:
            self.ends[event.node] = _End.HAS
        elif self.number in event.supersedes:
            self.ends[event.node] = _End.NEWER

    @event_handler
    def _applied(self, event: VersionApplied) -> None:
        if event.number == self.number:
            self.ends[event.node] = _End.HAS
        elif self._stood_for(event) or self.number in self.facts.ancestors.get(event.number, ()):
            self.ends[event.node] = _End.NEWER

    @event_handler
    def _ignored(self, event: VersionIgnored) -> None:
        if event.reason != "no replica" and (event.number == self.number or self._stood_for(event)):
            self.ends.setdefault(event.node, _End.NEWER)

    @event_handler
    def _expired(self, event: ItemExpired) -> None:
        if event.number == self.number:
            self.ends[event.node] = _End.EXPIRED

    @event_handler
    def _nowhere(self, event: ExpiredEverywhere) -> None:
        if event.folder == self.folder and self._in(event.cnset_fai if self.associated else event.cnset):
            self.ends.setdefault(event.node, _End.EXPIRED)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        if event.folder == self.folder:
            self.ends.pop(event.node, None)

    @event_handler
    def _deleted(self, event: StoreDeleted) -> None:
        self.gone.add(event.store)

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        self.gone.discard(event.node)
