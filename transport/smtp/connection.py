"""One connection at the listening end: aiosmtpd's, with groups of commands (RFC 2920), the faults of a lab, and limits.

Replies are held back while the next command of a group is at hand, and written together. The verbs that aiosmtpd does
not know are in `transport.smtp.session`.

This module leans on names of aiosmtpd that are not public: `_reader`, `_writer`, `_create_envelope`, `_getaddr`,
`_getparams`, `_smtp_methods`, `_handler_coroutine`, `_cb_client_connected`, `_reset_timeout`,
`_timeout_cb`, `_timeout_duration`, `_timeout_handle`.
tests/transport/smtp/test_contract.py holds the installed version to them.
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
"""Digits of a size that MAIL announces [RFC 1870 6]."""

_FREE: Final = frozenset({"MAIL", "RCPT", "DATA", "BDAT", "XEXCH50", "QUIT", link_state.VERB})
"""Commands that do not count as fruitless; refusals of any command are counted apart."""

log = logging.getLogger("pflab.smtp")


class House(Protocol):
    """What stands behind a connection: the listener."""

    hostname: str
    limits: ListenerLimits
    room: Room
    transactions_seen: int
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
    """The envelope of one mail, with what our verbs add to it."""

    def __init__(self) -> None:
        super().__init__()
        self.chunks: Chunks | None = None
        self.hop: IncomingHop | None = None
        self.refused: CommandRefused | None = None

    @property
    def binary(self) -> bool:
        return _BINARY in self.mail_options


class _Hooks:
    """What aiosmtpd calls for each command of an envelope."""

    def __init__(self, house: House) -> None:
        self._house = house

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
                self._house.check_room(_announced(options))
            except Exception as error:
                return reply_to(error)
        envelope.mail_from = address
        server.began()
        envelope.mail_options.extend(options)
        self._house.transactions_seen += 1
        return "250 2.1.0 OK"

    async def handle_RCPT(  # noqa: N802 - as above
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if len(envelope.rcpt_tos) >= self._house.limits.recipients:
            return f"452 4.5.3 more than {self._house.limits.recipients} recipients"
        try:
            self._house.check_recipient(address)
        except Exception as error:
            return reply_to(error)
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"


class Connection(SMTP):
    """A connection, without the verbs of ours."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.store: str | None = None
        self._held: list[bytes] = []
        self._fruitless = self._refused = 0
        self._share = Share(house.room)
        self._heard_s = self._patience_s = self._begun_s = 0.0
        self._secured = False
        self._chunking = False
        # aiosmtpd keeps these in the class and lets every EHLO raise them for all connections.
        self.command_size_limits = _CommandLimits()
        super().__init__(
            _Hooks(house),
            data_size_limit=house.limits.message_bytes,
            hostname=house.hostname,
            ident="pflab",
            timeout=house.limits.idle_seconds,
            loop=asyncio.get_running_loop(),
        )
        # The base class has just made a reader for short lines ended by LF; ours takes its place.
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
        """True from the answer to MAIL until the answer that ends the mail."""
        return self.envelope is not None and bool(self.envelope.mail_from)

    @property
    def holds_clock(self) -> bool:
        """True while a mail is on its way in that the lab waits for; for one of a stranger it does not wait for ever."""
        # spec: TM-1, ML-7
        patience_s = self._house.limits.holding_seconds
        return self.in_transaction and (self.store is not None or self.loop.time() < self._begun_s + patience_s)

    @property
    def address(self) -> str:
        """The machine at the other end."""
        peer = cast(Any, self.session).peer
        return str(peer[0]) if isinstance(peer, tuple) and peer else ""

    @property
    def peer_name(self) -> str:
        """Who the other end has proven, or else says, to be."""
        return self.store or (self.session.host_name if self.session is not None else None) or ""

    @property
    def _mail(self) -> "MailEnvelope":
        return cast(MailEnvelope, self.envelope)

    @property
    def _lines(self) -> CommandReader:
        return cast(CommandReader, self._reader)

    def began(self) -> None:
        """A mail begins."""
        self._begun_s = self.loop.time()

    def hang_up(self) -> None:
        """Closes the connection after what has been written; commands that have come already are not obeyed."""
        self._flush()
        self._lines.forget()
        if self.transport is not None:
            self.transport.close()

    async def done(self) -> None:
        """Waits for the end of the connection's task."""
        if self._handler_coroutine is not None:
            await asyncio.wait([self._handler_coroutine])

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._house.sessions.add(self)
        read_in_small_blocks(transport)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._house.sessions.discard(self)
        self._share.free()
        super().connection_lost(error)

    async def push(self, status: str | bytes) -> None:
        """A reply, held back while the next command of a group is at hand."""
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
        """An error of ours is no reason to send a mail back: 451, never aiosmtpd's 500 with the error in it."""
        return reply_to(error)

    def extensions(self) -> list[str]:
        """What EHLO is answered, but for the last line."""
        raise NotImplementedError

    # --- the time between commands

    def _reset_timeout(self, duration: float | None = None) -> None:
        """Notes when the last command came. One timer runs, and looks again when it is over: a timer a command would
        cost a tenth of a small mail.
        """
        self._heard_s = self.loop.time()
        self._patience_s = duration or self._timeout_duration
        if self._timeout_handle is None:
            self._timeout_handle = self.loop.call_later(self._patience_s, self._timeout_cb)

    def _timeout_cb(self) -> None:
        left_s = self._heard_s + self._patience_s - self.loop.time()
        if left_s > 0:
            self._timeout_handle = self.loop.call_later(left_s, self._timeout_cb)
        elif self.transport is not None:
            self.transport.close()

    # --- every command

    async def _run(self, name: str, method: Callable[[str | None], Awaitable[None]], arg: str | None) -> None:
        """One command, unless a fault takes its place or there were too many to no purpose."""
        # spec: ML-7
        self._fruitless += name not in _FREE
        limits = self._house.limits
        if self._fruitless > limits.fruitless_commands or self._refused > limits.refused_commands:
            await self.push("421 4.7.0 too many commands and no mail")
            self.hang_up()
            return
        verb = _VERBS.get(name)
        if verb is not None and self._in_order(verb):
            peer = arg or "" if verb is Verb.EHLO else self.peer_name
            fault = await self._house.on_verb(peer, verb)
            if fault is not None and fault.mishap is Mishap.REPLY and verb is Verb.XEXCH50:
                await self.refuse(verb, arg, fault.line)
                if fault.code == CODE_CLOSING:
                    self.hang_up()
                return
            if await self._mishap(fault):
                return
        await method(arg)

    async def refuse(self, verb: str, arg: str | None, reply: str) -> None:
        """Refuses a command of which the log is to tell, once the mail is there.  # spec: EV-1"""
        self._mail.refused = CommandRefused(plain(f"{verb} {arg or ''}".strip()), reply)
        await self.push(reply)

    def _in_order(self, verb: Verb) -> bool:
        """Whether a command would be obeyed where it stands; a fault falls on no other."""
        if verb is Verb.RCPT:
            return self.in_transaction
        return verb not in _AFTER_RCPT or bool(self._mail.rcpt_tos)

    async def _mishap(self, fault: VerbFault | None) -> bool:
        """Does what a fault says; False when there is none."""
        if fault is None:
            return False
        if fault.mishap is Mishap.REPLY:
            await self.push(fault.line)
            if fault.code == CODE_CLOSING:
                self.hang_up()
            return True
        self._flush()
        if fault.mishap is Mishap.SILENCE:
            await asyncio.sleep(self._house.limits.silence_seconds)
        self._lines.forget()  # what has come may be the content of a chunk, and is not obeyed
        if self.transport is not None:
            cast(asyncio.Transport, self.transport).abort()
        return True

    def has_room(self, size: int) -> bool:
        """Takes room for `size` bytes of content more; False if there is none."""
        return self._share.grow(size, stranger=self.store is None)

    # --- what aiosmtpd asks

    def _create_envelope(self) -> MailEnvelope:
        self._share.free()
        return MailEnvelope()

    def _getaddr(self, arg: str) -> tuple[str | None, str | None]:
        """Path and parameters of MAIL or RCPT. Plain ones, which is all that a store sends, do without the
        email package.
        """
        match = _ANGLE_ADDRESS.fullmatch(arg)
        if match is None:
            address, rest = super()._getaddr(arg)
            return address, rest
        return match[1] or NULL_PATH, match[2]

    def _getparams(self, params: Sequence[str]) -> dict[str, str | bool] | None:
        """The parameters of MAIL or RCPT; BODY=BINARYMIME, which aiosmtpd does not know, is ours to know."""
        found: dict[str, str | bool] | None = super()._getparams(params)
        if found is not None and found.get("BODY") == "BINARYMIME" and self._chunking:
            del found["BODY"]
        return found


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
"""Commands at which a fault takes the place of the whole command; BDAT and the end of data look to themselves."""

_AFTER_RCPT: Final = frozenset({Verb.XEXCH50, Verb.DATA})


class _CommandLimits(dict[str, int]):
    """Command line limits of one connection, in the shape in which aiosmtpd wants them."""

    def __missing__(self, command: str) -> int:
        return COMMAND_LINE_LIMIT_BYTES


def _announced(options: Sequence[str]) -> int:
    """The size that MAIL says the content has; 0 where it says none."""
    sizes = [option[5:] for option in options if option.upper().startswith("SIZE=")]
    return int(sizes[0]) if sizes and sizes[0].isdigit() and len(sizes[0]) <= MOST_SIZE_DIGITS else 0


def reply_to(error: Exception) -> str:
    """The reply line for a refusal; any other error is logged, and the peer told to come again."""
    if isinstance(error, RefusalError):
        return f"{error.code} {plain(error.text)}"
    log.error("an SMTP command failed here", exc_info=error)
    return "451 4.3.0 local error, try again later"


def plain(text: str) -> str:
    """A text as one line of a reply."""
    text = text.encode("ascii", "replace").decode("ascii")
    return "".join(char if char.isprintable() else " " for char in text)[:MAX_REPLY_CHARS]
