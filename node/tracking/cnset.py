"""Sets of change numbers: for each replica GUID, disjoint ranges of counters (spec: CN-5).

For each GUID a set has one flat sequence of bounds (see `node.tracking.ranges`). Sets share sequences that are equal.
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

_SHORT_TEXT = 2000  # the longest text that is cached, in characters


class CNSet:
    """An immutable, hashable set of change numbers. Counters are 1..MAX_COUNTER, ranges closed (lo, hi).

    All methods that build a set from values raise NumberError if a GUID or counter is not valid.
    """

    __slots__ = ("_bounds", "_hash", "_text", "wire")

    EMPTY: ClassVar[CNSet]

    _bounds: dict[Guid, Bounds]
    _hash: int
    _text: str | None
    wire: bytes | None
    """The wire form, cached by `node.tracking.idset`, because every mail contains the sender's own row."""

    def __init__(self) -> None:
        self._bounds = {}
        self._hash = -1
        self._text = self.wire = None

    # --- building

    @classmethod
    def span(cls, guid: Guid, lo: int, hi: int) -> CNSet:
        """Return the numbers lo..hi of one store, both included."""
        if len(guid) != 16 or not 1 <= lo <= hi <= MAX_COUNTER:
            _check_range(checked_guid(guid), lo, hi)
        return _made({guid: (lo, hi + 1)})

    @classmethod
    def of(cls, *numbers: ChangeNumber) -> CNSet:
        """Return the set of these numbers."""
        if len(numbers) == 1:
            ((guid, counter),) = numbers
            return cls.span(guid, counter, counter)
        return cls.from_numbers(numbers)

    @classmethod
    def from_numbers(cls, numbers: Iterable[ChangeNumber]) -> CNSet:
        """Return the set of any numbers, in any order, also repeated."""
        counters: dict[Guid, list[int]] = {}
        for guid, counter in numbers:
            counter_set = counters.get(guid)
            if counter_set is None:
                counters[guid] = [counter]
            else:
                counter_set.append(counter)
        bounds: dict[Guid, Bounds] = {}
        for guid, counter_list in counters.items():
            checked_guid(guid)
            counter_list.sort()
            lo, hi = checked_counter(counter_list[0]), checked_counter(counter_list[-1])
            run = len(counter_list) == hi - lo + 1 and (
                len(counter_list) < 3 or all(map(lt, counter_list, islice(counter_list, 1, None)))
            )
            # The numbers of a mail are mostly one run, which needs no merge.
            bounds[guid] = (
                (lo, hi + 1) if run else ranges.merged(counter_list, [counter + 1 for counter in counter_list])
            )
        return _made(bounds)

    @classmethod
    def from_ranges(cls, ranges: Mapping[Guid, Iterable[tuple[int, int]]]) -> CNSet:
        """Return the set of closed ranges, in any order. Ranges that touch or overlap are merged."""
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
        """Return the set of half-open ranges, given for each GUID as starts and ends in any order.

        Codecs use this. It does not check that each start is less than its end.
        """
        bounds: dict[Guid, Bounds] = {}
        for guid, (starts, ends) in spans.items():
            checked_guid(guid)
            if starts:
                checked_counter(min(starts))
                checked_counter(max(ends) - 1)
                bounds[guid] = ranges.merged(starts, ends) if len(starts) > 1 else (starts[0], ends[0])
        return _made(bounds)

    @classmethod
    def union_all(cls, sets: Iterable[CNSet]) -> CNSet:
        """Return the union of any number of sets."""
        parts: dict[Guid, list[Bounds]] = {}
        for numbers in sets:
            for guid, own in numbers._bounds.items():
                parts.setdefault(guid, []).append(own)
        return _made({guid: ranges.union_of(group) for guid, group in parts.items()})

    @classmethod
    def parse(cls, text: str) -> CNSet:
        """Return the set in the trace form `guid:lo-hi,n;guid:lo-hi`. Raise NumberError if it is anything else."""
        ranges: dict[Guid, list[tuple[int, int]]] = {}
        for part in text.split(";") if text else ():
            head, colon, tail = part.partition(":")
            pairs = ranges.setdefault(parsed_guid(head), [])
            if not colon:
                raise NumberError(f"no ranges after GUID {head}; write for example GUID:1-5,7")
            for piece in tail.split(","):
                lo, dash, hi = piece.partition("-")
                first = parsed_counter(lo)
                pairs.append((first, parsed_counter(hi) if dash else first))
        return cls.from_ranges(ranges)

    # --- algebra

    def __or__(self, other: CNSet) -> CNSet:
        left_bounds, right_bounds = self._bounds, other._bounds
        if not right_bounds or left_bounds is right_bounds:
            return self
        if not left_bounds:
            return other
        bounds: dict[Guid, Bounds] | None = None
        for guid, addition in right_bounds.items():
            own = left_bounds.get(guid)
            union = addition if own is None else ranges.union(own, addition)
            if union is not own:
                if bounds is None:
                    bounds = left_bounds.copy()
                bounds[guid] = union
        return self if bounds is None else _made(bounds)

    def __sub__(self, other: CNSet) -> CNSet:
        left_bounds = self._bounds
        bounds: dict[Guid, Bounds] | None = None
        for guid, subtrahend in other._bounds.items():
            own = left_bounds.get(guid)
            if own is None:
                continue
            difference = ranges.difference(own, subtrahend)
            if difference is not own:
                if bounds is None:
                    bounds = left_bounds.copy()
                if difference:
                    bounds[guid] = difference
                else:
                    del bounds[guid]
        return self if bounds is None else _made(bounds)

    def __and__(self, other: CNSet) -> CNSet:
        right_bounds = other._bounds
        bounds: dict[Guid, Bounds] = {}
        for guid, own in self._bounds.items():
            right = right_bounds.get(guid)
            if right is not None and (intersection := ranges.intersection(own, right)):
                bounds[guid] = intersection
        return _made(bounds)

    def __le__(self, other: CNSet) -> bool:
        right_bounds = other._bounds
        for guid, own in self._bounds.items():
            right = right_bounds.get(guid)
            if right is None or not ranges.within(own, right):
                return False
        return True

    def isdisjoint(self, other: CNSet) -> bool:
        """Return whether no number is in both sets."""
        left_bounds, right_bounds = self._bounds, other._bounds
        return not any(
            ranges.intersection(left_bounds[guid], right_bounds[guid])
            for guid in left_bounds.keys() & right_bounds.keys()
        )

    def __eq__(self, other: object) -> bool:
        return self._bounds == other._bounds if isinstance(other, CNSet) else NotImplemented

    def __hash__(self) -> int:
        if self._hash == -1:
            pairs = ((guid, own if type(own) is tuple else bytes(own)) for guid, own in self._bounds.items())
            self._hash = hash(frozenset(pairs))
        return self._hash

    def __bool__(self) -> bool:
        return bool(self._bounds)

    def __contains__(self, number: ChangeNumber) -> bool:
        guid, counter = number
        own = self._bounds.get(guid)
        return own is not None and bisect_right(own, counter) & 1 == 1

    # --- reading

    def guids(self) -> tuple[Guid, ...]:
        """Return the GUIDs that have numbers here, ascending by raw bytes."""
        return tuple(sorted(self._bounds))

    def ranges(self, guid: Guid) -> tuple[tuple[int, int], ...]:
        """Return the closed ranges of one store, ascending."""
        own = self._bounds.get(guid, ())
        return tuple([(lo, end - 1) for lo, end in zip(own[::2], own[1::2], strict=True)])

    def bounds(self, guid: Guid) -> Bounds:
        """Return the flat bounds of one store, for codecs. Do not change them."""
        return self._bounds.get(guid, ())

    def count(self) -> int:
        """Return how many numbers there are."""
        return sum(sum(own[1::2]) - sum(own[::2]) for own in self._bounds.values())

    def range_count(self) -> int:
        """Return how many ranges there are in all GUIDs."""
        return sum(map(len, self._bounds.values())) // 2

    def numbers(self, limit: int | None = None) -> Iterator[ChangeNumber]:
        """Return an iterator over the numbers, ascending, at most `limit`."""
        sequence = (
            ChangeNumber(guid, counter)
            for guid in self.guids()
            for lo, end in zip(self._bounds[guid][::2], self._bounds[guid][1::2], strict=True)
            for counter in range(lo, end)
        )
        return islice(sequence, limit)

    def highest(self, guid: Guid) -> int:
        """Return the highest counter of one store, or 0."""
        own = self._bounds.get(guid)
        return own[-1] - 1 if own else 0

    # --- subsets

    def only(self, guids: Iterable[Guid]) -> CNSet:
        """Return the numbers of these stores."""
        bounds = self._bounds
        return _made({guid: bounds[guid] for guid in guids if guid in bounds})

    def without(self, guid: Guid) -> CNSet:
        """Return the numbers of all other stores."""
        if guid not in self._bounds:
            return self
        return _made({guid_here: own for guid_here, own in self._bounds.items() if guid_here != guid})

    def above(self, guid: Guid, counter: int) -> CNSet:
        """Return the numbers of one store whose counter is greater than `counter`."""
        rest_bounds = ranges.cut(self._bounds.get(guid, ()), (max(counter, 0) + 1, ranges.BEYOND), 1)
        return _made({guid: rest_bounds} if rest_bounds else {})

    def upto(self, number: ChangeNumber) -> CNSet:
        """Return all numbers <= `number`: all of smaller GUIDs, and those of its own GUID up to its counter."""
        bounds = {guid: own for guid, own in self._bounds.items() if guid < number.guid}
        if rest_bounds := ranges.cut(self._bounds.get(number.guid, ()), (0, number.counter + 1), 1):
            bounds[number.guid] = rest_bounds
        return _made(bounds)

    # --- writing

    def text(self) -> str:
        """Return the trace form: `guid:lo-hi,n;guid:lo-hi`, GUIDs ascending, or '' for the empty set."""
        if self._text is not None:
            return self._text
        text = ";".join(f"{guid.hex()}:{','.join(self._pieces(guid, '-'))}" for guid in self.guids())
        if len(text) <= _SHORT_TEXT:  # several events have the same set; a long text would take too much memory
            self._text = text
        return text

    def named(self, names: Mapping[Guid, str]) -> str:
        """Return the set as people read it, `A-1..100, B-5`, by store name, or '' for the empty set (spec: CN-1)."""
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
    """Return a set with these bounds, without checking them."""
    numbers = CNSet.__new__(CNSet)
    numbers._bounds = bounds
    numbers._hash = -1
    numbers._text = numbers.wire = None
    return numbers


CNSet.EMPTY = CNSet()


def _check_range(guid: Guid, lo: int, hi: int) -> None:
    checked_counter(lo)
    checked_counter(hi)
    if lo > hi:
        raise NumberError(f"range {lo}-{hi} of {guid.hex()} is backwards; write the lower number first")
