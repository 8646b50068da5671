"""The SMTP server of a node, spoken to over real sockets by clients of every kind."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from transport.envelope import IncomingHop, RefusalError, UnknownRecipientError
from transport.errors import TransportError
from transport.smtp.listener import COMMAND_LINE_LIMIT_BYTES, ListenerLimits, SmtpListener

HOUSE = ("B-IS@contoso.test", "kim@contoso.test")
WAIT_SECONDS = 10.0


@dataclass
class House:
    """What stands behind a listener: it knows two addresses and keeps what it is given."""

    mails: list[tuple[IncomingHop, str, tuple[str, ...], bytes]] = field(default_factory=list)
    trouble: Exception | None = None
    open_while_storing: list[int] = field(default_factory=list)
    listener: SmtpListener | None = None

    def accept(self, hop: IncomingHop, sender: str, recipients: Sequence[str], content: bytes) -> None:
        assert self.listener is not None
        self.open_while_storing.append(self.listener.open_transactions)
        if self.trouble is not None:
            raise self.trouble
        self.mails.append((hop, sender, tuple(recipients), content))

    def check(self, address: str) -> None:
        if address not in HOUSE:
            raise UnknownRecipientError((address,))


class Client:
    """A client that says exactly what it is told to say."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def reply(self) -> str:
        """The next reply, its lines joined; '' when the server has hung up."""
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
        self.writer.write(sent.encode() + b"\r\n" if isinstance(sent, str) else sent)
        return await self.reply()

    async def envelope(self, *recipients: str, sender: str = "a@x.test") -> str:
        """EHLO, MAIL, RCPT, DATA; the reply to DATA."""
        await self.say("EHLO client.test")
        assert (await self.say(f"MAIL FROM:<{sender}>")).startswith("250")
        for recipient in recipients or HOUSE[:1]:
            await self.say(f"RCPT TO:<{recipient}>")
        return await self.say("DATA")

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


class Lab:
    """A listener, its house, and the clients that spoke to it."""

    def __init__(self) -> None:
        self.house = House()
        self.listeners: list[SmtpListener] = []
        self.clients: list[Client] = []

    async def listener(self, limits: ListenerLimits | None = None) -> SmtpListener:
        listener = SmtpListener(
            "B.contoso.test", accept=self.house.accept, check_recipient=self.house.check, limits=limits
        )
        self.house.listener = listener
        await listener.start()
        self.listeners.append(listener)
        return listener

    async def client(self) -> Client:
        if not self.listeners:
            await self.listener()
        client = Client(*await asyncio.open_connection(*self.listeners[-1].address))
        self.clients.append(client)
        return client

    async def greeted(self) -> Client:
        client = await self.client()
        assert (await client.reply()).startswith("220 B.contoso.test")
        return client


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    lab = Lab()
    yield lab
    for client in lab.clients:
        await client.close()
    for listener in lab.listeners:
        await listener.stop()


async def gone(listener: SmtpListener) -> None:
    """Until the listener has noticed that nobody is connected."""
    async with asyncio.timeout(WAIT_SECONDS):
        while listener.sessions:  # noqa: ASYNC110 - the listener has no event for it
            await asyncio.sleep(0)


async def test_a_mail_is_given_to_the_callback_and_then_answered(lab: Lab) -> None:
    """IN-2: the reply is 250 when the callback has returned, and what it got are the bytes that were sent."""
    client = await lab.greeted()
    assert (await client.envelope(*HOUSE)).startswith("354")
    assert await client.say(b"Subject: a\r\n\r\n..dot\r\nb\xff\r\n.\r\n") == "250 2.0.0 OK"
    assert lab.house.mails == [
        (IncomingHop("client.test", None, 0), "a@x.test", HOUSE, b"Subject: a\r\n\r\n.dot\r\nb\xff\r\n")
    ]


async def test_the_hop_line_is_taken_off_and_understood(lab: Lab) -> None:
    """The sending server's name, lab time and Lamport number reach the callback; their line does not."""
    client = await lab.greeted()
    await client.envelope()
    await client.say(b"X-Pflab-Hop: server=A; sent=1066694400000000; lamport=17\r\nSubject: a\r\n\r\n.\r\n")
    assert lab.house.mails[0][0] == IncomingHop("A", 1066694400000000, 17)
    assert lab.house.mails[0][3] == b"Subject: a\r\n\r\n"


async def test_the_null_sender_is_an_empty_text(lab: Lab) -> None:
    """ML-7: a notice from <> arrives with sender ''."""
    client = await lab.greeted()
    await client.envelope(sender="")
    assert (await client.say(b"a\r\n.\r\n")).startswith("250")
    assert lab.house.mails[0][1] == ""


async def test_one_connection_carries_many_mails(lab: Lab) -> None:
    """After a mail the next one begins afresh, without the recipients of the last."""
    client = await lab.greeted()
    for recipient in HOUSE:
        await client.envelope(recipient)
        assert (await client.say(b"a\r\n.\r\n")).startswith("250")
    assert [mail[2] for mail in lab.house.mails] == [HOUSE[:1], HOUSE[1:]]


async def test_a_long_line_and_a_large_mail_are_taken(lab: Lab) -> None:
    """Lines far beyond 1000 octets and contents of many reads arrive unchanged."""
    content = b"x" * 20_000 + b"\r\n" + b"y" * 900 + b"\r\n" + b"z.\r\n" * 100_000
    client = await lab.greeted()
    await client.envelope()
    assert (await client.say(content + b".\r\n")).startswith("250")
    assert lab.house.mails[0][3] == content


async def test_unknown_recipients_are_refused_one_by_one(lab: Lab) -> None:
    """ML-7: no open relay; the known recipients of the same mail get it."""
    client = await lab.greeted()
    await client.say("EHLO client.test")
    await client.say("MAIL FROM:<a@x.test>")
    assert (await client.say("RCPT TO:<victim@elsewhere.test>")).startswith("550 5.1.1")
    assert (await client.say("DATA")).startswith("503")
    assert (await client.say(f"RCPT TO:<{HOUSE[1]}>")).startswith("250")
    assert (await client.say("DATA")).startswith("354")
    await client.say(b"a\r\n.\r\n")
    assert [mail[2] for mail in lab.house.mails] == [(HOUSE[1],)]


@pytest.mark.parametrize(
    ("trouble", "code"),
    [(RefusalError(554, "5.4.6 a mail\r\nloop \xe9"), "554 5.4.6 a mail  loop ?"), (KeyError("x"), "451 4.3.0")],
)
async def test_what_the_callback_raises_is_the_answer(
    lab: Lab, trouble: Exception, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    """IN-2: a refusal gets its own code on one line, an error of ours 451, and the connection goes on."""
    lab.house.trouble = trouble
    client = await lab.greeted()
    await client.envelope()
    assert (await client.say(b"a\r\n.\r\n")).startswith(code)
    assert ("an SMTP command failed here" in caplog.text) is isinstance(trouble, KeyError)
    lab.house.trouble = None
    await client.envelope()
    assert (await client.say(b"a\r\n.\r\n")).startswith("250")


@pytest.mark.parametrize("end", [b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r\n.\r"])
async def test_a_smuggled_mail_is_refused_with_the_mail_that_carries_it(lab: Lab, end: bytes) -> None:
    """ML-7: what some servers take for the end of a mail does not end it here, and the whole is refused."""
    client = await lab.greeted()
    await client.envelope()
    smuggled = b"MAIL FROM:<root@x.test>\r\nRCPT TO:<kim@contoso.test>\r\nDATA\r\nevil\r\n.\r\n"
    assert (await client.say(b"first" + end + smuggled)).startswith("550 5.6.0")
    assert lab.house.mails == []
    assert (await client.say("NOOP")).startswith("250")


async def test_commands_sent_with_the_end_of_the_mail_are_the_next_group(lab: Lab) -> None:
    """RFC 2920: what follows the true end of a mail is the next command, and no part of the mail."""
    client = await lab.greeted()
    await client.envelope()
    assert (await client.say(b"a\r\n.\r\nMAIL FROM:<b@x.test>\r\nNOOP\r\n")).startswith("250 2.0.0")
    assert (await client.reply()).startswith("250 2.1.0")
    assert (await client.reply()).startswith("250")
    assert [mail[3] for mail in lab.house.mails] == [b"a\r\n"]


@pytest.mark.parametrize("command", [b"NOOP\n\r\n", b"NOOP\nNOOP\r\n", b"NO\rOP\r\n", b"\nNOOP\r\n"])
async def test_a_command_with_a_lone_cr_or_lf_is_refused(lab: Lab, command: bytes) -> None:
    """ML-7: command lines end in CRLF, and in nothing else."""
    client = await lab.greeted()
    assert (await client.say(command)).startswith("500")
    assert (await client.say("NOOP")).startswith("250")


async def test_a_mail_that_is_too_large_is_refused_early_and_late(lab: Lab) -> None:
    """ML-7: a size that MAIL announces is refused there, one that it hides at the end of the content."""
    await lab.listener(ListenerLimits(message_bytes=10_000))
    client = await lab.greeted()
    assert "SIZE 10000" in await client.say("EHLO client.test")
    assert (await client.say("MAIL FROM:<a@x.test> SIZE=10001")).startswith("552")
    await client.envelope()
    assert (await client.say(b"x" * 98 + b"\r\n" + b"y" * 20_000 + b"\r\n.\r\n")).startswith("552")
    await client.envelope()
    assert (await client.say(b"small\r\n.\r\n")).startswith("250")
    assert len(lab.house.mails) == 1


async def test_recipients_are_limited(lab: Lab) -> None:
    """ML-7: the recipient beyond the limit is told to come again; the mail goes to the others."""
    await lab.listener(ListenerLimits(recipients=1))
    client = await lab.greeted()
    await client.say("EHLO client.test")
    await client.say("MAIL FROM:<a@x.test>")
    assert (await client.say(f"RCPT TO:<{HOUSE[0]}>")).startswith("250")
    assert (await client.say(f"RCPT TO:<{HOUSE[1]}>")).startswith("452")


async def test_connections_are_limited(lab: Lab) -> None:
    """ML-7: the connection beyond the limit gets 421; when one ends there is room again."""
    listener = await lab.listener(ListenerLimits(connections=1))
    first = await lab.greeted()
    second = await lab.client()
    assert (await second.reply()).startswith("421")
    assert await second.reply() == ""
    await first.close()
    await gone(listener)
    await lab.greeted()


@pytest.mark.parametrize("length", [COMMAND_LINE_LIMIT_BYTES + 1, 1_000_000])
async def test_a_command_line_is_limited(lab: Lab, length: int) -> None:
    """ML-7: a command line that is too long is refused, and the connection goes on."""
    client = await lab.greeted()
    assert (await client.say("X" * length)).startswith("500")
    assert (await client.say("NOOP")).startswith("250")


async def test_a_connection_lost_inside_a_mail_leaves_nothing(lab: Lab) -> None:
    """IN-2: a content without its end is not a mail, and its transaction is over."""
    client = await lab.greeted()
    listener = lab.listeners[0]
    await client.envelope()
    client.writer.write(b"Subject: half\r\n\r\nof a ma")
    await client.writer.drain()
    assert listener.open_transactions == 1
    await client.close()
    await gone(listener)
    assert lab.house.mails == []
    assert listener.open_transactions == 0


async def test_a_client_that_is_idle_or_never_ends_its_mail_is_sent_off(lab: Lab) -> None:
    """ML-7: when the idle time is over the server hangs up, also inside a mail; nothing half is accepted."""
    listener = await lab.listener(ListenerLimits(idle_seconds=77.0))
    idle, dripping = await lab.greeted(), await lab.greeted()
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
    await gone(listener)
    assert lab.house.mails == []


async def test_open_transactions_are_counted(lab: Lab) -> None:
    """TM-1: a transaction is open from MAIL until its last reply, or RSET, or a new EHLO."""
    client = await lab.greeted()
    listener = lab.listeners[0]
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
    assert lab.house.open_while_storing == [1]
    assert listener.transactions_seen == 3


async def test_many_greetings_do_not_loosen_the_limits_of_others(lab: Lab) -> None:
    """ML-7: what one connection does to its command limits stays with it."""
    other, greedy = await lab.greeted(), await lab.greeted()
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
async def test_paths_of_every_kind_are_understood_or_refused(lab: Lab, path: str, reply: str) -> None:
    """Plain paths go a short way past the email package; the others still go through it."""
    client = await lab.greeted()
    await client.say("EHLO client.test")
    await client.say("MAIL FROM:<a@x.test>")
    assert (await client.say(f"RCPT TO:{path}"))[:3] == reply
    assert (await client.say("NOOP")).startswith("250")


async def test_stopping_hangs_up_and_accepts_nothing_half(lab: Lab) -> None:
    """A listener that stops ends its connections; a mail under way is not accepted."""
    client = await lab.greeted()
    listener = lab.listeners[0]
    await client.envelope()
    client.writer.write(b"half")
    await client.writer.drain()
    await listener.stop()
    assert await client.reply() == ""
    assert (lab.house.mails, listener.open_transactions) == ([], 0)
    with pytest.raises(TransportError, match="not started"):
        _ = listener.address
    await listener.stop()
