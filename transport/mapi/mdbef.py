"""The MDBEF envelope of a system message: the format of Exchange 5.5 stores.

The bytes of Microsoft's MDBEF were never published. This module defines an envelope of the lab with this name.
docs/reference/wire-format.md has every byte. It has the same property lists and the same item streams as the TNEF envelope, so
a server can convert one into the other without changing an item.

A checksum covers the envelope. It does not cover the items, which have their own checksums. So damage to an item affects only
that item; other damage affects the whole mail.

(spec: ML-2, ML-4)
"""

import struct
from typing import Final
from zlib import crc32

from transport.errors import CodecError
from transport.mapi import tnef_stream as ts
from transport.mapi.properties import decode_bag, encode_bag
from transport.mapi.system_message import Part, RawAttribute, SystemMessage
from transport.mapi.tnef import MAX_PARTS

MAGIC: Final = b"\x89MDB\r\n\x1a\n"
"""The first bytes of the envelope. A program that damages binary data would change the byte above 127, or a line end, in
them."""

VERSION: Final = 1

MAX_EXTRA: Final = 10_000
"""Largest number of unknown TNEF attributes in one envelope."""

_HEAD: Final = struct.Struct("<8sHHIIII")  # magic, version, flags, size, control bytes, extra, parts
_EXTRA: Final = struct.Struct("<IiI")  # attribute code, attachment or -1, length
_PART: Final = struct.Struct("<II")  # length of the properties, length of the item
_CRC: Final = struct.Struct("<I")
_PADS: Final = (b"", b"\0\0\0", b"\0\0", b"\0")  # by length modulo 4


def encode_mdbef(message: SystemMessage) -> bytes:
    """Return the MDBEF envelope of a system message. The bytes of the items are copied, never read."""
    if len(message.parts) > MAX_PARTS or len(message.extra) > MAX_EXTRA:
        raise CodecError(
            f"the mail has {len(message.parts)} parts and {len(message.extra)} unknown attributes; "
            f"at most {MAX_PARTS} and {MAX_EXTRA} are allowed"
        )
    control = encode_bag(message.props)
    pieces = [b"", control]
    for raw in message.extra:
        pieces += (_EXTRA.pack(raw.code, raw.attachment, len(raw.data)), raw.data, _PADS[len(raw.data) & 3])
    items: list[int] = []  # which pieces are items
    for part in message.parts:
        props = encode_bag(part.props)
        pieces += (_PART.pack(len(props), len(part.item)), props, part.item, _PADS[len(part.item) & 3])
        items.append(len(pieces) - 2)
    size = _HEAD.size + sum(map(len, pieces)) + _CRC.size
    pieces[0] = _HEAD.pack(MAGIC, VERSION, 0, size, len(control), len(message.extra), len(message.parts))
    guarded = pieces.copy()
    for index in items:
        guarded[index] = b""
    pieces.append(_CRC.pack(crc32(b"".join(guarded))))
    return b"".join(pieces)


def decode_mdbef(data: bytes) -> SystemMessage:
    """Return the system message in an MDBEF envelope. Raise `CodecError` for a damaged envelope.

    Items are not decoded; `transport.mapi.item.check_item` checks one.
    """
    control_size, extra_count, part_count = _check_head(data)
    reader = _Reader(data)
    props = decode_bag(data, *reader.take(control_size))
    extra: list[RawAttribute] = []
    for _ in range(extra_count):
        code, attachment, size = reader.fields(_EXTRA)
        start, end = reader.take(size)
        if not -1 <= attachment < part_count:
            raise CodecError(
                f"MDBEF: an attribute belongs to attachment {attachment}, "
                f"but the mail has {part_count} attachments, numbered from 0"
            )
        extra.append(RawAttribute(code, data[start:end], attachment))
    parts: list[Part] = []
    for _ in range(part_count):
        props_size, item_size = reader.fields(_PART)
        part_props = decode_bag(data, *reader.take(props_size))
        start, end = reader.take(item_size, guarded=False)
        parts.append(Part(data[start:end], part_props))
    reader.finish()
    return SystemMessage(props, tuple(parts), tuple(extra))


def _check_head(data: bytes) -> tuple[int, int, int]:
    if len(data) < _HEAD.size + _CRC.size or not data.startswith(MAGIC):
        raise CodecError(f"not an MDBEF envelope: {len(data)} bytes that start with {data[:8].hex() or 'nothing'}")
    _, version, flags, size, control_size, extra_count, part_count = _HEAD.unpack_from(data)
    if version != VERSION or flags:
        raise CodecError(
            f"the MDBEF envelope has version {version} and flags {flags:#x}; it must have version {VERSION} and flags 0"
        )
    if size != len(data) or size > ts.MAX_STREAM_SIZE:
        raise CodecError(
            f"MDBEF of {len(data)} bytes announces {size} bytes; they must be equal, and the limit is {ts.MAX_STREAM_SIZE}"
        )
    if part_count > MAX_PARTS or extra_count > MAX_EXTRA:
        raise CodecError(
            f"MDBEF announces {part_count} parts and {extra_count} unknown attributes; "
            f"at most {MAX_PARTS} and {MAX_EXTRA} are read"
        )
    return control_size, extra_count, part_count


class _Reader:
    """Reads the pieces of an envelope in order, and computes the checksum over the guarded pieces."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = _HEAD.size
        self.end = len(data) - _CRC.size
        self.crc = crc32(data[: self.at])

    def fields(self, layout: struct.Struct) -> tuple[int, ...]:
        start, _ = self.take(layout.size)
        return layout.unpack_from(self.data, start)

    def take(self, size: int, *, guarded: bool = True) -> tuple[int, int]:
        """Return start and end of the next `size` bytes, and skip their padding. The checksum always covers the padding."""
        start, end = self.at, self.at + size
        self.at = end + (-size & 3)
        if self.at > self.end:
            raise CodecError(f"MDBEF: {size} bytes are announced at byte {start}, but only {self.end - start} are left")
        self.crc = crc32(self.data[start if guarded else end : self.at], self.crc)
        return start, end

    def finish(self) -> None:
        if self.at != self.end:
            raise CodecError(f"MDBEF: unexpected {self.end - self.at} bytes after the last part")
        if _CRC.unpack_from(self.data, self.end)[0] != self.crc:
            raise CodecError("MDBEF: the checksum is wrong, so the envelope is damaged")
