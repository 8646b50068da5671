"""Both ends of SMTP for tests: a listener with clients that send given bytes, and mails for the sender."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from functools import cached_property

from node.codec.signing import LabAuthority, Verifier
from transport.envelope import (
    IncomingHop,
    IncomingMail,
    Offers,
    Priority,
    RefusalError,
    Transmission,
    UnknownRecipientError,
)
from transport.protocol.auth import MECHANISM, Credentials, answer_to
from transport.protocol.fault_points import Verb, VerbFault
from transport.smtp.listener import ListenerLimits, SmtpListener

AUTHORITY = LabAuthority(b"a seed of a lab!")
RECIPIENTS = ("B-IS@contoso.test", "kim@contoso.test")
CONTENT = b"Subject: a\r\n\r\n.dot\r\n"
WAIT_SECONDS = 10.0


def mail(*recipients: str, content: bytes = CONTENT, sender: str = "A-IS@contoso.test") -> Transmission:
    """Return a transmission as the MTA gives it to the sender."""
    return Transmission(
        queue_id=1,
        next_hop="B",
        connector=None,
        sender=sender,
        recipients=recipients or RECIPIENTS[:1],
        content=content,
        message_id="<1@a>",
        subject="a",
        attempts=0,
        priority=Priority.URGENT,
        sent_at=1_000_000,
        lamport=17,
    )


def credentials(store: str, authority: LabAuthority = AUTHORITY) -> Credentials:
    identity = authority.identity(store)
    return Credentials(store, identity.certificate, identity.sign)


@dataclass
class Receiver:
    """The callbacks of a listener: they record each mail, and refuse what a test tells them to refuse."""

    known: tuple[str, ...] | None = None  # every other recipient is unknown; None: all are known
    refused: dict[str, RefusalError] = field(default_factory=dict)
    failure: Exception | None = None  # what accept() raises
    mails: list[tuple[IncomingHop, str, tuple[str, ...], bytes]] = field(default_factory=list)

    def accept(self, hop: IncomingHop, mail: IncomingMail) -> None:
        if self.failure is not None:
            raise self.failure
        self.mails.append((hop, mail.sender, mail.recipients, mail.content))

    def check(self, address: str) -> None:
        if address in self.refused:
            raise self.refused[address]
        if self.known is not None and address not in self.known:
            raise UnknownRecipientError((address,))

    async def listen(self, port: int = 0, limits: ListenerLimits | None = None) -> SmtpListener:
        """Start a listener that knows no certificates and offers what a listener offers without settings."""
        listener = SmtpListener("B.contoso.test", accept=self.accept, check_recipient=self.check, limits=limits)
        await listener.start(port=port)
        return listener


class Client:
    """A client that sends exactly the bytes it is given."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def reply(self) -> str:
        """Return the lines of the next reply; '' if the server has hung up."""
        lines = []
        while True:
            try:
                line = (await asyncio.wait_for(self.reader.readline(), WAIT_SECONDS)).decode()
            except ConnectionResetError:
                return ""
            lines.append(line.rstrip("\r\n"))
            if line[3:4] != "-":
                return "\n".join(lines)

    async def say(self, sent: str | bytes) -> str:
        """Send a command line, or bytes as they are, and return the reply."""
        self.writer.write(sent.encode() + b"\r\n" if isinstance(sent, str) else sent)
        return await self.reply()

    async def envelope(self, *recipients: str, sender: str = "a@x.test") -> str:
        """Send EHLO, MAIL, RCPT and DATA, and return the reply to DATA."""
        await self.say("EHLO client.test")
        assert (await self.say(f"MAIL FROM:<{sender}>")).startswith("250")
        for recipient in recipients or RECIPIENTS[:1]:
            await self.say(f"RCPT TO:<{recipient}>")
        return await self.say("DATA")

    async def authenticate(self, shown: Credentials, server: str = "B") -> str:
        """Prove an identity with AUTH, and return the last reply."""
        challenge = await self.say(f"AUTH {MECHANISM}")
        if not challenge.startswith("334 "):
            return challenge
        answer = answer_to(challenge[4:], server, shown)
        assert answer is not None
        return await self.say(answer + b"\r\n")

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


class ListenerHarness:
    """Server B's listener and its clients: tests set limits and offers before the first client connects."""

    def __init__(self) -> None:
        self.receiver = Receiver(known=RECIPIENTS)
        self.limits = ListenerLimits()
        self.offers = Offers()
        self.faults: dict[Verb, VerbFault] = {}
        self.verbs: list[tuple[str, Verb]] = []
        self.link_states: list[tuple[str, str]] = []
        self.clients: list[Client] = []

    async def __aenter__(self) -> ListenerHarness:
        return self

    async def __aexit__(self, *_: object) -> None:
        for client in self.clients:
            await client.close()
        await self.listener.stop()

    @cached_property
    def listener(self) -> SmtpListener:
        """The listener, with the limits that are set when this is first read; the first client starts it."""
        return SmtpListener(
            "B",
            accept=self.receiver.accept,
            check_recipient=self.receiver.check,
            limits=self.limits,
            offers=lambda: self.offers,
            verify_peer=Verifier(AUTHORITY.identity("B").authority_key).verify,
            on_verb=self._on_verb,
            link_state=lambda peer, line: self.link_states.append((peer, line)),
        )

    async def _on_verb(self, peer: str, verb: Verb) -> VerbFault | None:
        self.verbs.append((peer, verb))
        return self.faults.get(verb)

    async def connect(self) -> Client:
        """Return a client that has connected and read nothing yet."""
        if not self.clients:
            await self.listener.start()
        client = Client(*await asyncio.open_connection(*self.listener.address))
        self.clients.append(client)
        return client

    async def greeted(self) -> Client:
        """Return a client that has read the greeting."""
        client = await self.connect()
        assert (await client.reply()).startswith("220 B")
        return client

    async def client(self) -> Client:
        """Return a client that has sent EHLO."""
        client = await self.greeted()
        await client.say("EHLO A")
        return client

    async def addressed(self, options: str = "") -> Client:
        """Return a client that has sent MAIL and RCPT."""
        client = await self.client()
        await client.say(f"MAIL FROM:<A-IS@contoso.test>{options}")
        await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")
        return client

    async def store(self, name: str = "A") -> Client:
        """Return a client that has authenticated as this store."""
        client = await self.client()
        assert (await client.authenticate(credentials(name))).startswith("235")
        return client

    @property
    def contents(self) -> list[bytes]:
        return [mail[3] for mail in self.receiver.mails]


async def sessions_at_most(count: int, listener: SmtpListener) -> None:
    """Wait until the listener has at most so many connections."""
    async with asyncio.timeout(WAIT_SECONDS):
        while len(listener.sessions) > count:  # noqa: ASYNC110 - the listener has no event for it
            await asyncio.sleep(0)
