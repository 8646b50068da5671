"""Sends one mail over a connection: MAIL, RCPT, XEXCH50, and the content by BDAT or DATA.

With PIPELINING the commands of the envelope are sent together, and then the blob of XEXCH50 together with the content. So a
mail needs two round trips. The content bypasses aiosmtplib, whose search for line ends and dots by regular expression takes ten
times as long as sending.

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
from transport.mime.body_encoding import as_seven_bit, is_binary
from transport.protocol import xexch50
from transport.protocol.hop_headers import hop_line
from transport.protocol.link_state import VERB
from transport.smtp.client import StoreClient
from transport.smtp.data import stuff

MAX_REASON_CHARS: Final = 400
"""How many characters of a peer's answer are kept as the reason of a failure."""

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


@dataclass(slots=True)
class _Envelope:
    """The answers to the commands before the content."""

    taken: int = 0
    refusals: tuple[RecipientRefusal, ...] = ()
    refused: SendOutcome | None = None
    properties: SMTPResponse | None = None


async def transact(
    client: StoreClient, transmission: Transmission, greeting_name: str, patience: Patience, *, kept: bool
) -> SendOutcome:
    """Send one mail or one call, and return the outcome.

    Raise SMTPException, OSError or TimeoutError if the connection fails; raise StaleError if a kept connection was already
    closed.
    """
    if transmission.is_call or client.told_links != transmission.links:
        async with asyncio.timeout(patience.command_seconds):
            heard = await _tell_links(client, transmission.links, kept=kept)
        if transmission.is_call:
            return SendOutcome(SendState.DELIVERED, heard)
    if _ADDRESS.fullmatch(transmission.sender) is None:
        return SendOutcome(SendState.REFUSED, "5.1.7 the sender's address cannot be sent by SMTP")
    chunking = client.supports_extension("chunking")
    content = transmission.content
    binary = is_binary(content)
    if binary and not (chunking and client.supports_extension("binarymime")):
        try:
            content, binary = as_seven_bit(content), False  # spec: ML-4
        except CodecError as error:
            return SendOutcome(SendState.REFUSED, f"5.6.1 {transmission.next_hop} does not accept binary mail: {error}")
    hop = transmission.hop_from(greeting_name, authenticated=client.authenticated)
    inside = transmission.outside is None  # only servers of the lab see hop lines and XEXCH50
    says_more = inside and not transmission.x400 and client.supports_extension("xexch50")
    blob = xexch50.encode(hop, transmission.recipients) if says_more else b""
    line = (
        b""
        if not inside
        else hop_line(greeting_name, transmission.sent_at, transmission.lamport, transmission.priority)
    )
    commands = len(transmission.recipients) + 3
    async with asyncio.timeout(patience.command_seconds * commands) as limit:
        options = _options(client, len(line) + len(content), binary=binary)
        mail = b"MAIL FROM:<%b>%b" % (transmission.sender.encode("ascii"), options)
        envelope = await _envelope(client, mail, transmission.recipients, blob, kept=kept)
        if envelope.refused is not None:
            return envelope.refused
        carried = envelope.properties is not None and envelope.properties.code == CODE_START_INPUT
        before, replies = (blob, 1) if carried else (b"", 0)
        head = b"" if carried else line
        if chunking:
            sent = b"%bBDAT %d LAST\r\n%b%b" % (before, len(head) + len(content), head, content)
        else:
            if carried:
                envelope.properties = (await client.exchange(before, replies))[0]
                before, replies = b"", 0
            answer = await client.command(b"DATA")
            if answer.code != CODE_START_INPUT:
                return refused("DATA", answer)
            sent = stuff(head, content)
        limit.reschedule(asyncio.get_running_loop().time() + patience.content_seconds)
        answers = await client.exchange(sent, replies + 1)
    answer = answers[-1]
    if replies:
        envelope.properties = answers[0]
    said = envelope.properties
    ordinary = _ordinary(client, transmission, said)
    if not is_success(answer):
        return refused("the content", answer).explained(ordinary)
    command = xexch50.command(blob, len(transmission.recipients)).decode("ascii")
    return SendOutcome(
        SendState.DELIVERED,
        words(answer),
        envelope.refusals,
        ordinary,
        None if said is None or is_success(said) else CommandRefused(command, words(said)),
    )


async def _tell_links(client: StoreClient, links: tuple[str, ...], *, kept: bool) -> str:
    """Send the reports of links to a store, or NOOP to any other server; return the last answer."""
    # spec: RT-2
    heard = client.authenticated and client.supports_extension(VERB)
    lines = [f"{VERB} {line}".encode("ascii") for line in links] if heard else []
    sent = b"\r\n".join([*(lines or [b"NOOP"]), b""])
    try:
        answers = await client.exchange(sent, max(1, len(lines)))
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


async def _envelope(
    client: StoreClient, mail: bytes, recipients: Sequence[str], blob: bytes, *, kept: bool
) -> _Envelope:
    """Send MAIL, RCPT and XEXCH50, together or one by one, and return the answers."""
    sendable = [address for address in recipients if address and _ADDRESS.fullmatch(address)]
    lines = [mail, *(b"RCPT TO:<%b>" % address.encode("ascii") for address in sendable)]
    if blob:
        lines.append(xexch50.command(blob, len(recipients)))
    try:
        if client.supports_extension("pipelining"):
            answers = await client.exchange(b"\r\n".join([*lines, b""]), len(lines))
        else:
            answers = await _one_by_one(client, lines)
    except SMTPServerDisconnected as error:
        if kept:
            raise StaleError from error
        raise
    if answers[0].code == CODE_SERVICE_CLOSING and kept:
        raise StaleError
    if not is_success(answers[0]):
        return _Envelope(refused=refused("MAIL", answers[0]))
    answers += [answers[-1]] * (len(lines) - len(answers))  # the peer hung up: its last answer counts for the rest
    found = dict(zip(sendable, answers[1:], strict=False))
    refusals = tuple(refusal for address in recipients if (refusal := _refusal(address, found.get(address))))
    envelope = _Envelope(len(recipients) - len(refusals), refusals, None, answers[-1] if blob else None)
    if not envelope.taken:
        envelope.refused = _none_accepted(refusals)
    return envelope


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


def words(said: SMTPResponse | BaseException) -> str:
    """Return an answer or an error as one line of ASCII."""
    if isinstance(said, (SMTPResponse, SMTPResponseException)):
        text = f"{said.code} {said.message}"
    else:
        text = str(said) or type(said).__name__
    return " ".join(text.encode("ascii", "replace").decode("ascii").split())[:MAX_REASON_CHARS]
