"""The SMTP client of a node: carries transmissions to their next server over a few connections that it
keeps.

Only a 250 after the content counts as delivered (spec: IN-2, OUT-9); whatever else happens, the mail stays
in the queue. Commands go through aiosmtplib; the content does not, because its search for line ends and
dots by regular expression costs ten times what sending does. A connection is used by one transmission at a
time.
"""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Final

from aiosmtplib import (
    SMTP,
    SMTPException,
    SMTPHeloError,
    SMTPResponse,
    SMTPResponseException,
    SMTPServerDisconnected,
)

from transport.hopline import hop_line
from transport.mta_values import RecipientRefusal, SendOutcome, SendState, Transmission
from transport.smtp_data import read_in_small_blocks, stuff

Address = tuple[str, int]
"""Host and port."""

CONNECT_SECONDS: Final = 10.0
"""Real time for the connection, the greeting and EHLO (decision; RFC 5321 4.5.3.2.1 has 5 minutes for
strangers' servers).
"""

COMMAND_SECONDS: Final = 30.0
"""Real time for each answer to MAIL, RCPT or DATA, counted together (decision; RFC 5321 has 2 to 5 minutes)."""

CONTENT_SECONDS: Final = 120.0
"""Real time for the content and the answer to it (decision; RFC 5321 4.5.3.2.6 has 10 minutes)."""

QUIT_SECONDS: Final = 1.0
"""Real time for a polite end; then the connection is closed anyway."""

PARALLEL_LIMIT: Final = 2
"""Connections to one peer at a time (decision): one mail is stored while the next is on the wire."""

MAX_REASON_CHARS: Final = 400
"""How much of a peer's answer is kept as the reason of a failure."""

CODE_START_INPUT: Final = 354
CODE_SERVICE_CLOSING: Final = 421

# What fits between the angle brackets of a command; anything else could end them early.
_ADDRESS = re.compile(r"[!-;=?-~]*")


@dataclass(frozen=True, slots=True)
class SenderLimits:
    """Time-outs in real seconds and the number of connections; see the constants of this module."""

    connect_seconds: float = CONNECT_SECONDS
    command_seconds: float = COMMAND_SECONDS
    content_seconds: float = CONTENT_SECONDS
    parallel: int = PARALLEL_LIMIT


@dataclass(slots=True)
class _Peer:
    """Connections to one address under one greeting name."""

    slots: asyncio.Semaphore
    idle: list[SMTP] = field(default_factory=list)

    def take(self) -> SMTP | None:
        while self.idle:
            client = self.idle.pop()
            if client.is_connected:
                return client
        return None


class _StaleError(Exception):
    """A kept connection turned out to be dead before anything was sent on it."""


class SmtpSender:
    """Sends transmissions; see `send`. One event loop; `close` at the end."""

    def __init__(self, limits: SenderLimits | None = None) -> None:
        self.limits = limits or SenderLimits()
        self.open_transactions = 0
        self.transactions_seen = 0
        self._peers: dict[tuple[str, int, str], _Peer] = {}
        self._closed = False

    async def send(self, address: Address, transmission: Transmission, greeting_name: str) -> SendOutcome:
        """One attempt to hand `transmission` to the server at `address`.

        `greeting_name` is the sending server's name, said in EHLO and in the hop line. Never raises for
        what a peer or a network does; a cancelled attempt counts as not made.
        """
        self.open_transactions += 1
        self.transactions_seen += 1
        try:
            peer = self._peer(address, greeting_name)
            async with peer.slots:
                return await self._send(peer, address, transmission, greeting_name)
        finally:
            self.open_transactions -= 1

    def forget(self, address: Address) -> None:
        """Closes the kept connections to `address`, because it is cut off or has stopped."""
        for (host, port, _), peer in self._peers.items():
            if (host, port) == address:
                _hang_up(peer.idle)

    async def close(self) -> None:
        """Ends the kept connections; attempts under way end theirs when they are through."""
        self._closed = True
        idle = [client for peer in self._peers.values() for client in peer.idle]
        for peer in self._peers.values():
            peer.idle.clear()
        await asyncio.gather(*(_quit(client) for client in idle))

    def _peer(self, address: Address, greeting_name: str) -> _Peer:
        key = (*address, greeting_name)
        if key not in self._peers:
            self._peers[key] = _Peer(asyncio.Semaphore(self.limits.parallel))
        return self._peers[key]

    async def _send(self, peer: _Peer, address: Address, transmission: Transmission, greeting_name: str) -> SendOutcome:
        client = peer.take()
        if client is not None:
            try:
                return await self._attempt(peer, client, transmission, greeting_name, kept=True)
            except _StaleError:
                _hang_up(peer.idle)
        try:
            client = await self._connect(address, greeting_name)
        except (SMTPException, OSError, ValueError) as error:
            return _deferred(f"no connection: {_words(error)}")
        return await self._attempt(peer, client, transmission, greeting_name, kept=False)

    async def _connect(self, address: Address, greeting_name: str) -> SMTP:
        host, port = address
        client = SMTP(hostname=host, port=port, local_hostname=greeting_name, start_tls=False, timeout=None)
        try:
            async with asyncio.timeout(self.limits.connect_seconds):
                await client.connect()
                if client.transport is not None:
                    read_in_small_blocks(client.transport)
                try:
                    await client.ehlo()
                except SMTPHeloError:
                    await client.helo()
        except BaseException:
            client.close()
            raise
        return client

    async def _attempt(
        self, peer: _Peer, client: SMTP, transmission: Transmission, greeting_name: str, *, kept: bool
    ) -> SendOutcome:
        reusable = False
        try:
            outcome = await self._transact(client, transmission, greeting_name, kept=kept)
            reusable = outcome.state is SendState.DELIVERED or await self._reset(client)
        except TimeoutError:
            return _deferred("the peer did not answer in time")
        except (SMTPException, OSError) as error:
            return _deferred(f"the connection failed: {_words(error)}")
        else:
            return outcome
        finally:
            if reusable and not self._closed and client.is_connected:
                peer.idle.append(client)
            else:
                client.close()

    async def _transact(
        self, client: SMTP, transmission: Transmission, greeting_name: str, *, kept: bool
    ) -> SendOutcome:
        """MAIL, RCPT, DATA. Raises SMTPException, OSError or TimeoutError; _StaleError when a kept
        connection died early.
        """
        line = hop_line(greeting_name, transmission.sent_at, transmission.lamport, transmission.priority)
        content = stuff(line, transmission.content)
        if _ADDRESS.fullmatch(transmission.sender) is None:
            return SendOutcome(SendState.REFUSED, "5.1.7 the sender's address cannot be sent by SMTP")
        commands = len(transmission.recipients) + 2
        async with asyncio.timeout(self.limits.command_seconds * commands) as limit:
            path = f"FROM:<{transmission.sender}>".encode("ascii")
            options = [f"SIZE={len(content)}".encode("ascii")] if client.supports_extension("size") else []
            try:
                answer = await client.execute_command(b"MAIL", path, *options, timeout=None)
            except SMTPServerDisconnected as error:
                if kept:
                    raise _StaleError from error
                raise
            if answer.code == CODE_SERVICE_CLOSING and kept:
                raise _StaleError
            if not _is_success(answer):
                return _refused("MAIL", answer)
            refusals = []
            for recipient in transmission.recipients:
                refusal = await _recipient(client, recipient)
                if refusal is not None:
                    refusals.append(refusal)
            if len(refusals) == len(transmission.recipients):
                return _none_accepted(refusals)
            answer = await client.execute_command(b"DATA", timeout=None)
            if answer.code != CODE_START_INPUT:
                return _refused("DATA", answer)
            limit.reschedule(asyncio.get_running_loop().time() + self.limits.content_seconds)
            if client.protocol is None:
                raise SMTPServerDisconnected("the connection ended before the content")
            client.protocol.write(content)
            answer = await client.protocol.read_response(timeout=None)
        if not _is_success(answer):
            return _refused("the content", answer)
        return SendOutcome(SendState.DELIVERED, _words(answer), tuple(refusals))

    async def _reset(self, client: SMTP) -> bool:
        """Ends a transaction that came to nothing; True when the connection can be used again."""
        try:
            async with asyncio.timeout(self.limits.command_seconds):
                return _is_success(await client.execute_command(b"RSET", timeout=None))
        except (SMTPException, OSError):
            return False


async def _recipient(client: SMTP, address: str) -> RecipientRefusal | None:
    if not address or _ADDRESS.fullmatch(address) is None:
        return RecipientRefusal(address, "5.1.3 the address cannot be sent by SMTP", permanent=True)
    answer = await client.execute_command(b"RCPT", f"TO:<{address}>".encode("ascii"), timeout=None)
    if _is_success(answer):
        return None
    return RecipientRefusal(address, _answered("RCPT", answer), permanent=_is_permanent(answer))


def _none_accepted(refusals: list[RecipientRefusal]) -> SendOutcome:
    state = SendState.REFUSED if all(refusal.permanent for refusal in refusals) else SendState.DEFERRED
    reason = "; ".join(dict.fromkeys(refusal.reason for refusal in refusals))
    return SendOutcome(state, reason, tuple(refusals))


def _refused(step: str, answer: SMTPResponse) -> SendOutcome:
    state = SendState.REFUSED if _is_permanent(answer) else SendState.DEFERRED
    return SendOutcome(state, _answered(step, answer))


def _deferred(reason: str) -> SendOutcome:
    return SendOutcome(SendState.DEFERRED, reason)


def _is_success(answer: SMTPResponse) -> bool:
    return 200 <= answer.code < 300


def _is_permanent(answer: SMTPResponse) -> bool:
    return 500 <= answer.code < 600


def _answered(step: str, answer: SMTPResponse) -> str:
    return f"{_words(answer)} (to {step})"


def _words(said: SMTPResponse | BaseException) -> str:
    """An answer or an error as one line of ASCII."""
    if isinstance(said, (SMTPResponse, SMTPResponseException)):
        text = f"{said.code} {said.message}"
    else:
        text = str(said) or type(said).__name__
    return " ".join(text.encode("ascii", "replace").decode("ascii").split())[:MAX_REASON_CHARS]


def _hang_up(clients: list[SMTP]) -> None:
    while clients:
        clients.pop().close()


async def _quit(client: SMTP) -> None:
    try:
        await client.quit(timeout=QUIT_SECONDS)
    except (SMTPException, OSError):
        client.close()
