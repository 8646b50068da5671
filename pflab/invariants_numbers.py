"""Invariants of numbering and of the trace itself: change numbers, mail numbers, sequence numbers, clocks."""

from __future__ import annotations

from pflab import invariants_sets as bits
from pflab.invariants import Hears, Invariant, Witnesses
from pflab.invariants_facts import Facts
from traces.events import ChangeMade, Event, MailSubmitted, NodeStarted
from traces.labtime import format_instant


class NumbersNeverReissued(Invariant):
    id = "numbers never reissued"
    rules = ("CN-1", "CN-2")
    says = "A store's change counter only grows, and each change has a number under the store's present GUID."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._last: dict[str, tuple[int, int]] = {}
        self._given: set[str] = set()
        self._objects: set[str] = set()

    def hears(self) -> Hears:
        return {ChangeMade: self._made}

    def _made(self, event: ChangeMade) -> Witnesses:
        guid, counter = bits.split(event.number)
        last, last_at = self._last.get(guid, (0, 0))
        self._last[guid] = (max(last, counter), event.at)
        shown = self.facts.shown(event.number)
        if guid != self.facts.guid_of.get(event.node):
            yield f"{event.node} gave a change the number {shown}, which is not of its own GUID"
        if event.number in self._given:
            yield f"{event.node} gave a change the number {shown}, which it had given before"
        elif counter < last and event.at > last_at:  # changes of one stimulus are told in any order
            yield f"{event.node} gave a change the number {shown} after it had given {last}"
        self._given.add(event.number)
        if event.operation == "create":
            if event.object in self._objects:
                yield f"{event.node} created object {event.object} with {shown}, an id that was given before"
            self._objects.add(event.object)


class LaterThanWhatItReplaces(Invariant):
    id = "later than what it replaces"
    rules = ("CN-8",)
    says = "A new version's modification time is later than those of all versions that it incorporates."

    def hears(self) -> Hears:
        return {ChangeMade: self._made}

    def _made(self, event: ChangeMade) -> Witnesses:
        for number in event.supersedes:
            replaced = self.facts.changes.get(number)
            if replaced is not None and event.modified_at <= replaced.modified_at:
                mine, theirs = format_instant(event.modified_at), format_instant(replaced.modified_at)
                yield f"{self.facts.what(event)} is of {mine}, {self.facts.shown(number)}, which it replaces, of {theirs}"


class EventsWithoutGaps(Invariant):
    id = "events without gaps"
    rules = ("OUT-9",)
    says = "The events of a node are numbered from 1 without gaps, across its starts."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._last: dict[str, int] = {}

    def hears(self) -> Hears:
        return {Event: self._any}

    def _any(self, event: Event) -> Witnesses:
        last = self._last.get(event.node, 0)
        self._last[event.node] = event.seq
        if event.seq != last + 1:
            yield f"event {event.seq} of {event.node} ({_tag(event)}) follows its event {last}"


class TimeGoesForward(Invariant):
    id = "time goes forward"
    rules = ("TM-1",)
    says = "Neither the lab time nor the Lamport number of a node's events ever goes back."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._last: dict[str, tuple[int, int]] = {}

    def hears(self) -> Hears:
        return {Event: self._any}

    def _any(self, event: Event) -> Witnesses:
        at, lamport = self._last.get(event.node, (event.at, 0))
        self._last[event.node] = (event.at, event.lamport)
        if event.at < at:
            yield f"event {event.seq} of {event.node} is of {format_instant(event.at)}, the one before of {format_instant(at)}"
        if event.lamport <= lamport:
            yield f"event {event.seq} of {event.node} has Lamport number {event.lamport}, the one before {lamport}"


class MailNumbersGrow(Invariant):
    id = "mail numbers grow"
    rules = ("RST-4",)
    says = "Each replication mail of a store has a higher number than the one before, and an id of its own."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._last: dict[str, int] = {}
        self._ids: set[str] = set()

    def hears(self) -> Hears:
        return {MailSubmitted: self._submitted, NodeStarted: self._started}

    def _started(self, event: NodeStarted) -> Witnesses:
        if event.reason != "restart":
            self._last.pop(event.node, None)  # the number goes back with the backup; the time of sending does not
        return iter(())

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
