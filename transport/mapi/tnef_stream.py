"""The TNEF stream as a sequence of attributes, before anyone asks what they mean.

A stream is a signature, a key, and attributes laid end to end: level (1 byte), code (4), length (4), data,
and a 16-bit sum of the data's bytes [MS-OXTNEF 2.1.3]. Both the outer message (`transport.mapi.tnef`) and each
item (`transport.mapi.item`) are such streams.

(spec: ML-2)
"""

import struct
from functools import lru_cache
from typing import Final
from zlib import adler32

from transport.errors import CodecError
from transport.mapi.system_message import RawAttribute

SIGNATURE: Final = 0x223E9F78
"""First four bytes of every TNEF stream [MS-OXTNEF 2.1.3.1]."""

LEGACY_KEY: Final = 1
"""The attach key: any number but 0; the specification's own sample has 1 [MS-OXTNEF 3.1]."""

TNEF_VERSION: Final = 0x00010000
"""The one version there is [MS-OXTNEF 2.1.3.2]."""

CODEPAGE: Final = 1252
"""Code page of the 8-bit strings that we write; our own texts are all Unicode [MS-OXTNEF 3.1]."""

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
"""Ours: an attribute without meaning behind a stream whose last byte would be 0, see `end_guard`."""

MAX_STREAM_SIZE: Final = 256 * 1024 * 1024
"""Bytes of one stream; far above any mail, far below what lengths of 32 bits could ask for."""

MAX_ATTRIBUTES: Final = 400_000
"""Attributes of one stream: two for each of `transport.mapi.tnef.MAX_PARTS` parts, and to spare."""

_HEAD: Final = struct.Struct("<BII")  # level, code, length
_U16: Final = struct.Struct("<H")
_U32: Final = struct.Struct("<I")
_OVERHEAD: Final = _HEAD.size + _U16.size

# 256 bytes sum to 65280 at most, which Adler's modulus of 65521 leaves alone.
_EXACT: Final = 256
# By number: what cuts so many stretches of 256 bytes out of data in one call.
_STRETCHES: Final = tuple(struct.Struct(f"{_EXACT}s" * count).unpack_from for count in range(65))


Attribute = tuple[int, int, int, int, bool]
"""Level, code, start and end of the data in the stream, and whether the checksum is right."""


def byte_sum(data: bytes) -> int:
    """The sum of all bytes modulo 65536, at C speed: Adler-32's low half is one more than a short sum."""
    size = len(data)
    if size <= _EXACT:
        return adler32(data) - 1 & 0xFFFF
    count = size // _EXACT
    if count < len(_STRETCHES):
        return sum(map(adler32, _STRETCHES[count](data)), adler32(data[count * _EXACT :])) - count - 1 & 0xFFFF
    sums = [adler32(data[at : at + _EXACT]) for at in range(0, size, _EXACT)]
    return sum(sums) - len(sums) & 0xFFFF


def frame(level: int, code: int, data: bytes) -> tuple[bytes, bytes, bytes]:
    """One attribute, as three pieces so that large data are not copied."""
    return _HEAD.pack(level, code, len(data)), data, _U16.pack(byte_sum(data))


def frame_joined(level: int, code: int, head: bytes, data: bytes, tail: bytes) -> tuple[bytes, ...]:
    """One attribute whose data is ``head + data + tail`` (`tail` zeros), without joining them first."""
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
"""What every stream of ours begins with: signature, key, attTnefVersion, attOemCodepage."""

REND_DATA: Final = struct.pack("<HIHHI", 1, 0xFFFFFFFF, 0, 0, 0)
"""attAttachRendData of a plain attachment: a file, shown at no position [MS-OXTNEF 2.1.3.3.15]."""
REND_ATTRIBUTE: Final = _joined(LEVEL_ATTACHMENT, ATT_ATTACH_REND_DATA, REND_DATA)

NOTE: Final = b"Embedded message"
"""attAttachData of an embedded message, for readers that do not open any; see `transport.mapi.attachment`."""
NOTE_ATTRIBUTE: Final = _joined(LEVEL_ATTACHMENT, ATT_ATTACH_DATA, NOTE)

OPENING: Final = REND_ATTRIBUTE + NOTE_ATTRIBUTE
"""How every part of a system message begins."""

GUARD_DATA: Final = b"\xff\xff"
_GUARDS: Final = {level: _joined(level, ATT_END_GUARD, GUARD_DATA) for level in (LEVEL_MESSAGE, LEVEL_ATTACHMENT)}


@lru_cache(maxsize=256)
def class_attribute(message_class: str | None) -> bytes:
    """attMessageClass, or nothing for a class that is missing or that 8 bits cannot express."""
    if not message_class or not message_class.isascii():
        return b""
    return _joined(LEVEL_MESSAGE, ATT_MESSAGE_CLASS, message_class.encode("ascii") + b"\0")


def end_guard(level: int, last_piece: bytes) -> bytes:
    """What must follow a nested stream's last attribute, given that one's checksum: mostly nothing.

    Readers in the field (tnefparse) cut zeros off the end of an embedded object. A nested stream that ends
    in a zero would lose the end of its last attribute, so one more attribute follows, whose own end is not
    zero and which every reader skips. It happens to one item in 256.
    """
    return b"" if last_piece[-1] else _GUARDS[level]


Owned = dict[int, list[RawAttribute]]
"""Kept attributes by the attachment they belong to, -1 for the message."""


def by_owner(extra: tuple[RawAttribute, ...]) -> Owned:
    """Sorts kept attributes by owner once, so that no encoder searches them for each attachment."""
    owned: Owned = {}
    for raw in extra:
        owned.setdefault(raw.attachment, []).append(raw)
    return owned


def frame_kept(kept: list[RawAttribute]) -> list[bytes]:
    """The kept attributes of one owner, framed again."""
    return [_joined(LEVEL_MESSAGE if raw.attachment < 0 else LEVEL_ATTACHMENT, raw.code, raw.data) for raw in kept]


def prefix(kept: list[RawAttribute]) -> bytes:
    """The start of a stream, without our code page if `kept` (the message's) names another one."""
    foreign = any(raw.code == ATT_OEM_CODEPAGE for raw in kept)
    return SIGNATURE_AND_KEY + _VERSION if foreign else PREFIX


def walk(stream: bytes) -> list[Attribute]:
    """All attributes of a stream, in order. Raises `CodecError` unless they fill it exactly.

    Version and code page are checked and, when they are what everyone writes, left out.
    """
    size = len(stream)
    if size > MAX_STREAM_SIZE:
        raise CodecError(f"a TNEF stream of {size} bytes, at most {MAX_STREAM_SIZE} are read")
    if stream.startswith(PREFIX):
        return _walk_from(stream, len(PREFIX), size)
    if size < len(SIGNATURE_AND_KEY) or _U32.unpack_from(stream)[0] != SIGNATURE:
        raise CodecError(f"no TNEF stream: it starts with {stream[:4].hex() or 'nothing'}, not 789f3e22")
    found = _walk_from(stream, len(SIGNATURE_AND_KEY), size)
    if not found or found[0][1] != ATT_TNEF_VERSION:
        raise CodecError("a TNEF stream without attTnefVersion, which should come first")
    version = stream[found[0][2] : found[0][3]]
    if version != _U32.pack(TNEF_VERSION):
        raise CodecError(f"TNEF version {version[::-1].hex()}, should be {TNEF_VERSION:08x}")
    return [a for a in found[1:] if a[1] != ATT_OEM_CODEPAGE or stream[a[2] : a[3]] != _CODEPAGE_DATA]


def _walk_from(stream: bytes, at: int, size: int) -> list[Attribute]:
    found: list[Attribute] = []
    unpack, add, starts_with = _HEAD.unpack_from, found.append, stream.startswith
    while at + _OVERHEAD <= size:
        if len(found) > MAX_ATTRIBUTES:
            raise CodecError(f"more than {MAX_ATTRIBUTES} attributes in one TNEF stream")
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
                f"attribute {code:#010x} at byte {start - 9}: level {level} and {length} bytes, "
                f"where level 1 or 2 and at most {size - start - 2} bytes are possible"
            )
        intact = byte_sum(stream[start:end]) == stream[end] | stream[end + 1] << 8
        add((level, code, start, end, intact))
    if at != size:
        raise CodecError(f"{size - at} bytes behind the last TNEF attribute, none should be")
    return found
