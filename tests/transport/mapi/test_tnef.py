"""The TNEF envelope: what public readers see in it, and what damage does to it."""

import os
import shutil
import struct
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import tnefparse
from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_bags import bags, embedded_attachment
from transport.errors import CodecError
from transport.mapi import tnef
from transport.mapi import tnef_stream as ts
from transport.mapi.item import (
    IID_IMESSAGE,
    Item,
    check_item,
    encode_item,
    file_attachment,
    item_bag,
)
from transport.mapi.mdbef import MAX_EXTRA, encode_mdbef
from transport.mapi.properties import MAX_PROPERTIES, MAX_RECIPIENTS, MAX_VALUES, Bag, encode_bag, filetime
from transport.mapi.property_tags import (
    PR_ATTACH_DATA_OBJ,
    PR_ATTACH_METHOD,
    PR_BODY,
    PR_CHANGE_KEY,
    PR_CNSET_SEEN,
    PR_DISPLAY_NAME,
    PR_EMAIL_ADDRESS,
    PR_LAST_MODIFICATION_TIME,
    PR_MESSAGE_CLASS,
    PR_PREDECESSOR_CHANGE_LIST,
    PR_RECIPIENT_TYPE,
    PR_SENDER_EMAIL_ADDRESS,
    PR_SENDER_NAME,
    PR_SUBJECT,
)
from transport.mapi.system_message import Part, RawAttribute, SystemMessage
from transport.mapi.tnef import MAX_PARTS, decode_tnef, encode_tnef
from transport.mapi.tnef_stream import MAX_ATTRIBUTES

GUID = bytes(range(16, 32))
AT = 1_066_695_300_000_000


def key(number: int) -> bytes:
    """A change key: GUID and counter, ending in a zero now and then."""
    return GUID + number.to_bytes(6, "big")


def post(number: int, *attachments: Bag) -> bytes:
    """An item as a store makes it."""
    props: Bag = {
        PR_MESSAGE_CLASS: "IPM.Post",
        PR_SUBJECT: f"Subject {number} \u00fc",
        PR_BODY: f"Body {number}\r\n\u2603 \U0001f4ee" + "x" * number,
        PR_SENDER_NAME: "Kim",
        PR_SENDER_EMAIL_ADDRESS: "kim@contoso.test",
        PR_LAST_MODIFICATION_TIME: filetime(AT),
        PR_CHANGE_KEY: key(number),
        PR_PREDECESSOR_CHANGE_LIST: b"\x16" + key(number),
    }
    recipients: tuple[Bag, ...] = ({PR_RECIPIENT_TYPE: 1, PR_EMAIL_ADDRESS: "bob@contoso.test"},)
    return encode_item(Item(props, recipients, attachments))


def message(count: int) -> SystemMessage:
    """A system message of `count` items."""
    parts = tuple(Part(post(n), {PR_CHANGE_KEY: key(n), PR_DISPLAY_NAME: f"item {n}"}) for n in range(1, count + 1))
    return SystemMessage({PR_CNSET_SEEN: b"cnset"}, parts)


def read(wire: bytes) -> tnefparse.TNEF:
    """The stream in the eyes of tnefparse, all checksums right."""
    seen = tnefparse.TNEF(wire)
    assert all(one.good_checksum for one in seen.objects)
    return seen


def found(seen: tnefparse.TNEF) -> dict[int, object]:
    """tnefparse's message properties by id."""
    return {prop.name: prop.data for prop in seen.mapiprops}


def test_a_public_reader_opens_every_item() -> None:
    """tnefparse reads subject, body, sender, change key and PCL of each of 250 items. (spec: ML-2)"""
    seen = read(encode_tnef(message(250)))
    assert len(seen.attachments) == 250
    for number, attachment in enumerate(seen.attachments, 1):
        nested = attachment.embed
        assert all(one.good_checksum for one in nested.objects)
        props = found(nested)
        assert attachment.name == f"item {number}"
        assert props[PR_SUBJECT >> 16] == f"Subject {number} \u00fc"
        assert nested.body == f"Body {number}\r\n\u2603 \U0001f4ee" + "x" * number
        assert props[PR_SENDER_NAME >> 16] == "Kim"
        assert props[PR_SENDER_EMAIL_ADDRESS >> 16] == "kim@contoso.test"
        # tnefparse cuts zeros off the end of any binary property, whoever wrote it.
        assert props[PR_CHANGE_KEY >> 16] == key(number).rstrip(b"\0")
        assert props[PR_PREDECESSOR_CHANGE_LIST >> 16] == b"\x16" + key(number).rstrip(b"\0")


def test_a_public_reader_opens_attachments_and_embedded_messages() -> None:
    """tnefparse reads a file in an item byte for byte, and a message embedded in an item. (spec: ML-2)"""
    inner = post(7, file_attachment("inner.txt", b"inside\0\0"))
    item = post(1, file_attachment("a b.bin", bytes(range(256)) * 3 + b"\0"), embedded_attachment(inner))
    nested = read(encode_tnef(SystemMessage({}, (Part(item),)))).attachments[0].embed
    first, second = nested.attachments
    assert (first.long_filename(), first.data) == ("a b.bin", bytes(range(256)) * 3 + b"\0")
    assert second.embed.attachments[0].data == b"inside\0\0"
    assert found(second.embed)[PR_SUBJECT >> 16] == "Subject 7 \u00fc"


@pytest.mark.parametrize("reader", ["ytnef", "tnef"])
def test_command_line_readers_find_the_files(reader: str, tmp_path: Path) -> None:
    """ytnef goes down to the files inside items; tnef opens an item's own stream. (spec: ML-2)"""
    program = shutil.which(reader)
    if program is None:
        pytest.skip(f"{reader} is not installed")
    item = post(
        1, file_attachment("first.txt", b"first"), embedded_attachment(post(2, file_attachment("in.txt", b"in")))
    )
    given_to = tmp_path / "winmail.dat"
    # ytnef gives up on a message without any property; ours always have some.
    given_to.write_bytes(
        encode_tnef(SystemMessage({PR_CNSET_SEEN: b"x"}, (Part(item),))) if reader == "ytnef" else item
    )
    folder = tmp_path / "out"
    folder.mkdir()
    option = ["-f", str(folder)] if reader == "ytnef" else ["-C", str(folder)]
    subprocess.run([program, *option, str(given_to)], check=True, capture_output=True, timeout=60)
    assert (folder / "first.txt").read_bytes() == b"first"
    if reader == "ytnef":
        assert (folder / "in.txt").read_bytes() == b"in"


@pytest.mark.parametrize("name", ["gr\u00fcn.txt", "\u65e5\u672c.txt", "x" * 150])
@pytest.mark.skipif(shutil.which("ytnef") is None, reason="ytnef is not installed")
def test_ytnef_reads_on_after_any_file(name: str, tmp_path: Path) -> None:
    """A name that is not ASCII, a long name or an empty file costs no other file, in the same item or another. (spec: ML-2)"""
    files = (file_attachment(name, b"odd"), file_attachment("empty", b""), file_attachment("second", b"2"))
    items = (post(1, *files), post(2, file_attachment("third", b"3")))
    (tmp_path / "winmail.dat").write_bytes(
        encode_tnef(SystemMessage({PR_CNSET_SEEN: b"x"}, tuple(Part(item) for item in items)))
    )
    folder = tmp_path / "out"
    folder.mkdir()
    subprocess.run(["ytnef", "-f", str(folder), str(tmp_path / "winmail.dat")], check=True, timeout=60)
    saved = sorted(os.fsencode(each.name) for each in folder.iterdir())
    assert saved == sorted([name[:99].encode("cp1252", "replace"), b"second", b"third"])


def test_the_class_is_replication_unless_said_otherwise() -> None:
    """attMessageClass is IPM.Replication, or what PR_MESSAGE_CLASS says, and decodes to nothing new."""
    for props, name in (({}, b"IPM.Replication\0"), ({PR_MESSAGE_CLASS: "IPM.Note"}, b"IPM.Note\0")):
        wire = encode_tnef(SystemMessage(props))
        assert struct.pack("<BII", 1, ts.ATT_MESSAGE_CLASS, len(name)) + name in wire
        assert decode_tnef(wire) == SystemMessage(props)


items = st.one_of(st.binary(max_size=60), st.just(post(3)))
parts = st.builds(
    Part,
    items,
    bags.map(lambda bag: {tag: bag[tag] for tag in bag if tag not in {PR_ATTACH_METHOD, PR_ATTACH_DATA_OBJ}}),
)


@given(bags, st.lists(parts, max_size=4), st.lists(st.tuples(st.binary(max_size=9), st.integers(-1, 3)), max_size=3))
def test_any_system_message_comes_back(props: Bag, some: list[Part], unknown: list[tuple[bytes, int]]) -> None:
    """Control properties, parts, order, items' bytes and unknown attributes survive the envelope. (spec: ML-2)"""
    extra = [RawAttribute(0x0006FE01, data, owner) for data, owner in unknown if owner < len(some)]
    sent = SystemMessage(props, tuple(some), tuple(sorted(extra, key=lambda raw: raw.attachment)))
    wire = encode_tnef(sent)
    back = decode_tnef(wire)
    assert back == sent
    assert list(back.props.items()) == list(props.items())
    assert [list(part.props.items()) for part in back.parts] == [list(part.props.items()) for part in some]
    assert encode_tnef(back) == wire


@pytest.mark.parametrize(
    "opening",
    [
        [],
        [(ts.ATT_ATTACH_REND_DATA, bytes(14))],
        [(ts.ATT_ATTACH_REND_DATA, bytes(14)), (ts.ATT_ATTACH_DATA, b"another note")],
    ],
)
def test_an_envelope_of_another_writer_is_read_and_kept(opening: list[tuple[int, bytes]]) -> None:
    """Another program's rendering data and notes are read, and encoded again as they were."""
    extra = tuple(RawAttribute(code, data, 1) for code, data in opening)
    sent = SystemMessage({}, (Part(post(1)), Part(post(2))), extra)
    assert decode_tnef(encode_tnef(sent)) == sent


def test_one_damaged_item_leaves_the_others() -> None:
    """An item that was damaged before or after it was packed affects no other item. (spec: IN-5)"""
    sent = message(3)
    bad = bytearray(sent.parts[1].item)
    bad[100] ^= 0xFF
    packed_damaged = encode_tnef(SystemMessage(sent.props, (sent.parts[0], Part(bytes(bad)), sent.parts[2])))
    wire = encode_tnef(sent)
    at = wire.index(sent.parts[1].item) + 100
    damaged_on_the_way = wire[:at] + bytes([wire[at] ^ 0xFF]) + wire[at + 1 :]
    for received in (packed_damaged, damaged_on_the_way):
        back = decode_tnef(received)
        with pytest.raises(CodecError, match="checksum"):
            check_item(back.parts[1].item)
        assert [item_bag(back.parts[n].item)[PR_CHANGE_KEY] for n in (0, 2)] == [key(1), key(3)]
        assert back.parts[0] == sent.parts[0]


def test_every_damaged_byte_of_the_envelope_is_noticed() -> None:
    """One changed data byte outside the items makes the mail bad. (spec: IN-5)"""
    sent = message(1)
    wire = encode_tnef(sent)
    item_at = wire.index(sent.parts[0].item)
    for _, _, start, end, _ in ts.walk(wire):
        for at in range(start, end):
            if item_at <= at < item_at + len(sent.parts[0].item):
                continue
            with pytest.raises(CodecError):
                decode_tnef(wire[:at] + bytes([wire[at] ^ 0x41]) + wire[at + 1 :])


WIRE = encode_tnef(message(2))


@given(st.lists(st.tuples(st.integers(0, len(WIRE) - 1), st.integers(0, 255)), max_size=3), st.integers(0, len(WIRE)))
def test_mutated_envelopes_are_one_clear_error(changes: list[tuple[int, int]], cut: int) -> None:
    """Mutated and truncated bytes decode to something or raise CodecError, and nothing else."""
    damaged = bytearray(WIRE)
    for at, byte in changes:
        damaged[at] = byte
    for received in (bytes(damaged), bytes(damaged[:cut])):
        try:
            decode_tnef(received)
        except CodecError as wrong:
            assert "\n" not in str(wrong)


def attribute(level: int, code: int, data: bytes) -> bytes:
    """One attribute, framed by hand."""
    return struct.pack("<BII", level, code, len(data)) + data + struct.pack("<H", sum(data) & 0xFFFF)


PROPS = attribute(1, ts.ATT_MSG_PROPS, encode_bag({}))
CLASS = attribute(1, ts.ATT_MESSAGE_CLASS, b"IPM.Replication\0")
REND = attribute(2, ts.ATT_ATTACH_REND_DATA, ts.REND_DATA)
MESSAGE: Bag = {PR_ATTACH_METHOD: 5, PR_ATTACH_DATA_OBJ: IID_IMESSAGE + post(1)}
ATTACHMENT = attribute(2, ts.ATT_ATTACHMENT, encode_bag(MESSAGE))


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ([], "attMsgProps"),
        ([PROPS, PROPS], "occurs twice"),
        ([CLASS, CLASS, PROPS], "occurs twice"),
        ([PROPS, REND], "has no attAttachment"),
        ([PROPS, ATTACHMENT], "attAttachRendData first"),
        ([PROPS, REND, REND, ATTACHMENT], "attAttachRendData first"),
        ([PROPS, REND, ATTACHMENT, ATTACHMENT], "attAttachRendData first"),
        ([PROPS, REND, attribute(2, ts.ATT_ATTACHMENT, encode_bag({PR_ATTACH_METHOD: 1}))], "not an embedded message"),
        (
            [PROPS, REND, attribute(2, ts.ATT_ATTACHMENT, encode_bag(MESSAGE | {PR_ATTACH_METHOD: 1}))],
            "not an embedded",
        ),
        (
            [PROPS, REND, attribute(2, ts.ATT_ATTACHMENT, encode_bag(MESSAGE | {PR_ATTACH_DATA_OBJ: b""}))],
            "not an embedded",
        ),
        ([PROPS[:-2] + b"\1\1"], "checksum"),
        ([PROPS, REND[:-2] + b"\1\1", ATTACHMENT], "checksum"),
    ],
)
def test_a_wrong_structure_is_named(attributes: list[bytes], reason: str) -> None:
    """What is wrong with an envelope's structure is said in the error."""
    assert decode_tnef(ts.PREFIX + CLASS + PROPS + REND + ATTACHMENT).parts == (Part(post(1)),)
    with pytest.raises(CodecError, match=reason):
        decode_tnef(ts.PREFIX + b"".join(attributes))


@pytest.mark.parametrize("tag", [PR_ATTACH_METHOD, PR_ATTACH_DATA_OBJ])
def test_a_part_cannot_set_what_belongs_to_the_envelope(tag: int) -> None:
    """A part cannot have the two properties that make an attachment an embedded message."""
    value = 5 if tag == PR_ATTACH_METHOD else IID_IMESSAGE
    with pytest.raises(CodecError, match="belong to the envelope"):
        encode_tnef(SystemMessage({}, (Part(b"", {tag: value}),)))


def usual(count: int) -> SystemMessage:
    """A message as stores send them by the hundred: beside each item its change key and nothing else."""
    return SystemMessage(
        {PR_CNSET_SEEN: b"cnset"}, tuple(Part(post(n), {PR_CHANGE_KEY: key(n)}) for n in range(1, count + 1))
    )


def outcome(decode: Callable[[bytes], SystemMessage], stream: bytes) -> SystemMessage | str:
    try:
        return decode(stream)
    except CodecError as error:
        return str(error)


def test_usual_parts_are_written_as_any_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast encoder for parts with only a change key writes the same bytes as the general one. (spec: ML-2)"""
    sent = usual(40)
    wire = encode_tnef(sent)
    monkeypatch.setattr(tnef, "_usual_pieces", lambda part: None)
    assert encode_tnef(sent) == wire
    assert decode_tnef(wire) == tnef._decode(wire) == sent


@given(st.data())
def test_usual_parts_are_read_as_any_others(data: st.DataObject) -> None:
    """For any changed byte, with or without its checksum, the fast decoder gives the same parts or error as the general one.
    (spec: IN-5)
    """
    stream = bytearray(encode_tnef(usual(3)))
    spans = [(start, end) for _, _, start, end, _ in ts.walk(bytes(stream))]
    for _ in range(data.draw(st.integers(1, 3))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.sampled_from([0, 1, 0x1F, 0x80, 0xFF]))
    if data.draw(st.booleans()):
        for start, end in spans:
            stream[end : end + 2] = ts.byte_sum(bytes(stream[start:end])).to_bytes(2, "little")
    cut = bytes(stream[: data.draw(st.integers(0, len(stream)))] if data.draw(st.booleans()) else stream)
    assert outcome(decode_tnef, cut) == outcome(tnef._decode, cut)


@pytest.mark.parametrize(
    "beside", [{}, {PR_CHANGE_KEY: b"short"}, {PR_SUBJECT: "x"}, {PR_CHANGE_KEY: key(1), PR_BODY: ""}]
)
def test_one_unusual_part_among_usual_ones_is_read(beside: Bag) -> None:
    """A part with other properties among usual parts is decoded like them. (spec: ML-2)"""
    sent = SystemMessage({}, (*usual(2).parts, Part(post(9), beside), *usual(2).parts))
    assert decode_tnef(encode_tnef(sent)) == sent


def test_an_object_too_short_for_its_interface_is_no_part() -> None:
    """A usual part whose object is shorter than an interface id is refused. (spec: ML-7)"""
    wire = encode_tnef(SystemMessage({}, (Part(b"", {PR_CHANGE_KEY: key(1)}),)))
    at = wire.index(IID_IMESSAGE)
    bad = bytearray(wire[:at] + wire[at + 16 :])
    bad[at - 4 : at] = bytes(4)
    data_at = wire.index(b"\x05\x90\x06\x00") + 8
    bad[data_at - 4 : data_at] = (len(bad) - 2 - data_at).to_bytes(4, "little")
    bad[-2:] = ts.byte_sum(bytes(bad[data_at:-2])).to_bytes(2, "little")
    with pytest.raises(CodecError, match="embedded message"):
        decode_tnef(bytes(bad))


def test_parts_have_a_limit() -> None:
    """The encoder refuses more parts than the limit. (spec: ML-7)"""
    with pytest.raises(CodecError, match="parts; at most"):
        encode_tnef(SystemMessage({}, (Part(b""),) * (MAX_PARTS + 1)))


def test_a_stream_beyond_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream above the size limit is refused before it is read. (spec: ML-7)"""
    monkeypatch.setattr(ts, "MAX_STREAM_SIZE", len(WIRE) - 1)
    with pytest.raises(CodecError, match="at most"):
        decode_tnef(WIRE)


def documented(page: str, name: str) -> bytes:
    """The bytes of one worked example of docs/reference/wire-format.md: hexadecimal, and remarks behind semicolons."""
    block = page.split(f'```hex title="{name}"\n')[1].split("```", maxsplit=1)[0]
    return bytes.fromhex(" ".join(line.partition(";")[0] for line in block.splitlines()))


def test_the_documented_examples_are_true(project_root: Path) -> None:
    """The worked examples in docs/reference/wire-format.md are what the encoders write. (spec: ML-2)"""
    page = (project_root / "docs" / "reference" / "wire-format.md").read_text(encoding="utf-8")
    guid = bytes.fromhex("9bb9ffb50f44774fb488c5c6702ee3a8")
    item = encode_item(Item({PR_SUBJECT: "Hi", PR_LAST_MODIFICATION_TIME: filetime(AT)}))
    sent = SystemMessage({PR_CNSET_SEEN: guid}, (Part(item, {PR_CHANGE_KEY: guid + b"\0\0\0\0\0d"}),))
    assert documented(page, "A TNEF envelope") == encode_tnef(sent)
    assert documented(page, "An MDBEF envelope") == encode_mdbef(sent)
    for limit in (MAX_PROPERTIES, MAX_VALUES, MAX_ATTRIBUTES, MAX_RECIPIENTS, MAX_PARTS, MAX_EXTRA):
        assert f"| {limit:,} |" in page


def test_the_limit_on_attributes_holds_while_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits bound the memory that a mail costs: 64 MB by SMTP must not become 800 MB (spec: ML-7, IN-5)."""
    monkeypatch.setattr(ts, "MAX_ATTRIBUTES", 1_000)
    stream = ts.PREFIX + b"\x01\x01\x00\x06\x00\0\0\0\0\0\0" * 50_000
    tracemalloc.start()
    try:
        with pytest.raises(CodecError):
            ts.walk(stream)
        assert tracemalloc.get_traced_memory()[1] < len(stream)
    finally:
        tracemalloc.stop()
