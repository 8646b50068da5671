"""Invariants of what is removed: replicas and their data (RP-2), tombstones (DL-4), and expired messages (DL-3)."""

from __future__ import annotations

from collections.abc import Iterator

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.knowledge import folders_of
from pflab.invariants.invariant import Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import UPDATES, MailKind, Mark
from traces.events import (
    AddressLacking,
    ChangeMade,
    Event,
    ExpiredEverywhere,
    FolderHidden,
    FolderShown,
    ItemExpired,
    MailReceived,
    MailSubmitted,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    RowReplaced,
    StoreDeleted,
    TombstoneDropped,
    TombstoneMade,
    TreeLacking,
    VersionApplied,
)
from traces.labtime import DAY_US, LabTime, format_duration


class LeavingStoresBroadcastFirst(Invariant):
    id = "leaving stores broadcast first"
    rules = ("RP-2", "RST-1")
    says = (
        "A store that leaves a folder first broadcasts all changes that it made in the folder. Then it sends all "
        "holders a status request with a row that has all these changes."
    )

    def remember(self) -> None:
        self._broadcasts: dict[tuple[str, str], dict[str, int]] = {}
        self._leaves: dict[tuple[str, str], ReplicaPending] = self.facts.backups.follow({})

    @event_handler
    def _changed(self, event: ChangeMade | VersionApplied) -> None:
        """While there is no other holder, note changes as sent: at the cycle they count as broadcast (RST-1)."""
        place = (event.node, event.object if event.kind == "folder" else event.folder)
        if not self.facts.known.holders(*place) - {event.node}:
            self._count_as_sent(place)

    def _count_as_sent(self, place: tuple[str, str]) -> None:
        numbers = self._broadcasts.setdefault(place, {})
        for change in self.facts.own_changes.get(place, ()):
            bits.add_number(numbers, change.number, fai=change.kind == "fai")

    @event_handler
    def _pending(self, event: ReplicaPending) -> None:
        place = (event.node, event.folder)
        if self.facts.known.holders(*place) and event.node in self.facts.known.recipients(*place):
            self._leaves[place] = event

    @event_handler
    def _unreached(self, event: AddressLacking | TreeLacking) -> None:
        """If no holder can be reached, the changes count as broadcast, and nobody can be asked (ML-1, ML-8)."""
        for folder in folders_of(event):
            place = (event.node, folder)
            if self.facts.known.reached(*place):
                continue
            if event.message_type in UPDATES:
                self._count_as_sent(place)
            elif event.message_type == MailKind.STATUS_REQUEST:
                self._leaves.pop(place, None)

    @event_handler
    def _stays(self, event: ReplicaAdded | ReplicaDropped) -> None:
        self._leaves.pop((event.node, event.folder), None)

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        for section in event.folders:
            place = (event.node, section.folder)
            claims = bits.by_kind(section.cnset, section.cnset_fai)
            if event.message_type in UPDATES:
                bits.add(self._broadcasts.setdefault(place, {}), claims)
            elif Mark.DELETE_PENDING in event.marks and event.message_type == MailKind.STATUS_REQUEST:
                folder = self.facts.folder(section.folder)
                first = self._leaves.pop(place, None)
                row = bits.by_kind(section.row, section.row_fai)
                if self.facts.suspended.get(event.node):
                    # The changes in the row count as broadcast, and the holders ask for them later (RP-5).
                    bits.add(self._broadcasts.setdefault(place, {}), row)
                elif first and (unsent := self._lacking(place, self._broadcasts.get(place, bits.EMPTY))):
                    yield f"{event.node} leaves {folder}, but has not broadcast {', '.join(unsent)}"
                unsaid = self._lacking(place, row)
                if unsaid:
                    yield f"{event.node} leaves {folder}, but does not say that it has {', '.join(unsaid)}"

    @event_handler
    def _any(self, event: Event) -> Witnesses:
        """When a store learns that it must leave a folder, check that it sends the request at the same instant."""
        for place in [place for place in self._leaves if place[0] == event.node]:
            if event.at > self._leaves[place].at:
                del self._leaves[place]
                yield f"{event.node} leaves {self.facts.folder(place[1])}, but asks nobody whether it may drop its data"

    def _lacking(self, place: tuple[str, str], claims: bits.Bits) -> list[str]:
        facts = self.facts
        own_changes = facts.own_changes.get(place, ())
        unsaid = [change for change in own_changes if not bits.has(claims, change.number, fai=change.kind == "fai")]
        return [facts.what(number) for number in unsaid if not facts.may_be_a_hole(number)]


class ReplicasDroppedWithPermission(Invariant):
    id = "replicas are dropped with permission"
    rules = ("RP-2", "HI-6", "DU-1")
    says = (
        "A store drops its replica of an existing folder only when another store has answered, and the row of that "
        "store has everything that is dropped. A 5.5 store also waits for the next midnight."
    )

    def remember(self) -> None:
        self._removals: dict[tuple[str, str], bool] = self.facts.backups.follow({})
        self._answers: dict[tuple[str, str], tuple[tuple[str, LabTime], ...]] = self.facts.backups.follow({})
        """By store and folder: each answer of a holder in the present removal, with its time."""
        self._rows: dict[tuple[str, str], dict[str, bits.Bits]] = self.facts.backups.follow({})
        """By store and folder: the last rows of the other stores in the present removal."""

    @event_handler
    def _hidden(self, event: FolderHidden) -> None:
        self._removals[event.node, event.folder] = True

    @event_handler
    def _shown(self, event: FolderShown) -> None:
        self._removals.pop((event.node, event.folder), None)

    @event_handler
    def _deleted(self, event: TombstoneMade) -> None:
        if event.folder == HIERARCHY:
            self._removals[event.node, event.object] = True

    @event_handler
    def _received(self, event: MailReceived) -> None:
        for section in event.folders if Mark.RETAINED in event.marks else ():
            place = (event.node, section.folder)
            if self.facts.known.pending(*place) and event.sender in self.facts.known.holders(*place):
                self._answers[place] = (*self._answers.get(place, ()), (event.sender, event.at))

    @event_handler
    def _row(self, event: RowReplaced) -> None:
        place = (event.node, event.folder)
        if self.facts.known.pending(*place):
            row = bits.by_kind(event.cnset, event.cnset_fai)
            self._rows[place] = {**self._rows.get(place, {}), event.store: row}

    @event_handler
    def _pending(self, event: ReplicaPending) -> None:
        for of_removals in (self._answers, self._rows):
            of_removals.pop((event.node, event.folder), None)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> Witnesses:
        place = (event.node, event.folder)
        if self._removals.get(place):
            return
        subject = f"{event.node} dropped its data of {self.facts.folder(event.folder)}"
        stores = [store for store, at in self._answers.get(place, ()) if self._may_drop(event, at)]
        holders = self.facts.known.holders(*place)
        if not stores:
            yield f"{subject}, but no other store has said that it has all of the data"
        elif not any(store in holders for store in stores):
            yield f"{subject} with permission of {stores[-1]}, which does not hold it"
        else:
            gaps = {store: self._lacking(event, store) for store in stores if store in holders}
            if all(gaps.values()):
                store, numbers = next(iter(gaps.items()))
                yield f"{subject} with permission of {store}, which lacks {self.facts.words(numbers)}"

    def _may_drop(self, event: ReplicaDropped, answered_at: LabTime) -> bool:
        if str(self.facts.topology.servers[event.node].version) == "5.5":
            return event.at >= answered_at - answered_at % DAY_US + DAY_US
        return event.at == answered_at

    def _lacking(self, event: ReplicaDropped, store: str) -> bits.Bits:
        """Return what is dropped and not in the store's row. The event has the numbers of both kinds in one set."""
        row = self._rows.get((event.node, event.folder), {}).get(store, bits.EMPTY)
        return bits.minus(bits.parse(event.cnset), bits.of_both_kinds(row))


class TombstonesLiveLongEnough(Invariant):
    id = "tombstones live long enough"
    rules = ("DL-4", "HI-6")
    says = (
        "A store drops a tombstone only after its age limit, and only when every holder has said that it has the "
        "deletion. It never drops a tombstone above a hidden folder."
    )

    @event_handler
    def _dropped(self, event: TombstoneDropped) -> Witnesses:
        facts, settings = self.facts, self.facts.topology.servers[event.node].settings
        subject = f"{event.node} dropped the tombstone of {facts.names.what(event.folder, event.object)}"
        deletion = facts.changes.get(event.number)
        if deletion is None or deletion.operation != "delete" or deletion.object != event.object:
            yield f"{subject}, but {facts.shown(event.number)} did not delete it"
            return
        age_us = event.at - deletion.modified_at
        if age_us < settings.tombstone_age_us:
            yield f"{subject} when it was {format_duration(age_us)} old"
        if event.folder == HIERARCHY:
            below = facts.known.below(event.node, event.object)
            if below:
                yield f"{subject}, which hides {', '.join(facts.names.what(HIERARCHY, folder_id) for folder_id in below)}"
        if not settings.tombstones_by_age_alone:
            yield from self._unheard(event, subject, fai=deletion.kind == "fai")

    def _unheard(self, event: TombstoneDropped, subject: str, *, fai: bool) -> Witnesses:
        for store in sorted(self.facts.known.holders(event.node, event.folder) - {event.node}):
            row = self.facts.rows.get((event.node, event.folder, store), bits.EMPTY)
            if not bits.has(row, event.number, fai=fai):
                yield f"{subject}, but {store} has not said that it has {self.facts.shown(event.number)}"


class LastReplicasStay(Invariant):
    id = "last replicas stay"
    rules = ("RP-2", "RP-6", "AD-1")
    says = "No change takes the last store off a replica list, except the forced deletion of that store."

    def remember(self) -> None:
        self._forced_at: dict[str, LabTime] = {}

    @event_handler
    def _deleted(self, event: StoreDeleted) -> None:
        if event.forced:
            self._forced_at[event.node] = event.at

    @event_handler
    def _made(self, event: ChangeMade) -> Witnesses:
        if event.replicas != () or self._forced_at.get(event.node) == event.at:
            return
        before = [self.facts.changes.get(number) for number in event.supersedes]
        if any(store is None or store.replicas for store in before):
            yield f"{event.node} took the last store off the replica list of {self.facts.folder(event.object)}"


REMOVALS: tuple[type[Invariant], ...] = (
    LastReplicasStay,
    LeavingStoresBroadcastFirst,
    ReplicasDroppedWithPermission,
    TombstonesLiveLongEnough,
)


class NothingExpiresEarly(Invariant):
    id = "nothing expires early"
    rules = ("DL-3", "DU-1")
    says = (
        "A message expires only in the store's maintenance, and only after the age limit of its replica, store or "
        "folder."
    )

    def remember(self) -> None:
        self._limits: dict[str, set[int | None]] = {}

    def _limits_us(self, store: str) -> set[int | None]:
        """Return the age limits that a store ever had."""
        if store not in self._limits:
            topology = self.facts.topology
            self._limits[store] = {topology.servers[store].settings.age_limit_us}
            for folder in topology.folders.values():
                self._limits[store] |= {folder.age_limit_us, folder.replica_age_limits_us.get(store)}
        return self._limits[store]

    @event_handler
    def _expired(self, event: ItemExpired) -> Witnesses:
        subject = f"{event.node} let {self.facts.names.what(event.folder, event.object)} expire"
        change = self.facts.changes.get(event.number)
        if change is None or change.object != event.object:
            yield f"{subject} by {self.facts.shown(event.number)}, which is not a version of this message"
            return
        age_us = event.at - change.modified_at
        if age_us < event.limit_us:
            yield f"{subject} when it was {format_duration(age_us)} old; the limit is {format_duration(event.limit_us)}"
        yield from self._of_no_limit(event, subject)

    def _of_no_limit(self, event: ItemExpired, subject: str) -> Iterator[str]:
        if event.limit_us not in self._limits_us(event.node):
            yield f"{subject} by a limit of {format_duration(event.limit_us)}, which is not set for it"
        maintenance = self.facts.topology.servers[event.node].settings.maintenance
        if maintenance.next_fire(event.at - 1, DAY_US) is None:
            yield f"{subject}, but the store has no maintenance"


class GivenUpByAll(Invariant):
    id = "given up by all"
    rules = ("DL-3", "CN-7")
    says = (
        "A store stops waiting for the number of an expired item only when every other holder that claims the number "
        "has said that the item expired."
    )

    @event_handler
    def _everywhere(self, event: ExpiredEverywhere) -> Witnesses:
        numbers = bits.by_kind(event.cnset, event.cnset_fai)
        for store in sorted(self.facts.known.holders(event.node, event.folder) - {event.node}):
            place = (event.node, event.folder, store)
            claims = bits.common(numbers, self.facts.rows.get(place, bits.EMPTY))
            unsaid = bits.minus(claims, self.facts.reported_expired.get(place, bits.EMPTY))
            if unsaid:
                yield f"{event.node} gave up {self.facts.words(unsaid)}, which {store} claims and has not reported as expired"


EXPIRY: tuple[type[Invariant], ...] = (NothingExpiresEarly, GivenUpByAll)
