"""A message of a mailbox, as pymap fetches it.

pymap answers FETCH and SEARCH from a `Content`. Its own one, which reads mails with Python's parser of header fields, gives
wrong sizes, lines and dispositions, and needs quadratic time and memory for some fields. So the content here comes from the
entities of the mail (`node.imap.entities`). pymap searches texts by regular expressions, which need the product of both
lengths; here a search takes linear time.
"""

from __future__ import annotations

import asyncio
import base64
import quopri
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, AnyStr, Final, cast

from pymap.bytes import Writeable, WriteStream
from pymap.interfaces.message import LoadedMessageInterface
from pymap.message import BaseMessage
from pymap.parsing.primitives import List
from pymap.parsing.response.fetch import BodyStructure, EnvelopeStructure
from pymap.parsing.specials import FetchRequirement, Flag, ObjectId
from pymap.parsing.specials.flag import Answered, Deleted, Draft, Flagged, Seen
from pymap.search import SearchCriteria

from node.errors import MessageUnknown
from node.imap.entities import Entity, read_entity
from node.imap.structure import body_structure, envelope
from node.store.mailboxes import Flags
from node.views import NumberedMessage
from transport.mime.headers import decode_words

if TYPE_CHECKING:
    from node.api.hosts import ServedHost
    from node.store.node import Node

_BITS: Final = {
    Seen: Flags.SEEN,
    Answered: Flags.ANSWERED,
    Flagged: Flags.FLAGGED,
    Deleted: Flags.DELETED,
    Draft: Flags.DRAFT,
}
FLAGS: Final = frozenset(_BITS)
_LONGEST_DATE: Final = 100
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
        return Content(requirement, None if unread else self.mail())

    def mail(self) -> bytes | None:
        """Return the mail; None if another version has replaced this one."""
        return self._host.read(self._mail)

    def _mail(self, node: Node) -> bytes | None:
        try:
            change = node.shown_change(self.view.id)
            return node.mail(self._path, self.view.id) if change == self.view.change else None
        except MessageUnknown:
            return None


class Undecodable(Exception):
    """FETCH BINARY asks for a part that cannot be decoded (RFC 3516, 4.3)."""


def _has(_: type[SearchCriteria], substring: AnyStr, text: AnyStr) -> bool:
    """Return whether a text has another one in it, in upper or lower case."""
    return substring.lower() in text.lower()


SearchCriteria._in = classmethod(_has)  # type: ignore[assignment,method-assign] # pymap has no place for another function


_DECODERS: Final[Mapping[bytes, Callable[[bytes], bytes]]] = {
    b"7bit": bytes,
    b"8bit": bytes,
    b"binary": bytes,
    b"quoted-printable": quopri.decodestring,
    b"base64": base64.b64decode,
}


class Content(LoadedMessageInterface):
    """The content of a message.

    mail: its octets; None if it is gone, or is not needed for the answer.
    """

    def __init__(self, requirement: FetchRequirement, mail: bytes | None) -> None:
        self._requirement = requirement
        self._mail = mail or b""

    @property
    def requirement(self) -> FetchRequirement:
        return self._requirement

    def __bytes__(self) -> bytes:
        return self._mail

    @cached_property
    def _entity(self) -> Entity:
        return read_entity(self._mail)

    def _inside(self, section: Sequence[int] | None) -> Entity | None:
        """Return the mail, or the mail in a part of type message/rfc822; None for another part."""
        if not section:
            return self._entity
        part = self._entity.inside(section)
        return None if part is None else part.message

    def get_header(self, name: bytes) -> Sequence[str]:
        field_name = name.lower()
        return [_text(field.value) for field in self._entity.fields if field.name == field_name]

    def get_headers(self, section: Sequence[int]) -> Writeable:
        part = self._entity.inside(section)
        return Writeable.wrap(b"" if part is None else part.header)

    def get_message_headers(
        self,
        section: Sequence[int] | None = None,
        subset: Collection[bytes] | None = None,
        inverse: bool = False,
    ) -> Writeable:
        mail = self._inside(section)
        if mail is None:
            return Writeable.empty()
        if subset is None:
            return Writeable.wrap(mail.header)
        fields = b"".join(field.lines for field in mail.fields if inverse != (field.name.upper() in subset))
        return Writeable.wrap(fields + b"\r\n")

    def get_message_text(self, section: Sequence[int] | None = None) -> Writeable:
        mail = self._inside(section)
        return Writeable.wrap(b"" if mail is None else mail.body)

    def get_body(self, section: Sequence[int] | None = None, binary: bool = False) -> Writeable:
        if not (section or binary):
            return Writeable.wrap(self._mail)
        part = self._entity.inside(section or ())
        if part is None:
            return Writeable.empty()
        body = _decoded(part) if binary else part.body
        return Writeable.wrap(body if section else part.header + body)

    def get_size(self, section: Sequence[int] | None = None) -> int:
        part = self._entity.inside(section) if section else None
        return len(self._mail) if part is None else part.octets

    def get_envelope_structure(self) -> EnvelopeStructure:
        return _Envelope(self._entity)

    def get_body_structure(self) -> BodyStructure:
        return _Structure(self._entity)

    def contains(self, value: bytes) -> bool:
        substring = value.lower()
        return any(
            substring in part.header.lower() or (part.media.main == b"text" and substring in part.body.lower())
            for part in self._entity.walk()
        )


def _decoded(part: Entity) -> bytes:
    decode = bytes if part.parts or part.message is not None else _DECODERS.get(part.encoding)
    try:
        if decode is not None:
            return decode(part.body)
    except ValueError:
        pass  # it is refused, as an unknown encoding is
    raise Undecodable("a part has an unknown encoding, or is not encoded as it says")


def _text(value: bytes) -> str:
    return decode_words(value.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class _Date:
    """A date as pymap's search reads it."""

    datetime: datetime


def _date_of(value: bytes) -> _Date | None:
    try:
        return _Date(parsedate_to_datetime(value[:_LONGEST_DATE].decode("ascii", "replace")))
    except (ValueError, OverflowError):
        return None


class _Envelope(EnvelopeStructure):
    """The envelope of a mail, with what pymap searches."""

    def __init__(self, mail: Entity) -> None:
        def texts(name: bytes) -> Any:
            return [_text(field.value) for field in mail.fields if field.name == name]

        date = cast(Any, _date_of(mail.first(b"date") or b""))
        subject = cast(Any, _text(mail.first(b"subject") or b""))
        from_, to, cc, bcc = map(texts, (b"from", b"to", b"cc", b"bcc"))
        super().__init__(date, subject, from_, None, None, to, cc, bcc, None, None)
        self._shown = envelope(mail.fields)

    def write(self, writer: WriteStream) -> None:
        writer.write(self._shown)

    def __bytes__(self) -> bytes:
        return self._shown


class _Structure(BodyStructure):
    """The structure of a mail; `extended` is the answer to BODYSTRUCTURE."""

    def __init__(self, mail: Entity) -> None:
        super().__init__("", "", None, None, None, None)
        self._mail = mail

    def write(self, writer: WriteStream) -> None:
        writer.write(bytes(self))

    def __bytes__(self) -> bytes:
        return body_structure(self._mail, extended=False)

    @property
    def extended(self) -> List:
        return cast(List, Writeable.wrap(body_structure(self._mail, extended=True)))
