"""The three methods to choose backfill sources (spec: BF-3).

A method gets the sources and the missing numbers. It returns a `Choice`: the sources in the order considered, the sources to
ask with the numbers to request from each, and the reason for every source that is not asked. A method only computes:
`node.backfill.sources` reads the tables, and `node.backfill.array` sends the requests.

    method       versions     order                                                who is asked, and for what
    two_holders  5.5          up, most numbers, own site, cost                     the first two, each for all it has
    six_groups   2000         up, group 1 to 6, order of the group                 the first that has every missing number, for
                                                                                   all; if none has: one that has a part, for it
    sorted_list  2003, 2007   up, preferred, cost, newest version, most numbers    each in turn, for what is not requested yet

"Up" means that sources that are marked down come last. The smaller GUID of the directory entry decides ties. A source that
has none of the numbers, or to which no mail can be sent, is never asked.

A source is a holder, or a store that is leaving the folder and keeps its data until another store has it (spec: RP-2). All
leaving stores that are up come after all holders that are up, whatever the method. So a leaving store is asked only for
numbers that no such holder has. Holders that are marked down come after the leaving stores that are up: a holder that never
comes back must not prevent requests to them.

Example: A lacks 1 to 10. X, in the same site, has 1 to 6. Y has all, at cost 10. Z has 7 to 10, at cost 20.

    5.5    Y is asked for 1 to 10 and X for 1 to 6, at the same time
    2000   Y is asked for 1 to 10. If Y is marked down, Z is asked for 7 to 10, and X for 1 to 6 after the retry time-out
           (among partial holders, the last group that has a server comes first)
    2003   X is asked for 1 to 6 and Y for 7 to 10, at the same time; Z is passed over

What must never happen: a request for numbers that the source's row does not claim; a 2003 server that asks two sources for the
same number; a 5.5 server that asks more than two sources at a time; a request to a leaving store for numbers that a holder
claims, is up and can be sent to; a source that never comes back and so prevents requests to the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby

from node.state.version_profiles import FIRST_WITH_ROUTING_GROUPS, SourceChoice
from node.tracking.number_sets import NumberSets
from traces.labtime import LabTime

HOLDERS_ASKED = 2
"""How many sources a 5.5 server asks [S4 X]."""

GROUPS = range(1, 7)
"""The groups of 2000: in the site, with affinity, without affinity; first servers of 2000 or newer, then older ones. [S0]"""

_UNKNOWN = 2**62  # sorts after every known value

NOTHING, ADDRESS, ALREADY = "is not known to have any of it", "has no mail address", "is being asked already"
TREE = "gets no mail about the folder, because a holder of it names no public folder tree"
LEAVING = "is leaving the folder, and the holders before it have all it has"


def unknown_last(value: int | None) -> int:
    """Return the value for sorting. Unknown values come last."""
    return _UNKNOWN if value is None else value


@dataclass(frozen=True, slots=True)
class Source:
    """A source as the requesting store knows it.

    leaving     it is not on the replica list any more, and keeps its data until another store has all of it (spec: RP-2)
    near        it is in the same site
    cost        least routing cost; None: no route
    affinity    least sum of referral costs; None: no affinity (spec: RT-4)
    transit_us  how long its mail takes; None: no mail of it has arrived (spec: RT-3)
    unreached   why no mail about the folder can be sent to it, or '' (spec: ML-1, ML-8)
    has_all     its row claims every number that this store misses in the folder
    numbers     the numbers of the gap that its row claims
    """

    store: str
    guid: bytes
    joined_at: LabTime
    site: str
    version: str
    rank: int
    near: bool
    down: bool
    preferred: bool
    cost: int | None
    affinity: int | None
    transit_us: int | None
    backfilled_at: LabTime
    unreached: str
    has_all: bool
    numbers: NumberSets
    leaving: bool = False

    @property
    def has(self) -> int:
        return self.numbers.count()

    @property
    def older(self) -> bool:
        """Whether its server is older than 2000, which brought routing groups."""
        return self.rank < FIRST_WITH_ROUTING_GROUPS


@dataclass(slots=True)
class Choice:
    """The result of one choice.

    ordered     the sources in the order in which they were considered
    shares      the sources that are asked, in order, each with its numbers
    passed_over for each store that is not asked, the reason
    one_by_one  numbers that the asked source lacks are requested only after the retry time-out (2000)
    """

    ordered: list[Source]
    shares: list[tuple[Source, NumberSets]] = field(default_factory=list)
    passed_over: dict[str, str] = field(default_factory=dict)
    one_by_one: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """The numbers to request, and the stores that have an outstanding request of the entry."""

    numbers: NumberSets
    running: frozenset[str] = frozenset()


def sorted_list(sources: Sequence[Source], gap: Gap) -> Choice:
    """Choose as 2003 and 2007 do: ask along one sorted list until all numbers are requested [S1 S3].

    S1 and S3 list the criteria without weights. Here an earlier criterion decides before a later one. [X, C4]
    """
    choice = Choice(
        sorted(
            sources,
            key=lambda candidate: (
                candidate.down,
                candidate.leaving,
                not candidate.preferred,
                unknown_last(candidate.cost),
                -candidate.rank,
                -candidate.has,
                candidate.guid,
            ),
        )
    )
    numbers = gap.numbers
    for candidate in choice.ordered:
        reason = _unfit(candidate)
        share = candidate.numbers & numbers
        if reason or not share:
            choice.passed_over[candidate.store] = reason or "the ones before it have all it has"
            continue
        choice.shares.append((candidate, share))
        numbers -= share
    return choice


def two_holders(sources: Sequence[Source], gap: Gap) -> Choice:
    """Choose as 5.5 does: ask the two holders that have most of the numbers, each for all that it has [X].

    A leaving store is asked only for numbers that the holders before it do not have.
    """
    choice = Choice(
        sorted(
            sources,
            key=lambda candidate: (
                candidate.down,
                candidate.leaving,
                -candidate.has,
                not candidate.near,
                unknown_last(candidate.cost),
                candidate.guid,
            ),
        )
    )
    request_count = len(gap.running)
    coverage = NumberSets.EMPTY
    for candidate in choice.ordered:
        reason = _unfit(candidate)
        share = candidate.numbers - coverage if candidate.leaving else candidate.numbers
        if not reason and not candidate.leaving:
            coverage |= candidate.numbers
        if candidate.store in gap.running:
            reason = ALREADY
        elif not reason and not share:
            reason = LEAVING
        elif not reason and request_count >= HOLDERS_ASKED:
            reason = "two holders before it are asked"
        if reason:
            choice.passed_over[candidate.store] = reason
            continue
        choice.shares.append((candidate, share))
        request_count += 1
    return choice


def group_of(source: Source) -> int:
    """Return the group of 2000 that a server belongs to, 1 to 6 [S0]."""
    kind = 0 if source.near else 1 if source.affinity is not None else 2
    return GROUPS[3 + kind if source.older else kind]


def _in_group(source: Source) -> tuple[int, bytes]:
    """Return the sort key in a group: last backfill in the site, else affinity or transit time (spec: BF-9, RT-3, RT-4)."""
    if source.near:
        return source.backfilled_at, source.guid
    return unknown_last(source.affinity if source.affinity is not None else source.transit_us), source.guid


def six_groups(sources: Sequence[Source], gap: Gap) -> Choice:
    """Choose as 2000 does: the first server of the six groups that has everything, or else one that has a part [S0 S3].

    Servers that are marked down come last, even after the partial holders. Otherwise a full holder that never comes back
    would be asked again and again, although other holders together have what is missing. [D]
    """
    order = sorted(
        sources, key=lambda candidate: (candidate.down, candidate.leaving, group_of(candidate), _in_group(candidate))
    )
    parts = [list(part) for _, part in groupby(order, key=lambda candidate: (candidate.down, candidate.leaving))]
    for index, part in enumerate(parts):
        full = next((candidate for candidate in part if candidate.has_all and not _unfit(candidate)), None)
        if full is not None:
            return _one(order, full, one_by_one=False)
        last = group_of(part[-1])
        partial = [candidate for candidate in part if group_of(candidate) == last] + [
            candidate for candidate in part if group_of(candidate) != last
        ]
        first = next((candidate for candidate in partial if not _unfit(candidate)), None)
        if first is not None:
            return _one([*chain(*parts[:index], partial, *parts[index + 1 :])], first, one_by_one=True)
    return Choice(order, passed_over={candidate.store: _unfit(candidate) for candidate in order})


def _one(order: list[Source], source: Source, *, one_by_one: bool) -> Choice:
    choice = Choice(order, [(source, source.numbers)], one_by_one=one_by_one)
    before = True
    for candidate in order:
        if candidate is source:
            before = False
        elif _unfit(candidate):
            choice.passed_over[candidate.store] = _unfit(candidate)
        elif before:
            choice.passed_over[candidate.store] = f"has only a part, and {source.store} has all that is missing"
        elif one_by_one:
            choice.passed_over[candidate.store] = f"comes after {source.store}; one is asked at a time"
        else:
            choice.passed_over[candidate.store] = f"comes after {source.store}, which has all that is missing"
    return choice


def _unfit(source: Source) -> str:
    """Return why no method asks this source, or ''."""
    if not source.has:
        return NOTHING
    return source.unreached


CHOICES: Mapping[SourceChoice, Callable[[Sequence[Source], Gap], Choice]] = {
    SourceChoice.TWO_HOLDERS: two_holders,
    SourceChoice.SIX_GROUPS: six_groups,
    SourceChoice.SORTED_LIST: sorted_list,
}
