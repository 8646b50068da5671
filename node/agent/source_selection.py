"""The three ways of choosing backfill sources, as functions of what the chooser knows of each holder (spec: BF-3).

A way puts the holders in order and says who is asked for what, and of each other why not. It reads nothing and sends
nothing; `node.agent.backfill_sources` gathers what it needs and traces what it says. All ties go to the smaller GUID
of the stores'
entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from node.state.version_profiles import FIRST_WITH_ROUTING_GROUPS, SourceChoice
from node.tracking.number_sets import NumberSets
from traces import LabTime

HOLDERS_ASKED = 2
"""By a 5.5 server [S4 X]."""

GROUPS = range(1, 7)
"""Of 2000: near, with affinity, without; of servers that are 2000 or newer, then of older ones. [S0]"""

NO_GROUP = 0

_UNKNOWN = 2**62  # sorts what is not known behind all that is

NOTHING, ADDRESS, ALREADY = "is not known to have any of it", "has no mail address", "is being asked already"


@dataclass(frozen=True, slots=True)
class Source:
    """A holder as the choosing store knows it.

    near        it is in the same site
    cost        least routing cost; None: no route
    affinity    least sum of referral costs; None: no affinity (spec: RT-4)
    transit_us  how long its mail takes; None: none has come yet (spec: RT-3)
    has_all     its row claims every number that this store misses in the folder
    numbers     of those in question, the ones that its row claims
    """

    store: str
    guid: bytes
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
    addressed: bool
    has_all: bool
    numbers: NumberSets

    @property
    def has(self) -> int:
        return self.numbers.count()


@dataclass(slots=True)
class Choice:
    """What came of one choice.

    ordered     the holders in the order in which they were considered
    asked       those that are asked, in order, each with what it is asked for
    passed_over store to why it is not asked
    one_by_one  what the one asked does not have waits for the retry time-out of versions before 2003
    """

    ordered: list[Source]
    asked: list[tuple[Source, NumberSets]] = field(default_factory=list)
    passed_over: dict[str, str] = field(default_factory=dict)
    one_by_one: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """What is to be asked for, and who is being asked for some of it already."""

    numbers: NumberSets
    running: frozenset[str] = frozenset()


def sorted_list(found: Sequence[Source], gap: Gap) -> Choice:
    """2003 and 2007: one sorted list, asked from its head until all is requested [S1 S3].

    The sources name the criteria in order and do not say which weighs most; here the first does. [X, C4]
    """
    choice = Choice(
        sorted(
            found,
            key=lambda each: (each.down, not each.preferred, _known(each.cost), -each.rank, -each.has, each.guid),
        )
    )
    numbers = gap.numbers
    for each in choice.ordered:
        reason = _unfit(each)
        share = each.numbers & numbers
        if reason or not share:
            choice.passed_over[each.store] = reason or "the ones before it have all it has"
            continue
        choice.asked.append((each, share))
        numbers -= share
    return choice


def two_holders(found: Sequence[Source], gap: Gap) -> Choice:
    """5.5: the two holders with most of it, the own site first, then by cost; each is asked for all it has [X]."""
    choice = Choice(sorted(found, key=lambda each: (each.down, -each.has, not each.near, _known(each.cost), each.guid)))
    asked = len(gap.running)
    for each in choice.ordered:
        reason = _unfit(each)
        if each.store in gap.running:
            reason = ALREADY
        elif not reason and asked >= HOLDERS_ASKED:
            reason = "two holders before it are asked"
        if reason:
            choice.passed_over[each.store] = reason
            continue
        choice.asked.append((each, each.numbers))
        asked += 1
    return choice


def group_of(source: Source) -> int:
    """The search group of 2000 that a server belongs to, 1 to 6 [S0]."""
    kind = 0 if source.near else 1 if source.affinity is not None else 2
    return GROUPS[kind if source.rank >= FIRST_WITH_ROUTING_GROUPS else 3 + kind]


def _in_group(source: Source) -> tuple[int, bytes]:
    """The order within a group: oldest last backfill, cheapest affinity, shortest way (spec: BF-9, RT-3, RT-4)."""
    if source.near:
        return source.backfilled_at, source.guid
    return _known(source.affinity if source.affinity is not None else source.transit_us), source.guid


def six_groups(found: Sequence[Source], gap: Gap) -> Choice:
    """2000: the first of the six groups' servers that has everything; else one that has some of it [S0 S3].

    Servers marked down stand at the end of the list, behind the partial holders too: one of them that never comes back
    would else be asked for ever, though others have what is missing between them. [D]
    """
    order = sorted(found, key=lambda each: (group_of(each), _in_group(each)))
    up, down = [each for each in order if not each.down], [each for each in order if each.down]
    for part in (up, down):
        full = next((each for each in part if each.has_all and not _unfit(each)), None)
        if full is not None:
            return _one([*up, *down], full, one_by_one=False)
        last = group_of(part[-1]) if part else NO_GROUP
        partial = [each for each in part if group_of(each) == last] + [each for each in part if group_of(each) != last]
        first = next((each for each in partial if not _unfit(each)), None)
        if first is not None:
            order = [*partial, *down] if part is up else [*up, *partial]
            return _one(order, first, one_by_one=True)
    return Choice([*up, *down], passed_over={each.store: _unfit(each) for each in order})


def _one(order: list[Source], asked: Source, *, one_by_one: bool) -> Choice:
    choice = Choice(order, [(asked, asked.numbers)], one_by_one=one_by_one)
    before = True
    for each in order:
        if each is asked:
            before = False
        elif _unfit(each):
            choice.passed_over[each.store] = _unfit(each)
        elif before:
            choice.passed_over[each.store] = f"has only a part, and {asked.store} has all that is missing"
        elif one_by_one:
            choice.passed_over[each.store] = f"comes after {asked.store}; one is asked at a time"
        else:
            choice.passed_over[each.store] = f"comes after {asked.store}, which has all that is missing"
    return choice


def _unfit(source: Source) -> str:
    """Why nobody would ask it, whatever the order; '' if it can be asked."""
    if not source.has:
        return NOTHING
    return "" if source.addressed else ADDRESS


def _known(value: int | None) -> int:
    return _UNKNOWN if value is None else value


CHOICES: Mapping[SourceChoice, Callable[[Sequence[Source], Gap], Choice]] = {
    SourceChoice.TWO_HOLDERS: two_holders,
    SourceChoice.SIX_GROUPS: six_groups,
    SourceChoice.SORTED_LIST: sorted_list,
}
