"""Sets of change numbers for the invariants. For each GUID a set has an integer whose bit n means counter n.

The node and the oracle have other implementations, so a mistake in one of them is found (CV-2). This one is fast enough to be
used after every event.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from traces.errors import SetTextError

Bits = Mapping[str, int]

_FAI = " fai"

HIGHEST = 1 << 20
"""Higher counters are treated as this one. No lab of a campaign has so many changes: a higher counter is a mistake anyway."""

EMPTY: Bits = {}


@lru_cache(maxsize=65_536)
def parse(text: str) -> Bits:
    """Return the set that a trace writes as `{guid}:lo-hi,n;{guid}:n`. Callers share it and must not change it.

    Raises SetTextError for any other text.
    """
    bits_by_guid: dict[str, int] = {}
    for part in text.split(";") if text else ():
        guid, _, ranges = part.partition(":")
        bits = 0
        for interval in ranges.split(","):
            low, _, high = interval.partition("-")
            bits |= span(_counter(low, text), _counter(high or low, text))
        guid = guid.strip("{}")
        bits_by_guid[guid] = bits_by_guid.get(guid, 0) | bits
    return bits_by_guid


@lru_cache(maxsize=16_384)
def by_kind(cnset: str, cnset_fai: str) -> Bits:
    """Return one set of both kinds of numbers of a folder. GUIDs of associated messages get the suffix `_FAI`.

    Callers share the set and must not change it.
    """
    if not cnset_fai:
        return parse(cnset)
    return {**parse(cnset), **{f"{guid}{_FAI}": mask for guid, mask in parse(cnset_fai).items()}}


def of_both_kinds(bits: Bits) -> Bits:
    """Return the numbers of a set made by `by_kind`, without the kinds."""
    return union({guid.removesuffix(_FAI): mask} for guid, mask in bits.items())


def span(low: int, high: int) -> int:
    """Return the bits of all counters from `low` to `high`."""
    low, high = min(low, HIGHEST), min(high, HIGHEST)
    return (1 << (high + 1)) - (1 << low) if high >= low else 0


def split(number: str) -> tuple[str, int]:
    """Return (GUID, counter) of `guid:counter`."""
    guid, _, counter = number.rpartition(":")
    return guid, _counter(counter, number)


def _counter(digits: str, text: str) -> int:
    """Return a counter in a text of a trace. Raises SetTextError if it is not a whole number from 0."""
    try:
        counter = int(digits)
    except ValueError:
        counter = -1
    if counter < 0:
        raise SetTextError(
            f"{text[:80]!r} is not a set of change numbers; the trace was changed after a store wrote it"
        )
    return counter


def add(into: dict[str, int], bits: Bits) -> None:
    for guid, mask in bits.items():
        into[guid] = into.get(guid, 0) | mask


def add_number(into: dict[str, int], number: str, *, fai: bool = False) -> None:
    """Add a number to a set.

    `fai`: it belongs to an associated message, and the set is like one from `by_kind`.
    """
    guid, counter = split(number)
    guid = f"{guid}{_FAI}" if fai else guid
    into[guid] = into.get(guid, 0) | 1 << min(counter, HIGHEST)


def covers(pcl: str, rivals: Collection[str], number: str) -> bool:
    """Return whether a predecessor list, which has one counter for each GUID, includes a number (CN-4). It never includes a
    rival (CF-6)."""
    guid, counter = split(number)
    return parse(pcl).get(guid, 0).bit_length() > counter and number not in rivals


def has(bits: Bits, number: str, *, fai: bool = False) -> bool:
    """Return whether a set has a number.

    `fai`: look for an associated message, in a set from `by_kind`.
    """
    guid, counter = split(number)
    guid = f"{guid}{_FAI}" if fai else guid
    return bool(bits.get(guid, 0) >> min(counter, HIGHEST) & 1)


def minus(left: Bits, right: Bits) -> dict[str, int]:
    """Return the numbers in `left` that are not in `right`."""
    difference = {guid: mask & ~right.get(guid, 0) for guid, mask in left.items()}
    return {guid: mask for guid, mask in difference.items() if mask}


def common(left: Bits, right: Bits) -> dict[str, int]:
    intersection = {guid: mask & right[guid] for guid, mask in left.items() if guid in right}
    return {guid: mask for guid, mask in intersection.items() if mask}


def union(sets: Iterable[Bits]) -> dict[str, int]:
    total: dict[str, int] = {}
    for operand in sets:
        add(total, operand)
    return total


def numbers(bits: Bits) -> Iterator[str]:
    """Yield each number of a set, as `guid:counter`."""
    for guid, mask in bits.items():
        for counter in range(mask.bit_length()):
            if mask >> counter & 1:
                yield f"{guid}:{counter}"


def count(bits: Bits) -> int:
    """Return the size of a set."""
    return sum(mask.bit_count() for mask in bits.values())


def words(bits: Bits, name_of: Callable[[str], str]) -> str:
    """Return a set in words: `A-1..3, A-7, B-2`, or `nothing`."""
    names = sorted((name_of(guid.removesuffix(_FAI)), mask) for guid, mask in bits.items())
    return ", ".join(f"{name}-{part}" for name, mask in names for part in _ranges(mask)) or "nothing"


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
