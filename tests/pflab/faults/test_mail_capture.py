"""Kept mails: the names of their files, and what happens if they cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.errors import LabError
from pflab.faults.mail_capture import MailCapture, MailFiles, RecentMails, with_capture
from pflab.runs.run_folder import RunFolder
from traces.labtime import LabTime, parse_instant
from transport.envelope import Priority, Transmission
from transport.protocol.fault_points import GO, AfterSend, BeforeSend, Decision, FaultPoint

AT = parse_instant("2003-10-21T00:15Z")


class Plan:
    """A fault plan that records its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, bool]] = []

    def decide(self, point: FaultPoint) -> Decision:
        if isinstance(point, AfterSend):
            self.calls.append((point.server, point.delivered))
        return GO


def sending(
    subject: str = "Folder Status Request", at: LabTime = AT, mail: str = "1@x", content: bytes = b"Subject: x\r\n\r\n"
) -> Transmission:
    return Transmission(
        queue_id=1,
        next_hop="SEA-02",
        connector=None,
        sender="SEA-01-IS@contoso.test",
        recipients=("SEA-02-IS@contoso.test",),
        content=content,
        message_id=mail,
        subject=subject,
        attempts=0,
        priority=Priority.NORMAL,
        sent_at=at,
        lamport=7,
    )


def test_what_crossed_is_kept_and_what_failed_is_not(tmp_path: Path) -> None:
    """Each mail that the next server accepted is one file; the fault plan gets the same calls as without capture."""
    plan = Plan()
    capture = MailCapture(plan.decide, MailFiles(tmp_path).keep)
    assert capture.decide(BeforeSend("SEA-01", sending(), AT)) is GO
    capture.decide(AfterSend("SEA-01", sending(), False))
    assert list(tmp_path.iterdir()) == []
    capture.decide(AfterSend("SEA-01", sending(), True))
    (kept,) = tmp_path.iterdir()
    assert kept.name == "2003-10-21T001500Z-SEA-01-to-SEA-02-status-request.eml"
    assert kept.read_bytes() == b"X-Pflab-Hop: server=SEA-01; sent=1066695300000000; lamport=7\r\nSubject: x\r\n\r\n"
    assert plan.calls == [("SEA-01", False), ("SEA-01", True)]


def test_no_mail_takes_the_place_of_another(tmp_path: Path) -> None:
    """Names of mails of one kind in one second end with a number; ordinary mail is named so."""
    capture = MailCapture(Plan().decide, MailFiles(tmp_path).keep)
    for subject in ("Folder Content", "Folder Content", "Hello"):
        capture.decide(AfterSend("A", sending(subject, AT + 80_000), True))
    assert sorted(each.name.partition("-to-SEA-02-")[2] for each in tmp_path.iterdir()) == [
        "content-2.eml",
        "content.eml",
        "mail.eml",
    ]


def test_a_mail_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    """If the file cannot be made the run ends with one line instead of going on without its mails."""
    capture = MailCapture(Plan().decide, MailFiles(tmp_path / "none").keep)
    with pytest.raises(LabError, match="cannot be written"):
        capture.decide(AfterSend("A", sending(), True))


def test_without_kept_mails_the_plan_is_used_directly(tmp_path: Path) -> None:
    """A lab without a run folder, or one that keeps no mails, uses the fault plan itself."""
    plan = Plan()
    assert with_capture(plan.decide, None) == plan.decide
    assert with_capture(plan.decide, RunFolder.at(tmp_path / "one")) == plan.decide
    assert with_capture(plan.decide, RunFolder.at(tmp_path / "two", keeps_mails=True)) != plan.decide


def test_the_newest_mails_are_kept_in_memory() -> None:
    """A lab keeps its newest mails up to a number and a size, and forgets the oldest first. A mail is kept once."""
    recent = RecentMails(most=2, most_bytes=500)
    capture = MailCapture(Plan().decide, recent.keep)

    def send(mail: str, content: bytes) -> None:
        capture.decide(AfterSend("A", sending(mail=mail, content=content), True))

    def kept(*mails: str) -> list[bytes | None]:
        return [found if found is None else found.partition(b"\r\n")[2] for found in map(recent.find, mails)]

    for mail in ("1", "2", "3"):
        send(mail, b"one")
    assert kept("1", "2", "3") == [None, b"one", b"one"]
    send("2", b"its second hop")
    assert kept("2", "3") == [b"its second hop", b"one"]
    send("4", b"4" * 430)
    assert kept("2", "3", "4") == [None, None, b"4" * 430]
    send("5", b"5" * 600)
    assert kept("4", "5") == [None, None], "too large to be kept"


def test_a_mail_of_another_process_is_kept_only_if_it_comes_along() -> None:
    """A node in a process of its own reports an attempt without the content, unless the lab keeps mails."""
    recent = RecentMails()
    MailCapture(Plan().decide, recent.keep).decide(AfterSend("A", sending(content=b""), True))
    assert recent.find("1@x") is None
