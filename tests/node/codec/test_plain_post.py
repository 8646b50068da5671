"""The fast path for plain posts writes the codec's own bytes, and reads nothing that the codec would read differently."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from node.codec import items
from node.codec.items import Version, encode_edit, encode_message, encode_post, read_post, read_version
from node.tracking.change_number import ChangeNumber, NumberError
from node.tracking.pcl import Pcl
from transport.errors import CodecError
from transport.mapi.item import Item, decode_item, encode_item
from transport.mapi.properties import filetime
from transport.mapi.property_tags import PR_BODY, PR_BODY_A, PR_IMPORTANCE, PR_MESSAGE_CLASS, PR_SUBJECT

GUID = bytes(range(16))
NUMBER = ChangeNumber(GUID, 0x123456789)
OBJECT = ChangeNumber(GUID, 7).to_xid()
FOLDER = ChangeNumber(bytes(range(100, 116)), 5).to_xid()
AT = 1_066_695_300_000_000
texts = st.text(st.characters(codec="utf-16-le"), max_size=60)


def post(
    subject: str = "Café", body: str = "x" * 1000, sender: str = "kim@contoso.test", *, fai: bool = False
) -> bytes:
    return encode_message(
        OBJECT, NUMBER, Pcl.of(NUMBER), AT, folder=FOLDER, subject=subject, body=body, sender=sender, fai=fai
    )


def by_the_codec(stream: bytes) -> Version | str:
    """Return what the codec reads from a stream without the fast path, or a word that says that it refuses it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(items, "read_post", lambda stream: None)
        return read(stream)


def read(stream: bytes) -> Version | str:
    try:
        return read_version(stream)
    except (CodecError, NumberError):
        return "refused"


@given(texts, texts, texts, st.booleans())
@example("", "", "", False)
@example("a\0", "\0", "\0\0", True)
@example("a", "caf\u00e9", "c", False)
def test_the_fast_path_writes_and_reads_as_the_codec(subject: str, body: str, sender: str, fai: bool) -> None:
    """The fast path writes a post with the codec's bytes, guard included, and reads it with the codec's result. (spec: ML-2)"""
    stream = post(subject, body, sender, fai=fai)
    assert encode_item(decode_item(stream)) == stream
    assert read_post(stream) is not None
    assert read_version(stream) == by_the_codec(stream)
    assert (read_version(stream).fai, read_version(stream).number) == (fai, NUMBER)


def test_ascii_takes_one_byte_for_each_character() -> None:
    """The body is STRING8 if it is ASCII, otherwise UNICODE; an edit may change the type. (The format of mails, section 3)"""
    plain, accented = post(body="x" * 1000), post(body="\N{LATIN SMALL LETTER E WITH ACUTE}" * 1000)
    assert abs(len(accented) - len(plain) - 1000) < 20  # padding, and a guard where needed
    for stream, body in ((plain, "\N{EURO SIGN}"), (accented, "ascii")):
        edited = encode_edit(stream, NUMBER, Pcl.of(NUMBER), AT + 1, version_of=OBJECT, body=body)
        assert items.body_of(edited) == body
        assert len({PR_BODY, PR_BODY_A} & decode_item(edited).props.keys()) == 1


def test_both_ways_end_a_stream_with_a_guard_where_needed() -> None:
    """One item in 256 has a checksum that ends in a zero, and is read like the others. (The format of mails, section 3)"""
    streams = [post(body="\uff00" * n) for n in range(600)]  # each adds 255 to the checksum, which thus wraps twice
    guarded = [stream for stream in streams if stream.endswith(b"\xff\xff\xfe\x01")]
    assert guarded
    for stream in guarded:
        assert encode_item(decode_item(stream)) == stream
        assert read_post(stream) is not None


@given(st.data())
def test_a_damaged_post_is_what_the_codec_says(data: st.DataObject) -> None:
    """Whichever byte changes and wherever the post is cut, it is refused or read as by the codec alone. (spec: IN-5)"""
    stream = bytearray(post("Quarterly", "Numbers \N{EURO SIGN}"))
    for _ in range(data.draw(st.integers(1, 3))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    changed = bytes(stream[: data.draw(st.integers(0, len(stream)))] if data.draw(st.booleans()) else stream)
    assert read(changed) == by_the_codec(changed)


@given(st.integers(0, 1500), st.binary(max_size=4))
def test_a_change_with_its_checksum_set_right_is_what_the_codec_says(at: int, instead: bytes) -> None:
    """The fast path reads a changed item with a correct checksum as the codec does. (spec: ML-2)"""
    stream = post()
    data_at = stream.index(b"\x03\x90\x06\x00", 50) + 8
    end = data_at + int.from_bytes(stream[data_at - 4 : data_at], "little")
    data = bytearray(stream[data_at:end])
    data[at : at + len(instead)] = instead
    data = data[: end - data_at]
    changed = stream[:data_at] + bytes(data) + (sum(data) & 0xFFFF).to_bytes(2, "little") + stream[end + 2 :]
    assert read(changed) == by_the_codec(changed)


@pytest.mark.parametrize(
    "change",
    [
        lambda item: replace(item, props={**item.props, PR_IMPORTANCE: 2}),
        lambda item: replace(item, props={**item.props, PR_MESSAGE_CLASS: "IPM.Note"}),
        lambda item: replace(item, props={PR_SUBJECT: "first", **item.props}),
        lambda item: replace(item, attachments=({PR_BODY: "no data"},)),
        lambda item: replace(item, recipients=({PR_BODY: "a row"},)),
    ],
)
def test_what_is_no_plain_post_goes_to_the_codec(change: object) -> None:
    """More properties, another order or class, attachments or recipients: the codec reads all of them. (spec: ML-2)"""
    stream = encode_item(change(decode_item(post())))  # type: ignore[operator]
    assert read_post(stream) is None
    assert read_version(stream) == by_the_codec(stream)


def test_an_edit_by_another_store_goes_to_the_codec() -> None:
    """The codec reads a predecessor list with two authors. (spec: CN-3)"""
    other = ChangeNumber(bytes(reversed(GUID)), 3)
    stream = encode_edit(post(), other, Pcl.of(NUMBER, other), AT + 1, version_of=OBJECT, subject="edited")
    assert read_post(stream) is None
    assert read_version(stream).pcl == Pcl.of(NUMBER, other)


@pytest.mark.parametrize("subject", ["half \ud800", None])
def test_the_codec_refuses_an_invalid_value(subject: str) -> None:
    """A lone surrogate is refused with the codec's error text."""
    values = {"folder": FOLDER, "body": "", "sender": "", "flags": 0}
    assert encode_post(OBJECT, NUMBER.to_xid(), filetime(AT), subject=subject, **values) is None  # type: ignore[arg-type]
    with pytest.raises(CodecError, match="0x0037001F"):
        post(subject)


def test_an_empty_item_is_no_post() -> None:
    """Empty bytes, or a bag without a post in it, are not read as a post."""
    assert read_post(b"") is None
    assert read_post(encode_item(Item({PR_SUBJECT: "alone"}))) is None
