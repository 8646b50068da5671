"""Property bags: layout, round trips, and what hostile bytes may do (nothing but `CodecError`)."""

import tracemalloc
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_bags import bags
from transport.errors import CodecError
from transport.mapi.properties import (
    MAX_PROPERTIES,
    MAX_VALUES,
    Bag,
    NamedTag,
    bytes_of,
    decode_bag,
    encode_bag,
    filetime,
    labtime,
    text_of,
)

GUID = bytes(range(16))


@pytest.mark.parametrize(
    ("bag", "layout"),
    [
        ({}, "00000000"),
        ({0x0037001F: "AB"}, "01000000 1f003700 01000000 06000000 410042000000 0000"),
        ({0x0037001F: ""}, "01000000 1f003700 01000000 02000000 0000 0000"),
        ({0x0037001E: b"ABC"}, "01000000 1e003700 01000000 04000000 41424300"),
        ({0x10090102: b"\1"}, "01000000 02010910 01000000 01000000 01 000000"),
        ({0x00170003: -1}, "01000000 03001700 ffffffff"),
        ({0x00170002: -2}, "01000000 02001700 feff 0000"),
        ({0x0E1B000B: True}, "01000000 0b001b0e 0100 0000"),
        ({0x30080040: 1}, "01000000 40000830 0100000000000000"),
        ({0x00010001: None}, "01000000 01000100"),
        ({0x00020048: GUID}, "01000000 48000200" + GUID.hex()),
        ({0x00031003: (1, 2)}, "01000000 03100300 02000000 01000000 02000000"),
        ({0x00031002: (1, 2)}, "01000000 02100300 02000000 0100 0000 0200 0000"),
        ({0x00031003: ()}, "01000000 03100300 00000000"),
        ({0x00041102: (b"a", b"")}, "01000000 02110400 02000000 01000000 61 000000 00000000"),
        (
            {NamedTag(3, GUID, 0x8501): 7},
            "01000000 03000080" + GUID.hex() + "00000000 01850000 07000000",
        ),
        (
            {NamedTag(3, GUID, "Hue"): 7},
            "01000000 03000080" + GUID.hex() + "01000000 08000000 4800750065000000 07000000",
        ),
    ],
)
def test_layout_is_the_one_of_the_open_specification(bag: Bag, layout: str) -> None:
    """Every property type is laid out as MS-OXTNEF 2.1.3.4 says, on 4-byte boundaries. (spec: ML-2)"""
    wire = bytes.fromhex(layout)
    assert encode_bag(bag) == wire
    assert decode_bag(wire) == bag


@given(bags)
def test_any_bag_comes_back_in_its_order(bag: Bag) -> None:
    """decode(encode(bag)) is the bag, value for value and in the same order. (spec: ML-2)"""
    back = decode_bag(encode_bag(bag))
    assert list(back.items()) == list(bag.items())
    assert all(type(back[tag]) is type(value) for tag, value in bag.items())
    assert len(encode_bag(bag)) % 4 == 0


@given(bags, st.data())
def test_damaged_bytes_are_one_clear_error(bag: Bag, draw: st.DataObject) -> None:
    """Truncated or mutated bytes decode to something or raise CodecError, and nothing else."""
    wire = bytearray(encode_bag(bag))
    for _ in range(draw.draw(st.integers(0, 4))):
        wire[draw.draw(st.integers(0, len(wire) - 1))] = draw.draw(st.integers(0, 255))
    damaged = bytes(wire[: draw.draw(st.integers(0, len(wire)))])
    try:
        decode_bag(damaged)
    except CodecError as wrong:
        assert "\n" not in str(wrong)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_one_clear_error(raw: bytes) -> None:
    """Bytes that were never a bag raise CodecError or decode, and nothing else."""
    try:
        bag = decode_bag(raw)
    except CodecError:
        return
    assert encode_bag(decode_bag(encode_bag(bag))) == encode_bag(bag)


@pytest.mark.parametrize(
    "wire",
    [
        "ffffffff",
        "ff0f0000" + "00000000" * 10,
        "01000000 02010910 01000000 ffffffff 00",
        "01000000 02010910 00000000",
        "01000000 02010910 02000000 00000000 00000000",
        "01000000 03100900 ffffffff 00000000",
        "01000000 02110900 ffffffff 00000000",
        "01000000 02110900 00000000",
        "01000000 0b100900 01000000 00000000",
        "01000000 0d100900 01000000 00000000",
        "01000000 99000900 00000000",
        "01000000 03000080" + "00" * 16 + "02000000 00000000 00000000",
        "01000000 03000080" + "00" * 16 + "01000000 ffffffff 00000000",
        "01000000 1f003700 01000000 03000000 41004200",
        "01000000 1f003700 01000000 02000000 00d80000",
        "01000000 03001700 01000000 00",
        "02000000 03001700 01000000 03001700 01000000",
        "01000000 48000200 0000",
        "01000000 40000200 00000000",
        "01000000 0b000200 00",
    ],
)
def test_impossible_lengths_and_counts_are_refused_without_reserving_memory(wire: str) -> None:
    """A hostile count, length, type or name raises CodecError and allocates no more memory than the size of the input."""
    raw = bytes.fromhex(wire)
    tracemalloc.start()
    with pytest.raises(CodecError):
        decode_bag(raw)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 1024


@pytest.mark.parametrize(
    ("bag", "named"),
    [
        ({0x0037001F: b"bytes"}, "0x0037001F"),
        ({0x0037001F: "\ud800"}, "0x0037001F"),
        ({0x10090102: 5}, "0x10090102"),
        ({0x10090102: "text"}, "BINARY"),
        ({0x00170003: 1 << 40}, "0x00170003"),
        ({0x00170003: "1"}, "0x00170003"),
        ({0x00170004: 1e300}, "0x00170004"),
        ({0x0E1B000B: "yes"}, "0x0E1B000B"),
        ({0x30080040: -1}, "0x30080040"),
        ({0x0001000D: "x"}, "0x0001000D"),
        ({0x00020048: b"short"}, "0x00020048"),
        ({0x00010001: 0}, "0x00010001"),
        ({0x0001FFFF: 0}, "0x0001FFFF"),
        ({0x0001100B: (True,)}, "0x0001100B"),
        ({0x00031003: [1]}, "0x00031003"),
        ({0x00031003: (0,) * (MAX_VALUES + 1)}, "0x00031003"),
        ({0x0004101F: ()}, "0x0004101F"),
        ({0x0004101F: (b"x",)}, "0x0004101F"),
        ({0x80010003: 1}, "0x80010003"),
        ({-1: 1}, "property"),
        ({NamedTag(3, b"short", 1): 1}, "namespace"),
        ({NamedTag(0x00370003, GUID, 1): 1}, "PropType"),
        ({NamedTag(3, GUID, -1): 1}, GUID.hex()),
        ({number << 16 | 3: 0 for number in range(MAX_PROPERTIES + 1)}, "properties"),
    ],
)
def test_a_value_that_cannot_be_encoded_is_named(bag: Bag, named: str) -> None:
    """Encoding a value of the wrong type or size raises CodecError, which names the property."""
    with pytest.raises(CodecError, match=named):
        encode_bag(bag)


def test_leftover_bytes_are_refused() -> None:
    """Bytes after the last property are an error."""
    with pytest.raises(CodecError, match="after the last property"):
        decode_bag(encode_bag({0x00170003: 1}) + b"\0\0\0\0")


def test_strings_without_a_final_nul_are_read() -> None:
    """A text without the final NUL is read; at most one NUL is removed. (spec: ML-2)"""
    assert decode_bag(bytes.fromhex("01000000 1f003700 01000000 04000000 41004200")) == {0x0037001F: "AB"}
    assert decode_bag(bytes.fromhex("01000000 1e003700 01000000 04000000 41420000")) == {0x0037001E: b"AB\0"}


@pytest.mark.parametrize("moment", [datetime(1970, 1, 1, tzinfo=UTC), datetime(2003, 10, 21, 0, 15, tzinfo=UTC)])
def test_times_count_from_1601_on_the_wire(moment: datetime) -> None:
    """A lab time becomes 100 ns since 1601 and comes back to the microsecond."""
    since_1601 = moment - datetime(1601, 1, 1, tzinfo=UTC)
    at = round(moment.timestamp() * 1_000_000)
    assert filetime(at) == round(since_1601.total_seconds()) * 10_000_000
    assert labtime(filetime(at)) == at
    assert labtime(filetime(at) + 9) == at


def test_typed_access_says_what_is_missing() -> None:
    """Reading a property as the wrong type, or one that is not there, raises CodecError naming it."""
    bag: Bag = {0x0037001F: "x", 0x00170003: 1, 0x10090102: b"y"}
    assert (text_of(bag, 0x0037001F), bytes_of(bag, 0x10090102)) == ("x", b"y")
    for read, tag in ((text_of, 0x00170003), (bytes_of, 0x0037001F), (text_of, 0x0018001F)):
        with pytest.raises(CodecError, match=f"0x{tag:08X}"):
            read(bag, tag)
