"""A message of a mailbox, as pymap fetches it.

pymap's parser divides a mail into header and parts. Nobody checked the mails that are posted, so the parser meets all kinds of
errors. The bytes and the size of a whole mail never come from the parser. If the parser fails, the structure is empty.

Python's parser of header fields, which pymap calls, needs quadratic time and memory for some fields: gigabytes for 240 KB. So
`_Fields`, which takes the place of pymap's class, limits the squares of the lengths of the fields that one call parses. pymap
searches texts by regular expressions, which need the product of both lengths; here a search takes linear time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from email.headerregistry import BaseHeader
from typing import TYPE_CHECKING, AnyStr, ClassVar, Final

from pymap import mime
from pymap.bytes import Writeable
from pymap.message import BaseLoadedMessage, BaseMessage
from pymap.mime import MessageContent
from pymap.mime.cte import MessageDecoder
from pymap.mime.parsed import ParsedHeaders
from pymap.parsing.response.fetch import BodyStructure, EnvelopeStructure
from pymap.parsing.specials import FetchRequirement, Flag, ObjectId
from pymap.parsing.specials.flag import Answered, Deleted, Draft, Flagged, Seen
from pymap.search import SearchCriteria

from node.errors import MessageUnknown
from node.store.mailboxes import Flags
from node.views import NumberedMessage

if TYPE_CHECKING:
    from node.api.hosts import ServedHost
    from node.store.node import Node

MAX_FIELD: Final = 8 * 1024
"""The longest header field, in bytes, that is parsed. One call parses one such field, or many short ones."""

_BITS: Final = {
    Seen: Flags.SEEN,
    Answered: Flags.ANSWERED,
    Flagged: Flags.FLAGGED,
    Deleted: Flags.DELETED,
    Draft: Flags.DRAFT,
}
FLAGS: Final = frozenset(_BITS)
_BEGIN: Final = datetime(1970, 1, 1, tzinfo=UTC)


def flags_of(bits: int) -> frozenset[Flag]:
    """Return stored flags as IMAP flags."""
    return frozenset(flag for flag, bit in _BITS.items() if bits & bit)


def bits_of(flags: Iterable[Flag]) -> int:
    """Return IMAP flags as they are stored. Flags that are not kept, such as keywords, are left out."""
    return sum(_BITS.get(flag, 0) for flag in set(flags))


class Message(BaseMessage):
    """One version of a post, under its UID."""

    def __init__(self, host: ServedHost, path: str, view: NumberedMessage, *, expunged: bool = False) -> None:
        super().__init__(
            view.uid,
            _BEGIN + timedelta(microseconds=view.modified_at),
            flags_of(view.flags),
            email_id=ObjectId(b"M" + view.change.replace(":", "-").encode()),
            thread_id=ObjectId(b"T" + view.id.replace(":", "-").encode()),
            expunged=expunged,
        )
        self.view = view
        self._host = host
        self._path = path

    async def load_content(self, requirement: FetchRequirement) -> Content:
        await asyncio.sleep(0)  # a search reads many mails; let the store work in between
        unread = requirement.has_none(FetchRequirement.CONTENT)  # such as flags
        return Content(self, requirement, None if unread else self.mail())

    def mail(self) -> bytes | None:
        """Return the mail; None if another version has replaced this one."""
        return self._host.read(self._mail)

    def _mail(self, node: Node) -> bytes | None:
        try:
            ((_, change),) = node.numbers_of([self.view.id])
            return node.mail(self._path, self.view.id) if change == self.view.change else None
        except MessageUnknown:
            return None


class _FieldTooLong(ValueError):
    """The fields that a call has to parse are too long."""


class Undecodable(Exception):
    """FETCH BINARY asks for a part that cannot be decoded (RFC 3516, 4.3)."""


class _Fields(ParsedHeaders):
    """The fields of a header. `left`: how much the present call may still parse, in squares of bytes."""

    left: ClassVar[int] = 0

    @classmethod
    def begin(cls) -> None:
        """Begin a call."""
        _Fields.left = MAX_FIELD**2

    @classmethod
    def _parse(cls, values: Sequence[Sequence[bytes]]) -> Iterable[BaseHeader]:
        _Fields.left -= sum(sum(map(len, lines)) ** 2 for lines in values)
        if _Fields.left < 0:
            raise _FieldTooLong
        return super()._parse(values)


def _has(_: type[SearchCriteria], wanted: AnyStr, text: AnyStr) -> bool:
    """Return whether a text has another one in it, in upper or lower case."""
    return wanted.lower() in text.lower()


MessageDecoder.registry["binary"] = MessageDecoder.of_cte(None)  # pymap knows only 7bit and 8bit
vars(mime)["ParsedHeaders"] = _Fields  # pymap has no place for another class
SearchCriteria._in = classmethod(_has)  # type: ignore[assignment,method-assign] # the same for this function


class Content(BaseLoadedMessage):
    """The content of a message. raw: the mail; None if it is gone."""

    def __init__(self, message: Message, requirement: FetchRequirement, raw: bytes | None) -> None:
        super().__init__(message, requirement, None if raw is None else _parsed(raw))
        self._mail = raw or b""

    def contains(self, value: bytes) -> bool:
        if self._content is None:
            return False
        wanted = value.lower()
        for part in self._content.walk():
            pieces = (part.header, part.body) if part.body.content_type.maintype == "text" else (part.header,)
            if any(wanted in bytes(piece).lower() for piece in pieces):
                return True
        return False

    def get_header(self, name: bytes) -> Sequence[str]:
        _Fields.begin()
        try:
            return super().get_header(name)
        except _FieldTooLong:
            return []

    def get_body(self, section: Sequence[int] | None = None, binary: bool = False) -> Writeable:
        _Fields.begin()
        if section or binary:
            try:
                return super().get_body(section, binary)
            except _FieldTooLong:
                return Writeable.empty()
            except (ValueError, NotImplementedError) as error:  # of the decoder
                raise Undecodable("a part has an unknown encoding, or is not encoded as it says") from error
        return Writeable.wrap(self._mail)

    def get_size(self, section: Sequence[int] | None = None) -> int:
        return super().get_size(section) if section else len(self._mail)

    def get_envelope_structure(self) -> EnvelopeStructure:
        _Fields.begin()
        try:
            envelope = super().get_envelope_structure()
            bytes(envelope)  # the fields are parsed only here
        except Exception:  # of the parser
            return EnvelopeStructure.empty()
        return envelope

    def get_body_structure(self) -> BodyStructure:
        _Fields.begin()
        try:
            structure = super().get_body_structure()
            bytes(structure.extended)
        except Exception:  # of the parser
            return BodyStructure.empty()
        return structure


def _parsed(raw: bytes) -> MessageContent | None:
    _Fields.begin()
    try:
        return MessageContent.parse(raw)
    except Exception:  # of the parser
        return None
