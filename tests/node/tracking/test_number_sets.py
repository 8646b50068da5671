"""Sets by kind against pairs of Python's own sets as the model (CN-9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from operator import and_, le, or_, sub

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets

A, B = bytes(15) + b"\x01", b"\x7f" * 16

Model = frozenset[tuple[ChangeNumber, bool]]

models = st.frozensets(
    st.tuples(st.builds(ChangeNumber, st.sampled_from([A, B]), st.integers(1, 40)), st.booleans()), max_size=60
)
counters = st.frozensets(st.builds(ChangeNumber, st.sampled_from([A, B]), st.integers(1, 40)), max_size=30)


def model_of(sets: NumberSets) -> Model:
    return frozenset((number, kind) for kind in (False, True) for number in sets.kind(kind).numbers())


@pytest.mark.parametrize("operation", [or_, sub, and_, le])
@given(one=models, other=models)
def test_algebra(operation: Callable[..., object], one: Model, other: Model) -> None:
    """Every operation gives the result of the same operation on plain sets of numbers with their kind. (spec: CN-9)"""
    result = operation(NumberSets.from_numbers(one), NumberSets.from_numbers(other))
    assert (model_of(result) if isinstance(result, NumberSets) else result) == operation(one, other)


@given(models)
def test_reading(model: Model) -> None:
    """Truth, count, kinds and the merged set are those of the numbers inside."""
    sets = NumberSets.from_numbers(model)
    assert bool(sets) == bool(model)
    assert sets.count() == len(model)
    assert sets.kind(False) == sets.contents == CNSet.from_numbers(number for number, kind in model if not kind)
    assert sets.kind(True) == sets.associated == CNSet.from_numbers(number for number, kind in model if kind)
    assert set(sets.merged().numbers()) == {number for number, _ in model}


@given(models)
def test_written_and_read_again(model: Model) -> None:
    """The IDSETs in tables and the fields of events keep each kind in its own place."""
    sets = NumberSets.from_numbers(model)
    assert NumberSets.decode(*sets.encode()) == sets
    assert sets.texts() == {"cnset": sets.contents.text(), "cnset_fai": sets.associated.text()}
    assert list(sets.texts("row")) == ["row", "row_fai"]


@given(models, st.lists(models, max_size=4))
def test_equal_sets_have_one_hash(model: Model, parts: list[Model]) -> None:
    """The union of any number of values does not depend on their order, and equal values have one hash."""
    sets = [NumberSets.from_numbers(part) for part in (model, *parts)]
    one, other = NumberSets.union_all(sets), NumberSets.union_all(reversed(sets))
    assert one == other
    assert hash(one) == hash(other)
    assert model_of(one) == model.union(*parts)


@given(models, counters)
def test_without(model: Model, numbers: frozenset[ChangeNumber]) -> None:
    """Numbers of unknown kind go from both sets."""
    left = NumberSets.from_numbers(model).without(CNSet.from_numbers(numbers))
    assert model_of(left) == {(number, kind) for number, kind in model if number not in numbers}


def test_of_kind() -> None:
    """A set of one kind leaves the other empty."""
    numbers = CNSet.span(A, 1, 3)
    assert NumberSets.of_kind(numbers, False) == NumberSets(numbers)
    assert NumberSets.of_kind(numbers, True) == NumberSets(associated=numbers)


def test_unchanged_values_are_shared() -> None:
    """An operation that changes nothing returns the value itself."""
    sets = NumberSets(CNSet.span(A, 1, 9), CNSet.span(B, 1, 9))
    assert sets | NumberSets.EMPTY is sets
    assert sets | NumberSets(CNSet.span(A, 3, 4), CNSet.span(B, 9, 9)) is sets
    assert sets - NumberSets.EMPTY is sets
    assert sets - NumberSets(CNSet.span(B, 1, 9), CNSet.span(A, 1, 9)) is sets
    assert sets.without(CNSet.EMPTY) is sets


def test_values_never_change() -> None:
    """A value cannot be assigned to."""
    with pytest.raises(FrozenInstanceError):
        NumberSets.EMPTY.contents = CNSet.span(A, 1, 2)  # type: ignore[misc]
