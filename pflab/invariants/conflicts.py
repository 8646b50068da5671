"""The invariant of conflicts that nobody ended: since when each message is in conflict with each store is gathered from the
events, so who must end it, and when, is known without asking the store.

Invariants of what the contacts are told: which versions each store keeps of a message is gathered from the events, so
who must tell of what, and when, is known without asking the store.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.facts import Facts
from pflab.invariants.invariant import Handlers, Invariant, Witnesses
from topology import ResolveMethod
from traces.events import (
    ChangeMade,
    ConflictAged,
    ConflictArose,
    ConflictEnded,
    ConflictNotice,
    ItemExpired,
    NodeStarted,
    ReplicaDropped,
    TombstoneMade,
    VersionApplied,
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
    says = "The home store, and no other, ends a conflict exactly when it reaches its age limit, and keeps the winner."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._limits_us = {name: server.settings.conflict_age_us for name, server in facts.topology.servers.items()}
        self._conflicts: dict[Place, _Conflict] = {}
        facts.backups.follow(self._conflicts)
        self._ended: dict[Place, tuple[str, _Conflict]] = {}
        """What a store's own last change ended: the change, and the conflict as it had conflict."""

    def handlers(self) -> Handlers:
        return {
            ConflictArose: self._arose,
            ConflictEnded: self._ends,
            ConflictAged: self._aged,
            TombstoneMade: self._gone,
            ItemExpired: self._gone,
            ReplicaDropped: self._dropped,
            NodeStarted: self._started,
        }

    def _arose(self, event: ConflictArose) -> None:
        place = (event.node, event.folder, event.object)
        before = self._conflicts.get(place)
        self._conflicts[place] = _Conflict(event.at if before is None else before.since_at, event.winner)

    def _ends(self, event: ConflictEnded) -> None:
        place = (event.node, event.folder, event.object)
        conflict = self._conflicts.pop(place, None)
        if conflict is not None:
            self._ended[place] = event.number, conflict

    def _aged(self, event: ConflictAged) -> Witnesses:
        place = (event.node, event.folder, event.object)
        what = f"the conflict of {self.facts.names.what(event.folder, event.object)}"
        home = self.facts.known.home(event.node, event.folder)
        if home != event.node:
            yield f"{event.node} ended {what} for its age, and the home store is {home}"
        number, conflict = self._ended.pop(place, ("", None))
        limit_us = self._limits_us[event.node]
        if conflict is None or number != event.number:
            yield f"{event.node} tells that it ended {what}, which did not stand"
        elif limit_us is None:
            yield f"{event.node} ended {what}, and lets conflicts last"
        elif event.at - conflict.since_at < limit_us:
            yield f"{event.node} ended {what} after {format_duration(event.at - conflict.since_at)}, before its time"
        elif event.winner != conflict.winner:
            yield f"{event.node} ended {what} in favour of {self.facts.shown(event.winner)}, which was not shown"

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        limit_us = self._limits_us[store]
        if limit_us is None:
            return
        for place, conflict in self._conflicts.items():
            if place[0] == store and now - conflict.since_at > limit_us and self.facts.known.home(*place[:2]) == store:
                what = self.facts.names.what(*place[1:])
                yield f"{store} is home and left {what} in conflict for {format_duration(now - conflict.since_at)}"

    def _gone(self, event: TombstoneMade | ItemExpired) -> None:
        self._conflicts.pop((event.node, event.folder, event.object), None)

    def _dropped(self, event: ReplicaDropped) -> None:
        for place in [place for place in self._conflicts if place[:2] == (event.node, event.folder)]:
            del self._conflicts[place]

    def _started(self, event: NodeStarted) -> None:
        # A restored store counts anew: what ended a conflict after the backup has to come back first (RP-4).
        if event.reason != "restart":
            for place in [place for place in self._conflicts if place[0] == event.node]:
                self._conflicts[place] = self._conflicts[place]._replace(since_at=event.at)


CONFLICTS: tuple[type[Invariant], ...] = (OldConflictsEndAtHome,)

"""A store, a folder and a message."""


class ContactsAreNotified(Invariant):
    id = "contacts are notified"
    rules = ("CF-2", "CF-4", "DL-2")
    says = (
        "The home store, and no other, sends notices: of each version that joins a conflict, if the folder's "
        "resolve method allows it, and of each edit that loses to a delete."
    )

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._kept: dict[Place, set[str]] = {}
        facts.backups.follow(self._kept)
        self._joined: Counter[Place] = Counter()
        """How many versions came to be beside others, and were not told of yet."""
        self._lost_edits: dict[str, dict[str, Place]] = {}
        """By store the edits that a deletion ended, and that were not told of yet."""

    def handlers(self) -> Handlers:
        return {
            ChangeMade: self._made,
            VersionApplied: self._applied,
            ConflictNotice: self._notice,
            ReplicaDropped: self._dropped,
            NodeStarted: self._started,
        }

    def _made(self, event: ChangeMade) -> None:
        self._keep(event, deleted=event.operation == "delete")

    def _applied(self, event: VersionApplied) -> Witnesses:
        if event.kind != "message":
            return
        beside = self._keep(event, deleted=event.deleted)
        place = (event.node, event.folder, event.object)
        if not beside or not self._is_home(event.node, event.folder):
            return
        if event.deleted:
            self._lost_edits.setdefault(event.node, {}).update(dict.fromkeys(sorted(beside), place))
        elif self.facts.known.resolve(event.node, event.folder) is ResolveMethod.DEFAULT:
            self._joined[place] += 1
        yield from ()

    def _keep(self, event: ChangeMade | VersionApplied, *, deleted: bool) -> set[str]:
        """What else is kept of the message, or was until a deletion ended it, and that this version does not replace."""
        if event.kind != "message":
            return set()
        kept = self._kept.setdefault((event.node, event.folder, event.object), set())
        kept -= self.facts.ancestors.get(event.number, frozenset())
        beside = kept - {event.number}
        if deleted:
            kept.clear()
        else:
            kept.add(event.number)
        return beside

    def _is_home(self, store: str, folder: str) -> bool:
        return self.facts.known.home(store, folder) == store

    def _notice(self, event: ConflictNotice) -> Witnesses:
        place = (event.node, event.folder, event.object)
        what = self.facts.names.what(event.folder, event.object)
        if len(event.versions) == 1:
            number = event.versions[0]
            self._lost_edits.get(event.node, {}).pop(number, None)
            # An edit that never left its store is known to no other: that store tells of it (DL-2).
            at_home = self._is_home(event.node, event.folder)
            if not at_home and bits.split(number)[0] not in self.facts.guids_of(event.node):
                yield f"{event.node} tells of a lost edit of {what}, and is not the folder's home store"
            return
        if not self._joined[place]:
            home = self.facts.known.home(event.node, event.folder)
            yield f"{event.node} tells of a conflict of {what} that is none of its news; the home store is {home}"
            return
        self._joined[place] -= 1

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        del now
        for place in [place for place, count in self._joined.items() if count and place[0] == store]:
            del self._joined[place]
            yield f"{store} has {self.facts.names.what(*place[1:])} in conflict, is home, and told no contact"
        for number, place in self._lost_edits.pop(store, {}).items():
            what = self.facts.names.what(*place[1:])
            yield f"{store} saw {self.facts.shown(number)} of {what} lose to a deletion, is home, and told no contact"

    def _dropped(self, event: ReplicaDropped) -> None:
        for key in [key for key in self._kept if key[:2] == (event.node, event.folder)]:
            del self._kept[key]

    def _started(self, event: NodeStarted) -> None:
        # What was due was told in the transaction that made it so, or is found missing at the next rest.
        if event.reason != "restart":
            self._lost_edits.pop(event.node, None)
            for place in [place for place in self._joined if place[0] == event.node]:
                del self._joined[place]


NOTICES: tuple[type[Invariant], ...] = (ContactsAreNotified,)
