"""STARTTLS between servers, with certificates of the lab's authority, over real sockets."""

import asyncio
import gc
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from node.codec.certificates import server_certificate
from node.codec.signing import Verifier
from node.host.tls_files import tls_of
from tests.support.smtp_peers import AUTHORITY, RECIPIENTS, Client, Receiver, credentials, mail
from transport.envelope import SendState
from transport.protocol.auth import MECHANISM
from transport.smtp.listener import SmtpListener
from transport.smtp.sender import SmtpSender
from transport.smtp.tls import Tls

SEED = 7


@pytest.fixture
def peer() -> Receiver:
    return Receiver()


def listener_of(peer: Receiver, tls: Tls) -> SmtpListener:
    return SmtpListener(
        "B",
        accept=peer.accept,
        check_recipient=peer.check,
        verify_peer=Verifier(AUTHORITY.identity("B").authority_key).verify,
        tls=tls.server,
    )


@pytest.fixture
async def listener(peer: Receiver, tmp_path: Path) -> AsyncIterator[SmtpListener]:
    listener = listener_of(peer, tls_of(tmp_path, SEED, "B"))
    await listener.start()
    yield listener
    await listener.stop()


@pytest.fixture
async def client(listener: SmtpListener) -> AsyncIterator[Client]:
    client = Client(*await asyncio.open_connection(*listener.address))
    await client.reply()
    yield client
    await client.close()


async def send(listener: SmtpListener, tls: Tls, next_hop: str = "B", content: bytes = b"Subject: a\r\n\r\n") -> str:
    sender = SmtpSender(credentials=credentials("A"), tls=tls.client)
    sent = replace(mail(content=content), next_hop=next_hop, system=True)
    outcomes = [await sender.send(listener.address, sent, "A") for _ in range(2)]
    await sender.close()
    assert len({outcome.state for outcome in outcomes}) == 1
    return "" if outcomes[0].state is SendState.DELIVERED else outcomes[0].reason


async def test_a_mail_crosses_in_tls(peer: Receiver, listener: SmtpListener, tmp_path: Path) -> None:
    """A sender that verifies against the lab's authority authenticates and delivers inside TLS, large mails too."""
    content = b"Subject: a\r\nContent-Transfer-Encoding: binary\r\n\r\n" + bytes(range(256)) * 2000
    assert await send(listener, tls_of(tmp_path, SEED, "A"), content=content) == ""
    assert [sent[3] for sent in peer.mails] == [content] * 2
    assert all(sent[0].authenticated and sent[0].system for sent in peer.mails)


@pytest.mark.parametrize(("seed", "next_hop"), [(8, "B"), (SEED, "C")], ids=["another authority", "another name"])
async def test_a_server_that_cannot_be_verified_gets_nothing(
    peer: Receiver, listener: SmtpListener, tmp_path: Path, seed: int, next_hop: str
) -> None:
    """The certificate must be the authority's and bear the name of the server that is meant."""
    reason = await send(listener, tls_of(tmp_path / "other", seed, "A"), next_hop)
    assert reason.startswith("no connection") and "certificate" in reason.lower()
    assert peer.mails == []


async def test_a_server_with_a_certificate_takes_mail_only_in_tls(
    peer: Receiver, client: Client, tmp_path: Path
) -> None:
    """RFC 3207 4: AUTH and MAIL in clear are refused with 530, also after RSET and a second EHLO; in TLS mail is taken."""
    for before in ("EHLO A", "RSET", "EHLO A"):
        await client.say(before)
        assert (await client.say("MAIL FROM:<kim@x.test>")).startswith("530 5.7.0")
        assert (await client.say(f"AUTH {MECHANISM}")).startswith("530 5.7.0")
        assert (await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")).startswith("503")
        assert (await client.say("DATA")).startswith("503")
    assert (await client.say("STARTTLS")).startswith("220")
    await client.writer.start_tls(tls_of(tmp_path / "a", SEED, "A").client, server_hostname="B")
    await client.envelope()
    assert (await client.say(b"Subject: a\r\n\r\n.\r\n")).startswith("250")
    assert len(peer.mails) == 1


@pytest.mark.long
async def test_both_ends_may_close_at_once(
    peer: Receiver, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A QUIT that meets the end of the listener is no error, and nothing is logged."""
    for _ in range(10):
        listener = listener_of(peer, tls_of(tmp_path, SEED, "B"))
        await listener.start()
        sender = SmtpSender(credentials=credentials("A"), tls=tls_of(tmp_path, SEED, "A").client)
        sent = replace(mail(), next_hop="B", system=True)
        outcomes = await asyncio.gather(*(sender.send(listener.address, sent, "A") for _ in range(3)))
        assert {outcome.state for outcome in outcomes} == {SendState.DELIVERED}
        await asyncio.gather(listener.stop(), sender.close())
        gc.collect()
    assert (caplog.text, capfd.readouterr().err) == ("", "")


async def test_what_is_said_in_clear_is_forgotten(client: Client) -> None:
    """RFC 3207: commands slipped in behind STARTTLS are not obeyed, and STARTTLS is offered in clear alone."""
    assert "STARTTLS" in await client.say("EHLO A")
    assert (await client.say("STARTTLS now")).startswith("501")
    assert (await client.say(b"STARTTLS\r\nMAIL FROM:<a@x.test>\r\n")).startswith("220")
    client.writer.write(b"no handshake\r\n")
    assert await client.reply() == ""


@pytest.mark.parametrize("apart", [False, True], ids=["in one write", "behind it"])
async def test_no_command_in_clear_is_obeyed_inside_tls(
    peer: Receiver, client: Client, tmp_path: Path, apart: bool
) -> None:
    """RFC 3207 6: after a handshake that goes well the first answer is to what was said inside, and what somebody had put
    in clear behind STARTTLS has begun no mail."""
    await client.say("EHLO A")
    slipped = b"EHLO evil\r\nMAIL FROM:<evil@x.test>\r\nRCPT TO:<" + RECIPIENTS[0].encode() + b">\r\n"
    if apart:
        client.writer.write(b"STARTTLS\r\n")
        for _ in range(3):
            await asyncio.sleep(0)
        client.writer.write(slipped)
    else:
        client.writer.write(b"STARTTLS\r\n" + slipped)
    assert (await client.reply()).startswith("220")
    try:
        await client.writer.start_tls(tls_of(tmp_path / "a", SEED, "A").client, server_hostname="B")
    except (OSError, ConnectionError):
        assert apart  # it met the handshake, and the connection ended
    else:
        assert (await client.say("RCPT TO:<kim@contoso.test>")).startswith("503")
        assert "STARTTLS" not in await client.say("EHLO A")
        assert (await client.say("DATA")).startswith("503")
    assert peer.mails == []


async def test_a_server_that_seems_to_offer_no_tls_gets_nothing(peer: Receiver, tmp_path: Path) -> None:
    """ML-3: whoever strikes STARTTLS from an answer makes no store of a lab with TLS speak in clear."""
    plain = SmtpListener("B", accept=peer.accept, check_recipient=peer.check)
    await plain.start()
    try:
        reason = await send(plain, tls_of(tmp_path, SEED, "A"))
    finally:
        await plain.stop()
    assert "B does not offer STARTTLS" in reason
    assert peer.mails == []


def test_the_same_seed_makes_the_same_certificates() -> None:
    """Certificates come from the seed and the name."""
    one, other = server_certificate(bytes(32), "A"), server_certificate(bytes(32), "A")
    assert one == other
    assert server_certificate(bytes(32), "B").certificate != one.certificate
    assert server_certificate(bytes(32), "B").authority == one.authority


def test_servers_that_start_together_find_whole_certificates(tmp_path: Path) -> None:
    """All servers of a lab write the authority's certificate into one folder. A server that reads it must never find an empty
    file."""
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: tls_of(tmp_path, SEED, f"S{number % 4}"), range(40)))
