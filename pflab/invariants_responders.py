"""Invariants of who must answer a status request: how each version lists its responders is done again here (ST-3, ST-4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pflab.invariants import Hears, Invariant, Witnesses
from pflab.invariants_facts import HIERARCHY, Facts
from traces.events import Candidate, NodeStarted, RespondersConsidered
from traces.labtime import LabTime

LAST = 1 << 62
ALL, STEPS = "all holders", "six steps"
LIMITS: Mapping[str, int] = {"2000": 4, "2003": 3, "2007": 3}
BY_STEPS = 3

Rank = tuple[int, ...]


class RespondersAreListedAsTold(Invariant):
    id = "responders are listed by the version's way"
    rules = ("ST-3", "ST-4")
    says = "All holders must respond where the version says so; else those that the six steps list, and the oldest."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._started_at: dict[str, LabTime] = {}

    def hears(self) -> Hears:
        return {NodeStarted: self._started, RespondersConsidered: self._considered}

    def _started(self, event: NodeStarted) -> Witnesses:
        self._started_at[event.node] = event.at
        return iter(())

    def _considered(self, event: RespondersConsidered) -> Witnesses:
        what = f"{event.node}, asking for the status of {self.facts.folder(event.folder)},"
        server = self.facts.topology.servers[event.node]
        version, at_start = str(server.version), self._started_at.get(event.node) == event.at
        expected = (ALL, STEPS)[version == "2000" and event.folder != HIERARCHY]
        if event.method != expected and not (at_start and version != "5.5"):
            yield f"{what} lists by {event.method!r}; {version} lists by {expected!r}"
        others = self.facts.known.holders(event.node, event.folder) - {event.node}
        if event.method == ALL:
            if others - set(event.chosen):
                yield f"{what} does not list {', '.join(sorted(others - set(event.chosen)))}"
            return
        absent = others - {each.store for each in event.candidates}
        if absent:
            yield f"{what} did not consider {', '.join(sorted(absent))}"
        if event.limit != LIMITS[version]:
            yield f"{what} lists {event.limit}; {version} lists {LIMITS[version]}"
        right = _by_steps(event.candidates)[: event.limit]
        if list(event.chosen) != right:
            yield f"{what} lists {', '.join(event.chosen)}; it should be {', '.join(right)}"
        for each in event.candidates:
            there = self.facts.topology.servers[each.store]
            if (each.version, each.near) != (str(there.version), there.site == server.site):
                yield f"{what} takes {each.store} for a server of another version or site"


def _way(each: Candidate) -> Rank:
    return (each.affinity if each.affinity is not None else LAST, each.cost if each.cost is not None else LAST)


_LOOKS: Sequence[tuple[Callable[[Candidate], bool], Callable[[Candidate], Rank]]] = (
    (lambda each: each.near, lambda each: (each.backfilled_at,)),
    (lambda each: not each.near and each.affinity is not None and each.active, _way),
    (lambda each: each.near, lambda each: ()),
    (lambda each: not each.near and each.affinity is not None, _way),
    (lambda each: not each.near and each.transit_us is not None, lambda each: (each.transit_us or 0,)),
    (lambda each: not each.near, lambda each: ()),
)


def _by_steps(candidates: Sequence[Candidate]) -> list[str]:
    left = {each.store: each for each in candidates}
    listed: list[Candidate] = []
    while left and len(listed) < BY_STEPS:
        for looks, rank in _LOOKS:
            fits = [each for each in left.values() if looks(each)]
            if fits and len(listed) < BY_STEPS:
                fits.sort(key=lambda each: (each.version == "5.5", not each.has_all, rank(each), each.guid))
                listed.append(left.pop(fits[0].store))
    oldest = sorted(left.values(), key=lambda each: (each.added_at or 0, each.guid))[:1]
    if oldest and all((oldest[0].added_at or 0) < (each.added_at or 0) for each in listed):
        listed += oldest
    return [each.store for each in listed]


RESPONDERS: tuple[type[Invariant], ...] = (RespondersAreListedAsTold,)
