"""The MDBEF envelope: ours to the byte, and a bridgehead's way between the two."""

import struct
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_bags import bags
from transport.errors import CodecError
from transport.mapi import tnef_stream
from transport.mapi.item import Item, check_item, encode_item
from transport.mapi.mdbef import MAGIC, decode_mdbef, encode_mdbef
from transport.mapi.properties import Bag
from transport.mapi.property_tags import PR_ATTACH_DATA_OBJ, PR_ATTACH_METHOD, PR_CHANGE_KEY, PR_CNSET_SEEN, PR_SUBJECT
from transport.mapi.system_message import Part, RawAttribute, SystemMessage
from transport.mapi.tnef import MAX_PARTS, decode_tnef, encode_tnef

ITEM = encode_item(Item({PR_SUBJECT: "Hello"}))
SENT = SystemMessage({PR_CNSET_SEEN: b"set"}, (Part(ITEM, {PR_CHANGE_KEY: b"one"}), Part(ITEM, {})))
WIRE = encode_mdbef(SENT)


def test_layout_is_the_documented_one() -> None:
    """Header, control bag, unknown attributes, parts and check sum lie where the page on the wire format says. (spec: ML-2)"""
    sent = SystemMessage(
        {PR_CNSET_SEEN: b"AB"}, (Part(b"ITEM!", {PR_SUBJECT: "s"}),), (RawAttribute(0x0006FE01, b"new", 0),)
    )
    control = "01000000 02019667 01000000 02000000 41420000"
    unknown = "01fe0600 00000000 03000000 6e657700"
    beside = "01000000 1f003700 01000000 04000000 73000000"
    part = "14000000 05000000" + beside
    head = "894d44420d0a1a0a 0100 0000 68000000 14000000 01000000 01000000"
    guarded = bytes.fromhex(head + control + unknown + part)
    pad = bytes(3)
    assert encode_mdbef(sent) == guarded + b"ITEM!" + pad + struct.pack("<I", crc32(guarded + pad))


@given(
    bags,
    st.lists(st.builds(Part, st.binary(max_size=60), bags), max_size=4),
    st.lists(st.tuples(st.binary(max_size=9), st.integers(-1, 3)), max_size=3),
)
def test_any_system_message_comes_back(props: Bag, some: list[Part], unknown: list[tuple[bytes, int]]) -> None:
    """Control properties, parts, order, items' bytes and unknown attributes survive the envelope. (spec: ML-2)"""
    extra = tuple(RawAttribute(0x0006FE01, data, owner) for data, owner in unknown if owner < len(some))
    sent = SystemMessage(props, tuple(some), extra)
    back = decode_mdbef(encode_mdbef(sent))
    assert back == sent
    assert list(back.props.items()) == list(props.items())
    assert encode_mdbef(back) == encode_mdbef(sent)


@given(bags, st.lists(st.tuples(st.binary(max_size=60), bags), max_size=3))
def test_a_bridgehead_changes_the_envelope_and_nothing_else(props: Bag, some: list[tuple[bytes, Bag]]) -> None:
    """TNEF to MDBEF and back gives the same bytes, so no item is encoded again. (spec: ML-2, ML-4)"""
    ours = {PR_ATTACH_METHOD, PR_ATTACH_DATA_OBJ}
    parts = tuple(Part(item, {tag: bag[tag] for tag in bag if tag not in ours}) for item, bag in some)
    tnef = encode_tnef(SystemMessage(props, parts))
    assert encode_tnef(decode_mdbef(encode_mdbef(decode_tnef(tnef)))) == tnef


def test_every_damaged_byte_damages_the_mail_or_its_item() -> None:
    """A changed byte outside the items makes the mail bad; inside an item it makes only that item bad. (spec: IN-5)"""
    first = WIRE.index(ITEM)
    second = WIRE.index(ITEM, first + 1)
    key_bytes = {first + 4, first + 5, second + 4, second + 5}  # TNEF's key, which means nothing
    for at in range(len(WIRE)):
        damaged = WIRE[:at] + bytes([WIRE[at] ^ 0x41]) + WIRE[at + 1 :]
        inside = next((n for n, start in ((0, first), (1, second)) if start <= at < start + len(ITEM)), None)
        if inside is None:
            with pytest.raises(CodecError):
                decode_mdbef(damaged)
            continue
        parts = decode_mdbef(damaged).parts
        check_item(parts[1 - inside].item)
        if at not in key_bytes and parts[inside].item[:9] == ITEM[:9]:
            assert parts[inside].item != ITEM


def test_no_truncated_envelope_passes() -> None:
    """An envelope that is cut short anywhere, or has further bytes at its end, is refused."""
    for cut in range(len(WIRE)):
        with pytest.raises(CodecError):
            decode_mdbef(WIRE[:cut])
    with pytest.raises(CodecError):
        decode_mdbef(WIRE + b"\0")


@given(st.lists(st.tuples(st.integers(0, len(WIRE) - 1), st.integers(0, 255)), min_size=1, max_size=3))
def test_mutated_envelopes_are_one_clear_error(changes: list[tuple[int, int]]) -> None:
    """Mutated bytes, the check sum made right again, decode to something or raise CodecError, and nothing else."""
    damaged = bytearray(WIRE)
    for at, byte in changes:
        damaged[at] = byte
    for received in (bytes(damaged), resummed(bytes(damaged))):
        try:
            decode_mdbef(received)
        except CodecError as wrong:
            assert "\n" not in str(wrong)


def resummed(wire: bytes) -> bytes:
    """The envelope with a check sum as if it held no items, to get past that check where lengths allow."""
    return wire[:-4] + struct.pack("<I", crc32(wire[:-4]))


@given(st.binary(max_size=100))
def test_arbitrary_bytes_are_one_clear_error(raw: bytes) -> None:
    """Bytes that were never an envelope raise CodecError."""
    for wire in (raw, MAGIC + raw, MAGIC + b"\1\0\0\0" + struct.pack("<I", len(raw) + 16) + raw):
        with pytest.raises(CodecError):
            decode_mdbef(wire)


@pytest.mark.parametrize(
    ("at", "value", "reason"),
    [
        (8, 2, "version 2"),
        (10, 1, "flags"),
        (12, 1 << 20, "announces"),
        (16, 0xFFFFFFFF, "announced"),
        (20, 0xFFFFFFFF, "unknown attributes"),
        (24, MAX_PARTS + 1, "parts"),
        (24, 3, "announced"),
        (24, 1, "after the last part"),
    ],
)
def test_a_wrong_header_is_named(at: int, value: int, reason: str) -> None:
    """The error says what is wrong with a header, and no count in it is trusted. (spec: ML-7)"""
    layout = "<H" if at < 12 else "<I"
    wire = bytearray(WIRE)
    struct.pack_into(layout, wire, at, value)
    with pytest.raises(CodecError, match=reason):
        decode_mdbef(bytes(wire))


def test_an_unknown_attribute_belongs_to_a_part_that_exists() -> None:
    """An unknown attribute of a part that does not exist is refused: no envelope could carry it. (spec: ML-2)"""
    wire = encode_mdbef(SystemMessage({}, (Part(ITEM),), (RawAttribute(0x0006FE01, b"", 1),)))
    with pytest.raises(CodecError, match="attachment 1"):
        decode_mdbef(wire)


def test_an_envelope_beyond_the_limits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes and counts above the limits are refused when encoding and when decoding. (spec: ML-7)"""
    monkeypatch.setattr(tnef_stream, "MAX_STREAM_SIZE", len(WIRE) - 1)
    with pytest.raises(CodecError, match="limit"):
        decode_mdbef(WIRE)
    with pytest.raises(CodecError, match="parts"):
        encode_mdbef(SystemMessage({}, (Part(b""),) * (MAX_PARTS + 1)))
