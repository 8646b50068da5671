"""Postfix as the relay of a connector: the only way between two sites goes through a mail server that the lab does not own.

Whatever Postfix does to the mails, the lab converges: what it loses or spoils comes again by backfill.
"""

from __future__ import annotations

import asyncio
import re
import smtplib
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiosmtplib
import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from bench.peers.postfix import MAIN, missing, own_postfix, program
from bench.ports import free_port
from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.oracle.judge import Observer
from pflab.runs.run_folder import RunFolder
from pflab.terms.verdict import Judgement
from tests.support.lab_actions import events_of, post, subjects
from topology.file.load import topology_from_text
from traces.events import HopExpired, HopReceived, HopSent, MailBad, MailReceived
from traces.labtime import DAY_US, HOUR_US
from traces.reading import read_folder

pytestmark = [
    pytest.mark.outsiders,
    pytest.mark.live,
    pytest.mark.skipif(missing(["postfix"]) is not None, reason=str(missing(["postfix"]))),
]

LIMIT_S: Final = 20
HOST: Final = "postfix.outside.test"
SEVERAL: Final = ("B", "C")

AnyLab = LiveLab | ProcessLab


@dataclass(frozen=True, slots=True)
class Relay:
    """A Postfix that gives each store's mail to this store's server.

    `folder`: its configuration.
    `smtp`: ports of servers.
    """

    folder: Path
    port: int
    smtp: dict[str, int]

    def set(self, **settings: str) -> None:
        """Start Postfix again with these settings, and otherwise with those of this class."""
        to = "".join(f"{{ {name}-IS@contoso.test = smtp:[127.0.0.1]:{port} }} " for name, port in self.smtp.items())
        usual = {
            "maillog_file": "",  # with a log of its own, Postfix waits for its logger at times, and its logger for it
            "myhostname": HOST,
            "relay_domains": "contoso.test",
            "relayhost": f"[127.0.0.1]:{self.smtp['B']}",
            "transport_maps": f"inline:{{ {to}}}",
        }
        lines = [f"{name} = {value}\n" for name, value in (usual | settings).items()]
        text = MAIN.format(folder=self.folder.parent) + "".join(lines)
        if (self.folder / "main.cf").read_text("ascii") == text:
            return
        (self.folder / "main.cf").write_text(text, "ascii")
        # After `postfix reload` its processes keep their old settings as long as a connection is open.
        self.run("postfix", "stop")
        (self.folder.parent / "queue" / "quick-start").touch()
        self.run("postfix", "start")

    def run(self, name: str, *more: str) -> str:
        """Run a program of Postfix and return what it prints."""
        order = [program(name), "-c", str(self.folder), *more]
        return subprocess.run(order, check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout


@pytest.fixture(scope="module")
def postfix() -> Iterator[Relay]:
    ports = [free_port() for _ in "ABC"]
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        with own_postfix(Path(folder), port, "maillog_file =\n") as settings:
            yield Relay(settings, port, dict(zip("ABC", ports, strict=True)))


@pytest.fixture
def relay(postfix: Relay) -> Iterator[Relay]:
    yield postfix
    postfix.run("postsuper", "-d", "ALL")


@asynccontextmanager
async def lab_behind(
    relay: Relay, folder: Path, others: tuple[str, ...] = ("B",), driver: type[AnyLab] = LiveLab
) -> AsyncIterator[AnyLab]:
    """Run a lab with A in one site and the other stores in another; at the end it has converged and its trace is whole."""
    servers = "".join(f"  {name}: {{site: NYC, smtp_port: {relay.smtp[name]}}}\n" for name in others)
    topology = topology_from_text(f"""
domain: contoso.test
sites: [SEA, NYC]
connectors: [{{between: [SEA, NYC], kind: smtp-relay, relay: "127.0.0.1:{relay.port}"}}]
servers:
  A: {{site: SEA, smtp_port: {relay.smtp["A"]}}}
{servers}
folders: {{Projects: {{replicas: [A, {", ".join(others)}]}}}}
""")
    run = RunFolder.at(folder / "run")
    async with driver(topology, folder=run) as lab:
        yield lab
        assert Observer(lab).judge().verdict().judgement is Judgement.CONVERGED
    assert read_folder(run.traces).report() == []


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds in real time."""
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110 - nothing tells when Postfix has delivered
            await asyncio.sleep(0.05)


def from_relay(lab: AnyLab, server: str) -> list[HopReceived]:
    """Return the arrivals of mails from Postfix at a server."""
    return [each for each in events_of(lab, HopReceived, server) if each.peer == HOST]


@pytest.mark.parametrize("driver", [LiveLab, ProcessLab])
async def test_replication_passes_through(relay: Relay, tmp_path: Path, driver: type[AnyLab]) -> None:
    """Posts go both ways, and arrive at the lab time at which they were sent: lab time waits for the relay."""
    relay.set()
    async with lab_behind(relay, tmp_path, driver=driver) as lab:
        await post(lab, "A", "From A")
        await post(lab, "B", "From B", "x" * 100_000)
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "A") == subjects(lab, "B") == ["From A", "From B"]
        sent = {each.mail: each.at for each in events_of(lab, HopSent)}
        arrived = from_relay(lab, "A") + from_relay(lab, "B")
        assert arrived
        assert {each.mail: each.at for each in arrived} == sent
        assert not any(each.authenticated for each in arrived)


async def test_the_relay_splits_a_mail(relay: Relay, tmp_path: Path) -> None:
    """One copy crosses the connector for two stores, and the relay makes a copy for each. (RT-1)"""
    relay.set()
    async with lab_behind(relay, tmp_path, SEVERAL) as lab:
        await post(lab, "A")
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "B") == subjects(lab, "C") == ["Hello"]
        (sent,) = events_of(lab, HopSent, "A")
        assert len(sent.recipients) == len(SEVERAL)
        assert [each.recipients for name in SEVERAL for each in from_relay(lab, name)] == [
            (f"{name}-IS@contoso.test",) for name in SEVERAL
        ]


async def test_the_relay_rewrites_headers(relay: Relay, tmp_path: Path) -> None:
    """Replication mail does not depend on header fields that a mail server may change."""
    (relay.folder / "headers").write_text(
        "/^Subject:/ REPLACE Subject: [checked] rewritten\n/^Date:/ PREPEND X-Checked: yes\n/^X-Mailer:/ IGNORE\n"
        "/^From:/ REPLACE From: somebody@outside.test\n",
        "ascii",
    )
    relay.set(header_checks=f"regexp:{relay.folder}/headers")
    async with lab_behind(relay, tmp_path) as lab:
        await post(lab, "A")
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "B") == ["Hello"]


async def test_the_relay_converts_8bitmime(relay: Relay, tmp_path: Path) -> None:
    """Postfix writes an 8-bit mail as quoted-printable for a server without 8BITMIME. The post and its replicas have the
    text, and replication mails cross the connector without 8-bit bytes at once. (ML-4)"""
    relay.set(smtp_discard_ehlo_keywords="8bitmime")
    letter = (
        "From: kim@outside.test\r\nTo: projects@contoso.test\r\nSubject: By 8BITMIME\r\nMIME-Version: 1.0\r\n"
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nGrüße\r\n"
    )

    def send() -> None:
        with smtplib.SMTP("127.0.0.1", relay.port, timeout=LIMIT_S) as client:
            options = ["BODY=8BITMIME"]
            client.sendmail("kim@outside.test", ["projects@contoso.test"], letter.encode(), mail_options=options)

    async with lab_behind(relay, tmp_path) as lab:
        await asyncio.to_thread(send)
        await eventually(lambda: subjects(lab, "B") != [])
        await lab.advance(lab.now + HOUR_US)
        for server in "AB":
            (message,) = lab.read(server, lambda node: node.messages("Projects"))
            body = lab.read(server, lambda node, message=message: node.mail("Projects", message.id))
            assert b"quoted-printable" in body and b"Gr=C3=BC=C3=9Fe" in body
        assert len(from_relay(lab, "A")) == 1


async def test_the_relay_has_a_size_limit(relay: Relay, tmp_path: Path) -> None:
    """A relay's limit stops replication mails too. The mail comes back to its sender, and when the limit is gone, backfill
    brings the post. (OUT-7)"""
    relay.set(message_size_limit="20000")
    async with lab_behind(relay, tmp_path) as lab:
        await post(lab, "A", "Large", "x" * 100_000)
        await lab.advance(lab.now + HOUR_US)
        (returned,) = events_of(lab, HopExpired, "A")
        assert "5.3.4" in returned.reason
        assert subjects(lab, "B") == []
        relay.set()
        await lab.advance(lab.now + 4 * DAY_US)
        assert subjects(lab, "B") == ["Large"]


async def test_the_relay_bounces_a_mail(relay: Relay, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Postfix accepts a mail and gives it up later. Its notice of non-delivery ends the wait of lab time and is no bad mail.
    Backfill brings the post. (ML-7)"""
    relay.set(content_filter="error:5.1.1 nobody here")
    async with lab_behind(relay, tmp_path) as lab:
        await post(lab, "A")
        await lab.advance(lab.now + HOUR_US)
        assert "lab time goes on" not in caplog.text
        (notice,) = from_relay(lab, "A")
        assert notice.recipients == ("A-IS@contoso.test",)
        assert subjects(lab, "B") == []
        relay.set()
        await lab.advance(lab.now + 4 * DAY_US)
        assert subjects(lab, "B") == ["Hello"]
        assert events_of(lab, MailBad) == []


async def test_the_relay_keeps_a_mail_and_delivers_it_later(
    relay: Relay, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Lab time goes on without a mail that the relay keeps, and the lab says so. Put into its queue again, the mail arrives at
    a later lab time."""
    relay.set(defer_transports="smtp")
    async with lab_behind(relay, tmp_path) as lab:
        await post(lab, "A")
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "B") == []
        assert len(relay.run("postqueue", "-j").splitlines()) == 1
        assert f"1 mail in 127.0.0.1:{relay.port} for 5 s: lab time goes on" in caplog.text
        relay.set()
        relay.run("postsuper", "-r", "ALL")
        relay.run("postqueue", "-f")
        await eventually(lambda: subjects(lab, "B") == ["Hello"])
        await post(lab, "B", "Later")
        await lab.advance(lab.now + HOUR_US)


class Footer:
    """A content filter: it adds a footer to each mail and gives the mail to `port`. The footer is a line after the body, or a
    part after a part that has the body."""

    def __init__(self, port: int, line: bytes, *, in_a_part: bool = False) -> None:
        self.port = port
        self.line = line
        self.in_a_part = in_a_part

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        assert isinstance(envelope.content, bytes) and envelope.mail_from is not None
        content = (self._with_a_part if self.in_a_part else self._with_a_line)(envelope.content)
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=self.port) as client:
            await client.sendmail(envelope.mail_from, envelope.rcpt_tos, content)
        return "250 OK"

    def _with_a_line(self, content: bytes) -> bytes:
        return content + self.line + b"\r\n"

    def _with_a_part(self, content: bytes) -> bytes:
        header, _, body = content.partition(b"\r\n\r\n")
        fields = re.split(rb"\r\n(?![ \t])", header)
        of_body = [each for each in fields if each.lower().startswith(b"content-")]
        others = [each for each in fields if each not in of_body]
        outer = b'Content-Type: multipart/mixed; boundary="of-the-filter"'
        mail = [*others, outer, b"", b"--of-the-filter", *of_body, b"", body.removesuffix(b"\r\n"), b"--of-the-filter"]
        mail += [b"Content-Type: text/plain", b"", self.line, b"--of-the-filter--", b""]
        return b"\r\n".join(mail)


@asynccontextmanager
async def filtering(relay: Relay, footer: Footer) -> AsyncIterator[None]:
    """Let Postfix give all mail to a filter, which gives it back."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(footer, hostname="filter.test", loop=loop), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    services = relay.folder / "master.cf"
    usual = services.read_text("ascii")
    services.write_text(usual + f"127.0.0.1:{footer.port} inet n - n - - smtpd -o content_filter=\n", "ascii")
    relay.set(content_filter=f"smtp:[127.0.0.1]:{port}")
    yield
    services.write_text(usual, "ascii")
    relay.set()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(
    ("footer", "reason"),
    [
        (Footer(free_port(), b"This mail was scanned"), r"the mail's body is not base64"),
        (Footer(free_port(), b"This mail was scanned ok"), r"attribute 0x\w+ at byte \d+ has level"),
    ],
    ids=["not base64", "base64 by chance"],
)
async def test_the_relay_adds_a_footer(tmp_path: Path, relay: Relay, footer: Footer, reason: str) -> None:
    """A footer after a body in base64 spoils it, unless the base64 ends with padding, after which nothing is read. A spoiled
    mail is bad mail, which the trace shows; no mail vanishes. Backfill brings the posts. (IN-5, ML-6)"""
    async with lab_behind(relay, tmp_path) as lab:
        async with filtering(relay, footer):
            for length in range(1, 7):
                await post(lab, "A", "x" * length)
                await lab.advance(lab.now + HOUR_US)
        sent = [each.mail for each in events_of(lab, HopSent, "A")]
        bad = [each.mail for each in events_of(lab, MailBad, "B")]
        good = [each.mail for each in events_of(lab, MailReceived, "B")]
        assert bad and good and sorted(bad + good) == sorted(sent)
        assert all(re.match(reason, each.reason) for each in events_of(lab, MailBad, "B"))
        assert len(subjects(lab, "B")) == len(good)
        await lab.advance(lab.now + 4 * DAY_US)
        assert subjects(lab, "B") == subjects(lab, "A")


async def test_the_relay_adds_a_footer_as_a_part(tmp_path: Path, relay: Relay) -> None:
    """A filter may move the body into a part, and add its text as another part. To the store this is an ordinary mail, and so
    bad mail. Backfill brings the post. (IN-5)"""
    async with lab_behind(relay, tmp_path) as lab:
        async with filtering(relay, Footer(free_port(), b"This mail was scanned", in_a_part=True)):
            await post(lab, "A")
            await lab.advance(lab.now + HOUR_US)
        (bad,) = events_of(lab, MailBad, "B")
        assert bad.reason.startswith("an ordinary mail")
        assert subjects(lab, "B") == []
        await lab.advance(lab.now + 4 * DAY_US)
        assert subjects(lab, "B") == ["Hello"]
