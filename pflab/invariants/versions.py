"""Invariants of versions, of numbers and of the trace itself.

Versions: no version replaces a newer one, and no version waits for a folder that the store has. Numbers: change numbers, mail
numbers, sequence numbers of events, and clocks only increase.
"""

from __future__ import annotations

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.facts import rank_of
from pflab.invariants.invariant import ArrayReading, Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from traces.events import (
    ChangeMade,
    Event,
    HopReceived,
    HopSent,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    ReplicaDropped,
    TombstoneDropped,
    VersionApplied,
    VersionDropped,
    VersionFailed,
    VersionHeld,
    VersionIgnored,
)
from traces.labtime import format_instant


class NothingOlderReplaces(Invariant):
    id = "nothing older replaces"
    rules = ("CN-4", "IN-3", "HI-5", "CN-9")
    says = (
        "A store does not apply a version that one of its kept versions includes. The store also does not replace "
        "its version of a folder or an associated message with an earlier version."
    )

    def remember(self) -> None:
        self._replaced: dict[tuple[str, str], dict[str, frozenset[str]]] = self.facts.backups.follow({})
        self._latest: dict[tuple[str, str], dict[str, ChangeMade]] = self.facts.backups.follow({})

    @event_handler
    def _made(self, event: ChangeMade) -> None:
        self._keep(event.node, event)

    @event_handler
    def _applied(self, event: VersionApplied) -> Witnesses:
        change = self.facts.changes.get(event.number)
        if change is None:
            return
        place = (event.node, event.folder)
        if event.number in self._replaced.get(place, {}).get(event.object, ()):
            yield f"{event.node} applied {self.facts.what(change)}, but had a version that includes it"
        latest = self._latest.get(place, {}).get(event.object)
        # A deletion wins even if it is earlier (HI-6).
        if latest is not None and rank_of(change) < rank_of(latest) and change.operation != "delete":
            yield f"{event.node} applied {self.facts.what(change)} over {self.facts.shown(latest.number)}, which is later"
        self._keep(event.node, change)

    def _keep(self, store: str, change: ChangeMade) -> None:
        place = (store, change.folder)
        predecessors = self._replaced.setdefault(place, {})
        predecessors[change.object] = predecessors.get(change.object, frozenset()) | self.facts.ancestors[change.number]
        if change.kind != "message" and change.operation != "delete":
            self._latest.setdefault(place, {})[change.object] = change

    @event_handler
    def _tombstone_dropped(self, event: TombstoneDropped) -> None:
        self._replaced.get((event.node, event.folder), {}).pop(event.object, None)
        self._latest.get((event.node, event.folder), {}).pop(event.object, None)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        self._replaced.pop((event.node, event.folder), None)
        self._latest.pop((event.node, event.folder), None)


class HeldVersionsAreReleased(Invariant):
    id = "held versions are released"
    rules = ("HI-4",)
    says = (
        "If a folder's version needs another folder, it waits until the store has applied that folder, or "
        "until the time limit ends."
    )

    def remember(self) -> None:
        self._held_versions: dict[str, dict[str, VersionHeld]] = self.facts.backups.follow({})
        self._freed: dict[str, set[str]] = self.facts.backups.follow({})

    @event_handler
    def _waits(self, event: VersionHeld) -> None:
        self._held_versions.setdefault(event.node, {})[event.number] = event
        if self.facts.known.kept(event.node, event.waits_for) is not None:
            self._freed.setdefault(event.node, set()).add(event.waits_for)

    @event_handler
    def _applied(self, event: VersionApplied) -> None:
        held_versions = self._held_versions.get(event.node)
        if held_versions and event.kind == "folder":
            held_versions.pop(event.number, None)
            if any(held_version.waits_for == event.object for held_version in held_versions.values()):
                self._freed.setdefault(event.node, set()).add(event.object)

    @event_handler
    def _over(self, event: VersionIgnored | VersionDropped | VersionFailed) -> None:
        if event.number is not None:
            self._held_versions.get(event.node, {}).pop(event.number, None)

    @event_handler
    def _next(
        self, event: MailReceived | ChangeMade | HopReceived | HopSent | MailSubmitted | NodeStarted
    ) -> Witnesses:
        folders = self._freed.pop(event.node, None)
        for number, version in list(self._held_versions.get(event.node, {}).items()) if folders else ():
            if folders and version.waits_for in folders:
                del self._held_versions[event.node][number]
                yield f"{event.node} still holds {self._shown(version)}, although this folder has arrived"

    def on_array(self, reading: ArrayReading) -> Witnesses:
        for version in self._held_versions.get(reading.store, {}).values() if reading.quiet else ():
            if version.until_at < reading.now:
                text = f"although its time ended at {format_instant(version.until_at)}"
                yield f"{reading.store} still holds {self._shown(version)}, {text}"

    def _shown(self, version: VersionHeld) -> str:
        return f"{self.facts.shown(version.number)}, which waits for {self.facts.folder(version.waits_for)}"


VERSIONS: tuple[type[Invariant], ...] = (NothingOlderReplaces, HeldVersionsAreReleased)


class NumbersNeverReissued(Invariant):
    id = "numbers never reissued"
    rules = ("CN-1", "CN-2")
    says = "Each change takes the next number of its store, under the store's present GUID."

    def remember(self) -> None:
        self._last: dict[str, int] = {}
        self._numbers: set[str] = set()
        self._objects: set[str] = set()

    @event_handler
    def _made(self, event: ChangeMade) -> Witnesses:
        guid, counter = bits.split(event.number)
        last = self._last.get(guid)
        self._last[guid] = counter
        number = self.facts.shown(event.number)
        if guid != self.facts.guid_of.get(event.node):
            yield f"{event.node} gave a change the number {number}, which does not have its own GUID"
        if event.number in self._numbers:
            yield f"{event.node} gave a change the number {number}, which it had given before"
        elif last is not None and counter != last + 1:
            yield f"{event.node} gave a change the number {number} directly after {last}"
        self._numbers.add(event.number)
        if event.operation == "create":
            if event.object in self._objects:
                yield f"{event.node} created object {event.object} by {number}, but this object id was already given"
            self._objects.add(event.object)


class LaterThanWhatItReplaces(Invariant):
    id = "later than what it replaces"
    rules = ("CN-8",)
    says = "A new version has a later modification time than every version that it includes."

    @event_handler
    def _made(self, event: ChangeMade) -> Witnesses:
        for number in event.supersedes:
            predecessor = self.facts.changes.get(number)
            if predecessor is not None and event.modified_at <= predecessor.modified_at:
                old = f"{self.facts.shown(number)} of {format_instant(predecessor.modified_at)}"
                yield f"{self.facts.what(event)} has the time {format_instant(event.modified_at)}, but replaces {old}"


class EventsWithoutGaps(Invariant):
    id = "events without gaps"
    rules = ("OUT-9",)
    says = "The events of a node are numbered from 1 without gaps, also across restarts."

    def remember(self) -> None:
        self._last: dict[str, int] = {}

    @event_handler
    def _any(self, event: Event) -> Witnesses:
        last = self._last.get(event.node, 0)
        self._last[event.node] = event.seq
        if event.seq != last + 1:
            yield f"event {event.seq} of {event.node} ({_tag(event)}) directly follows event {last}"


class TimeGoesForward(Invariant):
    id = "time goes forward"
    rules = ("TM-1",)
    says = "The lab time and the Lamport number of a node's events never go back."

    def remember(self) -> None:
        self._last: dict[str, tuple[int, int]] = {}

    @event_handler
    def _any(self, event: Event) -> Witnesses:
        at, lamport = self._last.get(event.node, (event.at, 0))
        self._last[event.node] = (event.at, event.lamport)
        if event.at < at:
            subject = f"event {event.seq} of {event.node} is of {format_instant(event.at)}"
            yield f"{subject}, but the event before is of {format_instant(at)}"
        if event.lamport <= lamport:
            yield f"event {event.seq} of {event.node} has Lamport number {event.lamport}, but the event before has {lamport}"


class MailNumbersGrow(Invariant):
    id = "mail numbers grow"
    rules = ("RST-4",)
    says = "Each replication mail of a store has a higher number than the one before, and its own id."

    def remember(self) -> None:
        self._last: dict[str, int] = {}
        self._ids: set[str] = set()

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        if event.reason != "restart":
            self._last.pop(event.node, None)  # a restore takes mail numbers back, but not times

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        last = self._last.get(event.node, 0)
        self._last[event.node] = event.number
        if event.number <= last:
            yield f"{event.node} sent mail number {event.number} after mail number {last}"
        if event.mail in self._ids:
            yield f"{event.node} sent a second mail with the id {event.mail}"
        self._ids.add(event.mail or "")


def _tag(event: Event) -> str:
    return str(event.__struct_config__.tag)


NUMBERING: tuple[type[Invariant], ...] = (
    NumbersNeverReissued,
    LaterThanWhatItReplaces,
    EventsWithoutGaps,
    TimeGoesForward,
    MailNumbersGrow,
)
