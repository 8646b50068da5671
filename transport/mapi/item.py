"""One replicated item as bytes: its own complete TNEF stream.

An item (a message, or a folder of the hierarchy) is encoded once, on the server where it was changed. Every store keeps these
bytes and sends them in a TNEF or MDBEF envelope; no store encodes the item again. So an item has its own lengths and
checksums, and `check_item` finds damage anywhere in it.

Attachments are files and embedded messages. In a bag, a file's data is PR_ATTACH_DATA_BIN. On the wire the data is
attAttachData, which means the same property [MS-OXTNEF 2.1.3.3.11]. Every reader keeps its bytes, so no second copy is needed.
An embedded message is a property on the wire too. It also has an attAttachData with a note, because some readers (ytnef)
ignore an attachment without attAttachData. An empty file stays a property, because ytnef does not read an item beyond an empty
attribute.

(spec: ML-2)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from transport.errors import CodecError
from transport.mapi import tnef_stream as ts
from transport.mapi.properties import Bag, decode_bag, decode_rows, encode_bag, encode_rows, text_of_either
from transport.mapi.property_tags import (
    ATTACH_BY_VALUE,
    PR_ATTACH_DATA_BIN,
    PR_ATTACH_DATA_OBJ,
    PR_ATTACH_FILENAME,
    PR_ATTACH_LONG_FILENAME,
    PR_ATTACH_METHOD,
    PR_BODY,
    PR_BODY_A,
)
from transport.mapi.system_message import RawAttribute

MAX_NESTING: Final = 10
"""Largest depth of messages attached to messages. Mail clients allow far fewer levels."""

IID_IMESSAGE: Final = bytes.fromhex("0703020000000000c000000000000046")
"""The bytes before an embedded message: {00020307-0000-0000-C000-000000000046} [MS-OXTNEF 2.1.3.4]."""

MAX_TITLE: Final = 99
"""The largest number of characters in attAttachTitle. If it is longer, ytnef ignores the rest of the item. A property has the
whole name."""

_DERIVED: Final = frozenset((ts.ATT_ATTACH_REND_DATA, ts.ATT_ATTACH_TITLE, ts.ATT_ATTACH_DATA))


@dataclass(frozen=True, slots=True)
class Item:
    """A decoded item. An attachment is a bag with PR_ATTACH_DATA_BIN or PR_ATTACH_DATA_OBJ.

    `extra` has the attributes that this version does not know; they are kept.
    """

    props: Bag
    recipients: tuple[Bag, ...] = ()
    attachments: tuple[Bag, ...] = ()
    extra: tuple[RawAttribute, ...] = ()


def body_text(props: Bag) -> str | None:
    """Return the text of a message."""
    return text_of_either(props, PR_BODY, PR_BODY_A)


def put_body(props: Bag, text: str) -> None:
    """Set the text of a message. ASCII, as STRING8, takes half of the bytes that it would take as UNICODE."""
    narrow = text.isascii()
    props.pop(PR_BODY if narrow else PR_BODY_A, None)
    if narrow:
        props[PR_BODY_A] = text.encode("ascii")
    else:
        props[PR_BODY] = text


def encode_item(item: Item) -> bytes:
    """Return the item's stream. The same item always gives the same bytes."""
    owned = ts.by_owner(item.extra)
    pieces = message_pieces(item.props, ts.message_class(item.props), owned.get(-1, []), item.recipients)
    level = ts.LEVEL_MESSAGE
    for index, attachment in enumerate(item.attachments):
        pieces += attachment_pieces(attachment, owned.get(index, []))
        level = ts.LEVEL_ATTACHMENT
    pieces.append(ts.end_guard(level, pieces[-1]))
    return b"".join(pieces)


def message_pieces(
    props: Bag, class_name: str | None, attributes: list[RawAttribute], recipients: tuple[Bag, ...] = ()
) -> list[bytes]:
    """Return a stream up to its first attachment, in pieces to join; `attributes` are the unknown ones of the message."""
    pieces = [ts.prefix(attributes), *ts.frame_kept(attributes)] if attributes else [ts.PREFIX]
    if not any(raw.code == ts.ATT_MESSAGE_CLASS for raw in attributes):
        pieces.append(ts.class_attribute(class_name))
    if recipients:
        pieces += ts.frame(ts.LEVEL_MESSAGE, ts.ATT_RECIP_TABLE, encode_rows(recipients))
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
            props = decode_bag(stream, start, end)
        elif code == ts.ATT_RECIP_TABLE:
            _once(recipients, code)
            recipients = decode_rows(stream, start, end)
        elif code == ts.ATT_MESSAGE_CLASS:
            _once(class_at, code)
            class_at = len(extra), start, end
        elif code != ts.ATT_END_GUARD or stream[start:end] != ts.GUARD_DATA:
            extra.append(RawAttribute(code, stream[start:end]))
    if props is None:
        raise CodecError("the TNEF stream has no attMsgProps, so it has no item")
    if class_at is not None:
        ts.keep_odd_class(extra, stream, class_at, ts.message_class(props))
    attachments = _finish(readers, extra, depth) if readers else ()
    return props, recipients or (), attachments, tuple(extra)


def _finish(readers: list[AttachmentReader], extra: list[RawAttribute], depth: int) -> tuple[Bag, ...]:
    """Check embedded messages, and return the attachments' bags. Add to `extra` the attributes that the bags do not contain."""
    bags: list[Bag] = []
    for reader in readers:
        bag, attributes = reader.finish()
        if (nested := embedded_item(bag)) is not None:
            _decode(nested, depth + 1)
        bags.append(bag)
        extra += attributes
    return tuple(bags)


def _once(before: object, code: int) -> None:
    if before is not None:
        raise CodecError(f"TNEF attribute {code:#010x} occurs twice; only one is allowed")


# -- attachments


def file_attachment(name: str, data: bytes) -> Bag:
    """Return the bag of an attached file, for `Item.attachments`."""
    return {
        PR_ATTACH_METHOD: ATTACH_BY_VALUE,
        PR_ATTACH_LONG_FILENAME: name,
        PR_ATTACH_DATA_BIN: data,
    }


def embedded_item(attachment: Bag) -> bytes | None:
    """Return the stream of the message in an attachment; None if the attachment is not a message."""
    value = attachment.get(PR_ATTACH_DATA_OBJ)
    if isinstance(value, bytes) and value.startswith(IID_IMESSAGE):
        return value[len(IID_IMESSAGE) :]
    return None


def attachment_pieces(bag: Bag, raws: list[RawAttribute]) -> list[bytes]:
    """Return all attributes of one attachment, in pieces to join; `raws` are its unknown attributes."""
    codes = {raw.code for raw in raws}
    pieces = [] if ts.ATT_ATTACH_REND_DATA in codes else [ts.REND_ATTRIBUTE]
    pieces += ts.frame_kept(raws)
    if ts.ATT_ATTACH_TITLE not in codes and (title := _title(bag)):
        pieces += ts.frame(ts.LEVEL_ATTACHMENT, ts.ATT_ATTACH_TITLE, title)
    if ts.ATT_ATTACH_DATA not in codes:
        data = bag.get(PR_ATTACH_DATA_BIN)
        if isinstance(data, bytes) and data and PR_ATTACH_DATA_OBJ not in bag:
            pieces += ts.frame(ts.LEVEL_ATTACHMENT, ts.ATT_ATTACH_DATA, data)
            bag = {tag: value for tag, value in bag.items() if tag != PR_ATTACH_DATA_BIN}
        elif embedded_item(bag) is not None:
            pieces.append(ts.NOTE_ATTRIBUTE)
    pieces += ts.frame(ts.LEVEL_ATTACHMENT, ts.ATT_ATTACHMENT, encode_bag(bag))
    return pieces


def _title(bag: Bag) -> bytes:
    """Return the file name for readers without properties: in our code page, where other characters become `?`."""
    name = bag.get(PR_ATTACH_LONG_FILENAME, bag.get(PR_ATTACH_FILENAME))
    return name[:MAX_TITLE].encode(f"cp{ts.CODEPAGE}", "replace") + b"\0" if isinstance(name, str) else b""


class AttachmentReader:
    """Collects the attributes of one attachment of a stream; `finish` returns its bag."""

    def __init__(self, stream: bytes, index: int, opening: tuple[int, int, int]) -> None:
        code, start, end = opening
        if code != ts.ATT_ATTACH_REND_DATA:
            raise CodecError(
                f"TNEF attribute {code:#010x} at byte {start - 9} comes before attAttachRendData, which opens an attachment"
            )
        self.stream = stream
        self.index = index
        self.bag: Bag | None = None
        self.raws = [RawAttribute(code, stream[start:end], index)]

    def take(self, code: int, start: int, end: int) -> None:
        """Add an attribute of this attachment."""
        if code != ts.ATT_ATTACHMENT:
            self.raws.append(RawAttribute(code, self.stream[start:end], self.index))
        elif self.bag is None:
            self.bag = decode_bag(self.stream, start, end)
        else:
            raise CodecError(f"attachment {self.index} has two attAttachment attributes; only one is allowed")

    def finish(self) -> tuple[Bag, list[RawAttribute]]:
        """Return the attachment's bag, and the attributes to keep as they are, because the bag does not contain them."""
        bag = self.bag if self.bag is not None else {}
        nested = embedded_item(bag) is not None
        count = {code: sum(raw.code == code for raw in self.raws) for code in _DERIVED}
        attributes: list[RawAttribute] = []
        for raw in self.raws:
            implied = {
                ts.ATT_ATTACH_REND_DATA: raw.data == ts.REND_DATA,
                ts.ATT_ATTACH_TITLE: raw.data == _title(bag),
                ts.ATT_ATTACH_DATA: nested and raw.data == ts.NOTE,
            }.get(raw.code, raw.code == ts.ATT_END_GUARD and raw.data == ts.GUARD_DATA)
            if implied and count.get(raw.code, 1) == 1:
                continue
            if (
                raw.code == ts.ATT_ATTACH_DATA
                and count[raw.code] == 1
                and not (PR_ATTACH_DATA_BIN in bag or PR_ATTACH_DATA_OBJ in bag)
            ):
                bag[PR_ATTACH_DATA_BIN] = raw.data
            else:
                attributes.append(raw)
        return bag, attributes
