"""Sends one mail over a connection: MAIL, RCPT, XEXCH50, and the content by BDAT or DATA.

A mail takes one round trip (turn), or more:

    turns   what the peer offers                what is sent in each turn
    1       BDAT, XEXCH50 and X-BLOB-AHEAD      everything, unless the content is large
    2       PIPELINING and BDAT                 MAIL, RCPT and XEXCH50; the blob and the content
    more    less                                each command, the blob, the content

In one turn, the sender does not yet know whether the peer accepts XEXCH50. So the content begins with the hop line, as for a
peer that does not. The content bypasses aiosmtplib, whose search for line ends and dots by regular expression takes ten times
as long as sending.

# spec: ML-3, ML-4
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from aiosmtplib import SMTPResponse, SMTPResponseException, SMTPServerDisconnected

from transport.envelope import CommandRefused, RecipientRefusal, SendOutcome, SendState, Transmission
from transport.errors import CodecError
from transport.mime.message import as_seven_bit, is_binary
from transport.protocol import xexch50
from transport.protocol.hop_headers import hop_line
from transport.protocol.link_state import VERB
from transport.smtp.client import HungUp, StoreClient
from transport.smtp.data import stuff

MAX_REASON_CHARS: Final = 400
"""How many characters of a peer's answer are kept as the reason of a failure."""

AHEAD_BYTES: Final = 32 * 1024
"""The largest content that is sent before the peer has accepted the envelope. A larger content would be sent in vain too often,
and for it an additional turn takes only a small part of the time."""

CODE_START_INPUT: Final = 354
CODE_SERVICE_CLOSING: Final = 421

# The characters that are allowed between the angle brackets of a command. Others could end the command early.
_ADDRESS = re.compile(r"[!-;=?-~]*")


class StaleError(Exception):
    """The peer closed a kept connection before the mail was sent."""


class Patience(Protocol):
    """Real time to wait for answers."""

    @property
    def command_seconds(self) -> float: ...
    @property
    def content_seconds(self) -> float: ...


@dataclass(frozen=True, slots=True)
class _Prepared:
    """One mail in the form that the peer takes.

    `line`: the hop line, for a peer that does not take the blob of XEXCH50.
    """

    command: bytes
    recipients: tuple[str, ...]
    blob: bytes
    line: bytes
    content: bytes
    chunking: bool

    @property
    def sendable(self) -> list[str]:
        """The recipients that a command can contain."""
        return [address for address in self.recipients if address and _ADDRESS.fullmatch(address)]

    def commands(self, blob: bytes) -> list[bytes]:
        """Return the commands of the envelope; `blob` is that of XEXCH50, or empty."""
        lines = [self.command, *(b"RCPT TO:<%b>" % address.encode("ascii") for address in self.sendable)]
        return [*lines, xexch50.command(blob, len(self.recipients))] if blob else lines

    def chunk(self, line: bytes) -> bytes:
        """Return the content as the only chunk, after `line`."""
        return b"BDAT %d LAST\r\n%b%b" % (len(line) + len(self.content), line, self.content)


@dataclass(slots=True)
class _Answers:
    """The answers to a mail.

    `refused`: the outcome if the mail was not sent at all.
    """

    refusals: tuple[RecipientRefusal, ...] = ()
    refused: SendOutcome | None = None
    properties: SMTPResponse | None = None
    content: SMTPResponse | None = None


async def transact(
    client: StoreClient, transmission: Transmission, greeting_name: str, patience: Patience, *, kept: bool
) -> SendOutcome:
    """Send one mail or one call, and return the outcome.

    Raise SMTPException, OSError or TimeoutError if the connection fails; raise StaleError if a kept connection was already
    closed.
    """
    if transmission.is_call or client.told_links != transmission.links:
        async with asyncio.timeout(patience.command_seconds):
            links_answer = await _tell_links(client, transmission.links, kept=kept)
        if transmission.is_call:
            return SendOutcome(SendState.DELIVERED, links_answer)
    if _ADDRESS.fullmatch(transmission.sender) is None:
        return SendOutcome(SendState.REFUSED, "5.1.7 the sender's address cannot be sent by SMTP")
    try:
        mail = _prepared(client, transmission, greeting_name)
    except CodecError as error:
        return SendOutcome(SendState.REFUSED, f"5.6.1 {transmission.next_hop} does not accept binary mail: {error}")
    for_commands_s = patience.command_seconds * (len(transmission.recipients) + 3)
    if mail.blob and mail.chunking and len(mail.content) <= AHEAD_BYTES and client.supports_extension(xexch50.AHEAD):
        async with asyncio.timeout(for_commands_s + patience.content_seconds):
            answers = await _send_whole(client, mail, kept=kept)
    else:
        async with asyncio.timeout(for_commands_s) as limit:
            answers = await _send_envelope(client, mail, kept=kept)
            if answers.refused is None:
                limit.reschedule(asyncio.get_running_loop().time() + patience.content_seconds)
                await _send_content(client, mail, answers)
    if answers.refused is not None:
        return answers.refused
    properties = answers.properties
    assert answers.content is not None, "the content was sent"
    ordinary = _ordinary(client, transmission, properties)
    if not is_success(answers.content):
        return refused("the content", answers.content).explained(ordinary)
    command = xexch50.command(mail.blob, len(mail.recipients)).decode("ascii")
    return SendOutcome(
        SendState.DELIVERED,
        words(answers.content),
        answers.refusals,
        ordinary,
        None if properties is None or is_success(properties) else CommandRefused(command, words(properties)),
    )


def _prepared(client: StoreClient, transmission: Transmission, greeting_name: str) -> _Prepared:
    """Return a mail in the form that the peer takes. Raise `CodecError` if there is none."""
    chunking = client.supports_extension("chunking")
    content = transmission.content
    binary = is_binary(content)
    if binary and not (chunking and client.supports_extension("binarymime")):
        content, binary = as_seven_bit(content), False  # spec: ML-4
    line = blob = b""
    if transmission.outside is None:  # only servers of the lab see hop lines and XEXCH50
        line = hop_line(greeting_name, transmission.sent_at, transmission.lamport, transmission.priority)
        if not transmission.x400 and client.supports_extension("xexch50"):
            hop = transmission.hop_from(greeting_name, authenticated=client.authenticated)
            blob = xexch50.encode(hop, transmission.recipients)
    options = _options(client, len(line) + len(content), binary=binary)
    command = b"MAIL FROM:<%b>%b" % (transmission.sender.encode("ascii"), options)
    return _Prepared(command, transmission.recipients, blob, line, content, chunking)


async def _tell_links(client: StoreClient, links: tuple[str, ...], *, kept: bool) -> str:
    """Send the reports of links to a store, or NOOP to any other server; return the last answer."""
    # spec: RT-2
    is_peer = client.authenticated and client.supports_extension(VERB)
    lines = [f"{VERB} {line}".encode("ascii") for line in links] if is_peer else []
    commands = b"\r\n".join([*(lines or [b"NOOP"]), b""])
    try:
        answers = await client.exchange(commands, max(1, len(lines)))
    except SMTPServerDisconnected as error:
        if kept:
            raise StaleError from error
        raise
    if answers[-1].code == CODE_SERVICE_CLOSING:
        if kept:
            raise StaleError
        raise SMTPResponseException(answers[-1].code, answers[-1].message)
    client.told_links = links
    return words(answers[-1])


def _options(client: StoreClient, size: int, *, binary: bool) -> bytes:
    size_option = b" SIZE=%d" % size if client.supports_extension("size") else b""
    return size_option + (b" BODY=BINARYMIME" if binary else b"")


async def _send_whole(client: StoreClient, mail: _Prepared, *, kept: bool) -> _Answers:
    """Send a mail in one turn."""
    lines = mail.commands(b"")
    commands = b"\r\n".join([*lines, xexch50.command_ahead(mail.blob, len(mail.recipients))]) + mail.chunk(mail.line)
    replies = await _exchanged(client, commands, len(lines) + 2, len(lines) + 1, kept=kept)
    answers = _read(mail, replies[:-1], kept=kept)
    answers.content = replies[-1]
    return answers


async def _send_envelope(client: StoreClient, mail: _Prepared, *, kept: bool) -> _Answers:
    """Send MAIL, RCPT and XEXCH50, together or one by one."""
    lines = mail.commands(mail.blob)
    if client.supports_extension("pipelining"):
        replies = await _exchanged(client, b"\r\n".join([*lines, b""]), len(lines), len(lines), kept=kept)
    else:
        try:
            replies = await _one_by_one(client, lines)
        except SMTPServerDisconnected as error:
            if kept:
                raise StaleError from error
            raise
        replies += [replies[-1]] * (len(lines) - len(replies))
    return _read(mail, replies, kept=kept)


async def _send_content(client: StoreClient, mail: _Prepared, answers: _Answers) -> None:
    """Send the blob if the peer takes it, and the content."""
    is_carried = answers.properties is not None and answers.properties.code == CODE_START_INPUT
    blob, line = (mail.blob, b"") if is_carried else (b"", mail.line)
    if mail.chunking:
        *before, answers.content = await client.exchange(blob + mail.chunk(line), 2 if is_carried else 1)
        if before:
            answers.properties = before[0]
        return
    if is_carried:
        answers.properties = (await client.exchange(blob, 1))[0]
    go_ahead = await client.command(b"DATA")
    if go_ahead.code != CODE_START_INPUT:
        answers.refused = refused("DATA", go_ahead)
        return
    answers.content = (await client.exchange(stuff(line, mail.content), 1))[0]


async def _exchanged(
    client: StoreClient, data: bytes, replies: int, commands: int, *, kept: bool
) -> list[SMTPResponse]:
    """Send a group and return all its replies; after a reply 421, which is the last one, repeat it for the rest.

    Raise StaleError if a kept connection ends before the replies to the first `commands` commands.
    """
    try:
        answers = await client.exchange(data, replies)
    except HungUp as error:
        if kept and error.replies < commands:
            raise StaleError from error
        raise
    return answers + [answers[-1]] * (replies - len(answers))


def _read(mail: _Prepared, replies: Sequence[SMTPResponse], *, kept: bool) -> _Answers:
    """Return the answers to the commands of an envelope."""
    if replies[0].code == CODE_SERVICE_CLOSING and kept:
        raise StaleError
    if not is_success(replies[0]):
        return _Answers(refused=refused("MAIL", replies[0]))
    replies_of = dict(zip(mail.sendable, replies[1:], strict=False))
    refusals = tuple(refusal for address in mail.recipients if (refusal := _refusal(address, replies_of.get(address))))
    none_taken = _none_accepted(refusals) if len(refusals) == len(mail.recipients) else None
    return _Answers(refusals, none_taken, replies[-1] if mail.blob else None)


async def _one_by_one(client: StoreClient, lines: list[bytes]) -> list[SMTPResponse]:
    """Send the lines one by one and return the answers. Stop if MAIL or every RCPT is refused."""
    answers: list[SMTPResponse] = []
    for line in lines:
        if line.startswith(b"XEXCH50") and not any(map(is_success, answers[1:])):
            break
        answers.append(await client.command(line))
        if answers[-1].code == CODE_SERVICE_CLOSING or not is_success(answers[0]):
            break
    return answers


def _refusal(address: str, answer: SMTPResponse | None) -> RecipientRefusal | None:
    if answer is None:
        return RecipientRefusal(address, "5.1.3 the address cannot be sent by SMTP", permanent=True)
    if is_success(answer):
        return None
    return RecipientRefusal(address, _answered("RCPT", answer), permanent=_is_permanent(answer))


def _none_accepted(refusals: tuple[RecipientRefusal, ...]) -> SendOutcome:
    state = SendState.REFUSED if all(refusal.permanent for refusal in refusals) else SendState.DEFERRED
    reason = "; ".join(dict.fromkeys(refusal.reason for refusal in refusals))
    return SendOutcome(state, reason, refusals)


def _ordinary(client: StoreClient, transmission: Transmission, properties: SMTPResponse | None) -> str:
    """Return why a system message was sent as ordinary mail; '' if it was sent as a system message."""
    # spec: ML-3
    if not transmission.system or (properties is not None and is_success(properties)):
        return ""
    return "XEXCH50 is not offered" if properties is None else _answered("XEXCH50", properties)


def refused(step: str, answer: SMTPResponse) -> SendOutcome:
    """Return the outcome of a step that was refused."""
    state = SendState.REFUSED if _is_permanent(answer) else SendState.DEFERRED
    return SendOutcome(state, _answered(step, answer))


def unreachable(reason: str) -> SendOutcome:
    """Return the outcome of an attempt that nobody answered."""
    return SendOutcome(SendState.DEFERRED, reason, unreachable=True)


def is_success(answer: SMTPResponse) -> bool:
    """Return whether an answer is 2xx."""
    return 200 <= answer.code < 300


def _is_permanent(answer: SMTPResponse) -> bool:
    return 500 <= answer.code < 600


def _answered(step: str, answer: SMTPResponse) -> str:
    return f"{words(answer)} (to {step})"


def words(reply: SMTPResponse | BaseException) -> str:
    """Return an answer or an error as one line of ASCII."""
    if isinstance(reply, (SMTPResponse, SMTPResponseException)):
        text = f"{reply.code} {reply.message}"
    else:
        text = str(reply) or type(reply).__name__
    return " ".join(text.encode("ascii", "replace").decode("ascii").split())[:MAX_REASON_CHARS]
