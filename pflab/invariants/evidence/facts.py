"""What the events of a run prove so far, gathered for the invariants: who made which change, which mail said what, and
which numbers each store can know of each folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.backups import Backups
from pflab.invariants.evidence.knowledge import HIERARCHY, Known
from pflab.terms.lexicon import Lexicon
from pflab.terms.mail_types import UPDATES
from topology import Topology
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
    TombstoneDropped,
    VersionApplied,
    VersionIgnored,
)

Place = tuple[str, str, bool]
"""A store, a folder, and whether its associated messages are meant (they have a set of their own: CN-9)."""


class Facts:
    """Grows by `take`; reads nothing but events and the topology."""

    def __init__(self, topology: Topology, names: Lexicon | None = None) -> None:
        self.topology = topology
        self.names = names or Lexicon()
        self.store_of: dict[str, str] = {}
        """GUID to store; a restored store has several."""
        self.guid_of: dict[str, str] = {}
        """Store to its present GUID."""
        self.changes: dict[str, ChangeMade] = {}
        self.ancestors: dict[str, frozenset[str]] = {}
        """Change to all it supersedes, directly or through others."""
        self.of_object: dict[str, list[ChangeMade]] = {}
        self.of_folder: dict[str, list[ChangeMade]] = {}
        self.own_changes: dict[tuple[str, str], list[ChangeMade]] = {}
        """Store and folder to what the store made there while its present replica lives."""
        self.began: dict[tuple[str, str], int] = {}
        """Store and folder to the counter at which the present replica there began; 0 for one that was always there."""
        self.forgotten: set[str] = set()
        """Deleted objects whose tombstone some store has dropped (DL-4)."""
        self.expired_at: set[tuple[str, str]] = set()
        """Store and message that an age limit took from it."""
        self.expired: set[str] = set()
        """Messages that an age limit has taken from some store (DL-3)."""
        self.reported_expired: dict[tuple[str, str, str], bits.Bits] = {}
        """Store, folder and source to what that source told has expired there, by kind: it is asked for that no more
        (DL-3), as long as its row has it."""
        self.rows: dict[tuple[str, str, str], bits.Bits] = {}
        """Store, folder and other store to what the last row of that store claimed, as long as the replica exists."""
        self.highest: dict[tuple[str, bool], dict[str, int]] = {}
        """Folder and kind of number to the highest counter of each GUID among its changes."""
        self.mails: dict[str, MailSubmitted] = {}
        self.landed: set[tuple[str, str]] = set()
        """Store and mail: committed there, or lost there by a fault."""
        self.suspended: dict[str, bool] = {}
        """Stores whose content is suspended, as they know it (RP-5)."""
        self.resumed_at: dict[str, int] = {}
        """Store to when its content was last resumed."""
        self.outstanding: Counter[str] = Counter()
        """Store to how many backfill requests it has out (BF-6)."""
        self._setup: str | None = None
        self._heard: dict[Place, dict[str, int]] = {}
        self._counters: dict[str, int] = {}
        self._beginnings: dict[str, set[str]] = {}
        self.backups = Backups()
        self.known = Known(topology, self.changes, self.setup, self.backups)
        for mapping in (
            self.own_changes,
            self._heard,
            self.began,
            self.reported_expired,
            self.rows,
            self.suspended,
            self.resumed_at,
            self.outstanding,
        ):
            self.backups.follow(mapping)
        self._handlers: Mapping[type[Event], Callable[[Any], None]] = {
            ChangeMade: self._change,
            NodeStarted: self._started,
            MailSubmitted: self._submitted,
            MailReceived: self._received,
            VersionApplied: self._version,
            VersionIgnored: self._version,
            ReplicaAdded: self._added,
            ReplicaDropped: self._dropped,
            TombstoneDropped: self._forgot,
            ItemExpired: self._expires,
            ExpiredEverywhere: self._gone,
            RowReplaced: self._row,
            RequestSent: self._asks,
            RequestEnded: self._has_asked,
            BackupMade: self._backup,
            BackupRestored: self.backups.restored,
            HopReceived: self._landed,
            HopDropped: self._landed,
            ContentSuspended: self._suspended,
            ContentResumed: self._resumed,
        }

    def take(self, event: Event) -> None:
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)
        self.known.take(event)

    # --- asked by the invariants

    def began_again(self, store: str) -> bool:
        """Whether its present life is not its first: it was restored, or began as new on a backup too old (DL-4)."""
        return len(self._beginnings.get(store, ())) > 1

    def guids_of(self, store: str) -> frozenset[str]:
        """The GUIDs that it has, and had."""
        return frozenset(self._beginnings.get(store, ()))

    def setup(self, guid: str) -> bool:
        """Whether a GUID is the one under which the topology's folders were made: the only one that is no store's."""
        if guid in self.store_of:
            return False
        if self._setup is None:
            self._setup = guid
        return guid == self._setup

    def can_know(self, store: str, folder: str, fai: bool) -> dict[str, int]:
        """What the store can have accounted for: what mails and versions told it, and its own range since its present
        replica began (CN-6)."""
        known = dict(self._heard.get((store, folder, fai), bits.EMPTY))
        guid = self.guid_of.get(store, "")
        own = bits.span(self.began.get((store, folder), 0) + 1, self.highest.get((folder, fai), {}).get(guid, 0))
        if own:
            known[guid] = known.get(guid, 0) | own
        return known

    def beyond(self, numbers: bits.Bits, folder: str, fai: bool) -> dict[str, int]:
        """Of a set of the folder's numbers those that nobody can have: above the last change of their store there."""
        highest = self.highest.get((folder, fai), {})
        possible = {guid: bits.span(1, top) for guid, top in highest.items()}
        if folder == HIERARCHY and not fai:
            setup = bits.span(1, len(self.topology.folders))
            possible |= {guid: setup for guid in numbers if self.setup(guid)}
        return bits.minus(numbers, possible)

    def accounted(self, change: ChangeMade, kept: Mapping[str, str], *, has_tombstone: bool) -> bool:
        """Whether a store that keeps these versions of the change's object (or its tombstone) has what it made."""
        if (
            has_tombstone
            or change.object in self.forgotten
            or change.object in self.expired
            or change.number in kept
            or any(change.number in self.ancestors.get(each, ()) for each in kept)
        ):
            return True
        # Of concurrent versions of a folder or an associated message the last writer's alone is kept (HI-5, CN-9).
        return change.kind != "message" and any(self._outranks(each, change) for each in kept)

    def _outranks(self, number: str, change: ChangeMade) -> bool:
        other = self.changes.get(number)
        return other is not None and rank_of(other) > rank_of(change)

    def deletions(self, object_: str) -> list[ChangeMade]:
        return [each for each in self.of_object.get(object_, ()) if each.operation == "delete"]

    def may_be_a_hole(self, change: ChangeMade) -> bool:
        """A change that lost before it was ever sent goes with nobody, and its number closes like any hole (CN-6); so
        does one of an object whose tombstone was dropped (DL-4)."""
        if change.object in self.forgotten:
            return True
        deletions = self.deletions(change.object)
        if change.operation == "delete":
            return len(deletions) > 1
        if deletions:
            return True
        others = self.of_object[change.object]
        return change.kind != "message" and any(rank_of(each) > rank_of(change) for each in others)

    def was_suspended(self, store: str, folder: str, since_at: int) -> bool:
        """Whether the clocks of a folder's entries stood still at some time since then, or do now (RP-5)."""
        return folder != HIERARCHY and (store in self.suspended or self.resumed_at.get(store, since_at - 1) >= since_at)

    # --- words

    def words(self, numbers: bits.Bits) -> str:
        return bits.words(numbers, self.names.store_of)

    def shown(self, number: str) -> str:
        return self.names.number(number)

    def what(self, change: ChangeMade) -> str:
        """`A-3 (the edit of 'Hello' in Projects)`."""
        noun = {"create": "creation", "modify": "edit", "delete": "deletion"}[change.operation]
        return f"{self.shown(change.number)} (the {noun} of {self.names.what(change.folder, change.object)})"

    def folder(self, folder: str) -> str:
        return self.names.folder(folder)

    # --- taking

    def _started(self, event: NodeStarted) -> None:
        self.store_of[event.replica_guid] = event.node
        self.guid_of[event.node] = event.replica_guid
        self._beginnings.setdefault(event.node, set()).add(event.replica_guid)
        self.backups.started(event)
        if event.reason == "restored":  # it counts from 1 again, under its new GUID
            for key in [key for key in self.began if key[0] == event.node]:
                del self.began[key]

    def _backup(self, event: BackupMade) -> None:
        # Its own range comes back as that of an earlier GUID, of which it can know what it knew at the backup.
        for folder, fai in self.highest:
            known = self.can_know(event.store, folder, fai)
            if known:
                self._heard[event.store, folder, fai] = known
        self.backups.made(event)

    def _change(self, event: ChangeMade) -> None:
        if event.number in self.changes:
            return
        self.changes[event.number] = event
        found = set(event.supersedes)
        for each in event.supersedes:
            found |= self.ancestors.get(each, frozenset())
        self.ancestors[event.number] = frozenset(found)
        self.of_object.setdefault(event.object, []).append(event)
        self.of_folder.setdefault(event.folder, []).append(event)
        self.own_changes.setdefault((event.node, event.folder), []).append(event)
        guid, counter = bits.split(event.number)
        highest = self.highest.setdefault((event.folder, event.kind == "fai"), {})
        highest[guid] = max(counter, highest.get(guid, 0))
        self._counters[guid] = max(counter, self._counters.get(guid, 0))

    def _submitted(self, event: MailSubmitted) -> None:
        if event.mail is not None:
            self.mails.setdefault(event.mail, event)

    def _received(self, event: MailReceived) -> None:
        for section in event.folders:
            if section.expired or section.expired_fai:
                place = (event.node, section.folder, event.sender)
                said = (
                    self.reported_expired.get(place, bits.EMPTY),
                    bits.by_kind(section.expired, section.expired_fai),
                )
                self.reported_expired[place] = bits.union(said)
        if event.message_type in UPDATES:
            for section in event.folders:
                self._hear((event.node, section.folder, False), bits.parse(section.cnset))
                self._hear((event.node, section.folder, True), bits.parse(section.cnset_fai))

    def _version(self, event: VersionApplied | VersionIgnored) -> None:
        place = (event.node, event.folder, event.kind == "fai")
        for text in (event.stands_for, event.pcl):
            self._hear(place, bits.parse(text))
        bits.add_number(self._heard[place], event.number)

    def _hear(self, place: Place, numbers: bits.Bits) -> None:
        bits.add(self._heard.setdefault(place, {}), numbers)

    def _dropped(self, event: ReplicaDropped) -> None:
        self.own_changes.pop((event.node, event.folder), None)
        for fai in (False, True):
            self._heard.pop((event.node, event.folder, fai), None)
        for of_others in (self.reported_expired, self.rows):
            for key in [key for key in of_others if key[:2] == (event.node, event.folder)]:
                del of_others[key]

    def _added(self, event: ReplicaAdded) -> None:
        self.began[event.node, event.folder] = self._counters.get(self.guid_of.get(event.node, ""), 0)

    def _forgot(self, event: TombstoneDropped) -> None:
        self.forgotten.add(event.object)

    def _expires(self, event: ItemExpired) -> None:
        self.expired.add(event.object)
        self.expired_at.add((event.node, event.object))

    def _gone(self, event: ExpiredEverywhere) -> None:
        self._hear((event.node, event.folder, False), bits.parse(event.cnset))
        self._hear((event.node, event.folder, True), bits.parse(event.cnset_fai))

    def _row(self, event: RowReplaced) -> None:
        """Who claims no more what it called expired has another replica by now, or went back; it has not said so of that."""
        place = (event.node, event.folder, event.store)
        row = self.rows[place] = bits.by_kind(event.cnset, event.cnset_fai)
        said = self.reported_expired.get(place)
        if said is not None:
            self.reported_expired[place] = bits.common(said, row)

    def _asks(self, event: RequestSent) -> None:
        self.outstanding[event.node] += 1

    def _has_asked(self, event: RequestEnded) -> None:
        self.outstanding[event.node] -= 1

    def _suspended(self, event: ContentSuspended) -> None:
        self.suspended[event.node] = True

    def _resumed(self, event: ContentResumed) -> None:
        self.suspended.pop(event.node, None)
        self.resumed_at[event.node] = event.at

    def _landed(self, event: HopReceived | HopDropped) -> None:
        if event.mail is not None:
            self.landed.add((event.node, event.mail))


def rank_of(change: ChangeMade) -> tuple[int, bytes, int]:
    """Later is larger: time, then the raw bytes of the number's GUID, then its counter (CN-8)."""
    guid, counter = bits.split(change.number)
    return (change.modified_at, bytes.fromhex(guid), counter)


__all__ = ["HIERARCHY", "Facts", "rank_of"]
