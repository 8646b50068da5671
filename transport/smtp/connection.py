"""One connection of the listener: the steps of every command. `transport.smtp.session` has the verbs.

aiosmtpd reads a command line and calls the method of its verb. `Connection` puts these steps around each call:

1. Count the command. After too many commands without a mail, or too many refused commands, reply 421 and close (spec: ML-7).
2. If the command would be obeyed, ask the lab whether a fault acts on this verb. The fault replaces the command: it sends
   another reply, closes the connection, or sends nothing for a while and then closes it.
3. Call the method of the verb.
4. Keep the reply if the next command of a group has already arrived (PIPELINING, RFC 2920). After the last command, write all
   replies at once.

Example: the peer writes MAIL, RCPT and XEXCH50 together. The replies to MAIL and RCPT wait; the reply to XEXCH50 is the last
of the group, so the server writes three replies in one packet.

What must never happen:

- A command that is obeyed after the reply 421, or after a fault closed the connection. So commands that have already arrived
  are dropped.
- A fault that acts on a command which would be refused anyway. A test of this fault would then pass without the fault.
- A reply 5xx for an error of this program, because the peer would return the mail to its sender. So the reply is 451, and the
  log has the error.

This module uses names of aiosmtpd that are not public: `_reader`, `_writer`, `_create_envelope`, `_getaddr`, `_getparams`,
`_smtp_methods`, `_handler_coroutine`, `_cb_client_connected`, `_reset_timeout`, `_timeout_cb`, `_timeout_duration`,
`_timeout_handle`; and `_over_ssl` of asyncio. tests/transport/smtp/test_contract.py checks that the installed version has them.
"""

import asyncio
import logging
import re
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol, cast

from aiosmtpd.smtp import SMTP, Envelope, Session

from transport.envelope import CommandRefused, IncomingHop, IncomingMail, Offers, RefusalError
from transport.protocol import link_state
from transport.protocol.fault_points import Mishap, Verb, VerbFault
from transport.smtp.bdat import Chunks
from transport.smtp.data import CommandReader, read_in_small_blocks
from transport.smtp.limits import (
    COMMAND_LINE_LIMIT_BYTES,
    MAX_REPLY_CHARS,
    STREAM_BUFFER_BYTES,
    ListenerLimits,
    Room,
    Share,
)

_ANGLE_ADDRESS = re.compile(r"<([^\s<>\"\\,:@]+@[^\s<>\"\\,:@]+|)>[ ]?(.*)")
NULL_PATH: Final = "<>"
_BINARY: Final = "BODY=BINARYMIME"
CODE_CLOSING: Final = 421
MOST_SIZE_DIGITS: Final = 20
"""Largest number of digits of a size that MAIL announces [RFC 1870 6]."""

_FREE: Final = frozenset({"MAIL", "RCPT", "DATA", "BDAT", "XEXCH50", "QUIT", link_state.VERB})
"""Commands that do not count towards `fruitless_commands`. Refused commands are counted separately."""

log = logging.getLogger("pflab.smtp")


class Listener(Protocol):
    """The attributes of the listener that a connection uses."""

    hostname: str
    limits: ListenerLimits
    room: Room
    sessions: set[Any]
    tls: ssl.SSLContext | None

    def offers(self) -> Offers: ...
    def check_recipient(self, address: str) -> None: ...
    def check_room(self, size: int) -> None: ...
    def accept(self, hop: IncomingHop, mail: IncomingMail) -> Awaitable[None] | None: ...
    def verify_peer(self, store: str, certificate: bytes, signature: bytes, data: bytes) -> bool: ...
    def on_verb(self, peer: str, verb: Verb, /) -> Awaitable[VerbFault | None]: ...
    def link_state(self, peer: str, line: str) -> None: ...


class MailEnvelope(Envelope):
    """The envelope of one mail, with the values of BDAT and XEXCH50."""

    def __init__(self) -> None:
        super().__init__()
        self.chunks: Chunks | None = None
        self.hop: IncomingHop | None = None
        self.refused: CommandRefused | None = None

    @property
    def binary(self) -> bool:
        return _BINARY in self.mail_options


class _Hooks:
    """The methods that aiosmtpd calls for each command of an envelope."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    async def handle_EHLO(  # noqa: N802 - aiosmtpd looks hooks up by this name
        self, server: "Connection", session: Session, envelope: Envelope, hostname: str, replies: list[str]
    ) -> list[str]:
        session.host_name = hostname
        return [f"250-{line}" for line in server.extensions()] + ["250 XEXCH50"]

    async def handle_MAIL(  # noqa: N802 - as above
        self, server: "Connection", session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if server.store is None:
            try:
                self._listener.check_room(_announced(options))
            except Exception as error:
                return reply_to(error)
        envelope.mail_from = address
        server.began()
        envelope.mail_options.extend(options)
        return "250 2.1.0 OK"

    async def handle_RCPT(  # noqa: N802 - as above
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if len(envelope.rcpt_tos) >= self._listener.limits.recipients:
            return f"452 4.5.3 more than {self._listener.limits.recipients} recipients"
        try:
            self._listener.check_recipient(address)
        except Exception as error:
            return reply_to(error)
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"


class Connection(SMTP):
    """A connection with the verbs of aiosmtpd."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.store: str | None = None
        self._held: list[bytes] = []
        self._fruitless = self._refused = 0
        self._share = Share(listener.room)
        self._heard_s = self._patience_s = self._begun_s = self._came_s = 0.0
        self._abort: asyncio.TimerHandle | None = None
        self._secured = False
        self._chunking = False
        # aiosmtpd keeps these limits in the class, and every EHLO raises them for all connections.
        self.command_size_limits = _CommandLimits()
        super().__init__(
            _Hooks(listener),
            data_size_limit=listener.limits.message_bytes,
            hostname=listener.hostname,
            ident="pflab",
            timeout=listener.limits.idle_seconds,
            loop=asyncio.get_running_loop(),
        )
        # Replace the reader of the base class, which is for short lines that end in LF.
        reader = CommandReader(limit=STREAM_BUFFER_BYTES, loop=self.loop)
        asyncio.StreamReaderProtocol.__init__(
            self, reader, client_connected_cb=self._cb_client_connected, loop=self.loop
        )
        methods = {name.replace("_", "-"): method for name, method in self._smtp_methods.items()}
        self._smtp_methods = {name: partial(self._run, name, method) for name, method in methods.items()}
        self.command_size_limits[link_state.VERB] = link_state.LINE_LIMIT_BYTES

    # --- the connection

    @property
    def in_transaction(self) -> bool:
        """True from the reply to MAIL until the reply that ends the mail."""
        return self.envelope is not None and bool(self.envelope.mail_from)

    @property
    def holds_clock(self) -> bool:
        """True while a mail is arriving for which the lab's clock waits. For a stranger's mail the clock waits while bytes
        arrive, but only a limited time."""
        # spec: TM-1, ML-7
        if not self.in_transaction or self.store is not None:
            return self.in_transaction
        limits = self._listener.limits
        holds_until_s = min(self._came_s + limits.holding_seconds, self._begun_s + limits.idle_seconds)
        return self.loop.time() < holds_until_s

    @property
    def address(self) -> str:
        """Return the IP address of the peer; '' if it has none."""
        peer = cast(Any, self.session).peer
        return str(peer[0]) if isinstance(peer, tuple) and peer else ""

    @property
    def heard_s(self) -> float:
        """The event loop's time when the last command began; when the connection began if there was no command."""
        return self._heard_s

    @property
    def closing(self) -> bool:
        """True if the connection is being closed."""
        return self.transport is None or self.transport.is_closing()

    def make_room(self) -> None:
        """Close the connection because another one needs its room. If the peer has not read its replies, it gets no more time
        to do so."""
        self._held.append(b"421 %b 4.3.2 too many connections" % self.hostname.encode("ascii", "replace"))
        self.hang_up()
        transport = cast(asyncio.Transport, self.transport)
        if transport.get_write_buffer_size():
            transport.abort()

    @property
    def peer_name(self) -> str:
        """Return the name that the peer proved by AUTH, or else its name in EHLO."""
        return self.store or (self.session.host_name if self.session is not None else None) or ""

    @property
    def _mail(self) -> "MailEnvelope":
        return cast(MailEnvelope, self.envelope)

    @property
    def _lines(self) -> CommandReader:
        return cast(CommandReader, self._reader)

    def began(self) -> None:
        """Note that a mail begins."""
        self._begun_s = self.loop.time()

    def hang_up(self) -> None:
        """Close the connection after the replies are written. Commands that have already arrived are dropped.

        The peer gets `closing_seconds` to read the replies, because a peer that never reads would keep the connection open.
        """
        self._flush()
        self._lines.forget()
        if self.transport is not None and self._abort is None:
            self.transport.close()
            stream = cast(asyncio.Transport, self.transport)
            self._abort = self.loop.call_later(self._listener.limits.closing_seconds, stream.abort)

    async def done(self) -> None:
        """Wait for the end of the connection's task."""
        if self._handler_coroutine is not None:
            await asyncio.wait([self._handler_coroutine])

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._listener.sessions.add(self)
        read_in_small_blocks(transport)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._listener.sessions.discard(self)
        self._share.free()
        if self._abort is not None:
            self._abort.cancel()  # Python 3.11.2 logs an error if a TLS connection that has ended is aborted
        # Nobody waits for the error of a lost connection, so asyncio would log its traceback.
        super().connection_lost(None)

    def data_received(self, data: bytes) -> None:
        self._came_s = self.loop.time()
        super().data_received(data)

    async def push(self, status: str | bytes) -> None:
        """Write a reply, or keep it while the next command of a group has already arrived."""
        reply = status.encode("ascii") if isinstance(status, str) else status
        self._refused += reply[:1] in {b"4", b"5"}
        self._held.append(reply)
        if not self._lines.has_line:
            self._flush()
            await self._writer.drain()

    def _flush(self) -> None:
        if self._held:
            self._writer.write(b"\r\n".join([*self._held, b""]))
            self._held.clear()

    async def handle_exception(self, error: Exception) -> str:
        """Return 451 for an error of this program. aiosmtpd would return 500 with the text of the error."""
        return reply_to(error)

    def extensions(self) -> list[str]:
        """Return the lines of the reply to EHLO, without the last one."""
        raise NotImplementedError

    # --- the time between commands

    def _reset_timeout(self, duration: float | None = None) -> None:
        """Note the time of the last command. A connection has one timer, which starts again if it fires too early. With a timer
        for each command, a small mail would take a tenth longer.
        """
        self._heard_s = self.loop.time()
        self._patience_s = duration or self._timeout_duration
        if self._timeout_handle is None:
            self._timeout_handle = self.loop.call_later(self._patience_s, self._timeout_cb)

    def _timeout_cb(self) -> None:
        left_s = self._heard_s + self._patience_s - self.loop.time()
        if left_s > 0:
            self._timeout_handle = self.loop.call_later(left_s, self._timeout_cb)
        else:
            self.hang_up()

    # --- every command

    async def _run(self, name: str, method: Callable[[str | None], Awaitable[None]], arg: str | None) -> None:
        """Handle one command; the module's docstring has the steps."""
        # spec: ML-7
        self._fruitless += name not in _FREE
        limits = self._listener.limits
        if self._fruitless > limits.fruitless_commands or self._refused > limits.refused_commands:
            await self.push("421 4.7.0 too many commands without a mail")
            self.hang_up()
            return
        if name in _ONLY_IN_TLS and self._listener.tls is not None and not self._secured:
            await self.push("530 5.7.0 Must issue a STARTTLS command first")
            return
        verb = _VERBS.get(name)
        if verb is not None and self._in_order(verb):
            peer = arg or "" if verb is Verb.EHLO else self.peer_name
            fault = await self._listener.on_verb(peer, verb)
            if fault is not None and fault.mishap is Mishap.REPLY and verb is Verb.XEXCH50:
                await self.refuse(verb, arg, fault.line)
                if fault.code == CODE_CLOSING:
                    self.hang_up()
                return
            if await self._apply_fault(fault):
                return
        await method(arg)

    async def refuse(self, verb: str, arg: str | None, reply: str) -> None:
        """Refuse a command and remember it for the application log, which records it with the mail.  # spec: EV-1"""
        self._mail.refused = CommandRefused(plain(f"{verb} {arg or ''}".strip()), reply)
        await self.push(reply)

    def _in_order(self, verb: Verb) -> bool:
        """Return whether a command would be obeyed in the present state. A fault may act only on such a command."""
        if verb is Verb.RCPT:
            return self.in_transaction
        return verb not in _AFTER_RCPT or bool(self._mail.rcpt_tos)

    async def _apply_fault(self, fault: VerbFault | None) -> bool:
        """Apply a fault; return False if there is none."""
        if fault is None:
            return False
        if fault.mishap is Mishap.REPLY:
            await self.push(fault.line)
            if fault.code == CODE_CLOSING:
                self.hang_up()
            return True
        self._flush()
        if fault.mishap is Mishap.SILENCE:
            await asyncio.sleep(self._listener.limits.silence_seconds)
        self._lines.forget()  # the bytes that have arrived may be the content of a chunk, not commands
        if self.transport is not None:
            cast(asyncio.Transport, self.transport).abort()
        return True

    def has_room(self, size: int) -> bool:
        """Reserve room for `size` more bytes of content; return False if there is none."""
        return self._share.grow(size, stranger=self.store is None)

    # --- what aiosmtpd asks

    def _create_envelope(self) -> MailEnvelope:
        self._share.free()
        return MailEnvelope()

    def _getaddr(self, arg: str) -> tuple[str | None, str | None]:
        """Return path and parameters of MAIL or RCPT. The plain form, which stores send, is read without the email package."""
        match = _ANGLE_ADDRESS.fullmatch(arg)
        if match is None:
            try:
                address, rest = super()._getaddr(arg)
            except IndexError:  # of the email package, for a path that ends too early: `<b@`
                return None, None
            return address, rest
        return match[1] or NULL_PATH, match[2]

    def _getparams(self, params: Sequence[str]) -> dict[str, str | bool] | None:
        """Return the parameters of MAIL or RCPT. BODY=BINARYMIME is handled here, because aiosmtpd does not know it."""
        parsed: dict[str, str | bool] | None = super()._getparams(params)
        if parsed is not None and parsed.get("BODY") == "BINARYMIME" and self._chunking:
            del parsed["BODY"]
        return parsed


_VERBS: Final = {
    "EHLO": Verb.EHLO,
    "STARTTLS": Verb.STARTTLS,
    "AUTH": Verb.AUTH,
    "MAIL": Verb.MAIL,
    "RCPT": Verb.RCPT,
    "XEXCH50": Verb.XEXCH50,
    "DATA": Verb.DATA,
    "QUIT": Verb.QUIT,
}
"""Commands that a fault can replace; `smtp_BDAT` and the end of data ask for their faults themselves."""

_ONLY_IN_TLS: Final = frozenset({"AUTH", "MAIL"})
"""Commands that a server with a certificate refuses without TLS (RFC 3207 4)."""

_AFTER_RCPT: Final = frozenset({Verb.XEXCH50, Verb.DATA})


class _CommandLimits(dict[str, int]):
    """Limits of command lines of one connection, in the form that aiosmtpd uses."""

    def __missing__(self, command: str) -> int:
        return COMMAND_LINE_LIMIT_BYTES


def _announced(options: Sequence[str]) -> int:
    """Return the size that MAIL announces; 0 if it announces none."""
    sizes = [option[5:] for option in options if option.upper().startswith("SIZE=")]
    return int(sizes[0]) if sizes and sizes[0].isdecimal() and len(sizes[0]) <= MOST_SIZE_DIGITS else 0


def reply_to(error: Exception) -> str:
    """Return the reply line for a refusal. Any other error is logged, and the reply tells the peer to try again."""
    if isinstance(error, RefusalError):
        return f"{error.code} {plain(error.text)}"
    log.error("an SMTP command failed here", exc_info=error)
    return "451 4.3.0 local error, try again later"


def plain(text: str) -> str:
    """Return a text as one line of a reply, in printable ASCII."""
    text = text.encode("ascii", "replace").decode("ascii")
    return "".join(char if char.isprintable() else " " for char in text)[:MAX_REPLY_CHARS]
