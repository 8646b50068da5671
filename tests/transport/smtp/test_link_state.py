"""Stores tell each other of links: X-LINK2STATE."""

from msgspec.structs import replace

from node.codec.signing import LabAuthority
from tests.support.smtp_peers import RECIPIENTS, ListenerHarness, credentials
from transport.envelope import Offers, Priority, SendState, Transmission
from transport.protocol.link_state import LinkReport, line_of
from transport.smtp.sender import SmtpSender

LINE = line_of(LinkReport("SEA-NYC", "A", 1_000_000, down=True, lamport=3))


async def test_an_authenticated_store_can_report_links(harness: ListenerHarness) -> None:
    """RT-2: the report is passed on with the proven name, before a mail or without one."""
    client = await harness.store("A")
    assert await client.say(f"X-LINK2STATE {LINE}") == "250 2.0.0 OK"
    assert harness.link_states == [("A", LINE)]
    assert (await client.say("X-LINK2STATE SEA-NYC is down")).startswith("501")
    assert len(harness.link_states) == 1


async def test_nobody_else_can_change_routes(harness: ListenerHarness) -> None:
    """RT-2, ML-3: without authentication X-LINK2STATE is refused, also if the server does not offer it."""
    client = await harness.client()
    assert await client.say(f"X-LINK2STATE {LINE}") == "504 Need to authenticate first"
    assert (await client.authenticate(credentials("A", LabAuthority(b"another lab's...")))).startswith("535")
    assert await client.say(f"X-LINK2STATE {LINE}") == "504 Need to authenticate first"
    store = await harness.store("A")
    harness.offers = Offers(authentication=False)
    assert await store.say(f"X-LINK2STATE {LINE}") == "504 Need to authenticate first"
    assert "X-LINK2STATE" not in await (await harness.client()).say("EHLO A")
    assert harness.link_states == []


async def test_a_sender_reports_links_before_its_mail_and_by_calls(harness: ListenerHarness) -> None:
    """RT-2: reports are sent once on a connection, and again when they change; a call carries no mail."""
    await harness.client()
    sender = SmtpSender(credentials=credentials("A"))
    mail = Transmission(
        1, "B", None, "A-IS@contoso.test", RECIPIENTS[:1], b"Subject: x\r\n\r\nx\r\n", "<1@A>", "x", 0, Priority.NORMAL, 1, 0
    )  # fmt: skip
    call = replace(mail, queue_id=-1, recipients=(), content=b"", links=(LINE,))
    for sent in (mail, replace(mail, links=(LINE,)), replace(mail, links=(LINE,)), call):
        assert (await sender.send(harness.listener.address, sent, "A")).state is SendState.DELIVERED
    assert harness.link_states == [("A", LINE), ("A", LINE)] and len(harness.contents) == 3
    stranger = SmtpSender()
    assert (await stranger.send(harness.listener.address, call, "A")).state is SendState.DELIVERED
    assert len(harness.link_states) == 2
    await sender.close()
    await stranger.close()
    address = harness.listener.address
    await harness.listener.stop()
    outcome = await SmtpSender().send(address, call, "A")
    assert outcome.unreachable and outcome.state is SendState.DEFERRED
