"""Judge a lab of any driver: compare what the oracle computes from its events with the state of its stores (CV-1 to CV-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pflab.oracle.compare import Judge, Reading
from pflab.oracle.losses import Losses
from pflab.oracle.oracle import Oracle, change_of, genesis_of
from pflab.terms import number_sets as sets
from pflab.terms.event_handlers import event_handler, event_taker_of
from pflab.terms.event_words import SETUP, Lexicon
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.store_objects import StoreObjects
from traces.events import (
    BackupElsewhere,
    ChangeMade,
    Event,
    FolderHidden,
    FolderMoved,
    FolderShown,
    ItemExpired,
    NodeStarted,
    ReplicaDropped,
    StoreCreated,
    StoreDeleted,
    TombstoneDropped,
)

if TYPE_CHECKING:
    from pflab.lab.lab import Lab, LabNode


def read_store(node: LabNode) -> Reading:
    knowledge = {HIERARCHY: node.knowledge(HIERARCHY)}
    rows = {HIERARCHY: node.state(HIERARCHY).rows}
    for view in node.folders():
        if view.id == HIERARCHY or view.hidden:
            continue
        knowledge[view.id] = node.knowledge(view.id)
        if view.held_here:
            rows[view.id] = node.state(view.id).rows
    return Reading(node.name, knowledge, rows, tuple(node.backfill()))


class Observer:
    """Passes a lab's events to the oracle, and judges the lab on request."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._position = 0
        self._dropped_replicas: set[tuple[str, str]] = set()
        self._dropped_tombstones: set[str] = set()
        self._expired: set[str] = set()
        self._has_genesis = False
        self._objects = StoreObjects()
        self.names = Lexicon()
        self.oracle = Oracle((), lab.topology.servers_from_start())
        self.losses = Losses()
        self._take = event_taker_of(self)

    def running(self) -> list[str]:
        return [name for name in self._lab.names if self._lab.running(name)]

    def observe(self) -> list[Event]:
        """Pass new events to the oracle. Return them."""
        fresh = list(self._lab.events(self._position))
        self._position += len(fresh)
        for event in fresh:
            self.losses.take(event)
            self._take(event)
        if not self._has_genesis:
            self._learn_genesis()
        return fresh

    @event_handler
    def _on_change(self, event: ChangeMade) -> None:
        self.names.learn(event)
        self.oracle.take(change_of(event))

    @event_handler
    def _on_start(self, event: NodeStarted) -> None:
        self.names.learn(event)
        if event.node not in self._objects.copies:
            self.oracle.joined(event.node)

    @event_handler
    def _on_elsewhere(self, event: BackupElsewhere) -> None:
        self._objects.elsewhere(event)
        self.oracle.left(event.store)

    @event_handler
    def _on_path(self, event: FolderShown | FolderMoved | FolderHidden) -> None:
        self.names.learn(event)

    @event_handler
    def _on_replica_dropped(self, event: ReplicaDropped) -> None:
        self._dropped_replicas.add((event.node, event.folder))

    @event_handler
    def _on_tombstone_dropped(self, event: TombstoneDropped) -> None:
        self._dropped_tombstones.add(event.object)

    @event_handler
    def _on_expired(self, event: ItemExpired) -> None:
        self._expired.add(event.object)

    @event_handler
    def _on_store_created(self, event: StoreCreated) -> None:
        self._objects.created(event)

    @event_handler
    def _on_store_deleted(self, event: StoreDeleted) -> None:
        if self._objects.ends_store(event):
            self.oracle.left(event.store)

    def _learn_genesis(self) -> None:
        """Learn the GUID of the topology's folders from a store's folder ids. It is the only GUID that belongs to no store."""
        if not self._lab.topology.folders:
            self._has_genesis = True
        for name in self.running():
            knowledge = self._lab.read(name, lambda node: node.knowledge(HIERARCHY))
            guids = {sets.split_number(object_)[0] for object_ in (*knowledge.versions, *knowledge.tombstones)}
            unknown = sorted(guid for guid in guids if not self.names.knows(guid))
            if unknown:
                self.names.learn_store(unknown[0], SETUP)
                genesis = genesis_of(self._lab.topology, unknown[0])
                self.losses.began_with([change for change, _ in genesis], self._lab.topology.servers_from_start())
                for change, path in genesis:
                    self.oracle.take(change)
                    self.names.learn_folder(change.object, path)
                self._has_genesis = True
                return

    def judge(self) -> Judge:
        self.observe()
        readings = {
            name: self._lab.read(name, read_store) for name in self.running() if name not in self._objects.copies
        }
        return Judge(
            self.oracle.without(self.losses.lost),
            readings,
            self.names.store_of,
            frozenset(self._dropped_replicas),
            dropped_tombstones=frozenset(self._dropped_tombstones),
            expired=frozenset(self._expired),
            lost=self._losses_in_words(),
            is_home=self.losses.has,
        )

    def _losses_in_words(self) -> tuple[str, ...]:
        """Return in words which changes are rightly lost."""  # spec: DU-1 RP-4
        return tuple(
            f"{self.names.number(number)}: only {store} had it, which was {self.losses.fate(store)}"
            for number, store in sorted(self.losses.lost.items())
        )
