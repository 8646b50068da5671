"""The invariant of backfill sources. It repeats each choice of a store and compares the results. Its inputs are the mails that
the store received, the topology and the store's earlier requests (BF-3, BF-4, BF-7, BF-9, RT-3, RT-4).

| version | order of the holders | asks |
|---|---|---|
| 5.5 | the most missing numbers first, then holders of its site, then the lowest cost | the first two |
| 2000 | six groups: newer servers (near, with an affinity, others), then 5.5 servers (near, with an affinity, others) | one |
| 2003, 2007 | a list sorted by preference, cost, version and how much a holder has | as many as together have all of it |

In each case holders that are down come last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.invariant import Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from topology.routing import Routing
from traces.events import (
    Candidate,
    ChangeMade,
    MailReceived,
    NodeStarted,
    ReplicaDropped,
    RequestSent,
    RespondersConsidered,
    RowReplaced,
    SettingValue,
    SourceDown,
    SourcesConsidered,
    VersionApplied,
)
from traces.labtime import LabTime

LAST = 1 << 62
METHODS: Mapping[str, str] = {"5.5": "two holders", "2000": "six groups", "2003": "sorted list", "2007": "sorted list"}
RANKS = {"5.5": 0, "2000": 1, "2003": 2, "2007": 3}
PREFERRING = ("2003", "2007")
STEP_THAT_ROTATES = 1
"""The number of the step that chooses the responder which was asked longest ago, so that responders take turns (ST-4)."""


class SourcesAreChosenByVersionRules(Invariant):
    id = "sources are chosen by version rules"
    rules = ("BF-3", "BF-4", "BF-7", "BF-9", "RT-3", "RT-4")
    says = "A store orders the holders, and asks some of them, as its Exchange version prescribes."

    def remember(self) -> None:
        self._routing = Routing(self.facts.topology)
        self._rows: dict[tuple[str, str, str], bits.Bits] = self.facts.backups.follow({})
        self._lists: dict[tuple[str, str], frozenset[str]] = self.facts.backups.follow({})
        self._down: dict[tuple[str, str], bool] = self.facts.backups.follow({})
        self._asked_at: dict[tuple[str, str], LabTime] = self.facts.backups.follow({})
        self._heard: dict[tuple[str, str], LabTime] = self.facts.backups.follow({})
        self._transit: dict[tuple[str, str], int] = self.facts.backups.follow({})
        self._preferred: dict[str, str] = {}

    # --- what the choice depends on

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        self._preferred.pop(event.node, None)

    @event_handler
    def _setting(self, event: SettingValue) -> None:
        if event.name == "Preferred Backfill Source":
            self._preferred[event.node] = event.value

    @event_handler
    def _received(self, event: MailReceived) -> None:
        """Note that the sender is up, and how long the mail took. Ignore a mail that a later mail of the sender overtook."""
        sent = self.facts.mails.get(event.mail or "")
        key = (event.node, event.sender)
        if sent is None or sent.at <= self._heard.get(key, -1):
            return
        self._heard[key] = sent.at
        self._down.pop(key, None)
        took = max(0, event.at - sent.at)
        before = self._transit.get(key)
        self._transit[key] = took if before is None else before + (took - before) // 4

    @event_handler
    def _row(self, event: RowReplaced) -> None:
        self._rows[event.node, event.folder, event.store] = bits.by_kind(event.cnset, event.cnset_fai)

    @event_handler
    def _folder_changed(self, event: ChangeMade | VersionApplied) -> None:
        """Drop the rows of stores that left the replica list; a store that returns must send its row again (RST-4)."""
        place = (event.node, event.object)
        listed = self.facts.known.listed(*place) if event.kind == "folder" else None
        if listed is not None and self._lists.get(place) != listed:
            self._lists[place] = listed
            for key in [key for key in self._rows if key[:2] == place and key[2] not in listed]:
                self._rows[key] = bits.EMPTY

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        for key in [key for key in self._rows if key[:2] == (event.node, event.folder)]:
            del self._rows[key]

    @event_handler
    def _asked(self, event: RequestSent) -> None:
        self._asked_at[event.node, event.source] = event.at

    @event_handler
    def _listed(self, event: RespondersConsidered) -> None:
        for each in event.candidates:
            if each.group == STEP_THAT_ROTATES:
                self._asked_at[event.node, each.store] = event.at

    @event_handler
    def _marked(self, event: SourceDown) -> None:
        self._down[event.node, event.store] = True

    # --- the choice

    @event_handler
    def _considered(self, event: SourcesConsidered) -> Witnesses:
        what = f"{event.node}, for its entry {event.entry} of {self.facts.folder(event.folder)},"
        version = str(self.facts.topology.servers[event.node].version)
        if event.method != METHODS[version]:
            yield f"{what} chose by {event.method!r}, but {version} chooses by {METHODS[version]!r}"
            return
        absent = self.facts.known.holders(event.node, event.folder) - {event.node}
        absent -= {each.store for each in event.candidates}
        if absent:
            yield f"{what} did not consider {', '.join(sorted(absent))}"
        for each in event.candidates:
            yield from (f"{what} considered {each.store} with {wrong}" for wrong in self._mistaken(event, each))
        order = _ORDERS[event.method](event.candidates)
        if [each.store for each in event.candidates] != [each.store for each in order]:
            yield f"{what} considered {_names(event.candidates)}, but the right order is {_names(order)}"
        addressed = self.facts.known.addressed(event.node)
        chosen = _CHOICES[event.method]([each for each in order if each.store in addressed])
        if list(event.chosen) != chosen:
            yield f"{what} chose {', '.join(event.chosen) or 'nobody'}, but should choose {', '.join(chosen) or 'nobody'}"

    def _mistaken(self, event: SourcesConsidered, each: Candidate) -> Witnesses:
        here, there = (self.facts.topology.servers[name] for name in (event.node, each.store))
        key = (event.node, each.store)
        preferred = str(here.version) in PREFERRING and self._preferred.get(event.node) == each.store
        expected: dict[str, tuple[object, object]] = {
            "version": (each.version, str(there.version)),
            "site": (each.near, here.site == there.site),
            "cost": (each.cost, self._routing.site_cost(here.site, there.site)),
            "affinity": (each.affinity, self._routing.affinity_cost(here.site, there.site)),
            "down": (each.down, self._down.get(key, False)),
            "last backfill": (each.backfilled_at, self._asked_at.get(key, 0)),
            "transmission time": (each.transit_us, self._transit.get(key)),
            "preferred": (each.preferred, preferred),
        }
        row = self._rows.get((event.node, event.folder, each.store))
        if row is not None and each.store in self.facts.known.holders(event.node, event.folder):
            gone = self.facts.reported_expired.get((event.node, event.folder, each.store), bits.EMPTY)
            row = bits.minus(row, gone)
            gap, missing = bits.by_kind(event.cnset, event.cnset_fai), bits.by_kind(event.missing, event.missing_fai)
            expected["numbers"] = (each.has, bits.count(bits.common(gap, row)))
            expected["all numbers"] = (each.has_all, not bits.minus(missing, row))
        for name, (said, right) in expected.items():
            if said != right:
                yield f"{name} {said}; it is {right}"


def _names(candidates: Sequence[Candidate]) -> str:
    return ", ".join(each.store for each in candidates)


def _cost(value: int | None) -> int:
    return LAST if value is None else value


def _askable(each: Candidate) -> bool:
    return each.has > 0 and "address" not in each.passed_over


# --- 2003 and 2007


def _sorted_list(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(
        candidates,
        key=lambda each: (
            each.down,
            not each.preferred,
            _cost(each.cost),
            -RANKS[each.version],
            -each.has,
            each.guid,
        ),
    )


def _until_covered(order: Sequence[Candidate]) -> list[str]:
    """Return the candidates that can be asked and that have something that no candidate before them has. The invariant takes
    this from the event, because it needs the numbers of the changes. Other invariants check the requests.
    """
    return [each.store for each in order if _askable(each) and "before it" not in each.passed_over]


# --- 5.5


def _most_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda each: (each.down, -each.has, not each.near, _cost(each.cost), each.guid))


def _first_two(order: Sequence[Candidate]) -> list[str]:
    """Return the first two candidates that can be asked. A candidate that is being asked already is one of the two."""
    asked = {each.store for each in order if "already" in each.passed_over}
    return [each.store for each in order if _askable(each) and each.store not in asked][: max(0, 2 - len(asked))]


# --- 2000


def _group(each: Candidate) -> int:
    return (0 if RANKS[each.version] > 0 else 3) + (1 if each.near else 2 if each.affinity is not None else 3)


def _search_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates sorted by group. If no server has everything, the last group that has a server comes first. Servers
    that are down are last."""

    def key(each: Candidate) -> tuple[int, int, str]:
        way = each.affinity if each.affinity is not None else each.transit_us
        return _group(each), each.backfilled_at if each.near else _cost(way), each.guid

    up, down = (sorted((each for each in candidates if each.down is state), key=key) for state in (False, True))
    parts = [up, down]
    for index, part in enumerate(parts):
        if any(_askable(each) and each.has_all for each in part):
            break
        if any(_askable(each) for each in part):
            last = _group(part[-1])
            parts[index] = sorted(part, key=lambda each: _group(each) != last)
            break
    return [*parts[0], *parts[1]]


def _one_server(order: Sequence[Candidate]) -> list[str]:
    for state in (False, True):
        part = [each for each in order if each.down is state and _askable(each)]
        if part:
            return [next((each.store for each in part if each.has_all), part[0].store)]
    return []


_ORDERS: Mapping[str, Callable[[Sequence[Candidate]], list[Candidate]]] = {
    "sorted list": _sorted_list,
    "two holders": _most_first,
    "six groups": _search_order,
}
_CHOICES: Mapping[str, Callable[[Sequence[Candidate]], list[str]]] = {
    "sorted list": _until_covered,
    "two holders": _first_two,
    "six groups": _one_server,
}

SOURCES: tuple[type[Invariant], ...] = (SourcesAreChosenByVersionRules,)
