"""The three methods of choosing backfill sources, each criterion by itself (spec: BF-3, BF-4, BF-7, BF-9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from node.backfill.source_selection import ADDRESS, ALREADY, CHOICES, Choice, Gap, Source, group_of
from node.state.version_profiles import PROFILES, SourceChoice
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets

GUID = b"g" * 16


def numbers(*counters: int) -> NumberSets:
    return NumberSets(CNSet.from_numbers(ChangeNumber(GUID, each) for each in counters))


GAP = Gap(numbers(1, 2, 3, 4))
ALL = (1, 2, 3, 4)


def source(store: str, has: tuple[int, ...] = ALL, *, version: str = "2003", **fields: object) -> Source:
    given = Source(
        store=store,
        guid=store.encode(),
        joined_at=0,
        site="SEA",
        version=version,
        rank=PROFILES[version].rank,
        near=True,
        down=False,
        preferred=False,
        cost=0,
        affinity=0,
        transit_us=None,
        backfilled_at=0,
        unreached="",
        has_all=set(has) >= set(ALL),
        numbers=numbers(*has),
    )
    return replace(given, **fields)  # type: ignore[arg-type]


def far(store: str, has: tuple[int, ...] = ALL, *, cost: int = 10, version: str = "2003", **fields: object) -> Source:
    return source(store, has, version=version, **{"near": False, "cost": cost, "affinity": cost, **fields})


def choose(way: SourceChoice, *found: Source, running: str = "") -> Choice:
    return CHOICES[way](found, replace(GAP, running=frozenset(running)))


def order_and_requests(choice: Choice) -> tuple[str, list[tuple[str, str]]]:
    """Return the sorted names, and the counters that each source is asked for."""
    asked = [
        (
            each.store,
            ",".join(str(low) if low == high else f"{low}-{high}" for low, high in share.contents.ranges(GUID)),
        )
        for each, share in choice.shares
    ]
    return "".join(each.store for each in choice.ordered), asked


# -- 2003 and 2007


def test_the_sort_order_of_2003_and_2007() -> None:
    """2003 and 2007 sort by status, preferred source, cost, version and how many they have, then by GUID (spec: BF-3, BF-7)."""
    holders = [
        source("A", down=True, preferred=True),
        far("B", cost=50, preferred=True),
        source("C", version="5.5"),
        source("D", (1,)),
        source("E", (1, 2)),
        source("F", (3, 4)),
        far("G", cost=None, affinity=None),
        far("H", cost=20),
    ]
    assert order_and_requests(choose(SourceChoice.SORTED_LIST, *holders))[0] == "BEFDCHGA"


def test_the_sorted_list_is_asked_at_once_until_all_is_requested() -> None:
    """Each source is asked for what the sources before it do not have; one that adds nothing is passed over (spec: BF-3)."""
    choice = choose(
        SourceChoice.SORTED_LIST, source("A", (1, 2)), far("B", (2, 3)), far("C", (1, 2), cost=20), far("D")
    )
    assert order_and_requests(choice) == ("ABCD"[:1] + "DBC", [("A", "1-2"), ("D", "3-4")])
    assert choice.passed_over == {
        "B": "the ones before it have all it has",
        "C": "the ones before it have all it has",
    }


# -- 5.5


def test_5_5_asks_the_two_with_most_each_for_all_it_has() -> None:
    """The two holders with the most of it are each asked for all they have; the own site comes first, then the cost (spec:
    BF-3)."""
    choice = choose(
        SourceChoice.TWO_HOLDERS, far("A", (1, 2, 3)), source("B", (1, 2, 3)), source("C", (4,)), far("D", cost=20)
    )
    assert order_and_requests(choice) == ("DBAC", [("D", "1-4"), ("B", "1-3")])
    assert choice.passed_over["A"] == "two holders before it are asked"


def test_5_5_asks_one_more_where_one_is_being_asked_already() -> None:
    """If one of the two waits for a slot, it is asked later; the other is not asked twice (spec: BF-3, BF-6)."""
    choice = choose(SourceChoice.TWO_HOLDERS, source("A"), source("B"), source("C"), running="A")
    assert order_and_requests(choice) == ("ABC", [("B", "1-4")])
    assert choice.passed_over["A"] == ALREADY


# -- 2000


def test_the_groups_of_2000_are_by_version_first_then_by_distance() -> None:
    """The groups are 2000 and newer in the site, with affinity, without; then the same three of older servers (spec: BF-3,
    RT-4)."""
    groups = [
        source("A"),
        far("B"),
        far("C", affinity=None),
        source("D", version="5.5"),
        far("E", version="5.5"),
        far("F", version="5.5", affinity=None),
    ]
    assert [group_of(each) for each in groups] == [1, 2, 3, 4, 5, 6]
    assert order_and_requests(choose(SourceChoice.SIX_GROUPS, *reversed(groups))) == ("ABCDEF", [("A", "1-4")])


def test_2000_passes_over_a_near_older_server_for_a_distant_newer_one() -> None:
    """The version comes before the site: a distant 2000 server is asked before a 5.5 server of the own site (spec: BF-3)."""
    choice = choose(SourceChoice.SIX_GROUPS, source("A", version="5.5"), far("B", version="2000", cost=90))
    assert order_and_requests(choice) == ("BA", [("B", "1-4")])
    assert choice.passed_over["A"] == "comes after B, which has all that is missing"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (source("Z", backfilled_at=5), source("A", backfilled_at=9)),
        (far("Z", cost=10), far("A", cost=20)),
        (far("Z", affinity=None, transit_us=5), far("A", affinity=None, transit_us=9)),
        (far("Z", affinity=None, transit_us=9), far("A", affinity=None, transit_us=None)),
        (source("A"), source("Z")),
    ],
)
def test_within_a_group_of_2000(first: Source, second: Source) -> None:
    """Servers in the site sort by oldest last backfill, others by affinity or transmission time; ties go to the smaller GUID
    (spec: BF-3, BF-9, RT-3, RT-4)."""
    assert choose(SourceChoice.SIX_GROUPS, second, first).ordered == [first, second]


def test_2000_asks_the_first_that_has_all_whatever_parts_nearer_ones_have() -> None:
    """Partial holders are passed over if one server has everything (spec: BF-3)."""
    choice = choose(
        SourceChoice.SIX_GROUPS, source("A", (1, 2, 3)), far("B", (2,)), far("C", version="5.5"), far("D", ())
    )
    assert order_and_requests(choice) == ("ABDC", [("C", "1-4")])
    assert choice.passed_over == {
        "A": "has only a part, and C has all that is missing",
        "B": "has only a part, and C has all that is missing",
        "D": "is not known to have any of it",
    }
    assert not choice.one_by_one


def test_2000_asks_partial_holders_of_the_last_group_first_and_one_at_a_time() -> None:
    """If no server has all, the partial holders of the last non-empty group come first, then those of the others in order
    (spec: BF-3)."""
    choice = choose(SourceChoice.SIX_GROUPS, source("A", (1, 2)), far("B", (3,)), far("C", (4,), version="5.5"))
    assert order_and_requests(choice) == ("CAB", [("C", "4")])
    assert choice.one_by_one


def test_2000_looks_past_a_last_group_that_has_nothing() -> None:
    """If the servers of the last group have none of it, the partial holders of the first group are asked (spec: BF-3)."""
    choice = choose(SourceChoice.SIX_GROUPS, source("A", (1, 2)), far("B", (3,)), far("C", (), version="5.5"))
    assert order_and_requests(choice) == ("CAB", [("A", "1-2")])


def test_2000_asks_servers_marked_down_after_all_groups() -> None:
    """A server that is marked down comes after all groups, partial holders included, so that no dead server is asked for ever
    (spec: BF-4, BF-3)."""
    choice = choose(SourceChoice.SIX_GROUPS, source("A", down=True), far("B", (3,)), far("C", (4,), cost=20))
    assert order_and_requests(choice) == ("BCA", [("B", "3")])
    assert order_and_requests(choose(SourceChoice.SIX_GROUPS, source("A", down=True), far("B", ())))[1] == [
        ("A", "1-4")
    ]


@pytest.mark.parametrize("way", SourceChoice)
def test_a_leaving_store_is_asked_only_for_what_no_holder_has(way: SourceChoice) -> None:
    """A leaving store comes after the holders that are up, whatever its cost and version (spec: BF-3, RP-2)."""
    leaver = source("A", leaving=True, preferred=True, version="2007")
    choice = choose(way, leaver, far("B", version="5.5"))
    assert order_and_requests(choice) == ("BA", [("B", "1-4")])
    assert choice.passed_over["A"]
    assert order_and_requests(choose(way, leaver, far("B", ())))[1] == [("A", "1-4")]
    assert order_and_requests(choose(way, leaver, far("B", unreached=ADDRESS)))[1] == [("A", "1-4")]


@pytest.mark.parametrize(
    ("way", "asked"),
    [
        (SourceChoice.TWO_HOLDERS, [("B", "1-2"), ("A", "3-4")]),
        (SourceChoice.SORTED_LIST, [("B", "1-2"), ("A", "3-4")]),
        (
            SourceChoice.SIX_GROUPS,
            [("B", "1-2")],
        ),  # one at a time; the leaving store has its turn after the retry time-out
    ],
)
def test_a_leaving_store_is_asked_for_the_rest(way: SourceChoice, asked: list[tuple[str, str]]) -> None:
    """What no holder has is requested from the leaving store (spec: BF-3, RP-2)."""
    assert order_and_requests(choose(way, source("A", leaving=True), far("B", (1, 2)))) == ("BA", asked)


@pytest.mark.parametrize("way", SourceChoice)
def test_a_leaving_store_is_asked_before_a_holder_that_is_down(way: SourceChoice) -> None:
    """A holder that never comes back does not prevent requests to a leaving store that has the changes (spec: BF-4, RP-2)."""
    choice = choose(way, far("A", leaving=True), source("B", down=True))
    assert [each.store for each in choice.ordered] == ["A", "B"]
    assert choice.shares[0][0].store == "A"


@pytest.mark.parametrize("way", SourceChoice)
def test_a_store_without_address_is_passed_over(way: SourceChoice) -> None:
    """Every version passes over a store without a mail address, and never asks a store that has nothing (spec: BF-3, ML-1)."""
    choice = choose(way, source("A", unreached=ADDRESS), source("B"), source("C", ()))
    assert [each.store for each, _ in choice.shares] == ["B"]
    assert choice.passed_over["A"] == "has no mail address"
    assert choice.passed_over["C"] == "is not known to have any of it"
