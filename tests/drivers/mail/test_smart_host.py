"""Mail that leaves the organization through a smart host, to a foreign mail server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from node.errors import MailRefused
from pflab.drivers.live import LiveLab
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulator import Simulator
from topology.file.load import topology_from_text
from topology.model import Topology
from traces.events import HopExpired, HopSent, MailboxDelivered
from traces.labtime import MINUTE_US

TO = "kim@elsewhere.test"


class ForeignServer:
    """A mail server that accepts and keeps whatever is not for `nobody`."""

    def __init__(self) -> None:
        self.mails: list[Envelope] = []
        self.port = 0

    async def handle_RCPT(  # noqa: N802 - aiosmtpd looks hooks up by this name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address.startswith("nobody@"):
            return "550 5.1.1 no such person"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - as above
        self.mails.append(envelope)
        return "250 OK"


@pytest.fixture
async def outside() -> AsyncIterator[ForeignServer]:
    outside = ForeignServer()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(outside, hostname="outside.test", loop=loop), "127.0.0.1", 0)
    outside.port = server.sockets[0].getsockname()[1]
    yield outside
    server.close()
    await server.wait_closed()


def organization(port: int) -> Topology:
    return topology_from_text(f"""
organization: Contoso
domain: contoso.test
servers: {{A: {{settings: {{Smart Host: "127.0.0.1:{port}"}}}}, B: }}
folders: {{Projects: {{replicas: [A, B], contacts: [{TO}]}}}}
""")


def handed_over(lab: LiveLab | Simulator) -> list[HopSent]:
    return [event for event in lab.events() if isinstance(event, HopSent) and ":" in event.next_hop]


async def send(lab: LiveLab | Simulator, server: str, *to: str) -> None:
    await lab.do(server, lambda node, now: node.send_mail(now, "Projects", to=to, subject="Hello", body="Hi"))
    await lab.advance(lab.now + MINUTE_US)


@pytest.mark.live
async def test_mail_for_other_organizations_goes_to_the_smart_host(outside: ForeignServer, tmp_path: Path) -> None:
    """ML-5: a server with a smart host gives it the mail for outside, but no mail between stores. Other mail, and that of a
    server without one, stays in the lab's mailboxes."""
    async with LiveLab(organization(outside.port), folder=RunFolder.at(tmp_path / "run")) as lab:
        await send(lab, "A", TO, "ann@contoso.test")
        await send(lab, "B", TO)
        assert [event.recipients for event in handed_over(lab)] == [(TO,)]
        kept = [(event.node, event.recipient) for event in lab.events() if isinstance(event, MailboxDelivered)]
    (mail,) = outside.mails
    assert mail.rcpt_tos == [TO] and mail.mail_from == "Projects@contoso.test"
    assert isinstance(mail.content, bytes)
    assert b"Subject: Hello" in mail.content and b"X-Pflab-Hop" not in mail.content
    assert kept == [("A", "ann@contoso.test"), ("B", TO)]


@pytest.mark.live
async def test_what_the_smart_host_refuses_comes_back(outside: ForeignServer, tmp_path: Path) -> None:
    """RT-2, ML-5: refused mail is returned as other mail is, and becomes a post of the folder that sent it."""
    async with LiveLab(organization(outside.port), folder=RunFolder.at(tmp_path / "run")) as lab:
        await send(lab, "A", "nobody@elsewhere.test")
        assert [event.recipients for event in lab.events() if isinstance(event, HopExpired)] == [
            ("nobody@elsewhere.test",)
        ]
        posts = lab.read("A", lambda node: node.messages("Projects"))
        assert len(posts) == 1 and "Undeliver" in posts[0].subject


async def test_in_the_simulator_mail_counts_as_handed_over() -> None:
    """ML-5: a simulator has no outside; the trace shows the mail that would have left."""
    async with Simulator(organization(25)) as lab:
        await send(lab, "A", TO)
        assert [(event.next_hop, event.recipients) for event in handed_over(lab)] == [("127.0.0.1:25", (TO,))]
        assert lab.read("A", lambda node: node.mailbox()) == []


async def test_a_server_with_a_smart_host_is_no_open_relay() -> None:
    """ML-7: an outsider's mail does not leave through it, not even to a folder's contact outside."""
    async with Simulator(organization(25)) as lab:
        with pytest.raises(MailRefused, match="550"):
            lab.read("A", lambda node: node.check_recipient(TO))
        lab.read("B", lambda node: node.check_recipient(TO))
