"""The invariants of what comes and goes fire on a planted violation and are silent on sound events."""

from __future__ import annotations

from typing import Any

from node.views import FolderView
from pflab.invariants.backfill_timeouts import SilentSourcesGoDown, TimeoutsSendRequests
from pflab.invariants.folder_tree import ListedStoresHold, TreeIsComputed
from pflab.invariants.invariant import Invariant
from pflab.invariants.mail_contents import OwnRowIsTrue
from pflab.invariants.replica_addition import LossesAreReported, NewReplicasRequestStatus, RestoredStoresGetNewGuids
from pflab.invariants.replica_removal import (
    LeavingStoresBroadcastFirst,
    ReplicasDroppedWithPermission,
    TombstonesLiveLongEnough,
)
from pflab.terms.mail_types import MailKind
from tests.support.clock import START_AT
from tests.support.invariant_builders import (
    FOLDER,
    GUIDS,
    Trace,
    entry,
    folder_version,
    gets,
    kept,
    lab,
    number,
    numbers,
    sends,
)
from traces.events import (
    BackupMade,
    BackupRestored,
    ChangeMade,
    ContentSuspended,
    EntryTimedOut,
    FolderHidden,
    Loss,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    RequestDeferred,
    RequestEnded,
    RequestSent,
    RowReplaced,
    SourceDown,
    TombstoneDropped,
)
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

ALL = ("B", "C")
NEW_GUID = "ee" * 16


def stands(*invariants: type[Invariant]) -> Trace:
    """All three hold the folder, by a version of A's that each knows."""
    trace = lab(*invariants)
    for node in "ABC":
        folder_version(trace, node, 1 if node == "A" else 2, replicas=("A", "B", "C"), operation="create")
    return trace


def backs_up(trace: Trace) -> None:
    trace.add(BackupMade, "lab", store="A", backup="backup-1")


def goes_back(trace: Trace, guid: str = NEW_GUID, reason: str = "restored") -> None:
    trace.add(BackupRestored, "lab", store="A", backup="backup-1")
    trace.add(NodeStarted, "A", version="2003", replica_guid=guid, reason=reason)


def rest(trace: Trace, after_us: int) -> None:
    trace.at += after_us
    trace.guard.quiet("A", trace.at, trace.at)


# -- coming


def test_a_new_replica_that_asks_nobody() -> None:
    """By the next cycle a new replica has asked for the folder's status (RP-1, ST-3)."""
    trace = stands(NewReplicasRequestStatus)
    for asks in (True, False):
        trace.add(ReplicaAdded, "A", folder=FOLDER, store="A")
        rest(trace, 10 * MINUTE_US)
        if asks:
            sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, marks=("all respond",))
        assert trace.witnesses() == []
        rest(trace, 35 * MINUTE_US)
    assert len(trace.witnesses()) == 1


def test_a_replica_that_is_alone_when_it_should_ask() -> None:
    """Who is alone in the list at the next cycle has nobody to ask, whoever comes on it in that very instant (RP-1)."""
    trace = lab(NewReplicasRequestStatus)
    folder_version(trace, "A", 1, replicas=("A",), operation="create")
    trace.add(ReplicaAdded, "A", folder=FOLDER, store="A")
    rest(trace, 15 * MINUTE_US - trace.at % (15 * MINUTE_US))
    folder_version(trace, "A", 2, replicas=("A", "B"))
    rest(trace, MINUTE_US)
    assert trace.witnesses() == []


def test_a_replica_that_goes_before_it_has_asked_need_not() -> None:
    """A replica that is taken off the list again asks for nothing (RP-2)."""
    trace = stands(NewReplicasRequestStatus)
    trace.add(ReplicaAdded, "A", folder=FOLDER, store="A")
    trace.add(ReplicaPending, "A", folder=FOLDER)
    rest(trace, HOUR_US)
    assert trace.witnesses() == []


def test_a_restored_store_that_asks_nobody() -> None:
    """A store back from a backup asks for the hierarchy's status at once (RP-4)."""
    trace = stands(NewReplicasRequestStatus)
    backs_up(trace)
    goes_back(trace)
    rest(trace, MINUTE_US)
    (witness,) = trace.witnesses()
    assert "it was restored" in witness


def test_a_restored_store_that_keeps_its_guid() -> None:
    """A store back from a backup numbers its changes under a GUID that nobody has seen (RP-4, CN-1)."""
    trace = stands(RestoredStoresGetNewGuids)
    for guid in (NEW_GUID, GUIDS["A"]):
        assert trace.witnesses() == []
        backs_up(trace)
        goes_back(trace, guid)
    assert len(trace.witnesses()) == 1


def test_a_backup_that_is_too_old() -> None:
    """From a backup older than a tombstone gets a store begins as new (DL-4)."""
    trace = stands(RestoredStoresGetNewGuids)
    backs_up(trace)
    trace.at += 181 * DAY_US
    goes_back(trace, NEW_GUID, "first")
    assert trace.witnesses() == []
    goes_back(trace, "ef" * 16)
    (witness,) = trace.witnesses()
    assert "the shortest tombstone age" in witness


def test_a_loss_that_nobody_tells() -> None:
    """What was in no mail and is newer than the backup is told as lost (RP-4, DU-1)."""
    trace = stands(LossesAreReported)
    backs_up(trace)
    sent, unsent = trace.change("A", 5), trace.change("A", 6)
    sends(trace, "A", 1, 0x4, ALL, cnset=numbers("A", 5))
    goes_back(trace)
    trace.add(Loss, "A", folder=FOLDER, cnset=unsent.number, reason="unsent")
    rest(trace, MINUTE_US)
    assert trace.witnesses() == []
    trace.change("A", 7, number=f"{NEW_GUID}:1")
    goes_back(trace, "ef" * 16)
    rest(trace, MINUTE_US)
    assert len(trace.witnesses()) == 1
    assert sent.number not in trace.witnesses()[0]


def test_a_loss_of_what_the_backup_has() -> None:
    """What the backup has is not lost, whatever the store tells (RP-4)."""
    trace = stands(LossesAreReported)
    made = trace.change("A", 5)
    backs_up(trace)
    goes_back(trace)
    trace.add(Loss, "A", folder=FOLDER, cnset=made.number, reason="unsent")
    assert len(trace.witnesses()) == 1


# -- leaving


def test_a_leaving_store_that_keeps_something_to_itself() -> None:
    """On leaving a store broadcasts what it has not sent, and says all that it has (RP-2)."""
    trace = stands(LeavingStoresBroadcastFirst)
    trace.change("A", 5)
    trace.add(ReplicaPending, "A", folder=FOLDER)
    assert len(trace.witnesses()) == 1
    sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, marks=("delete-pending",), row="")
    assert len(trace.witnesses()) == 2
    trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    trace.change("A", 6)
    sends(trace, "A", 2, 0x4, ALL, cnset=numbers("A", 6))
    trace.add(ReplicaPending, "A", folder=FOLDER)
    sends(trace, "A", 3, MailKind.STATUS_REQUEST, ALL, marks=("delete-pending",), row=numbers("A", 6))
    assert len(trace.witnesses()) == 2


def test_a_store_that_leaves_while_its_content_stands_still() -> None:
    """It broadcasts nothing, and its row says all that it has; a row that does not is a violation as ever (RP-2, RP-5)."""
    trace = stands(LeavingStoresBroadcastFirst)
    trace.add(ContentSuspended, "A")
    trace.change("A", 5)
    trace.add(ReplicaPending, "A", folder=FOLDER)
    assert trace.witnesses() == []
    sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, marks=("delete-pending",), row="")
    assert len(trace.witnesses()) == 1


def test_a_leaving_store_that_asks_nobody() -> None:
    """In the stimulus in which it learns that it leaves a store asks whether it may drop its data (RP-2)."""
    trace = stands(LeavingStoresBroadcastFirst)
    trace.add(ReplicaPending, "A", folder=FOLDER)
    trace.at += MINUTE_US
    trace.change("A", 5)
    (witness,) = trace.witnesses()
    assert "asks nobody" in witness


def test_data_dropped_without_leave() -> None:
    """Only the answer of a holder that has all of it lets the data of a living folder go (RP-2)."""
    trace = stands(ReplicasDroppedWithPermission)
    has = numbers("A", 5)
    for serial, row, broken in ((1, has, 0), (2, "", 1)):
        trace.add(ReplicaPending, "A", folder=FOLDER)
        sends(trace, "A", serial, MailKind.STATUS_REQUEST, ALL, marks=("delete-pending",), row=has)
        gets(trace, "A", sends(trace, "B", serial, MailKind.STATUS, ("A",), marks=("retained",), row=row))
        trace.add(ReplicaDropped, "A", folder=FOLDER, cnset=has)
        assert len(trace.witnesses()) == broken
    trace.at += MINUTE_US
    trace.add(ReplicaDropped, "A", folder=FOLDER, cnset=has)
    assert len(trace.witnesses()) == 2
    trace.add(FolderHidden, "A", folder=FOLDER, path="Projects")
    trace.add(ReplicaDropped, "A", folder=FOLDER, cnset=has)
    assert len(trace.witnesses()) == 2


def deletion(trace: Trace, folder: str = FOLDER, **fields: Any) -> ChangeMade:
    return trace.change("A", 9, folder=folder, operation="delete", digest="", modified_at=START_AT, **fields)


def says(trace: Trace, store: str, cnset: str, folder: str = FOLDER) -> None:
    trace.add(RowReplaced, "A", folder=folder, store=store, cnset=cnset, cnset_fai="", sent_at=1, sent_number=1)


def test_a_tombstone_that_goes_too_soon() -> None:
    """A tombstone goes past its age and when every holder has said that it has it (DL-4)."""
    for days, tellers, broken in ((181, "BC", 0), (181, "B", 1), (179, "BC", 1)):
        trace = stands(TombstonesLiveLongEnough)
        made = deletion(trace, object=number("A", 105))
        for store in tellers:
            says(trace, store, made.number)
        trace.at += days * DAY_US
        trace.add(TombstoneDropped, "A", folder=FOLDER, object=made.object, number=made.number)
        assert len(trace.witnesses()) == broken


def test_a_tombstone_that_hides_a_folder() -> None:
    """A folder's tombstone stays as long as a folder hangs under it (DL-4, HI-6)."""
    trace = stands(TombstonesLiveLongEnough)
    folder_version(trace, "A", 8, object=number("A", 108), operation="create", parent=FOLDER, replicas=("A",))
    made = deletion(trace, "1-1", object=FOLDER, kind="folder")
    for store in "BC":
        says(trace, store, made.number, "1-1")
    trace.at += 181 * DAY_US
    trace.add(TombstoneDropped, "A", folder="1-1", object=FOLDER, number=made.number)
    (witness,) = trace.witnesses()
    assert "which hides" in witness


def test_numbers_from_before_a_replica_began_are_not_its_own() -> None:
    """A store that left and came back claims none of its earlier numbers until others bring them (CN-6)."""
    trace = stands(OwnRowIsTrue)
    trace.change("A", 5)
    trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    trace.add(ReplicaAdded, "A", folder=FOLDER, store="A")
    trace.change("A", 6)
    trace.mail("A", 1, row=numbers("A", 6))
    assert trace.witnesses() == []
    trace.mail("A", 2, row=numbers("A", 5, 6))
    assert len(trace.witnesses()) == 1


# -- the tree


def test_a_tree_that_does_not_follow_from_the_versions() -> None:
    """A ring is cut at its latest version, a hidden folder has no place, twins are told apart by age (HI-7, HI-6)."""
    trace = lab(TreeIsComputed, ListedStoresHold)
    one, other, twin = (
        folder_version(
            trace,
            "A",
            serial,
            object=number("A", 200 + serial),
            operation="create",
            subject=title,
            parent=number("A", 200 + parent) if parent else "1-1",
            replicas=("A",),
        )
        for serial, title, parent in ((1, "One", 2), (2, "Other", 1), (3, "Other", 0))
    )
    versions = kept(one) | kept(other) | kept(twin)
    paths = {other.object: "Other", one.object: "Other/One", twin.object: "Other (2)"}
    reads(trace, versions, paths)
    assert trace.witnesses() == []
    reads(trace, versions, {**paths, other.object: "Other (2)", twin.object: "Other"})
    assert len(trace.witnesses()) == 2
    reads(trace, kept(one), {one.object: "One"})
    assert len(trace.witnesses()) == 4  # nothing living is above it, and it is held all the same


def reads(trace: Trace, versions: dict[str, Any], paths: dict[str, str]) -> None:
    tree = tuple(FolderView(id_, path, ("A",), None, (), "normal", False, True) for id_, path in paths.items())
    trace.folder("A", folder="1-1", versions=versions, tree=tree)


# -- retries


def test_a_retry_that_is_not_made() -> None:
    """When an entry's time-out has ended, somebody who claims some of it is asked, or it waits for a slot (BF-3, BF-6)."""
    trace = stands(TimeoutsSendRequests)
    says(trace, "B", numbers("A", 1))
    sent = {"source": "B", "cnset": numbers("A", 1), "cnset_fai": "", "retry_at": START_AT}
    for kind, fields in ((RequestSent, sent), (RequestDeferred, {})):
        trace.add(EntryTimedOut, "A", folder=FOLDER, entry=1, attempt=2)
        trace.add(kind, "A", folder=FOLDER, entry=1, **fields)
        trace.array("A", entry())
    assert trace.witnesses() == []
    trace.add(EntryTimedOut, "A", folder=FOLDER, entry=1, attempt=3)
    trace.array("A", entry())
    (witness,) = trace.witnesses()
    assert witness.endswith("had its time-out 3, and B was not asked")


def test_a_silent_source_that_stays_up() -> None:
    """A source that has sent nothing by the end of the retry time-out is marked down (BF-4)."""
    trace = stands(SilentSourcesGoDown)
    sent = {"folder": FOLDER, "entry": 1, "source": "B", "cnset": "", "cnset_fai": "", "retry_at": START_AT}
    ended = {"folder": FOLDER, "entry": 1, "source": "B", "how": "retry"}
    trace.add(RequestSent, "A", **sent)
    trace.add(SourceDown, "A", store="B", folder=FOLDER)
    trace.add(RequestEnded, "A", **ended)
    trace.add(RequestSent, "A", **sent)
    gets(trace, "A", sends(trace, "B", 1, MailKind.STATUS, ("A",)))
    trace.add(RequestEnded, "A", **ended)
    assert trace.witnesses() == []
    trace.add(RequestSent, "A", **sent)
    trace.add(RequestEnded, "A", **ended)
    assert len(trace.witnesses()) == 1
