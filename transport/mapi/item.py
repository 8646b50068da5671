"""One replicated item as bytes: a complete TNEF stream of its own.

An item (a message, or a folder of the hierarchy) is encoded once, on the server where it was changed. Every store keeps these
bytes and sends them in a TNEF or MDBEF envelope; no store encodes the item again. So an item has its own lengths and
checksums, and `check_item` finds damage anywhere in it.

(spec: ML-2)
"""

import struct
from dataclasses import dataclass
from typing import Final

from transport.errors import CodecError
from transport.mapi import tnef_stream as ts
from transport.mapi.attachment import (
    AttachmentReader,
    attachment_pieces,
    embedded_attachment,
    embedded_item,
    exact_bag,
    file_attachment,
)
from transport.mapi.properties import Bag, decode_bag_at, encode_bag
from transport.mapi.property_tags import PR_BODY, PR_BODY_A, PR_MESSAGE_CLASS, PR_MESSAGE_CLASS_A
from transport.mapi.system_message import RawAttribute

__all__ = [
    "MAX_NESTING",
    "MAX_RECIPIENTS",
    "Item",
    "body_text",
    "check_item",
    "decode_item",
    "embedded_attachment",
    "embedded_item",
    "encode_item",
    "file_attachment",
    "item_bag",
    "message_class",
    "put_body",
]

MAX_NESTING: Final = 10
"""Largest depth of messages attached to messages. Mail clients allow far fewer levels."""

MAX_RECIPIENTS: Final = 20_000
"""Largest number of rows in a recipient table."""

_U32: Final = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Item:
    """A decoded item. An attachment is a bag with PR_ATTACH_DATA_BIN or PR_ATTACH_DATA_OBJ.

    `extra` has the attributes that this version does not know; they are kept.
    """

    props: Bag
    recipients: tuple[Bag, ...] = ()
    attachments: tuple[Bag, ...] = ()
    extra: tuple[RawAttribute, ...] = ()


def message_class(props: Bag) -> str | None:
    """Return the message class of a bag."""
    return _text(props, PR_MESSAGE_CLASS, PR_MESSAGE_CLASS_A)


def body_text(props: Bag) -> str | None:
    """Return the text of a message."""
    return _text(props, PR_BODY, PR_BODY_A)


def put_body(props: Bag, text: str) -> None:
    """Set the text of a message. ASCII, as STRING8, takes half of the bytes that it would take as UNICODE."""
    narrow = text.isascii()
    props.pop(PR_BODY if narrow else PR_BODY_A, None)
    if narrow:
        props[PR_BODY_A] = text.encode("ascii")
    else:
        props[PR_BODY] = text


def _text(props: Bag, unicode_tag: int, string8_tag: int) -> str | None:
    """Return a text that may have either type. STRING8 is in the code page of attOemCodepage."""
    wide = props.get(unicode_tag)
    if isinstance(wide, str):
        return wide
    narrow = props.get(string8_tag)
    return narrow.decode("cp1252", "replace") if isinstance(narrow, bytes) else None


def encode_item(item: Item) -> bytes:
    """Return the item's stream. The same item always gives the same bytes."""
    owned = ts.by_owner(item.extra)
    pieces = message_pieces(item.props, message_class(item.props), owned.get(-1, []), item.recipients)
    level = ts.LEVEL_MESSAGE
    for index, attachment in enumerate(item.attachments):
        pieces += attachment_pieces(attachment, owned.get(index, []))
        level = ts.LEVEL_ATTACHMENT
    pieces.append(ts.end_guard(level, pieces[-1]))
    return b"".join(pieces)


def message_pieces(
    props: Bag, class_name: str | None, kept: list[RawAttribute], recipients: tuple[Bag, ...] = ()
) -> list[bytes]:
    """Return a stream up to its first attachment, in pieces to join; `kept` are unknown attributes of the message."""
    pieces = [ts.prefix(kept), *ts.frame_kept(kept)] if kept else [ts.PREFIX]
    if not any(raw.code == ts.ATT_MESSAGE_CLASS for raw in kept):
        pieces.append(ts.class_attribute(class_name))
    if recipients:
        table = [_U32.pack(len(recipients)), *(encode_bag(row) for row in recipients)]
        pieces += ts.frame(ts.LEVEL_MESSAGE, ts.ATT_RECIP_TABLE, b"".join(table))
    # attMsgProps comes after all other attributes of the message [MS-OXTNEF 2.1.3].
    pieces += ts.frame(ts.LEVEL_MESSAGE, ts.ATT_MSG_PROPS, encode_bag(props))
    return pieces


def decode_item(stream: bytes) -> Item:
    """Return the item of a stream. Raise `CodecError` if the item, or a message embedded in it, is damaged."""
    return Item(*_decode(stream, 1))


def item_bag(stream: bytes) -> Bag:
    """Return only the item's properties; everything is checked as in `decode_item`."""
    return _decode(stream, 1)[0]


def check_item(stream: bytes) -> None:
    """Raise `CodecError` if `decode_item` would; the message says what is wrong and where."""
    _decode(stream, 1)


def _decode(stream: bytes, depth: int) -> tuple[Bag, tuple[Bag, ...], tuple[Bag, ...], tuple[RawAttribute, ...]]:
    """Return the four fields of an `Item`."""
    if depth > MAX_NESTING:
        raise CodecError(f"messages are nested more than {MAX_NESTING} deep")
    props: Bag | None = None
    recipients: tuple[Bag, ...] | None = None
    readers: list[AttachmentReader] = []
    extra: list[RawAttribute] = []
    class_at: tuple[int, int, int] | None = None
    for level, code, start, end, intact in ts.walk(stream):
        if not intact:
            raise CodecError(f"TNEF attribute {code:#010x} at byte {start - 9}: its checksum is wrong")
        if level == ts.LEVEL_ATTACHMENT:
            if code == ts.ATT_ATTACH_REND_DATA or not readers:
                readers.append(AttachmentReader(stream, len(readers), (code, start, end)))
            else:
                readers[-1].take(code, start, end)
        elif code == ts.ATT_MSG_PROPS:
            _once(props, code)
            props = exact_bag(stream, start, end)
        elif code == ts.ATT_RECIP_TABLE:
            _once(recipients, code)
            recipients = _rows(stream, start, end)
        elif code == ts.ATT_MESSAGE_CLASS:
            _once(class_at, code)
            class_at = len(extra), start, end
        elif code != ts.ATT_END_GUARD or stream[start:end] != ts.GUARD_DATA:
            extra.append(RawAttribute(code, stream[start:end]))
    if props is None:
        raise CodecError("the TNEF stream has no attMsgProps, so it has no item")
    if class_at is not None:
        keep_odd_class(extra, stream, class_at, message_class(props))
    attachments = _finish(readers, extra, depth) if readers else ()
    return props, recipients or (), attachments, tuple(extra)


def _finish(readers: list[AttachmentReader], extra: list[RawAttribute], depth: int) -> tuple[Bag, ...]:
    """Check embedded messages, and return the attachments' bags. Add to `extra` the attributes that the bags do not contain."""
    bags: list[Bag] = []
    for reader in readers:
        bag, kept = reader.finish()
        if (nested := embedded_item(bag)) is not None:
            _decode(nested, depth + 1)
        bags.append(bag)
        extra += kept
    return tuple(bags)


def keep_odd_class(
    extra: list[RawAttribute], stream: bytes, class_at: tuple[int, int, int], class_name: str | None
) -> None:
    """Keep an attMessageClass in `extra` only if it differs from the property."""
    index, start, end = class_at
    if stream[start - 9 : end + 2] != ts.class_attribute(class_name):
        extra.insert(index, RawAttribute(ts.ATT_MESSAGE_CLASS, stream[start:end]))


def _once(before: object, code: int) -> None:
    if before is not None:
        raise CodecError(f"TNEF attribute {code:#010x} occurs twice; only one is allowed")


def _rows(stream: bytes, start: int, end: int) -> tuple[Bag, ...]:
    count = int.from_bytes(stream[start : start + 4], "little")
    if count > MAX_RECIPIENTS:
        raise CodecError(f"the item announces {count} recipients; at most {MAX_RECIPIENTS} are allowed")
    if start + 4 + 4 * count > end:
        raise CodecError(f"the item announces {count} recipients, which do not fit in {end - start} bytes")
    rows: list[Bag] = []
    at = start + 4
    for _ in range(count):
        row, at = decode_bag_at(stream, at, end)
        rows.append(row)
    if at != end:
        raise CodecError(f"unexpected {end - at} bytes after the last recipient")
    return tuple(rows)
