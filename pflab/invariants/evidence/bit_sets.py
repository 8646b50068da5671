"""Sets of change numbers for the invariants: by GUID an integer whose bit n stands for counter n.

A third way of counting, apart from the node's ranges and the oracle's (CV-2), and quick enough to be done after every
event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

Bits = Mapping[str, int]

_FAI = " fai"

HIGHEST = 1 << 20
"""Counters above this are all taken for this one: no lab of a campaign comes near, so it is wrong anyway."""

EMPTY: Bits = {}


@lru_cache(maxsize=65_536)
def parse(text: str) -> Bits:
    """The set that a trace writes `{guid}:lo-hi,n;{guid}:n`. Shared between callers: never change it."""
    found: dict[str, int] = {}
    for part in text.split(";") if text else ():
        guid, _, ranges = part.partition(":")
        bits = 0
        for each in ranges.split(","):
            low, _, high = each.partition("-")
            bits |= span(int(low), int(high or low))
        guid = guid.strip("{}")
        found[guid] = found.get(guid, 0) | bits
    return found


@lru_cache(maxsize=16_384)
def by_kind(cnset: str, cnset_fai: str) -> Bits:
    """Both sets of a folder in one, that of associated messages under names of its own (`_FAI`). Shared: never change it."""
    if not cnset_fai:
        return parse(cnset)
    return {**parse(cnset), **{f"{guid}{_FAI}": each for guid, each in parse(cnset_fai).items()}}


def span(low: int, high: int) -> int:
    """The bits of all counters from `low` to `high`."""
    low, high = min(low, HIGHEST), min(high, HIGHEST)
    return (1 << (high + 1)) - (1 << low) if high >= low else 0


def split(number: str) -> tuple[str, int]:
    """(GUID, counter) of `guid:counter`."""
    guid, _, counter = number.rpartition(":")
    return guid, int(counter)


def add(into: dict[str, int], bits: Bits) -> None:
    for guid, each in bits.items():
        into[guid] = into.get(guid, 0) | each


def add_number(into: dict[str, int], number: str) -> None:
    guid, counter = split(number)
    into[guid] = into.get(guid, 0) | 1 << min(counter, HIGHEST)


def has(bits: Bits, number: str, *, fai: bool = False) -> bool:
    """`fai`: of a set `by_kind`, as the number of an associated message."""
    guid, counter = split(number)
    guid = f"{guid}{_FAI}" if fai else guid
    return bool(bits.get(guid, 0) >> min(counter, HIGHEST) & 1)


def minus(left: Bits, right: Bits) -> dict[str, int]:
    """What `left` has and `right` lacks."""
    rest = {guid: each & ~right.get(guid, 0) for guid, each in left.items()}
    return {guid: each for guid, each in rest.items() if each}


def common(left: Bits, right: Bits) -> dict[str, int]:
    both = {guid: each & right[guid] for guid, each in left.items() if guid in right}
    return {guid: each for guid, each in both.items() if each}


def union(sets: Iterable[Bits]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in sets:
        add(found, each)
    return found


def numbers(bits: Bits) -> Iterator[str]:
    """Each number of a set, as `guid:counter`."""
    for guid, each in bits.items():
        for counter in range(each.bit_length()):
            if each >> counter & 1:
                yield f"{guid}:{counter}"


def count(bits: Bits) -> int:
    """How many numbers a set has."""
    return sum(each.bit_count() for each in bits.values())


def words(bits: Bits, name_of: Callable[[str], str]) -> str:
    """`A-1..3, A-7, B-2`, or `nothing`; numbers of associated messages as the others."""
    named = sorted((name_of(guid.removesuffix(_FAI)), each) for guid, each in bits.items())
    return ", ".join(f"{name}-{part}" for name, each in named for part in _ranges(each)) or "nothing"


def _ranges(bits: int) -> Iterator[str]:
    low = 0
    while bits >> low:
        while not bits >> low & 1:
            low += 1
        high = low
        while bits >> (high + 1) & 1:
            high += 1
        yield str(low) if low == high else f"{low}..{high}"
        low = high + 1
