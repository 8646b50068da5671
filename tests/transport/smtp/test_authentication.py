"""Stores that prove who they are, and what is believed of a mail then: AUTH and XEXCH50."""

from base64 import b64decode, b64encode

import pytest

from node.codec.signing import LabAuthority
from tests.support.smtp_peers import AUTHORITY, RECIPIENTS, ListenerHarness, credentials
from transport.envelope import CommandRefused, IncomingHop, Priority
from transport.protocol import xexch50
from transport.protocol.auth import MECHANISM, Credentials, answer_to

HOP = IncomingHop("A", 1_000_000, 17, Priority.URGENT, authenticated=True, system=True)


async def test_a_store_proves_itself_and_its_blob_is_believed(harness: ListenerHarness) -> None:
    """ML-3: after AUTH, the blob of XEXCH50 gives the hop and marks the mail as a system message."""
    client = await harness.store()
    await client.say("MAIL FROM:<A-IS@contoso.test>")
    await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")
    blob = xexch50.encode(HOP, RECIPIENTS[:1])
    assert await client.say(xexch50.command(blob, 1).decode()) == "354 Send binary data"
    assert (await client.say(blob)).startswith("250")
    assert (await client.say(b"BDAT 3 LAST\r\na\r\n")).startswith("250")
    assert harness.receiver.mails == [(HOP, "A-IS@contoso.test", RECIPIENTS[:1], b"a\r\n")]


async def test_a_stranger_is_told_to_authenticate_and_its_mail_is_ordinary(harness: ListenerHarness) -> None:
    """ML-3: the reply is 504, and the mail is accepted as ordinary mail, whatever its hop line says."""
    client = await harness.addressed()
    assert await client.say("XEXCH50 2336 3") == "504 Need to authenticate first"
    line = b"X-Pflab-Hop: server=A; sent=5; lamport=6\r\n"
    assert (await client.say(b"BDAT %d LAST\r\n%b\r\n" % (len(line) + 2, line))).startswith("250")
    assert harness.receiver.mails[0][0] == IncomingHop(
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
async def test_no_other_proof_is_accepted(harness: ListenerHarness, shown: Credentials, server: str) -> None:
    """ML-3: a proof needs the own key, the own certificate, and the name of this server."""
    client = await harness.client()
    assert (await client.authenticate(shown, server)).startswith("535")
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")
    assert (await client.say("XEXCH50 2 2")).startswith("504")


async def test_a_proof_cannot_be_repeated(harness: ListenerHarness) -> None:
    """ML-3: each challenge is different, so an answer that somebody overheard is useless."""
    client = await harness.client()
    challenge = (await client.say(f"AUTH {MECHANISM}"))[4:]
    answer = answer_to(challenge, "B", credentials("A"))
    assert answer is not None and (await client.say(answer + b"\r\n")).startswith("235")
    thief = await harness.client()
    assert (await thief.say(f"AUTH {MECHANISM}"))[4:] != challenge
    assert (await thief.say(answer + b"\r\n")).startswith("535")


@pytest.mark.parametrize("answer", [b"*", b"", b"!!", b64encode(b"A"), b64encode(b"A\0short"), b"x" * 4000])
async def test_a_malformed_answer_is_no_proof(harness: ListenerHarness, answer: bytes) -> None:
    """IN-5: any other answer is refused, and the connection stays open."""
    client = await harness.client()
    assert len(b64decode((await client.say(f"AUTH {MECHANISM}"))[4:])) == 32
    assert (await client.say(answer + b"\r\n")).startswith("535")
    assert (await client.say("AUTH LOGIN")).startswith("504")


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"\0" * 8,
        xexch50.encode(HOP, RECIPIENTS),
        xexch50.encode(HOP, RECIPIENTS[:1])[:-1],
        b"\1\0\0\0\xff\xff\xff\xff",
    ],
    ids=["empty", "version 0", "too many", "cut", "absurd length"],
)
async def test_a_malformed_blob_leaves_the_mail_ordinary(harness: ListenerHarness, blob: bytes) -> None:
    """ML-3, IN-5: a blob that cannot be decoded is refused and has no effect."""
    client = await harness.store()
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")
    assert (await client.say(xexch50.command(blob, 1).decode())).startswith("354")
    if blob:
        assert (await client.say(blob)).startswith("550")
    else:
        assert (await client.reply()).startswith("550")
    assert (await client.say(b"BDAT 3 LAST\r\na\r\n")).startswith("250")
    assert not harness.receiver.mails[0][0].system


async def test_a_blob_cannot_name_another_server(harness: ListenerHarness) -> None:
    """ML-3: a blob with another name than the authenticated one is refused."""
    client = await harness.store("C")
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")
    blob = xexch50.encode(HOP, RECIPIENTS[:1])
    await client.say(xexch50.command(blob, 1).decode())
    assert (await client.say(blob)).startswith("550")


@pytest.mark.parametrize("command", ["XEXCH50", "XEXCH50 2", "XEXCH50 x 1", "XEXCH50 99999999 1", "XEXCH50 2 99999"])
async def test_xexch50_beyond_the_limits_is_refused(harness: ListenerHarness, command: str) -> None:
    """ML-7: sizes and numbers have limits."""
    client = await harness.store()
    assert (await client.say("XEXCH50 2 2")).startswith("503")
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")
    assert (await client.say(command)).startswith("501")
