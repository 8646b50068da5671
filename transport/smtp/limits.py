"""What a listener allows, with the reasons.

# spec: ML-7

Room for contents on their way in, shared by all connections of a listener.

A limit for one mail bounds nothing while a hundred connections each bring one. Strangers share half of the room, so that
they never keep out the stores.

# spec: ML-7
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from transport.envelope import RefusalError
from transport.smtp.data import MESSAGE_LIMIT_BYTES

RECIPIENT_LIMIT: Final = 1000
"""Recipients of one mail (decision; RFC 5321 4.5.3.1.8 asks for 100 at least). More are told to come again:
452.
"""

CONNECTION_LIMIT: Final = 200
"""Connections at a time (decision): a few from each peer of a large lab, with room for outsiders."""

STRANGER_CONNECTION_LIMIT: Final = 100
"""Connections at a time from one machine that have not authenticated (decision): half of all, so that no single machine
keeps the others out; stores on one machine authenticate at once and do not count.
"""

STORE_CONNECTION_LIMIT: Final = 16
"""Connections at a time of one authenticated store (decision): four times what our own sender opens."""

FRUITLESS_LIMIT: Final = 200
"""Commands that bring no mail, since the last mail, until the connection ends (decision): NOOP, RSET, EHLO and such."""

REFUSED_LIMIT: Final = 2 * RECIPIENT_LIMIT
"""Commands that are refused, since the last mail, until the connection ends (decision): a mail with twice the recipients
that are allowed still goes through.
"""

CONTENTS_LIMIT_BYTES: Final = 8 * MESSAGE_LIMIT_BYTES
"""Contents on their way in over all connections together (decision): of strangers four as large as they may be."""

COMMAND_LINE_LIMIT_BYTES: Final = 512
"""Longest command line (RFC 5321 4.5.3.1.4); aiosmtpd adds room for the parameters of MAIL."""

IDLE_SECONDS: Final = 300.0
"""Real time between two commands, and for one whole DATA or chunk (RFC 5321 4.5.3.2.7 asks for 5 minutes)."""

HOLDING_SECONDS: Final = 10.0
"""Real time for which a mail that a stranger has begun keeps the lab's clock from jumping (decision): a mail of 64 MB comes
in less over any line that a lab has, and nobody stops the clock by saying MAIL and then nothing.
"""

SILENCE_SECONDS: Final = 0.5
"""Real time for which the fault "silence" says nothing before the connection goes (decision): the lab does not wait out
the minutes that a sender would.
"""

READ_BYTES: Final = 1024 * 1024
"""More than the stream reader ever holds, so one read takes all that has come."""

STREAM_BUFFER_BYTES: Final = 128 * 1024
"""At twice this the stream reader stops reading from the socket."""

MAX_REPLY_CHARS: Final = 400
"""Longest text of a reply (RFC 5321 4.5.3.1.5 allows 512 octets a line)."""


@dataclass(frozen=True, slots=True)
class ListenerLimits:
    """What one listener allows; see the constants of this module."""

    message_bytes: int = MESSAGE_LIMIT_BYTES
    recipients: int = RECIPIENT_LIMIT
    connections: int = CONNECTION_LIMIT
    stranger_connections: int = STRANGER_CONNECTION_LIMIT
    store_connections: int = STORE_CONNECTION_LIMIT
    fruitless_commands: int = FRUITLESS_LIMIT
    refused_commands: int = REFUSED_LIMIT
    contents_bytes: int = CONTENTS_LIMIT_BYTES
    idle_seconds: float = IDLE_SECONDS
    holding_seconds: float = HOLDING_SECONDS
    silence_seconds: float = SILENCE_SECONDS


class NoRoom(RefusalError):
    """All the room is taken; the sender is to come again."""

    def __init__(self) -> None:
        super().__init__(452, "4.3.1 too many mails at once, try again later")


class Room:
    """`limit_bytes` for all connections together; `taken` of them are."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.taken = 0
        self.taken_by_strangers = 0


class Share:
    """What one connection takes of the room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._held = 0
        self._held_as_stranger = 0

    def grow(self, size: int, *, stranger: bool) -> bool:
        """Takes `size` bytes more; False, and nothing taken, if there is no room for them."""
        room = self._room
        if room.taken + size > room.limit_bytes:
            return False
        if stranger and room.taken_by_strangers + size > room.limit_bytes // 2:
            return False
        room.taken += size
        self._held += size
        if stranger:
            room.taken_by_strangers += size
            self._held_as_stranger += size
        return True

    def free(self) -> None:
        """Gives everything back."""
        self._room.taken -= self._held
        self._room.taken_by_strangers -= self._held_as_stranger
        self._held = self._held_as_stranger = 0
