"""Connectors whose mail goes through a mail server that the lab does not own.

`tests/outsiders/test_postfix.py` does the same with Postfix.

# spec: ML-6
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from pflab.drivers import relayed_mails
from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.drivers.relayed_mails import RelayedMails
from pflab.drivers.socket_lab import send_mail
from pflab.runs.recorder import Record
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulator import Simulator
from tests.support.lab_actions import events_of, post, subjects
from topology.file.load import topology_from_text
from topology.model import Topology
from traces.events import Event, HopDropped, HopReceived, HopSent
from traces.labtime import HOUR_US

SLOW_S = 0.3


class SlowRelay:
    """A mail server that accepts each mail, and later gives it to the server of its recipients' store."""

    def __init__(self) -> None:
        self.port = 0
        self.given: set[asyncio.Task[None]] = set()
        self.smtp_of: Callable[[str], tuple[str, int]]

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        self.given.add(asyncio.create_task(self._give(envelope)))
        return "250 OK"

    async def _give(self, envelope: Envelope) -> None:
        assert isinstance(envelope.content, bytes) and envelope.mail_from is not None
        await asyncio.sleep(SLOW_S)
        for to in envelope.rcpt_tos:
            await send_mail(self.smtp_of(to.partition("-")[0]), envelope.mail_from, [to], envelope.content)


@pytest.fixture
async def relay() -> AsyncIterator[SlowRelay]:
    relay = SlowRelay()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(relay, hostname="relay.test", loop=loop), "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    yield relay
    server.close()
    await server.wait_closed()
    await asyncio.gather(*relay.given)


def organization(port: int) -> Topology:
    return topology_from_text(f"""
sites: [SEA, NYC]
connectors: [{{between: [SEA, NYC], kind: smtp-relay, relay: "127.0.0.1:{port}"}}]
servers: {{A: {{site: SEA}}, B: {{site: NYC}}}}
folders: {{Projects: {{replicas: [A, B]}}}}
""")


@pytest.mark.live
@pytest.mark.parametrize("driver", [LiveLab, ProcessLab])
async def test_lab_time_waits_for_a_relay(driver: type[LiveLab | ProcessLab], relay: SlowRelay, tmp_path: Path) -> None:
    """A mail arrives at the lab time at which it was sent, however long the relay has it. (TM-1)"""
    async with driver(organization(relay.port), folder=RunFolder.at(tmp_path / "run")) as lab:
        relay.smtp_of = lab.smtp_of
        await post(lab, "A")
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "B") == ["Hello"]
        (sent,) = events_of(lab, HopSent)
        (arrived,) = events_of(lab, HopReceived)
        assert (sent.next_hop, arrived.peer, arrived.authenticated) == ("B", "mail.outside.test", False)
        assert arrived.at == sent.at
    assert len(relay.given) == 1


@pytest.mark.live
async def test_a_relay_that_does_not_run_is_tried_again(tmp_path: Path) -> None:
    """A mail for a relay that refuses the connection stays queued, also while the other bridgehead runs. (RT-2)"""
    async with LiveLab(organization(9), folder=RunFolder.at(tmp_path / "run")) as lab:
        await post(lab, "A")
        await lab.advance(lab.now + HOUR_US)
        (queued,) = lab.read("A", lambda node: node.queue())
        assert (queued.next_hop, queued.attempts > 1) == ("B", True)


async def test_the_simulator_plays_the_relay_itself() -> None:
    """In a simulated lab a relay at an address changes nothing."""
    async with Simulator(organization(9)) as lab:
        await post(lab, "A")
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "B") == ["Hello"]


# --- which mails lab time waits for


class Watched:
    """Events that a record gets one by one, and what lab time waits for after them."""

    def __init__(self) -> None:
        topology = organization(25)
        self.record = Record("run", folder=None, now=lambda: 0)
        self.mails = RelayedMails(lambda: topology, self.record)

    def after(self, *events: Event) -> str:
        self.record.extend(events)
        return self.mails.waits()


def event(kind: type[Event], node: str, mail: str | None, *recipients: str, **more: object) -> Event:
    fields: dict[type[Event], dict[str, object]] = {
        HopSent: {"next_hop": "B", "connector": "SEA-NYC", "size": 1, "attempt": 1, "queue_id": 1},
        HopReceived: {"peer": "relay.test", "size": 1, "authenticated": False},
        HopDropped: {"fault": "lose-1", "sender": ""},
    }
    header = {"run": "run", "node": node, "incarnation": 1, "seq": 1, "lamport": 1, "at": 0, "mail": mail}
    return kind(**header, recipients=recipients, **(fields[kind] | more))  # type: ignore[arg-type, call-arg]  # fields as data


TWO = event(HopSent, "A", "1@a", "B", "C")
WAITS = "1 mail in 127.0.0.1:25"


def test_the_wait_ends_when_each_recipient_has_the_mail() -> None:
    """The relay may split a mail, and a fault may lose a part of it."""
    watched = Watched()
    assert watched.after() == ""
    assert watched.after(TWO, event(HopReceived, "B", "1@a", "B")) == WAITS
    assert watched.after(event(HopDropped, "B", "1@a", "C")) == ""


def test_a_mail_may_arrive_before_the_relays_answer_is_stored() -> None:
    """Events of two servers come in any order."""
    assert Watched().after(event(HopReceived, "B", "1@a", "B", "C"), TWO) == ""


def test_mail_between_servers_is_no_mail_of_a_relay() -> None:
    """Neither a hop inside the lab begins a wait, nor does one end it."""
    watched = Watched()
    assert watched.after(event(HopSent, "A", "1@a", "B", connector=None)) == ""
    assert watched.after(TWO, event(HopReceived, "B", "1@a", "B", "C", authenticated=True)) == WAITS


def test_a_notice_ends_the_wait_for_the_oldest_mail_of_its_server() -> None:
    """The notice of a relay arrives at the server that gave it the mail. (ML-7)"""
    watched = Watched()
    other = event(HopSent, "A", "2@a", "B")
    assert watched.after(TWO, other, event(HopReceived, "B", "n@relay", "B")) == "2 mails in 127.0.0.1:25"
    assert watched.after(event(HopReceived, "A", "n@relay", "A")) == WAITS
    assert watched.after(event(HopReceived, "A", None, "A")) == ""


def test_lab_time_goes_on_without_a_mail_that_the_relay_keeps(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says so. If the mail comes later, it is not taken for a notice."""
    watched = Watched()
    assert watched.after(TWO) == WAITS
    monkeypatch.setattr(relayed_mails, "PATIENCE_S", 0)
    assert watched.after() == ""
    assert "1 mail in 127.0.0.1:25 for 0 s: lab time goes on" in caplog.text
    monkeypatch.undo()
    of_b = event(HopSent, "B", "1@b", "A")
    assert watched.after(of_b, event(HopReceived, "B", "1@a", "B")) == WAITS
    assert watched.after(event(HopReceived, "A", "1@b", "A")) == ""
