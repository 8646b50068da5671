"""A mail divided into its entities (RFC 2045, 2.4), each with exactly its octets in the mail.

An entity is the mail itself, a part of a multipart, or a mail inside a part of type message/rfc822. It has a header, which ends
with an empty line, and a body. The line end before a boundary belongs to the boundary (RFC 2046, 5.1.1).

    start         body_at             end
      | header      | body              | line end, boundary ...

Posted mails are not checked, so every text must be divided in some way:

| in the mail | the entity |
|---|---|
| no Content-Type, or one that cannot be read | text/plain; in a multipart/digest message/rfc822 |
| a multipart without a boundary, or whose boundary does not occur | has one part, of type text/plain: its whole body |
| a part without a boundary after it | ends with its multipart |
| a header without an empty line after it | has an empty body |
| entities below MAX_LEVELS levels | are text/plain |
| parts after the first MAX_MIME_PARTS, fields after the first MAX_HEADERS bytes of all headers | are left out |

A mail is read in time linear in its size. `transport.mime.headers` reads the mails that the store itself understands: it
decodes fields and refuses what is beyond its limits. Here the octets stay as they are, and nothing is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from transport.errors import CodecError
from transport.mime.message import MAX_MIME_PARTS, PartSplitter, boundary_of
from transport.mime.parts import MAX_PARAMETERS

MAX_LEVELS: Final = 32
"""How deep entities may be in one another."""

MAX_HEADERS: Final = 1024 * 1024
"""How many bytes of one mail's headers are read as fields."""

_EMPTY_LINE: Final = re.compile(rb"\r?\n")
_HEADER_END: Final = re.compile(rb"\n\r?\n")
_FIELD: Final = re.compile(rb"^([!-9;-~]+)[ \t]*:(.*(?:\n[ \t].*)*)\n?", re.MULTILINE)
_FOLD: Final = re.compile(rb"\r?\n(?=[ \t])")
_LINE_END: Final = re.compile(rb"[\r\n\0]+")
_TOKEN: Final = rb'[^\x00-\x20\x7f-\xff()<>@,;:\\"/\[\]?=]+'
_MEDIA: Final = re.compile(rb"\s*(%b)\s*/\s*(%b)\s*(?=[\s;(]|\Z)" % (_TOKEN, _TOKEN))
_PARAMETER: Final = re.compile(rb';\s*([^\s=;"()]{1,80})\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^;"]*))', re.DOTALL)
_COMMENT: Final = re.compile(rb"\s\([^()]*\)\s*\Z")
_ESCAPED: Final = re.compile(rb"\\(.)", re.DOTALL)

Parameters = tuple[tuple[bytes, bytes], ...]
"""Names and values as they are written, without quotes: RFC 2231 and encoded words are left to the client."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a header. `name` is in lower case; `lines` are its lines with their line ends; `value` is unfolded."""

    name: bytes
    lines: bytes
    value: bytes


@dataclass(frozen=True, slots=True)
class Media:
    """A type such as text/plain, in lower case, with its parameters."""

    main: bytes
    sub: bytes
    parameters: Parameters = ()


TEXT: Final = Media(b"text", b"plain", ((b"charset", b"us-ascii"),))
"""The type of an entity without a Content-Type (RFC 2045, 5.2)."""

_UNKNOWN_TEXT: Final = Media(b"text", b"plain")
_MESSAGE: Final = Media(b"message", b"rfc822")


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity: where it is in the mail, and what it has in it.

    `parts` are those of a multipart, at least one. `message` is the mail in an entity of type message/rfc822.
    """

    mail: bytes
    start: int
    body_at: int
    end: int
    fields: tuple[Field, ...]
    media: Media
    parts: tuple[Entity, ...] = ()
    message: Entity | None = None

    @property
    def header(self) -> bytes:
        """The header with the empty line after it."""
        return self.mail[self.start : self.body_at]

    @property
    def body(self) -> bytes:
        """The body as it is encoded in the mail."""
        return self.mail[self.body_at : self.end]

    @property
    def octets(self) -> int:
        """The size of the body."""
        return self.end - self.body_at

    @property
    def lines(self) -> int:
        """The number of line ends in the body."""
        return self.mail.count(b"\n", self.body_at, self.end)

    @property
    def encoding(self) -> bytes:
        """The content transfer encoding in lower case."""
        value = self.first(b"content-transfer-encoding") or b""
        return value.partition(b";")[0].partition(b"(")[0].strip().lower() or b"7bit"

    def first(self, name: bytes) -> bytes | None:
        """Return the value of the first field `name` (in lower case); None if there is none."""
        return next((field.value for field in self.fields if field.name == name), None)

    def walk(self) -> Iterator[Entity]:
        """Yield this entity and all entities in it, each before those in it."""
        yield self
        for inner in self.parts if self.message is None else (self.message,):
            yield from inner.walk()

    def inside(self, section: Sequence[int]) -> Entity | None:
        """Return the part with this IMAP number (RFC 3501, 6.4.5); None if there is none.

        A mail that is not a multipart has one part, its body. The numbers below a message/rfc822 part are those of the mail in
        it.
        """
        entity = self
        parts = self.parts or (self,)
        for number in section:
            if not 1 <= number <= len(parts):
                return None
            entity = parts[number - 1]
            inner = entity.message
            parts = entity.parts if inner is None else inner.parts or (inner,)
        return entity


def read_entity(mail: bytes) -> Entity:
    """Return the mail as an entity, with all entities in it. Nothing is an error."""
    return _Reader(mail).entity(0, len(mail), TEXT, 1)


def read_fields(header: bytes) -> tuple[Field, ...]:
    """Return the fields of a header. Lines that are no field are left out."""
    return tuple(
        Field(field[1].lower(), field[0], _LINE_END.sub(b" ", _FOLD.sub(b"", field[2])).strip())
        for field in _FIELD.finditer(header)
    )


def header_end(mail: bytes, start: int, end: int) -> int:
    """Return where the body of an entity begins."""
    empty = _EMPTY_LINE.match(mail, start, end) or _HEADER_END.search(mail, start, end)
    return end if empty is None else empty.end()


def read_parameters(value: bytes) -> Parameters:
    """Return the parameters of a Content-Type or Content-Disposition: the first of each name, and at most MAX_PARAMETERS."""
    parameters: dict[bytes, bytes] = {}
    for count, parameter in enumerate(_PARAMETER.finditer(value)):
        if count >= MAX_PARAMETERS:
            break
        quoted = parameter[2]
        text = _COMMENT.sub(b"", parameter[3]).strip() if quoted is None else _ESCAPED.sub(rb"\1", quoted)
        parameters.setdefault(parameter[1].lower(), text)
    return tuple(parameters.items())


def _media(value: bytes) -> Media | None:
    """Return the type that a Content-Type names; None if it names none."""
    media = _MEDIA.match(value)
    return None if media is None else Media(media[1].lower(), media[2].lower(), read_parameters(value))


class _Reader:
    """Reads the entities of one mail, with the limits for all of them."""

    def __init__(self, mail: bytes) -> None:
        self._mail = mail
        self._splitter = PartSplitter(mail)
        self._parts = 0
        self._unread = MAX_HEADERS

    def entity(self, start: int, end: int, default: Media, level: int) -> Entity:
        body_at = header_end(self._mail, start, end)
        fields = read_fields(self._mail[start : min(body_at, start + self._unread)])
        self._unread -= min(body_at - start, self._unread)
        value = next((field.value for field in fields if field.name == b"content-type"), b"")
        media = (_media(value) or default) if level < MAX_LEVELS else _UNKNOWN_TEXT
        parts: tuple[Entity, ...] = ()
        message = None
        if media.main == b"multipart":
            parts = self._divided(media, boundary_of(value.decode("utf-8", "replace")), body_at, end, level)
        elif (media.main, media.sub) == (_MESSAGE.main, _MESSAGE.sub):
            message = self.entity(body_at, end, TEXT, level + 1)
        return Entity(self._mail, start, body_at, end, fields, media, parts, message)

    def _divided(self, media: Media, boundary: str, start: int, end: int, level: int) -> tuple[Entity, ...]:
        """Return the parts of a multipart."""
        default = _MESSAGE if media.sub == b"digest" else TEXT
        parts: list[Entity] = []
        with suppress(CodecError):  # too many lines look like boundaries; the parts until then are there
            for part_start, part_end in self._splitter.split(boundary, start, end) if boundary else ():
                if self._parts >= MAX_MIME_PARTS:
                    break
                self._parts += 1
                parts.append(self.entity(part_start, part_end, default, level + 1))
        return tuple(parts) or (Entity(self._mail, start, start, end, (), _UNKNOWN_TEXT),)
