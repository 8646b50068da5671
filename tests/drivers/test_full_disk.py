"""A running lab on a full disk refuses everything temporarily, loses nothing that it acknowledged, and recovers."""

from __future__ import annotations

import asyncio
import smtplib
from email.message import EmailMessage
from pathlib import Path

import pytest

from node.errors import CannotWrite
from pflab.drivers.live import LiveLab
from pflab.errors import NotIdle
from pflab.lab import coordinator
from pflab.runs.run_folder import RunFolder
from tests.support.disk import no_file_grows
from tests.support.lab_actions import subjects
from topology.file.load import topology_from_text
from traces.events import NodeStarted
from traces.labtime import MINUTE_US

pytestmark = pytest.mark.live

TOPOLOGY = "organization: Contoso\ndomain: contoso.test\nservers: {A: , B: }\nfolders: {Projects: }\n"
FULL = 100_000
"""Bytes beyond which no file of the lab grows while its disk is full."""

LARGE = "a line of text\n" * 100_000


@pytest.fixture
def lab(tmp_path: Path) -> LiveLab:
    return LiveLab(topology_from_text(TOPOLOGY), folder=RunFolder.create(tmp_path / "runs", "live"))


def hand_in(address: tuple[str, int], subject: str) -> int:
    """Send an outsider's mail by SMTP, and return the reply code."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "kim@example.com", "Projects@contoso.test", subject
    mail.set_content(LARGE)
    with smtplib.SMTP(*address) as client:
        try:
            client.send_message(mail)
        except smtplib.SMTPDataError as error:
            return error.smtp_code
    return 250


async def test_a_lab_refuses_temporarily_on_a_full_disk_and_recovers(lab: LiveLab) -> None:
    """DU-1, IN-2: on a full disk posts and mail are refused temporarily, mail with 452. Cycles wait without the server
    failing. When there is room again, acknowledged posts replicate, and the mail that is sent again is posted once."""
    async with lab:
        address = lab.address_of("A")
        assert address is not None
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="before", body=LARGE))
        with no_file_grows(FULL):
            with pytest.raises(CannotWrite):
                await lab.do("A", lambda node, now: node.post(now, "Projects", subject="refused", body=LARGE))
            assert await asyncio.to_thread(hand_in, address, "by mail") == 452
            moving = asyncio.ensure_future(lab.advance(lab.topology.start_at + 15 * MINUTE_US))
            async with asyncio.timeout(20):
                while "cannot write" not in lab._hosts["A"].busy(lab.now):  # noqa: ASYNC110 - the host tells nobody
                    await asyncio.sleep(0.005)
            assert not moving.done()
        await moving
        assert await asyncio.to_thread(hand_in, address, "by mail") == 250
        await lab.advance(lab.now + 15 * MINUTE_US)
        assert subjects(lab, "A") == subjects(lab, "B") == ["before", "by mail"]


async def test_servers_stop_start_and_die_on_a_full_disk(lab: LiveLab, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk a warp ends with the reason, a server stops and dies, and its start is refused. When there is room
    again, everything works, and nothing is lost."""
    monkeypatch.setattr(coordinator, "BLOCKED_LIMIT_S", 0.2)
    async with lab:
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="before", body=LARGE))
        with no_file_grows(FULL):
            with pytest.raises(
                NotIdle, match=r"nothing could be written for 0.2 s; free space, .*store A cannot write"
            ):
                await lab.advance(lab.now + 15 * MINUTE_US)
            await lab.stop("A")
            await lab.kill("B")
            for name in ("A", "B", "A"):
                with pytest.raises(CannotWrite):
                    await lab.start(name)
                assert not lab.running(name)
        await lab.start("A")
        await lab.start("B")
        await lab.advance(lab.now + 15 * MINUTE_US)
        assert subjects(lab, "A") == subjects(lab, "B") == ["before"]


async def test_a_backup_that_does_not_fit_is_still_a_backup(lab: LiveLab) -> None:
    """RP-4: on a full disk a restore is refused as such, and works later."""
    async with lab:
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="before", body=LARGE))
        backup = await lab.backup("A")
        await lab.stop("A")
        with no_file_grows(FULL), pytest.raises(CannotWrite):
            await lab.restore("A", backup)
        await lab.start("A")
        assert not any(isinstance(event, NodeStarted) and event.reason == "restored" for event in lab.events())
        await lab.restore("A", backup)
        assert subjects(lab, "A") == ["before"]
