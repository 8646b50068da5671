"""The bounds of one GUID's numbers: sequences of disjoint ranges, and their union, difference and intersection (spec: CN-5).

Bounds are a flat sequence `lo, end, lo, end, ...`, strictly ascending, where `end` is the first counter after the range. So
the bisection position of a counter is odd exactly if the counter is inside a range. Ranges that touch are always merged, so
equal sets have equal bounds. There are two ways to combine two sequences:

- One is much shorter: each of its ranges is found in the longer one by bisection, and the bounds between are copied.
- Both are long: starts and ends are sorted separately, and one comparison of each neighbouring pair decides (`_merged`,
  `_overlaps`). Sorting, comparing and selecting run in C.

Short bounds are tuples, which are fast to create. Long ones are arrays, which take 8 bytes for each bound instead of 40 and so
fit in the processor's caches. Bounds are never changed, so sets can share them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import chain, compress, islice
from operator import gt, lt
from typing import TypeAlias

from node.tracking.change_number import MAX_COUNTER

Bounds: TypeAlias = "tuple[int, ...] | array[int]"

BEYOND = MAX_COUNTER + 2
"""Greater than the end of any range."""

_MUCH_LONGER = 8  # from this ratio of lengths on, bisection is faster than sorting
_LONG = 512  # more bounds than this are an array
_FEW = 8  # this many short bounds or fewer are joined faster one by one
_BLOCK = 2048  # bounds of a long sequence that are combined at a time; must be even


def merged(starts: list[int], ends: list[int]) -> Bounds:
    """Return the bounds of half-open ranges, given as starts and ends in any order. There must be at least one range."""
    if all(map(gt, islice(starts, 1, None), ends)):
        return _compact(_interleaved(starts, ends))
    return _compact(_merged(sorted(starts), sorted(ends)))


def _compact(bounds: list[int] | array[int]) -> Bounds:
    if len(bounds) <= _LONG:
        return tuple(bounds)
    return bounds if isinstance(bounds, array) else array("Q", bounds)


def _room_for(like: Bounds) -> list[int] | array[int]:
    """Return an empty list or array: the type that is faster to extend with slices of `like`."""
    return array("Q") if isinstance(like, array) else []


def union(own: Bounds, addition: Bounds) -> Bounds:
    if len(own) == 2 == len(addition):
        return _union_of_two_ranges(own, addition)
    if own == addition:
        return own
    if len(addition) * _MUCH_LONGER < len(own):
        return _overwrite(own, addition, 0)
    if len(own) * _MUCH_LONGER < len(addition):
        return _overwrite(addition, own, 0)
    out = _room_for(own)
    for block, right in _blocks(own, addition):
        starts = block[::2] + right[::2]
        ends = block[1::2] + right[1::2]
        starts.sort()
        ends.sort()
        _extend(out, _merged(starts, ends))
    total = _compact(out)
    return own if total == own else total


def _union_of_two_ranges(own: Bounds, addition: Bounds) -> Bounds:
    (lo, end), (low, stop) = own, addition
    if lo <= low and stop <= end:
        return own
    if low > end:
        return lo, end, low, stop
    if lo > stop:
        return low, stop, lo, end
    return min(lo, low), max(end, stop)


def difference(own: Bounds, subtrahend: Bounds) -> Bounds:
    if own[-1] <= subtrahend[0] or subtrahend[-1] <= own[0]:
        return own
    if len(subtrahend) * _MUCH_LONGER < len(own):
        return _overwrite(own, subtrahend, 1)
    if len(own) == 2 or len(own) * _MUCH_LONGER < len(subtrahend):
        remainder = cut(subtrahend, own, 0)
    else:
        out = _room_for(own)
        for block, cuts in _blocks(own, subtrahend):
            _extend(out, _overlaps(block, [0, *cuts, BEYOND]))
        remainder = _compact(out)
    return own if remainder == own else remainder


def intersection(own: Bounds, operand: Bounds) -> Bounds:
    if own[-1] <= operand[0] or operand[-1] <= own[0]:
        return ()
    if len(operand) == 2 or len(operand) * _MUCH_LONGER < len(own):
        return cut(own, operand, 1)
    if len(own) == 2 or len(own) * _MUCH_LONGER < len(operand):
        return cut(operand, own, 1)
    out = _room_for(own)
    for block, right in _blocks(own, operand):
        _extend(out, _overlaps(block, right))
    return _compact(out)


def within(inner: Bounds, outer: Bounds) -> bool:
    if inner is outer:
        return True
    if inner[0] < outer[0] or inner[-1] > outer[-1]:
        return False
    if len(outer) == 2:
        return True
    if len(inner) * _MUCH_LONGER >= len(outer) > _LONG:
        return not difference(inner, outer)
    for lo, end in zip(inner[::2], inner[1::2], strict=True):
        at = bisect_right(outer, lo)
        if not at & 1 or outer[at] < end:
            return False
    return True


def _overwrite(long: Bounds, short: Bounds, parity: int) -> Bounds:
    """Return `long` with each range of `short` filled (parity 0, union) or emptied (parity 1, difference).

    Each range [lo, end) of `short` replaces the bounds of `long` from lo to end, both included. lo and end are written only
    where the result changes between inside and outside. If nothing changes, the result is `long` itself.
    """
    out: list[int] | array[int] | None = None
    copied_until = at = 0
    for k in range(0, len(short), 2):
        lo, end = short[k], short[k + 1]
        at = bisect_left(long, lo, at)
        after = bisect_right(long, end, at)
        if at == after and at & 1 != parity:
            continue
        if out is None:
            out = long[:at] if isinstance(long, array) else list(long[:at])
        else:
            out.extend(long[copied_until:at])
        if at & 1 == parity:
            out.append(lo)
        if after & 1 == parity:
            out.append(end)
        copied_until = at = after
    if out is None:
        return long
    out.extend(long[copied_until:])
    return _compact(out)


def cut(long: Bounds, short: Bounds, parity: int) -> Bounds:
    """Return the parts of `short` that are inside `long` (parity 1, intersection) or outside it (parity 0)."""
    out = _room_for(long)
    after = 0
    for k in range(0, len(short), 2):
        lo, end = short[k], short[k + 1]
        at = bisect_right(long, lo, after)
        after = bisect_left(long, end, at)
        if at & 1 == parity:
            out.append(lo)
        out.extend(long[at:after])
        if after & 1 == parity:
            out.append(end)
    return _compact(out)


def _blocks(own: Bounds, other: Bounds) -> Iterator[tuple[list[int], list[int]]]:
    """Yield both sequences in blocks that are cut at the same counters, so that a block fits in the caches.

    The cuts are starts of `own`. A range of `other` that crosses a cut is in two blocks (see `_extend`).
    """
    open_range: list[int] = []
    at = 0
    for k in range(_BLOCK, len(own), _BLOCK):
        cut = own[k]
        stop = bisect_left(other, cut, at)
        block = [*open_range, *other[at:stop]]
        open_range = [cut] if stop & 1 else []
        yield list(own[k - _BLOCK : k]), block + open_range
        at = stop
    yield list(own[(len(own) - 1) // _BLOCK * _BLOCK :]), [*open_range, *other[at:]]


def _extend(out: list[int] | array[int], bounds: list[int]) -> None:
    """Append the bounds of the next block, and join a range that crosses the cut."""
    if out and bounds and out[-1] == bounds[0]:
        out.pop()
        del bounds[0]
    out.extend(bounds)


def _merged(starts: list[int], ends: list[int]) -> list[int]:
    """Return the union of ranges, from their sorted starts and sorted ends.

    k starts are before starts[k]. If k ends are also before it, no range is open there. ends[k-1] is the last of these ends.
    So there is a gap between ends[k-1] and starts[k] exactly if starts[k] is greater.
    """
    later = starts[1:]
    gaps = list(map(gt, later, ends))
    return _interleaved([starts[0], *compress(later, gaps)], [*compress(ends, gaps), ends[-1]])


def _overlaps(own: list[int], operand: list[int]) -> list[int]:
    """Return the intersection of two sequences of bounds, from their sorted starts and ends as in `_merged`.

    At most two ranges are open at once. Two ranges are open after starts[k] exactly if ends[k-1] is greater than starts[k].
    The overlap then ends at ends[k-1].
    """
    starts = own[::2] + operand[::2]
    ends = own[1::2] + operand[1::2]
    starts.sort()
    ends.sort()
    later = starts[1:]
    flags = list(map(lt, later, ends))
    return _interleaved(list(compress(later, flags)), list(compress(ends, flags)))


def union_of(group: list[Bounds]) -> Bounds:
    if len(group) <= _FEW or any(isinstance(own, array) for own in group):
        return reduce(union, group)
    starts = sorted(chain.from_iterable(own[::2] for own in group))
    return _compact(_merged(starts, sorted(chain.from_iterable(own[1::2] for own in group))))


def _interleaved(starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    bounds = [0] * (2 * len(starts))
    bounds[::2] = starts
    bounds[1::2] = ends
    return bounds
