"""The TNEF envelope of a system message: items as embedded messages, which any TNEF reader opens.

The outer stream has the control properties as its message properties, and one attachment for each part. The attachment's
data object is the item's stream (nested TNEF); the properties next to the part are the attachment's other properties.
docs/reference/wire-format.md has every byte.

A damaged item does not damage its mail: parts are returned undecoded, and only damage to the envelope is an error here. If the
checksum of an attachment is wrong, `_check_damage` decides whether the item or the envelope is damaged.

(spec: ML-2, IN-5)
"""

import struct
from operator import attrgetter
from typing import Final

from transport.errors import CodecError
from transport.mapi import tnef_stream as ts
from transport.mapi.item import IID_IMESSAGE, check_item, message_pieces
from transport.mapi.properties import Bag, PropType, decode_bag, encode_bag
from transport.mapi.property_tags import ATTACH_EMBEDDED_MSG, PR_ATTACH_DATA_OBJ, PR_ATTACH_METHOD
from transport.mapi.system_message import CLASS_REPLICATION, Part, RawAttribute, SystemMessage

MAX_PARTS: Final = 100_000
"""Largest number of parts of one mail. 300 KB of the smallest items are about 1,500 parts."""

_U32: Final = struct.Struct("<I")
_METHOD: Final = struct.pack("<Ii", PR_ATTACH_METHOD, ATTACH_EMBEDDED_MSG)
_OBJECT: Final = struct.Struct(f"<III{len(IID_IMESSAGE)}s")
_PADS: Final = (b"", b"\0\0\0", b"\0\0", b"\0")  # by length modulo 4

_ID_BYTES: Final = 22
# The usual part has one property, an id. Its three attributes before the item are constants with values between them.
_USUAL_OPENING: Final = ts.OPENING + struct.pack("<BI", ts.LEVEL_ATTACHMENT, ts.ATT_ATTACHMENT)
_USUAL_METHOD: Final = _U32.pack(3) + _METHOD
_USUAL_ID: Final = struct.pack("<II", 1, _ID_BYTES)
_USUAL_OBJECT: Final = _PADS[_ID_BYTES & 3] + struct.pack("<II", PR_ATTACH_DATA_OBJ, 1)
_USUAL: Final = struct.Struct(
    f"<{len(_USUAL_OPENING)}sI{len(_USUAL_METHOD)}sI{len(_USUAL_ID)}s{_ID_BYTES}s{len(_USUAL_OBJECT)}sI{len(IID_IMESSAGE)}s"
)
_USUAL_CONSTANTS: Final = (_USUAL_OPENING, _USUAL_METHOD, _USUAL_ID, _USUAL_OBJECT, IID_IMESSAGE)
_USUAL_DATA_AT: Final = len(_USUAL_OPENING) + 4
_BINARY: Final = int(PropType.BINARY)


def encode_tnef(message: SystemMessage) -> bytes:
    """Return the TNEF stream of a system message. The bytes of the items are copied, never read.

    The class is IPM.Replication unless PR_MESSAGE_CLASS says otherwise. Raise `CodecError` for a property that cannot be
    encoded, or for a part with a property that belongs to the envelope.
    """
    if len(message.parts) > MAX_PARTS:
        raise CodecError(f"the mail has {len(message.parts)} parts; at most {MAX_PARTS} are allowed")
    owned = ts.by_owner(message.extra)
    pieces = message_pieces(message.props, ts.message_class(message.props) or CLASS_REPLICATION, owned.get(-1, []))
    add = pieces.extend
    for index, part in enumerate(message.parts):
        if index not in owned and (usual := _usual_pieces(part)) is not None:
            add(usual)
            continue
        add(_opening(owned[index]) if index in owned else (ts.OPENING,))
        head = _part_head(part)
        add(ts.frame_joined(ts.LEVEL_ATTACHMENT, ts.ATT_ATTACHMENT, head, part.item, _PADS[len(part.item) & 3]))
    return b"".join(pieces)


def _usual_pieces(part: Part) -> tuple[bytes, ...] | None:
    """Return the three attributes of a part whose only property is an id; None for another part."""
    if len(part.props) != 1:
        return None
    ((tag, value),) = part.props.items()
    if not isinstance(tag, int) or tag & 0xFFFF != _BINARY or not isinstance(value, bytes) or len(value) != _ID_BYTES:
        return None
    item, pad = part.item, _PADS[len(part.item) & 3]
    size = _USUAL.size - _USUAL_DATA_AT + len(item) + len(pad)
    c = _USUAL_CONSTANTS
    head = _USUAL.pack(c[0], size, c[1], tag, c[2], value, c[3], len(IID_IMESSAGE) + len(item), c[4])
    check = ts.byte_sum(head[_USUAL_DATA_AT:]) + ts.byte_sum(item) & 0xFFFF
    return head, item, pad, check.to_bytes(2, "little")


def _opening(raws: list[RawAttribute]) -> list[bytes]:
    """Return the attributes before attAttachment: our own two, unless `raws` replaces them, and the unknown attributes."""
    codes = {raw.code for raw in raws}
    return [
        b"" if ts.ATT_ATTACH_REND_DATA in codes else ts.REND_ATTRIBUTE,
        *ts.frame_kept(raws),
        b"" if ts.ATT_ATTACH_DATA in codes else ts.NOTE_ATTRIBUTE,
    ]


def _part_head(part: Part) -> bytes:
    """Return an attachment's property list up to the item's first byte."""
    props, size = part.props, len(part.item) + len(IID_IMESSAGE)
    if PR_ATTACH_METHOD in props or PR_ATTACH_DATA_OBJ in props:
        raise CodecError("PR_ATTACH_METHOD and PR_ATTACH_DATA_OBJ belong to the envelope: leave them out of parts")
    data_object = _OBJECT.pack(PR_ATTACH_DATA_OBJ, 1, size, IID_IMESSAGE)
    return b"".join((_U32.pack(len(props) + 2), _METHOD, encode_bag(props)[4:], data_object))


def decode_tnef(stream: bytes) -> SystemMessage:
    """Return the system message in a TNEF stream. Raise `CodecError` for a damaged envelope.

    Items are not decoded; `transport.mapi.item.check_item` checks one.
    """
    at = stream.find(ts.OPENING)
    parts = _usual_parts(stream, at) if 0 < at < len(stream) <= ts.MAX_STREAM_SIZE else None
    if parts is not None:
        try:
            message = _decode(stream[:at])
        except CodecError:
            message = None  # `_decode` of the whole stream raises the error
        if message is not None and not message.parts:
            return SystemMessage(message.props, parts, message.extra)
    return _decode(stream)


def _usual_parts(stream: bytes, at: int) -> tuple[Part, ...] | None:
    """Return the parts from `at` to the end of the stream; None if one is damaged or of another form."""
    parts: list[Part] = []
    unpack, constants, size = _USUAL.unpack_from, _USUAL_CONSTANTS, len(stream)
    while at + _USUAL.size < size and len(parts) < MAX_PARTS:
        c0, length, c1, tag, c2, value, c3, item_size, c4 = unpack(stream, at)
        start = at + _USUAL_DATA_AT
        item_at, end = at + _USUAL.size, start + length
        item_end = item_at + item_size - len(IID_IMESSAGE)
        usual = (
            (c0, c1, c2, c3, c4) == constants
            and tag & 0x8000FFFF == _BINARY
            and item_at <= item_end
            and end == item_end + (item_at - item_end & 3)
            and stream[end : end + 2] == ts.byte_sum(stream[start:end]).to_bytes(2, "little")
        )
        if not usual:
            return None
        parts.append(Part(stream[item_at:item_end], {tag: value}))
        at = end + 2
    return tuple(parts) if at == size else None


def _decode(stream: bytes) -> SystemMessage:
    """Return the system message of any stream: parts of any form, and unknown attributes."""
    props: Bag | None = None
    parts: list[Part] = []
    extra: list[RawAttribute] = []
    class_at: tuple[int, int, int] | None = None
    opened = False  # after attAttachRendData and before attAttachment
    for level, code, start, end, intact in ts.walk(stream):
        if level == ts.LEVEL_ATTACHMENT and (opened or code == ts.ATT_ATTACH_REND_DATA):
            opened = _attachment(stream, (code, start, end, intact), parts, extra, opened)
        elif not intact or level == ts.LEVEL_ATTACHMENT:
            raise _misplaced(code, start, len(parts), intact)
        elif code == ts.ATT_MSG_PROPS and props is None:
            props = decode_bag(stream, start, end)
        elif code == ts.ATT_MESSAGE_CLASS and class_at is None:
            class_at = len(extra), start, end
        elif code in (ts.ATT_MSG_PROPS, ts.ATT_MESSAGE_CLASS):
            raise CodecError(f"TNEF attribute {code:#010x} occurs twice; only one is allowed")
        else:
            extra.append(RawAttribute(code, stream[start:end]))
    if props is None or opened or len(parts) > MAX_PARTS:
        raise CodecError(
            "the TNEF stream has no attMsgProps; one is required"
            if props is None
            else "the last attachment has no attAttachment; each attachment needs one"
            if opened
            else f"the mail has {len(parts)} attachments; at most {MAX_PARTS} are allowed"
        )
    if class_at is not None:
        ts.keep_odd_class(extra, stream, class_at, ts.message_class(props) or CLASS_REPLICATION)
    extra.sort(
        key=attrgetter("attachment")
    )  # as `encode_tnef` writes them: those of the message first, each owner's in order
    return SystemMessage(props, tuple(parts), tuple(extra))


def _misplaced(code: int, start: int, index: int, intact: bool) -> CodecError:
    if not intact:
        return CodecError(f"TNEF attribute {code:#010x} at byte {start - 9}: its checksum is wrong")
    return CodecError(
        f"TNEF attribute {code:#010x} at byte {start - 9} of attachment {index} is out of place: each attachment "
        "has attAttachRendData first and attAttachment last, once"
    )


def _attachment(
    stream: bytes,
    attribute: tuple[int, int, int, bool],
    parts: list[Part],
    extra: list[RawAttribute],
    opened: bool,
) -> bool:
    """Add one attribute of an attachment; return whether the attachment is still open after it."""
    code, start, end, intact = attribute
    if code == ts.ATT_ATTACHMENT:
        part = _part(stream, start, end, len(parts))
        if not intact:
            _check_damage(part, len(parts))
        parts.append(part)
        return False
    if not intact or (opened and code == ts.ATT_ATTACH_REND_DATA):
        raise _misplaced(code, start, len(parts), intact)
    usual = ts.REND_DATA if code == ts.ATT_ATTACH_REND_DATA else ts.NOTE
    if code not in {ts.ATT_ATTACH_REND_DATA, ts.ATT_ATTACH_DATA} or stream[start:end] != usual:
        extra.append(RawAttribute(code, stream[start:end], len(parts)))
    return True


def _part(stream: bytes, start: int, end: int, index: int) -> Part:
    props = decode_bag(stream, start, end)
    method, value = props.pop(PR_ATTACH_METHOD, None), props.pop(PR_ATTACH_DATA_OBJ, None)
    if method != ATTACH_EMBEDDED_MSG or not isinstance(value, bytes) or not value.startswith(IID_IMESSAGE):
        raise CodecError(
            f"attachment {index} is not an embedded message: PR_ATTACH_METHOD should be "
            f"{ATTACH_EMBEDDED_MSG}, and PR_ATTACH_DATA_OBJ a message"
        )
    return Part(value[len(IID_IMESSAGE) :], props)


def _check_damage(part: Part, index: int) -> None:
    """Accept an attachment with a wrong checksum if its item is damaged. Raise `CodecError` if the envelope is damaged."""
    try:
        check_item(part.item)
    except CodecError:
        return
    raise CodecError(f"attachment {index}: its checksum is wrong but its item is intact, so the envelope is damaged")
