"""Each invariant of rows and of the sets in mails reports a planted violation with its store and value, and passes correct
events."""

from __future__ import annotations

from typing import Any

from pflab.invariants.backfill_array import MailsBringWhatTheyName, RequestsWithinTheLimit
from pflab.invariants.mail.contents import (
    AnswersAreAsked,
    MailsNameWhatTheSenderHas,
    OwnRowGrows,
    OwnRowIsTrue,
    RowsOfOthersAreTheirs,
    TombstonesStay,
)
from pflab.invariants.versions import MailNumbersGrow
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, Trace, applies, number, numbers
from traces.events import (
    HopReceived,
    ItemExpired,
    MailReceived,
    NodeStarted,
    ReplicaDropped,
    RequestAnswered,
    RowReplaced,
    VersionFailed,
    VersionHeld,
)
from traces.labtime import HOUR_US


def test_an_own_row_above_every_change() -> None:
    """A row must not claim more than its author ever made in the folder (CN-6)."""
    trace = Trace(OwnRowIsTrue)
    trace.change("A", 5)
    trace.mail("A", 1, row=numbers("A", 3, 4, 5))  # 3 and 4 are holes that A itself closes
    assert trace.witnesses() == []
    trace.mail("A", 2, row=numbers("A", 6))
    assert trace.witnesses() == [f"A claims in a content A-6 of {FOLDER}, above the last change of its store there"]


def test_an_own_row_with_what_never_came() -> None:
    """A row must not claim a change that never arrived at the store (RST-1)."""
    trace = Trace(OwnRowIsTrue)
    trace.change("A", 5)
    trace.mail("B", 1, row=numbers("A", 5))
    (witness,) = trace.witnesses()
    assert witness == f"B claims in a content A-5 of {FOLDER}, which no mail ever brought to this store"


def test_an_own_row_with_what_a_version_brought() -> None:
    """A row may claim the numbers that an applied version supersedes (CN-7)."""
    trace = Trace(OwnRowIsTrue)
    trace.change("A", 5)
    applies(trace, "B", trace.facts.changes[number("A", 5)], stands_for=numbers("A", 2, 5))
    trace.mail("B", 1, row=numbers("A", 2, 5))
    assert trace.witnesses() == []


def test_an_own_row_that_shrinks() -> None:
    """A row must not lose a number, unless the replica was dropped (RST-1)."""
    trace = Trace(OwnRowGrows)
    trace.mail("A", 1, row=numbers("A", 1, 2))
    trace.mail("A", 2, marks=("no replica",))
    trace.mail("A", 3, row=numbers("A", 1, 2, 3))
    assert trace.witnesses() == []
    trace.mail("A", 4, row=numbers("A", 1, 3))
    assert trace.witnesses() == [f"A no longer says that it has A-2 of {FOLDER}, but its replica was not dropped"]
    trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    trace.mail("A", 5, row="")
    assert len(trace.witnesses()) == 1


def test_a_restored_store_may_have_less() -> None:
    """A restored store may claim less, answer again and restart its mail numbers (RP-4)."""
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
    """The set of a mail must be within its sender's row (OUT-4)."""
    trace = Trace(MailsNameWhatTheSenderHas)
    trace.mail("A", 1, cnset=numbers("A", 1), row=numbers("A", 1, 2))
    assert trace.witnesses() == []
    trace.mail("A", 2, cnset=numbers("A", 3), row=numbers("A", 1, 2))
    assert trace.witnesses() == [f"A's content for {FOLDER} names A-3, which its own row in the same mail lacks"]


def test_a_request_for_what_one_has() -> None:
    """A backfill request must not name numbers in the requester's own row (BF-1)."""
    trace = Trace(MailsNameWhatTheSenderHas)
    trace.mail("A", 1, message_type=0x8, cnset=numbers("B", 3), row=numbers("A", 1))
    assert trace.witnesses() == []
    trace.mail("A", 2, message_type=0x8, cnset=numbers("B", 3), row=numbers("B", 3))
    (witness,) = trace.witnesses()
    assert "asks for B-3, which its own row in the same mail has" in witness


def replaced(trace: Trace, number_: int, row: str, node: str = "B") -> None:
    """`node` keeps this row of A, from A's mail of this number."""
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


def test_a_row_that_its_store_did_not_send() -> None:
    """A store must keep another store's row exactly as that store's mail had it (RST-2, RST-4)."""
    trace = Trace(RowsOfOthersAreTheirs)
    trace.mail("A", 1, row=numbers("A", 1))
    trace.mail("A", 2, row=numbers("A", 1))
    replaced(trace, 1, numbers("A", 1))
    assert trace.witnesses() == []
    replaced(trace, 2, numbers("A", 1, 2))
    assert trace.witnesses() == [f"B's row for A in {FOLDER} is now A-1..2, which A did not send in mail 2@A"]


def test_a_row_of_an_older_mail() -> None:
    """A row must not be replaced by that of an earlier mail, unless the store may have left the list in between (RST-4)."""
    trace = Trace(RowsOfOthersAreTheirs)
    for index in (1, 2):
        trace.mail("A", index, row=numbers("A", index))
    replaced(trace, 2, numbers("A", 2))
    replaced(trace, 1, numbers("A", 1), node="C")
    assert trace.witnesses() == []
    replaced(trace, 1, numbers("A", 1))
    assert trace.witnesses() == [
        f"B's row for A in {FOLDER} is now from mail number 1, but was from mail number 2 before"
    ]
    folder = trace.change("B", 1, folder="1-1", kind="folder", object=FOLDER, replicas=("A", "B"), parent="1-1")
    assert folder.object == FOLDER
    replaced(trace, 1, numbers("A", 1))
    assert len(trace.witnesses()) == 1


def test_a_forged_or_altered_mail() -> None:
    """A received mail must be exactly what its sender wrote (ML-6)."""
    trace = Trace(RowsOfOthersAreTheirs)
    sent = trace.mail("A", 1, row=numbers("A", 1))
    same = {"message_type": 0x4, "recipients": ("B",), "size": 100, "number": 1}
    trace.add(MailReceived, "B", mail="1@A", sender="A", folders=sent.folders, **same)
    assert trace.witnesses() == []
    trace.add(MailReceived, "B", mail="1@A", sender="A", folders=(), **same)
    trace.add(MailReceived, "B", mail="1@A", sender="C", folders=sent.folders, **same)
    assert trace.witnesses() == [
        "B read in mail 1@A other data than A had written",
        "B took mail 1@A as C's, which C never sent",
    ]


def arrives(trace: Trace, number_: int, *brought: str, **section: Any) -> None:
    """A's mail of this number arrives at B, a holder of the folder, with these versions."""
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
        applies(trace, "B", trace.facts.changes[each])


def test_a_mail_that_names_what_it_does_not_bring() -> None:
    """A mail must bring each change of the folder that its set names, unless the receiver has it (CN-7)."""
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


def test_queued_and_failed_items_are_no_violation() -> None:
    """A queued version, a mail with an item that could not be read, and a change that lost are no violation (CN-6)."""
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
    """A mail may name a number without its item only if the item expired at its author (DL-3, CN-6)."""
    for by, witnesses in (("A", 0), ("C", 1)):
        trace = Trace(MailsBringWhatTheyName)
        made = trace.change("A", 5)
        went = {"folder": FOLDER, "object": made.object, "number": made.number, "limit_us": HOUR_US}
        trace.add(ItemExpired, by, modified_at=made.modified_at, **went)
        arrives(trace, 1, cnset=numbers("A", 5))
        trace.change("B", 1)
        assert len(trace.witnesses()) == witnesses
