"""The limit of open SMTP connections that several senders share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.smtp_peers import Receiver, mail, sessions_at_most
from transport.envelope import SendState
from transport.smtp.connections import Connections
from transport.smtp.listener import SmtpListener
from transport.smtp.sender import SmtpSender


class Listeners:
    """Three servers; `most` is the highest number of connections that they had together when a mail arrived."""

    def __init__(self) -> None:
        self.peers = [Receiver() for _ in range(3)]
        self.listeners: list[SmtpListener] = []
        self.most = 0

    @property
    def connections(self) -> int:
        return sum(len(each.sessions) for each in self.listeners)

    async def send(self, sender: SmtpSender, number: int) -> SendState:
        outcome = await sender.send(self.listeners[number].address, mail(), "A")
        self.most = max(self.most, self.connections)
        return outcome.state


@pytest.fixture
async def three() -> AsyncIterator[Listeners]:
    three = Listeners()
    three.listeners = [await peer.listen() for peer in three.peers]
    yield three
    for each in three.listeners:
        await each.stop()


async def test_senders_share_one_limit(three: Listeners) -> None:
    """A sender that needs a connection beyond the limit ends the one that has been idle longest, also another sender's."""
    shared = Connections(2)
    senders = [SmtpSender(connections=shared) for _ in range(2)]
    for sender, number in ((0, 0), (1, 1), (0, 2)):
        assert await three.send(senders[sender], number) is SendState.DELIVERED
    await sessions_at_most(0, three.listeners[0])
    assert [len(each.sessions) for each in three.listeners] == [0, 1, 1]
    assert await three.send(senders[1], 1) is SendState.DELIVERED  # over the connection that it has
    assert [len(each.sessions) for each in three.listeners] == [0, 1, 1]
    for each in senders:
        await each.close()


@pytest.mark.parametrize("limit", [1, 2])
async def test_senders_wait_if_no_connection_is_idle(three: Listeners, limit: int) -> None:
    """With many mails at once each waits for its turn: all arrive, and never are more connections open than allowed."""
    shared = Connections(limit)
    senders = [SmtpSender(connections=shared) for _ in range(4)]
    sent = [three.send(sender, number % 3) for sender in senders for number in range(9)]
    async with asyncio.timeout(30):
        assert set(await asyncio.gather(*sent)) == {SendState.DELIVERED}
    assert three.most <= limit
    assert [len(each.mails) for each in three.peers] == [12, 12, 12]
    for each in senders:
        await each.close()


async def test_places_are_given_back(three: Listeners) -> None:
    """A sender that is cancelled, one that fails, and one that closes leave no place taken."""
    shared = Connections(1)
    sender = SmtpSender(connections=shared)
    waits = [asyncio.ensure_future(three.send(sender, 0)) for _ in range(6)]
    for turns, each in enumerate(waits):
        for _ in range(turns):
            await asyncio.sleep(0)
        each.cancel()
    await asyncio.gather(*waits, return_exceptions=True)
    nobody = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    address = nobody.sockets[0].getsockname()
    nobody.close()
    await nobody.wait_closed()
    assert (await sender.send(address, mail(), "A")).unreachable
    assert await three.send(sender, 1) is SendState.DELIVERED
    sender.forget(three.listeners[1].address)
    assert await three.send(sender, 1) is SendState.DELIVERED
    await sender.close()
    other = SmtpSender(connections=shared)
    async with asyncio.timeout(30):
        assert await three.send(other, 2) is SendState.DELIVERED
    await other.close()
