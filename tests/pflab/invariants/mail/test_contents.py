"""Each invariant of versions in mails, answers and acceptance reports a planted violation with its store and value, and
passes correct events."""

from __future__ import annotations

from pflab.invariants.backfill_array import RequestsWithinTheLimit
from pflab.invariants.mail.contents import (
    AcceptedIsDurable,
    AnswersAreAsked,
    FrozenMailsWait,
    SameBytesEverywhere,
    TombstonesStay,
)
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, Trace, applies, number, numbers
from traces.events import (
    BackupMade,
    BackupRestored,
    HopReceived,
    HopSent,
    NodeStarted,
    QueueFrozen,
    QueueUnfrozen,
    RequestAnswered,
    RequestEnded,
    RequestSent,
    TombstoneDropped,
    TombstoneMade,
)
from traces.labtime import MINUTE_US


def test_other_bytes_than_the_authors() -> None:
    """A version must be applied with its author's bytes, and must have been made by a store (ML-2)."""
    trace = Trace(SameBytesEverywhere)
    made = trace.change("A", 5)
    applies(trace, "B", made)
    assert trace.witnesses() == []
    applies(trace, "B", made, digest="others")
    applies(trace, "B", made, number=number("A", 6))
    first, second = trace.witnesses()
    assert "B applied A-5" in first
    assert "with other bytes than its author's" in first
    assert second == "B applied A-6, which nobody made"


def test_a_version_after_the_tombstone() -> None:
    """A deleted object must not come back on a store before its tombstone is dropped (IN-4)."""
    trace = Trace(TombstonesStay)
    made = trace.change("A", 5)
    trace.add(TombstoneMade, "B", folder=FOLDER, object=made.object, number=number("A", 6))
    applies(trace, "C", made)
    assert trace.witnesses() == []
    applies(trace, "B", made)
    (witness,) = trace.witnesses()
    assert witness.startswith("B applied A-5 of 'post 5'")
    assert witness.endswith("deleted there by A-6")
    trace.add(TombstoneDropped, "B", folder=FOLDER, object=made.object, number=number("A", 6))
    applies(trace, "B", made)
    assert len(trace.witnesses()) == 1


def test_a_250_without_a_commit() -> None:
    """A mail that its sender saw accepted must be among the events of the next server (IN-2)."""
    trace = Trace(AcceptedIsDurable)
    sent = {"next_hop": "B", "connector": None, "recipients": (), "size": 1, "attempt": 1, "queue_id": 1}
    trace.add(HopReceived, "B", mail="1@A", peer="A", recipients=(), size=1)
    trace.add(HopSent, "A", mail="1@A", **sent)
    assert trace.witnesses() == []
    trace.add(HopSent, "A", mail="2@A", **sent)
    assert trace.witnesses() == ["B accepted mail 2@A from A, but did not commit it"]


def test_answers() -> None:
    """A request is answered once, with nothing that it did not request (BF-5)."""
    trace = Trace(AnswersAreAsked)
    trace.mail("B", 1, message_type=0x8, cnset=numbers("A", 1, 2))
    answer = {"folder": FOLDER, "requester": "B", "mails": 1, "request_mail": "1@B"}
    trace.add(RequestAnswered, "A", cnset=numbers("A", 1), **answer)
    assert trace.witnesses() == []
    trace.add(RequestAnswered, "A", cnset=numbers("A", 1, 3), **answer)
    assert trace.witnesses() == [
        "A answered the request 1@B a second time",
        "A answered B with A-3, which was not asked for",
    ]


def test_requests_over_the_limit() -> None:
    """More outstanding requests than the limit are a violation; an ended request frees its slot (BF-6)."""
    trace = Trace(RequestsWithinTheLimit)
    sent = {"folder": FOLDER, "entry": 1, "cnset": "", "cnset_fai": "", "retry_at": START_AT}
    for source in ("B", "C"):
        trace.add(RequestSent, "A", source=source, **sent)
    trace.add(RequestEnded, "A", folder=FOLDER, entry=1, source="B", how="satisfied")
    trace.add(RequestSent, "A", source="B", **sent)
    assert trace.witnesses() == []
    trace.add(RequestSent, "A", source="B", **sent)
    assert trace.witnesses() == ["A has 3 requests outstanding, but its limit is 2"]


def test_a_frozen_mail_that_is_tried() -> None:
    """A mail that is frozen, or whose queue is frozen, must wait, except for an attempt that had begun (RT-5)."""
    trace = Trace(FrozenMailsWait)
    sent = {"next_hop": "B", "connector": None, "recipients": (), "size": 1, "attempt": 1}
    trace.add(QueueFrozen, "A", next_hop="B", queue_id=None)
    trace.at += MINUTE_US
    trace.add(HopSent, "A", mail="1@A", queue_id=1, begun_at=START_AT, **sent)
    trace.add(HopSent, "A", mail="2@A", queue_id=2, **{**sent, "next_hop": "C"})
    assert trace.witnesses() == []
    trace.add(HopSent, "A", mail="3@A", queue_id=3, **sent)
    assert trace.witnesses() == ["A tried mail 3@A to B, which is frozen"]
    trace.add(QueueUnfrozen, "A", next_hop="B", queue_id=None)
    trace.add(BackupMade, "lab", store="A", backup="backup-1")
    trace.add(QueueFrozen, "A", mail="4@A", next_hop="B", queue_id=4)
    trace.at += MINUTE_US
    trace.add(HopSent, "A", mail="4@A", queue_id=4, **sent)
    assert len(trace.witnesses()) == 2
    trace.add(BackupRestored, "lab", store="A", backup="backup-1")
    trace.add(NodeStarted, "A", version="2003", replica_guid="ee" * 16, reason="restored")
    trace.add(HopSent, "A", mail="4@A", queue_id=4, **sent)
    assert len(trace.witnesses()) == 2
