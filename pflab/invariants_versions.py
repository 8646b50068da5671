"""Invariants of versions that arrive: none replaces a newer one, none waits for what is here."""

from __future__ import annotations

from pflab.invariants import ArrayReading, Hears, Invariant, Witnesses
from pflab.invariants_facts import Facts, rank_of
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
        "No version is applied where one that incorporates it is kept; nor, of a folder or an associated message, one"
        " that is earlier than the one kept."
    )

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._replaced: dict[tuple[str, str], dict[str, frozenset[str]]] = {}
        self._latest: dict[tuple[str, str], dict[str, ChangeMade]] = {}
        for mapping in (self._replaced, self._latest):
            facts.backups.follow(mapping)

    def hears(self) -> Hears:
        return {
            ChangeMade: self._made,
            VersionApplied: self._applied,
            TombstoneDropped: self._forgotten,
            ReplicaDropped: self._dropped,
        }

    def _made(self, event: ChangeMade) -> Witnesses:
        self._keep(event.node, event)
        return iter(())

    def _applied(self, event: VersionApplied) -> Witnesses:
        made = self.facts.changes.get(event.number)
        if made is None:
            return
        place = (event.node, event.folder)
        if event.number in self._replaced.get(place, {}).get(event.object, ()):
            yield f"{event.node} applied {self.facts.what(made)}, and had a version that includes it"
        kept = self._latest.get(place, {}).get(event.object)
        # A deletion wins, whenever it was made (HI-6).
        if kept is not None and rank_of(made) < rank_of(kept) and made.operation != "delete":
            yield f"{event.node} applied {self.facts.what(made)} over {self.facts.shown(kept.number)}, which is later"
        self._keep(event.node, made)

    def _keep(self, store: str, change: ChangeMade) -> None:
        place = (store, change.folder)
        replaced = self._replaced.setdefault(place, {})
        replaced[change.object] = replaced.get(change.object, frozenset()) | self.facts.ancestors[change.number]
        if change.kind != "message" and change.operation != "delete":
            self._latest.setdefault(place, {})[change.object] = change

    def _forgotten(self, event: TombstoneDropped) -> Witnesses:
        self._replaced.get((event.node, event.folder), {}).pop(event.object, None)
        self._latest.get((event.node, event.folder), {}).pop(event.object, None)
        return iter(())

    def _dropped(self, event: ReplicaDropped) -> Witnesses:
        self._replaced.pop((event.node, event.folder), None)
        self._latest.pop((event.node, event.folder), None)
        return iter(())


class HeldAreFreed(Invariant):
    id = "held are freed"
    rules = ("HI-4",)
    says = "A folder's version that waits for another folder waits until the store has applied that one, or its time is over."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._held: dict[str, dict[str, VersionHeld]] = {}
        self._freed: dict[str, set[str]] = {}
        for mapping in (self._held, self._freed):
            facts.backups.follow(mapping)

    def hears(self) -> Hears:
        return {
            VersionHeld: self._waits,
            VersionApplied: self._applied,
            VersionIgnored: self._over,
            VersionDropped: self._over,
            VersionFailed: self._over,
            **dict.fromkeys((MailReceived, ChangeMade, HopReceived, HopSent, MailSubmitted), self._next),
            NodeStarted: self._next,
        }

    def _waits(self, event: VersionHeld) -> Witnesses:
        self._held.setdefault(event.node, {})[event.number] = event
        if self.facts.known.kept(event.node, event.waits_for) is not None:
            self._freed.setdefault(event.node, set()).add(event.waits_for)
        return iter(())

    def _applied(self, event: VersionApplied) -> Witnesses:
        held = self._held.get(event.node)
        if held and event.kind == "folder":
            held.pop(event.number, None)
            if any(each.waits_for == event.object for each in held.values()):
                self._freed.setdefault(event.node, set()).add(event.object)
        return iter(())

    def _over(self, event: VersionIgnored | VersionDropped | VersionFailed) -> Witnesses:
        if event.number is not None:
            self._held.get(event.node, {}).pop(event.number, None)
        return iter(())

    def _next(self, event: Event) -> Witnesses:
        freed = self._freed.pop(event.node, None)
        for number, held in list(self._held.get(event.node, {}).items()) if freed else ():
            if freed and held.waits_for in freed:
                del self._held[event.node][number]
                yield f"{event.node} still holds {self._shown(held)}, and that has come"

    def on_array(self, reading: ArrayReading) -> Witnesses:
        for held in self._held.get(reading.store, {}).values() if reading.quiet else ():
            if held.until_at < reading.now:
                told = f"until {format_instant(held.until_at)}; it is {format_instant(reading.now)}"
                yield f"{reading.store} still holds {self._shown(held)}, {told}"

    def _shown(self, held: VersionHeld) -> str:
        return f"{self.facts.shown(held.number)}, which waits for {self.facts.folder(held.waits_for)}"


VERSIONS: tuple[type[Invariant], ...] = (NothingOlderReplaces, HeldAreFreed)
