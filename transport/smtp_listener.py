"""The SMTP server of a node: aiosmtpd with a content reader that works on blocks, strict line ends, and
named limits.

A mail is answered 250 only after the callback that stores it has returned (spec: IN-2). The callback is a
plain function, so nothing can come between the last byte of a mail and its being stored. What is refused
(spec: ML-7): recipients that the check does not know, commands and contents with a lone CR or LF, commands
sent before the reply they depend on (no PIPELINING is offered), everything beyond the limits.

This module leans on names of aiosmtpd that are not public: `_reader`, `_create_envelope`, `_getaddr`,
`_handler_coroutine`, `_cb_client_connected`. tests/unit/test_smtp_contract.py holds the installed version
to them.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from aiosmtpd.smtp import SMTP, Envelope, Session

from transport.errors import TransportError
from transport.hopline import take_hop_line
from transport.mta_values import IncomingHop, RefusalError
from transport.smtp_data import CRLF, MESSAGE_LIMIT_BYTES, DataReader, read_in_small_blocks

AcceptMail = Callable[[IncomingHop, str, Sequence[str], bytes], Awaitable[None] | None]
"""Stores a mail (hop, sender, recipients, content) durably, or raises RefusalError. The sender is '' for
the null sender. It may have to ask somebody first; then what it returns is waited for.
"""

CheckRecipient = Callable[[str], None]
"""Returns when mail to the address is taken here, else raises RefusalError."""

RECIPIENT_LIMIT: Final = 1000
"""Recipients of one mail (decision; RFC 5321 4.5.3.1.8 asks for 100 at least). More are told to come again:
452.
"""

CONNECTION_LIMIT: Final = 200
"""Connections at a time (decision): two from each peer of a large lab, with room for outsiders."""

COMMAND_LINE_LIMIT_BYTES: Final = 512
"""Longest command line (RFC 5321 4.5.3.1.4); aiosmtpd adds room for the parameters of MAIL."""

IDLE_SECONDS: Final = 300.0
"""Real time between two commands, and for one whole DATA (RFC 5321 4.5.3.2.7 asks for 5 minutes)."""

READ_BYTES: Final = 1024 * 1024
"""More than the stream reader ever holds, so one read takes all that has come."""

STREAM_BUFFER_BYTES: Final = 128 * 1024
"""At twice this the stream reader stops reading from the socket."""

MAX_REPLY_CHARS: Final = 400
"""Longest text of a reply (RFC 5321 4.5.3.1.5 allows 512 octets a line)."""

_ANGLE_ADDRESS = re.compile(r"<([^\s<>\"\\,:@]+@[^\s<>\"\\,:@]+|)>[ ]?(.*)")
_NULL_PATH: Final = "<>"

log = logging.getLogger("pflab.smtp")


@dataclass(frozen=True, slots=True)
class ListenerLimits:
    """What one listener allows; see the constants of this module."""

    message_bytes: int = MESSAGE_LIMIT_BYTES
    recipients: int = RECIPIENT_LIMIT
    connections: int = CONNECTION_LIMIT
    idle_seconds: float = IDLE_SECONDS


class SmtpListener:
    """An SMTP server that calls itself `hostname`, checks recipients with `check_recipient` and gives mails
    to `accept`.

    Both callbacks run in the event loop and must not block for long. An exception that is no RefusalError
    is logged, and the peer is told to try again.
    """

    def __init__(
        self,
        hostname: str,
        *,
        accept: AcceptMail,
        check_recipient: CheckRecipient,
        limits: ListenerLimits | None = None,
    ) -> None:
        self.hostname = hostname
        self.accept = accept
        self.check_recipient = check_recipient
        self.limits = limits or ListenerLimits()
        self.sessions: set[_Session] = set()
        self.transactions_seen = 0
        self._server: asyncio.Server | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> tuple[str, int]:
        """Listens, on a free port when `port` is 0; returns the address as it is."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connected, host, port)
        return self.address

    @property
    def address(self) -> tuple[str, int]:
        """Host and port on which this listens; TransportError when it does not."""
        if self._server is None or not self._server.sockets:
            raise TransportError(f"the SMTP listener of {self.hostname} is not started")
        host, port = self._server.sockets[0].getsockname()[:2]
        return str(host), int(port)

    @property
    def open_transactions(self) -> int:
        """Mail transactions that have begun (MAIL) and not ended: with `transactions_seen`, how the lab
        knows it is quiet.
        """
        # spec: TM-1
        return sum(1 for session in self.sessions if session.in_transaction)

    async def stop(self) -> None:
        """Stops listening and hangs up; a mail whose content has not ended is not accepted."""
        if self._server is None:
            return
        self._server.close()
        sessions = list(self.sessions)
        for session in sessions:
            session.hang_up()
        await asyncio.gather(*(session.done() for session in sessions))
        await self._server.wait_closed()
        self._server = None

    def _connected(self) -> asyncio.Protocol:
        if len(self.sessions) >= self.limits.connections:
            return _Busy(self.hostname)
        return cast(asyncio.Protocol, _Session(self))


class _Busy(asyncio.Protocol):
    """A connection beyond the limit: told so, and closed."""

    def __init__(self, hostname: str) -> None:
        self._hostname = hostname

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)
        stream.write(f"421 {self._hostname} 4.3.2 too many connections\r\n".encode("ascii", "replace"))
        stream.close()


class _CrlfReader(asyncio.StreamReader):
    """A stream of command lines that end in CRLF; a line with a lone CR or LF inside comes out as an empty
    one.
    """

    async def readuntil(self, separator: Any = b"\n") -> bytes:
        line = await super().readuntil(CRLF)
        # aiosmtpd answers "500 bad syntax" to an empty line.
        return CRLF if b"\n" in line[:-2] or b"\r" in line[:-2] else line


class _Hooks:
    """What aiosmtpd calls for each command of an envelope."""

    def __init__(self, listener: SmtpListener) -> None:
        self._listener = listener

    async def handle_MAIL(  # noqa: N802 - aiosmtpd looks hooks up by this name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        self._listener.transactions_seen += 1
        return "250 2.1.0 OK"

    async def handle_RCPT(  # noqa: N802 - as above
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if len(envelope.rcpt_tos) >= self._listener.limits.recipients:
            return f"452 4.5.3 more than {self._listener.limits.recipients} recipients"
        try:
            self._listener.check_recipient(address)
        except Exception as error:
            return _reply_to(error)
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"


class _Session(SMTP):
    """One connection."""

    def __init__(self, listener: SmtpListener) -> None:
        self._listener = listener
        # aiosmtpd keeps these in the class and lets every EHLO raise them for all connections.
        self.command_size_limits = _CommandLimits()
        super().__init__(
            _Hooks(listener),
            data_size_limit=listener.limits.message_bytes,
            hostname=listener.hostname,
            ident="pflab",
            timeout=listener.limits.idle_seconds,
            loop=asyncio.get_running_loop(),
        )
        # The base class has just made a reader for short lines ended by LF; ours takes its place.
        reader = _CrlfReader(limit=STREAM_BUFFER_BYTES, loop=self.loop)
        asyncio.StreamReaderProtocol.__init__(
            self, reader, client_connected_cb=self._cb_client_connected, loop=self.loop
        )

    @property
    def in_transaction(self) -> bool:
        """True from the answer to MAIL until the answer that ends the mail."""
        return self.envelope is not None and bool(self.envelope.mail_from)

    def hang_up(self) -> None:
        """Closes the connection after what has been written."""
        if self.transport is not None:
            self.transport.close()

    async def done(self) -> None:
        """Waits for the end of the connection's task."""
        if self._handler_coroutine is not None:
            await asyncio.wait([self._handler_coroutine])

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._listener.sessions.add(self)
        read_in_small_blocks(transport)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._listener.sessions.discard(self)
        super().connection_lost(error)

    async def handle_exception(self, error: Exception) -> str:
        """An error of ours is no reason to send a mail back: 451, never aiosmtpd's 500 with the error in it."""
        return _reply_to(error)

    async def smtp_DATA(self, arg: str | None) -> None:  # noqa: N802 - looked up by name
        """Reads a content in blocks, gives it to the callback, answers."""
        if await self.check_helo_needed():
            return
        if self.envelope is None or not self.envelope.rcpt_tos:
            await self.push("503 5.5.1 need RCPT first")
            return
        if arg:
            await self.push("501 5.5.4 DATA takes no argument")
            return
        await self.push("354 End data with <CR><LF>.<CR><LF>")
        data = DataReader(self._listener.limits.message_bytes)
        ended = False
        while not ended:
            # When the peer goes away, aiosmtpd cancels this task: nothing is accepted.
            chunk = await self._reader.read(READ_BYTES)
            if not chunk:
                raise ConnectionResetError("the connection ended inside DATA")
            ended = data.feed(chunk)
        if data.rest:
            await self.push("554 5.5.0 commands before the reply: no PIPELINING is offered here")
            self.hang_up()
            return
        reply = await self._accept(data, self.envelope)
        self.envelope = self._create_envelope()
        await self.push(reply)

    async def _accept(self, data: DataReader, envelope: Envelope) -> str:
        # spec: IN-2
        try:
            hop, content = take_hop_line(data.content())
            if hop is None:
                hop = IncomingHop((self.session and self.session.host_name) or "", None, 0)
            sender = envelope.mail_from or ""
            if sender == _NULL_PATH:
                sender = ""
            stored = self._listener.accept(hop, sender, tuple(envelope.rcpt_tos), content)
            if stored is not None:
                await stored
        except Exception as error:
            return _reply_to(error)
        return "250 2.0.0 OK"

    def _getaddr(self, arg: str) -> tuple[str | None, str | None]:
        """Path and parameters of MAIL or RCPT. Plain ones, which is all that a store sends, do without the
        email package.
        """
        match = _ANGLE_ADDRESS.fullmatch(arg)
        if match is None:
            address, rest = super()._getaddr(arg)
            return address, rest
        return match[1] or _NULL_PATH, match[2]


class _CommandLimits(dict[str, int]):
    """Command line limits of one connection, in the shape in which aiosmtpd wants them."""

    def __missing__(self, command: str) -> int:
        return COMMAND_LINE_LIMIT_BYTES


def _reply_to(error: Exception) -> str:
    """The reply line for a refusal; any other error is logged, and the peer told to come again."""
    if isinstance(error, RefusalError):
        text = error.text.encode("ascii", "replace").decode("ascii")
        text = "".join(char if char.isprintable() else " " for char in text)
        return f"{error.code} {text[:MAX_REPLY_CHARS]}"
    log.error("an SMTP command failed here", exc_info=error)
    return "451 4.3.0 local error, try again later"
