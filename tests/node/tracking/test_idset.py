"""The wire form of sets (CN-5): published vectors, round trips, every command, and hostile bytes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from node.tracking.change_number import MAX_COUNTER, NumberError
from node.tracking.cnset import CNSet
from node.tracking.idset import (
    REMEMBERED_BYTES,
    IdsetError,
    decode_globset,
    decode_idset,
    encode_globset,
    encode_idset,
)

A, B = bytes(15) + b"\x01", b"\xff" * 16

# [X] section 6.6: vectors of OpenChange's testsuite/libmapi/mapi_idset.c.
REPLID_VECTOR = bytes.fromhex("0100" + "060000000 1042E".replace(" ", "") + "05000000010452353750" + "00")
REPLGUID_VECTOR = bytes.fromhex("9BB9FFB50F44774FB488C5C6702EE3A8" + "0400000000" + "5200A50151" + "5000")

# Counters at all distances, so that every depth of common prefix and every command occurs.
near = st.integers(0, 600)
bases = st.sampled_from([1, 0xFF, 0xFFF0, 0x10000, 0xFFFFFF, 0x1_0000_0000, 0xFF_FFFF_FFFF, MAX_COUNTER - 700])
counters = st.one_of(st.builds(int.__add__, bases, near), st.integers(1, MAX_COUNTER - 20), st.integers(1, 1000))
lengths = st.one_of(st.integers(0, 12), st.sampled_from([0, 255, 256, 70_000]))
pairs = st.builds(lambda lo, length: (lo, min(lo + length, MAX_COUNTER)), counters, lengths)
pair_lists = st.lists(pairs, max_size=40)
sets = st.dictionaries(st.binary(min_size=16, max_size=16), pair_lists, max_size=4).map(CNSet.from_ranges)


def test_published_replid_vector() -> None:
    """The published REPLID vector holds 0x1042E and 0x10435 to 0x10437."""
    assert REPLID_VECTOR[:2] == b"\x01\x00"
    ranges, after = decode_globset(REPLID_VECTOR, 2)
    assert ranges == ((0x1042E, 0x1042E), (0x10435, 0x10437))
    assert after == len(REPLID_VECTOR)
    assert decode_globset(encode_globset(ranges))[0] == ranges


def test_published_replguid_vector() -> None:
    """The published REPLGUID vector holds 0xA5 to 0x151, and we write that set in the same bytes."""
    made = decode_idset(REPLGUID_VECTOR)
    assert made == CNSet.span(bytes.fromhex("9BB9FFB50F44774FB488C5C6702EE3A8"), 0xA5, 0x151)
    assert encode_idset(made) == REPLGUID_VECTOR


@given(sets)
def test_round_trip(made: CNSet) -> None:
    """Every set is read back from its wire form."""
    assert decode_idset(encode_idset(made)) == made


@given(pair_lists)
def test_globset_round_trip(ranges: list[tuple[int, int]]) -> None:
    """A GLOBSET gives back the ranges put in, sorted and merged, and says where it ends."""
    wire = encode_globset(ranges)
    expected = CNSet.from_ranges({A: ranges}).ranges(A)
    assert decode_globset(b"??" + wire + b"more", 2) == (expected, 2 + len(wire))


@given(pair_lists)
def test_never_longer_than_plain_ranges(ranges: list[tuple[int, int]]) -> None:
    """Prefixes and bitmasks never cost more than writing each range by itself in full."""
    made = CNSet.from_ranges({A: ranges}).ranges(A)
    assert len(encode_globset(ranges)) <= sum(7 if lo == hi else 13 for lo, hi in made) + 1


@pytest.mark.parametrize(
    ("ranges", "wire"),
    [
        ([], "00"),
        ([(5, 5)], "06 000000000005 00"),
        ([(1, 100)], "05 0000000000 52 01 64 50 00"),
        ([(1, MAX_COUNTER)], "52 000000000001 FFFFFFFFFFFF 00"),
        ([(1, 1), (3, 3)], "05 0000000000 42 01 02 50 00"),
        ([(1, 2), (4, 4), (6, 9)], "05 0000000000 42 01 F5 50 00"),
        ([(1, 1), (10, 10)], "05 0000000000 01 01 01 0A 50 00"),
        ([(0x101, 0x101), (0x201, 0x20F), (0x301, 0x301)], "04 00000000 02 0101 52 0201 020F 02 0301 50 00"),
        ([(n, n) for n in (0x100, 0x120, 0x200, 0x220)], "04 00000000 02 0100 02 0120 02 0200 02 0220 50 00"),
        ([(0xFE, 0xFE), (0x100, 0x100)], "04 00000000 02 00FE 02 0100 50 00"),
        (
            [(0x10, 0x20), (0x30, 0x40), (0x110, 0x120), (0x130, 0x140)],
            "04 00000000 01 00 52 10 20 52 30 40 50 01 01 52 10 20 52 30 40 50 50 00",
        ),
    ],
)
def test_written_compactly(ranges: list[tuple[int, int]], wire: str) -> None:
    """Common high bytes are pushed once where that pays, neighbours in the lowest byte share a bitmask."""
    assert encode_globset(ranges) == bytes.fromhex(wire)


def test_guids_ascend() -> None:
    """Stores come in ascending order of their raw GUIDs, whatever order the set was made in."""
    both = CNSet.span(B, 1, 1) | CNSet.span(A, 1, 1)
    assert encode_idset(both) == A + encode_globset([(1, 1)]) + B + encode_globset([(1, 1)])
    assert encode_idset(CNSet.EMPTY) == b""
    assert decode_idset(b"") == CNSet.EMPTY


@pytest.mark.parametrize(
    ("wire", "ranges"),
    [
        ("00", []),
        ("06 000000000005 00", [(5, 5)]),
        ("03 000000 03 000005 03 000007 50 00", [(5, 5), (7, 7)]),
        ("01 00 01 00 01 00 01 00 01 00 01 05 50 50 50 50 50 00", [(5, 5)]),
        ("52 000000000001 FFFFFFFFFFFF 00", [(1, MAX_COUNTER)]),
        ("02 0000 52 00000001 00010000 50 00", [(1, 0x10000)]),
        ("05 0000000000 42 01 00 50 00", [(1, 1)]),
        ("05 0000000000 42 01 EB 50 00", [(1, 3), (5, 5), (7, 9)]),
        ("05 0000000000 42 F7 FF 50 00", [(0xF7, 0xFF)]),
        ("05 FFFFFFFFFF 01 FF 50 00", [(MAX_COUNTER, MAX_COUNTER)]),
        ("05 0000000000 50 04 00000000 50 00", []),
        ("06 000000000007 06 000000000006 06 000000000007 00", [(6, 7)]),
        ("05 0000000000 52 05 09 52 01 06 50 00", [(1, 9)]),
    ],
)
def test_commands(wire: str, ranges: list[tuple[int, int]]) -> None:
    """Every command means what the open specification says, in whatever order an encoder uses them."""
    data = bytes.fromhex(wire)
    assert decode_globset(data) == (tuple(ranges), len(data))
    assert decode_idset(A + data) == CNSet.from_ranges({A: ranges})


MALFORMED = {
    "nothing": "",
    "no End": "06 000000000005",
    "push cut short": "06 0000",
    "push without bytes": "05",
    "single cut short": "05 0000000000 01",
    "range cut short": "05 0000000000 52 01",
    "wide range cut short": "52 000000000001 FFFF",
    "bitmask cut short": "05 0000000000 42 01",
    "pop on an empty stack": "50 00",
    "pop after the single undid its push": "06 000000000005 50 00",
    "range that runs backwards": "05 0000000000 52 02 01 50 00",
    "wide range that runs backwards": "52 000000000002 000000000001 00",
    "stack overflow": "05 0000000000 02 0000 00",
    "push of seven": "07 00000000000000 00",
    "unknown command": "51 00",
    "unknown command in the low bytes": "05 0000000000 51 50 00",
    "bitmask on a short stack": "04 00000000 42 01 01 50 00",
    "bitmask past the low byte 255": "05 0000000000 42 F8 FF 50 00",
    "End on a stack": "05 0000000000 52 01 02 00",
    "single zero": "06 000000000000 00",
    "range from zero": "05 0000000000 52 00 05 50 00",
    "bitmask from zero": "05 0000000000 42 00 05 50 00",
}


@pytest.mark.parametrize("wire", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed(wire: str) -> None:
    """Each way to be malformed is an IdsetError of one line."""
    data = bytes.fromhex(wire)
    for read in (lambda: decode_globset(data), lambda: decode_idset(A + data)):
        with pytest.raises(IdsetError) as caught:
            read()
        assert str(caught.value)
        assert "\n" not in str(caught.value)


def test_refusals_say_why() -> None:
    """The error names the command, where it is and what would be right."""
    for wire, words in (("50", "pop at byte 16"), ("0500", "no End"), ("42", "it needs 5"), ("51", "0x51 at byte 16")):
        with pytest.raises(IdsetError, match=words):
            decode_idset(A + bytes.fromhex(wire))


ONE = encode_globset([(1, 1)])


@pytest.mark.parametrize(
    "data",
    [A[:7], A, A + ONE + b"\x00", A + ONE + B[:15], A + ONE + A + ONE, B + ONE + A + ONE, A + b"\x00" + A + ONE],
    ids=["short guid", "guid alone", "trailing byte", "second cut", "repeated", "descending", "repeated empty"],
)
def test_malformed_idset(data: bytes) -> None:
    """GUIDs cut short, repeated or out of order, and bytes after the last GLOBSET, are an IdsetError."""
    with pytest.raises(IdsetError):
        decode_idset(data)


@given(sets, st.randoms(use_true_random=False))
def test_every_cut_is_noticed(made: CNSet, random: Random) -> None:
    """A wire form cut anywhere but between two stores is an IdsetError."""
    wire = encode_idset(made)
    for cut in random.sample(range(len(wire)), min(len(wire), 20)):
        try:
            part = decode_idset(wire[:cut])
        except IdsetError:
            continue
        assert part == made.only(made.guids()[: len(part.guids())])
        assert encode_idset(part) == wire[:cut]


commands = st.one_of(
    st.binary(min_size=1, max_size=6).map(lambda pushed: bytes([len(pushed)]) + pushed),
    st.sampled_from([b"\x50", b"\x50\x50", b"\x00", b"\x05" + bytes(5), b"\x04" + bytes(4)]),
    st.binary(min_size=2, max_size=2).map(lambda tail: b"\x42" + tail),
    st.binary(min_size=2, max_size=12).map(lambda tail: b"\x52" + bytes(sorted(tail))),
    st.binary(max_size=3),
)


@given(st.one_of(st.binary(max_size=200), st.lists(commands, max_size=12).map(b"".join)))
@example(b"\x05" * 100)
@example(b"\x01" * 100)
@example(b"\x52" * 100)
@example(b"\x42" * 100)
def test_any_bytes(data: bytes) -> None:
    """Whatever the bytes, the decoders give a sound set or an IdsetError."""
    try:
        ranges, after = decode_globset(data)
    except IdsetError:
        pass
    else:
        assert after <= len(data)
        assert CNSet.from_ranges({A: ranges}).ranges(A) == ranges
    for idset in (data, A + data):
        try:
            made = decode_idset(idset)
        except IdsetError:
            continue
        assert decode_idset(encode_idset(made)) == made


def test_limit_of_bytes() -> None:
    """More bytes than the limit are refused before they are looked at."""
    wire = encode_idset(CNSet.span(A, 1, 100))
    assert decode_idset(wire, limit_bytes=len(wire)) == CNSet.span(A, 1, 100)
    with pytest.raises(IdsetError, match="allowed"):
        decode_idset(wire, limit_bytes=len(wire) - 1)


@pytest.mark.parametrize("step", [2, 20, 1000], ids=["bitmasks", "low bytes", "singles"])
def test_limit_of_ranges(step: int) -> None:
    """More ranges than the limit are refused, over all stores together, whatever commands they come in."""
    made = CNSet.from_ranges({guid: [(n * step, n * step) for n in range(1, 51)] for guid in (A, B)})
    wire = encode_idset(made)
    assert decode_idset(wire, limit_ranges=100) == made
    for limit in (0, 20, 49, 50, 90, 99):
        with pytest.raises(IdsetError, match="allowed"):
            decode_idset(wire, limit_ranges=limit)


def test_impossible_ranges_are_not_written() -> None:
    """Counters out of bounds never get onto the wire."""
    for lo, hi in ((0, 1), (2, 1), (1, MAX_COUNTER + 1)):
        with pytest.raises(NumberError):
            encode_globset([(lo, hi)])


def test_large_sets() -> None:
    """Tens of thousands of ranges, dense or sparse, come back whole and stay under 8 bytes a range."""
    for gap in (3, 20, 2000):
        random = Random(gap)
        counters, counter = [], 0
        for _ in range(20_000):
            counter += random.randint(1, gap)
            counters.append((counter, counter := counter + random.randrange(gap)))
        made = CNSet.from_ranges({A: counters})
        wire = encode_idset(made)
        assert decode_idset(wire) == made
        assert len(wire) < 8 * made.range_count()


@pytest.mark.parametrize("ranges", [1, 200])
def test_an_idset_gives_the_same_set_each_time(ranges: int) -> None:
    """CN-5: decoding is a function of the bytes, for the short IDSETs that are remembered and for long ones."""
    numbers = CNSet.from_ranges({A: [(3 * at + 1, 3 * at + 2) for at in range(ranges)]})
    wire = encode_idset(numbers)
    first, again = decode_idset(wire), decode_idset(bytes(bytearray(wire)))
    assert first == again == numbers
    assert (first is again) == (len(wire) <= REMEMBERED_BYTES)
    assert decode_idset(wire, limit_ranges=ranges) == numbers


def test_a_remembered_idset_still_meets_the_limits_of_the_caller() -> None:
    """CN-5: a caller's limits hold also for an IDSET that was decoded before."""
    wire = encode_idset(CNSet.from_ranges({A: [(1, 2), (5, 6), (900, 900)]}))
    decode_idset(wire)
    with pytest.raises(IdsetError):
        decode_idset(wire, limit_ranges=2)
    with pytest.raises(IdsetError):
        decode_idset(wire, limit_bytes=len(wire) - 1)
