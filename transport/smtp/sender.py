"""The SMTP client of a node: it sends each transmission to its next server over a few connections that stay open.

A mail counts as delivered only after the reply 250 to the content (spec: IN-2, OUT-9); otherwise it stays in the queue. A
connection carries one transmission at a time. This module begins connections, `transport.smtp.connections` keeps them, and
`transport.smtp.transaction` sends a mail over one.
"""

import asyncio
import ssl
from dataclasses import dataclass
from typing import Final

from aiosmtplib import SMTPException, SMTPHeloError, SMTPResponseException

from transport.connecting import CONNECT_S
from transport.envelope import SendOutcome, SendState, Transmission
from transport.protocol.auth import MECHANISM, Credentials, answer_to
from transport.smtp.client import StoreClient
from transport.smtp.connections import Connections, Peer
from transport.smtp.transaction import StaleError, is_success, transact, unreachable, words

Address = tuple[str, int]
"""Host and port."""


@dataclass(frozen=True, slots=True)
class SenderLimits:
    """Time-outs in real seconds, and the number of connections."""

    connect_seconds: float = CONNECT_S
    """Real time until the connection is open. It does not depend on how busy the peer is (see `transport.connecting`)."""
    greeting_seconds: float = 10.0
    """Real time for the greeting, EHLO, STARTTLS and AUTH (decision; RFC 5321 4.5.3.2.1 has 5 minutes)."""
    command_seconds: float = 30.0
    """Real time for one answer. The commands of a mail share the sum of these times (decision; RFC 5321 has 2 to 5
    minutes)."""
    content_seconds: float = 120.0
    """Real time for the content and the answer to it (decision; RFC 5321 4.5.3.2.6 has 10 minutes)."""
    parallel: int = 4
    """Connections to one peer at a time (decision). While the peer stores one mail, others are sent."""


INSIDE: Final = SenderLimits(greeting_seconds=600.0, command_seconds=600.0, content_seconds=600.0)
"""The limits for servers of the lab (RFC 5321 4.5.3.2.6 has 10 minutes). After a failed attempt the next one begins only after
an interval of lab time. So an attempt must not fail because the machine is slow and the server is busy. If a server gives no
sign of life, the lab aborts the mails to it much earlier."""


class SmtpSender:
    """Sends transmissions, in one event loop. Call `close` at the end.

    limits: the limits for servers outside the lab and, if given, also for servers of the lab.
    connections: the connections that the senders of one process share.

    With `credentials` the sender proves to each peer which store it is (spec: ML-3). With `tls` it sends mail to servers of the
    lab only in TLS, and the peer's certificate must name the server.
    """

    def __init__(
        self,
        limits: SenderLimits | None = None,
        *,
        credentials: Credentials | None = None,
        tls: ssl.SSLContext | None = None,
        connections: Connections | None = None,
    ) -> None:
        self.limits = limits or SenderLimits()
        self._inside = limits or INSIDE
        self.open_transactions = 0
        self._credentials = credentials
        self._tls = tls
        self._connections = connections or Connections()
        self._peers: dict[tuple[str, int, str], Peer] = {}
        self._closed = False

    async def send(
        self, address: Address, transmission: Transmission, greeting_name: str, *, fresh: bool = False
    ) -> SendOutcome:
        """Try once to send `transmission` to the server at `address`, and return the outcome.

        `greeting_name` is the sending server's name for EHLO and the hop line; `fresh`: use a new connection. Errors of a
        peer or a network are outcomes, never exceptions. A cancelled attempt does not count.
        """
        self.open_transactions += 1
        try:
            peer = self._peer(address, greeting_name)
            async with peer.slots:
                if fresh:
                    self._connections.hang_up([peer])
                return await self._send(peer, address, transmission, greeting_name)
        finally:
            self.open_transactions -= 1

    def forget(self, address: Address) -> None:
        """Close the kept connections to `address`, because it is cut off or has stopped."""
        self._connections.hang_up(
            peer for (*peer_address, _), peer in self._peers.items() if tuple(peer_address) == address
        )

    async def close(self) -> None:
        """Close the kept connections. Attempts in progress close their connections when they end."""
        self._closed = True
        await self._connections.end(self._peers.values())

    def _peer(self, address: Address, greeting_name: str) -> Peer:
        key = (*address, greeting_name)
        if key not in self._peers:
            self._peers[key] = Peer(asyncio.Semaphore(self.limits.parallel))
        return self._peers[key]

    async def _send(self, peer: Peer, address: Address, transmission: Transmission, greeting_name: str) -> SendOutcome:
        client = self._connections.take(peer)
        if client is not None:
            try:
                return await self._attempt(peer, client, transmission, greeting_name, kept=True)
            except StaleError:
                self._connections.hang_up([peer])
        try:
            client = await self._connect(address, greeting_name, transmission)
        except (SMTPException, OSError, ValueError) as error:
            return unreachable(f"no connection: {words(error)}")
        return await self._attempt(peer, client, transmission, greeting_name, kept=False)

    def _limits_for(self, transmission: Transmission) -> SenderLimits:
        return self._inside if transmission.outside is None else self.limits

    async def _connect(self, address: Address, greeting_name: str, transmission: Transmission) -> StoreClient:
        await self._connections.place()
        limits = self._limits_for(transmission)
        client = StoreClient(*address, greeting_name, limits.connect_seconds)
        try:
            async with asyncio.timeout(limits.connect_seconds + limits.greeting_seconds) as limit:
                await client.connect()
                try:
                    await client.ehlo()
                except SMTPHeloError as refusal:
                    if 400 <= refusal.code < 500:
                        raise  # the peer may accept EHLO later
                    await client.helo()
                if transmission.outside is None:
                    await self._prove(client, transmission.next_hop)
        except BaseException as error:
            self._connections.close(client)
            if isinstance(error, TimeoutError) and limit.expired():
                raise TimeoutError("the peer did not answer in time") from None
            raise
        return client

    async def _prove(self, client: StoreClient, server: str) -> None:
        """Begin TLS and authenticate, as servers of a lab do. With a smart host, do neither."""
        if self._tls is not None:
            # A third party could remove STARTTLS from the reply to EHLO. So without STARTTLS nothing is sent.
            if not client.supports_extension("starttls"):
                raise SMTPException(f"{server} does not offer STARTTLS, and this lab sends no mail unencrypted")
            await client.secure(self._tls, server)
        await self._authenticate(client, server)

    async def _authenticate(self, client: StoreClient, server: str) -> None:
        """Prove which store this is, if the peer offers AUTH. If the peer refuses AUTH for good, it still gets the mail."""
        # spec: ML-3
        if self._credentials is None or MECHANISM.lower() not in client.server_auth_methods:
            return
        answer = await client.command(b"AUTH " + MECHANISM.encode("ascii"))
        if answer.code == 334:
            proof = answer_to(answer.message, server, self._credentials)
            answer = await client.command(b"*" if proof is None else proof)
        if 400 <= answer.code < 500:
            raise SMTPResponseException(answer.code, f"{answer.message} (to AUTH)")
        client.authenticated = is_success(answer)

    async def _attempt(
        self, peer: Peer, client: StoreClient, transmission: Transmission, greeting_name: str, *, kept: bool
    ) -> SendOutcome:
        reusable = False
        try:
            outcome = await transact(client, transmission, greeting_name, self._limits_for(transmission), kept=kept)
            reusable = outcome.state is SendState.DELIVERED or await self._reset(client)
        except TimeoutError:
            return unreachable("the peer did not answer in time")
        except (SMTPException, OSError) as error:
            return unreachable(f"the connection failed: {words(error)}")
        else:
            return outcome
        finally:
            # A connection without authentication is not kept, because the next connection may authenticate.
            proven = client.authenticated or self._credentials is None or transmission.outside is not None
            if reusable and proven and not self._closed and client.is_connected:
                self._connections.keep(peer, client)
            else:
                self._connections.close(client)

    async def _reset(self, client: StoreClient) -> bool:
        """End a transaction that failed; return whether the connection can be used again."""
        try:
            async with asyncio.timeout(self.limits.command_seconds):
                return is_success(await client.command(b"RSET"))
        except (SMTPException, OSError):
            return False
