"""Invariants of age limits: nothing goes before its time, and what nobody has any more is accounted for (DL-3)."""

from __future__ import annotations

from collections.abc import Iterator

from pflab.invariants import Hears, Invariant, Witnesses
from pflab.invariants_facts import Facts
from traces.events import ItemExpired
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


EXPIRY: tuple[type[Invariant], ...] = (NothingExpiresEarly,)
