"""Invariants of new replicas, new stores, restored stores and stores that are created again (RP-1, RP-3, RP-4, RP-7, DL-4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.knowledge import folders_of
from pflab.invariants.invariant import Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import BROADCASTS, MailKind
from traces.events import (
    AddressLacking,
    AddressStamped,
    BackupMade,
    BackupRestored,
    ChangeMade,
    FaultInjected,
    Loss,
    MailSubmitted,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    StoreCreated,
    StoreDeleted,
    TreeLacking,
    VersionApplied,
)
from traces.labtime import LabTime, format_duration, format_instant


@dataclass(frozen=True, slots=True)
class _Asks:
    """The duty of a store to ask for a folder's status by `due_at`."""

    due_at: LabTime
    why: str


ADDED_STORE_ASKS: Final = frozenset({"5.5", "2000"})
"""Versions in which only the added store asks for status when a replica list changes (ST-3)."""


class NewReplicasRequestStatus(Invariant):
    id = "new replicas request status"
    rules = ("RP-1", "RP-3", "RP-4", "ST-3")
    says = (
        "A new replica, a new store and a restored store each send a status request: stores at once, replicas at "
        "the next cycle."
    )

    def remember(self) -> None:
        self._asks: dict[tuple[str, str], _Asks] = self.facts.backups.follow({})

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        joins = self.facts.topology.servers[event.node].joins_later or self.facts.began_again(event.node)
        if event.reason == "restored":
            self._asks[event.node, HIERARCHY] = _Asks(event.at, "it was restored")
        elif event.reason == "first" and joins:
            self._asks[event.node, HIERARCHY] = _Asks(event.at, "it is a new store")

    @event_handler
    def _added(self, event: ReplicaAdded) -> None:
        holders = self.facts.known.holders(event.node, event.folder) - {event.node}
        version = str(self.facts.topology.servers[event.node].version)
        if holders or version not in ADDED_STORE_ASKS:  # else nobody can be asked, and holders added later will ask
            self._asks[event.node, event.folder] = _Asks(self._next_cycle(event), "its replica is new")

    @event_handler
    def _listed(self, event: VersionApplied) -> None:
        """Move a due request to the next cycle, because a store that was the only holder may have others to ask now."""
        asks = self._asks.get((event.node, event.object))
        if asks is not None:
            self._asks[event.node, event.object] = _Asks(self._next_cycle(event), asks.why)

    def _next_cycle(self, event: ReplicaAdded | VersionApplied) -> LabTime:
        interval_us = self.facts.topology.servers[event.node].settings.always_interval_us
        return event.at if interval_us == 0 else (event.at // interval_us + 1) * interval_us

    @event_handler
    def _stamped(self, event: AddressStamped) -> None:
        """A store that had no address asks when it gets one (ML-1)."""
        for place, asks in self._asks.items() if event.store == event.node else ():
            if place[0] == event.node:
                self._asks[place] = _Asks(max(event.at, asks.due_at), asks.why)

    @event_handler
    def _unreached(self, event: AddressLacking | TreeLacking) -> None:
        """A store that reaches nobody when it asks need not ask again, even if one gets an address in that instant (ML-1)."""
        if event.message_type == MailKind.STATUS_REQUEST and event.node not in event.stores:
            for folder in folders_of(event):
                if not self.facts.known.reached(event.node, folder):
                    self._asks.pop((event.node, folder), None)

    @event_handler
    def _done(self, event: ReplicaPending | ReplicaDropped) -> None:
        self._asks.pop((event.node, event.folder), None)

    @event_handler
    def _submitted(self, event: MailSubmitted) -> None:
        """Note that the store has asked. Another invariant checks the recipients."""
        if event.message_type == MailKind.STATUS_REQUEST:
            for section in event.folders:
                self._asks.pop((event.node, section.folder), None)

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        for place, asks in [item for item in self._asks.items() if item[0][0] == store and item[1].due_at <= now]:
            if self.facts.known.is_mute(store):  # it asks when it has an address (ML-1)
                self._asks[place] = _Asks(now, asks.why)
                continue
            holders = self.facts.known.reached(*place)
            if asks.due_at < now or not holders:
                del self._asks[place]
            if asks.due_at < now and holders:
                when = format_instant(asks.due_at)
                yield f"{store} has not asked for the status of {self.facts.folder(place[1])} by {when}; {asks.why}"


class RestoredStoresGetNewGuids(Invariant):
    id = "restored stores get new GUIDs"
    rules = ("RP-4", "DL-4", "CN-1")
    says = (
        "A store restored from a backup has a GUID that was never used before. If the backup is older than any "
        "tombstone age, the store begins as new."
    )

    def remember(self) -> None:
        self._guids: set[str] = set()
        self._made_at: dict[str, LabTime] = {}
        self._restores: dict[str, tuple[LabTime, LabTime]] = {}
        self._skewed: set[str] = set()

    @event_handler
    def _made(self, event: BackupMade) -> None:
        self._made_at[event.backup] = event.at

    @event_handler
    def _restored(self, event: BackupRestored) -> None:
        self._restores[event.store] = (self._made_at[event.backup], event.at)

    @event_handler
    def _fault(self, event: FaultInjected) -> None:
        """Remember servers with a wrong clock, which cannot know how old a backup is."""
        if event.kind == "skew":
            self._skewed.add(str(event.details["server"]))

    @event_handler
    def _started(self, event: NodeStarted) -> Witnesses:
        is_old = event.replica_guid in self._guids
        self._guids.add(event.replica_guid)
        if event.reason == "restart" or event.node not in self._restores:
            return
        settings = self.facts.topology.servers[event.node].settings
        if is_old and (settings.new_guid_on_restore or event.reason == "first"):
            yield f"{event.node} was restored with the GUID {event.replica_guid}, which was used before"
        made_at, restored_at = self._restores.pop(event.node)
        shortest_us = min(server.settings.tombstone_age_us for server in self.facts.topology.servers.values())
        if restored_at - made_at >= shortest_us and event.reason != "first" and event.node not in self._skewed:
            age, limit = format_duration(restored_at - made_at), format_duration(shortest_us)
            yield f"{event.node} was restored from a backup {age} old, but the shortest tombstone age is {limit}"


class LossesAreReported(Invariant):
    id = "losses are reported"
    rules = ("RP-4", "DU-1")
    says = (
        "A restored store reports as lost exactly the changes that it made after the backup and that none of its mails "
        "contained or claimed. It need not report changes that waited while no other holder had an address, or while "
        "there was none."
    )

    def remember(self) -> None:
        self._unsent: dict[tuple[str, str], set[str]] = self.facts.backups.follow({})
        self._before: dict[str, dict[tuple[str, str], set[str]]] = {}
        self._unreported: dict[str, set[str]] = {}
        self._replaced: dict[str, set[str]] = {}

    @event_handler
    def _changed(self, event: ChangeMade | VersionApplied) -> None:
        """Remember what a store must send. With no other holder, changes count as broadcast at the cycle (RST-1)."""
        place = (event.node, event.folder)
        if isinstance(event, ChangeMade) and self._others(place):
            self._unsent.setdefault(place, set()).add(event.number)
        if event.kind == "folder" and not self._others((event.node, event.object)):
            self._unsent.pop((event.node, event.object), None)

    @event_handler
    def _unreached(self, event: AddressLacking | TreeLacking) -> None:
        """If no other holder can be reached, the changes count as broadcast too (ML-1, ML-8)."""
        for folder in folders_of(event) if event.message_type in BROADCASTS else ():
            if not self.facts.known.reached(event.node, folder):
                self._unsent.pop((event.node, folder), None)

    @event_handler
    def _submitted(self, event: MailSubmitted) -> None:
        """Take what a mail contains or claims as broadcast. A store that leaves while content is suspended only claims it."""
        for section in event.folders:
            unsent = self._unsent.get((event.node, section.folder))
            if unsent:
                texts = (section.cnset, section.cnset_fai), (section.row, section.row_fai)
                claims = bits.union(bits.by_kind(*text) for text in texts)
                changes = self.facts.changes
                unsent.difference_update(
                    [number for number in unsent if bits.has(claims, number, fai=changes[number].kind == "fai")]
                )

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        self._unsent.pop((event.node, event.folder), None)

    @event_handler
    def _restored(self, event: BackupRestored) -> None:
        places = [place for place in self._unsent if place[0] == event.store and self._others(place)]
        self._before[event.store] = {place: set(self._unsent[place]) for place in places}

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        if event.reason != "restart":
            before = self._before.pop(event.node, {})
            losses = {change for place in before for change in before[place] - self._in_backup(place)}
            # If one lost change replaced another one, only the newer one must be reported.
            self._replaced[event.node] = {ancestor for number in losses for ancestor in self.facts.ancestors[number]}
            self._unreported[event.node] = {
                change for change in losses if not self.facts.may_be_a_hole(self.facts.changes[change])
            }

    def _in_backup(self, place: tuple[str, str]) -> set[str]:
        """Return the changes that the store has again after the restore."""
        return self._unsent.get(place, set()) | {change.number for change in self.facts.own_changes.get(place, ())}

    @event_handler
    def _loss(self, event: Loss) -> Witnesses:
        numbers = bits.parse(event.cnset)
        self._unreported.get(event.node, set()).difference_update(bits.numbers(numbers))
        own_changes = self.facts.own_changes.get((event.node, event.folder), ())
        wrong = [self.facts.what(change) for change in own_changes if bits.has(numbers, change.number)]
        if wrong:
            yield f"{event.node} reports that {', '.join(wrong)} is lost, but its backup has it"

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        losses = self._unreported.pop(store, set())
        for number in sorted(losses - self._replaced.pop(store, set())):
            yield f"{store} was restored, but does not report that {self.facts.what(self.facts.changes[number])} is lost"

    def _others(self, place: tuple[str, str]) -> bool:
        return bool(self.facts.known.holders(*place) - {place[0]})


class CreatedStoresBeginAsNew(Invariant):
    id = "created stores begin as new"
    rules = ("RP-7", "RP-3", "CN-1")
    says = (
        "A store is created only for a server whose store was deleted. It begins as a new store, with a GUID that was "
        "never used before."
    )

    def remember(self) -> None:
        self._deleted: dict[str, int] = {}
        self._guids: set[str] = set()
        self._objects: dict[str, int] = {}
        self._created: set[str] = set()

    @event_handler
    def _store_deleted(self, event: StoreDeleted) -> None:
        self._deleted[event.store] = max(event.directory_object, self._deleted.get(event.store, 0))

    @event_handler
    def _store_created(self, event: StoreCreated) -> Witnesses:
        before = self._objects.get(event.store, 0)
        self._objects[event.store] = event.directory_object
        self._created.add(event.store)
        if event.directory_object != before + 1:
            yield f"the object {event.directory_object} of {event.store} was created after the object {before}"
        if self._deleted.get(event.store, -1) < before:
            yield f"a store was created for {event.store}, whose store was not deleted"

    @event_handler
    def _started(self, event: NodeStarted) -> Witnesses:
        is_old = event.replica_guid in self._guids
        self._guids.add(event.replica_guid)
        if event.node not in self._created:
            return
        self._created.discard(event.node)
        if event.reason != "first":
            yield f"the new store of {event.node} did not begin as a new one, but with reason {event.reason}"
        if is_old:
            yield f"the new store of {event.node} has the GUID {event.replica_guid}, which was used before"


ADDITIONS: tuple[type[Invariant], ...] = (
    NewReplicasRequestStatus,
    RestoredStoresGetNewGuids,
    LossesAreReported,
    CreatedStoresBeginAsNew,
)
