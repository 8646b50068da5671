"""Invariants of conflicts of messages: old conflicts end at the home store, and contacts get notices.

From the events, the invariants know which versions of each message a store keeps, and since when the message is in conflict. So
they know which store must end a conflict or send a notice, and when.
"""

from __future__ import annotations

from typing import NamedTuple

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.invariant import Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from topology.enums import ResolveMethod
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
    says = "Only the home store ends an old conflict, exactly at the conflict's age limit. The winner remains."

    def remember(self) -> None:
        self._conflicts: dict[Place, _Conflict] = self.facts.backups.follow({})
        self._ended: dict[Place, tuple[str, _Conflict]] = {}
        """The conflicts that a store's own changes ended: the number of the change, and the conflict."""

    def _limit_us(self, store: str) -> int | None:
        return self.facts.topology.servers[store].settings.conflict_age_us

    @event_handler
    def _arose(self, event: ConflictArose) -> None:
        place = (event.node, event.folder, event.object)
        before = self._conflicts.get(place)
        self._conflicts[place] = _Conflict(event.at if before is None else before.since_at, event.winner)

    @event_handler
    def _ends(self, event: ConflictEnded) -> None:
        place = (event.node, event.folder, event.object)
        conflict = self._conflicts.pop(place, None)
        if conflict is not None:
            self._ended[place] = event.number, conflict

    @event_handler
    def _aged(self, event: ConflictAged) -> Witnesses:
        place = (event.node, event.folder, event.object)
        subject = f"the conflict of {self.facts.names.what(event.folder, event.object)}"
        home = self.facts.known.home(event.node, event.folder)
        if home != event.node:
            yield f"{event.node} ended {subject} because of its age, but the home store is {home}"
        number, conflict = self._ended.pop(place, ("", None))
        limit_us = self._limit_us(event.node)
        if conflict is None or number != event.number:
            yield f"{event.node} reports that it ended {subject}, but there was none"
        elif limit_us is None:
            yield f"{event.node} ended {subject}, but this store has no age limit for conflicts"
        elif event.at - conflict.since_at < limit_us:
            yield f"{event.node} ended {subject} after {format_duration(event.at - conflict.since_at)}, before its time"
        elif event.winner != conflict.winner:
            yield f"{event.node} ended {subject} in favour of {self.facts.shown(event.winner)}, which was not shown"

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        limit_us = self._limit_us(store)
        if limit_us is None:
            return
        for place, conflict in self._conflicts.items():
            if place[0] == store and now - conflict.since_at > limit_us and self.facts.known.home(*place[:2]) == store:
                subject, age = self.facts.names.what(*place[1:]), format_duration(now - conflict.since_at)
                yield f"{store} is the home store, but left {subject} in conflict for {age}"

    @event_handler
    def _gone(self, event: TombstoneMade | ItemExpired) -> None:
        self._conflicts.pop((event.node, event.folder, event.object), None)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        for place in [place for place in self._conflicts if place[:2] == (event.node, event.folder)]:
            del self._conflicts[place]

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        # A restored store measures the age of a conflict from its start: a change that ended the conflict may return (RP-4).
        if event.reason != "restart":
            for place in [place for place in self._conflicts if place[0] == event.node]:
                self._conflicts[place] = self._conflicts[place]._replace(since_at=event.at)


class ContactsResolve(Invariant):
    id = "contacts resolve"
    rules = ("CF-3",)
    says = "Whoever resolves a conflict is a contact of the folder."

    @event_handler
    def _ends(self, event: ConflictEnded) -> Witnesses:
        contacts = self.facts.known.contacts(event.node, event.folder)
        if event.by and contacts is not None and event.by not in contacts:
            subject = self.facts.names.what(event.folder, event.object)
            yield f"{event.by} resolved the conflict of {subject} on {event.node}, but is not a contact of the folder"


CONFLICTS: tuple[type[Invariant], ...] = (OldConflictsEndAtHome, ContactsResolve)


class ContactsAreNotified(Invariant):
    id = "contacts are notified"
    rules = ("CF-2", "CF-4", "DL-2")
    says = (
        "The home store sends a notice for each version that joins a conflict, if the folder's resolve method allows notices, "
        "and one for each edit that loses to a delete. Another holder sends one notice of a conflict only two days after it "
        "arose there, and only if no holder before it in the list was heard to have all versions."
    )

    def remember(self) -> None:
        self._versions: dict[Place, set[str]] = self.facts.backups.follow({})
        self._since: dict[Place, LabTime] = self.facts.backups.follow({})
        """When a message got into conflict at the store."""
        self._notified: dict[Place, set[str]] = self.facts.backups.follow({})
        """The versions of the store's last notice."""
        self._joined: dict[Place, list[set[str]]] = {}
        """For each version that joined a conflict, and for which no notice was sent yet: the versions then in conflict."""
        self._lost_edits: dict[str, dict[str, Place]] = {}
        """By store: the edits that lost to a deletion and for which no notice was sent yet."""

    @event_handler
    def _made(self, event: ChangeMade) -> None:
        self._joins(event, deleted=event.operation == "delete")

    @event_handler
    def _applied(self, event: VersionApplied) -> None:
        self._joins(event, deleted=event.deleted)

    def _joins(self, event: ChangeMade | VersionApplied, *, deleted: bool) -> None:
        """Remember a version, and the notice that it makes necessary."""
        if event.kind != "message":
            return
        rivals = self._keep(event, deleted=deleted)
        place = (event.node, event.folder, event.object)
        if rivals:
            self._since.setdefault(place, event.at)
        else:
            self._since.pop(place, None)
        if not rivals or not self._is_home(event.node, event.folder):
            return
        if deleted:
            self._lost_edits.setdefault(event.node, {}).update(dict.fromkeys(sorted(rivals), place))
        elif self.facts.known.resolve(event.node, event.folder) is ResolveMethod.DEFAULT:
            self._joined.setdefault(place, []).append(rivals | {event.number})

    def _keep(self, event: ChangeMade | VersionApplied, *, deleted: bool) -> set[str]:
        """Remember a version. Return the other versions that the store kept and that this version does not include."""
        numbers = self._versions.setdefault((event.node, event.folder, event.object), set())
        numbers -= self.facts.ancestors.get(event.number, frozenset())
        rivals = numbers - {event.number}
        if deleted:
            # Deletions of one message merge their lists, so this one may include more than its author knew (DL-2).
            rivals = {number for number in rivals if not bits.covers(event.pcl, event.rivals, number)}
            numbers.clear()
        else:
            numbers.add(event.number)
        return rivals

    def _is_home(self, store: str, folder: str) -> bool:
        return self.facts.known.home(store, folder) == store

    @event_handler
    def _notice(self, event: ConflictNotice) -> Witnesses:
        place = (event.node, event.folder, event.object)
        subject = self.facts.names.what(event.folder, event.object)
        if len(event.versions) == 1:
            number = event.versions[0]
            self._lost_edits.get(event.node, {}).pop(number, None)
            # If an edit was never sent, only the store that made it knows it, so this store sends the notice (DL-2).
            at_home = self._is_home(event.node, event.folder)
            if not at_home and bits.split(number)[0] not in self.facts.guids_of(event.node):
                yield f"{event.node} sent a notice of a lost edit of {subject}, but is not the folder's home store"
            return
        joins = self._joined.get(place, [])
        if not joins:
            yield from self._in_place_of_others(event, place, subject)
            return
        versions = set(event.versions)
        if versions not in joins:
            conflicts = " or ".join(", ".join(sorted(map(self.facts.shown, conflict))) for conflict in joins)
            parties = ", ".join(sorted(map(self.facts.shown, versions)))
            witness = f"{event.node} sent a notice of a conflict of {subject} between {parties}"
            yield f"{witness}, but the conflict is between {conflicts}"
            return
        joins.remove(versions)
        self._notified[place] = versions

    def _in_place_of_others(self, event: ConflictNotice, place: Place, subject: str) -> Witnesses:
        before, since_at = self.facts.known.before(*place[:2]), self._since.get(place)
        versions = set(event.versions)
        has = [
            store
            for store in before or ()
            if all(bits.has(self.facts.rows.get((*place[:2], store), {}), number) for number in versions)
        ]
        settings = self.facts.topology.servers[event.node].settings
        wait_us = settings.status_timeout_us + 2 * settings.status_alignment_us
        is_repeat = self._notified.get(place) == versions
        is_due = self.facts.known.resolve(*place[:2]) is ResolveMethod.DEFAULT
        if before is None or since_at is None or versions != self._versions.get(place) or is_repeat or not is_due:
            home = self.facts.known.home(event.node, event.folder)
            yield f"{event.node} sent a notice of a conflict of {subject} without a reason; the home store is {home}"
        elif has:
            yield f"{event.node} sent a notice of a conflict of {subject}, but {has[0]} was heard to have all its versions"
        elif event.at - since_at < wait_us:
            age = format_duration(event.at - since_at)
            yield f"{event.node} sent a notice of a conflict of {subject} for other holders after {age}, before its time"
        self._notified[place] = versions

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        del now
        for place in [place for place in self._joined if place[0] == store]:
            if not self._joined.pop(place):
                continue
            yield f"{store} is the home store of {self.facts.names.what(*place[1:])}, which is in conflict, but sent no notice"
        for number, place in self._lost_edits.pop(store, {}).items():
            subject = self.facts.names.what(*place[1:])
            loss = f"{self.facts.shown(number)} lost to a deletion"
            yield f"{store} is the home store of {subject}, where {loss}, but sent no notice"

    @event_handler
    def _expired(self, event: ItemExpired) -> None:
        """Forget an expired version: a later version is applied as if it were the first (DL-3)."""
        self._versions.get((event.node, event.folder, event.object), set()).discard(event.number)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        for key in [key for key in self._versions if key[:2] == (event.node, event.folder)]:
            del self._versions[key]

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        # A notice is sent in the transaction that makes it necessary. So after a restore no earlier notice is due.
        if event.reason != "restart":
            self._lost_edits.pop(event.node, None)
            for place in [place for place in self._joined if place[0] == event.node]:
                del self._joined[place]


NOTICES: tuple[type[Invariant], ...] = (ContactsAreNotified,)
