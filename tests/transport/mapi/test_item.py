"""Items: one stream for life, readable by anyone, and checked wherever it arrives."""

import struct

import pytest
import tnefparse
from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_bags import bags, embedded_attachment
from transport.errors import CodecError
from transport.mapi import tnef_stream as ts
from transport.mapi.item import (
    IID_IMESSAGE,
    MAX_NESTING,
    Item,
    check_item,
    decode_item,
    embedded_item,
    encode_item,
    file_attachment,
    item_bag,
)
from transport.mapi.properties import Bag, encode_bag
from transport.mapi.property_tags import (
    PR_ATTACH_DATA_BIN,
    PR_ATTACH_DATA_OBJ,
    PR_ATTACH_LONG_FILENAME,
    PR_ATTACH_METHOD,
    PR_BODY,
    PR_CHANGE_KEY,
    PR_DISPLAY_NAME,
    PR_MESSAGE_CLASS,
    PR_MESSAGE_CLASS_A,
    PR_RECIPIENT_TYPE,
    PR_SUBJECT,
)
from transport.mapi.system_message import RawAttribute

POST: Bag = {PR_MESSAGE_CLASS: "IPM.Post", PR_SUBJECT: "Hello", PR_BODY: "A body \u2603", PR_CHANGE_KEY: b"k" * 22}
BOB: Bag = {PR_RECIPIENT_TYPE: 1, PR_DISPLAY_NAME: "Bob"}


def attribute(level: int, code: int, data: bytes) -> bytes:
    """One attribute, framed by hand."""
    return struct.pack("<BII", level, code, len(data)) + data + struct.pack("<H", sum(data) & 0xFFFF)


def stream(*attributes: bytes) -> bytes:
    """A TNEF stream of these attributes behind the usual first three fields."""
    return ts.PREFIX + b"".join(attributes)


PROPS = attribute(1, ts.ATT_MSG_PROPS, encode_bag({PR_SUBJECT: "long enough for its sum to end in no zero"}))
REND = attribute(2, ts.ATT_ATTACH_REND_DATA, ts.REND_DATA)


def test_the_bytes_of_an_item_begin_as_the_open_specification_says() -> None:
    """Signature, key, attTnefVersion, attOemCodepage and attMessageClass come first. (spec: ML-2)"""
    head = bytes.fromhex(
        "789f3e22 0100"
        "01 06900800 04000000 00000100 0100"
        "01 07900600 08000000 e404000000000000 e800"
        "01 08800700 09000000 49504d2e506f737400 ba02"
    )
    assert encode_item(Item(POST)).startswith(head)


@given(bags, st.lists(bags, max_size=2), st.lists(bags, max_size=2))
def test_any_item_comes_back(props: Bag, recipients: list[Bag], attachments: list[Bag]) -> None:
    """Properties, recipients and attachments of any item survive encode and decode. (spec: ML-2)"""
    item = Item(props, tuple(recipients), tuple(attachments))
    wire = encode_item(item)
    back = decode_item(wire)
    assert back == item
    assert list(back.props.items()) == list(props.items())
    assert encode_item(back) == wire
    assert item_bag(wire) == props


def test_a_file_and_an_embedded_message_come_back() -> None:
    """A file keeps its name and every byte, zeros at its end too; an embedded message is a stream of its own."""
    inner = encode_item(Item({PR_SUBJECT: "inside"}, (), (file_attachment("note.txt", b"n\0\0"),)))
    item = Item(POST, (BOB,), (file_attachment("a b.bin", bytes(9)), embedded_attachment(inner)))
    back = decode_item(encode_item(item))
    assert back == item
    assert back.extra == ()
    assert back.attachments[0][PR_ATTACH_DATA_BIN] == bytes(9)
    nested = embedded_item(back.attachments[1])
    assert nested is not None
    assert decode_item(nested).attachments[0][PR_ATTACH_DATA_BIN] == b"n\0\0"
    assert embedded_item(back.attachments[0]) is None


@pytest.mark.parametrize(
    "attachment",
    [
        {},
        {PR_ATTACH_METHOD: 1},
        {PR_ATTACH_LONG_FILENAME: "n\u00e4me"},
        {PR_ATTACH_DATA_BIN: b""},
        {PR_ATTACH_DATA_BIN: ts.NOTE, PR_ATTACH_LONG_FILENAME: "Embedded message"},
        {PR_ATTACH_DATA_BIN: b"both", PR_ATTACH_DATA_OBJ: b"kinds"},
        {PR_ATTACH_DATA_OBJ: b"some other object"},
    ],
)
def test_odd_attachments_come_back(attachment: Bag) -> None:
    """An attachment with unusual properties is neither lost nor changed."""
    assert decode_item(encode_item(Item(POST, (), (attachment,)))) == Item(POST, (), (attachment,))


@given(st.integers(0, 1 << 48), st.integers(1, 120))
def test_no_reader_loses_the_end_of_an_item(number: int, length: int) -> None:
    """tnefparse, which cuts zeros off embedded objects, reads the last property of every item. (spec: ML-2)"""
    key = number.to_bytes(7, "big") + b"\1"
    wire = encode_item(Item({PR_SUBJECT: "s" * length, PR_CHANGE_KEY: key}))
    assert wire[-1] != 0
    outer = encode_item(Item({}, (), (embedded_attachment(wire),)))
    nested = tnefparse.TNEF(outer).attachments[0].embed
    found = {prop.name: prop.data for prop in nested.mapiprops}
    assert found[PR_CHANGE_KEY >> 16] == key
    assert all(one.good_checksum for one in nested.objects)


def test_an_item_that_ends_in_zero_gets_a_guard() -> None:
    """An item whose last checksum ends in a zero byte gets a guard attribute; decoding removes it."""
    items = [Item({PR_SUBJECT: "x" * n}) for n in range(300)]
    guarded = [item for item in items if encode_item(item).endswith(b"\xff\xff\xfe\x01")]
    assert guarded
    assert all(decode_item(encode_item(item)) == item for item in guarded)
    attached = [Item(POST, (), ({PR_DISPLAY_NAME: "x" * n},)) for n in range(300)]
    guarded = [item for item in attached if encode_item(item).endswith(b"\xff\xff\xfe\x01")]
    assert guarded
    assert all(decode_item(encode_item(item)) == item for item in guarded)


@pytest.mark.parametrize("place", range(3))
def test_unknown_attributes_survive(place: int) -> None:
    """Attributes that this version does not know survive decode and encode, byte for byte. (spec: ML-2)"""
    new, odd_rend = attribute(1, 0x0006FE01, b"new"), attribute(2, ts.ATT_ATTACH_REND_DATA, bytes(14))
    bag = attribute(2, ts.ATT_ATTACHMENT, encode_bag({PR_ATTACH_METHOD: 1, PR_DISPLAY_NAME: "long enough"}))
    wire = [
        stream(new, attribute(1, ts.ATT_MESSAGE_CLASS, b"IPM.Odd\0"), PROPS),
        stream(PROPS, odd_rend, attribute(2, 0x0006FE02, b"far"), bag, REND, bag),
        ts.SIGNATURE_AND_KEY
        + attribute(1, ts.ATT_TNEF_VERSION, struct.pack("<I", ts.TNEF_VERSION))
        + attribute(1, ts.ATT_OEM_CODEPAGE, struct.pack("<II", 65001, 0))
        + PROPS,
    ][place]
    item = decode_item(wire)
    assert item.extra
    assert encode_item(item) == wire


OURS, CYRILLIC = (attribute(1, ts.ATT_OEM_CODEPAGE, struct.pack("<II", page, 0)) for page in (ts.CODEPAGE, 1251))


@pytest.mark.parametrize(
    "pages", [OURS + CYRILLIC, CYRILLIC + OURS, OURS + OURS, CYRILLIC + CYRILLIC], ids=["12", "21", "11", "22"]
)
def test_several_code_pages_keep_their_values_and_order(pages: bytes) -> None:
    """A stream with several attOemCodepage is encoded as it was decoded, whichever of them a reader uses. (spec: ML-2)"""
    wire = ts.SIGNATURE_AND_KEY + attribute(1, ts.ATT_TNEF_VERSION, struct.pack("<I", ts.TNEF_VERSION)) + pages + PROPS
    assert encode_item(decode_item(wire)) == wire


def test_a_code_page_among_the_attributes_of_an_attachment_is_kept() -> None:
    """Only the message has a code page, so this is an unknown attribute of the attachment. (spec: ML-2)"""
    odd = attribute(2, ts.ATT_OEM_CODEPAGE, struct.pack("<II", ts.CODEPAGE, 0))
    bag = attribute(2, ts.ATT_ATTACHMENT, encode_bag({PR_ATTACH_METHOD: 1}))
    wire = stream(PROPS, REND, odd, bag)
    other_key = wire[:4] + b"\xbe\xef" + wire[6:]
    for each in (wire, other_key):
        assert odd in encode_item(decode_item(each))


@pytest.mark.parametrize(
    ("name", "title"),
    [("a.txt", b"a.txt"), ("gr\u00fcn.txt", b"gr\xfcn.txt"), ("\u2603.txt", b"?.txt"), ("x" * 150, b"x" * 99)],
    ids=["ascii", "in the page", "not in it", "long"],
)
def test_every_named_file_has_a_title_in_our_code_page(name: str, title: bytes) -> None:
    """attAttachTitle repeats the file name for readers without properties, and decodes to nothing new. (spec: ML-2)"""
    item = Item(POST, (), (file_attachment(name, b"x"),))
    wire = encode_item(item)
    assert attribute(2, ts.ATT_ATTACH_TITLE, title + b"\0") in wire
    assert decode_item(wire) == item


def test_an_empty_file_has_no_empty_attribute() -> None:
    """ytnef stops at an empty attribute, so an empty file is a property; it decodes to the same attachment. (spec: ML-2)"""
    item = Item(POST, (), (file_attachment("a.txt", b""),))
    wire = encode_item(item)
    assert attribute(2, ts.ATT_ATTACH_DATA, b"") not in wire
    assert decode_item(wire) == item


def test_usual_first_attributes_are_not_kept() -> None:
    """A stream with the usual version and code page and another key decodes to the same item."""
    wire = encode_item(Item(POST))
    other_key = wire[:4] + b"\xbe\xef" + wire[6:]
    assert decode_item(other_key) == Item(POST)


@pytest.mark.parametrize("class_tag", [PR_MESSAGE_CLASS, PR_MESSAGE_CLASS_A])
def test_the_class_is_also_an_attribute(class_tag: int) -> None:
    """attMessageClass repeats the class property, of either string type; decoding adds nothing."""
    item = Item({class_tag: "IPM.Note" if class_tag == PR_MESSAGE_CLASS else b"IPM.Note"})
    wire = encode_item(item)
    assert attribute(1, ts.ATT_MESSAGE_CLASS, b"IPM.Note\0") in wire
    assert decode_item(wire) == item
    assert ts.message_class(item.props) == "IPM.Note"
    assert ts.message_class({}) is None


RICH = encode_item(
    Item(POST, (BOB,), (file_attachment("a.txt", b"hello"), embedded_attachment(encode_item(Item(POST)))))
)


def test_every_damaged_data_byte_is_noticed() -> None:
    """One changed byte in the data of any attribute makes the item undecodable, never another item. (spec: IN-5)"""
    for _, _, start, end, _ in ts.walk(RICH):
        for at in range(start, end):
            damaged = RICH[:at] + bytes([RICH[at] ^ 0x40]) + RICH[at + 1 :]
            with pytest.raises(CodecError):
                check_item(damaged)


def test_no_truncated_item_passes() -> None:
    """An item that is cut short anywhere is refused, except if whole attachments are missing."""
    attachments_at = RICH.index(REND)
    ends = {end + 2 for _, _, _, end, _ in ts.walk(RICH)}
    for cut in range(len(RICH)):
        if cut >= attachments_at and cut in ends:
            check_item(RICH[:cut])
            continue
        with pytest.raises(CodecError):
            check_item(RICH[:cut])


@given(st.lists(st.tuples(st.integers(0, len(RICH) - 1), st.integers(0, 255)), min_size=1, max_size=3))
def test_mutated_items_are_one_clear_error(changes: list[tuple[int, int]]) -> None:
    """Mutated bytes decode to something or raise CodecError, and nothing else."""
    damaged = bytearray(RICH)
    for at, byte in changes:
        damaged[at] = byte
    try:
        decode_item(bytes(damaged))
    except CodecError as wrong:
        assert "\n" not in str(wrong)


@given(st.binary(max_size=100))
def test_arbitrary_bytes_are_one_clear_error(raw: bytes) -> None:
    """Bytes that were never an item raise CodecError, with or without a right beginning."""
    for wire in (raw, ts.SIGNATURE_AND_KEY + raw, ts.PREFIX + raw):
        with pytest.raises(CodecError):
            check_item(wire)


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        (b"", "not a TNEF"),
        (stream(), "no attMsgProps"),
        (stream(PROPS, PROPS), "occurs twice"),
        (stream(PROPS, attribute(1, ts.ATT_RECIP_TABLE, b"\xff\xff\xff\xff")), "announces 4294967295 recipients"),
        (stream(PROPS, attribute(1, ts.ATT_RECIP_TABLE, bytes(8))), "after the last recipient"),
        (stream(PROPS, attribute(2, ts.ATT_ATTACHMENT, bytes(4))), "before attAttachRendData"),
        (stream(PROPS, REND, *[attribute(2, ts.ATT_ATTACHMENT, bytes(4))] * 2), "two attAttachment"),
        (stream(PROPS) + b"x", "after the last"),
        (stream(PROPS[:-1] + b"\7"), "checksum"),
        (stream(b"\3" + PROPS[1:]), "level 3"),
        (stream(attribute(1, ts.ATT_MSG_PROPS, bytes(8))), "after the last property"),
        (ts.SIGNATURE_AND_KEY + PROPS, "attTnefVersion"),
        (ts.SIGNATURE_AND_KEY + attribute(1, ts.ATT_TNEF_VERSION, b"\0\0\2\0"), "00020000"),
    ],
)
def test_a_wrong_structure_is_named(wire: bytes, reason: str) -> None:
    """What is wrong with a stream's structure is said in the error."""
    with pytest.raises(CodecError, match=reason):
        check_item(wire)


def test_damage_inside_an_embedded_message_is_noticed() -> None:
    """An item with a damaged embedded message is damaged."""
    inner = encode_item(Item(POST))
    broken = embedded_attachment(inner[:-1] + b"\x77")
    with pytest.raises(CodecError, match="checksum"):
        check_item(encode_item(Item(POST, (), (broken,))))


def test_nesting_has_a_limit() -> None:
    """Messages can be nested up to the limit; one level more is refused. (spec: ML-7)"""
    wire = encode_item(Item(POST))
    for _ in range(MAX_NESTING - 1):
        wire = encode_item(Item(POST, (), (embedded_attachment(wire),)))
    check_item(wire)
    with pytest.raises(CodecError, match="nested"):
        check_item(encode_item(Item(POST, (), (embedded_attachment(wire),))))


def test_attributes_have_a_limit() -> None:
    """A stream with more attributes than the limit is refused. (spec: ML-7)"""
    empty = attribute(1, 0x0006FE01, b"")
    with pytest.raises(CodecError, match="the TNEF stream has more than"):
        check_item(stream(PROPS, empty * (ts.MAX_ATTRIBUTES + 1)))


@given(st.binary(max_size=2000))
def test_the_checksum_is_the_plain_sum_of_the_bytes(raw: bytes) -> None:
    """The fast sum equals the specified one: the sum of all bytes modulo 65536."""
    assert ts.byte_sum(raw) == sum(raw) & 0xFFFF
    assert ts.byte_sum(b"\xff" * 70_000 + raw) == (255 * 70_000 + sum(raw)) & 0xFFFF


def test_extra_attributes_of_an_attachment_stay_with_it() -> None:
    """After decoding, an unknown attribute of the second attachment still belongs to the second."""
    extra = (RawAttribute(0x0006FE09, b"second", 1),)
    item = Item(
        POST, (), (file_attachment("a", b"1"), {PR_ATTACH_DATA_OBJ: IID_IMESSAGE + encode_item(Item(POST))}), extra
    )
    assert decode_item(encode_item(item)) == item
