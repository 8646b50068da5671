"""One replicated item as bytes: a complete TNEF stream of its own.

An item (a message or a folder of the hierarchy) is encoded once, where it was changed. Those bytes are
stored, mailed in either envelope and stored again without anyone encoding them anew; so they carry their own
signature, lengths and checksums, and `check_item` tells an intact one from a damaged one wherever it stands.

# spec: ML-2
"""

import struct
from dataclasses import dataclass, field
from typing import Final

from transport import tnefstream as ts
from transport.errors import CodecError
from transport.mapi import Bag, decode_bag_at, encode_bag
from transport.proptags import (
    ATTACH_BY_VALUE,
    ATTACH_EMBEDDED_MSG,
    PR_ATTACH_DATA_BIN,
    PR_ATTACH_DATA_OBJ,
    PR_ATTACH_LONG_FILENAME,
    PR_ATTACH_METHOD,
    PR_MESSAGE_CLASS,
    PR_MESSAGE_CLASS_A,
)
from transport.systemmessage import RawAttribute

IID_IMESSAGE: Final = bytes.fromhex("0703020000000000c000000000000046")
"""In front of an embedded message: {00020307-0000-0000-C000-000000000046} [MS-OXTNEF 2.1.3.4]."""

MAX_NESTING: Final = 10
"""How deep messages may lie in one another's attachments; people's clients stop far earlier."""

MAX_RECIPIENTS: Final = 20_000
"""Rows of one recipient table."""

_U32: Final = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Item:
    """A decoded item. An attachment is a bag with PR_ATTACH_DATA_BIN or PR_ATTACH_DATA_OBJ.

    `extra` holds the attributes that this version does not know, so that they survive.
    """

    props: Bag
    recipients: tuple[Bag, ...] = ()
    attachments: tuple[Bag, ...] = ()
    extra: tuple[RawAttribute, ...] = field(default=())


def file_attachment(name: str, data: bytes) -> Bag:
    """The bag of an attached file, for `Item.attachments`."""
    return {
        PR_ATTACH_METHOD: ATTACH_BY_VALUE,
        PR_ATTACH_LONG_FILENAME: name,
        PR_ATTACH_DATA_BIN: data,
    }


def embedded_attachment(item: bytes) -> Bag:
    """The bag of an attached message, given its stream, for `Item.attachments`."""
    return {PR_ATTACH_METHOD: ATTACH_EMBEDDED_MSG, PR_ATTACH_DATA_OBJ: IID_IMESSAGE + item}


def embedded_item(attachment: Bag) -> bytes | None:
    """The stream of the message that an attachment embeds, or None if it embeds none."""
    value = attachment.get(PR_ATTACH_DATA_OBJ)
    if isinstance(value, bytes) and value.startswith(IID_IMESSAGE):
        return value[len(IID_IMESSAGE) :]
    return None


def message_class(props: Bag) -> str | None:
    """The message class that a bag names, in either string type."""
    wide = props.get(PR_MESSAGE_CLASS)
    if isinstance(wide, str):
        return wide
    narrow = props.get(PR_MESSAGE_CLASS_A)
    return narrow.decode("cp1252", "replace") if isinstance(narrow, bytes) else None


def encode_item(item: Item) -> bytes:
    """The item's stream. The same item gives the same bytes, always."""
    pieces = message_pieces(item.props, message_class(item.props), item.extra, item.recipients)
    level = ts.LEVEL_MESSAGE
    for index, attachment in enumerate(item.attachments):
        pieces += ts.frame_rendering(item.extra, index)
        pieces += ts.frame(ts.LEVEL_ATTACHMENT, ts.ATT_ATTACHMENT, encode_bag(attachment))
        level = ts.LEVEL_ATTACHMENT
    pieces.append(ts.end_guard(level, pieces[-1]))
    return b"".join(pieces)


def message_pieces(
    props: Bag, class_name: str | None, extra: tuple[RawAttribute, ...], recipients: tuple[Bag, ...] = ()
) -> list[bytes]:
    """All of a stream up to its first attachment, in pieces to be joined."""
    pieces = [ts.PREFIX]
    if extra:
        pieces = [ts.prefix(extra), *ts.frame_extra(extra, -1)]
    if not any(raw.code == ts.ATT_MESSAGE_CLASS and raw.attachment < 0 for raw in extra):
        pieces.append(ts.class_attribute(class_name))
    if recipients:
        table = [_U32.pack(len(recipients)), *(encode_bag(row) for row in recipients)]
        pieces += ts.frame(ts.LEVEL_MESSAGE, ts.ATT_RECIP_TABLE, b"".join(table))
    # attMsgProps comes behind all other attributes of the message [MS-OXTNEF 2.1.3].
    pieces += ts.frame(ts.LEVEL_MESSAGE, ts.ATT_MSG_PROPS, encode_bag(props))
    return pieces


def decode_item(stream: bytes) -> Item:
    """All of an item, and of the messages embedded in it as far as checking goes; `CodecError` if damaged."""
    return Item(*_decode(stream, 1))


def item_bag(stream: bytes) -> Bag:
    """The item's own properties alone; all the rest is checked as `decode_item` does."""
    return _decode(stream, 1)[0]


def check_item(stream: bytes) -> None:
    """Raises `CodecError`, saying what and where, unless `decode_item` would succeed."""
    _decode(stream, 1)


def _decode(stream: bytes, depth: int) -> tuple[Bag, tuple[Bag, ...], tuple[Bag, ...], tuple[RawAttribute, ...]]:
    """The four fields of an `Item`."""
    if depth > MAX_NESTING:
        raise CodecError(f"messages nested more than {MAX_NESTING} deep")
    props: Bag | None = None
    recipients: tuple[Bag, ...] | None = None
    attachments: list[Bag | None] = []
    extra: list[RawAttribute] = []
    class_at: tuple[int, int, int] | None = None
    for level, code, start, end, intact in ts.walk(stream):
        if not intact:
            raise CodecError(f"TNEF attribute {code:#010x} at byte {start - 9}: its checksum is wrong")
        if level == ts.LEVEL_ATTACHMENT:
            if code == ts.ATT_ATTACH_REND_DATA or not attachments:
                open_attachment(stream, (code, start, end), len(attachments), extra)
                attachments.append(None)
            elif code == ts.ATT_ATTACHMENT:
                _once(attachments[-1], code)
                attachments[-1] = _attachment(stream, start, end, depth)
            elif not is_guard(stream, code, start, end):
                extra.append(RawAttribute(code, stream[start:end], len(attachments) - 1))
        elif code == ts.ATT_MSG_PROPS:
            _once(props, code)
            props = exact_bag(stream, start, end)
        elif code == ts.ATT_RECIP_TABLE:
            _once(recipients, code)
            recipients = _rows(stream, start, end)
        elif code == ts.ATT_MESSAGE_CLASS:
            _once(class_at, code)
            class_at = len(extra), start, end
        elif not is_guard(stream, code, start, end):
            extra.append(RawAttribute(code, stream[start:end]))
    props = props if props is not None else {}
    if class_at is not None:
        keep_odd_class(extra, stream, class_at, message_class(props))
    return props, recipients or (), tuple([bag or {} for bag in attachments]), tuple(extra)


def _attachment(stream: bytes, start: int, end: int, depth: int) -> Bag:
    bag = exact_bag(stream, start, end)
    if (nested := embedded_item(bag)) is not None:
        _decode(nested, depth + 1)
    return bag


def open_attachment(stream: bytes, attribute: tuple[int, int, int], index: int, extra: list[RawAttribute]) -> None:
    """Checks that this attribute may open attachment `index`; keeps it if it is not what everyone writes."""
    code, start, end = attribute
    if code != ts.ATT_ATTACH_REND_DATA:
        raise CodecError(f"TNEF attribute {code:#010x} at byte {start - 9} comes before attAttachRendData")
    if stream[start:end] != ts.REND_DATA:
        extra.append(RawAttribute(code, stream[start:end], index))


def keep_odd_class(
    extra: list[RawAttribute], stream: bytes, class_at: tuple[int, int, int], class_name: str | None
) -> None:
    """Keeps an attMessageClass only if it says something else than the property does."""
    index, start, end = class_at
    if stream[start - 9 : end + 2] != ts.class_attribute(class_name):
        extra.insert(index, RawAttribute(ts.ATT_MESSAGE_CLASS, stream[start:end]))


def is_guard(stream: bytes, code: int, start: int, end: int) -> bool:
    """Whether this attribute is `tnefstream.end_guard`'s, which means nothing."""
    return code == ts.ATT_END_GUARD and stream[start:end] == ts.GUARD_DATA


def exact_bag(stream: bytes, start: int, end: int) -> Bag:
    """The bag that fills ``stream[start:end]`` to the last byte."""
    bag, stop = decode_bag_at(stream, start, end)
    if stop != end:
        raise CodecError(f"{end - stop} bytes follow the last property at byte {stop}, none should")
    return bag


def _once(before: object, code: int) -> None:
    if before is not None:
        raise CodecError(f"TNEF attribute {code:#010x} comes twice, it may come once")


def _rows(stream: bytes, start: int, end: int) -> tuple[Bag, ...]:
    count = int.from_bytes(stream[start : start + 4], "little")
    if count > MAX_RECIPIENTS or start + 4 + 4 * count > end:
        raise CodecError(f"{count} recipients announced in {end - start} bytes (limit {MAX_RECIPIENTS})")
    rows: list[Bag] = []
    at = start + 4
    for _ in range(count):
        row, at = decode_bag_at(stream, at, end)
        rows.append(row)
    if at != end:
        raise CodecError(f"{end - at} bytes follow the last recipient, none should")
    return tuple(rows)
