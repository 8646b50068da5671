"""The tests that try every scenario or lesson: which of them a run plays."""

from __future__ import annotations

import pytest

from tests.support.samples import Share, sampled

TESTS = [f"tests/some.py::test_it[{number}]" for number in range(400)]


def test_a_sample_is_played_by_all_and_the_rest_is_marked() -> None:
    """The first value of every three is played by each run; the others are long, and a share may leave them out."""
    values = sampled("abcde", 3)
    assert [values[0], values[3]] == ["a", "d"]
    assert [{mark.name for mark in values[place].marks} for place in (1, 2, 4)] == [{"long", "rest"}] * 3


def test_a_share_is_drawn_by_the_content() -> None:
    """The same content draws the same tests, another content others, and each test is drawn by some content."""
    share = Share.parse("4:3f2a")
    drawn = {test for test in TESTS if share.has(test)}
    assert 50 < len(drawn) < 150
    assert drawn == {test for test in TESTS if Share.parse("4:3f2a").has(test)}
    assert drawn != {test for test in TESTS if Share.parse("4:3f2b").has(test)}
    assert all(any(Share(4, str(content)).has(test) for content in range(100)) for test in TESTS)


@pytest.mark.parametrize("text", ["4", "0:a", "a:4", ":", "-1:a", ""])
def test_another_form_is_a_mistake(text: str) -> None:
    """A share without a number of at least 1, or without a text, is refused."""
    with pytest.raises(pytest.UsageError, match="write a number"):
        Share.parse(text)
