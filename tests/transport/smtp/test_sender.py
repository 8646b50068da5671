"""The SMTP client of a node: what counts as delivered, what is tried again, what goes back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from msgspec.structs import replace

from tests.support.smtp_peers import CONTENT, Receiver, mail, sessions_at_most
from transport.envelope import (
    CommandRefused,
    IncomingHop,
    Priority,
    RecipientRefusal,
    RefusalError,
    SendOutcome,
    SendState,
)
from transport.protocol import xexch50
from transport.smtp.connections import Connections
from transport.smtp.listener import ListenerLimits, SmtpListener
from transport.smtp.sender import Address, SenderLimits, SmtpSender


@pytest.fixture
async def sender() -> AsyncIterator[SmtpSender]:
    sender = SmtpSender()
    yield sender
    await sender.close()


@pytest.fixture
async def peer() -> Receiver:
    return Receiver()


@pytest.fixture
async def listener(peer: Receiver) -> AsyncIterator[SmtpListener]:
    listener = await peer.listen()
    yield listener
    await listener.stop()


Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Odd:
    """A server that follows a script, once for each connection; the last one repeats."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = scripts
        self.connections = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Address:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        return host, port

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        script = self._scripts[min(self.connections, len(self._scripts) - 1)]
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await script(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


def answers(*replies: str, hang: bool = False) -> Script:
    """A script: greets, gives one reply to each command and to a content, then hangs up, or hangs."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 odd\r\n")
        end = b"\r\n"
        for reply in replies:
            await reader.readuntil(end)
            writer.write(reply.encode() + b"\r\n")
            end = b"\r\n.\r\n" if reply.startswith("354") else b"\r\n"
        if len(end) > 2:
            await reader.readuntil(end)
        await writer.drain()
        if hang:
            await asyncio.Event().wait()

    return script


async def test_a_mail_arrives_with_its_hop(sender: SmtpSender, peer: Receiver, listener: SmtpListener) -> None:
    """The peer gets the content unchanged, and the sender's name, lab time, Lamport number and priority."""
    outcome = await sender.send(listener.address, mail(), "A")
    assert outcome.state is SendState.DELIVERED and outcome.refusals == ()
    hop = IncomingHop("A", 1_000_000, 17, Priority.URGENT)
    assert hop == mail().hop_from("A")
    command = xexch50.command(xexch50.encode(hop, ("B-IS@contoso.test",)), 1).decode()
    told = replace(hop, refused=CommandRefused(command, "504 Need to authenticate first"))
    assert outcome.refused == told.refused
    assert peer.mails == [(told, "A-IS@contoso.test", ("B-IS@contoso.test",), CONTENT)]


async def test_a_notice_goes_out_from_the_null_sender(
    sender: SmtpSender, peer: Receiver, listener: SmtpListener
) -> None:
    """ML-7: for the sender '' the command is MAIL FROM:<>."""
    await sender.send(listener.address, mail(sender=""), "A")
    assert peer.mails[0][1] == ""


async def test_connections_are_kept_and_bounded(peer: Receiver, listener: SmtpListener) -> None:
    """Many mails at once use no more connections than allowed, which later mails use again."""
    sender = SmtpSender(SenderLimits(parallel=2))
    outcomes = await asyncio.gather(*(sender.send(listener.address, mail(), "A") for _ in range(10)))
    assert {outcome.state for outcome in outcomes} == {SendState.DELIVERED}
    assert len(peer.mails) == 10 and len(listener.sessions) == 2
    await sender.send(listener.address, mail(), "A")
    assert len(listener.sessions) == 2
    assert sender.open_transactions == 0 and len(peer.mails) == 11
    await sender.close()


async def test_the_sender_counts_open_transactions(peer: Receiver, listener: SmtpListener) -> None:
    """TM-1: a mail is open from the call of `send` until its outcome."""
    sender = SmtpSender()
    under_way = asyncio.ensure_future(sender.send(listener.address, mail(), "A"))
    await asyncio.sleep(0)
    assert sender.open_transactions == 1
    await under_way
    assert sender.open_transactions == 0
    await sender.close()


async def test_each_refused_recipient_has_its_reason(
    sender: SmtpSender, peer: Receiver, listener: SmtpListener
) -> None:
    """The other recipients get the mail; each refusal has its reason, for good or for now."""
    peer.refused = {"x@b": RefusalError(550, "5.1.1 unknown"), "y@b": RefusalError(450, "4.2.1 full")}
    outcome = await sender.send(listener.address, mail("x@b", "k@b", "y@b"), "A")
    assert outcome.state is SendState.DELIVERED
    assert outcome.refusals == (
        RecipientRefusal("x@b", "550 5.1.1 unknown (to RCPT)", True),
        RecipientRefusal("y@b", "450 4.2.1 full (to RCPT)", False),
    )
    assert [sent[2] for sent in peer.mails] == [("k@b",)]


@pytest.mark.parametrize(("recipients", "state"), [(("x@b",), SendState.REFUSED), (("x@b", "y@b"), SendState.DEFERRED)])
async def test_a_mail_without_an_accepted_recipient_is_not_sent(
    sender: SmtpSender, peer: Receiver, listener: SmtpListener, recipients: tuple[str, ...], state: SendState
) -> None:
    """There is no DATA; the mail is refused only if every recipient is refused for good."""
    peer.refused = {"x@b": RefusalError(550, "5.1.1 unknown"), "y@b": RefusalError(450, "4.2.1 full")}
    outcome = await sender.send(listener.address, mail(*recipients), "A")
    assert (outcome.state, len(outcome.refusals)) == (state, len(recipients))
    assert (await sender.send(listener.address, mail(), "A")).state is SendState.DELIVERED
    assert len(listener.sessions) == 1


@pytest.mark.parametrize(
    ("trouble", "state"),
    [(RefusalError(554, "5.4.6 loop"), SendState.REFUSED), (RefusalError(451, "4.3.0 later"), SendState.DEFERRED)],
)
async def test_the_answer_to_the_content_decides(
    sender: SmtpSender, peer: Receiver, listener: SmtpListener, trouble: RefusalError, state: SendState
) -> None:
    """IN-2: 5xx after the content is a refusal, 4xx a delay, and the connection can be used again."""
    peer.failure = trouble
    outcome = await sender.send(listener.address, mail(), "A")
    assert outcome == SendOutcome(state, f"{trouble.code} {trouble.text} (to the content)")
    peer.failure = None
    assert (await sender.send(listener.address, mail(), "A")).state is SendState.DELIVERED
    assert len(listener.sessions) == 1


async def test_a_mail_beyond_the_size_limit_of_the_peer_is_not_sent(sender: SmtpSender, peer: Receiver) -> None:
    """MAIL announces the size, so the peer refuses the mail before its content is sent."""
    listener = await peer.listen(limits=ListenerLimits(message_bytes=1000))
    outcome = await sender.send(listener.address, mail(content=b"x\r\n" * 1000), "A")
    assert outcome.state is SendState.REFUSED and outcome.reason.endswith("(to MAIL)")
    await listener.stop()


async def test_nobody_there_is_a_delay(sender: SmtpSender, peer: Receiver) -> None:
    """A refused connection defers the mail."""
    listener = await peer.listen()
    address = listener.address
    await listener.stop()
    outcome = await sender.send(address, mail(), "A")
    assert outcome.state is SendState.DEFERRED and outcome.reason.startswith("no connection")


async def test_a_kept_connection_that_died_is_replaced(sender: SmtpSender, peer: Receiver) -> None:
    """A server that restarted gets the next mail over a new connection, at once."""
    listener = await peer.listen()
    host, port = listener.address
    await sender.send((host, port), mail(), "A")
    await listener.stop()
    again = await peer.listen(port)
    assert (await sender.send((host, port), mail(), "A")).state is SendState.DELIVERED
    assert len(peer.mails) == 2
    await again.stop()


GOOD = ("250 odd", "250 ok", "250 ok", "354 go", "250 taken")


@pytest.mark.parametrize("last", ["421 closing", None])
async def test_a_kept_connection_found_dead_at_mail_is_tried_anew_once(sender: SmtpSender, last: str | None) -> None:
    """A kept connection that breaks, or says 421, in answer to MAIL costs no attempt."""

    async def twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await answers(*GOOD)(reader, writer)
        await reader.readline()
        if last:
            writer.write(last.encode() + b"\r\n")

    async with Odd(twice, answers(*GOOD, hang=True)) as address:
        for _ in range(2):
            assert (await sender.send(address, mail(), "A")).state is SendState.DELIVERED


@pytest.mark.parametrize(
    ("script", "state", "reason"),
    [
        (answers("250 odd"), SendState.DEFERRED, "the connection failed"),
        (answers("250 odd", "250 ok", "250 ok"), SendState.DEFERRED, "the connection failed"),
        (answers("250 odd", "250 ok", "250 ok", "354 go"), SendState.DEFERRED, "the connection failed"),
        (answers("250 odd", "550 no\xe4 "), SendState.REFUSED, "550 no? (to MAIL)"),
        (answers("250 odd", "450 later"), SendState.DEFERRED, "450 later (to MAIL)"),
        (answers("250 odd", "421 busy"), SendState.DEFERRED, "421 busy (to MAIL)"),
        (answers("250 odd", "250 ok", "250 ok", "554 no"), SendState.REFUSED, "554 no (to DATA)"),
        (answers("250 odd", "250 ok", "250 ok", "250 hm"), SendState.DEFERRED, "250 hm (to DATA)"),
        (answers("250 odd", "nonsense"), SendState.DEFERRED, "the connection failed"),
        (answers("554 go away", "554 really"), SendState.DEFERRED, "no connection: 554"),
    ],
)
async def test_only_250_after_the_content_is_a_delivery(
    sender: SmtpSender, script: Script, state: SendState, reason: str
) -> None:
    """IN-2, OUT-9: a connection that breaks anywhere, or an answer that is odd, never counts as delivered."""
    async with Odd(script) as address:
        outcome = await sender.send(address, mail(), "A")
    assert outcome.state is state
    assert outcome.reason.startswith(reason)


@pytest.mark.parametrize(
    "replies", [(), ("250 odd",), ("250 odd", "250 ok", "250 ok", "354 go")], ids=["ehlo", "mail", "content"]
)
async def test_a_peer_that_says_nothing_is_given_up_on(replies: tuple[str, ...]) -> None:
    """Every wait has a limit; a peer that hangs delays the mail."""
    sender = SmtpSender(
        SenderLimits(connect_seconds=0.2, greeting_seconds=0.05, command_seconds=0.05, content_seconds=0.05)
    )
    async with Odd(answers(*replies, hang=True)) as address:
        outcome = await sender.send(address, mail(), "A")
    assert outcome.state is SendState.DEFERRED
    await sender.close()


@pytest.mark.parametrize("bad", ["a@b> SIZE=1", "a@b\r\nRCPT TO:<c@d", "a b@c", "\xe4@b", "a<@b", ""])
async def test_an_address_that_would_end_its_command_early_is_refused(
    sender: SmtpSender, peer: Receiver, listener: SmtpListener, bad: str
) -> None:
    """ML-7: no address can smuggle a parameter or a command; the mail still reaches the others."""
    outcome = await sender.send(listener.address, mail(bad, "k@b"), "A")
    assert outcome.state is SendState.DELIVERED
    assert [(refusal.address, refusal.permanent) for refusal in outcome.refusals] == [(bad, True)]
    if bad:
        refused = await sender.send(listener.address, mail(sender=bad), "A")
        assert refused.state is SendState.REFUSED
    assert [sent[2] for sent in peer.mails] == [("k@b",)]


async def test_a_forgotten_peer_is_hung_up_on(sender: SmtpSender, peer: Receiver, listener: SmtpListener) -> None:
    """Kept connections end when a link is cut; the next mail makes a new one."""
    await sender.send(listener.address, mail(), "A")
    sender.forget(listener.address)
    await sessions_at_most(0, listener)
    assert (await sender.send(listener.address, mail(), "A")).state is SendState.DELIVERED


async def test_a_cancelled_attempt_gives_its_connection_up(peer: Receiver) -> None:
    """A connection in the middle of a transaction is never used again."""
    sender = SmtpSender()
    async with Odd(answers("250 odd", hang=True)) as address:
        attempt = asyncio.ensure_future(sender.send(address, mail(), "A"))
        for _ in range(20):
            await asyncio.sleep(0)
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
    assert sender.open_transactions == 0
    assert all(not kept.idle for kept in sender._peers.values())
    await sender.close()


async def test_a_large_mail_with_many_dots_arrives_unchanged(
    sender: SmtpSender, peer: Receiver, listener: SmtpListener
) -> None:
    """Contents that need stuffing and many reads come out as they went in."""
    content = b"Subject: a\r\n\r\n" + b".\r\n..\r\n.x\r\n" * 50_000 + b"x" * 30_000 + b"\r\n"
    await sender.send(listener.address, mail(content=content), "A")
    assert peer.mails[0][3] == content


async def test_a_connection_that_was_idle_for_long_is_closed(peer: Receiver, listener: SmtpListener) -> None:
    """A kept connection ends at this end, before the other end tires of it, and the next mail makes a new one."""
    sender = SmtpSender(connections=Connections(idle_seconds=0.0))
    await sender.send(listener.address, mail(), "A")
    await sessions_at_most(0, listener)
    assert (await sender.send(listener.address, mail(), "A")).state is SendState.DELIVERED
    await sender.close()


async def test_a_connection_of_ones_own_is_made_where_it_is_asked_for(peer: Receiver, listener: SmtpListener) -> None:
    """A mail that is to go over a fresh connection does not take a kept one."""
    sender = SmtpSender()
    for fresh in (False, False, True):
        await sender.send(listener.address, mail(), "A", fresh=fresh)
    assert [kept.transport for kept in next(iter(sender._peers.values())).idle] != []
    await sessions_at_most(1, listener)
    assert len(peer.mails) == 3
    await sender.close()
