"""Invariants of backfill sources. One repeats each choice of a store and compares the results. Its inputs are the mails that
the store received, the organization that it has read and its earlier requests (BF-3, BF-4, BF-7, BF-9, RT-3, RT-4). The other
looks at each request to a store that is not on the replica list (RP-2).

| version | order of the holders | asks |
|---|---|---|
| 5.5 | the most missing numbers first, then holders of its site, then the lowest cost | the first two |
| 2000 | six groups: newer servers (near, with an affinity, others), then 5.5 servers (near, with an affinity, others) | one |
| 2003, 2007 | a list sorted by preference, cost, version and how much a holder has | as many as together have all of it |

In each case stores that are leaving the folder come after the holders that are up, and sources that are down come last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.invariant import Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
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
    StoreDeleted,
    VersionApplied,
)
from traces.labtime import LabTime

LAST = 1 << 62
METHODS: Mapping[str, str] = {"5.5": "two holders", "2000": "six groups", "2003": "sorted list", "2007": "sorted list"}
RANKS = {"5.5": 0, "2000": 1, "2003": 2, "2007": 3}
PREFERRING = ("2003", "2007")
STEP_THAT_ROTATES = 1
"""The number of the step that chooses the responder which was asked longest ago, so that responders take turns (ST-4)."""


class _OfSources(Invariant):
    """Keeps what each store knows of the others: the rows of the stores on the replica list, and who is down."""

    def remember(self) -> None:
        self._rows: dict[tuple[str, str, str], bits.Bits] = self.facts.backups.follow({})
        self._lists: dict[tuple[str, str], frozenset[str]] = self.facts.backups.follow({})
        self._down: dict[tuple[str, str], bool] = self.facts.backups.follow({})
        self._heard_at: dict[tuple[str, str], LabTime] = self.facts.backups.follow({})
        self._transit: dict[tuple[str, str], int] = self.facts.backups.follow({})

    @event_handler
    def _received(self, event: MailReceived) -> None:
        """Note that the sender is up, and how long the mail took. Ignore a mail that a later mail of the sender overtook."""
        mail = self.facts.mails.get(event.mail or "")
        key = (event.node, event.sender)
        if mail is None or mail.at <= self._heard_at.get(key, -1):
            return
        self._heard_at[key] = mail.at
        self._down.pop(key, None)
        took = max(0, event.at - mail.at)
        before = self._transit.get(key)
        self._transit[key] = took if before is None else before + (took - before) // 4

    @event_handler
    def _row(self, event: RowReplaced) -> None:
        self._rows[event.node, event.folder, event.store] = bits.by_kind(event.cnset, event.cnset_fai)

    @event_handler
    def _folder_changed(self, event: ChangeMade | VersionApplied) -> None:
        """Drop the rows of stores that left the replica list; a store that returns must send its row again (RST-4)."""
        place = (event.node, event.object)
        holders = self.facts.known.listed(*place) if event.kind == "folder" else None
        if holders is not None and self._lists.get(place) != holders:
            self._lists[place] = holders
            for key in [key for key in self._rows if key[:2] == place and key[2] not in holders]:
                self._rows[key] = bits.EMPTY

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        for key in [key for key in self._rows if key[:2] == (event.node, event.folder)]:
            del self._rows[key]

    @event_handler
    def _deleted(self, event: StoreDeleted) -> None:
        """Forget a deleted store: a store that is created under its name is another one (RP-7)."""
        for key in [key for key in self._rows if key[0] == event.node and key[2] == event.store]:
            del self._rows[key]
        for of_pairs in self._of_pairs():
            of_pairs.pop((event.node, event.store), None)

    def _of_pairs(self) -> tuple[MutableMapping[tuple[str, str], Any], ...]:
        """Return the memories by store and other store."""
        return self._down, self._heard_at, self._transit

    @event_handler
    def _marked(self, event: SourceDown) -> None:
        self._down[event.node, event.store] = True

    def _row_of(self, node: str, folder: str, store: str) -> bits.Bits | None:
        """Return what a holder has, as far as a store knows, without what expired there; None if that is unknown."""
        row = self._rows.get((node, folder, store))
        if row is None or store not in self.facts.known.holders(node, folder):
            return None
        return bits.minus(row, self.facts.reported_expired.get((node, folder, store), bits.EMPTY))


class LeavingStoresAreAskedLast(_OfSources):
    id = "leaving stores are asked last"
    rules = ("BF-3", "RP-2")
    says = "A store that is not on the replica list is asked only for changes that no holder which is up claims."

    @event_handler
    def _sent(self, event: RequestSent) -> Witnesses:
        knowledge = self.facts.known
        holders = knowledge.holders(event.node, event.folder)
        if event.source in holders:
            return
        request = bits.by_kind(event.cnset, event.cnset_fai)
        for store in sorted(holders & knowledge.recipients(event.node, event.folder) - {event.node}):
            row = self._row_of(event.node, event.folder, store)
            overlap = bits.common(request, row) if row is not None else bits.EMPTY
            if overlap and not self._down.get((event.node, store)):
                subject = f"{self.facts.words(overlap)} of {self.facts.folder(event.folder)}"
                yield f"{event.node} asks {event.source}, which left the replica list, for {subject}, which {store} holds"


class SourcesAreChosenByVersionRules(_OfSources):
    id = "sources are chosen by version rules"
    rules = ("BF-3", "BF-4", "BF-7", "BF-9", "RP-2", "RT-3", "RT-4")
    says = "A store orders the sources, and asks some of them, as its Exchange version prescribes."

    def remember(self) -> None:
        super().remember()
        self._asked_at: dict[tuple[str, str], LabTime] = self.facts.backups.follow({})
        self._preferred: dict[str, str] = {}

    # --- what the choice depends on

    def _of_pairs(self) -> tuple[MutableMapping[tuple[str, str], Any], ...]:
        return *super()._of_pairs(), self._asked_at

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        self._preferred.pop(event.node, None)

    @event_handler
    def _setting(self, event: SettingValue) -> None:
        if event.name == "Preferred Backfill Source":
            self._preferred[event.node] = event.value

    @event_handler
    def _asked(self, event: RequestSent) -> None:
        self._asked_at[event.node, event.source] = event.at

    @event_handler
    def _listed(self, event: RespondersConsidered) -> None:
        for candidate in event.candidates:
            if candidate.group == STEP_THAT_ROTATES:
                self._asked_at[event.node, candidate.store] = event.at

    # --- the choice

    @event_handler
    def _considered(self, event: SourcesConsidered) -> Witnesses:
        subject = f"{event.node}, for its entry {event.entry} of {self.facts.folder(event.folder)},"
        version = str(self.facts.topology.servers[event.node].version)
        if event.method != METHODS[version]:
            yield f"{subject} chose by {event.method!r}, but {version} chooses by {METHODS[version]!r}"
            return
        absent = self.facts.known.holders(event.node, event.folder) - {event.node}
        absent -= {candidate.store for candidate in event.candidates}
        if absent:
            yield f"{subject} did not consider {', '.join(sorted(absent))}"
        for candidate in event.candidates:
            yield from (
                f"{subject} considered {candidate.store} with {wrong}" for wrong in self._mistaken(event, candidate)
            )
        order = _ORDERS[event.method](event.candidates)
        if [candidate.store for candidate in event.candidates] != [candidate.store for candidate in order]:
            yield f"{subject} considered {_names(event.candidates)}, but the right order is {_names(order)}"
        addresses = self.facts.known.recipients(event.node, event.folder)
        right = _CHOICES[event.method]([candidate for candidate in order if candidate.store in addresses])
        if list(event.chosen) != right:
            yield f"{subject} chose {', '.join(event.chosen) or 'nobody'}, but should choose {', '.join(right) or 'nobody'}"

    def _mistaken(self, event: SourcesConsidered, candidate: Candidate) -> Witnesses:
        server, far_server = (self.facts.topology.servers[name] for name in (event.node, candidate.store))
        routing, key = self.facts.organizations.routing(event.node), (event.node, candidate.store)
        preferred = str(server.version) in PREFERRING and self._preferred.get(event.node) == candidate.store
        right_values: dict[str, tuple[object, object]] = {
            "version": (candidate.version, str(far_server.version)),
            "site": (candidate.near, server.site == far_server.site),
            "cost": (candidate.cost, routing.site_cost(server.site, far_server.site)),
            "affinity": (candidate.affinity, routing.affinity_cost(server.site, far_server.site)),
            "down": (candidate.down, self._down.get(key, False)),
            "last backfill": (candidate.backfilled_at, self._asked_at.get(key, 0)),
            "transmission time": (candidate.transit_us, self._transit.get(key)),
            "preferred": (candidate.preferred, preferred),
            "leaving": (candidate.leaving, candidate.store not in self.facts.known.holders(event.node, event.folder)),
        }
        row = self._row_of(event.node, event.folder, candidate.store)
        if row is not None:
            gap, all_missing = (
                bits.by_kind(event.cnset, event.cnset_fai),
                bits.by_kind(event.missing, event.missing_fai),
            )
            right_values["numbers"] = (candidate.has, bits.count(bits.common(gap, row)))
            right_values["all numbers"] = (candidate.has_all, not bits.minus(all_missing, row))
        for name, (value, right) in right_values.items():
            if value != right:
                yield f"{name} {value}; it is {right}"


def _names(candidates: Sequence[Candidate]) -> str:
    return ", ".join(candidate.store for candidate in candidates)


def _cost(value: int | None) -> int:
    return LAST if value is None else value


def _askable(candidate: Candidate) -> bool:
    return candidate.has > 0 and "address" not in candidate.passed_over


# --- 2003 and 2007


def _sorted_list(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(
        candidates,
        key=lambda candidate: (
            candidate.down,
            candidate.leaving,
            not candidate.preferred,
            _cost(candidate.cost),
            -RANKS[candidate.version],
            -candidate.has,
            candidate.guid,
        ),
    )


def _until_covered(order: Sequence[Candidate]) -> list[str]:
    """Return the candidates that can be asked and that have something that no candidate before them has. The invariant takes
    this from the event, because it needs the numbers of the changes. Other invariants check the requests.
    """
    return [candidate.store for candidate in order if _askable(candidate) and "before it" not in candidate.passed_over]


# --- 5.5


def _most_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(
        candidates,
        key=lambda candidate: (
            candidate.down,
            candidate.leaving,
            -candidate.has,
            not candidate.near,
            _cost(candidate.cost),
            candidate.guid,
        ),
    )


def _first_two(order: Sequence[Candidate]) -> list[str]:
    """Return the first two candidates that can be asked. A candidate that is being asked already is one of the two.

    Whether a leaving store has something that the holders before it lack is taken from the event.
    """
    stores = {candidate.store for candidate in order if "already" in candidate.passed_over}
    fit = [
        candidate.store
        for candidate in order
        if _askable(candidate) and not (candidate.leaving and "before it have" in candidate.passed_over)
    ]
    return [store for store in fit if store not in stores][: max(0, 2 - len(stores))]


# --- 2000


def _group(candidate: Candidate) -> int:
    return (0 if RANKS[candidate.version] > 0 else 3) + (
        1 if candidate.near else 2 if candidate.affinity is not None else 3
    )


def _search_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates sorted by group. If no server has everything, the last group that has a server comes first. Leaving
    stores come after the holders that are up, and servers that are down are last."""

    def key(candidate: Candidate) -> tuple[int, int, str]:
        way = candidate.affinity if candidate.affinity is not None else candidate.transit_us
        return _group(candidate), candidate.backfilled_at if candidate.near else _cost(way), candidate.guid

    parts = [sorted(part, key=key) for part in _parts(candidates)]
    for index, part in enumerate(parts):
        if any(_askable(candidate) and candidate.has_all for candidate in part):
            break
        if any(_askable(candidate) for candidate in part):
            last = _group(part[-1])
            parts[index] = sorted(part, key=lambda candidate: _group(candidate) != last)
            break
    return [candidate for part in parts for candidate in part]


def _parts(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Return the holders that are up, the leaving stores that are up, and the same of those that are down."""
    states = [(down, leaving) for down in (False, True) for leaving in (False, True)]
    return [[candidate for candidate in candidates if (candidate.down, candidate.leaving) == state] for state in states]


def _one_server(order: Sequence[Candidate]) -> list[str]:
    for part in _parts([candidate for candidate in order if _askable(candidate)]):
        if part:
            return [next((candidate.store for candidate in part if candidate.has_all), part[0].store)]
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

SOURCES: tuple[type[Invariant], ...] = (SourcesAreChosenByVersionRules, LeavingStoresAreAskedLast)
