"""The SMTP server of a node, spoken to over real sockets by clients of every kind."""

import asyncio
import socket
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support.disk import no_new_files
from tests.support.smtp_peers import RECIPIENTS, ListenerHarness, sessions_at_most
from transport.envelope import IncomingHop, RefusalError
from transport.errors import TransportError
from transport.smtp.connections import MOST_CONNECTIONS
from transport.smtp.listener import COMMAND_LINE_LIMIT_BYTES, ListenerLimits, SmtpListener
from transport.smtp.sender import SenderLimits


async def test_a_mail_is_given_to_the_callback_and_then_answered(harness: ListenerHarness) -> None:
    """IN-2: the reply 250 follows after the callback has returned, and the callback gets the bytes that were sent."""
    client = await harness.greeted()
    assert (await client.envelope(*RECIPIENTS)).startswith("354")
    assert await client.say(b"Subject: a\r\n\r\n..dot\r\nb\xff\r\n.\r\n") == "250 2.0.0 OK"
    assert harness.receiver.mails == [
        (IncomingHop("client.test", None, 0), "a@x.test", RECIPIENTS, b"Subject: a\r\n\r\n.dot\r\nb\xff\r\n")
    ]


async def test_the_hop_line_is_removed_and_read(harness: ListenerHarness) -> None:
    """The callback gets the sending server's name, lab time and Lamport number, and the mail without the line."""
    client = await harness.greeted()
    await client.envelope()
    await client.say(b"X-Pflab-Hop: server=A; sent=1066694400000000; lamport=17\r\nSubject: a\r\n\r\n.\r\n")
    assert harness.receiver.mails[0][0] == IncomingHop("A", 1066694400000000, 17)
    assert harness.receiver.mails[0][3] == b"Subject: a\r\n\r\n"


async def test_the_null_sender_is_an_empty_text(harness: ListenerHarness) -> None:
    """ML-7: a notice from <> arrives with sender ''."""
    client = await harness.greeted()
    await client.envelope(sender="")
    assert (await client.say(b"a\r\n.\r\n")).startswith("250")
    assert harness.receiver.mails[0][1] == ""


async def test_one_connection_carries_many_mails(harness: ListenerHarness) -> None:
    """The next mail on a connection does not have the recipients of the last."""
    client = await harness.greeted()
    for recipient in RECIPIENTS:
        await client.envelope(recipient)
        assert (await client.say(b"a\r\n.\r\n")).startswith("250")
    assert [mail[2] for mail in harness.receiver.mails] == [RECIPIENTS[:1], RECIPIENTS[1:]]


async def test_a_long_line_and_a_large_mail_are_accepted(harness: ListenerHarness) -> None:
    """Lines of far more than 1000 octets and contents of many reads arrive unchanged."""
    content = b"x" * 20_000 + b"\r\n" + b"y" * 900 + b"\r\n" + b"z.\r\n" * 100_000
    client = await harness.greeted()
    await client.envelope()
    assert (await client.say(content + b".\r\n")).startswith("250")
    assert harness.receiver.mails[0][3] == content


async def test_unknown_recipients_are_refused_one_by_one(harness: ListenerHarness) -> None:
    """ML-7: mail for others is not relayed; the known recipients of the same mail get it."""
    client = await harness.greeted()
    await client.say("EHLO client.test")
    await client.say("MAIL FROM:<a@x.test>")
    assert (await client.say("RCPT TO:<victim@elsewhere.test>")).startswith("550 5.1.1")
    assert (await client.say("DATA")).startswith("503")
    assert (await client.say(f"RCPT TO:<{RECIPIENTS[1]}>")).startswith("250")
    assert (await client.say("DATA")).startswith("354")
    await client.say(b"a\r\n.\r\n")
    assert [mail[2] for mail in harness.receiver.mails] == [(RECIPIENTS[1],)]


@pytest.mark.parametrize(
    ("trouble", "code"),
    [(RefusalError(554, "5.4.6 a mail\r\nloop \xe9"), "554 5.4.6 a mail  loop ?"), (KeyError("x"), "451 4.3.0")],
)
async def test_an_error_of_the_callback_is_the_reply(
    harness: ListenerHarness, trouble: Exception, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    """IN-2: a refusal is sent with its own code on one line, an error of this program as 451; the connection stays open."""
    harness.receiver.failure = trouble
    client = await harness.greeted()
    await client.envelope()
    assert (await client.say(b"a\r\n.\r\n")).startswith(code)
    assert ("an SMTP command failed here" in caplog.text) is isinstance(trouble, KeyError)
    harness.receiver.failure = None
    await client.envelope()
    assert (await client.say(b"a\r\n.\r\n")).startswith("250")


@pytest.mark.parametrize("end", [b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r\n.\r"])
async def test_a_smuggled_mail_is_refused_with_the_mail_that_carries_it(harness: ListenerHarness, end: bytes) -> None:
    """ML-7: a sequence that ends a mail for other servers does not end it here, and the whole mail is refused."""
    client = await harness.greeted()
    await client.envelope()
    smuggled = b"MAIL FROM:<root@x.test>\r\nRCPT TO:<kim@contoso.test>\r\nDATA\r\nevil\r\n.\r\n"
    assert (await client.say(b"first" + end + smuggled)).startswith("550 5.6.0")
    assert harness.receiver.mails == []
    assert (await client.say("NOOP")).startswith("250")


@pytest.mark.parametrize("behind", [0.0, 0.05])
@pytest.mark.parametrize("size", [0, 300, 2000])
async def test_nothing_is_obeyed_behind_a_doubtful_end(
    harness: ListenerHarness, monkeypatch: pytest.MonkeyPatch, size: int, behind: float
) -> None:
    """ML-7: CR CRLF . CRLF ends the mail here and perhaps not elsewhere: the mail is refused, and the connection closed."""
    monkeypatch.setattr(harness.listener, "limits", replace(harness.listener.limits, message_bytes=1000))
    client = await harness.greeted()
    await client.envelope()
    smuggled = b"MAIL FROM:<root@x.test>\r\nRCPT TO:<%b>\r\nDATA\r\n" % RECIPIENTS[0].encode()
    content = b"".join(b"x" * 50 + b"\r\n" for _ in range(size // 50)) + b"first\r\r\n.\r\n"
    assert (await client.say(content + (b"" if behind else smuggled))).startswith(("550 5.6.0", "552"))
    if behind:
        client.writer.write(smuggled)
    assert await client.reader.read() == b""
    assert harness.receiver.mails == []


async def test_commands_sent_with_the_end_of_the_mail_are_the_next_group(harness: ListenerHarness) -> None:
    """RFC 2920: what follows the real end of a mail is the next command, not part of the mail."""
    client = await harness.greeted()
    await client.envelope()
    assert (await client.say(b"a\r\n.\r\nMAIL FROM:<b@x.test>\r\nNOOP\r\n")).startswith("250 2.0.0")
    assert (await client.reply()).startswith("250 2.1.0")
    assert (await client.reply()).startswith("250")
    assert [mail[3] for mail in harness.receiver.mails] == [b"a\r\n"]


@pytest.mark.parametrize("command", [b"NOOP\n\r\n", b"NOOP\nNOOP\r\n", b"NO\rOP\r\n", b"\nNOOP\r\n"])
async def test_a_command_with_a_lone_cr_or_lf_is_refused(harness: ListenerHarness, command: bytes) -> None:
    """ML-7: only CRLF ends a command line."""
    client = await harness.greeted()
    assert (await client.say(command)).startswith("500")
    assert (await client.say("NOOP")).startswith("250")


async def test_a_mail_that_is_too_large_is_refused_early_and_late(harness: ListenerHarness) -> None:
    """ML-7: a size that is announced is refused at MAIL; one that is not, at the end of the content."""
    harness.limits = ListenerLimits(message_bytes=10_000)
    client = await harness.greeted()
    assert "SIZE 10000" in await client.say("EHLO client.test")
    assert (await client.say("MAIL FROM:<a@x.test> SIZE=10001")).startswith("552")
    await client.envelope()
    assert (await client.say(b"x" * 98 + b"\r\n" + b"y" * 20_000 + b"\r\n.\r\n")).startswith("552")
    await client.envelope()
    assert (await client.say(b"small\r\n.\r\n")).startswith("250")
    assert len(harness.receiver.mails) == 1


async def test_recipients_are_limited(harness: ListenerHarness) -> None:
    """ML-7: recipients beyond the limit get 452; the others get the mail."""
    harness.limits = ListenerLimits(recipients=1)
    client = await harness.greeted()
    await client.say("EHLO client.test")
    await client.say("MAIL FROM:<a@x.test>")
    assert (await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")).startswith("250")
    assert (await client.say(f"RCPT TO:<{RECIPIENTS[1]}>")).startswith("452")


async def test_connections_are_limited(harness: ListenerHarness) -> None:
    """ML-7: if stores have all connections, the next one gets 421; after another one ends there is room again."""
    harness.limits = ListenerLimits(connections=1)
    listener = harness.listener
    first = await harness.store()
    second = await harness.connect()
    assert (await second.reply()).startswith("421")
    assert await second.reply() == ""
    await first.close()
    await sessions_at_most(0, listener)
    await harness.greeted()


@pytest.mark.parametrize("length", [COMMAND_LINE_LIMIT_BYTES + 1, 1_000_000])
async def test_a_command_line_is_limited(harness: ListenerHarness, length: int) -> None:
    """ML-7: a command line that is too long is refused, and the connection stays open."""
    client = await harness.greeted()
    assert (await client.say("X" * length)).startswith("500")
    assert (await client.say("NOOP")).startswith("250")


async def test_a_connection_lost_inside_a_mail_leaves_nothing(harness: ListenerHarness) -> None:
    """IN-2: a content without its end is not stored, and its transaction is over."""
    client = await harness.greeted()
    listener = harness.listener
    await client.envelope()
    client.writer.write(b"Subject: half\r\n\r\nof a ma")
    await client.writer.drain()
    assert listener.open_transactions == 1
    await client.close()
    await sessions_at_most(0, listener)
    assert harness.receiver.mails == []
    assert listener.open_transactions == 0


async def test_an_idle_client_is_disconnected(harness: ListenerHarness) -> None:
    """ML-7: after the idle time the server closes the connection, also inside a mail, which is not stored."""
    harness.limits = ListenerLimits(idle_seconds=77.0)
    listener = harness.listener
    idle, dripping = await harness.greeted(), await harness.greeted()
    await dripping.envelope()
    dripping.writer.write(b"drip\r\n")
    await dripping.writer.drain()
    for session in list(listener.sessions):
        assert session._patience_s == 77.0
        session._timeout_cb()  # too early: nothing happens
        assert session.transport is not None and not session.transport.is_closing()
        session._heard_s -= 77.0
        session._timeout_cb()
    assert [await idle.reply(), await dripping.reply()] == ["", ""]
    await sessions_at_most(0, listener)
    assert harness.receiver.mails == []


async def test_open_transactions_are_counted(harness: ListenerHarness) -> None:
    """TM-1: a transaction is open from MAIL until its last reply, or RSET, or a new EHLO."""
    while_storing = []
    listener = harness.listener
    listener.accept = lambda *_: while_storing.append(listener.open_transactions)
    client = await harness.greeted()
    await client.say("EHLO client.test")
    counts = [listener.open_transactions]
    for ending in ("RSET", "EHLO client.test"):
        await client.say("MAIL FROM:<a@x.test>")
        counts.append(listener.open_transactions)
        await client.say(ending)
        counts.append(listener.open_transactions)
    await client.envelope()
    await client.say(b"a\r\n.\r\n")
    assert [*counts, listener.open_transactions] == [0, 1, 0, 1, 0, 0]
    assert while_storing == [1]


async def test_greetings_do_not_change_the_limits_of_other_connections(harness: ListenerHarness) -> None:
    """ML-7: EHLO raises the command limits of its own connection only."""
    other, greedy = await harness.greeted(), await harness.greeted()
    await other.say("EHLO client.test")
    for _ in range(20):
        await greedy.say("EHLO client.test")
    assert (await other.say("MAIL FROM:<" + "x" * 600 + "@x.test>")).startswith("500")


@pytest.mark.parametrize(
    ("path", "reply"),
    [
        ("<@hop.test,@b.test:kim@contoso.test>", "250"),
        ('<"kim"@contoso.test>', "250"),
        ("<kim@contoso.test> NOTIFY=NEVER", "555"),
        ("<kim@contoso.test> ORCPT", "555"),
        ("<kim@contoso.test>>", "501"),
        ("<>", "550"),
        ("<kim@contoso.test\x00>", "500"),
    ],
)
async def test_every_kind_of_path_is_read_or_refused(harness: ListenerHarness, path: str, reply: str) -> None:
    """Plain paths are read without the email package; the others with it."""
    client = await harness.greeted()
    await client.say("EHLO client.test")
    await client.say("MAIL FROM:<a@x.test>")
    assert (await client.say(f"RCPT TO:{path}"))[:3] == reply
    assert (await client.say("NOOP")).startswith("250")


async def test_a_listener_that_stops_closes_its_connections(harness: ListenerHarness) -> None:
    """A mail that is arriving is not stored."""
    client = await harness.greeted()
    listener = harness.listener
    await client.envelope()
    client.writer.write(b"half")
    await client.writer.drain()
    await listener.stop()
    assert await client.reply() == ""
    assert (harness.receiver.mails, listener.open_transactions) == ([], 0)
    with pytest.raises(TransportError, match="not started"):
        _ = listener.address
    await listener.stop()


def test_a_lab_of_a_hundred_servers_fits_the_limits() -> None:
    """A listener has room for 100 peers beside strangers, within 1,024 file handles (spec: ML-7)."""
    limits = ListenerLimits()
    assert limits.connections >= 99 * SenderLimits().parallel + limits.stranger_connections
    assert limits.connections + MOST_CONNECTIONS < 1024 - 100


@pytest.mark.parametrize("rounds", range(5))
async def test_a_connection_that_is_being_accepted_ends_with_the_listener(rounds: int) -> None:
    """asyncio makes an accepted connection in several rounds of its loop. Whatever round the stop falls in, the peer's
    connection is closed and not forgotten."""
    listener = SmtpListener("A", accept=lambda hop, mail: None, check_recipient=lambda address: None)
    address = await listener.start()
    peers = [socket.create_connection(address, timeout=10) for _ in range(3)]
    for _ in range(rounds):
        await asyncio.sleep(0)
    await listener.stop()
    assert listener.sessions == set()
    for peer in peers:
        with peer, suppress(ConnectionResetError):
            while await asyncio.to_thread(peer.recv, 1000):
                pass  # a greeting may come first


async def test_a_listener_without_a_file_handle_does_not_start() -> None:
    """A listener that gets no socket says so with an OSError, which the HTTP API answers with 507."""
    listener = SmtpListener("A", accept=lambda hop, mail: None, check_recipient=lambda address: None)
    with no_new_files(), pytest.raises(OSError, match="no socket could be made to listen for mail"):
        await listener.start()
