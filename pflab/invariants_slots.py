"""Invariants of the slots of backfill requests: not more than the limit, the longest due first, none kept free (BF-6)."""

from __future__ import annotations

from pflab.invariants import ArrayReading, Hears, Invariant, Witnesses
from pflab.invariants_facts import HIERARCHY, Facts
from traces.events import (
    ContentResumed,
    EntryPruned,
    EntrySatisfied,
    EntryTimedOut,
    NodeStarted,
    ReplicaDropped,
    RequestDeferred,
    RequestSent,
    SourcesConsidered,
)
from traces.labtime import LabTime


class RequestsWithinTheLimit(Invariant):
    id = "requests within the limit"
    rules = ("BF-6",)
    says = "A store has never more backfill requests outstanding than its limit."

    def hears(self) -> Hears:
        return {RequestSent: self._sent}

    def _sent(self, event: RequestSent) -> Witnesses:
        out, limit = self.facts.outstanding[event.node], _limit(self.facts, event.node)
        if out > limit:
            yield f"{event.node} has {out} requests outstanding, its limit is {limit}"


class SlotsGoToTheLongestDue(Invariant):
    """What the array showed when it was last read, and what has happened since, say who waits at the least and at the most."""

    id = "slots go to the longest due"
    rules = ("BF-6", "RP-5")
    says = (
        "A request takes no slot that an entry longer due is waiting for, and waits for none while one is free; content that"
        " stands still takes none."
    )

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._due_at: dict[str, dict[int, LabTime]] = {}
        self._asked: set[tuple[str, int]] = set()
        """Entries that were asked for since their due time was known: it is another when the round is over."""
        self._surely: dict[str, dict[int, str]] = {}
        """Store to the entries that wait for a slot, and their folders."""
        self._perhaps: dict[str, dict[int, str]] = {}

    def hears(self) -> Hears:
        return {
            RequestSent: self._sent,
            RequestDeferred: self._deferred,
            EntryTimedOut: self._timed_out,
            SourcesConsidered: self._considered,
            EntrySatisfied: self._gone,
            EntryPruned: self._gone,
            ReplicaDropped: self._dropped,
            NodeStarted: self._unknown,
            ContentResumed: self._unknown,
        }

    def on_array(self, reading: ArrayReading) -> Witnesses:
        waiting = {each.id: each.folder for each in reading.entries if each.waiting_for_slot}
        self._due_at[reading.store] = {each.id: each.due_at for each in reading.entries}
        self._surely[reading.store], self._perhaps[reading.store] = waiting, dict(waiting)
        self._asked -= {place for place in self._asked if place[0] == reading.store}
        return iter(())

    def _unknown(self, event: NodeStarted | ContentResumed) -> Witnesses:
        """What was due while it did not run was so before it says so; its array may be that of a backup. What stood still is
        due later by as much."""
        for known in (self._due_at, self._surely, self._perhaps):
            known.pop(event.node, None)
        return iter(())

    def _timed_out(self, event: EntryTimedOut) -> Witnesses:
        place = (event.node, event.entry)
        due_at = self._due_at.get(event.node, {})
        before = event.at if place in self._asked else due_at.get(event.entry)
        self._asked.discard(place)
        if before is not None and event.node in self._due_at:
            due_at[event.entry] = min(before, event.at)
        return iter(())

    def _considered(self, event: SourcesConsidered) -> Witnesses:
        if (event.node, event.entry) in self._asked:
            self._due_at.get(event.node, {}).pop(event.entry, None)
        return self._gone(event)

    def _gone(self, event: SourcesConsidered | EntrySatisfied | EntryPruned) -> Witnesses:
        self._surely.get(event.node, {}).pop(event.entry, None)
        return iter(())

    def _dropped(self, event: ReplicaDropped) -> Witnesses:
        waiting = self._surely.get(event.node, {})
        for entry in [entry for entry, folder in waiting.items() if folder == event.folder]:
            del waiting[entry]
        return iter(())

    def _sent(self, event: RequestSent) -> Witnesses:
        due_at = self._due_at.get(event.node, {})
        own = due_at.get(event.entry)
        first = [
            entry
            for entry in self._queue(event, self._surely)
            if own is not None and (due_at[entry], entry) < (own, event.entry)
        ]
        if first and self.facts.outstanding[event.node] + len(first) > _limit(self.facts, event.node):
            yield f"{event.node} asks for its entry {event.entry}, and entry {first[0]}, longer due, waits for the slot"
        self._perhaps.get(event.node, {}).pop(event.entry, None)
        self._asked.add((event.node, event.entry))

    def _deferred(self, event: RequestDeferred) -> Witnesses:
        known = event.node in self._perhaps
        others = len(self._queue(event, self._perhaps))
        out, limit = self.facts.outstanding[event.node], _limit(self.facts, event.node)
        if known and out + others < limit:
            slots = f"{out} are out, {others} wait and the limit is {limit}"
            yield f"{event.node} lets its entry {event.entry} wait for a slot, and one is free: {slots}"
        if known:
            self._perhaps[event.node][event.entry] = event.folder
            if event.entry in self._due_at[event.node] and (event.node, event.entry) not in self._asked:
                self._surely[event.node][event.entry] = event.folder

    def _queue(self, event: RequestSent | RequestDeferred, known: dict[str, dict[int, str]]) -> list[int]:
        """The other entries that wait for a slot and may have one."""
        still = event.node in self.facts.stands_still
        waiting = known.get(event.node, {}).items()
        return [entry for entry, folder in waiting if entry != event.entry and not (still and folder != HIERARCHY)]


def _limit(facts: Facts, store: str) -> int:
    return facts.topology.servers[store].settings.outstanding_backfill_limit


SLOTS: tuple[type[Invariant], ...] = (RequestsWithinTheLimit, SlotsGoToTheLongestDue)
