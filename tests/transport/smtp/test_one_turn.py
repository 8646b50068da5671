"""A mail in one turn of the line: envelope, blob of XEXCH50 and content together (X-BLOB-AHEAD)."""

import asyncio
import contextlib

import pytest

from tests.support.smtp_peers import RECIPIENTS, Client, ListenerHarness, credentials, mail
from transport.envelope import CommandRefused, IncomingHop, Priority, SendState
from transport.protocol import xexch50
from transport.protocol.fault_points import Mishap, Verb, VerbFault
from transport.protocol.hop_headers import hop_line
from transport.smtp.sender import SmtpSender
from transport.smtp.transaction import AHEAD_BYTES

HOP = IncomingHop("A", 1_000_000, 17, Priority.URGENT, authenticated=True, system=True)
LINE = hop_line("A", 5, 6)
BLOB = xexch50.encode(HOP, RECIPIENTS[:1])


def whole(blob: bytes = BLOB, content: bytes = LINE + b"a\r\n", recipient: str = RECIPIENTS[0]) -> bytes:
    """Return a mail for one recipient as one group."""
    return b"MAIL FROM:<A-IS@contoso.test>\r\nRCPT TO:<%b>\r\n%bBDAT %d LAST\r\n%b" % (
        recipient.encode(),
        xexch50.command_ahead(blob, 1),
        len(content),
        content,
    )


async def said(client: Client, group: bytes, replies: int = 4) -> list[str]:
    """Send a group, and return the codes of the replies."""
    client.writer.write(group)
    return [(await client.reply())[:3] for _ in range(replies)]


async def test_the_blob_counts_and_the_hop_line_is_removed(harness: ListenerHarness) -> None:
    """ML-3: a mail in one turn is received as one in two turns, without the line for a peer that refuses the blob."""
    client = await harness.store()
    assert await said(client, whole()) == ["250"] * 4
    assert await said(client, whole()) == ["250"] * 4
    assert harness.receiver.mails == [(HOP, "A-IS@contoso.test", RECIPIENTS[:1], b"a\r\n")] * 2


async def test_a_strangers_blob_is_skipped(harness: ListenerHarness) -> None:
    """ML-3: the reply is 504, the bytes of the blob are no commands, and the mail is ordinary, with the hop of its hop line."""
    client = await harness.client()
    group = whole(b"QUIT\r\nRSET\r\n")
    assert await said(client, group) == ["250", "250", "504", "250"]
    refused = CommandRefused("XEXCH50 12 1", "504 Need to authenticate first")
    assert harness.receiver.mails == [
        (IncomingHop("A", 5, 6, refused=refused), "A-IS@contoso.test", RECIPIENTS[:1], b"a\r\n")
    ]


async def test_a_fault_at_xexch50_skips_the_blob(harness: ListenerHarness) -> None:
    """A fault refuses XEXCH50. The rest of the group is obeyed as if the blob were not there."""
    harness.faults = {Verb.XEXCH50: VerbFault(Mishap.REPLY, 451, "4.3.0 so it is")}
    client = await harness.store()
    assert await said(client, whole(b"QUIT\r\n" * 20)) == ["250", "250", "451", "250"]
    assert [verb for _, verb in harness.verbs[-4:]] == [Verb.XEXCH50, Verb.DATA, Verb.BDAT, Verb.END]
    assert not harness.receiver.mails[0][0].system


@pytest.mark.parametrize(("verb", "codes"), [(Verb.MAIL, "451 503 503 503"), (Verb.RCPT, "250 451 503 503")])
async def test_after_a_refusal_the_whole_group_is_refused(harness: ListenerHarness, verb: Verb, codes: str) -> None:
    """A refused MAIL or RCPT refuses what follows it; no further fault is asked for, and the connection can be used again."""
    harness.faults = {verb: VerbFault(Mishap.REPLY, 451, "4.3.0 so it is")}
    client = await harness.store()
    assert await said(client, whole(b"QUIT\r\n" * 20)) == codes.split()
    assert harness.verbs[-1] == ("A", verb)
    assert harness.receiver.mails == []
    harness.faults = {}
    await client.say("RSET")
    assert await said(client, whole()) == ["250"] * 4


async def test_a_malformed_blob_leaves_the_mail_ordinary(harness: ListenerHarness) -> None:
    """IN-5: a blob that cannot be decoded is refused, and the mail has its hop line's hop."""
    client = await harness.store()
    assert await said(client, whole(b"\0" * 8)) == ["250", "250", "550", "250"]
    assert not harness.receiver.mails[0][0].system


async def test_a_blob_beyond_the_limit_ends_the_connection(harness: ListenerHarness) -> None:
    """ML-7: nobody knows where the next command begins."""
    client = await harness.store()
    await client.say("MAIL FROM:<a@x.test>")
    assert (await client.say(f"XEXCH50 {xexch50.BLOB_LIMIT_BYTES + 1}+ 1")).startswith("552")
    assert await client.reply() == ""


class Scripted:
    """A server that offers everything. It reads each of `turns` up to its end before it replies; then it hangs up."""

    def __init__(self, *turns: tuple[bytes, bytes]) -> None:
        self._turns = turns
        self.connections = 0

    async def __aenter__(self) -> tuple[str, int]:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        return host, port

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError):  # the client may end first
            writer.write(b"220 B\r\n")
            await reader.readuntil(b"\r\n")
            writer.write(b"250-B\r\n250-PIPELINING\r\n250-CHUNKING\r\n250-X-BLOB-AHEAD\r\n250 XEXCH50\r\n")
            for end, replies in self._turns:
                await reader.readuntil(end)
                writer.write(replies)
            await writer.drain()


FOUR = b"250 a\r\n" * 4


async def test_a_small_mail_is_one_turn_and_a_large_one_two() -> None:
    """A large content is sent only after the peer has accepted the envelope."""
    sender = SmtpSender()
    small, large = (mail("x@contoso.test", content=b"a" * size + b"end\r\n") for size in (AHEAD_BYTES - 5, AHEAD_BYTES))
    async with Scripted((b"end\r\n", FOUR)) as address:
        assert (await sender.send(address, small, "A")).state is SendState.DELIVERED
    envelope = (b" 1\r\n", b"250 a\r\n250 a\r\n354 go\r\n")
    async with Scripted(envelope, (b"end\r\n", b"250 a\r\n250 a\r\n")) as address:
        assert (await sender.send(address, large, "A")).state is SendState.DELIVERED
    await sender.close()


@pytest.mark.parametrize(("replies", "connections"), [(b"", 2), (b"250 a\r\n", 2), (b"250 a\r\n" * 3, 1)])
async def test_a_mail_is_sent_again_only_if_it_cannot_have_been_stored(replies: bytes, connections: int) -> None:
    """OUT-9: a kept connection that ends before the replies to the envelope is replaced at once. If only the reply to the
    content is missing, the peer may have the mail, so the next attempt waits."""
    sender = SmtpSender()
    server = Scripted((b"end\r\n", FOUR), (b"end\r\n", replies))
    async with server as address:
        one = mail("x@contoso.test", content=b"end\r\n")
        assert (await sender.send(address, one, "A")).state is SendState.DELIVERED
        outcome = await sender.send(address, one, "A")
        assert server.connections == connections
        assert outcome.state is (SendState.DELIVERED if connections == 2 else SendState.DEFERRED)
    await sender.close()


async def test_a_store_sends_its_mails_in_one_turn(harness: ListenerHarness) -> None:
    """ML-3: the sender's blob is believed, and several recipients have one answer each."""
    sender = SmtpSender(credentials=credentials("A"))
    await harness.listener.start()
    outcome = await sender.send(harness.listener.address, mail(*RECIPIENTS, "nobody@contoso.test"), "A")
    assert [refusal.address for refusal in outcome.refusals] == ["nobody@contoso.test"]
    ((hop, _, recipients, _),) = harness.receiver.mails
    assert (hop.peer, hop.authenticated, recipients) == ("A", True, RECIPIENTS)
    await sender.close()
