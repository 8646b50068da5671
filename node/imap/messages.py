"""A message of a mailbox, as pymap fetches it.

pymap's parser divides a mail into header and parts. Nobody checked the mails that are posted, so the parser meets all kinds of
errors. The bytes and the size of a whole mail never come from the parser. If the parser fails, the structure is empty.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from pymap.bytes import Writeable
from pymap.message import BaseLoadedMessage, BaseMessage
from pymap.mime import MessageContent
from pymap.parsing.response.fetch import BodyStructure, EnvelopeStructure
from pymap.parsing.specials import FetchRequirement, Flag, ObjectId
from pymap.parsing.specials.flag import Answered, Deleted, Draft, Flagged, Seen

from node.errors import MessageUnknown
from node.store.mailboxes import Flags
from node.views import NumberedMessage

if TYPE_CHECKING:
    from node.api.hosts import ServedHost
    from node.store.node import Node

MAX_HEADER: Final = 256 * 1024
"""The longest header, in bytes, that is parsed. Python's parser of header fields needs quadratic time for some of them."""

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


class Content(BaseLoadedMessage):
    """The content of a message. raw: the mail; None if it is gone."""

    def __init__(self, message: Message, requirement: FetchRequirement, raw: bytes | None) -> None:
        super().__init__(message, requirement, None if raw is None else _parsed(raw))
        self._mail = raw or b""

    def get_body(self, section: Sequence[int] | None = None, binary: bool = False) -> Writeable:
        if section or binary:
            return super().get_body(section, binary)
        return Writeable.wrap(self._mail)

    def get_size(self, section: Sequence[int] | None = None) -> int:
        return super().get_size(section) if section else len(self._mail)

    def get_envelope_structure(self) -> EnvelopeStructure:
        try:
            envelope = super().get_envelope_structure()
            bytes(envelope)  # the fields are parsed only here
        except Exception:  # of the parser
            return EnvelopeStructure.empty()
        return envelope

    def get_body_structure(self) -> BodyStructure:
        try:
            structure = super().get_body_structure()
            bytes(structure.extended)
        except Exception:  # of the parser
            return BodyStructure.empty()
        return structure


def _parsed(raw: bytes) -> MessageContent | None:
    ends = [end for end in (raw.find(b"\n\r\n"), raw.find(b"\n\n")) if end >= 0]
    if min(ends, default=len(raw)) > MAX_HEADER:
        return None
    try:
        return MessageContent.parse(raw)
    except Exception:  # of the parser
        return None
