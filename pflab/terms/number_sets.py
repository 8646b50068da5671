"""Sets of change numbers for the code that judges a run.

The node has its own arithmetic (`node.tracking`). This one is written separately on purpose, so that an error in the node's
arithmetic cannot hide here (CV-2).

A number is the text `guidhex:counter`, as in traces. A set is a dict from GUID in hex to a sorted list of closed ranges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from traces.errors import SetTextError

Ranges = list[tuple[int, int]]
Numbers = dict[str, Ranges]

_TRACED_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
_NAMED = re.compile(r"^(?P<name>\S+?)-(?P<low>\d+)(?:(?:\.\.|-)(?P<high>\d+))?$")


def split_number(number: str) -> tuple[str, int]:
    """Split `guidhex:counter` into GUID and counter. Raises SetTextError for any other text."""
    guid, _, counter = number.rpartition(":")
    try:
        return guid, int(counter)
    except ValueError:
        raise SetTextError(
            f"{number[:80]!r} is not a change number; the trace was changed after a store wrote it"
        ) from None


def tidy(pairs: Iterable[tuple[str, int, int]]) -> Numbers:
    """Return the set of these (name, low, high) ranges, in any order; ranges that touch are joined."""
    numbers: Numbers = {}
    for name, low, high in sorted(pairs):
        ranges = numbers.setdefault(name, [])
        if ranges and low <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], high))
        else:
            ranges.append((low, high))
    return numbers


def parse_traced(text: str) -> Numbers:
    """Read a set from the form of the traces: `guid:lo-hi,lo-hi;guid:n`, or empty text for the empty set.

    Raises SetTextError for any other text.
    """
    pairs = []
    for part in filter(None, text.split(";")):
        guid, _, ranges = part.partition(":")
        for item in ranges.split(","):
            match = _TRACED_RANGE.fullmatch(item)
            if match is None or int(match[2] or match[1]) < int(match[1]):
                raise SetTextError(
                    f"{text[:80]!r} is not a set of change numbers; the trace was changed after a store wrote it"
                )
            pairs.append((guid.strip("{}"), int(match[1]), int(match[2] or match[1])))
    return tidy(pairs)


def parse_named(text: str) -> Numbers:
    """Read a set from the form for people: `A-1..100, A-105, B-7`, separated by commas or spaces.

    A range without a name belongs to the store named before it. Raises ValueError for any other text.
    """
    pairs: list[tuple[str, int, int]] = []
    for item in re.split(r"[,;\s]+", text.strip()):
        if not item or item == "nothing":
            continue
        bare = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", item)
        if bare and pairs:
            pairs.append((pairs[-1][0], int(bare[1]), int(bare[2] or bare[1])))
            continue
        match = _NAMED.match(item)
        if match is None:
            raise ValueError(f"{item!r} is not a change number; write A-5 or A-1..5")
        pairs.append((match["name"], int(match["low"]), int(match["high"] or match["low"])))
    return tidy(pairs)


def contains(text: str, guid: str, counter: int) -> bool:
    """Return whether the set written as `text` has the number with this GUID and counter."""
    return guid in text and any(low <= counter <= high for low, high in parse_traced(text).get(guid, []))


def of_numbers(numbers: Iterable[str]) -> Numbers:
    """Return the set of these numbers, each in the form of the traces."""
    return tidy((guid, counter, counter) for guid, counter in map(split_number, numbers))


def minus(left: Mapping[str, Ranges], right: Mapping[str, Ranges]) -> Numbers:
    """Return the numbers that are in `left` and not in `right`."""
    remaining: list[tuple[str, int, int]] = []
    for name, ranges in left.items():
        for low, high in ranges:
            start = low
            for cut_low, cut_high in right.get(name, []):
                if cut_high < start or cut_low > high:
                    continue
                if cut_low > start:
                    remaining.append((name, start, cut_low - 1))
                start = cut_high + 1
            if start <= high:
                remaining.append((name, start, high))
    return tidy(remaining)


def union(sets: Iterable[Mapping[str, Ranges]]) -> Numbers:
    return tidy((name, low, high) for numbers in sets for name, ranges in numbers.items() for low, high in ranges)


def common(left: Mapping[str, Ranges], right: Mapping[str, Ranges]) -> Numbers:
    """Return the numbers that are in both sets."""
    return minus(left, minus(left, right))


def renamed(numbers: Mapping[str, Ranges], name_of: Callable[[str], str]) -> Numbers:
    return tidy((name_of(name), low, high) for name, ranges in numbers.items() for low, high in ranges)


def words(numbers: Mapping[str, Ranges], name_of: Callable[[str], str] = str) -> str:
    """Return the set as text for people: `A-1..3, A-7, B-2`, or `nothing`."""
    return ", ".join(_items(numbers, name_of)) or "nothing"


def _items(numbers: Mapping[str, Ranges], name_of: Callable[[str], str]) -> Iterator[str]:
    for guid in sorted(numbers, key=name_of):
        for low, high in numbers[guid]:
            yield f"{name_of(guid)}-{low}" if low == high else f"{name_of(guid)}-{low}..{high}"
