"""BDAT, AUTH, XEXCH50, groups and limits of the SMTP server, spoken to over real sockets."""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from node.keys import LabAuthority, Verifier
from tests.unit.test_smtp_listener import HOUSE, Client, House
from transport import xexch50
from transport.linkstate import LinkReport, line_of
from transport.mta_values import CommandRefused, IncomingHop, Offers, Priority, SendState, Transmission
from transport.smtp_auth import MECHANISM, Credentials, answer_to
from transport.smtp_listener import ListenerLimits, SmtpListener
from transport.smtp_sender import SmtpSender
from transport.smtp_verbs import Mishap, Verb, VerbFault

AUTHORITY = LabAuthority(b"a seed of a lab!")
HOP = IncomingHop("A", 1_000_000, 17, Priority.URGENT, authenticated=True, system=True)


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


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    yield desk
    for client in desk.clients:
        await client.close()
    if desk.listener is not None:
        await desk.listener.stop()


async def prove(client: Client, shown: Credentials, server: str = "B") -> str:
    challenge = await client.say(f"AUTH {MECHANISM}")
    if not challenge.startswith("334 "):
        return challenge
    answer = answer_to(challenge[4:], server, shown)
    assert answer is not None
    return await client.say(answer + b"\r\n")


# --- BDAT


async def test_chunks_make_a_mail(desk: Desk) -> None:
    """ML-4, RFC 3030: each chunk is answered, and the last brings the mail to the callback; dots mean nothing."""
    client = await desk.addressed()
    assert (await client.say(b"BDAT 12\r\nSubject: a\r\n")).startswith("250")
    assert (await client.say(b"BDAT 5\r\n\r\n.\r\n")).startswith("250")
    assert desk.contents == []
    assert (await client.say(b"BDAT 0 LAST\r\n")).startswith("250")
    assert desk.contents == [b"Subject: a\r\n\r\n.\r\n"]


async def test_a_large_binary_chunk_arrives_byte_for_byte(desk: Desk) -> None:
    """ML-4: BODY=BINARYMIME lets any byte through, in one chunk of many reads."""
    content = b"Subject: a\r\n\r\n" + bytes(range(256)) * 4000
    client = await desk.addressed(" BODY=BINARYMIME")
    assert (await client.say(b"BDAT %d LAST\r\n%b" % (len(content), content))).startswith("250")
    assert desk.contents == [content]


@pytest.mark.parametrize("content", [b"a\nb\r\n", b"a\rb\r\n", b"a\r\n.\n"])
async def test_smuggling_is_refused_in_chunks_too(desk: Desk, content: bytes) -> None:
    """ML-7: a lone CR or LF is refused unless the mail was announced as binary."""
    client = await desk.addressed()
    assert (await client.say(b"BDAT %d LAST\r\n%b" % (len(content), content))).startswith("550 5.6.0")
    assert desk.contents == []


async def test_the_header_of_a_binary_mail_is_text_all_the_same(desk: Desk) -> None:
    """ML-7: no header line hides behind a lone LF."""
    client = await desk.addressed(" BODY=BINARYMIME")
    content = b"Subject: a\nReceived: x\r\n\r\n\0\n"
    assert (await client.say(b"BDAT %d LAST\r\n%b" % (len(content), content))).startswith("550 5.6.0")


async def test_a_chunk_before_rcpt_is_read_and_refused(desk: Desk) -> None:
    """RFC 3030: the bytes of a chunk out of order are no commands."""
    client = await desk.client()
    assert (await client.say(b"BDAT 6 LAST\r\nQUIT\r\n")).startswith("503")
    assert (await client.say("NOOP")).startswith("250")
    await client.say("MAIL FROM:<a@x.test>")
    assert (await client.say(b"BDAT 6\r\nQUIT\r\n")).startswith("503")


async def test_after_a_refused_chunk_only_rset_helps(desk: Desk) -> None:
    """RFC 3030: a mail that lost a chunk is not taken, whatever comes after."""
    desk.limits = ListenerLimits(message_bytes=10)
    client = await desk.addressed()
    assert (await client.say(b"BDAT 8\r\n123456\r\n")).startswith("250")
    assert (await client.say(b"BDAT 8\r\n123456\r\n")).startswith("552")
    assert (await client.say(b"BDAT 2 LAST\r\n\r\n")).startswith("503")
    assert (await client.say("DATA")).startswith("503")
    assert (await client.say("RSET")).startswith("250")
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{HOUSE[0]}>")
    assert (await client.say(b"BDAT 3 LAST\r\nx\r\n")).startswith("250")
    assert desk.contents == [b"x\r\n"]


async def test_data_does_not_go_on_where_bdat_began(desk: Desk) -> None:
    """RFC 3030: DATA and BDAT are not mixed in one mail, and DATA carries no binary mail."""
    client = await desk.addressed()
    await client.say(b"BDAT 3\r\nx\r\n")
    assert (await client.say("DATA")).startswith("503")
    binary = await desk.addressed(" BODY=BINARYMIME")
    assert (await binary.say("DATA")).startswith("503")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (b"BDAT\r\n", "501"),
        (b"BDAT x LAST\r\n", "501"),
        (b"BDAT -1\r\n", "501"),
        (b"BDAT 5 FIRST\r\n", "501"),
        (b"BDAT 99999999999999999999\r\n", "501"),
        (b"BDAT 999999999999999 LAST\r\n", "552"),
    ],
)
async def test_a_chunk_of_unknown_length_ends_the_connection(desk: Desk, command: bytes, code: str) -> None:
    """ML-7: where nobody knows how many bytes follow, nothing that follows is taken for a command."""
    client = await desk.addressed()
    assert (await client.say(command)).startswith(code)
    assert await client.reply() == ""


async def test_chunks_of_one_mail_are_limited(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """ML-7: endless empty chunks come to an end."""
    monkeypatch.setattr("transport.smtp_chunks.CHUNK_LIMIT", 3)
    client = await desk.addressed()
    for _ in range(3):
        assert (await client.say(b"BDAT 0\r\n")).startswith("250")
    assert (await client.say(b"BDAT 0\r\n")).startswith("552")


async def test_what_is_not_offered_is_not_taken(desk: Desk) -> None:
    """ML-4: a server without chunking says so at EHLO and refuses binary mail at MAIL."""
    desk.offers = Offers(chunking=False)
    client = await desk.client()
    said = await client.say("EHLO A")
    assert "CHUNKING" not in said and "BINARYMIME" not in said and "PIPELINING" in said
    assert (await client.say("MAIL FROM:<a@x.test> BODY=BINARYMIME")).startswith("501")


# --- AUTH and XEXCH50


async def test_a_store_proves_itself_and_its_blob_is_believed(desk: Desk) -> None:
    """ML-3: after AUTH the blob of XEXCH50 tells the hop and that the mail is a system message."""
    client = await desk.store()
    await client.say("MAIL FROM:<A-IS@contoso.test>")
    await client.say(f"RCPT TO:<{HOUSE[0]}>")
    blob = xexch50.encode(HOP, HOUSE[:1])
    assert await client.say(xexch50.command(blob, 1).decode()) == "354 Send binary data"
    assert (await client.say(blob)).startswith("250")
    assert (await client.say(b"BDAT 3 LAST\r\na\r\n")).startswith("250")
    assert desk.house.mails == [(HOP, "A-IS@contoso.test", HOUSE[:1], b"a\r\n")]


async def test_a_stranger_is_told_to_authenticate_and_its_mail_is_ordinary(desk: Desk) -> None:
    """ML-3: 504, and the mail goes on as one that is no system message, whatever its hop line claims."""
    client = await desk.addressed()
    assert await client.say("XEXCH50 2336 3") == "504 Need to authenticate first"
    line = b"X-Pflab-Hop: server=A; sent=5; lamport=6\r\n"
    assert (await client.say(b"BDAT %d LAST\r\n%b\r\n" % (len(line) + 2, line))).startswith("250")
    assert desk.house.mails[0][0] == IncomingHop(
        "A", 5, 6, refused=CommandRefused("XEXCH50 2336 3", "504 Need to authenticate first")
    )


@pytest.mark.parametrize(
    ("shown", "server"),
    [
        (credentials("A", LabAuthority(b"another lab's seed")), "B"),
        (Credentials("C", AUTHORITY.identity("A").certificate, AUTHORITY.identity("A").sign), "B"),
        (Credentials("A", AUTHORITY.identity("A").certificate, AUTHORITY.identity("C").sign), "B"),
        (credentials("A"), "C"),
    ],
    ids=["other authority", "other name", "other key", "meant for another server"],
)
async def test_no_other_proof_is_taken(desk: Desk, shown: Credentials, server: str) -> None:
    """ML-3: a store is believed with its own key, its own certificate, and for the server that it meant."""
    client = await desk.client()
    assert (await prove(client, shown, server)).startswith("535")
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{HOUSE[0]}>")
    assert (await client.say("XEXCH50 2 2")).startswith("504")


async def test_a_proof_does_not_serve_twice(desk: Desk) -> None:
    """ML-3: each challenge is another, so an answer that was overheard is worth nothing."""
    client = await desk.client()
    challenge = (await client.say(f"AUTH {MECHANISM}"))[4:]
    answer = answer_to(challenge, "B", credentials("A"))
    assert answer is not None and (await client.say(answer + b"\r\n")).startswith("235")
    thief = await desk.client()
    assert (await thief.say(f"AUTH {MECHANISM}"))[4:] != challenge
    assert (await thief.say(answer + b"\r\n")).startswith("535")


@pytest.mark.parametrize("answer", [b"*", b"", b"!!", b64encode(b"A"), b64encode(b"A\0short"), b"x" * 4000])
async def test_nonsense_is_no_proof(desk: Desk, answer: bytes) -> None:
    """IN-5: whatever comes as an answer is refused in words, and the connection goes on."""
    client = await desk.client()
    assert len(b64decode((await client.say(f"AUTH {MECHANISM}"))[4:])) == 32
    assert (await client.say(answer + b"\r\n")).startswith("535")
    assert (await client.say("AUTH LOGIN")).startswith("504")


@pytest.mark.parametrize(
    "blob",
    [b"", b"\0" * 8, xexch50.encode(HOP, HOUSE), xexch50.encode(HOP, HOUSE[:1])[:-1], b"\1\0\0\0\xff\xff\xff\xff"],
    ids=["empty", "version 0", "too many", "cut", "absurd length"],
)
async def test_a_blob_that_is_none_leaves_the_mail_ordinary(desk: Desk, blob: bytes) -> None:
    """ML-3, IN-5: what cannot be read is refused, and does not pass for properties."""
    client = await desk.store()
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{HOUSE[0]}>")
    assert (await client.say(xexch50.command(blob, 1).decode())).startswith("354")
    if blob:
        assert (await client.say(blob)).startswith("550")
    else:
        assert (await client.reply()).startswith("550")
    assert (await client.say(b"BDAT 3 LAST\r\na\r\n")).startswith("250")
    assert not desk.house.mails[0][0].system


async def test_a_store_speaks_for_itself_alone(desk: Desk) -> None:
    """ML-3: a blob that names another server than the one that authenticated is refused."""
    client = await desk.store("C")
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{HOUSE[0]}>")
    blob = xexch50.encode(HOP, HOUSE[:1])
    await client.say(xexch50.command(blob, 1).decode())
    assert (await client.say(blob)).startswith("550")


@pytest.mark.parametrize("command", ["XEXCH50", "XEXCH50 2", "XEXCH50 x 1", "XEXCH50 99999999 1", "XEXCH50 2 99999"])
async def test_an_odd_xexch50_is_refused(desk: Desk, command: str) -> None:
    """ML-7: sizes and numbers have limits."""
    client = await desk.store()
    assert (await client.say("XEXCH50 2 2")).startswith("503")
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{HOUSE[0]}>")
    assert (await client.say(command)).startswith("501")


# --- groups, limits, faults


async def test_a_group_of_commands_is_answered_in_order(desk: Desk) -> None:
    """RFC 2920: commands that come together are obeyed one by one."""
    client = await desk.client()
    group = f"MAIL FROM:<a@x.test>\r\nRCPT TO:<{HOUSE[0]}>\r\nRCPT TO:<x@y.test>\r\nDATA\r\n"
    assert (await client.say(group.encode())).startswith("250 2.1.0")
    assert [(await client.reply())[:3] for _ in range(3)] == ["250", "550", "354"]


async def test_commands_that_bring_no_mail_are_limited(desk: Desk) -> None:
    """ML-7: a client that only talks is sent away; one that brings mail is not."""
    desk.limits = ListenerLimits(fruitless_commands=5)
    client = await desk.client()
    for _ in range(3):
        assert (await client.say("NOOP")).startswith("250")
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{HOUSE[0]}>")
    assert (await client.say(b"BDAT 3 LAST\r\na\r\n")).startswith("250")
    for _ in range(5):
        assert (await client.say("NOOP")).startswith("250")
    assert (await client.say("NOOP")).startswith("421 4.7.0")
    assert await client.reply() == ""


async def test_one_machine_does_not_take_all_connections(desk: Desk) -> None:
    """ML-7: strangers of one machine are limited beside the total, stores that authenticated are not among them."""
    desk.limits = ListenerLimits(stranger_connections=2, store_connections=1)
    store = await desk.store()
    await desk.client()
    assert desk.listener is not None
    second = await desk.client()
    third = Client(*await asyncio.open_connection(*desk.listener.address))
    desk.clients.append(third)
    assert (await third.reply()).startswith("421")
    assert (await store.say("NOOP")).startswith("250")
    assert (await prove(second, credentials("A"))).startswith("421")


@pytest.mark.parametrize("verb", [Verb.EHLO, Verb.AUTH, Verb.MAIL, Verb.RCPT, Verb.XEXCH50, Verb.DATA, Verb.QUIT])
async def test_a_fault_takes_the_place_of_a_verb(desk: Desk, verb: Verb) -> None:
    """The lab's fault answers instead of the server, for that verb alone, and nothing is stored."""
    client = await desk.addressed() if verb in {Verb.XEXCH50, Verb.DATA} else await desk.client()
    if verb is Verb.RCPT:
        await client.say("MAIL FROM:<a@x.test>")
    desk.faults = {verb: VerbFault(Mishap.REPLY, 451, "4.3.0 so it is")}
    said = {
        Verb.EHLO: "EHLO A",
        Verb.AUTH: f"AUTH {MECHANISM}",
        Verb.MAIL: "MAIL FROM:<a@x.test>",
        Verb.RCPT: f"RCPT TO:<{HOUSE[0]}>",
        Verb.XEXCH50: "XEXCH50 2 2",
        Verb.DATA: "DATA",
        Verb.QUIT: "QUIT",
    }[verb]
    assert await client.say(said) == "451 4.3.0 so it is"
    assert desk.met[-1] == ("A", verb)
    assert (await client.say("NOOP")).startswith("250")


@pytest.mark.parametrize("mishap", [Mishap.DISCONNECT, Mishap.SILENCE])
async def test_an_answer_that_is_lost_is_that_of_a_mail_that_was_taken(desk: Desk, mishap: Mishap) -> None:
    """OUT-9: at the end of data the mail is durable and its sender does not learn of it."""
    desk.limits = ListenerLimits(silence_seconds=0.01)
    desk.faults = {Verb.END: VerbFault(mishap)}
    client = await desk.addressed()
    assert await client.say(b"BDAT 3 LAST\r\na\r\n") == ""
    assert desk.contents == [b"a\r\n"]


@pytest.mark.parametrize("mishap", [Mishap.DISCONNECT, Mishap.SILENCE])
async def test_what_came_before_a_connection_was_dropped_is_not_obeyed(desk: Desk, mishap: Mishap) -> None:
    """ML-7: the rest of a chunk at which the lab drops the connection is content, and no commands."""
    desk.limits = ListenerLimits(silence_seconds=0.01)
    desk.faults = {Verb.BDAT: VerbFault(mishap)}
    client = await desk.addressed()
    assert await client.say(b"BDAT 50 LAST\r\nRSET\r\nMAIL FROM:<b@x.test>\r\n") == ""
    assert desk.met[-1] == ("A", Verb.BDAT)


async def test_a_refused_chunk_of_the_lab_is_read_to_its_end(desk: Desk) -> None:
    """A fault at BDAT answers when the chunk has come."""
    desk.faults = {Verb.BDAT: VerbFault(Mishap.REPLY, 452, "4.3.1 no room")}
    client = await desk.addressed()
    assert await client.say(b"BDAT 6 LAST\r\nNOOP\r\n") == "452 4.3.1 no room"
    assert (await client.say("NOOP")).startswith("250")
    assert desk.contents == []


# --- X-LINK2STATE


LINE = line_of(LinkReport("SEA-NYC", "A", 1_000_000, down=True, lamport=3))


async def test_a_store_that_has_authenticated_may_tell_of_links(desk: Desk) -> None:
    """RT-2: the report comes with the name that was proven, before any mail or without one."""
    client = await desk.store("A")
    assert await client.say(f"X-LINK2STATE {LINE}") == "250 2.0.0 OK"
    assert desk.links == [("A", LINE)]
    assert (await client.say("X-LINK2STATE SEA-NYC is down")).startswith("501")
    assert len(desk.links) == 1


async def test_nobody_else_can_change_routes(desk: Desk) -> None:
    """RT-2, ML-3: without authentication X-LINK2STATE is refused, and so it is where stores cannot authenticate."""
    client = await desk.client()
    assert await client.say(f"X-LINK2STATE {LINE}") == "504 Need to authenticate first"
    assert (await prove(client, credentials("A", LabAuthority(b"another lab's...")))).startswith("535")
    assert await client.say(f"X-LINK2STATE {LINE}") == "504 Need to authenticate first"
    store = await desk.store("A")
    desk.offers = Offers(authentication=False)
    assert await store.say(f"X-LINK2STATE {LINE}") == "504 Need to authenticate first"
    assert "X-LINK2STATE" not in await (await desk.client()).say("EHLO A")
    assert desk.links == []


async def test_a_sender_tells_of_links_before_its_mail_and_by_calls(desk: Desk) -> None:
    """RT-2: once a connection and again when something is new; a call carries no mail."""
    await desk.client()
    assert desk.listener is not None
    sender = SmtpSender(credentials=credentials("A"))
    mail = Transmission(
        1, "B", None, "A-IS@contoso.test", HOUSE[:1], b"Subject: x\r\n\r\nx\r\n", "<1@A>", "x", 0, Priority.NORMAL, 1, 0
    )  # fmt: skip
    call = replace(mail, queue_id=-1, recipients=(), content=b"", links=(LINE,))
    for sent in (mail, replace(mail, links=(LINE,)), replace(mail, links=(LINE,)), call):
        assert (await sender.send(desk.listener.address, sent, "A")).state is SendState.DELIVERED
    assert desk.links == [("A", LINE), ("A", LINE)] and len(desk.contents) == 3
    stranger = SmtpSender()
    assert (await stranger.send(desk.listener.address, call, "A")).state is SendState.DELIVERED
    assert len(desk.links) == 2
    await sender.close()
    await stranger.close()
    address = desk.listener.address
    await desk.listener.stop()
    outcome = await SmtpSender().send(address, call, "A")
    assert outcome.unreachable and outcome.state is SendState.DEFERRED
