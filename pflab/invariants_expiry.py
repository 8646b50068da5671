"""Invariants of age limits: nothing goes before its time, and what nobody has any more is accounted for (DL-3)."""

from __future__ import annotations

from collections.abc import Iterator

from pflab import invariants_sets as bits
from pflab.invariants import Hears, Invariant, Witnesses
from pflab.invariants_facts import Facts
from traces.events import ExpiredEverywhere, ItemExpired, ReplicaDropped, RowReplaced
from traces.labtime import DAY_US, format_duration


class NothingExpiresEarly(Invariant):
    id = "nothing expires early"
    rules = ("DL-3", "DU-1")
    says = "A message expires past a limit of its replica, its store or its folder, in the store's maintenance, and no earlier."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._limits = {name: {server.settings.age_limit_us} for name, server in facts.topology.servers.items()}
        for folder in facts.topology.folders.values():
            for store in facts.topology.servers:
                self._limits[store] |= {folder.age_limit_us, folder.replica_age_limits_us.get(store)}

    def hears(self) -> Hears:
        return {ItemExpired: self._expired}

    def _expired(self, event: ItemExpired) -> Witnesses:
        what = f"{event.node} let {self.facts.names.what(event.folder, event.object)} expire"
        change = self.facts.changes.get(event.number)
        if change is None or change.object != event.object:
            yield f"{what} by {self.facts.shown(event.number)}, which is no version of it"
            return
        age_us = event.at - change.modified_at
        if age_us < event.limit_us:
            yield f"{what} when it was {format_duration(age_us)} old; the limit is {format_duration(event.limit_us)}"
        yield from self._of_no_limit(event, what)

    def _of_no_limit(self, event: ItemExpired, what: str) -> Iterator[str]:
        if event.limit_us not in self._limits[event.node]:
            yield f"{what} by a limit of {format_duration(event.limit_us)}, which nobody set"
        maintenance = self.facts.topology.servers[event.node].settings.maintenance
        if maintenance.next_fire(event.at - 1, DAY_US) is None:
            yield f"{what}, and has no maintenance"


class GivenUpByAll(Invariant):
    id = "given up by all"
    rules = ("DL-3", "CN-7")
    says = "A store waits no more for an expired number only when every other holder that claims it has said that it expired."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._rows: dict[tuple[str, str, str], bits.Bits] = {}
        facts.backups.follow(self._rows)

    def hears(self) -> Hears:
        return {
            RowReplaced: self._row,
            ReplicaDropped: self._dropped,
            ExpiredEverywhere: self._everywhere,
        }

    def _row(self, event: RowReplaced) -> Witnesses:
        self._rows[event.node, event.folder, event.store] = bits.by_kind(event.cnset, event.cnset_fai)
        return iter(())

    def _dropped(self, event: ReplicaDropped) -> Witnesses:
        for key in [key for key in self._rows if key[:2] == (event.node, event.folder)]:
            del self._rows[key]
        return iter(())

    def _everywhere(self, event: ExpiredEverywhere) -> Witnesses:
        numbers = bits.by_kind(event.cnset, event.cnset_fai)
        for store in sorted(self.facts.known.holders(event.node, event.folder) - {event.node}):
            place = (event.node, event.folder, store)
            claimed = bits.common(numbers, self._rows.get(place, bits.EMPTY))
            unsaid = bits.minus(claimed, self.facts.said_expired.get(place, bits.EMPTY))
            if unsaid:
                yield f"{event.node} gave up {self.facts.words(unsaid)}, which {store} claims and has not called expired"


EXPIRY: tuple[type[Invariant], ...] = (NothingExpiresEarly, GivenUpByAll)
