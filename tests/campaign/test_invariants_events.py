"""Each invariant of the events fires on a violation that was planted, says who and what, and is silent on its like."""

from __future__ import annotations

from typing import Any

from pflab.invariants_mail import (
    AcceptedIsDurable,
    AnswersAreAsked,
    MailsNameWhatTheSenderHas,
    OwnRowGrows,
    OwnRowIsTrue,
    RequestsWithinTheLimit,
    RowsOfOthersAreTheirs,
    SameBytesEverywhere,
    TombstonesStay,
)
from pflab.invariants_missing import MailsBringWhatTheyName
from pflab.invariants_numbers import (
    EventsWithoutGaps,
    LaterThanWhatItReplaces,
    MailNumbersGrow,
    NumbersNeverReissued,
    TimeGoesForward,
)
from tests.campaign.planted import FOLDER, GUIDS, MESSAGE, START_AT, Trace, number, numbers
from traces.events import (
    HopReceived,
    HopSent,
    ItemExpired,
    MailReceived,
    NodeStarted,
    NodeStopped,
    ReplicaDropped,
    RequestAnswered,
    RequestEnded,
    RequestSent,
    RowReplaced,
    TombstoneDropped,
    TombstoneMade,
    VersionApplied,
    VersionFailed,
    VersionHeld,
)
from traces.labtime import HOUR_US


def applied(trace: Trace, node: str, of: str, **fields: object) -> None:
    """`node` applies the version of that number, as its author made it."""
    made = trace.facts.changes[of]
    given = {
        "folder": made.folder,
        "object": made.object,
        "number": of,
        "kind": made.kind,
        "pcl": made.pcl,
        "modified_at": made.modified_at,
        "way": "broadcast",
        "stands_for": made.pcl,
        "digest": made.digest,
        "deleted": made.operation == "delete",
    }
    trace.add(VersionApplied, node, **given | fields)


# -- numbering


def test_a_number_given_twice() -> None:
    """A change number that a store gives a second time is a violation (CN-1)."""
    trace = Trace(NumbersNeverReissued)
    trace.change("A", 5)
    assert trace.witnesses() == []
    trace.change("A", 5, object=number("A", 300))
    assert trace.witnesses() == ["A gave a change the number A-5, which it had given before"]


def test_a_counter_that_goes_back() -> None:
    """A later stimulus with a lower number is a violation, one stimulus with numbers in any order is none (CN-1)."""
    trace = Trace(NumbersNeverReissued)
    trace.change("A", 5)
    trace.change("A", 4)
    assert trace.witnesses() == []
    trace.at += 1
    trace.change("A", 3)
    assert trace.witnesses() == ["A gave a change the number A-3 after it had given 5"]


def test_a_number_of_another_guid() -> None:
    """A change under a GUID that is not the store's present one is a violation (CN-1)."""
    trace = Trace(NumbersNeverReissued)
    trace.change("A", 5, number=number("B", 5))
    assert trace.witnesses() == ["A gave a change the number B-5, which is not of its own GUID"]


def test_an_object_id_given_twice() -> None:
    """An object id that a store gives a second time is a violation (CN-1)."""
    trace = Trace(NumbersNeverReissued)
    trace.change("A", 5, object=MESSAGE)
    trace.change("A", 6, object=MESSAGE)
    (witness,) = trace.witnesses()
    assert f"A created object {MESSAGE} with A-6" in witness


def test_a_version_that_is_not_later() -> None:
    """A version is later in time than each that it replaces (CN-8)."""
    trace = Trace(LaterThanWhatItReplaces)
    made = trace.change("A", 5)
    trace.change("B", 1, object=made.object, supersedes=(made.number,), modified_at=made.modified_at + 1)
    assert trace.witnesses() == []
    trace.change("B", 2, object=made.object, supersedes=(made.number,), modified_at=made.modified_at)
    (witness,) = trace.witnesses()
    assert "A-5, which it replaces" in witness


def test_a_gap_in_the_events() -> None:
    """A sequence number that is left out or given twice is a violation."""
    trace = Trace(EventsWithoutGaps)
    trace.change("A", 1)
    assert trace.witnesses() == []
    trace.change("A", 2, seq=9)
    assert trace.witnesses() == ["event 9 of A (change.made) follows its event 2"]


def test_a_clock_that_goes_back() -> None:
    """Neither time nor Lamport number of a node's events may go back; other nodes have clocks of their own (TM-1)."""
    trace = Trace(TimeGoesForward)
    trace.change("A", 1, at=START_AT + HOUR_US)
    trace.change("B", 1, at=START_AT)
    assert trace.witnesses() == []
    trace.change("A", 2, at=START_AT)
    trace.change("A", 3, at=START_AT, lamport=1)
    first, second = trace.witnesses()
    assert "event 3 of A is of 2003-10-21T00:00:00Z, the one before of 2003-10-21T01:00:00Z" in first
    assert "event 4 of A has Lamport number 1" in second


def test_mail_numbers() -> None:
    """A mail number must grow, and no two mails have one id (RST-4); a restored store may begin anew."""
    trace = Trace(MailNumbersGrow)
    trace.mail("A", 1)
    trace.mail("A", 2)
    trace.mail("B", 1)
    assert trace.witnesses() == []
    trace.mail("A", 2)
    assert trace.witnesses() == ["A sent mail number 2 after mail number 2", "A sent a second mail with the id 2@A"]


# -- rows and sets


def test_an_own_row_above_every_change() -> None:
    """A row that claims more than its author ever made in the folder is a violation (CN-6)."""
    trace = Trace(OwnRowIsTrue)
    trace.change("A", 5)
    trace.mail("A", 1, row=numbers("A", 3, 4, 5))  # 3 and 4 are holes that A itself closes
    assert trace.witnesses() == []
    trace.mail("A", 2, row=numbers("A", 6))
    assert trace.witnesses() == [
        f"A says in a content that it has A-6 of {FOLDER}, above the last change of its store there"
    ]


def test_an_own_row_with_what_never_came() -> None:
    """A row that claims a change that nothing brought to the store is a violation (RST-1)."""
    trace = Trace(OwnRowIsTrue)
    trace.change("A", 5)
    trace.mail("B", 1, row=numbers("A", 5))
    (witness,) = trace.witnesses()
    assert witness == f"B says in a content that it has A-5 of {FOLDER}, which nothing ever brought it"


def test_an_own_row_with_what_a_version_brought() -> None:
    """What an applied version stands for may be claimed (CN-7)."""
    trace = Trace(OwnRowIsTrue)
    trace.change("A", 5)
    applied(trace, "B", number("A", 5), stands_for=numbers("A", 2, 5))
    trace.mail("B", 1, row=numbers("A", 2, 5))
    assert trace.witnesses() == []


def test_an_own_row_that_shrinks() -> None:
    """A row that loses a number while the replica lives is a violation, after the replica was dropped it is none (RST-1)."""
    trace = Trace(OwnRowGrows)
    trace.mail("A", 1, row=numbers("A", 1, 2))
    trace.mail("A", 2, marks=("no replica",))
    trace.mail("A", 3, row=numbers("A", 1, 2, 3))
    assert trace.witnesses() == []
    trace.mail("A", 4, row=numbers("A", 1, 3))
    assert trace.witnesses() == [f"A no longer says that it has A-2 of {FOLDER}, and its replica was not dropped"]
    trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    trace.mail("A", 5, row="")
    assert len(trace.witnesses()) == 1


def test_a_restored_store_may_have_less() -> None:
    """A store back from a backup may claim less, answer again and count its mails anew (RP-4)."""
    trace = Trace(OwnRowGrows, AnswersAreAsked, MailNumbersGrow, TombstonesStay, RequestsWithinTheLimit)
    trace.mail("B", 1, message_type=0x8, cnset=numbers("A", 1))
    trace.mail("A", 7, row=numbers("A", 1, 2))
    answer = {"folder": FOLDER, "requester": "B", "cnset": numbers("A", 1), "mails": 1, "request_mail": "1@B"}
    trace.add(RequestAnswered, "A", **answer)
    trace.add(NodeStarted, "A", version="2003", replica_guid="ab" * 16, reason="restored")
    trace.add(RequestAnswered, "A", **answer)
    trace.mail("A", 3, row=numbers("A", 1))
    assert trace.witnesses() == []


def test_a_set_that_the_sender_lacks() -> None:
    """A mail whose set goes beyond its sender's row is a violation (OUT-4)."""
    trace = Trace(MailsNameWhatTheSenderHas)
    trace.mail("A", 1, cnset=numbers("A", 1), row=numbers("A", 1, 2))
    assert trace.witnesses() == []
    trace.mail("A", 2, cnset=numbers("A", 3), row=numbers("A", 1, 2))
    assert trace.witnesses() == [f"A's content for {FOLDER} names A-3, which its own row in the same mail lacks"]


def test_a_request_for_what_one_has() -> None:
    """A backfill request for what the requester's own row has is a violation (BF-1)."""
    trace = Trace(MailsNameWhatTheSenderHas)
    trace.mail("A", 1, message_type=0x8, cnset=numbers("B", 3), row=numbers("A", 1))
    assert trace.witnesses() == []
    trace.mail("A", 2, message_type=0x8, cnset=numbers("B", 3), row=numbers("B", 3))
    (witness,) = trace.witnesses()
    assert "asks for B-3, which its own row in the same mail has" in witness


def replaced(trace: Trace, number_: int, row: str, node: str = "B") -> None:
    """`node` keeps that row of A, out of A's mail of that number."""
    trace.add(
        RowReplaced,
        node,
        mail=f"{number_}@A",
        folder=FOLDER,
        store="A",
        cnset=row,
        cnset_fai="",
        sent_at=START_AT,
        sent_number=number_,
    )


def test_a_row_that_its_store_did_not_say() -> None:
    """A row kept of another store must be what that store put into that mail (RST-2, RST-4)."""
    trace = Trace(RowsOfOthersAreTheirs)
    trace.mail("A", 1, row=numbers("A", 1))
    trace.mail("A", 2, row=numbers("A", 1))
    replaced(trace, 1, numbers("A", 1))
    assert trace.witnesses() == []
    replaced(trace, 2, numbers("A", 1, 2))
    assert trace.witnesses() == [f"B's row for A in {FOLDER} is now A-1..2, which A did not say in mail 2@A"]


def test_a_row_of_an_older_mail() -> None:
    """A row is not replaced by that of a mail sent earlier, unless the store may have left the list meanwhile (RST-4)."""
    trace = Trace(RowsOfOthersAreTheirs)
    for index in (1, 2):
        trace.mail("A", index, row=numbers("A", index))
    replaced(trace, 2, numbers("A", 2))
    replaced(trace, 1, numbers("A", 1), node="C")
    assert trace.witnesses() == []
    replaced(trace, 1, numbers("A", 1))
    assert trace.witnesses() == [f"B's row for A in {FOLDER} is now that of mail number 1, before it was that of 2"]
    folder = trace.change("B", 1, folder="1-1", kind="folder", object=FOLDER, replicas=("A", "B"), parent="1-1")
    assert folder.object == FOLDER
    replaced(trace, 1, numbers("A", 1))
    assert len(trace.witnesses()) == 1


def test_a_mail_that_nobody_sent_or_that_was_changed() -> None:
    """What is taken from a mail must be what its sender wrote (ML-6)."""
    trace = Trace(RowsOfOthersAreTheirs)
    sent = trace.mail("A", 1, row=numbers("A", 1))
    same = {"message_type": 0x4, "recipients": ("B",), "size": 100, "number": 1}
    trace.add(MailReceived, "B", mail="1@A", sender="A", folders=sent.folders, **same)
    assert trace.witnesses() == []
    trace.add(MailReceived, "B", mail="1@A", sender="A", folders=(), **same)
    trace.add(MailReceived, "B", mail="1@A", sender="C", folders=sent.folders, **same)
    assert trace.witnesses() == [
        "B read something else in mail 1@A than A wrote",
        "B took mail 1@A as C's, which C never sent",
    ]


def arrives(trace: Trace, number_: int, *brought: str, **section: Any) -> None:
    """A's mail of that number comes to B, who holds the folder, with those versions."""
    sent = trace.mail("A", number_, **section)
    trace.add(HopReceived, "B", mail=f"{number_}@A", peer="A", recipients=(), size=1)
    trace.add(
        MailReceived,
        "B",
        mail=f"{number_}@A",
        sender="A",
        message_type=0x4,
        folders=sent.folders,
        recipients=("B",),
        size=1,
        number=number_,
    )
    replaced(trace, number_, section.get("row", ""))
    for each in brought:
        applied(trace, "B", each)


def test_a_mail_that_names_what_it_does_not_bring() -> None:
    """A change of the folder that a mail's set names comes with it, or was there (CN-7)."""
    trace = Trace(MailsBringWhatTheyName)
    first, second = trace.change("A", 5), trace.change("A", 6)
    arrives(trace, 1, first.number, cnset=numbers("A", 3, 4, 5))  # 3 and 4 belong to other folders
    arrives(trace, 2, cnset=numbers("A", 5))
    trace.change("B", 1)
    assert trace.witnesses() == []
    arrives(trace, 3, cnset=numbers("A", 6))
    trace.change("B", 2)
    (witness,) = trace.witnesses()
    assert witness.startswith("a mail to B names A-6 (the creation of 'post 6'")
    assert second.number == number("A", 6)


def test_what_waits_or_failed_is_not_asked_for() -> None:
    """A held version, and a mail of which an item could not be read, are no violation; nor is a change that lost (CN-6)."""
    trace = Trace(MailsBringWhatTheyName)
    made = trace.change("A", 5)
    arrives(trace, 1, cnset=numbers("A", 5))
    held = {"until_at": START_AT, "waits_for": FOLDER, "way": "broadcast", "digest": "", "deleted": False}
    same = {"folder": FOLDER, "object": made.object, "number": made.number, "kind": "message", "pcl": made.pcl}
    trace.add(VersionHeld, "B", modified_at=START_AT, stands_for=made.pcl, **same, **held)
    trace.change("A", 6)
    arrives(trace, 2, cnset=numbers("A", 6))
    trace.add(VersionFailed, "B", number=None, reason="planted")
    lost = trace.change("A", 7)
    trace.change("C", 1, object=lost.object, operation="delete")
    arrives(trace, 3, cnset=numbers("A", 7))
    trace.change("B", 1)
    assert trace.witnesses() == []


def test_what_expired_at_its_author_before_it_was_sent_is_a_hole() -> None:
    """A mail may name what an age limit took from its author; what another store let expire it must bring (DL-3, CN-6)."""
    for by, witnesses in (("A", 0), ("C", 1)):
        trace = Trace(MailsBringWhatTheyName)
        made = trace.change("A", 5)
        went = {"folder": FOLDER, "object": made.object, "number": made.number, "limit_us": HOUR_US}
        trace.add(ItemExpired, by, modified_at=made.modified_at, **went)
        arrives(trace, 1, cnset=numbers("A", 5))
        trace.change("B", 1)
        assert len(trace.witnesses()) == witnesses


# -- objects


def test_other_bytes_than_the_authors() -> None:
    """A version is applied with its author's bytes, and no version that nobody made (ML-2)."""
    trace = Trace(SameBytesEverywhere)
    made = trace.change("A", 5)
    applied(trace, "B", made.number)
    assert trace.witnesses() == []
    applied(trace, "B", made.number, digest="others")
    applied(trace, "B", made.number, number=number("A", 6))
    first, second = trace.witnesses()
    assert "B applied A-5" in first
    assert "with other bytes than its author's" in first
    assert second == "B applied A-6, which nobody made"


def test_a_version_after_the_tombstone() -> None:
    """An object that was deleted at a store lives there no more, until the tombstone is dropped (IN-4)."""
    trace = Trace(TombstonesStay)
    made = trace.change("A", 5)
    trace.add(TombstoneMade, "B", folder=FOLDER, object=made.object, number=number("A", 6))
    applied(trace, "C", made.number)
    assert trace.witnesses() == []
    applied(trace, "B", made.number)
    (witness,) = trace.witnesses()
    assert witness.startswith("B applied A-5 of 'post 5'")
    assert witness.endswith("deleted there by A-6")
    trace.add(TombstoneDropped, "B", folder=FOLDER, object=made.object, number=number("A", 6))
    applied(trace, "B", made.number)
    assert len(trace.witnesses()) == 1


# -- mail


def test_a_250_without_a_commit() -> None:
    """A mail that its sender saw accepted must be among the next server's events (IN-2)."""
    trace = Trace(AcceptedIsDurable)
    sent = {"next_hop": "B", "connector": None, "recipients": (), "size": 1, "attempt": 1, "queue_id": 1}
    trace.add(HopReceived, "B", mail="1@A", peer="A", recipients=(), size=1)
    trace.add(HopSent, "A", mail="1@A", **sent)
    assert trace.witnesses() == []
    trace.add(HopSent, "A", mail="2@A", **sent)
    assert trace.witnesses() == ["A was told by B that mail 2@A is safe, and it is not there"]


def test_answers() -> None:
    """A request is answered once, with nothing that it did not ask for (BF-5)."""
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
    """More requests outstanding than the limit are a violation; one that ended gives its slot back (BF-6)."""
    trace = Trace(RequestsWithinTheLimit)
    sent = {"folder": FOLDER, "entry": 1, "cnset": "", "cnset_fai": "", "retry_at": START_AT}
    for source in ("B", "C"):
        trace.add(RequestSent, "A", source=source, **sent)
    trace.add(RequestEnded, "A", folder=FOLDER, entry=1, source="B", how="satisfied")
    trace.add(RequestSent, "A", source="B", **sent)
    assert trace.witnesses() == []
    trace.add(RequestSent, "A", source="B", **sent)
    assert trace.witnesses() == ["A has 3 requests outstanding, its limit is 2"]


def test_an_unheard_event_is_no_violation() -> None:
    """Events that an invariant does not ask for leave it alone."""
    trace = Trace(NumbersNeverReissued, OwnRowIsTrue)
    trace.add(NodeStopped, "A", how="stop")
    assert trace.witnesses() == []
    assert GUIDS["A"] in trace.facts.store_of
