"""The TNEF stream as a sequence of attributes, without their meaning.

A stream is a signature, a key, and attributes one after the other: level (1 byte), code (4), length (4), data, and a
16-bit sum of the data's bytes [MS-OXTNEF 2.1.3]. The outer message (`transport.mapi.tnef`) and each item
(`transport.mapi.item`) are such streams.

(spec: ML-2)
"""

import struct
from functools import lru_cache
from typing import Final
from zlib import adler32

from transport.errors import CodecError
from transport.mapi.properties import Bag, text_of_either
from transport.mapi.property_tags import PR_MESSAGE_CLASS, PR_MESSAGE_CLASS_A
from transport.mapi.system_message import RawAttribute

SIGNATURE: Final = 0x223E9F78
"""First four bytes of every TNEF stream [MS-OXTNEF 2.1.3.1]."""

LEGACY_KEY: Final = 1
"""The attach key: any number except 0; the specification's sample has 1 [MS-OXTNEF 3.1]."""

TNEF_VERSION: Final = 0x00010000
"""The only version [MS-OXTNEF 2.1.3.2]."""

CODEPAGE: Final = 1252
"""Code page of the 8-bit strings that the lab writes; its texts are all Unicode [MS-OXTNEF 3.1]."""

LEVEL_MESSAGE: Final = 1
LEVEL_ATTACHMENT: Final = 2

# Attribute codes: id in the low half, legacy type in the high half [MS-OXTNEF 2.1.3.3].
ATT_TNEF_VERSION: Final = 0x00089006
ATT_OEM_CODEPAGE: Final = 0x00069007
ATT_MESSAGE_CLASS: Final = 0x00078008
ATT_RECIP_TABLE: Final = 0x00069004
ATT_MSG_PROPS: Final = 0x00069003
ATT_ATTACH_REND_DATA: Final = 0x00069002
ATT_ATTACH_TITLE: Final = 0x00018010
ATT_ATTACH_DATA: Final = 0x0006800F
ATT_ATTACHMENT: Final = 0x00069005

ATT_END_GUARD: Final = 0x0006FFF0
"""An attribute without a meaning, which the lab adds to a stream whose last byte would be 0; see `end_guard`."""

MAX_STREAM_SIZE: Final = 256 * 1024 * 1024
"""Largest stream, in bytes: far more than any mail has, but far less than a length of 32 bits allows."""

MAX_ATTRIBUTES: Final = 400_000
"""Largest number of attributes of one stream: more than two for each of `transport.mapi.tnef.MAX_PARTS` parts."""

_HEAD: Final = struct.Struct("<BII")  # level, code, length
_U16: Final = struct.Struct("<H")
_U32: Final = struct.Struct("<I")
_OVERHEAD: Final = _HEAD.size + _U16.size

# The sum of 256 bytes is at most 65280, which is below Adler's modulus of 65521.
_EXACT: Final = 256
# The function at index n splits data into n blocks of 256 bytes in one call.
_STRETCHES: Final = tuple(struct.Struct(f"{_EXACT}s" * count).unpack_from for count in range(65))


Attribute = tuple[int, int, int, int, bool]
"""Level, code, start and end of the data in the stream, and whether the checksum is correct."""


def byte_sum(data: bytes) -> int:
    """Return the sum of all bytes modulo 65536. This is fast: the low half of a short block's Adler-32 is the sum plus one."""
    size = len(data)
    if size <= _EXACT:
        return adler32(data) - 1 & 0xFFFF
    count = size // _EXACT
    if count < len(_STRETCHES):
        return sum(map(adler32, _STRETCHES[count](data)), adler32(data[count * _EXACT :])) - count - 1 & 0xFFFF
    sums = [adler32(data[at : at + _EXACT]) for at in range(0, size, _EXACT)]
    return sum(sums) - len(sums) & 0xFFFF


def frame(level: int, code: int, data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return one attribute in three pieces, so that large data is not copied."""
    return _HEAD.pack(level, code, len(data)), data, _U16.pack(byte_sum(data))


def frame_joined(level: int, code: int, head: bytes, data: bytes, tail: bytes) -> tuple[bytes, ...]:
    """Return one attribute with the data ``head + data + tail`` (`tail` is zeros), without joining them."""
    size = len(head) + len(data) + len(tail)
    total = byte_sum(head) + byte_sum(data) & 0xFFFF
    return _HEAD.pack(level, code, size), head, data, tail, _U16.pack(total)


def _joined(level: int, code: int, data: bytes) -> bytes:
    return b"".join(frame(level, code, data))


SIGNATURE_AND_KEY: Final = struct.pack("<IH", SIGNATURE, LEGACY_KEY)
_VERSION: Final = _joined(LEVEL_MESSAGE, ATT_TNEF_VERSION, _U32.pack(TNEF_VERSION))
_CODEPAGE_DATA: Final = struct.pack("<II", CODEPAGE, 0)
_CODEPAGE: Final = _joined(LEVEL_MESSAGE, ATT_OEM_CODEPAGE, _CODEPAGE_DATA)
PREFIX: Final = SIGNATURE_AND_KEY + _VERSION + _CODEPAGE
"""The beginning of every stream that the lab writes: signature, key, attTnefVersion, attOemCodepage."""
_OUR_CODEPAGE: Final = (LEVEL_MESSAGE, ATT_OEM_CODEPAGE, len(PREFIX) - 2 - len(_CODEPAGE_DATA), len(PREFIX) - 2, True)
"""The attribute attOemCodepage of `PREFIX`."""

REND_DATA: Final = struct.pack("<HIHHI", 1, 0xFFFFFFFF, 0, 0, 0)
"""attAttachRendData of a plain attachment: a file without a position [MS-OXTNEF 2.1.3.3.15]."""
REND_ATTRIBUTE: Final = _joined(LEVEL_ATTACHMENT, ATT_ATTACH_REND_DATA, REND_DATA)

NOTE: Final = b"Embedded message"
"""attAttachData of an embedded message, for readers that cannot open embedded messages; see `transport.mapi.item`."""
NOTE_ATTRIBUTE: Final = _joined(LEVEL_ATTACHMENT, ATT_ATTACH_DATA, NOTE)

OPENING: Final = REND_ATTRIBUTE + NOTE_ATTRIBUTE
"""The beginning of every part of a system message."""

GUARD_DATA: Final = b"\xff\xff"
_GUARDS: Final = {level: _joined(level, ATT_END_GUARD, GUARD_DATA) for level in (LEVEL_MESSAGE, LEVEL_ATTACHMENT)}


def message_class(props: Bag) -> str | None:
    """Return the message class of a bag, which attMessageClass repeats."""
    return text_of_either(props, PR_MESSAGE_CLASS, PR_MESSAGE_CLASS_A)


@lru_cache(maxsize=256)
def class_attribute(message_class: str | None) -> bytes:
    """Return attMessageClass; b'' if the class is missing or not ASCII."""
    if not message_class or not message_class.isascii():
        return b""
    return _joined(LEVEL_MESSAGE, ATT_MESSAGE_CLASS, message_class.encode("ascii") + b"\0")


def keep_odd_class(
    extra: list[RawAttribute], stream: bytes, class_at: tuple[int, int, int], class_name: str | None
) -> None:
    """Keep an attMessageClass in `extra` only if it differs from the property."""
    index, start, end = class_at
    if stream[start - 9 : end + 2] != class_attribute(class_name):
        extra.insert(index, RawAttribute(ATT_MESSAGE_CLASS, stream[start:end]))


def end_guard(level: int, last_piece: bytes) -> bytes:
    """Return the bytes to add after a nested stream, given its last piece. Usually there are none.

    Some readers (tnefparse) remove zeros from the end of an embedded object. A nested stream that ends with a zero would
    lose the end of its last attribute. So one more attribute follows, which every reader skips and which does not end with
    zero.
    """
    return b"" if last_piece[-1] else _GUARDS[level]


Owned = dict[int, list[RawAttribute]]
"""Unknown attributes by the index of their attachment; -1 for attributes of the message."""


def by_owner(extra: tuple[RawAttribute, ...]) -> Owned:
    """Return unknown attributes by owner, so that no encoder searches them for each attachment."""
    owned: Owned = {}
    for raw in extra:
        owned.setdefault(raw.attachment, []).append(raw)
    return owned


def frame_kept(raws: list[RawAttribute]) -> list[bytes]:
    """Return the unknown attributes of one owner as bytes."""
    return [_joined(LEVEL_MESSAGE if raw.attachment < 0 else LEVEL_ATTACHMENT, raw.code, raw.data) for raw in raws]


def prefix(raws: list[RawAttribute]) -> bytes:
    """Return the start of a stream, without our code page if `raws` (of the message) has a code page."""
    foreign = any(raw.code == ATT_OEM_CODEPAGE for raw in raws)
    return SIGNATURE_AND_KEY + _VERSION if foreign else PREFIX


def walk(stream: bytes) -> list[Attribute]:
    """Return all attributes of a stream, in order. Raise `CodecError` unless they fill it exactly.

    The version is checked and left out. The code page is left out if the stream has only one, and it is ours. If a stream
    has several, all are kept: a reader may use any of them.
    """
    size = len(stream)
    if size > MAX_STREAM_SIZE:
        raise CodecError(f"the TNEF stream has {size} bytes; at most {MAX_STREAM_SIZE} are read")
    if stream.startswith(PREFIX):
        attributes = _walk_from(stream, len(PREFIX), size)
        return [_OUR_CODEPAGE, *attributes] if _codepages(attributes) else attributes
    if size < len(SIGNATURE_AND_KEY) or _U32.unpack_from(stream)[0] != SIGNATURE:
        raise CodecError(f"not a TNEF stream: it starts with {stream[:4].hex() or 'nothing'}, not 789f3e22")
    attributes = _walk_from(stream, len(SIGNATURE_AND_KEY), size)
    if not attributes or attributes[0][1] != ATT_TNEF_VERSION:
        raise CodecError("the TNEF stream does not start with attTnefVersion")
    version = stream[attributes[0][2] : attributes[0][3]]
    if version != _U32.pack(TNEF_VERSION):
        raise CodecError(f"the TNEF version is {version[::-1].hex()}; it should be {TNEF_VERSION:08x}")
    del attributes[0]
    codepages = _codepages(attributes)
    if len(codepages) == 1 and stream[codepages[0][2] : codepages[0][3]] == _CODEPAGE_DATA:
        attributes.remove(codepages[0])
    return attributes


def _codepages(attributes: list[Attribute]) -> list[Attribute]:
    return [attribute for attribute in attributes if attribute[1] == ATT_OEM_CODEPAGE and attribute[0] == LEVEL_MESSAGE]


def _walk_from(stream: bytes, at: int, size: int) -> list[Attribute]:
    attributes: list[Attribute] = []
    unpack, add, starts_with = _HEAD.unpack_from, attributes.append, stream.startswith
    while at + _OVERHEAD <= size:
        if len(attributes) > MAX_ATTRIBUTES:
            raise CodecError(f"the TNEF stream has more than {MAX_ATTRIBUTES} attributes")
        if starts_with(OPENING, at):  # once for each part of a system message
            middle = at + len(REND_ATTRIBUTE)
            at += len(OPENING)
            add((LEVEL_ATTACHMENT, ATT_ATTACH_REND_DATA, middle - 2 - len(REND_DATA), middle - 2, True))
            add((LEVEL_ATTACHMENT, ATT_ATTACH_DATA, at - 2 - len(NOTE), at - 2, True))
            continue
        level, code, length = unpack(stream, at)
        start = at + 9
        end = start + length
        at = end + 2
        if at > size or not LEVEL_MESSAGE <= level <= LEVEL_ATTACHMENT:
            raise CodecError(
                f"attribute {code:#010x} at byte {start - 9} has level {level} and length {length}; "
                f"the level must be 1 or 2, the length at most {size - start - 2}"
            )
        intact = byte_sum(stream[start:end]) == stream[end] | stream[end + 1] << 8
        add((level, code, start, end, intact))
    if at != size:
        raise CodecError(f"unexpected {size - at} bytes after the last TNEF attribute")
    return attributes
