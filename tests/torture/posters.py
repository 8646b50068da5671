"""The clients of the torture test: careful clients of the HTTP API, and mail programs whose connections are cut off."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import SMTP as AS_SENT
from functools import partial
from http import HTTPStatus
from itertools import pairwise
from typing import TypeVar

import aiosmtplib

from node.errors import CannotWrite, NotRunning
from pflab.client import Client, ClientError
from pflab.client.requests import UNHEARD
from tests.torture.ledger import Acknowledged, Ledger
from tests.torture.machine import Machine

T = TypeVar("T")

FOLDER = "Projects"
STORES = ("A", "B", "C")

LARGEST_BATCH = 10
AGAIN_S = 0.02
PATIENCE_S = 180.0
ANSWER_S = 20.0
AHEAD = 30
"""The most posts that one client may be ahead of the slowest, so that the kills meet all of them."""

HUNG_UP = 0.1
"""The share of mails that a program first begins and breaks off, inside DATA or before the answer."""

SENDER = "lee@outside.test"
CONTENT = (
    "From: Lee <lee@outside.test>\r\nTo: <{to}>\r\nSubject: {subject}\r\nMessage-ID: {message_id}\r\n"
    "Date: Tue, 21 Oct 2003 00:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{body}"
)
GO_AHEAD = 354
NO_SPACE = 452
_LINE_DOT = re.compile(rb"^\.", re.MULTILINE)


class TortureFailed(AssertionError):
    """A promise of the lab did not hold."""


@dataclass(slots=True)
class Tally:
    """What happened so far.

    `done`: acknowledged posts by client.
    `retries`: repeated requests and mails; `hung_up`: dialogues that a client left inside DATA; `unheard`: those that it left
        after the whole content, before the answer.
    """

    wanted: int
    ledger: Ledger
    done: dict[str, int] = field(default_factory=dict)
    retries: int = 0
    refused: int = 0
    """Posts and mails that were refused because nothing could be written; they are among the retries."""
    strikes: Counter[str] = field(default_factory=Counter)
    """How often each hazard struck."""
    hung_up: int = 0
    unheard: int = 0
    dropped: int = 0
    """Connections between stores that the lab dropped."""
    over: bool = False
    """A client has failed, and the others end."""

    @property
    def total(self) -> int:
        return sum(self.done.values())

    def too_far_ahead(self, poster: str) -> bool:
        """Return whether to wait for the other clients. Raise TortureFailed if they have ended; threads are not cancelled."""
        if self.over:
            raise TortureFailed(f"{poster} ends because another client failed")
        return self.done[poster] > min(self.done.values()) + AHEAD and self.total < self.wanted - AHEAD


def shares_of(posts: int, posters: list[str]) -> dict[str, int]:
    """Return about equal shares of the posts, one for each client."""
    bounds = [posts * index // len(posters) for index in range(len(posters) + 1)]
    return {poster: end - start for poster, (start, end) in zip(posters, pairwise(bounds), strict=True)}


# --- by the API


def post_all(client: Client, poster: str, store: str, count: int, chance: random.Random, tally: Tally) -> None:
    """In a thread: send single posts and batches, and repeat each under its key until it is answered."""
    with client:
        number = 0
        while number < count:
            while tally.too_far_ahead(poster):
                time.sleep(AGAIN_S)
            size = min(chance.choice((1, 1, 1, LARGEST_BATCH)), count - number)
            subjects = [f"{store} {number + each}" for each in range(size)]
            messages = [{"subject": subject, "body": subject * 20} for subject in subjects]
            key = f"{store}-{number}"
            made = repeat_until_answered(partial(client.post_batch, store, FOLDER, messages, key=key), tally)
            tally.ledger.add(
                Acknowledged(each["subject"], store, each["body"], id=item)
                for each, item in zip(messages, made["ids"], strict=True)
            )
            number += size
            tally.done[poster] = number


def repeat_until_answered(ask: Callable[[], T], tally: Tally | None = None) -> T:
    """Repeat a request until it is answered. A refusal is an error, unless it says that nothing can be written now."""
    give_up_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            return ask()
        except ClientError as error:
            full = (error.status, error.kind) == (HTTPStatus.INSUFFICIENT_STORAGE, CannotWrite.__name__)
            if not (full or error.status in UNHEARD) or time.monotonic() > give_up_s:
                raise
            if tally is not None:
                tally.refused += full
                tally.retries += 1
            time.sleep(AGAIN_S)


# --- by SMTP


def body_of(message_id: str, chance: random.Random) -> str:
    """Return lines some of which begin with a dot, to detect an end of data in the wrong place."""
    return "".join(f"{'.' * (line % 3)}{message_id} {line}\r\n" for line in range(chance.randrange(1, 60)))


async def mail_all(machine: Machine, poster: str, store: str, count: int, chance: random.Random, tally: Tally) -> None:
    """Mail to the folder's address, always to the same store; repeat each Message-ID until the store says 250."""
    with machine.client() as client:
        folders = await asyncio.to_thread(repeat_until_answered, partial(client.folders, store), tally)
    [address] = [str(each["address"]) for each in folders if each["path"] == FOLDER]
    for number in range(count):
        while tally.too_far_ahead(poster):  # noqa: ASYNC110 - half of the posters are threads
            await asyncio.sleep(AGAIN_S)
        subject, message_id = f"{store} mail {number}", f"<{number}.{store}@outside.test>"
        body = body_of(message_id, chance)
        content = CONTENT.format(to=address, subject=subject, message_id=message_id, body=body).encode()
        if chance.random() < HUNG_UP:
            await _hang_up(machine, store, address, content, chance, tally)
        await _mail_until_accepted(machine, store, address, content, tally)
        tally.ledger.add([Acknowledged(subject, store, body, message_id=message_id)])
        tally.done[poster] = number + 1


async def _mail_until_accepted(machine: Machine, store: str, to: str, content: bytes, tally: Tally) -> None:
    give_up_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            host, port = await asyncio.to_thread(machine.smtp_of, store)
            await aiosmtplib.send(
                content, sender=SENDER, recipients=[to], hostname=host, port=port, start_tls=False, timeout=ANSWER_S
            )
        except (NotRunning, OSError, aiosmtplib.SMTPException) as error:
            if isinstance(error, aiosmtplib.SMTPResponseException | aiosmtplib.SMTPRecipientsRefused):
                tally.refused += _require_temporary(store, error)
            if time.monotonic() > give_up_s:
                raise TortureFailed(f"store {store} took no mail for {PATIENCE_S:.0f} s: {error}") from error
            tally.retries += 1
            await asyncio.sleep(AGAIN_S)
        else:
            return


def _require_temporary(store: str, error: aiosmtplib.SMTPResponseException | aiosmtplib.SMTPRecipientsRefused) -> bool:
    """Accept a temporary refusal; a permanent one is always an error. (A broken connection has the code -1.) Return whether
    the store has no space."""
    answers = error.recipients if isinstance(error, aiosmtplib.SMTPRecipientsRefused) else [error]
    if any(answer.code >= 500 for answer in answers):
        raise TortureFailed(f"store {store} refused a mail to its folder permanently: {error}") from error
    return any(answer.code == NO_SPACE for answer in answers)


async def _hang_up(machine: Machine, store: str, to: str, content: bytes, chance: random.Random, tally: Tally) -> None:
    """Hang up inside DATA, or after the content and before the answer."""
    whole = chance.random() < 0.5
    sent = _LINE_DOT.sub(b"..", content)
    part = sent + b".\r\n" if whole else sent[: chance.randrange(len(sent))]
    client = aiosmtplib.SMTP(start_tls=False, timeout=ANSWER_S)
    try:
        host, port = await asyncio.to_thread(machine.smtp_of, store)
        await client.connect(hostname=host, port=port)
        await client.ehlo()
        await client.mail(SENDER)
        await client.rcpt(to)
        answer = await client.execute_command(b"DATA")
        line = client.transport
        if answer.code == NO_SPACE:
            return
        if answer.code != GO_AHEAD or not isinstance(line, asyncio.Transport):
            raise TortureFailed(f"store {store} answered DATA with {answer.code} {answer.message}")
        line.write(part)
        await asyncio.sleep(chance.random() * 0.01)
        line.abort()
    except (NotRunning, OSError, aiosmtplib.SMTPException):
        return  # the store was killed meanwhile, so the dialogue ended early anyway
    finally:
        client.close()
    if whole:
        tally.unheard += 1
    else:
        tally.hung_up += 1


def message_of(mail: bytes) -> tuple[str, str]:
    """Return the Message-ID and the text of an exported mail."""
    read = message_from_bytes(mail, policy=AS_SENT)
    text = read.get_payload(decode=True)
    assert isinstance(text, bytes), "it is a mail of text"
    return str(read["Message-ID"]), text.decode()
