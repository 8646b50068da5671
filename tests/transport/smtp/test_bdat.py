"""Mails in chunks: BDAT, and what goes with it at EHLO and MAIL."""

import pytest

from tests.support.smtp_peers import RECIPIENTS, ListenerHarness
from transport.envelope import Offers
from transport.smtp.listener import ListenerLimits


async def test_chunks_make_a_mail(harness: ListenerHarness) -> None:
    """ML-4, RFC 3030: each chunk gets a reply, and after the last the mail is stored; dots have no meaning."""
    client = await harness.addressed()
    assert (await client.say(b"BDAT 12\r\nSubject: a\r\n")).startswith("250")
    assert (await client.say(b"BDAT 5\r\n\r\n.\r\n")).startswith("250")
    assert harness.contents == []
    assert (await client.say(b"BDAT 0 LAST\r\n")).startswith("250")
    assert harness.contents == [b"Subject: a\r\n\r\n.\r\n"]


async def test_a_large_binary_chunk_arrives_byte_for_byte(harness: ListenerHarness) -> None:
    """ML-4: with BODY=BINARYMIME every byte arrives unchanged, in one chunk of many reads."""
    content = b"Subject: a\r\n\r\n" + bytes(range(256)) * 4000
    client = await harness.addressed(" BODY=BINARYMIME")
    assert (await client.say(b"BDAT %d LAST\r\n%b" % (len(content), content))).startswith("250")
    assert harness.contents == [content]


@pytest.mark.parametrize("content", [b"a\nb\r\n", b"a\rb\r\n", b"a\r\n.\n"])
async def test_smuggling_is_refused_in_chunks_too(harness: ListenerHarness, content: bytes) -> None:
    """ML-7: a lone CR or LF is refused unless the mail was announced as binary."""
    client = await harness.addressed()
    assert (await client.say(b"BDAT %d LAST\r\n%b" % (len(content), content))).startswith("550 5.6.0")
    assert harness.contents == []


async def test_the_header_of_a_binary_mail_is_text(harness: ListenerHarness) -> None:
    """ML-7: a lone LF in the header is refused, so it cannot hide a header line."""
    client = await harness.addressed(" BODY=BINARYMIME")
    content = b"Subject: a\nReceived: x\r\n\r\n\0\n"
    assert (await client.say(b"BDAT %d LAST\r\n%b" % (len(content), content))).startswith("550 5.6.0")


async def test_a_chunk_before_rcpt_is_read_and_refused(harness: ListenerHarness) -> None:
    """RFC 3030: the bytes of a chunk that comes too early are not read as commands."""
    client = await harness.client()
    assert (await client.say(b"BDAT 6 LAST\r\nQUIT\r\n")).startswith("503")
    assert (await client.say("NOOP")).startswith("250")
    await client.say("MAIL FROM:<a@x.test>")
    assert (await client.say(b"BDAT 6\r\nQUIT\r\n")).startswith("503")


async def test_after_a_refused_chunk_only_rset_helps(harness: ListenerHarness) -> None:
    """RFC 3030: after a refused chunk, every further chunk of the mail is refused."""
    harness.limits = ListenerLimits(message_bytes=10)
    client = await harness.addressed()
    assert (await client.say(b"BDAT 8\r\n123456\r\n")).startswith("250")
    assert (await client.say(b"BDAT 8\r\n123456\r\n")).startswith("552")
    assert (await client.say(b"BDAT 2 LAST\r\n\r\n")).startswith("503")
    assert (await client.say("DATA")).startswith("503")
    assert (await client.say("RSET")).startswith("250")
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")
    assert (await client.say(b"BDAT 3 LAST\r\nx\r\n")).startswith("250")
    assert harness.contents == [b"x\r\n"]


async def test_data_and_bdat_are_not_mixed(harness: ListenerHarness) -> None:
    """RFC 3030: DATA is refused after BDAT, and for binary mail."""
    client = await harness.addressed()
    await client.say(b"BDAT 3\r\nx\r\n")
    assert (await client.say("DATA")).startswith("503")
    binary = await harness.addressed(" BODY=BINARYMIME")
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
async def test_a_chunk_of_unknown_length_ends_the_connection(
    harness: ListenerHarness, command: bytes, code: str
) -> None:
    """ML-7: nobody knows how many bytes follow, so nothing that follows is read as a command."""
    client = await harness.addressed()
    assert (await client.say(command)).startswith(code)
    assert await client.reply() == ""


async def test_chunks_of_one_mail_are_limited(harness: ListenerHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """ML-7: the number of chunks has a limit, for empty chunks too."""
    monkeypatch.setattr("transport.smtp.bdat.CHUNK_LIMIT", 3)
    client = await harness.addressed()
    for _ in range(3):
        assert (await client.say(b"BDAT 0\r\n")).startswith("250")
    assert (await client.say(b"BDAT 0\r\n")).startswith("552")


async def test_a_server_without_chunking_refuses_binary_mail(harness: ListenerHarness) -> None:
    """ML-4: such a server does not offer CHUNKING at EHLO, and refuses binary mail at MAIL."""
    harness.offers = Offers(chunking=False)
    client = await harness.client()
    said = await client.say("EHLO A")
    assert "CHUNKING" not in said and "BINARYMIME" not in said and "PIPELINING" in said
    assert (await client.say("MAIL FROM:<a@x.test> BODY=BINARYMIME")).startswith("501")
