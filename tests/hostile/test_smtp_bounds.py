"""Bounds on what outsiders can make an SMTP listener hold, do and say (spec: ML-7)."""

import asyncio
import logging
import socket
from contextlib import suppress

import pytest

from tests.support.smtp_peers import RECIPIENTS, ListenerHarness, credentials, sessions_at_most
from transport.envelope import RefusalError
from transport.protocol.auth import MECHANISM
from transport.smtp.limits import ListenerLimits

KB = 1024
SMALL = ListenerLimits(message_bytes=100 * KB, contents_bytes=200 * KB)


async def wait_for_bytes(harness: ListenerHarness, size: int) -> None:
    """Wait until this many bytes of contents are being received."""
    while harness.listener.room.taken < size:  # noqa: ASYNC110 - the listener tells nobody
        await asyncio.sleep(0)


async def test_outsiders_contents_share_half_of_the_room(harness: ListenerHarness) -> None:
    """Contents received at the same time over many connections have one limit, of which half is reserved for stores."""
    harness.limits = SMALL
    first = await harness.addressed()
    await first.say("DATA")
    first.writer.write(b"x" * 70 * KB + b"\r\n")
    await wait_for_bytes(harness, 70 * KB)
    second = await harness.addressed()
    await second.say("DATA")
    second.writer.write(b"y" * 60 * KB + b"\r\n.\r\n")
    assert (await second.reply()).startswith("452 4.3.1")
    store = await harness.client()
    await store.authenticate(credentials("A"))
    await store.say("MAIL FROM:<A-IS@contoso.test>")
    await store.say(f"RCPT TO:<{RECIPIENTS[0]}>")
    assert (await store.say(b"BDAT %d LAST\r\n" % (60 * KB) + b"line\r\n" * (10 * KB))).startswith("250")
    assert await first.say(b".\r\n") != ""
    assert harness.listener.room.taken == 0


async def test_outsiders_chunks_share_half_of_the_room(harness: ListenerHarness) -> None:
    """A chunk without room is read and discarded, and the sender is told to come again."""
    harness.limits = SMALL
    first = await harness.addressed()
    first.writer.write(b"BDAT %d LAST\r\n" % (90 * KB) + b"x" * 70 * KB)
    await wait_for_bytes(harness, 70 * KB)
    second = await harness.addressed()
    assert (await second.say(b"BDAT %d LAST\r\n" % (60 * KB) + b"line\r\n" * (10 * KB))).startswith("452 4.3.1")
    assert (await second.say("RSET")).startswith("250")
    await first.close()
    while harness.listener.room.taken:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await second.say("MAIL FROM:<A-IS@contoso.test>")
    await second.say(f"RCPT TO:<{RECIPIENTS[0]}>")
    assert (await second.say(b"BDAT %d LAST\r\n" % (60 * KB) + b"line\r\n" * (10 * KB))).startswith("250")


async def test_an_outsiders_stalled_mail_does_not_stop_the_clock(
    harness: ListenerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TM-1, ML-7: the lab waits for an outsider's mail while bytes arrive, but not for ever, and for a store's until it has
    ended. So a slow machine does not change when a mail arrives.
    """
    store = await harness.store()
    await store.say("MAIL FROM:<A-IS@contoso.test>")
    stranger = await harness.addressed()
    await stranger.say("DATA")
    limits, at_s = ListenerLimits(), asyncio.get_running_loop().time()
    (session,) = [session for session in harness.listener.sessions if session.store is None]
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: at_s)
    for _ in range(7):
        at_s += 0.9 * limits.holding_seconds
        stranger.writer.write(b"x")
        while session._came_s < at_s:  # noqa: ASYNC110
            await asyncio.sleep(0)
        assert harness.listener.open_transactions == 2
    at_s += 1.1 * limits.holding_seconds
    assert harness.listener.open_transactions == 1
    session._begun_s, session._came_s = at_s - limits.idle_seconds, at_s
    assert harness.listener.open_transactions == 1
    monkeypatch.undo()
    assert (await stranger.say(b"\r\n.\r\n")).startswith("250")
    assert (await store.say("RSET")).startswith("250")
    assert harness.listener.open_transactions == 0


async def test_outsiders_are_refused_temporarily_without_room(harness: ListenerHarness) -> None:
    """ML-7: an outsider whose mail the store has no room for gets 452, to MAIL if that gives the size, otherwise after the
    content. A store's mail is accepted."""
    asked: list[int] = []

    def check_room(size: int) -> None:
        asked.append(size)
        if size > 1000:
            raise RefusalError(452, "4.3.1 no room")

    store = await harness.store()
    harness.listener.check_room = check_room
    stranger = await harness.client()
    assert (await stranger.say("MAIL FROM:<kim@x.test> SIZE=5000")).startswith("452 4.3.1")
    large = b"BDAT 3000 LAST\r\n" + b"a line\r\n" * 375
    for client, expected in ((stranger, "452 4.3.1"), (store, "250")):
        assert (await client.say("MAIL FROM:<kim@x.test>")).startswith("250")
        assert (await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")).startswith("250")
        assert (await client.say(large)).startswith(expected)
    assert asked == [5000, 0, 3000]
    assert len(harness.contents) == 1


async def test_a_chunk_that_is_refused_is_not_kept(harness: ListenerHarness) -> None:
    """The bytes of a chunk without a recipient, or of one that is too large, are discarded as they arrive."""
    harness.limits = SMALL
    client = await harness.client()
    client.writer.write(b"BDAT %d\r\n" % (150 * KB) + b"x" * 140 * KB)
    (session,) = harness.listener.sessions
    while session._lines._left > 20 * KB or session._lines._left == 0:  # noqa: ASYNC110
        await asyncio.sleep(0)
    assert harness.listener.room.taken == 0
    assert session._lines._blocks == []
    assert (await client.say(b"x" * 10 * KB)).startswith("503")


@pytest.mark.parametrize("command", [b"BDAT 0\r\n", b"RCPT TO:<nobody@contoso.test>\r\n", b"DATA\r\n"])
async def test_repeated_refusals_end_the_connection(harness: ListenerHarness, command: bytes) -> None:
    """A client whose commands are refused again and again is disconnected."""
    harness.limits = ListenerLimits(refused_commands=50)
    client = await harness.client()
    client.writer.write(b"MAIL FROM:<a@x.test>\r\n" + command * 500)
    replies = []
    while reply := await client.reply():
        replies.append(reply)
    assert replies[-1].startswith("421 4.7.0")
    assert len(replies) == 1 + 51 + 1


async def test_wrong_commands_do_not_fill_the_log(harness: ListenerHarness, caplog: pytest.LogCaptureFixture) -> None:
    """Outsiders can send wrong commands without end, so the log does not get a line for each."""
    with caplog.at_level(logging.WARNING):
        client = await harness.client()
        for _ in range(3):
            assert (await client.say("FOO")).startswith("500")
    assert caplog.records == []


async def test_an_overlong_auth_answer_is_refused_in_one_line(
    harness: ListenerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    """An answer to AUTH longer than a line is refused, and no traceback is logged."""
    client = await harness.client()
    await client.say(f"AUTH {MECHANISM}")
    with caplog.at_level(logging.ERROR):
        assert (await client.say(b"A" * 400 * KB + b"\r\n")).startswith("500 5.5.6")
    assert caplog.records == []


async def test_a_client_that_never_reads_is_disconnected(harness: ListenerHarness) -> None:
    """A connection with replies that the client does not read is closed like any other idle one, and cannot delay the end
    of the listener."""
    harness.limits = ListenerLimits(idle_seconds=0.2, closing_seconds=0.1, fruitless_commands=10**9)
    listener = harness.listener
    await listener.start()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(listener.address)
        deaf.setblocking(False)
        with suppress(ConnectionError):
            while True:
                await asyncio.get_running_loop().sock_sendall(deaf, b"EHLO a\r\n" * 1000)
    await sessions_at_most(0, listener)
