"""The invariants of recipients, answers, rows and versions report planted violations and nothing else."""

from __future__ import annotations

from pathlib import Path

from pflab.invariants.evidence.knowledge import Known
from pflab.invariants.invariant import VALIDATIONS
from pflab.invariants.mail.recipients import (
    BroadcastsReachAllHolders,
    EachNumberIsNamedOnce,
    OnlyAddressesGetMail,
    OrdersAreCarriedOut,
    StatusesOf55FollowOwnChanges,
    StatusesReachAll,
)
from pflab.invariants.registry import INVARIANTS
from pflab.invariants.status_answers import (
    LeavingIsPermittedByCompleteHolders,
    RequestsAreAnswered,
    StatusRequestsAreAnswered,
)
from pflab.invariants.status_rows import EntriesAreClaimed, OwnHolesAreClosed, RowsAreTheLatestSent
from pflab.invariants.versions import HeldVersionsAreReleased, NothingOlderReplaces
from pflab.oracle.monitor import MONITORED
from pflab.terms.mail_types import MailKind
from tests.support.clock import START_AT
from tests.support.invariant_builders import (
    FOLDER,
    Trace,
    applies,
    entry,
    folder_version,
    gets,
    lab,
    number,
    numbers,
    row,
    sends,
)
from topology.file.load import topology_from_text
from traces.events import (
    AddressMissing,
    BackupMade,
    BackupRestored,
    ChangesResent,
    ContentResumed,
    ContentSuspended,
    HopSent,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    RequestAnswered,
    RequestRefused,
    RowReplaced,
    StatusDue,
    StatusOrdered,
    VersionHeld,
)

ALL = ("B", "C")

OLD_STORES = """
servers:
  A: {version: "5.5"}
  B: {version: "5.5"}
  C: {version: "5.5", settings: {Service Pack: 3}}
  D: {version: "2003"}
folders: {Projects: }
"""


def next_stimulus(trace: Trace, node: str) -> None:
    hop = {"next_hop": "B", "connector": None, "recipients": (), "size": 1, "attempt": 1, "queue_id": 1}
    trace.add(HopSent, node, mail=None, **hop)


# -- who is told


def test_a_broadcast_that_forgets_one() -> None:
    """A broadcast must go to all other holders in the sender's own version of the folder (OUT-5)."""
    trace = lab(BroadcastsReachAllHolders)
    sends(trace, "A", 1, 0x4, ALL)
    sends(trace, "A", 2, 0x2, ALL, folder="1-1")
    sends(trace, "A", 3, MailKind.STATUS, ("B",))
    assert trace.witnesses() == []
    sends(trace, "A", 4, 0x4, ("B",))
    (witness,) = trace.witnesses()
    assert witness.endswith("went to B; the other holders are B, C")


def test_an_order_to_send_again() -> None:
    """What is sent again goes to the stores of the order, and is what the order says, all of it (AD-1)."""
    trace = lab(BroadcastsReachAllHolders, OrdersAreCarriedOut)
    order = {"folder": FOLDER, "stores": ("B",), "since_at": START_AT, "cnset_fai": ""}
    trace.add(ChangesResent, "A", **order, cnset=numbers("A", 1, 2))
    sends(trace, "A", 1, 0x4, ("B",), marks=("resent",), cnset=numbers("A", 1))
    trace.guard.quiet("B", START_AT, START_AT)
    assert trace.witnesses() == []
    trace.guard.quiet("A", START_AT, START_AT)
    assert trace.witnesses()[-1].endswith("but did not send A-2")
    sends(trace, "A", 2, 0x4, ("B", "C"), marks=("resent",), cnset=numbers("A", 2))
    assert trace.witnesses()[-1].endswith("brings A-2 to B, C, which no order says")
    trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    sends(trace, "A", 3, 0x4, ("B",), marks=("resent",), cnset=numbers("A", 2))
    assert trace.witnesses()[-1].endswith("brings A-2 to B, which no order says")


def test_an_order_to_request_a_status() -> None:
    """The next mail is a status request that all other holders must answer (AD-1)."""
    trace = lab(OrdersAreCarriedOut)
    trace.add(StatusOrdered, "A", folder=FOLDER)
    sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, marks=("all respond",))
    assert trace.witnesses() == []
    trace.add(StatusOrdered, "A", folder=FOLDER)
    sends(trace, "A", 2, MailKind.STATUS_REQUEST, ("B",), marks=("all respond",))
    assert trace.witnesses()[-1].endswith("went to B; the other holders are B, C")
    trace.add(StatusOrdered, "A", folder=FOLDER)
    sends(trace, "A", 3, MailKind.STATUS, ALL)
    assert trace.witnesses()[-1].endswith("but did not")


def test_mail_to_a_store_without_an_address() -> None:
    """A store without an address gets no mail and sends none; a broadcast need not go to it (ML-1)."""
    trace = lab(BroadcastsReachAllHolders, OnlyAddressesGetMail)
    trace.add(AddressMissing, "A", store="C", reason="the recipient update service fails")
    sends(trace, "A", 1, 0x4, ("B",))
    assert trace.witnesses() == []
    sends(trace, "A", 2, MailKind.STATUS, ("C",))
    (witness,) = trace.witnesses()
    assert witness.endswith("but the directory has no address of C")


def test_the_list_is_the_senders_own() -> None:
    """The recipients change when the sender applies another list, not before (OUT-5, RP-2)."""
    trace = lab(BroadcastsReachAllHolders)
    made = folder_version(trace, "C", 1, replicas=("A", "B"))
    sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, marks=("all respond",))
    applies(trace, "A", made)
    sends(trace, "A", 2, MailKind.STATUS_REQUEST, ("B",), marks=("all respond",))
    sends(trace, "A", 3, MailKind.STATUS_REQUEST, ("C",), marks=("repeat",))
    assert trace.witnesses() == []
    sends(trace, "A", 4, MailKind.STATUS_REQUEST, ALL, marks=("all respond",))
    assert len(trace.witnesses()) == 1


def test_after_a_restore_a_store_knows_what_it_knew_at_the_backup() -> None:
    """A restored store uses the list in its backup until it receives the later one (RP-4)."""
    trace = lab(BroadcastsReachAllHolders)
    folder_version(trace, "A", 1, replicas=("A", "B"))
    trace.add(BackupMade, "lab", store="A", backup="backup-1")
    folder_version(trace, "A", 2, replicas=("A", "B", "C"))
    sends(trace, "A", 1, 0x4, ALL)
    trace.add(BackupRestored, "lab", store="A", backup="backup-1")
    trace.add(NodeStarted, "A", version="2003", replica_guid="ee" * 16, reason="restored")
    sends(trace, "A", 2, 0x4, ("B",))
    assert trace.witnesses() == []
    sends(trace, "A", 3, 0x4, ALL)
    assert len(trace.witnesses()) == 1


def test_a_status_that_forgets_one_or_is_never_sent() -> None:
    """A status that a check found due must go to all other holders at once (ST-1)."""
    trace = lab(StatusesReachAll)
    for serial in (1, 2):
        trace.add(StatusDue, "A", folders=(FOLDER,), last_update_at=START_AT)
        sends(trace, "A", serial, MailKind.STATUS, ALL if serial == 1 else ("B",))
    (witness,) = trace.witnesses()
    assert witness.endswith("went to B; the other holders are B, C")
    trace.add(StatusDue, "A", folders=(FOLDER,), last_update_at=START_AT)
    next_stimulus(trace, "A")
    assert trace.witnesses()[1].endswith("due, but sent none; the other holders are B, C")
    folder_version(trace, "A", 7, replicas=("A",))
    trace.add(StatusDue, "A", folders=(FOLDER,), last_update_at=START_AT)
    folder_version(trace, "A", 8, replicas=("A", "B"))
    assert len(trace.witnesses()) == 2, "there was nobody to tell when it was due"


def test_a_status_of_5_5_that_follows_a_received_update() -> None:
    """A 5.5 store with Service Pack 4 owes a status of its own changes and after a restore, not of received updates (ST-6)."""
    trace = Trace(StatusesOf55FollowOwnChanges, topology=topology_from_text(OLD_STORES))

    def due(store: str) -> int:
        trace.add(StatusDue, store, folders=(FOLDER,), last_update_at=START_AT)
        return len(trace.witnesses())

    trace.change("A", 1)
    assert due("A") == 0
    assert due("C") == due("D") == 0, "before Service Pack 4, and in 2003, a received update counts too"
    assert due("B") == 1
    assert due("A") == 2, "it has made no change since its last status"
    assert trace.witnesses()[1] == f"A found the status of {trace.facts.folder(FOLDER)} due, but had not changed it"
    trace.add(NodeStarted, "B", version="5.5", replica_guid="ee" * 16, reason="restored")
    assert due("B") == 2, "a restore counts as an update, once"
    assert due("B") == 3


def test_a_number_that_two_mails_of_a_broadcast_name() -> None:
    """The mails of one broadcast must name different numbers, unless a change was made in between (CN-6, CN-7)."""
    trace = lab(EachNumberIsNamedOnce)
    sends(trace, "A", 1, 0x4, ALL, cnset=numbers("A", 2, 3), cnset_fai=numbers("A", 1))
    sends(trace, "A", 2, 0x4, ALL, cnset=numbers("A", 1, 4))
    trace.change("A", 5)
    sends(trace, "A", 3, 0x4, ALL, cnset=numbers("A", 4, 5))
    assert trace.witnesses() == []
    sends(trace, "A", 4, 0x4, ALL, cnset=numbers("A", 5, 6))
    (witness,) = trace.witnesses()
    assert "names A-5, as an earlier mail" in witness


# -- who is answered


def answer(trace: Trace, serial: int, *parts: str, row_: str) -> None:
    """B requests A-1 and A-2 from A, and A answers with mails that have these sets."""
    gets(trace, "A", sends(trace, "B", serial, MailKind.BACKFILL_REQUEST, ("A",), cnset=numbers("A", 1, 2)))
    for index, cnset in enumerate(parts):
        sends(trace, "A", 10 * serial + index, MailKind.CONTENT_RESPONSE, ("B",), cnset=cnset, row=row_)
    fields = {"folder": FOLDER, "requester": "B", "cnset": "", "mails": len(parts), "request_mail": f"{serial}@B"}
    trace.add(RequestAnswered, "A", **fields)


def test_a_request_is_answered_in_full() -> None:
    """The sets of the answer must be disjoint, and together be the requested numbers that the source has (BF-5, CN-7)."""
    trace = lab(RequestsAreAnswered)
    answer(trace, 1, numbers("A", 1), numbers("A", 2), row_=numbers("A", 1, 2))
    answer(trace, 2, numbers("A", 1), row_=numbers("A", 1, 7))
    assert trace.witnesses() == []
    answer(trace, 3, numbers("A", 1), row_=numbers("A", 1, 2))
    answer(trace, 4, numbers("A", 1, 2), numbers("A", 2), row_=numbers("A", 1, 2))
    lacks, twice = trace.witnesses()
    assert lacks.endswith("lacks A-2, which was asked for and which its row claims")
    assert twice.endswith("names A-2 in two of its mails")


def test_a_request_that_is_not_answered() -> None:
    """A request must be answered in the stimulus that brings it, a repeated mail once (BF-5)."""
    trace = lab(RequestsAreAnswered)
    answer(trace, 1, numbers("A", 1, 2), row_=numbers("A", 1, 2))
    mail = trace.facts.mails["1@B"]
    gets(trace, "A", mail)
    next_stimulus(trace, "A")
    assert trace.witnesses() == []
    gets(trace, "A", sends(trace, "B", 2, MailKind.BACKFILL_REQUEST, ("A",), cnset=numbers("A", 1)))
    next_stimulus(trace, "A")
    assert trace.witnesses() == ["A did not answer the request 2@B of B"]


def test_a_request_is_refused_only_while_content_is_suspended() -> None:
    """While content is suspended a refusal counts as an answer, and otherwise not (RP-5, BF-5)."""
    trace = lab(RequestsAreAnswered)
    trace.add(ContentSuspended, "A")
    gets(trace, "A", sends(trace, "B", 1, MailKind.BACKFILL_REQUEST, ("A",), cnset=numbers("A", 1)))
    trace.add(RequestRefused, "A", folder=FOLDER, requester="B", request_mail="1@B")
    next_stimulus(trace, "A")
    assert trace.witnesses() == []
    trace.add(ContentResumed, "A")
    gets(trace, "A", sends(trace, "B", 2, MailKind.BACKFILL_REQUEST, ("A",), cnset=numbers("A", 1)))
    trace.add(RequestRefused, "A", folder=FOLDER, requester="B", request_mail="2@B")
    assert trace.witnesses() == ["A refused the request of B, but its content is not suspended"]


def test_a_status_request_that_is_not_answered() -> None:
    """A store must answer a status request if it has what the requester lacks, and a repeat always (ST-2, ST-7)."""
    trace = lab(StatusRequestsAreAnswered)
    gets(trace, "A", sends(trace, "B", 1, MailKind.STATUS_REQUEST, ("A", "C"), marks=("all respond",)))
    next_stimulus(trace, "A")
    sends(trace, "A", 1, 0x4, ALL, row=numbers("A", 1))
    gets(trace, "A", sends(trace, "B", 2, MailKind.STATUS_REQUEST, ("A", "C"), marks=("all respond",)))
    sends(trace, "A", 2, MailKind.STATUS, ("B",), row=numbers("A", 1))
    next_stimulus(trace, "A")
    assert trace.witnesses() == []
    gets(trace, "A", sends(trace, "B", 3, MailKind.STATUS_REQUEST, ("A", "C"), marks=("all respond",)))
    next_stimulus(trace, "A")
    gets(trace, "A", sends(trace, "B", 4, MailKind.STATUS, ("A",), row=numbers("A", 1), marks=("repeat",)))
    next_stimulus(trace, "A")
    lacks, repeat = trace.witnesses()
    assert lacks.endswith("although B lacks A-1")
    assert repeat.endswith("although it is a repeat")


def test_a_store_without_the_replica_need_not_answer() -> None:
    """A store that has dropped its replica, or is about to, need not answer a status request (ST-2, RP-2)."""
    trace = lab(StatusRequestsAreAnswered)
    sends(trace, "A", 1, 0x4, ALL, row=numbers("A", 1))
    trace.add(ReplicaPending, "A", folder=FOLDER)
    gets(trace, "A", sends(trace, "B", 1, MailKind.STATUS_REQUEST, ("A", "C"), marks=("all respond",)))
    trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    gets(trace, "A", sends(trace, "B", 2, MailKind.STATUS_REQUEST, ("A",), marks=("repeat",)))
    next_stimulus(trace, "A")
    assert trace.witnesses() == []


def test_a_leaving_store_released_by_a_store_that_lacks_something() -> None:
    """Only a store that has all of the leaving store's row and stays itself may let it go (RP-2)."""
    trace = lab(LeavingIsPermittedByCompleteHolders)
    gets(
        trace,
        "A",
        sends(trace, "B", 1, MailKind.STATUS_REQUEST, ALL, row=numbers("B", 1, 2), marks=("delete-pending",)),
    )
    sends(trace, "A", 1, MailKind.STATUS, ("B",), row=numbers("B", 1, 2), marks=("retained",))
    assert trace.witnesses() == []
    sends(trace, "A", 2, MailKind.STATUS, ("B",), row=numbers("B", 1), marks=("retained",))
    trace.add(ReplicaPending, "A", folder=FOLDER)
    sends(trace, "A", 3, MailKind.STATUS, ("B",), row=numbers("B", 1, 2), marks=("retained",))
    lacks, leaves = trace.witnesses()
    assert "lacks B-2" in lacks
    assert leaves.endswith("but is leaving itself")


# -- rows


def test_a_row_with_more_than_the_mail_had() -> None:
    """A row must be exactly the set in the sender's last mail (RST-4)."""
    trace = lab(RowsAreTheLatestSent)
    row_fields = {
        "folder": FOLDER,
        "store": "B",
        "cnset": numbers("B", 2),
        "cnset_fai": "",
        "sent_at": 1,
        "sent_number": 1,
    }
    trace.add(RowReplaced, "A", mail="1@B", **row_fields)
    trace.rows("A", row("A", "", local=True), row("B", "B-2"))
    trace.rows("A", row("A", "", local=True), row("B", "B-1..2"))
    assert trace.witnesses() == []  # nothing was said since it was read
    trace.add(RowReplaced, "A", mail="2@B", **row_fields)
    trace.rows("A", row("A", "", local=True), row("B", "B-1..2"))
    (witness,) = trace.witnesses()
    assert witness.endswith("is B-1..2, but B last sent B-2")


def test_an_entry_that_no_store_claims() -> None:
    """An entry must not have numbers that no row, and no store that wants to leave, claims (RST-4)."""
    trace = lab(EntriesAreClaimed)
    waits = (entry(missing="A-1", missing_fai="B-4"),)
    trace.rows("B", row("B", "", local=True), row("A", "A-1", fai="B-4"), entries=waits)
    pending = {"row": numbers("A", 1), "row_fai": numbers("B", 4), "marks": ("delete-pending",)}
    gets(trace, "C", sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, **pending))
    trace.rows("C", row("C", "", local=True), entries=waits)
    assert trace.witnesses() == []
    trace.rows("B", row("B", "A-1", local=True), row("A", "", fai="B-4"), entries=waits)
    gets(trace, "C", sends(trace, "A", 2, MailKind.CONTENT_RESPONSE, ("C",), marks=("no replica",)))
    trace.rows("C", row("C", "", local=True), entries=waits)
    first, second = trace.witnesses()
    assert first.endswith("waits for A-1, which no store claims")
    assert second.endswith("waits for A-1, B-4, which no store claims")


def test_a_hole_that_is_left_open() -> None:
    """A broadcast must cover its sender's numbers from the last one broadcast to its highest change (CN-6)."""
    trace = lab(OwnHolesAreClosed)
    trace.change("A", 3)
    sends(trace, "A", 1, 0x4, ALL, cnset=numbers("A", 1, 2, 3))
    trace.change("A", 5)
    trace.change("A", 6)
    sends(trace, "A", 2, 0x4, ALL, cnset=numbers("A", 4, 6))  # 5 comes with the next mail
    assert trace.witnesses() == []
    sends(trace, "A", 3, 0x4, ALL, cnset=numbers("A", 8, 9))
    (witness,) = trace.witnesses()
    assert witness.endswith("names numbers up to A-9, but does not close the holes A-7")


def test_holes_below_the_beginning_of_the_replica_stay() -> None:
    """A broadcast must not cover numbers up to the counter at which the replica began, or that only counted as broadcast
    (CN-6)."""
    trace = lab(OwnHolesAreClosed)
    trace.change("A", 3)
    trace.add(ReplicaAdded, "A", folder=FOLDER, store="A")
    sends(trace, "A", 1, 0x4, ALL, cnset=numbers("A", 4, 5))
    folder_version(trace, "A", 6, replicas=("A",))
    trace.change("A", 8)
    folder_version(trace, "A", 9, replicas=("A", "B"))
    trace.change("A", 10)
    sends(trace, "A", 2, 0x4, ("B",), cnset=numbers("A", 9, 10))
    assert trace.witnesses() == []


def test_what_was_made_before_the_store_was_alone_counts_as_broadcast() -> None:
    """A waiting change counts as broadcast when the last other holder leaves the list (CN-6, RST-1)."""
    trace = lab(OwnHolesAreClosed)
    folder_version(trace, "A", 1, replicas=("A", "B"), operation="create")
    trace.change("A", 3)
    folder_version(trace, "A", 4, replicas=("A",))
    folder_version(trace, "A", 5, replicas=("A", "B"))
    trace.change("A", 6)
    sends(trace, "A", 1, 0x4, ("B",), cnset=numbers("A", 4, 5, 6))
    assert trace.witnesses() == []


def test_a_leaving_store_closes_holes_in_its_row() -> None:
    """A store that leaves while content is suspended sends no broadcast. Its delete-pending request closes the holes (CN-6,
    RP-5)."""
    leaves = {"marks": ("delete-pending",)}
    trace = lab(OwnHolesAreClosed)
    trace.change("A", 3)
    sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, row=numbers("A", 1, 2, 3), **leaves)
    sends(trace, "A", 2, 0x4, ALL, cnset=numbers("A", 4, 5))
    assert trace.witnesses() == []
    sends(trace, "A", 3, MailKind.STATUS_REQUEST, ALL, row=numbers("A", 1, 2, 3, 4, 5, 7), **leaves)
    (witness,) = trace.witnesses()
    assert witness.endswith("names numbers up to A-7, but does not close the holes A-6")


# -- versions


def test_an_older_version_that_replaces_a_newer() -> None:
    """A version that a kept one includes is old; a folder version also if it is earlier in time (CN-4, IN-3, HI-5)."""
    trace = lab(NothingOlderReplaces)
    first = trace.change("A", 1)
    second = trace.change("A", 2, object=first.object, supersedes=(first.number,))
    beside = trace.change("B", 1, object=first.object, supersedes=(first.number,))
    for made in (first, second, beside):
        applies(trace, "C", made)
    assert trace.witnesses() == []
    applies(trace, "C", first)
    early, late = (folder_version(trace, "A", counter, replicas=("A",)) for counter in (4, 5))
    applies(trace, "C", late)
    applies(trace, "C", early)
    old, earlier = trace.witnesses()
    assert old.endswith("but had a version that includes it")
    assert earlier.endswith("over A-5, which is later")


def test_a_queued_child_whose_parent_has_arrived() -> None:
    """A change that waits for a folder must be applied together with it (HI-4)."""
    trace = lab(HeldVersionsAreReleased)
    parent = folder_version(trace, "A", 1, object=number("A", 50), operation="create", replicas=("A",))
    child = folder_version(trace, "A", 2, object=number("A", 51), operation="create", replicas=("A",))
    held = {"until_at": START_AT, "waits_for": parent.object, "way": "broadcast", "digest": "", "deleted": False}
    fields = {"folder": "1-1", "object": child.object, "number": child.number, "kind": "folder", "pcl": child.pcl}
    for node in "BC":
        trace.add(VersionHeld, node, modified_at=START_AT, stands_for=child.pcl, **fields, **held)
        next_stimulus(trace, node)
        applies(trace, node, parent)
    applies(trace, "B", child)
    next_stimulus(trace, "B")
    assert trace.witnesses() == []
    next_stimulus(trace, "C")
    (witness,) = trace.witnesses()
    assert witness.startswith("C still holds A-2, which waits for")


def test_a_version_that_is_held_too_long() -> None:
    """A queued change must be dropped when its time is over (HI-4)."""
    trace = lab(HeldVersionsAreReleased)
    made = folder_version(trace, "A", 2, object=number("A", 51), operation="create", replicas=("A",))
    held = {"until_at": START_AT, "waits_for": number("A", 50), "way": "broadcast", "digest": "", "deleted": False}
    fields = {"folder": "1-1", "object": made.object, "number": made.number, "kind": "folder", "pcl": made.pcl}
    trace.add(VersionHeld, "B", modified_at=START_AT, stands_for=made.pcl, **fields, **held)
    trace.array("B", entry())
    assert trace.witnesses() == []
    trace.at += 1
    trace.array("B", entry(), quiet=False)
    assert trace.witnesses() == []
    trace.array("B", entry())
    (witness,) = trace.witnesses()
    assert witness.startswith("B still holds A-2, which waits for")


def test_each_planted_defect_names_a_real_invariant(project_root: Path) -> None:
    """The "Caught by" line of a patch names an invariant that campaigns check."""
    ids = {each.id for each in INVARIANTS} | {*VALIDATIONS, *MONITORED}
    heads = [
        path.read_text("utf-8").partition("\n\n")[0] for path in (project_root / "tests" / "mutants").glob("*.patch")
    ]
    named = [line.partition(": ")[2] for head in heads for line in head.splitlines() if line.startswith("Caught by:")]
    assert named
    assert set(named) <= ids


def test_what_each_store_knows() -> None:
    """Stores that exist from the start know the topology's folders; each change is known where it was made or applied."""
    trace = lab()
    known = trace.facts.known
    assert isinstance(known, Known)
    assert known.listed("A", FOLDER) == {"A", "B", "C"}
    assert known.holds("A", FOLDER)
    made = folder_version(trace, "A", 1, replicas=("B",))
    assert (known.others("A", FOLDER), known.others("B", FOLDER)) == ({"B"}, {"A", "C"})
    deletion = folder_version(trace, "B", 1, operation="delete", supersedes=(made.number,), replicas=("B",))
    applies(trace, "A", deletion)
    assert known.listed("A", FOLDER) == frozenset()
    assert known.listed("A", number("A", 70)) is None
