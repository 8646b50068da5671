"""MAPI properties: their types, their tags, their values in Python, and bags of properties.

Tags are plain integers, ``id << 16 | type``. A property with an id of 0x8000 or higher is identified only by its name, and
its key is a ``NamedTag``. Each property type has one Python type:

========================  ===========================================================================
SHORT, LONG, INT64        int, signed 16, 32 and 64 bits
CURRENCY                  int, signed 64 bits (ten-thousandths)
ERROR                     int, unsigned 32 bits
SYSTIME                   int, unsigned 64 bits: FILETIME, 100 ns since 1601-01-01T00:00Z
BOOLEAN                   bool
FLOAT, DOUBLE, APPTIME    float
STRING8                   bytes in the stream's code page, without the final NUL
UNICODE                   str, without the final NUL
BINARY, OBJECT, CLSID     bytes (OBJECT begins with its 16-byte interface id; CLSID has exactly 16 bytes)
NULL                      None
type | MV_FLAG            tuple of the above
========================  ===========================================================================
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from traces.labtime import LabTime
from transport.errors import CodecError


class PropType(IntEnum):
    """Property types [MS-OXCDATA 2.11.1]."""

    NULL = 0x0001
    SHORT = 0x0002
    LONG = 0x0003
    FLOAT = 0x0004
    DOUBLE = 0x0005
    CURRENCY = 0x0006
    APPTIME = 0x0007
    ERROR = 0x000A
    BOOLEAN = 0x000B
    OBJECT = 0x000D
    INT64 = 0x0014
    STRING8 = 0x001E
    UNICODE = 0x001F
    SYSTIME = 0x0040
    CLSID = 0x0048
    BINARY = 0x0102


MV_FLAG: Final = 0x1000
"""Set in a tag's type for a property with many values [MS-OXCDATA 2.11.1]."""

NAMED_ID_MIN: Final = 0x8000
"""From this id on, a property is identified by its name [MS-OXPROPS 1.3.3]."""


@dataclass(frozen=True, slots=True)
class NamedTag:
    """Key of a named property: type, namespace (16 bytes) and a number or a text."""

    type: int
    guid: bytes
    name: int | str


Scalar = bool | int | float | str | bytes | None
Value = Scalar | tuple[Scalar, ...]
Bag = dict[int | NamedTag, Value]
"""A bag of properties; encoding and decoding keep its order."""


_FILETIME_OF_1970: Final = 116_444_736_000_000_000
"""1970-01-01T00:00Z as FILETIME: 100 ns since 1601-01-01T00:00Z [MS-DTYP 2.3.3]."""


def filetime(at: LabTime) -> int:
    """Return the FILETIME (100 ns since 1601) of a lab time (µs since 1970)."""
    return at * 10 + _FILETIME_OF_1970


def labtime(ticks: int) -> LabTime:
    """Return the lab time (µs since 1970) of a FILETIME (100 ns since 1601); fractions of a µs are cut off."""
    return (ticks - _FILETIME_OF_1970) // 10


def tag_text(tag: int | NamedTag) -> str:
    """Return a tag for display: ``0x0037001F``, or namespace and name."""
    if isinstance(tag, NamedTag):
        return f"{tag.guid.hex()}/{tag.name!r}:{tag.type:#06x}"
    return f"0x{tag:08X}"


def int_of(bag: Bag, tag: int) -> int:
    """Return the integer or SYSTIME under `tag`. Raise `CodecError` if there is none."""
    value = bag.get(tag)
    if isinstance(value, int):
        return value
    raise _missing(bag, tag, "an integer")


def bytes_of(bag: Bag, tag: int) -> bytes:
    """Return the bytes under `tag`. Raise `CodecError` if there are none."""
    value = bag.get(tag)
    if isinstance(value, bytes):
        return value
    raise _missing(bag, tag, "bytes")


def text_of(bag: Bag, tag: int) -> str:
    """Return the text under `tag`. Raise `CodecError` if there is none."""
    value = bag.get(tag)
    if isinstance(value, str):
        return value
    raise _missing(bag, tag, "text")


def _missing(bag: Bag, tag: int, wanted: str) -> CodecError:
    found = type(bag[tag]).__name__ if tag in bag else "nothing"
    return CodecError(f"property {tag_text(tag)} should hold {wanted}, found {found}")
