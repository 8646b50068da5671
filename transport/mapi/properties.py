"""MAPI properties: their types, tags and values in Python, and bags of them as bytes, as in every mail and stored item.

The bytes are those of TNEF's attMsgProps [MS-OXTNEF 2.1.3.4]: a count, then for each property its tag, the name of a named
property, and its value, all aligned to 4 bytes. docs/reference/wire-format.md has every byte.

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

Every error is a ``CodecError``. A wrong length in the input never allocates more memory than the size of the input. The two
loops below are the hot path of the lab (about 4 us for a dozen properties), so they avoid function calls.

(spec: ML-2)
"""

import struct
from codecs import utf_16_le_decode, utf_16_le_encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from traces.labtime import LabTime
from transport.errors import CodecError

MAX_PROPERTIES: Final = 4096
"""Largest number of properties in one bag. Exchange's items have about 100, and folders of the hierarchy have fewer."""

MAX_VALUES: Final = 65_536
"""Largest number of values of one property."""

MAX_RECIPIENTS: Final = 20_000
"""Largest number of rows in a recipient table."""


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


def _missing(bag: Bag, tag: int, type_name: str) -> CodecError:
    actual = type(bag[tag]).__name__ if tag in bag else "nothing"
    return CodecError(f"property {tag_text(tag)} should hold {type_name}, found {actual}")


# These are plain integers, because comparing an IntEnum member costs a function call.
_NULL: Final = int(PropType.NULL)
_LONG: Final = int(PropType.LONG)
_BOOLEAN: Final = int(PropType.BOOLEAN)
_STRING8: Final = int(PropType.STRING8)
_UNICODE: Final = int(PropType.UNICODE)
_CLSID: Final = int(PropType.CLSID)
_SYSTIME: Final = int(PropType.SYSTIME)
_BINARY: Final = int(PropType.BINARY)
_OBJECT: Final = int(PropType.OBJECT)

# The format of one value on the wire, padding included.
_FORMATS: Final = {
    int(PropType.SHORT): "hxx",
    int(PropType.LONG): "i",
    int(PropType.FLOAT): "f",
    int(PropType.DOUBLE): "d",
    int(PropType.CURRENCY): "q",
    int(PropType.APPTIME): "d",
    int(PropType.ERROR): "I",
    int(PropType.INT64): "q",
    int(PropType.SYSTIME): "Q",
}
_PACK: Final = {t: struct.Struct("<I" + f).pack for t, f in _FORMATS.items()}
# A boolean has 16 bits. It is written as 0 or 1, and read as true if any bit is set.
_BOOLEANS: Final = {False: b"\0\0\0\0", True: b"\1\0\0\0"}
_UNPACK: Final = {t: (struct.Struct("<" + f).unpack_from, struct.calcsize("<" + f)) for t, f in _FORMATS.items()}
# The types with which a property may have many values [MS-OXTNEF 2.1.3.4]: all except boolean, error, object and null.
_MANY: Final = {t: struct.Struct("<" + f) for t, f in _FORMATS.items() if t != PropType.ERROR} | {
    _CLSID: struct.Struct("<16s")
}
_SIZED: Final = frozenset((_BINARY, _UNICODE, _STRING8, _OBJECT))
_MULTIPLE: Final = _MANY.keys() | (_SIZED - {_OBJECT})  # types whose properties may have several values

_U32: Final = struct.Struct("<I")
_HEAD: Final = struct.Struct("<III")  # tag, number of values (1), length of the value
_PAIR: Final = struct.Struct("<II")
_PADS: Final = (b"", b"\0\0\0", b"\0\0", b"\0")  # by length modulo 4
_TEXT_ENDS: Final = (b"\0\0", b"", b"\0\0\0\0", b"")  # by length (with its NUL) modulo 4: NUL and padding


def text_of_either(props: Bag, unicode_tag: int, string8_tag: int) -> str | None:
    """Return a text that may have either type. STRING8 is in the code page of attOemCodepage."""
    wide = props.get(unicode_tag)
    if isinstance(wide, str):
        return wide
    narrow = props.get(string8_tag)
    return narrow.decode("cp1252", "replace") if isinstance(narrow, bytes) else None


# --- encode ------------------------------------------------------------------------------------------------


def encode_bag(bag: Bag) -> bytes:
    """Return the bytes of a bag, in its order. Raise `CodecError`, which names the property, if one cannot be encoded."""
    if len(bag) > MAX_PROPERTIES:
        raise CodecError(f"the property list has {len(bag)} properties; at most {MAX_PROPERTIES} are allowed")
    chunks = [_U32.pack(len(bag))]
    add = chunks.append
    head = _HEAD.pack
    named = 0
    for tag, value in bag.items():
        try:
            if isinstance(tag, NamedTag):
                add(_encode_named(tag, NAMED_ID_MIN + named, value))
                named += 1
                continue
            kind = tag & 0xFFFF
            if kind == _UNICODE:
                # Call the codec's function, because `str.encode` looks up the codec by name and takes three times as
                # long.
                text = utf_16_le_encode(value)[0]  # type: ignore[arg-type]  # wrong types are caught below
                size = len(text) + 2
                add(head(tag, 1, size))
                add(text)
                add(_TEXT_ENDS[size & 3])
            elif kind == _BINARY:
                size = len(value)  # type: ignore[arg-type]
                add(head(tag, 1, size))
                add(value)  # type: ignore[arg-type]
                if size & 3:
                    add(_PADS[size & 3])
            elif (pack := _PACK.get(kind)) is not None:
                add(pack(tag, value))
            elif kind == _BOOLEAN:
                add(_U32.pack(tag))
                add(_BOOLEANS[value])  # type: ignore[index]
            else:
                add(_encode_rare(tag, value))
            if tag > 0x7FFFFFFF:
                raise CodecError(
                    f"property {tag_text(tag)} needs a name, because its id is 0x8000 or higher; use a NamedTag"
                )
        except (struct.error, TypeError, ValueError, LookupError, OverflowError) as wrong:
            raise CodecError(f"property {tag_text(tag)} cannot hold {_brief(value)}: {wrong}") from wrong
    try:
        return b"".join(chunks)
    except TypeError as wrong:
        raise CodecError(f"a property of type BINARY holds something that is not bytes: {wrong}") from wrong


def encode_rows(rows: Sequence[Bag]) -> bytes:
    """Return the bytes of a recipient table: a count, and a bag for each row."""
    return b"".join((_U32.pack(len(rows)), *map(encode_bag, rows)))


def _encode_rare(tag: int, value: Value) -> bytes:
    kind = tag & 0xFFFF
    if kind & MV_FLAG and (kind ^ MV_FLAG) in _MULTIPLE:
        return _encode_many(tag, kind ^ MV_FLAG, value)
    if kind == _NULL and value is None:
        return _U32.pack(tag)
    if kind == _CLSID:
        return _U32.pack(tag) + _guid(value)
    if kind in (_STRING8, _OBJECT):
        data = _sized(kind, value)
        return _HEAD.pack(tag, 1, len(data)) + data + _PADS[len(data) & 3]
    raise CodecError(f"property {tag_text(tag)} has type {kind:#06x}, which is not a PropType")


def _encode_many(tag: int, kind: int, value: Value) -> bytes:
    if not isinstance(value, tuple) or len(value) > MAX_VALUES:
        raise CodecError(f"property {tag_text(tag)} needs a tuple of at most {MAX_VALUES} values")
    chunks = [_PAIR.pack(tag, len(value))]
    if kind == _CLSID:
        chunks += [_guid(item) for item in value]
    elif kind in _MANY:
        chunks += [_MANY[kind].pack(item) for item in value]
    elif not value:
        # [MS-OXTNEF 2.1.3.4] gives sized properties one value or more. A property without a value must be absent.
        raise CodecError(f"property {tag_text(tag)} has no value; leave it out of the property list")
    for item in value if kind in _SIZED else ():
        data = _sized(kind, item)
        chunks += (_U32.pack(len(data)), data, _PADS[len(data) & 3])
    return b"".join(chunks)


def _encode_named(tag: NamedTag, wire_id: int, value: Value) -> bytes:
    if len(tag.guid) != 16:
        raise CodecError(f"the namespace of {tag_text(tag)} has {len(tag.guid)} bytes; a GUID has 16")
    if not 0 <= tag.type <= 0xFFFF:
        raise CodecError(f"the type of {tag_text(tag)} is a complete tag; it should be only a PropType")
    plain = encode_bag({tag.type: value})  # count, tag, value: everything but the name
    if isinstance(tag.name, int):
        name = _PAIR.pack(0, tag.name)
    else:
        text = tag.name.encode("utf-16-le") + b"\0\0"
        name = _PAIR.pack(1, len(text)) + text + _PADS[len(text) & 3]
    return _U32.pack(wire_id << 16 | tag.type) + tag.guid + name + plain[8:]


def _sized(kind: int, value: Scalar | tuple[Scalar, ...]) -> bytes:
    if kind == _UNICODE and isinstance(value, str):
        return value.encode("utf-16-le") + b"\0\0"
    if kind != _UNICODE and isinstance(value, bytes):
        return value + b"\0" if kind == _STRING8 else value
    raise TypeError("str expected" if kind == _UNICODE else "bytes expected")


def _guid(value: Scalar | tuple[Scalar, ...]) -> bytes:
    if isinstance(value, bytes) and len(value) == 16:
        return value
    raise ValueError("16 bytes expected")


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# --- decode ------------------------------------------------------------------------------------------------


def decode_bag(data: bytes, start: int = 0, end: int | None = None) -> Bag:
    """Return the bag that fills ``data[start:end]`` exactly. Raise `CodecError` for malformed bytes, also for a rest."""
    if end is None:
        end = len(data)
    bag, stop = decode_bag_at(data, start, end)
    if stop != end:
        raise CodecError(f"unexpected {end - stop} bytes after the last property, at byte {stop}")
    return bag


def decode_bag_at(data: bytes, start: int, end: int) -> tuple[Bag, int]:  # noqa: PLR0912  # one branch a type
    """Return the bag at ``data[start:end]`` and the offset after its last property (at most `end`)."""
    bag: Bag = {}
    tag = 0
    at = start + 4
    count = int.from_bytes(data[start:at], "little")
    if count > MAX_PROPERTIES:
        raise CodecError(f"the property list announces {count} properties; at most {MAX_PROPERTIES} are allowed")
    if at + 4 * count > end:
        raise CodecError(f"the property list announces {count} properties, which do not fit in {end - start} bytes")
    head = _HEAD.unpack_from
    whole_heads_until = len(data) - 12
    try:
        for _ in range(count):
            # Read the tag and two words at once, which is enough for every common type. After the end, read zeros.
            tag, first, second = head(data, at) if at <= whole_heads_until else head(data[at:] + bytes(12))
            at += 4
            kind = tag & 0xFFFF
            if tag > 0x7FFFFFFF:
                name, at = _decode_name(data, at, kind)
                bag[name], at = _decode_value(data, at, end, tag)
            elif kind == _UNICODE:
                at += 8
                if first != 1 or at + second > end:
                    raise _misfit(tag, first, second, end - at)
                text = utf_16_le_decode(data[at : at + second], "strict", True)[0]
                bag[tag] = text[:-1] if text and text[-1] == "\0" else text
                at += second + 3 & -4
            elif kind == _BINARY:
                at += 8
                if first != 1 or at + second > end:
                    raise _misfit(tag, first, second, end - at)
                bag[tag] = data[at : at + second]
                at += second + 3 & -4
            elif kind == _SYSTIME:
                bag[tag] = second << 32 | first
                at += 8
            elif kind == _LONG:
                bag[tag] = first if first < 0x80000000 else first - 0x100000000
                at += 4
            elif kind == _BOOLEAN:
                bag[tag] = first & 0xFFFF != 0
                at += 4
            else:
                bag[tag], at = _decode_value(data, at, end, tag)
    except (struct.error, UnicodeDecodeError) as wrong:
        raise CodecError(f"property 0x{tag:08X} at byte {at}: {wrong}") from wrong
    if at > end:
        raise CodecError(f"property 0x{tag:08X} reaches {at - end} bytes beyond the end of its property list")
    if len(bag) != count:
        raise CodecError(f"{count - len(bag)} properties occur twice in one property list; each may occur only once")
    return bag, at


def decode_rows(data: bytes, start: int, end: int) -> tuple[Bag, ...]:
    """Return the bags of the recipient table that fills ``data[start:end]`` exactly. Raise `CodecError` if it is malformed."""
    count = int.from_bytes(data[start : start + 4], "little")
    if count > MAX_RECIPIENTS:
        raise CodecError(f"the item announces {count} recipients; at most {MAX_RECIPIENTS} are allowed")
    if start + 4 + 4 * count > end:
        raise CodecError(f"the item announces {count} recipients, which do not fit in {end - start} bytes")
    rows: list[Bag] = []
    at = start + 4
    for _ in range(count):
        row, at = decode_bag_at(data, at, end)
        rows.append(row)
    if at != end:
        raise CodecError(f"unexpected {end - at} bytes after the last recipient")
    return tuple(rows)


def _misfit(tag: int, many: int, size: int, room: int) -> CodecError:
    return CodecError(
        f"property 0x{tag:08X} has {many} values, the first of {size} bytes; "
        f"it must have 1 value of at most {room} bytes"
    )


def _decode_value(data: bytes, at: int, end: int, tag: int) -> tuple[Value, int]:
    """Return one value of any type and the offset after it. The common types have their own code in `decode_bag_at`."""
    kind = tag & 0xFFFF
    if (fixed := _UNPACK.get(kind)) is not None:
        unpack, size = fixed
        return unpack(data, at)[0], at + size
    if kind in _SIZED:
        many, size = _PAIR.unpack_from(data, at)
        at += 8
        if many != 1 or at + size > end:
            raise _misfit(tag, many, size, end - at)
        return _sized_value(kind, data[at : at + size]), at + (size + 3 & -4)
    if kind == _BOOLEAN:
        return data[at : at + 2] not in (b"\0\0", b""), at + 4
    if kind == _NULL:
        return None, at
    if kind == _CLSID and at + 16 <= end:
        return data[at : at + 16], at + 16
    if kind & MV_FLAG:
        return _decode_many(data, at, end, tag)
    raise CodecError(f"property 0x{tag:08X} has type {kind:#06x}, which is not a known property type")


def _decode_many(data: bytes, at: int, end: int, tag: int) -> tuple[Value, int]:
    kind = tag & 0xFFFF ^ MV_FLAG
    (count,) = _U32.unpack_from(data, at)
    at += 4
    layout = _MANY.get(kind)
    if layout is None and (kind not in _SIZED or kind == _OBJECT):
        raise CodecError(f"property 0x{tag:08X} has several values of type {kind:#06x}, which allows only one")
    if count > MAX_VALUES or at + count * (layout.size if layout else 4) > end or not (count or layout):
        raise CodecError(
            f"property 0x{tag:08X} announces {count} values in {end - at} bytes; they must fit, and be at most {MAX_VALUES}"
        )
    if layout is not None:
        stop = at + count * layout.size
        return tuple([item for (item,) in layout.iter_unpack(data[at:stop])]), stop
    values: list[Scalar] = []
    for _ in range(count):
        (size,) = _U32.unpack_from(data, at)
        at += 4
        if at + size > end:
            raise CodecError(f"property 0x{tag:08X}: a value has {size} bytes, but only {end - at} are left")
        values.append(_sized_value(kind, data[at : at + size]))
        at += size + 3 & -4
    return tuple(values), at


def _sized_value(kind: int, data: bytes) -> Scalar:
    if kind == _UNICODE:
        return utf_16_le_decode(data, "strict", True)[0].removesuffix("\0")
    return data.removesuffix(b"\0") if kind == _STRING8 else data


def _decode_name(data: bytes, at: int, kind: int) -> tuple[NamedTag, int]:
    guid = data[at : at + 16]
    name_kind, number = _PAIR.unpack_from(data, at + 16)
    at += 24
    if name_kind == 0:
        return NamedTag(kind, guid, number), at
    if name_kind != 1 or at + number > len(data):
        raise CodecError(
            f"the name of a property has kind {name_kind} and length {number}; "
            "the kind must be 0 (a number) or 1 (a text), and a text must fit in the property list"
        )
    text = utf_16_le_decode(data[at : at + number], "strict", True)[0]
    return NamedTag(kind, guid, text.removesuffix("\0")), at + (number + 3 & -4)


# --- lists whose properties are declared once, for writing and for reading -----------------------------------

# A list is a table with a row for each property, in the order in which they are written: the type of the value on the wire, and
# how it is read and written. So a value that has the wrong type, or is missing, never gets further than these functions.

Values = dict[int, Any]
"""The values of a property list by tag."""


class Property(NamedTuple):
    """One property of a list.

    kind     the type of the value on the wire
    read     returns the meaning of a value; raises CodecError, or another error of the codec, if it is not valid
    write    the reverse of `read`
    default  the value for which the property is left out; None: the property is required
    """

    kind: type
    read: Callable[[Any], Any] = lambda value: value
    write: Callable[[Any], Any] = lambda value: value
    default: Any = None


Properties = Mapping[int, Property]


def write_values(values: Values, properties: Properties) -> Bag:
    """Return the property list with these values."""
    return {
        tag: write(values[tag])
        for tag, (_, _, write, default) in properties.items()
        if default is None or values[tag] != default
    }


def read_values(bag: Bag, properties: Properties) -> Values:
    """Return the values in a property list. Other properties are ignored. Raise CodecError if a property is missing."""
    values: Values = {}
    for tag, (kind, meaning, _, default) in properties.items():
        value = bag.get(tag)
        if isinstance(value, kind):
            values[tag] = meaning(value)
        elif value is None and default is not None:
            values[tag] = default
        else:
            raise CodecError(f"the property {tag:#010x} is missing or has the wrong type")
    return values
