"""The invariant of conflicts that nobody ended: since when each message is in conflict with each store is gathered from the
events, so who must end it, and when, is known without asking the store.
"""

from __future__ import annotations

from typing import NamedTuple

from pflab.invariants import Hears, Invariant, Witnesses
from pflab.invariants_facts import Facts
from traces.events import (
    ConflictAged,
    ConflictArose,
    ConflictEnded,
    ItemExpired,
    NodeStarted,
    ReplicaDropped,
    TombstoneMade,
)
from traces.labtime import LabTime, format_duration

Place = tuple[str, str, str]
"""A store, a folder and a message."""


class _Conflict(NamedTuple):
    since_at: LabTime
    winner: str


class OldConflictsEndAtHome(Invariant):
    id = "old conflicts end at home"
    rules = ("CF-5",)
    says = (
        "The home store, and no other, ends a conflict that is as old as its limit, not before and not later, and keeps the"
        " winner."
    )

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._limits_us = {name: server.settings.conflict_age_us for name, server in facts.topology.servers.items()}
        self._stands: dict[Place, _Conflict] = {}
        facts.backups.follow(self._stands)
        self._ended: dict[Place, tuple[str, _Conflict]] = {}
        """What a store's own last change ended: the change, and the conflict as it had stood."""

    def hears(self) -> Hears:
        return {
            ConflictArose: self._arose,
            ConflictEnded: self._ends,
            ConflictAged: self._aged,
            TombstoneMade: self._gone,
            ItemExpired: self._gone,
            ReplicaDropped: self._dropped,
            NodeStarted: self._started,
        }

    def _arose(self, event: ConflictArose) -> Witnesses:
        place = (event.node, event.folder, event.object)
        before = self._stands.get(place)
        self._stands[place] = _Conflict(event.at if before is None else before.since_at, event.winner)
        return iter(())

    def _ends(self, event: ConflictEnded) -> Witnesses:
        place = (event.node, event.folder, event.object)
        stood = self._stands.pop(place, None)
        if stood is not None:
            self._ended[place] = event.number, stood
        return iter(())

    def _aged(self, event: ConflictAged) -> Witnesses:
        place = (event.node, event.folder, event.object)
        what = f"the conflict of {self.facts.names.what(event.folder, event.object)}"
        home = self.facts.known.home(event.node, event.folder)
        if home != event.node:
            yield f"{event.node} ended {what} for its age, and the home store is {home}"
        number, stood = self._ended.pop(place, ("", None))
        limit_us = self._limits_us[event.node]
        if stood is None or number != event.number:
            yield f"{event.node} tells that it ended {what}, which did not stand"
        elif limit_us is None:
            yield f"{event.node} ended {what}, and lets conflicts last"
        elif event.at - stood.since_at < limit_us:
            yield f"{event.node} ended {what} after {format_duration(event.at - stood.since_at)}, before its time"
        elif event.winner != stood.winner:
            yield f"{event.node} ended {what} in favour of {self.facts.shown(event.winner)}, which was not shown"

    def on_rest(self, store: str, now: LabTime) -> Witnesses:
        limit_us = self._limits_us[store]
        if limit_us is None:
            return
        for place, stood in self._stands.items():
            if place[0] == store and now - stood.since_at > limit_us and self.facts.known.home(*place[:2]) == store:
                what = self.facts.names.what(*place[1:])
                yield f"{store} is home and left {what} in conflict for {format_duration(now - stood.since_at)}"

    def _gone(self, event: TombstoneMade | ItemExpired) -> Witnesses:
        self._stands.pop((event.node, event.folder, event.object), None)
        return iter(())

    def _dropped(self, event: ReplicaDropped) -> Witnesses:
        for place in [place for place in self._stands if place[:2] == (event.node, event.folder)]:
            del self._stands[place]
        return iter(())

    def _started(self, event: NodeStarted) -> Witnesses:
        # A restored store counts anew: what ended a conflict after the backup has to come back first (RP-4).
        if event.reason != "restart":
            for place in [place for place in self._stands if place[0] == event.node]:
                self._stands[place] = self._stands[place]._replace(since_at=event.at)
        return iter(())


CONFLICTS: tuple[type[Invariant], ...] = (OldConflictsEndAtHome,)
