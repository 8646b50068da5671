"""A fast encoder and decoder for the items of plain posts.

Nearly every item is a post in its first version: twelve properties in a fixed order, no attachments, one author. The bytes of
two such posts (docs/reference/wire-format.md, section 3) differ in their first part only by ids, times and lengths, so one
`struct` describes this part. Four texts and two numbers follow it. The last text, the body, is STRING8 or UNICODE. This is no
second format: the module writes the same bytes as the codec in `transport.mapi.item`, and reads only what that codec reads in
the same way. For anything else it returns None, and the caller uses the codec.
"""

from __future__ import annotations

import struct
from codecs import ascii_encode, utf_16_le_decode, utf_16_le_encode
from typing import Final

from node.tracking.change_number import COUNTER_SIZE, XID_SIZE
from transport.mapi import tnef_stream as ts
from transport.mapi.property_tags import (
    PR_BODY,
    PR_BODY_A,
    PR_CHANGE_KEY,
    PR_CREATION_TIME,
    PR_LAST_MODIFICATION_TIME,
    PR_MESSAGE_CLASS,
    PR_MESSAGE_FLAGS,
    PR_PARENT_SOURCE_KEY,
    PR_PREDECESSOR_CHANGE_LIST,
    PR_SENDER_EMAIL_ADDRESS,
    PR_SENDER_NAME,
    PR_SOURCE_KEY,
    PR_SUBJECT,
)

CLASS_POST: Final = "IPM.Post"

PostFields = tuple[bytes, bytes, int, int, str]
"""Object id and change key as XIDs, FILETIME of the last modification, message flags, subject."""

_PROPERTIES: Final = 12
_SIZED: Final = struct.Struct("<III")  # tag, number of values (1), length of the value
_PADS: Final = (b"", b"\0\0\0", b"\0\0", b"\0")  # by length modulo 4
_ENDS: Final = tuple(
    b"\0\0" + _PADS[size + 2 & 3] for size in range(4)
)  # what ends a text: NUL and padding, by length modulo 4


def _xid_after(before: bytes, tag: int) -> bytes:
    return before + _SIZED.pack(tag, 1, XID_SIZE)


_CLASS: Final = (CLASS_POST + "\0").encode("utf-16-le")
_XID_PAD: Final = _PADS[XID_SIZE & 3]
_LIST_SIZE: Final = 1 + XID_SIZE
# Each constant is followed by one variable: length of attMsgProps, object, change key, PCL, time, folder, length of subject.
_CONSTANTS: Final = (
    ts.PREFIX + ts.class_attribute(CLASS_POST) + struct.pack("<BI", ts.LEVEL_MESSAGE, ts.ATT_MSG_PROPS),
    _xid_after(struct.pack("<I", _PROPERTIES), PR_SOURCE_KEY),
    _xid_after(_XID_PAD, PR_CHANGE_KEY),
    _XID_PAD + _SIZED.pack(PR_PREDECESSOR_CHANGE_LIST, 1, _LIST_SIZE) + bytes((XID_SIZE,)),
    _PADS[_LIST_SIZE & 3] + struct.pack("<I", PR_LAST_MODIFICATION_TIME),
    _xid_after(b"", PR_PARENT_SOURCE_KEY),
    _XID_PAD
    + _SIZED.pack(PR_MESSAGE_CLASS, 1, len(_CLASS))
    + _CLASS
    + _PADS[len(_CLASS) & 3]
    + struct.pack("<II", PR_SUBJECT, 1),
)
_VARIABLES: Final = ("I", "22s", "22s", "22s", "Q", "22s", "I")
_HEAD: Final = struct.Struct(
    "<" + "".join(f"{len(constant)}s{variable}" for constant, variable in zip(_CONSTANTS, _VARIABLES, strict=True))
)
_TEXT_HEAD: Final = struct.Struct("<8sI")  # tag and number of values (1), length of the value
_NAME: Final = struct.pack("<II", PR_SENDER_NAME, 1)
_ADDRESS: Final = struct.pack("<II", PR_SENDER_EMAIL_ADDRESS, 1)
_LAST: Final = struct.Struct("<IQIi8sI")  # creation time and flags, each after its tag; then the head of the body
_BODY: Final = struct.pack("<II", PR_BODY, 1)
_BODY_A: Final = struct.pack("<II", PR_BODY_A, 1)
_DATA_AT: Final = len(_CONSTANTS[0]) + 4
_ZERO: Final = bytes(COUNTER_SIZE)  # counters begin at 1
_TAGS: Final = (_NAME, _ADDRESS, PR_CREATION_TIME, PR_MESSAGE_FLAGS)
_BEHIND: Final = (b"", ts.end_guard(ts.LEVEL_MESSAGE, b"\0"))


def encode_post(
    object_id: bytes, change_key: bytes, ticks: int, *, folder: bytes, subject: str, body: str, sender: str, flags: int
) -> bytes | None:
    """Return the item of a new post, or None if the codec must encode it.

    `ticks`: the FILETIME of the post.
    """
    if not len(object_id) == len(change_key) == len(folder) == XID_SIZE:
        return None
    try:
        title, name = utf_16_le_encode(subject)[0], utf_16_le_encode(sender)[0]
        if body.isascii():
            body_head, text = _BODY_A, ascii_encode(body)[0] + b"\0"
        else:
            body_head, text = _BODY, utf_16_le_encode(body)[0] + b"\0\0"
        tail = (
            _ended(title),
            _TEXT_HEAD.pack(_NAME, len(name) + 2),
            _ended(name),
            _TEXT_HEAD.pack(_ADDRESS, len(name) + 2),
            _ended(name),
            _LAST.pack(PR_CREATION_TIME, ticks, PR_MESSAGE_FLAGS, flags, body_head, len(text)),
            text,
            _PADS[len(text) & 3],
        )
        c = _CONSTANTS
        size = _HEAD.size - _DATA_AT + sum(map(len, tail))
        head = _HEAD.pack(
            c[0], size, c[1], object_id, c[2], change_key, c[3], change_key, c[4], ticks, c[5], folder, c[6],
            len(title) + 2,
        )  # fmt: skip
    except (struct.error, TypeError, ValueError):
        return None
    data = b"".join((head, *tail))
    check = ts.byte_sum(data[_DATA_AT:]).to_bytes(2, "little")
    return b"".join((data, check, ts.end_guard(ts.LEVEL_MESSAGE, check)))


def _ended(text: bytes) -> bytes:
    return text + _ENDS[len(text) & 3]


def read_post(stream: bytes) -> PostFields | None:
    """Return the fields of an item that `encode_post` wrote, or None for any other bytes."""
    try:
        c0, size, c1, object_id, c2, change_key, c3, listed, c4, ticks, c5, _, c6, long = _HEAD.unpack_from(stream)
        end = _DATA_AT + size
        subject = utf_16_le_decode(stream[_HEAD.size : _HEAD.size + long], "strict", True)[0]
        at = _after_text(stream, _HEAD.size, long)
        name_head, long = _TEXT_HEAD.unpack_from(stream, at)
        at = _after_text(stream, at + _TEXT_HEAD.size, long)
        address_head, long = _TEXT_HEAD.unpack_from(stream, at)
        at = _after_text(stream, at + _TEXT_HEAD.size, long)
        created, _, flagged, flags, body_head, long = _LAST.unpack_from(stream, at)
        at = (_after_ascii if body_head == _BODY_A else _after_text)(stream, at + _LAST.size, long)
    except (struct.error, ValueError):
        return None
    as_written = (
        (c0, c1, c2, c3, c4, c5, c6) == _CONSTANTS
        and listed == change_key
        and not (object_id.endswith(_ZERO) or change_key.endswith(_ZERO))
        and (name_head, address_head, created, flagged) == _TAGS
        and body_head in {_BODY, _BODY_A}
        and at == end
        and stream[end + 2 :] in _BEHIND
        and stream[end : end + 2] == ts.byte_sum(stream[_DATA_AT:end]).to_bytes(2, "little")
    )
    return (object_id, change_key, ticks, flags, subject[:-1]) if as_written else None


def _after_ascii(stream: bytes, at: int, size: int) -> int:
    """Return where the property after a text in ASCII begins, as `_after_text` does."""
    text = stream[at : at + size]
    if not text.isascii() or text[-1:] != b"\0":
        raise ValueError("not a text that encode_post wrote")
    return at + (size + 3 & -4)


def _after_text(stream: bytes, at: int, size: int) -> int:
    """Return where the property after a text begins; `size` includes the NUL. Raise ValueError if the text is not valid."""
    if utf_16_le_decode(stream[at : at + size], "strict", True)[0][-1:] != "\0":
        raise ValueError("not a text that encode_post wrote")
    return at + (size + 3 & -4)
