"""Sets of change numbers against Python's own sets as the model (CN-5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice, pairwise
from random import Random
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.tracking import ranges
from node.tracking.change_number import MAX_COUNTER, ChangeNumber, NumberError
from node.tracking.cnset import CNSet

A, B, C = bytes(15) + b"\x01", b"\x7f" * 16, b"\xff" * 16
NAMES = {A: "A", B: "B", C: "C"}

Model = frozenset[ChangeNumber]

models = st.frozensets(st.builds(ChangeNumber, st.sampled_from([A, B, C]), st.integers(1, 60)), max_size=90)


def scattered(seed: int, density: float) -> Model:
    random = Random(seed)
    return frozenset(ChangeNumber(A, counter) for counter in range(1, 200) if random.random() < density)


long_models = st.builds(scattered, st.integers(0, 10_000), st.sampled_from([0.02, 0.1, 0.5, 0.9]))
pairs = st.tuples(st.integers(1, 60), st.integers(0, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))
range_maps = st.dictionaries(st.sampled_from([A, B, C]), st.lists(pairs, max_size=12))

ALGEBRA: dict[str, tuple[Callable[[CNSet, CNSet], object], Callable[[Model, Model], object]]] = {
    "union": (lambda a, b: a | b, lambda a, b: a | b),
    "difference": (lambda a, b: a - b, lambda a, b: a - b),
    "intersection": (lambda a, b: a & b, lambda a, b: a & b),
    "containment": (lambda a, b: a <= b, lambda a, b: a <= b),
    "containment in the union": (lambda a, b: a <= a | b, lambda a, b: True),
    "disjoint": (lambda a, b: a.isdisjoint(b), lambda a, b: a.isdisjoint(b)),
    "equal": (lambda a, b: a == b, lambda a, b: a == b),
    "union of all": (lambda a, b: CNSet.union_all([a, b, a, b & a]), lambda a, b: a | b),
}


@contextmanager
def everything_counts_as_long() -> Iterator[None]:
    """Lower the threshold, so that a few bounds are kept in arrays and combined block by block, as thousands are."""
    with mock.patch.multiple(ranges, _LONG=4, _BLOCK=4, _MUCH_LONGER=3, _FEW=1):
        yield


def same(result: object, expected: object) -> None:
    if isinstance(result, CNSet):
        assert isinstance(expected, frozenset)
        assert frozenset(result.numbers()) == expected
        assert result == CNSet.from_numbers(expected)
        assert hash(result) == hash(CNSet.from_numbers(expected))
    else:
        assert result == expected


@given(st.lists(st.builds(ChangeNumber, st.sampled_from([A, B]), st.integers(1, 12)), max_size=20))
def test_numbers_in_any_order_and_repeated(numbers: list[ChangeNumber]) -> None:
    """A set made of numbers holds each of them once, runs and gaps alike."""
    made = CNSet.from_numbers(numbers)
    assert list(made.numbers()) == sorted(set(numbers))
    assert made == CNSet.union_all(CNSet.of(number) for number in numbers)


@pytest.mark.parametrize("operation", ALGEBRA)
@given(one=models, other=models)
def test_algebra(operation: str, one: Model, other: Model) -> None:
    """Every operation of the algebra gives what it gives on plain sets of numbers."""
    ours, models_own = ALGEBRA[operation]
    same(ours(CNSet.from_numbers(one), CNSet.from_numbers(other)), models_own(one, other))


@pytest.mark.parametrize("operation", ALGEBRA)
@settings(max_examples=60)
@given(one=st.one_of(models, long_models), other=st.one_of(models, long_models))
def test_algebra_of_long_sets(operation: str, one: Model, other: Model) -> None:
    """The algebra does not depend on how long sets are stored or in which portions they are combined."""
    ours, models_own = ALGEBRA[operation]
    with everything_counts_as_long():
        same(ours(CNSet.from_numbers(one), CNSet.from_numbers(other)), models_own(one, other))


@pytest.mark.parametrize("sizes", [(3000, 3000), (3000, 5), (5, 3000), (3000, 700), (1, 3000), (3000, 1)])
def test_algebra_at_full_length(sizes: tuple[int, int]) -> None:
    """Sets of thousands of ranges obey the algebra too, whichever is the longer."""
    random = Random(7)
    one, other = (frozenset(ChangeNumber(A, random.randrange(1, 20_000)) for _ in range(size)) for size in sizes)
    for ours, models_own in ALGEBRA.values():
        same(ours(CNSet.from_numbers(one), CNSet.from_numbers(other)), models_own(one, other))


@settings(max_examples=50)
@given(st.lists(models, max_size=6), st.randoms(use_true_random=False))
def test_merges_in_any_order(parts: list[Model], random: Random) -> None:
    """Sets merged in any order, one by one or all at once, are equal, and equal sets have one hash."""
    sets = [CNSet.from_numbers(part) for part in parts]
    expected = CNSet.union_all(sets)
    random.shuffle(sets)
    merged = CNSet.EMPTY
    for each in sets:
        merged = merged | each
    assert merged == expected
    assert hash(merged) == hash(expected)
    assert merged.text() == expected.text()


@given(range_maps)
def test_from_ranges(given_ranges: dict[bytes, list[tuple[int, int]]]) -> None:
    """Ranges in any order, overlapping or touching, become the disjoint ranges of the same numbers."""
    model = {ChangeNumber(g, n) for g, own in given_ranges.items() for lo, hi in own for n in range(lo, hi + 1)}
    made = CNSet.from_ranges(given_ranges)
    assert set(made.numbers()) == model
    assert made.guids() == tuple(sorted({number.guid for number in model}))
    assert made.range_count() == sum(len(made.ranges(guid)) for guid in made.guids())
    for guid in made.guids():
        own = made.ranges(guid)
        assert all(hi + 1 < lo for (_, hi), (lo, _) in pairwise(own))


@given(models)
def test_queries(model: Model) -> None:
    """Counts, bounds, membership and order are those of the numbers in the set."""
    made = CNSet.from_numbers(model)
    assert bool(made) == bool(model)
    assert made.count() == len(model)
    assert list(made.numbers()) == sorted(model)
    assert list(made.numbers(5)) == sorted(model)[:5]
    for guid in NAMES:
        counters = [number.counter for number in model if number.guid == guid]
        assert made.highest(guid) == max(counters, default=0)
        assert all((ChangeNumber(guid, n) in made) == (n in counters) for n in range(62))


@given(models, st.sampled_from([A, B, C]), st.integers(0, 61))
def test_subsets(model: Model, guid: bytes, counter: int) -> None:
    """Subsets by store, above a counter and up to a number hold exactly the numbers they should."""
    with everything_counts_as_long():
        made = CNSet.from_numbers(model)
        same(made.only([guid, bytes(16)]), frozenset(n for n in model if n.guid == guid))
        same(made.without(guid), frozenset(n for n in model if n.guid != guid))
        same(made.above(guid, counter), frozenset(n for n in model if n.guid == guid and n.counter > counter))
        number = ChangeNumber(guid, counter)
        same(made.upto(number), frozenset(n for n in model if n <= number))


def test_subsets_at_the_highest_counter() -> None:
    """Nothing is above the highest counter, and everything of a store is up to it."""
    full = CNSet.span(A, 1, MAX_COUNTER)
    assert full.above(A, MAX_COUNTER) == CNSet.EMPTY
    assert full.above(A, 0) == full.upto(ChangeNumber(A, MAX_COUNTER)) == full
    assert full - CNSet.span(A, 2, MAX_COUNTER) == CNSet.of(ChangeNumber(A, 1))
    assert full - CNSet.span(A, 1, MAX_COUNTER - 1) == CNSet.of(ChangeNumber(A, MAX_COUNTER))


@given(models)
def test_text_round_trip(model: Model) -> None:
    """Every set is read back from its trace form."""
    made = CNSet.from_numbers(model)
    assert CNSet.parse(made.text()) == made


def test_text_form() -> None:
    """The trace form lists GUIDs ascending, ranges as lo-hi, single numbers alone, and is '' when empty."""
    made = CNSet.from_ranges({B: [(5, 5)], A: [(103, 104), (1, 100)]})
    assert made.text() == f"{A.hex()}:1-100,103-104;{B.hex()}:5"
    assert CNSet.EMPTY.text() == ""
    assert CNSet.parse("") == CNSet.EMPTY


def test_named() -> None:
    """People see store names, ordered by name, and 8 hex digits of a GUID that has no name."""
    made = CNSet.from_ranges({A: [(1, 100), (105, 105)], B: [(5, 5)], C: [(7, 8)]})
    assert made.named({A: "B", B: "A"}) == "A-5, B-1..100, B-105, ffffffff-7..8"
    assert CNSet.EMPTY.named({}) == ""


@pytest.mark.parametrize(
    "text",
    [
        ";",
        ":",
        "1-5",
        A.hex(),
        A.hex() + ":",
        A.hex() + ":0",
        A.hex() + ":0-5",
        A.hex() + ":5-1",
        A.hex() + ":1-",
        A.hex() + ":-1",
        A.hex() + ":1,",
        A.hex() + ":1-2-3",
        A.hex() + ": 1",
        A.hex() + ":1;",
        A.hex() + f":{MAX_COUNTER + 1}",
        A.hex()[2:] + ":1",
        "G" * 32 + ":1",
    ],
)
def test_bad_text(text: str) -> None:
    """Text that is not a set's trace form is a NumberError."""
    with pytest.raises(NumberError):
        CNSet.parse(text)


@given(st.text(st.sampled_from("0f1-,:; \u0661x"), max_size=80))
def test_any_text(text: str) -> None:
    """Whatever the text, reading it gives a set or a NumberError."""
    try:
        made = CNSet.parse(text)
    except NumberError:
        return
    assert CNSet.parse(made.text()) == made


@pytest.mark.parametrize(
    ("guid", "lo", "hi"),
    [
        (A, 0, 5),
        (A, 6, 5),
        (A, 1, MAX_COUNTER + 1),
        (A, -3, -1),
        (A[:15], 1, 1),
        (A, 1, 2**70),
        (A + A, 1, 1),
    ],
)
def test_out_of_bounds(guid: bytes, lo: int, hi: int) -> None:
    """A range that runs backwards or leaves 1..MAX_COUNTER, or a GUID not of 16 bytes, gets into no set."""
    with pytest.raises(NumberError):
        CNSet.span(guid, lo, hi)
    with pytest.raises(NumberError):
        CNSet.from_ranges({guid: [(3, 4), (lo, hi)]})
    with pytest.raises(NumberError):
        CNSet.from_ranges({guid: [(lo, hi), (3, 4)]})
    if lo == hi or not 1 <= hi <= MAX_COUNTER:
        with pytest.raises(NumberError):
            CNSet.of(ChangeNumber(guid, 2), ChangeNumber(guid, hi))
        with pytest.raises(NumberError):
            CNSet.of(ChangeNumber(guid, hi))


@given(pairs, pairs)
def test_two_ranges(one: tuple[int, int], other: tuple[int, int]) -> None:
    """Two single ranges, the usual case, follow the algebra, also where they touch."""
    first, second = CNSet.span(A, *one), CNSet.span(A, *other)
    model, counters = set(range(one[0], one[1] + 1)), set(range(other[0], other[1] + 1))
    same(first | second, frozenset(ChangeNumber(A, n) for n in model | counters))
    same(first - second, frozenset(ChangeNumber(A, n) for n in model - counters))
    same(first & second, frozenset(ChangeNumber(A, n) for n in model & counters))
    touching = CNSet.span(A, one[1] + 1, one[1] + 3)
    assert (first | touching).ranges(A) == (touching | first).ranges(A) == ((one[0], one[1] + 3),)


def test_unchanged_sets_are_shared() -> None:
    """An operation that changes nothing returns the set itself, and unchanged stores share their bounds."""
    big = CNSet.from_ranges({A: [(n * 10, n * 10 + 3) for n in range(1, 2000)], B: [(1, 9)]})
    assert big | CNSet.span(A, 11, 12) is big
    assert big | CNSet.EMPTY is big
    assert CNSet.EMPTY | big is big
    assert big - CNSet.span(A, 4, 9) is big
    assert big - CNSet.span(C, 4, 9) is big
    assert big.without(C) is big
    changed = big | CNSet.span(B, 10, 10)
    assert changed.bounds(A) is big.bounds(A)
    assert changed.ranges(B) == ((1, 10),)


def test_sets_never_change() -> None:
    """No operation changes a set."""
    big = CNSet.from_ranges({A: [(n * 10, n * 10 + 3) for n in range(1, 2000)]})
    before = big.text()
    _ = big | CNSet.span(A, 1, 5000), big - CNSet.span(A, 1, 5000), big & CNSet.span(A, 1, 5000)
    _ = big | CNSet.span(A, 20_000, 20_001), big.above(A, 777), big.upto(ChangeNumber(A, 777))
    assert big.text() == before


def test_numbers_are_generated_lazily() -> None:
    """The first numbers of an enormous set are available at once."""
    full = CNSet.span(A, 1, MAX_COUNTER)
    assert [number.counter for number in islice(full.numbers(), 3)] == [1, 2, 3]
    assert full.count() == MAX_COUNTER


def test_not_equal_to_other_things() -> None:
    """A set equals only sets, and its repr shows its text."""
    empty = CNSet()
    assert empty != set(empty.numbers())
    assert CNSet() == CNSet.EMPTY
    assert repr(CNSet.span(A, 1, 2)) == f"CNSet({A.hex()}:1-2)"
    assert repr(CNSet.from_ranges({A: [(n * 2, n * 2) for n in range(1, 200)]})).endswith("...)")
