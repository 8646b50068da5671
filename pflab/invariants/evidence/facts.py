"""Facts that the events of a lab prove so far: who made which change, what each mail contained, and which numbers each
store can know of each folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.backups import Backups
from pflab.invariants.evidence.knowledge import Known
from pflab.invariants.evidence.organizations import Organizations
from pflab.terms.event_handlers import event_handler, event_taker_of
from pflab.terms.event_words import Lexicon
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import UPDATES
from topology.model import Topology
from traces.events import (
    BackupMade,
    BackupRestored,
    ChangeMade,
    ContentResumed,
    ContentSuspended,
    Event,
    ExpiredEverywhere,
    HopDropped,
    HopReceived,
    ItemExpired,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    RequestEnded,
    RequestSent,
    RowReplaced,
    StoreDeleted,
    TombstoneDropped,
    VersionApplied,
    VersionIgnored,
)
from traces.labtime import LabTime

Place = tuple[str, str, bool]
"""A store, a folder, and whether the set of associated messages (FAI) is meant, which is separate (CN-9)."""

Rank = tuple[int, bytes, int]
"""The rank of a version: time, the raw bytes of its number's GUID, its counter (CN-8)."""


class Facts:
    """The facts of one lab. `take` adds an event; nothing but events and the topology is read.

    topology: the organization as the lab began.
    """

    def __init__(self, topology: Topology, names: Lexicon | None = None) -> None:
        self.names = names or Lexicon()
        self.backups = Backups()
        self.store_of: dict[str, str] = {}
        """The store of each GUID; a restored store has several."""
        self.guid_of: dict[str, str] = {}
        """The present GUID of each store."""
        self.changes: dict[str, ChangeMade] = {}
        self.ancestors: dict[str, frozenset[str]] = {}
        """All changes that a change supersedes, directly or through others."""
        self.shared: dict[str, dict[str, int]] = {}
        """By folder: the numbers that several versions made in one store may include, beside each other (CF-6)."""
        self.of_object: dict[str, list[ChangeMade]] = {}
        self._highest_rank: dict[str, Rank] = {}
        """The highest rank of each object's changes."""
        self.of_folder: dict[str, list[ChangeMade]] = {}
        self.own_changes: dict[tuple[str, str], list[ChangeMade]] = self.backups.follow({})
        """By store and folder: the changes that the store made there since its present replica began."""
        self.began: dict[tuple[str, str], int] = self.backups.follow({})
        """By store and folder: the counter at which the present replica began; 0 if it existed from the start."""
        self.dropped_tombstones: set[str] = set()
        """Deleted objects whose tombstone at least one store has dropped (DL-4)."""
        self.expired_at: set[tuple[str, str]] = set()
        """Pairs of a store and a message that has expired there."""
        self.expired: set[str] = set()
        """Messages that have expired at some store (DL-3)."""
        self.reported_expired: dict[tuple[str, str, str], bits.Bits] = self.backups.follow({})
        """By store, folder and source: what the source reported as expired. While the source's row claims these numbers, the
        store does not request them from the source (DL-3)."""
        self._reported_early: dict[tuple[str, str, str], list[tuple[LabTime, bits.Bits]]] = self.backups.follow({})
        """The same in mails that wait for the folder, each with its arrival."""
        self.rows: dict[tuple[str, str, str], bits.Bits] = self.backups.follow({})
        """By store, folder and other store: the numbers in the last row of that store, while the replica exists."""
        self.highest: dict[tuple[str, bool], dict[str, int]] = {}
        """By folder and kind: the highest counter of each GUID among the folder's changes."""
        self.mails: dict[str, MailSubmitted] = {}
        self.landed: set[tuple[str, str]] = set()
        """Pairs of a store and a mail that it committed, or that a fault lost there."""
        self.suspended: dict[str, bool] = self.backups.follow({})
        """Stores at which content is suspended (RP-5)."""
        self.resumed_at: dict[str, int] = self.backups.follow({})
        """When content was last resumed at each store."""
        self.outstanding: Counter[str] = self.backups.follow(Counter())
        """The number of outstanding backfill requests of each store (BF-6)."""
        self.organizations = Organizations(topology, self.backups)
        self._setup: str | None = None
        self._learned: dict[Place, dict[str, int]] = self.backups.follow({})
        self._counters: dict[str, int] = {}
        self._beginnings: dict[str, set[str]] = {}
        self.known = Known(self.organizations, self.changes, self.setup, self.backups)
        self._take = event_taker_of(self)

    def take(self, event: Event) -> None:
        self._take(event)
        self.known.take(event)
        self.organizations.take(event)

    # --- questions of the invariants

    @property
    def topology(self) -> Topology:
        """The present organization. It has all servers that the lab has ever had, and the folders with which it began."""
        return self.organizations.with_removed

    def began_again(self, store: str) -> bool:
        """Return whether a store was ever restored, or began as new because its backup was too old (DL-4)."""
        return len(self._beginnings.get(store, ())) > 1

    def guids_of(self, store: str) -> frozenset[str]:
        """Return all GUIDs that a store has had."""
        return frozenset(self._beginnings.get(store, ()))

    def setup(self, guid: str) -> bool:
        """Return whether a GUID is the GUID of the topology's folders. It is the only GUID that belongs to no store."""
        if guid in self.store_of:
            return False
        if self._setup is None:
            self._setup = guid
        return guid == self._setup

    def can_know(self, store: str, folder: str, fai: bool) -> dict[str, int]:
        """Return the numbers that a store can account for: numbers from mails and versions, and the store's own numbers since
        its present replica began (CN-6)."""
        numbers = dict(self._learned.get((store, folder, fai), bits.EMPTY))
        guid = self.guid_of.get(store, "")
        own_numbers = bits.span(
            self.began.get((store, folder), 0) + 1, self.highest.get((folder, fai), {}).get(guid, 0)
        )
        if own_numbers:
            numbers[guid] = numbers.get(guid, 0) | own_numbers
        return numbers

    def beyond(self, numbers: bits.Bits, folder: str, fai: bool) -> dict[str, int]:
        """Return the numbers of a set that nobody can have: those above the last change of their store in the folder."""
        highest = self.highest.get((folder, fai), {})
        possible = {guid: bits.span(1, top) for guid, top in highest.items()}
        if folder == HIERARCHY and not fai:
            setup = bits.span(1, len(self.topology.folders))
            possible |= {guid: setup for guid in numbers if self.setup(guid)}
        return bits.minus(numbers, possible)

    def accounted(self, change: ChangeMade, versions: Mapping[str, str], *, has_tombstone: bool) -> bool:
        """Return whether a store that keeps these versions of an object, or its tombstone, still accounts for a change."""
        if (
            has_tombstone
            or change.object in self.dropped_tombstones
            or change.object in self.expired
            or change.number in versions
            or any(change.number in self.ancestors.get(version, ()) for version in versions)
        ):
            return True
        # Of concurrent versions of a folder or an associated message, only the last writer's is kept (HI-5, CN-9).
        return change.kind != "message" and any(self._outranks(version, change) for version in versions)

    def _outranks(self, number: str, change: ChangeMade) -> bool:
        rival = self.changes.get(number)
        return rival is not None and rank_of(rival) > rank_of(change)

    def deletions(self, object_: str) -> list[ChangeMade]:
        return [version for version in self.of_object.get(object_, ()) if version.operation == "delete"]

    def may_be_a_hole(self, change: ChangeMade) -> bool:
        """Return whether a change may never be sent, so that its number is closed as a hole (CN-6).

        This is so if another version replaced it before it was sent, or if its object's tombstone was dropped (DL-4).
        """
        if change.object in self.dropped_tombstones:
            return True
        deletions = self.deletions(change.object)
        if change.operation == "delete":
            return len(deletions) > 1
        if deletions:
            return True
        return change.kind != "message" and self._highest_rank[change.object] > rank_of(change)

    def was_suspended(self, store: str, folder: str, since_at: int) -> bool:
        """Return whether the time-outs of a folder's entries were suspended at any time since `since_at` (RP-5)."""
        return folder != HIERARCHY and (store in self.suspended or self.resumed_at.get(store, since_at - 1) >= since_at)

    # --- words

    def words(self, numbers: bits.Bits) -> str:
        return bits.words(numbers, self.names.store_of)

    def shown(self, number: str) -> str:
        return self.names.number(number)

    def what(self, change: ChangeMade) -> str:
        """Return a change in words: `A-3 (the edit of 'Hello' in Projects)`."""
        noun = {"create": "creation", "modify": "edit", "delete": "deletion"}[change.operation]
        words = self.names.as_of(change.at).what(change.folder, change.object, change.number)
        return f"{self.shown(change.number)} (the {noun} of {words})"

    def folder(self, folder: str) -> str:
        return self.names.folder(folder)

    # --- events

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        self.store_of[event.replica_guid] = event.node
        self.guid_of[event.node] = event.replica_guid
        self._beginnings.setdefault(event.node, set()).add(event.replica_guid)
        self.backups.started(event)
        if event.reason == "restored":  # counters begin at 1 again, under the new GUID
            for key in [key for key in self.began if key[0] == event.node]:
                del self.began[key]

    @event_handler
    def _restored(self, event: BackupRestored) -> None:
        self.backups.restored(event)

    @event_handler
    def _backup(self, event: BackupMade) -> None:
        # A restored store has a new GUID. It can know those numbers under its earlier GUID that are in the backup.
        for folder, fai in self.highest:
            numbers = self.can_know(event.store, folder, fai)
            if numbers:
                self._learned[event.store, folder, fai] = numbers
        self.backups.made(event)

    @event_handler
    def _change(self, event: ChangeMade) -> None:
        if event.number in self.changes:
            return
        self.changes[event.number] = event
        ancestors = set(event.supersedes)
        for predecessor in event.supersedes:
            ancestors |= self.ancestors.get(predecessor, frozenset())
        self.ancestors[event.number] = frozenset(ancestors)
        if event.rivals:
            for number in ancestors:
                bits.add_number(self.shared.setdefault(event.folder, {}), number)
        self.of_object.setdefault(event.object, []).append(event)
        rank = rank_of(event)
        self._highest_rank[event.object] = max(rank, self._highest_rank.get(event.object, rank))
        self.of_folder.setdefault(event.folder, []).append(event)
        self.own_changes.setdefault((event.node, event.folder), []).append(event)
        guid, counter = bits.split(event.number)
        highest = self.highest.setdefault((event.folder, event.kind == "fai"), {})
        highest[guid] = max(counter, highest.get(guid, 0))
        self._counters[guid] = max(counter, self._counters.get(guid, 0))

    @event_handler
    def _submitted(self, event: MailSubmitted) -> None:
        if event.mail is not None:
            self.mails.setdefault(event.mail, event)

    @event_handler
    def _received(self, event: MailReceived) -> None:
        for section in event.folders:
            if section.expired or section.expired_fai:
                place = (event.node, section.folder, event.sender)
                expired_numbers = bits.by_kind(section.expired, section.expired_fai)
                if self.known.listed(*place[:2]) is None:  # the mail waits for its folder (HI-4)
                    self._reported_early.setdefault(place, []).append((event.at, expired_numbers))
                else:
                    self.reported_expired[place] = bits.union(
                        (self.reported_expired.get(place, bits.EMPTY), expired_numbers)
                    )
        if event.message_type in UPDATES:
            for section in event.folders:
                self._learn((event.node, section.folder, False), bits.parse(section.cnset))
                self._learn((event.node, section.folder, True), bits.parse(section.cnset_fai))

    @event_handler
    def _version(self, event: VersionApplied | VersionIgnored) -> None:
        place = (event.node, event.folder, event.kind == "fai")
        for text in (event.stands_for, event.pcl):
            self._learn(place, bits.parse(text))
        bits.add_number(self._learned[place], event.number)

    def _learn(self, place: Place, numbers: bits.Bits) -> None:
        bits.add(self._learned.setdefault(place, {}), numbers)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        self.own_changes.pop((event.node, event.folder), None)
        for fai in (False, True):
            self._learned.pop((event.node, event.folder, fai), None)
        for of_others in (self.reported_expired, self.rows):
            for key in [key for key in of_others if key[:2] == (event.node, event.folder)]:
                del of_others[key]

    @event_handler
    def _added(self, event: ReplicaAdded) -> None:
        # A late response to an earlier replica has no effect while there is none (DL-3).
        for key in [key for key in self.reported_expired if key[:2] == (event.node, event.folder)]:
            del self.reported_expired[key]
        wait_us = self.topology.servers[event.node].settings.content_rmq_timeout_us
        for key in [key for key in self._reported_early if key[:2] == (event.node, event.folder)]:
            reports = [report for at, report in self._reported_early.pop(key) if event.at < at + wait_us]
            self.reported_expired[key] = bits.union((bits.EMPTY, *reports))
        self.began[event.node, event.folder] = self._counters.get(self.guid_of.get(event.node, ""), 0)

    @event_handler
    def _store_deleted(self, event: StoreDeleted) -> None:
        for of_others in (self.reported_expired, self.rows, self._reported_early):
            for key in [key for key in of_others if key[0] == event.node and key[2] == event.store]:
                del of_others[key]

    @event_handler
    def _tombstone_dropped(self, event: TombstoneDropped) -> None:
        self.dropped_tombstones.add(event.object)

    @event_handler
    def _item_expired(self, event: ItemExpired) -> None:
        self.expired.add(event.object)
        self.expired_at.add((event.node, event.object))

    @event_handler
    def _expired_everywhere(self, event: ExpiredEverywhere) -> None:
        self._learn((event.node, event.folder, False), bits.parse(event.cnset))
        self._learn((event.node, event.folder, True), bits.parse(event.cnset_fai))

    @event_handler
    def _row(self, event: RowReplaced) -> None:
        """Forget that a source reported numbers as expired if its row no longer claims them. It then has a new replica, or was
        restored."""
        place = (event.node, event.folder, event.store)
        row = self.rows[place] = bits.by_kind(event.cnset, event.cnset_fai)
        report = self.reported_expired.get(place)
        if report is not None:
            self.reported_expired[place] = bits.common(report, row)

    @event_handler
    def _request_sent(self, event: RequestSent) -> None:
        self.outstanding[event.node] += 1

    @event_handler
    def _request_ended(self, event: RequestEnded) -> None:
        self.outstanding[event.node] -= 1

    @event_handler
    def _suspended(self, event: ContentSuspended) -> None:
        self.suspended[event.node] = True

    @event_handler
    def _resumed(self, event: ContentResumed) -> None:
        self.suspended.pop(event.node, None)
        self.resumed_at[event.node] = event.at

    @event_handler
    def _hop_ended(self, event: HopReceived | HopDropped) -> None:
        if event.mail is not None:
            self.landed.add((event.node, event.mail))


def rank_of(change: ChangeMade) -> Rank:
    """Return the rank of a version."""
    guid, counter = bits.split(change.number)
    return (change.modified_at, bytes.fromhex(guid), counter)


__all__ = ["HIERARCHY", "Facts", "rank_of"]
