"""The limits of a listener, with their reasons, and the room for contents that all its connections share.

A limit for one mail is not enough, because a hundred connections can each send a mail. So all contents that are arriving share
one `Room`. Strangers can use only half of it, so stores always have room.

# spec: ML-7
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from transport.envelope import RefusalError
from transport.smtp.data import MESSAGE_LIMIT_BYTES

COMMAND_LINE_LIMIT_BYTES: Final = 512
"""Longest command line (RFC 5321 4.5.3.1.4); aiosmtpd adds room for the parameters of MAIL."""

READ_BYTES: Final = 1024 * 1024
"""More bytes than the stream reader ever contains, so one read returns everything that has arrived."""

STREAM_BUFFER_BYTES: Final = 128 * 1024
"""At twice this size the stream reader stops reading from the socket."""

MAX_REPLY_CHARS: Final = 400
"""Longest text of a reply (RFC 5321 4.5.3.1.5 allows 512 octets in a line)."""


@dataclass(frozen=True, slots=True)
class ListenerLimits:
    """The limits of one listener."""

    message_bytes: int = MESSAGE_LIMIT_BYTES
    recipients: int = 1000
    """Largest number of recipients of one mail (decision; RFC 5321 4.5.3.1.8 asks for at least 100). More get the reply 452."""
    connections: int = 500
    """Largest number of connections at a time (decision): four from each of 100 stores, as many as our sender opens, and 100 of
    strangers. So a lab with 100 servers refuses none of its stores. A process usually has 1,024 file handles. When this limit
    is reached, the stranger that has been silent for longest makes room."""
    stranger_connections: int = 100
    """Largest number of unauthenticated connections at a time from one machine (decision), so that one machine cannot keep out
    the others. Stores on one machine authenticate at once and do not count. When this limit is reached, the stranger of the
    machine that has been silent for longest makes room, because a store may be on the same machine."""
    store_connections: int = 16
    """Largest number of connections of one authenticated store (decision): four times as many as our sender opens."""
    fruitless_commands: int = 200
    """After this many commands without a mail, such as NOOP, RSET and EHLO, the connection is closed (decision)."""
    refused_commands: int = 2000
    """After this many refused commands since the last mail, the connection is closed (decision). A mail with twice as many
    recipients as allowed is still accepted."""
    contents_bytes: int = 8 * MESSAGE_LIMIT_BYTES
    """Bytes of contents that are arriving, over all connections (decision). Half of them are enough for four of the largest
    mails."""
    idle_seconds: float = 300.0
    """Real time between two commands, and for one whole DATA or chunk (RFC 5321 4.5.3.2.7 asks for 5 minutes)."""
    closing_seconds: float = 5.0
    """Real time for a peer to read the last replies of a connection that the listener closes (decision)."""
    holding_seconds: float = 10.0
    """Real time. If no byte of a stranger's mail arrives for this long, the lab's clock no longer waits for the mail
    (decision), so that a stranger cannot stop the clock. While bytes arrive, the clock waits at most `idle_seconds` for a
    mail. Mails of the lab itself count as a stranger's, but the lab moves no clock before they have ended."""
    silence_seconds: float = 0.5
    """Real time for which the fault "silence" sends nothing before it closes the connection (decision). So the lab does not
    wait for minutes, as a sender would."""


class NoRoom(RefusalError):
    """There is no room for more content; the sender tries again later."""

    def __init__(self) -> None:
        super().__init__(452, "4.3.1 too many mails at once, try again later")


class Room:
    """Room for `limit_bytes` of content of all connections; `taken` bytes are in use."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.taken = 0
        self.taken_by_strangers = 0


class Share:
    """The part of the room that one connection uses."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._held = 0
        self._held_as_stranger = 0

    def grow(self, size: int, *, stranger: bool) -> bool:
        """Take `size` more bytes; return False, and take nothing, if there is no room."""
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
        """Return all bytes of this share to the room."""
        self._room.taken -= self._held
        self._room.taken_by_strangers -= self._held_as_stranger
        self._held = self._held_as_stranger = 0
