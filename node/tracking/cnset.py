"""Sets of change numbers: for each replica GUID a set of disjoint ranges (spec: CN-5).

A set keeps, per GUID, one flat sequence of bounds (see `node.tracking.ranges`), and shares those that stay the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from operator import lt
from typing import ClassVar

from node.tracking import ranges
from node.tracking.change_number import (
    MAX_COUNTER,
    ChangeNumber,
    Guid,
    NumberError,
    checked_counter,
    checked_guid,
    parsed_counter,
    parsed_guid,
    store_name,
)
from node.tracking.ranges import Bounds

_SHORT_TEXT = 2000  # characters of a text that is kept


class CNSet:
    """An immutable, hashable set of change numbers. Counters are 1..MAX_COUNTER, ranges closed (lo, hi).

    Whatever builds a set from values raises NumberError for a GUID or counter out of bounds.
    """

    __slots__ = ("_bounds", "_hash", "_text", "wire")

    EMPTY: ClassVar[CNSet]

    _bounds: dict[Guid, Bounds]
    _hash: int
    _text: str | None
    wire: bytes | None
    """The wire form, kept by `node.tracking.idset` once it has been made: a store's own row goes into every mail and
    table row."""

    def __init__(self) -> None:
        self._bounds = {}
        self._hash = -1
        self._text = self.wire = None

    # --- building

    @classmethod
    def span(cls, guid: Guid, lo: int, hi: int) -> CNSet:
        """The numbers lo..hi of one store, both included."""
        if len(guid) != 16 or not 1 <= lo <= hi <= MAX_COUNTER:
            _check_range(checked_guid(guid), lo, hi)
        return _made({guid: (lo, hi + 1)})

    @classmethod
    def of(cls, *numbers: ChangeNumber) -> CNSet:
        """The set of the numbers named."""
        if len(numbers) == 1:
            ((guid, counter),) = numbers
            return cls.span(guid, counter, counter)
        return cls.from_numbers(numbers)

    @classmethod
    def from_numbers(cls, numbers: Iterable[ChangeNumber]) -> CNSet:
        """The set of any numbers, in any order, repeated or not."""
        counters: dict[Guid, list[int]] = {}
        for guid, counter in numbers:
            found = counters.get(guid)
            if found is None:
                counters[guid] = [counter]
            else:
                found.append(counter)
        made: dict[Guid, Bounds] = {}
        for guid, each in counters.items():
            checked_guid(guid)
            each.sort()
            lo, hi = checked_counter(each[0]), checked_counter(each[-1])
            run = len(each) == hi - lo + 1 and (len(each) < 3 or all(map(lt, each, islice(each, 1, None))))
            # A mail's numbers are mostly one run: nothing to merge.
            made[guid] = (lo, hi + 1) if run else ranges.merged(each, [counter + 1 for counter in each])
        return _made(made)

    @classmethod
    def from_ranges(cls, ranges: Mapping[Guid, Iterable[tuple[int, int]]]) -> CNSet:
        """The set of closed ranges, in any order; those that touch or overlap are merged."""
        spans: dict[Guid, tuple[list[int], list[int]]] = {}
        for guid, pairs in ranges.items():
            starts, ends = spans[guid] = ([], [])
            for lo, hi in pairs:
                if lo > hi:
                    _check_range(guid, lo, hi)
                starts.append(lo)
                ends.append(hi + 1)
        return cls.from_spans(spans)

    @classmethod
    def from_spans(cls, spans: Mapping[Guid, tuple[list[int], list[int]]]) -> CNSet:
        """The set of half-open ranges, given per GUID as their starts and their ends, in any order.

        Made for codecs. That each start is less than its end is not checked here.
        """
        made: dict[Guid, Bounds] = {}
        for guid, (starts, ends) in spans.items():
            checked_guid(guid)
            if starts:
                checked_counter(min(starts))
                checked_counter(max(ends) - 1)
                made[guid] = ranges.merged(starts, ends) if len(starts) > 1 else (starts[0], ends[0])
        return _made(made)

    @classmethod
    def union_all(cls, sets: Iterable[CNSet]) -> CNSet:
        """The union of any number of sets."""
        parts: dict[Guid, list[Bounds]] = {}
        for each in sets:
            for guid, own in each._bounds.items():
                parts.setdefault(guid, []).append(own)
        return _made({guid: ranges.union_of(group) for guid, group in parts.items()})

    @classmethod
    def parse(cls, text: str) -> CNSet:
        """Read the trace form `guid:lo-hi,n;guid:lo-hi`; raises NumberError if it is anything else."""
        ranges: dict[Guid, list[tuple[int, int]]] = {}
        for part in text.split(";") if text else ():
            head, colon, tail = part.partition(":")
            pairs = ranges.setdefault(parsed_guid(head), [])
            if not colon:
                raise NumberError(f"no ranges after GUID {head}; right is guid:lo-hi,n")
            for piece in tail.split(","):
                lo, dash, hi = piece.partition("-")
                first = parsed_counter(lo)
                pairs.append((first, parsed_counter(hi) if dash else first))
        return cls.from_ranges(ranges)

    # --- algebra

    def __or__(self, other: CNSet) -> CNSet:
        mine, theirs = self._bounds, other._bounds
        if not theirs or mine is theirs:
            return self
        if not mine:
            return other
        made: dict[Guid, Bounds] | None = None
        for guid, added in theirs.items():
            own = mine.get(guid)
            joined = added if own is None else ranges.union(own, added)
            if joined is not own:
                if made is None:
                    made = mine.copy()
                made[guid] = joined
        return self if made is None else _made(made)

    def __sub__(self, other: CNSet) -> CNSet:
        mine = self._bounds
        made: dict[Guid, Bounds] | None = None
        for guid, taken in other._bounds.items():
            own = mine.get(guid)
            if own is None:
                continue
            left = ranges.difference(own, taken)
            if left is not own:
                if made is None:
                    made = mine.copy()
                if left:
                    made[guid] = left
                else:
                    del made[guid]
        return self if made is None else _made(made)

    def __and__(self, other: CNSet) -> CNSet:
        theirs = other._bounds
        made: dict[Guid, Bounds] = {}
        for guid, own in self._bounds.items():
            given = theirs.get(guid)
            if given is not None and (both := ranges.intersection(own, given)):
                made[guid] = both
        return _made(made)

    def __le__(self, other: CNSet) -> bool:
        theirs = other._bounds
        for guid, own in self._bounds.items():
            given = theirs.get(guid)
            if given is None or not ranges.within(own, given):
                return False
        return True

    def isdisjoint(self, other: CNSet) -> bool:
        """True if no number is in both."""
        mine, theirs = self._bounds, other._bounds
        return not any(ranges.intersection(mine[guid], theirs[guid]) for guid in mine.keys() & theirs.keys())

    def __eq__(self, other: object) -> bool:
        return self._bounds == other._bounds if isinstance(other, CNSet) else NotImplemented

    def __hash__(self) -> int:
        if self._hash == -1:
            each = ((guid, own if type(own) is tuple else bytes(own)) for guid, own in self._bounds.items())
            self._hash = hash(frozenset(each))
        return self._hash

    def __bool__(self) -> bool:
        return bool(self._bounds)

    def __contains__(self, number: ChangeNumber) -> bool:
        guid, counter = number
        own = self._bounds.get(guid)
        return own is not None and bisect_right(own, counter) & 1 == 1

    # --- looking into it

    def guids(self) -> tuple[Guid, ...]:
        """The GUIDs that have numbers here, ascending by raw bytes."""
        return tuple(sorted(self._bounds))

    def ranges(self, guid: Guid) -> tuple[tuple[int, int], ...]:
        """The closed ranges of one store, ascending; none if the store has no numbers here."""
        own = self._bounds.get(guid, ())
        return tuple([(lo, end - 1) for lo, end in zip(own[::2], own[1::2], strict=True)])

    def bounds(self, guid: Guid) -> Bounds:
        """The flat bounds of one store (see the module), for codecs. If an array, do not change it."""
        return self._bounds.get(guid, ())

    def count(self) -> int:
        """How many numbers there are."""
        return sum(sum(own[1::2]) - sum(own[::2]) for own in self._bounds.values())

    def range_count(self) -> int:
        """How many ranges there are, over all GUIDs."""
        return sum(map(len, self._bounds.values())) // 2

    def numbers(self, limit: int | None = None) -> Iterator[ChangeNumber]:
        """The numbers, ascending, at most `limit` of them; made as they are asked for."""
        each = (
            ChangeNumber(guid, counter)
            for guid in self.guids()
            for lo, end in zip(self._bounds[guid][::2], self._bounds[guid][1::2], strict=True)
            for counter in range(lo, end)
        )
        return islice(each, limit)

    def highest(self, guid: Guid) -> int:
        """The highest counter of one store, 0 if there is none."""
        own = self._bounds.get(guid)
        return own[-1] - 1 if own else 0

    # --- parts of it

    def only(self, guids: Iterable[Guid]) -> CNSet:
        """The numbers of these stores."""
        mine = self._bounds
        return _made({guid: mine[guid] for guid in guids if guid in mine})

    def without(self, guid: Guid) -> CNSet:
        """The numbers of all other stores."""
        if guid not in self._bounds:
            return self
        return _made({other: own for other, own in self._bounds.items() if other != guid})

    def above(self, guid: Guid, counter: int) -> CNSet:
        """The numbers of this one store whose counter is greater."""
        left = ranges.cut(self._bounds.get(guid, ()), (max(counter, 0) + 1, ranges.BEYOND), 1)
        return _made({guid: left} if left else {})

    def upto(self, number: ChangeNumber) -> CNSet:
        """All numbers <= `number` in the order of change numbers: all of smaller GUIDs, then of its own."""
        made = {guid: own for guid, own in self._bounds.items() if guid < number.guid}
        if left := ranges.cut(self._bounds.get(number.guid, ()), (0, number.counter + 1), 1):
            made[number.guid] = left
        return _made(made)

    # --- writing it down

    def text(self) -> str:
        """The trace form: `guid:lo-hi,n;guid:lo-hi`, GUIDs ascending, '' when empty."""
        if self._text is not None:
            return self._text
        text = ";".join(f"{guid.hex()}:{','.join(self._pieces(guid, '-'))}" for guid in self.guids())
        if len(text) <= _SHORT_TEXT:  # one event tells a set that another has told; a long text is not worth its room
            self._text = text
        return text

    def named(self, names: Mapping[Guid, str]) -> str:
        """The form people read, `A-1..100, B-5`, ordered by store name; '' when empty (spec: CN-1)."""
        stores = sorted((store_name(guid, names), guid) for guid in self._bounds)
        return ", ".join(f"{name}-{piece}" for name, guid in stores for piece in self._pieces(guid, ".."))

    def _pieces(self, guid: Guid, dash: str) -> list[str]:
        own = self._bounds[guid]
        pairs = zip(own[::2], own[1::2], strict=True)
        return [str(lo) if end == lo + 1 else f"{lo}{dash}{end - 1}" for lo, end in pairs]

    def __repr__(self) -> str:
        text = self.text()
        return f"CNSet({text if len(text) <= 200 else text[:200] + '...'})"


def _made(bounds: dict[Guid, Bounds]) -> CNSet:
    """Wrap bounds that are known to be right."""
    made = CNSet.__new__(CNSet)
    made._bounds = bounds
    made._hash = -1
    made._text = made.wire = None
    return made


CNSet.EMPTY = CNSet()


def _check_range(guid: Guid, lo: int, hi: int) -> None:
    checked_counter(lo)
    checked_counter(hi)
    if lo > hi:
        raise NumberError(f"range {lo}-{hi} of {guid.hex()} runs backwards; right is low-high")
