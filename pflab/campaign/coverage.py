"""Count which branches (cases) of the rules a lab has reached. Events show most of them, the state of the stores the others.

A campaign reports the branches that no seed reached, because it did not test them. If there are any, a long campaign fails.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.facts import Facts
from pflab.invariants.invariant import FolderReading
from pflab.terms.event_handlers import event_handler, event_taker_of
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import UPDATES, MailKind, Mark
from topology.enums import ResolveMethod
from traces import events as ev
from traces.events import Event

_REPEATS: Mapping[int, str] = {
    MailKind.STATUS: "status repeat",
    MailKind.STATUS_REQUEST: "status request repeat",
}
_SUFFIX = re.compile(r" \(\d+\)$")
_OLDEST_REPLICA = 7
"""The number that events give to the responder with the oldest replica, as if a seventh step had listed it (spec: ST-4)."""

BRANCHES: tuple[str, ...] = (
    "conflict",
    "two saves of one version",
    "conflict notice sent",
    "conflict ended",
    "conflict where the last writer wins",
    "conflict without notification",
    "old conflict ended",
    "conflict of associated messages",
    "lost edit notice sent",
    "tombstone",
    "tombstone hit",
    "duplicate ignored",
    "old version ignored",
    "held version",
    "held expired",
    "held applied",
    "content for no replica",
    "folder hidden",
    "folder cycle cut",
    "name suffix",
    "replica added",
    "replica pending",
    "replica dropped",
    "replica back",
    "left with something unsent",
    "new store",
    "new store holds",
    "restored from backup",
    "restored on another server",
    "began as new",
    "loss reported",
    "absence longer than a tombstone",
    "tombstone dropped",
    "backfill entry",
    "entry pruned",
    "hierarchy by backfill",
    "content by backfill",
    "retry of an entry",
    "several sources asked",
    "source marked down",
    "source up again",
    "request limit reached",
    "answer in several mails",
    "empty answer",
    "store without an address",
    "mail not addressed",
    "object without a tree",
    "mail without a tree",
    "status sent",
    "status missed",
    "status repeat",
    "status request repeat",
    "mail received twice",
    "reordered row not replaced",
    "mail lost",
    "hop failed",
    "mail expired",
    "mail deleted from a queue",
    "queue or mail frozen",
    "queue or mail unfrozen",
    "link down",
    "link up again",
    "mail routed around a link",
    "mail without a route",
    "connector added",
    "connector changed",
    "connector removed",
    "mail sent over an added connector",
    "site added",
    "server added",
    "recipient policy added",
    "recipient policy changed",
    "recipient policy removed",
    "added server joined",
    "server removed",
    "server of a removed one's name added",
    "change of the organization read at a start",
    "bad mail",
    "crash",
    "content suspended",
    "content resumed",
    "request refused while suspended",
    "store deleted",
    "store deleted with what it held",
    "store created again",
    # Branches that exist only in one server version:
    "two holders asked",
    "a new replica of 5.5 asks at once",
    "a 5.5 replica dropped at midnight",
    "six groups: the first that has all",
    "six groups: parts one at a time",
    "six groups: a near older server passed over",
    "sorted list: the cheapest asked before a newer",
    "preferred source asked",
    "six steps list responders",
    "the oldest replica listed",
    "item expired",
    "expired at every holder",
    "changes sent again",
    "status requested by order",
)
"""The branches that a long campaign must reach."""

OPTIONAL: tuple[str, ...] = ("no source had all", "folder shown again", "deletion learned at its start")
"""Rare branches: they are counted, but a campaign that misses one does not report it."""


class BranchCounter:
    """Counts the branches of one lab."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.counts: Counter[str] = Counter()
        self._received: set[tuple[str, str]] = set()
        self._rows: dict[tuple[str, str, str], int] = {}
        self._hidden: set[tuple[str, str]] = set()
        self._started_at: dict[str, int] = {}
        self._deleted: set[str] = set()
        self._added: set[str] = set()
        self._removed: set[str] = set()
        self._dropped: set[tuple[str, str]] = set()
        self._held_folders: dict[tuple[str, str], bool] = {}
        self._best: dict[tuple[str, int], int] = {}
        self._requests: dict[tuple[str, int], dict[str, int]] = {}
        self._last_at: dict[str, int] = {}
        self._broadcast_at: dict[tuple[str, str], int] = {}
        self._take = event_taker_of(self)

    def event(self, event: Event) -> None:
        branch = _BY_EVENT.get(type(event))
        if branch is not None:
            self.counts[branch] += 1
        self._take(event)
        self._last_at[event.node] = event.at

    def folder(self, reading: FolderReading) -> None:
        """Count name suffixes and cycles in the folder tree of a store, because no event reports them."""
        if reading.folder != HIERARCHY:
            self._held_folders.setdefault((reading.store, reading.folder), reading.knowledge.holds)
            return
        titles = {object_: self._change_of(versions) for object_, versions in reading.knowledge.versions.items()}
        for view in reading.tree:
            change = titles.get(view.id)
            if change is not None and _SUFFIX.search(view.path) and not view.path.endswith(change.subject):
                self.counts["name suffix"] += 1
        parents = {object_: change.parent for object_, change in titles.items() if change is not None}
        if any(_in_a_cycle(object_, parents) for object_ in parents):
            self.counts["folder cycle cut"] += 1

    def _change_of(self, versions: tuple[tuple[str, str], ...]) -> ev.ChangeMade | None:
        return self._facts.changes.get(versions[0][0]) if versions else None

    def _shortest_tombstone_age_us(self) -> int:
        return min(server.settings.tombstone_age_us for server in self._facts.topology.servers.values())

    def _version_of(self, store: str) -> str:
        return str(self._facts.topology.servers[store].version)

    # --- versions

    @event_handler
    def _ignored(self, event: ev.VersionIgnored) -> None:
        branch = _IGNORED.get(event.reason)
        if branch is not None:
            self.counts[branch] += 1
        if event.reason == "old" and event.kind == "fai":
            self.counts["conflict of associated messages"] += 1

    @event_handler
    def _saved(self, event: ev.ChangeMade) -> None:
        self.counts["two saves of one version"] += bool(event.rivals)

    @event_handler
    def _applied(self, event: ev.VersionApplied) -> None:
        if event.way == "backfill":
            self.counts["hierarchy by backfill" if event.kind == "folder" else "content by backfill"] += 1
        elif event.way == "queue":
            self.counts["held applied"] += 1

    @event_handler
    def _conflict(self, event: ev.ConflictArose) -> None:
        branch = _RESOLVED.get(self._facts.known.resolve(event.node, event.folder))
        if branch is not None:
            self.counts[branch] += 1

    @event_handler
    def _notice(self, event: ev.ConflictNotice) -> None:
        self.counts["conflict notice sent" if len(event.versions) > 1 else "lost edit notice sent"] += 1

    # --- backfill

    @event_handler
    def _timed_out(self, event: ev.EntryTimedOut) -> None:
        if event.attempt > 1:
            self.counts["retry of an entry"] += 1

    @event_handler
    def _sources(self, event: ev.SourcesConsidered) -> None:
        if len(event.chosen) > 1:
            self.counts["several sources asked"] += 1
        key = (event.node, event.entry)
        self._best[key] = max((candidate.has for candidate in event.candidates), default=0)
        self._requests[key] = {}
        chosen = [candidate for candidate in event.candidates if candidate.store in event.chosen]
        if any(candidate.preferred for candidate in chosen):
            self.counts["preferred source asked"] += 1
        if event.method == "two holders" and len(chosen) > 1:
            self.counts["two holders asked"] += 1
        elif event.method == "six groups" and chosen:
            self.counts[
                "six groups: parts one at a time" if event.one_by_one else "six groups: the first that has all"
            ] += 1
            near_older = any(
                candidate.near and candidate.version == "5.5" and candidate.has_all for candidate in event.candidates
            )
            if near_older and not chosen[0].near:
                self.counts["six groups: a near older server passed over"] += 1
        elif event.method == "sorted list" and chosen:
            newer = any(candidate.has and candidate.version > chosen[0].version for candidate in event.candidates)
            if newer and chosen[0].near:
                self.counts["sorted list: the cheapest asked before a newer"] += 1

    @event_handler
    def _entry(self, event: ev.EntryMade) -> None:
        if event.due_at == event.at and self._version_of(event.node) == "5.5":
            self.counts["a new replica of 5.5 asks at once"] += 1

    @event_handler
    def _responders(self, event: ev.RespondersConsidered) -> None:
        if event.method == "six steps":
            self.counts["six steps list responders"] += 1
            if any(candidate.group == _OLDEST_REPLICA for candidate in event.candidates):
                self.counts["the oldest replica listed"] += 1

    @event_handler
    def _request(self, event: ev.RequestSent) -> None:
        key = (event.node, event.entry)
        numbers = self._requests.setdefault(key, {})
        bits.add(numbers, bits.by_kind(event.cnset, event.cnset_fai))
        if sum(mask.bit_count() for mask in numbers.values()) > self._best.get(key, 0):
            self.counts["no source had all"] += 1

    @event_handler
    def _answered(self, event: ev.RequestAnswered) -> None:
        if event.mails > 1:
            self.counts["answer in several mails"] += 1
        if not event.cnset:
            self.counts["empty answer"] += 1

    # --- mail

    @event_handler
    def _submitted(self, event: ev.MailSubmitted) -> None:
        if event.message_type == MailKind.CONTENT:
            for section in event.folders:
                self._broadcast_at[event.node, section.folder] = event.at
        if Mark.REPEAT in event.marks:
            branch = _REPEATS.get(event.message_type)
            if branch is not None:
                self.counts[branch] += 1

    @event_handler
    def _mail(self, event: ev.MailReceived) -> None:
        key = (event.node, event.mail or "")
        if key in self._received:
            self.counts["mail received twice"] += 1
        self._received.add(key)
        for section in event.folders:
            if self._rows.get((event.node, section.folder, event.sender), 0) > event.number:
                self.counts["reordered row not replaced"] += 1
            content = event.message_type in UPDATES and section.folder != HIERARCHY and section.cnset
            if content and not self._held_folders.get((event.node, section.folder), False):
                self.counts["content for no replica"] += 1

    @event_handler
    def _row(self, event: ev.RowReplaced) -> None:
        self._rows[event.node, event.folder, event.store] = event.sent_number

    @event_handler
    def _link_down(self, event: ev.LinkDown) -> None:
        if event.avoided:
            self.counts["mail routed around a link"] += 1

    # --- the organization

    @event_handler
    def _restored_elsewhere(self, event: ev.BackupElsewhere) -> None:
        self.counts["restored on another server"] += 1

    @event_handler
    def _reorganized(self, event: ev.OrganizationChanged) -> None:
        kind, _, name = event.subject.partition(" ")
        self.counts[f"{kind} {event.change}"] += 1
        if event.removed_server is not None:
            self._removed.add(name)
        if event.added_server in self._removed:
            self.counts["server of a removed one's name added"] += 1
        if event.change == "added":
            self._added.add(f"{kind} {name}")

    @event_handler
    def _policies(self, event: ev.RecipientPolicy) -> None:
        if event.policy:
            self.counts[f"recipient policy {event.change}"] += 1

    @event_handler
    def _organization(self, event: ev.OrganizationRead) -> None:
        if self._started_at.get(event.node) == event.at:
            self.counts["change of the organization read at a start"] += 1

    @event_handler
    def _hop_failed(self, event: ev.HopFailed) -> None:
        if not event.next_hop:
            self.counts["mail without a route"] += 1

    @event_handler
    def _hop_sent(self, event: ev.HopSent) -> None:
        if f"connector {event.connector}" in self._added:
            self.counts["mail sent over an added connector"] += 1

    # --- stores and folders

    @event_handler
    def _store_deleted(self, event: ev.StoreDeleted) -> None:
        if event.forced:
            self.counts["store deleted with what it held"] += 1
        if self._started_at.get(event.node) == event.at and event.store in self._deleted:
            self.counts["deletion learned at its start"] += 1
        self._deleted.add(event.store)

    @event_handler
    def _node(self, event: ev.NodeStarted) -> None:
        self._started_at[event.node] = event.at
        if event.at - self._last_at.get(event.node, event.at) > self._shortest_tombstone_age_us():
            self.counts["absence longer than a tombstone"] += 1
        if event.reason == "restart":
            self.counts["crash"] += 1
        elif event.reason == "restored":
            self.counts["restored from backup"] += 1
        elif self._facts.began_again(event.node):
            self.counts["began as new"] += 1
        elif event.reason == "first" and self._facts.topology.servers[event.node].joins_later:
            self.counts["new store"] += 1
            if f"server {event.node}" in self._added:
                self.counts["added server joined"] += 1

    @event_handler
    def _replica(self, event: ev.ReplicaAdded | ev.ReplicaDropped) -> None:
        added, place = isinstance(event, ev.ReplicaAdded), (event.node, event.folder)
        if added and place in self._dropped:
            self.counts["replica back"] += 1
        if added and self._facts.topology.servers[event.node].joins_later:
            self.counts["new store holds"] += 1
        if not added:
            self._dropped.add(place)
            if self._version_of(event.node) == "5.5":
                self.counts["a 5.5 replica dropped at midnight"] += 1
        self._held_folders[place] = added

    @event_handler
    def _leaves(self, event: ev.ReplicaPending) -> None:
        if self._broadcast_at.get((event.node, event.folder)) == event.at:
            self.counts["left with something unsent"] += 1

    @event_handler
    def _folder_hidden(self, event: ev.FolderHidden) -> None:
        self._hidden.add((event.node, event.folder))

    @event_handler
    def _folder_shown(self, event: ev.FolderShown) -> None:
        if (event.node, event.folder) in self._hidden:
            self.counts["folder shown again"] += 1


def _in_a_cycle(start: str, parents: Mapping[str, str | None]) -> bool:
    at, steps = parents.get(start), 0
    while at is not None and at in parents and at != start and steps <= len(parents):
        at, steps = parents[at], steps + 1
    return at == start


_BY_EVENT: Mapping[type[Event], str] = {
    ev.ConflictArose: "conflict",
    ev.ConflictAged: "old conflict ended",
    ev.ConflictEnded: "conflict ended",
    ev.TombstoneMade: "tombstone",
    ev.TombstoneDropped: "tombstone dropped",
    ev.VersionHeld: "held version",
    ev.VersionDropped: "held expired",
    ev.FolderHidden: "folder hidden",
    ev.FolderMoved: "folder moved",
    ev.ReplicaAdded: "replica added",
    ev.ReplicaDropped: "replica dropped",
    ev.ReplicaPending: "replica pending",
    ev.Loss: "loss reported",
    ev.EntryMade: "backfill entry",
    ev.EntryPruned: "entry pruned",
    ev.SourceDown: "source marked down",
    ev.SourceUp: "source up again",
    ev.RequestDeferred: "request limit reached",
    ev.StatusDue: "status sent",
    ev.StatusMissed: "status missed",
    ev.HopDropped: "mail lost",
    ev.HopFailed: "hop failed",
    ev.HopExpired: "mail expired",
    ev.HopDeleted: "mail deleted from a queue",
    ev.QueueFrozen: "queue or mail frozen",
    ev.QueueUnfrozen: "queue or mail unfrozen",
    ev.AddressMissing: "store without an address",
    ev.AddressLacking: "mail not addressed",
    ev.TreeLinked: "object without a tree",
    ev.TreeLacking: "mail without a tree",
    ev.LinkDown: "link down",
    ev.LinkUp: "link up again",
    ev.MailBad: "bad mail",
    ev.ContentSuspended: "content suspended",
    ev.ContentResumed: "content resumed",
    ev.RequestRefused: "request refused while suspended",
    ev.StoreDeleted: "store deleted",
    ev.StoreCreated: "store created again",
    ev.ItemExpired: "item expired",
    ev.ExpiredEverywhere: "expired at every holder",
    ev.ChangesResent: "changes sent again",
    ev.StatusOrdered: "status requested by order",
}

_RESOLVED: Mapping[ResolveMethod, str] = {
    ResolveMethod.LAST_WRITER_WINS: "conflict where the last writer wins",
    ResolveMethod.NO_NOTIFICATION: "conflict without notification",
}

_IGNORED: Mapping[str, str] = {
    "old": "old version ignored",
    "duplicate": "duplicate ignored",
    "tombstoned": "tombstone hit",
}
