"""The wire form of a set of change numbers: REPLGUID IDSET (spec: CN-5; {MS-OXCFXICS} 2.2.2.4, IDSET).

For each replica GUID, in ascending order, an IDSET has the 16 bytes of the GUID and a GLOBSET: commands that build six-byte
big-endian counters (GLOBCNT) from a stack of common high-order bytes.

Decisions where the published text says nothing:

    GUIDs out of order or repeated              error
    counters repeated or out of order           accepted: a GLOBSET is a set
    an empty GLOBSET                            accepted
    End with bytes on the stack                 error
    a bitmask that goes beyond low byte 255     error
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache

from node.tracking.change_number import COUNTER_SIZE, GUID_SIZE, MAX_COUNTER, Guid
from node.tracking.cnset import CNSet
from node.tracking.ranges import Bounds, merged

# GLOBSET commands, {MS-OXCFXICS} 2.2.2.6; 0x01 to 0x06 push 1 to 6 bytes.
_END = 0x00
_PUSH_ONE = 0x01
_PUSH_MOST = 0x06
_BITMASK = 0x42
_POP = 0x50
_RANGE = 0x52
_END_BYTE, _POP_BYTE, _RANGE_BYTE = bytes((_END,)), bytes((_POP,)), bytes((_RANGE,))

_LOW_BYTE = 5  # the depth of the stack that a bitmask needs: all bytes except the lowest
_BITMASK_REACH = 8  # a bitmask has one bit for each of this number of counters after StartingValue

# 100,000 ranges take 0.3 to 0.9 MB. At worst 4 MiB of commands take some seconds to decode.
LIMIT_BYTES = 4 * 1024 * 1024
LIMIT_RANGES = 1_000_000

SETS_REMEMBERED = 1024
"""How many sets `decode_idset` remembers with their IDSETs: the newest that have at most REMEMBERED_BYTES."""

REMEMBERED_BYTES = 256
"""The longest IDSET that is remembered: about ten ranges. All remembered sets take at most 3 MB."""


class IdsetError(ValueError):
    """Bytes are not an IDSET or GLOBSET, or exceed a limit."""


# --- encoding


def encode_idset(numbers: CNSet) -> bytes:
    """Return the REPLGUID IDSET of a set, b"" for the empty set, in time linear in the number of ranges."""
    if numbers.wire is None:
        out = bytearray()
        for guid in numbers.guids():
            out += guid
            _encode_bounds(out, numbers.bounds(guid))
        numbers.wire = bytes(out)
    return numbers.wire


def encode_globset(ranges: Iterable[tuple[int, int]]) -> bytes:
    """Return the GLOBSET of closed ranges in any order, with End. Raise NumberError if a counter is not valid."""
    out = bytearray()
    anonymous = bytes(GUID_SIZE)
    _encode_bounds(out, CNSet.from_ranges({anonymous: ranges}).bounds(anonymous))
    return bytes(out)


def _encode_bounds(out: bytearray, bounds: Bounds) -> None:
    if len(bounds) == 2:
        _encode_range(out, bounds[0], bounds[1] - 1)
        return
    _GlobsetWriter(out, list(bounds[::2]), [end - 1 for end in bounds[1::2]]).group(0, len(bounds) // 2, 0)
    out.append(_END)


def _encode_range(out: bytearray, low: int, high: int) -> None:
    """Write the GLOBSET of one range, which is the usual case. The bytes are those of `_GlobsetWriter`."""
    first, last = low.to_bytes(COUNTER_SIZE, "big"), high.to_bytes(COUNTER_SIZE, "big")
    common = _common_bytes(low, high)
    if low == high:
        out += b"%c%b\0" % (COUNTER_SIZE, first)
    elif common > 2:  # a push and its pop save bytes if they replace three bytes or more
        out += b"%c%b%c%b%b%c\0" % (common, first[:common], _RANGE, first[common:], last[common:], _POP)
    else:
        out += b"%c%b%b\0" % (_RANGE, first, last)


class _GlobsetWriter:
    """Writes the commands of ascending disjoint ranges, given as lists of their lows and highs."""

    def __init__(self, out: bytearray, lows: list[int], highs: list[int]) -> None:
        self.out = out
        self.lows = lows
        self.highs = highs

    def group(self, at: int, stop: int, depth: int) -> None:
        """Write the ranges of index `at` to `stop` - 1. Their counters begin with the `depth` bytes on the stack.

        Ranges that also have the next byte in common become their own group. All common bytes are pushed before this
        group.
        """
        lows, highs = self.lows, self.highs
        shift = 8 * (_LOW_BYTE - depth)
        while at < stop:
            low = lows[at]
            beyond = ((low >> shift) + 1) << shift
            end = at + 1
            if end < stop and lows[end] < beyond:
                end = bisect_left(lows, beyond, end, stop)
                end -= highs[end - 1] >= beyond  # the last range may begin in this group and end in the next
            if end - at < 3 and not self._push_pays(at, end, depth):
                for k in range(at, end):
                    self._alone(lows[k], highs[k], depth)
            else:
                common = _common_bytes(low, highs[end - 1])
                self._push(low, depth, common)
                if common == _LOW_BYTE:
                    self._low_bytes(at, end)
                else:
                    self.group(at, end, common)
                self.out.append(_POP)
            at = end

    def _push_pays(self, at: int, end: int, depth: int) -> bool:
        """Return whether a push makes one or two ranges shorter. With more ranges, a push is never longer.

        A push and its pop cost 2 bytes and the pushed bytes. Each bound that is written then saves the pushed bytes.
        """
        low, high = self.lows[at], self.highs[at]
        if end == at + 1:
            return low != high and _common_bytes(low, high) - depth > 2
        push_bytes = _common_bytes(low, self.highs[at + 1]) - depth
        range_bytes = 4 - (low == high) - (self.lows[at + 1] == self.highs[at + 1])
        return push_bytes + 2 < push_bytes * range_bytes

    def _alone(self, low: int, high: int, depth: int) -> None:
        if low == high:
            self._push(low, depth, COUNTER_SIZE)
            return
        self.out.append(_RANGE)
        self.out += low.to_bytes(COUNTER_SIZE, "big")[depth:]
        self.out += high.to_bytes(COUNTER_SIZE, "big")[depth:]

    def _push(self, counter: int, depth: int, upto: int) -> None:
        """Write the push of bytes `depth`..`upto`-1 of a counter."""
        self.out.append(upto - depth)
        self.out += counter.to_bytes(COUNTER_SIZE, "big")[depth:upto]

    def _low_bytes(self, at: int, stop: int) -> None:
        """Write ranges that differ only in the lowest byte. For two or more ranges a bitmask is shorter."""
        out, lows, highs = self.out, self.lows, self.highs
        while at < stop:
            low, high = lows[at], highs[at]
            reach = low + _BITMASK_REACH
            at += 1
            if at < stop and highs[at] <= reach:
                bits = (1 << (high - low)) - 1
                while at < stop and highs[at] <= reach:
                    bits |= ((2 << (highs[at] - lows[at])) - 1) << (lows[at] - low - 1)
                    at += 1
                out += bytes((_BITMASK, low & 0xFF, bits))
            elif low == high:
                out += bytes((_PUSH_ONE, low & 0xFF))
            else:
                out += bytes((_RANGE, low & 0xFF, high & 0xFF))


def _common_bytes(low: int, high: int) -> int:
    return COUNTER_SIZE - ((low ^ high).bit_length() + 7) // 8


# --- decoding


def decode_idset(data: bytes, *, limit_bytes: int = LIMIT_BYTES, limit_ranges: int = LIMIT_RANGES) -> CNSet:
    """Return the set in a REPLGUID IDSET. `limit_ranges` counts ranges as written, before they are merged.

    Raise IdsetError if the bytes are malformed or exceed a limit. The time is linear in the data, except for sorting ranges
    that are out of order.

    The same short IDSET gives the same object, which keeps its text: each mail about a folder repeats the rows of its stores.
    """
    if len(data) > limit_bytes:
        raise IdsetError(f"the IDSET has {len(data)} bytes; at most {limit_bytes} are allowed")
    if len(data) <= REMEMBERED_BYTES and limit_ranges == LIMIT_RANGES:
        return _decode_short(data)
    return _decode(data, limit_ranges)


def _decode(data: bytes, limit_ranges: int) -> CNSet:
    spans: dict[Guid, tuple[list[int], list[int]]] = {}
    before = b""
    at, room = 0, limit_ranges
    while at < len(data):
        guid = data[at : at + GUID_SIZE]
        if len(guid) < GUID_SIZE:
            raise IdsetError(f"the GUID at byte {at} is cut short: {len(guid)} bytes of {GUID_SIZE}")
        if guid <= before:
            raise IdsetError(f"GUID {guid.hex()} at byte {at} is not greater than the previous GUID")
        before = guid
        pair = _one_range(data, at + GUID_SIZE) if room else None
        starts, ends, at = pair or _decode_ranges(data, at + GUID_SIZE, room)
        spans[guid] = starts, ends
        room -= len(starts)
    return CNSet.from_spans(spans)


@lru_cache(SETS_REMEMBERED)
def _decode_short(data: bytes) -> CNSet:
    return _decode(data, LIMIT_RANGES)


def _one_range(data: bytes, at: int) -> tuple[list[int], list[int], int] | None:
    """Return the result of `_decode_ranges` for a GLOBSET that `_encode_range` wrote, or None for any other."""
    command = data[at] if at < len(data) else _END
    low_at = at + 1
    if command == COUNTER_SIZE:
        common, width, high_at, after = b"", COUNTER_SIZE, low_at, low_at + COUNTER_SIZE
    elif command == _RANGE:
        common, width, high_at, after = b"", COUNTER_SIZE, low_at + COUNTER_SIZE, low_at + 2 * COUNTER_SIZE
    elif _PUSH_ONE <= command < COUNTER_SIZE:
        common, width, low_at = data[low_at : low_at + command], COUNTER_SIZE - command, low_at + command + 1
        high_at, after = low_at + width, low_at + 2 * width + 1
        if data[low_at - 1 : low_at] != _RANGE_BYTE or data[after - 1 : after] != _POP_BYTE:
            return None
    else:
        return None
    low = int.from_bytes(common + data[low_at : low_at + width], "big")
    high = int.from_bytes(common + data[high_at : high_at + width], "big")
    if data[after : after + 1] != _END_BYTE or not 0 < low <= high:
        return None
    return [low], [high + 1], after + 1


def decode_globset(
    data: bytes, at: int = 0, *, limit_ranges: int = LIMIT_RANGES
) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return the closed ranges, ascending, of the GLOBSET at byte `at`, and the place after its End.

    Raise IdsetError if it is malformed or has too many ranges.
    """
    starts, ends, after = _decode_ranges(data, at, limit_ranges)
    bounds = merged(starts, ends) if starts else ()
    return tuple([(lo, end - 1) for lo, end in zip(bounds[::2], bounds[1::2], strict=True)]), after


def _runs(bits: int) -> tuple[tuple[int, int], ...]:
    """Return the runs of a bitmask as (first, after last), relative to StartingValue: bit i is StartingValue + 1 + i."""
    present = [0] + [bit + 1 for bit in range(8) if bits >> bit & 1]
    firsts = [value for value in present if value - 1 not in present]
    lasts = [value + 1 for value in present if value + 1 not in present]
    return tuple(zip(firsts, lasts, strict=True))


_RUNS = tuple(_runs(bits) for bits in range(256))


def _decode_ranges(data: bytes, at: int, room: int) -> tuple[list[int], list[int], int]:
    """Decode one GLOBSET: half-open ranges as written, their starts and ends, and the place after its End."""
    reader = _GlobsetReader(data, at, room)
    try:
        reader.run()
    except IndexError:
        raise IdsetError(f"the GLOBSET at byte {at} is cut short: no End command") from None
    if 0 in reader.starts:
        raise IdsetError(f"the GLOBSET at byte {at} holds counter 0; counters are from 1 to {MAX_COUNTER}")
    return reader.starts, reader.ends, reader.at


class _GlobsetReader:
    """Runs the commands of one GLOBSET. Reading beyond the data raises IndexError."""

    def __init__(self, data: bytes, at: int, room: int) -> None:
        self.data = data
        self.at = at
        self.room = room
        self.starts: list[int] = []
        self.ends: list[int] = []

    def run(self) -> None:
        """Run all commands through End."""
        data = self.data
        stack: list[tuple[int, int]] = []  # the values of `common` and `depth` before each push
        common = depth = 0
        while (command := data[self.at]) != _END:
            if _PUSH_ONE <= command <= _PUSH_MOST:
                prefix = common << 8 * command | self._counter(self.at + 1, command)
                self.at += 1 + command
                if depth + command < COUNTER_SIZE:
                    stack.append((common, depth))
                    common, depth = prefix, depth + command
                    if depth == _LOW_BYTE:
                        self._low_bytes(common << 8)
                elif depth + command == COUNTER_SIZE:  # a single counter; this push is undone
                    self._add(prefix, prefix)
                else:
                    raise IdsetError(
                        f"the push before byte {self.at} makes the stack {depth + command} bytes long, longer than a counter"
                    )
            elif command == _RANGE:
                width = COUNTER_SIZE - depth
                low = common << 8 * width | self._counter(self.at + 1, width)
                high = common << 8 * width | self._counter(self.at + 1 + width, width)
                self.at += 1 + 2 * width
                self._add(low, high)
            elif command == _POP and stack:
                common, depth = stack.pop()
                self.at += 1
            else:
                raise self._refused(command, depth)
        if stack:
            raise self._refused(_END, depth)
        self.at += 1

    def _low_bytes(self, base: int) -> None:
        """Run the commands for the lowest byte, which are most of a large set. The other bytes are on the stack meanwhile."""
        data, at = self.data, self.at
        starts, ends = self.starts, self.ends
        while len(starts) <= self.room:
            command = data[at]
            if command == _RANGE:
                low, high = data[at + 1], data[at + 2]
                if low > high:
                    raise IdsetError(f"the range at byte {at} runs backwards, {low:#04x} to {high:#04x}")
                starts.append(base + low)
                ends.append(base + high + 1)
                at += 3
            elif command == _PUSH_ONE:
                low = base + data[at + 1]
                starts.append(low)
                ends.append(low + 1)
                at += 2
            elif command == _BITMASK:
                first, bits = data[at + 1], data[at + 2]
                if first + bits.bit_length() > 0xFF:
                    raise IdsetError(f"the bitmask at byte {at} contains a low byte above 255")
                first += base
                for begin, end in _RUNS[bits]:
                    starts.append(first + begin)
                    ends.append(first + end)
                at += 3
            else:
                self.at = at
                return
        raise self._too_many()

    def _counter(self, at: int, width: int) -> int:
        # If the data is cut short, this value is wrong. Then the next command is beyond the data, and reading it is an error.
        return int.from_bytes(self.data[at : at + width], "big")

    def _add(self, low: int, high: int) -> None:
        if low > high:
            raise IdsetError(f"the range before byte {self.at} runs backwards, {low:#x} to {high:#x}")
        self.starts.append(low)
        self.ends.append(high + 1)
        if len(self.starts) > self.room:
            raise self._too_many()

    def _too_many(self) -> IdsetError:
        return IdsetError(f"more than the {self.room} ranges that are allowed, at byte {self.at}")

    def _refused(self, command: int, depth: int) -> IdsetError:
        if command == _END:
            return IdsetError(f"the End at byte {self.at} finds {depth} bytes on the stack, which must be empty")
        if command == _POP:
            return IdsetError(f"the pop at byte {self.at} finds an empty stack")
        if command == _BITMASK:
            return IdsetError(f"the bitmask at byte {self.at} finds {depth} bytes on the stack; it needs 5")
        return IdsetError(f"unknown GLOBSET command {command:#04x} at byte {self.at}")
