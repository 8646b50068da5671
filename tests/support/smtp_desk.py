"""A listener of the SMTP server with the verbs of stores, spoken to over real sockets."""

import asyncio

from node.codec.signing import LabAuthority, Verifier
from tests.transport.smtp.test_listener import HOUSE, Client, House
from transport.envelope import Offers
from transport.protocol.auth import MECHANISM, Credentials, answer_to
from transport.protocol.fault_points import Verb, VerbFault
from transport.smtp.listener import ListenerLimits, SmtpListener

AUTHORITY = LabAuthority(b"a seed of a lab!")


def credentials(store: str, authority: LabAuthority = AUTHORITY) -> Credentials:
    identity = authority.identity(store)
    return Credentials(store, identity.certificate, identity.sign)


class Desk:
    """A listener named B, what it was given, and clients."""

    def __init__(self) -> None:
        self.house = House()
        self.limits = ListenerLimits()
        self.offers = Offers()
        self.faults: dict[Verb, VerbFault] = {}
        self.met: list[tuple[str, Verb]] = []
        self.links: list[tuple[str, str]] = []
        self.listener: SmtpListener | None = None
        self.clients: list[Client] = []

    def on_verb(self, peer: str, verb: Verb) -> VerbFault | None:
        self.met.append((peer, verb))
        return self.faults.get(verb)

    async def client(self) -> Client:
        """One that has said EHLO."""
        if self.listener is None:
            self.listener = SmtpListener(
                "B",
                accept=self.house.accept,
                check_recipient=self.house.check,
                limits=self.limits,
                offers=lambda: self.offers,
                verify_peer=Verifier(AUTHORITY.identity("B").authority_key).verify,
                on_verb=self.on_verb,
                link_state=lambda peer, line: self.links.append((peer, line)),
            )
            self.house.listener = self.listener
            await self.listener.start()
        client = Client(*await asyncio.open_connection(*self.listener.address))
        self.clients.append(client)
        await client.reply()
        await client.say("EHLO A")
        return client

    async def addressed(self, options: str = "") -> Client:
        """One that has said MAIL and RCPT."""
        client = await self.client()
        await client.say(f"MAIL FROM:<A-IS@contoso.test>{options}")
        await client.say(f"RCPT TO:<{HOUSE[0]}>")
        return client

    async def store(self, name: str = "A") -> Client:
        """One that has authenticated."""
        client = await self.client()
        assert (await prove(client, credentials(name))).startswith("235")
        return client

    @property
    def contents(self) -> list[bytes]:
        return [mail[3] for mail in self.house.mails]

    async def end(self) -> None:
        """Hang up and close."""
        for client in self.clients:
            await client.close()
        if self.listener is not None:
            await self.listener.stop()


async def prove(client: Client, shown: Credentials, server: str = "B") -> str:
    challenge = await client.say(f"AUTH {MECHANISM}")
    if not challenge.startswith("334 "):
        return challenge
    answer = answer_to(challenge[4:], server, shown)
    assert answer is not None
    return await client.say(answer + b"\r\n")
