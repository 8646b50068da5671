"""The invariants of added and removed replicas report planted violations, and pass correct events."""

from __future__ import annotations

from typing import Any

from node.views import FolderView
from pflab.invariants.backfill_timeouts import SilentSourcesGoDown, TimeoutsSendRequests
from pflab.invariants.folder_tree import ListedStoresHold, TreeIsComputed
from pflab.invariants.invariant import Invariant
from pflab.invariants.mail.contents import OwnRowIsTrue
from pflab.invariants.replica_addition import (
    CreatedStoresBeginAsNew,
    LossesAreReported,
    NewReplicasRequestStatus,
    RestoredStoresGetNewGuids,
)
from pflab.invariants.replica_removal import (
    LastReplicasStay,
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
    lab,
    number,
    numbers,
    sends,
    versions_of,
)
from traces.events import (
    AddressLacking,
    AddressMissing,
    AddressStamped,
    BackupMade,
    BackupRestored,
    ChangeMade,
    ContentResumed,
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
    StoreCreated,
    StoreDeleted,
    TombstoneDropped,
)
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

ALL = ("B", "C")
NEW_GUID = "ee" * 16


def trace_of_holders(*invariants: type[Invariant]) -> Trace:
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
    """By the next cycle a new replica must have requested the folder's status (RP-1, ST-3)."""
    trace = trace_of_holders(NewReplicasRequestStatus)
    for asks in (True, False):
        trace.add(ReplicaAdded, "A", folder=FOLDER, store="A")
        rest(trace, 10 * MINUTE_US)
        if asks:
            sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, marks=("all respond",))
        assert trace.witnesses() == []
        rest(trace, 35 * MINUTE_US)
    assert len(trace.witnesses()) == 1


def test_a_replica_that_is_alone_when_it_should_ask() -> None:
    """A store that is alone on the list at the next cycle need not ask, even if another joins in that instant (RP-1)."""
    trace = lab(NewReplicasRequestStatus)
    folder_version(trace, "A", 1, replicas=("A",), operation="create")
    trace.add(ReplicaAdded, "A", folder=FOLDER, store="A")
    rest(trace, 15 * MINUTE_US - trace.at % (15 * MINUTE_US))
    folder_version(trace, "A", 2, replicas=("A", "B"))
    rest(trace, MINUTE_US)
    assert trace.witnesses() == []


def test_a_replica_that_goes_before_it_has_asked_need_not() -> None:
    """A replica that is taken off the list again need not ask (RP-2)."""
    trace = trace_of_holders(NewReplicasRequestStatus)
    trace.add(ReplicaAdded, "A", folder=FOLDER, store="A")
    trace.add(ReplicaPending, "A", folder=FOLDER)
    rest(trace, HOUR_US)
    assert trace.witnesses() == []


def test_a_restored_store_that_asks_nobody() -> None:
    """A restored store must request the status of the hierarchy at once (RP-4)."""
    trace = trace_of_holders(NewReplicasRequestStatus)
    backs_up(trace)
    goes_back(trace)
    rest(trace, MINUTE_US)
    (witness,) = trace.witnesses()
    assert "it was restored" in witness


def test_a_restored_store_that_reaches_nobody_when_it_should_ask() -> None:
    """A restored store need not ask later if no other store had an address when it asked, even if one gets an address in that
    instant. It must ask if another store was reached (RP-4, ML-1)."""
    for mute in (("B", "C"), ("B",)):
        trace = trace_of_holders(NewReplicasRequestStatus)
        for store in mute:
            trace.add(AddressMissing, "A", store=store, reason="the recipient update service fails")
        backs_up(trace)
        goes_back(trace)
        trace.add(AddressLacking, "A", message_type=int(MailKind.STATUS_REQUEST), folders=("1-1",), stores=mute)
        trace.add(AddressStamped, "A", store="B", address="B-IS@contoso.test")
        rest(trace, 0)
        rest(trace, HOUR_US)
        assert len(trace.witnesses()) == (0 if mute == ("B", "C") else 1)


def test_a_restored_store_that_keeps_its_guid() -> None:
    """A restored store must number its changes under a new GUID (RP-4, CN-1)."""
    trace = trace_of_holders(RestoredStoresGetNewGuids)
    for guid in (NEW_GUID, GUIDS["A"]):
        assert trace.witnesses() == []
        backs_up(trace)
        goes_back(trace, guid)
    assert len(trace.witnesses()) == 1


def test_a_backup_that_is_too_old() -> None:
    """A store restored from a backup older than the tombstone age must begin as new (DL-4)."""
    trace = trace_of_holders(RestoredStoresGetNewGuids)
    backs_up(trace)
    trace.at += 181 * DAY_US
    goes_back(trace, NEW_GUID, "first")
    assert trace.witnesses() == []
    goes_back(trace, "ef" * 16)
    (witness,) = trace.witnesses()
    assert "the shortest tombstone age" in witness


def creates(trace: Trace, directory_object: int, guid: str, reason: str = "first") -> None:
    """The lab creates a store for A, which starts."""
    trace.add(StoreCreated, "lab", store="A", directory_object=directory_object)
    trace.add(NodeStarted, "A", version="2003", replica_guid=guid, reason=reason)


def test_a_created_store_that_does_not_begin_as_new() -> None:
    """A store is created only after the deletion of the one before it, and begins as new with a new GUID (RP-7, CN-1)."""
    trace = trace_of_holders(CreatedStoresBeginAsNew)
    trace.add(StoreDeleted, "B", store="A", forced=True)
    creates(trace, 1, NEW_GUID)
    assert trace.witnesses() == []
    creates(trace, 2, "ef" * 16)
    (witness,) = trace.witnesses()
    assert witness == "a store was created for A, whose store was not deleted"
    trace.add(StoreDeleted, "B", store="A", forced=True, directory_object=2)
    creates(trace, 3, NEW_GUID)
    assert len(trace.witnesses()) == 2
    trace.add(StoreDeleted, "B", store="A", forced=True, directory_object=3)
    creates(trace, 4, "fe" * 16, "restart")
    assert len(trace.witnesses()) == 3


def test_a_loss_that_is_not_reported() -> None:
    """Changes that were never sent and are newer than the backup must be reported lost (RP-4, DU-1)."""
    trace = trace_of_holders(LossesAreReported)
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


def test_a_loss_of_what_counted_as_broadcast() -> None:
    """A change that waits for its cycle counts as broadcast when its store becomes the only holder, and need not be reported as
    lost, even if another store holds the folder again (RP-4, RST-1)."""
    trace = trace_of_holders(LossesAreReported)
    backs_up(trace)
    trace.change("A", 5)
    folder_version(trace, "A", 6, replicas=("A",))
    folder_version(trace, "A", 7, replicas=("A", "B"))
    sends(trace, "A", 1, MailKind.HIERARCHY, ALL, folder="1-1", cnset=numbers("A", 1, 6, 7))
    goes_back(trace)
    rest(trace, MINUTE_US)
    assert trace.witnesses() == []


def test_a_loss_of_what_a_leaving_store_claimed() -> None:
    """A store that leaves while content is suspended claims its changes without a broadcast. After a restore it need not report
    them as lost (RP-2, RP-4, RP-5)."""
    trace = trace_of_holders(LossesAreReported)
    backs_up(trace)
    made = trace.change("A", 5)
    trace.add(ContentSuspended, "A")
    trace.add(ReplicaPending, "A", folder=FOLDER)
    sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, marks=("delete-pending",), row=made.number)
    goes_back(trace)
    rest(trace, MINUTE_US)
    assert trace.witnesses() == []


def test_a_loss_of_what_another_store_should_get() -> None:
    """A change that waits for its cycle must be reported as lost if a list becomes shorter but has other holders (RP-4)."""
    trace = trace_of_holders(LossesAreReported)
    backs_up(trace)
    trace.change("A", 5)
    folder_version(trace, "A", 6, replicas=("A", "B"))
    sends(trace, "A", 1, MailKind.HIERARCHY, ALL, folder="1-1", cnset=numbers("A", 1, 6))
    goes_back(trace)
    rest(trace, MINUTE_US)
    (witness,) = trace.witnesses()
    assert "does not report that A-5" in witness


def test_a_reported_loss_of_what_the_backup_has() -> None:
    """A change in the backup must not be reported lost (RP-4)."""
    trace = trace_of_holders(LossesAreReported)
    made = trace.change("A", 5)
    backs_up(trace)
    goes_back(trace)
    trace.add(Loss, "A", folder=FOLDER, cnset=made.number, reason="unsent")
    assert len(trace.witnesses()) == 1


# -- leaving


def test_a_leaving_store_that_does_not_tell_everything() -> None:
    """A leaving store must broadcast its unsent changes and tell all that it has (RP-2)."""
    trace = trace_of_holders(LeavingStoresBroadcastFirst)
    trace.change("A", 5)
    trace.add(ReplicaPending, "A", folder=FOLDER)
    assert trace.witnesses() == []  # the broadcast of a large backlog follows at the same instant
    sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, marks=("delete-pending",), row="")
    unsent, unsaid = trace.witnesses()
    assert "has not broadcast" in unsent
    assert "does not say" in unsaid
    trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    trace.change("A", 6)
    sends(trace, "A", 2, 0x4, ALL, cnset=numbers("A", 6))
    trace.add(ReplicaPending, "A", folder=FOLDER)
    sends(trace, "A", 3, MailKind.STATUS_REQUEST, ALL, marks=("delete-pending",), row=numbers("A", 6))
    assert len(trace.witnesses()) == 2


def test_a_store_that_leaves_while_content_is_suspended() -> None:
    """It broadcasts nothing, but its row must still tell all that it has (RP-2, RP-5)."""
    trace = trace_of_holders(LeavingStoresBroadcastFirst)
    trace.add(ContentSuspended, "A")
    trace.change("A", 5)
    trace.add(ReplicaPending, "A", folder=FOLDER)
    assert trace.witnesses() == []
    sends(trace, "A", 1, MailKind.STATUS_REQUEST, ALL, marks=("delete-pending",), row="")
    assert len(trace.witnesses()) == 1


def test_a_store_that_leaves_again_after_content_is_resumed() -> None:
    """What a leaving store told while content was suspended counts as broadcast. The store need not broadcast it when it leaves
    again; what it made later it must (RP-2, RP-5)."""
    trace = trace_of_holders(LeavingStoresBroadcastFirst)
    trace.add(ContentSuspended, "A")
    trace.change("A", 5)
    leaves(trace, 1, numbers("A", 5))
    folder_version(trace, "A", 6, replicas=("A", "B", "C"))
    trace.add(ContentResumed, "A")
    leaves(trace, 2, numbers("A", 5))
    assert trace.witnesses() == []
    trace.change("A", 7)
    leaves(trace, 3, numbers("A", 5, 7))
    (witness,) = trace.witnesses()
    assert "has not broadcast A-7 " in witness


def test_associated_messages_of_the_only_holder() -> None:
    """Changes that a store made as the only holder count as broadcast, those of associated messages too. What it makes after
    another store holds the folder again it must broadcast (RP-2, RST-1, CN-9)."""
    trace = trace_of_holders(LeavingStoresBroadcastFirst)
    folder_version(trace, "A", 5, replicas=("A",))
    trace.change("A", 6, kind="fai")
    folder_version(trace, "A", 7, replicas=("A", "B"))
    leaves(trace, 1, "", row_fai=numbers("A", 6))
    assert trace.witnesses() == []
    trace.change("A", 8, kind="fai")
    leaves(trace, 2, "", row_fai=numbers("A", 6, 8))
    (witness,) = trace.witnesses()
    assert "has not broadcast A-8 " in witness


def leaves(trace: Trace, serial: int, row: str, **section: str) -> None:
    trace.add(ReplicaPending, "A", folder=FOLDER)
    marks = ("delete-pending",)
    sends(trace, "A", serial, MailKind.STATUS_REQUEST, ALL, marks=marks, row=row, **section)


def test_a_leaving_store_that_asks_nobody() -> None:
    """A store must ask whether it may drop its data in the stimulus in which it learns that it leaves (RP-2)."""
    trace = trace_of_holders(LeavingStoresBroadcastFirst)
    trace.add(ReplicaPending, "A", folder=FOLDER)
    trace.at += MINUTE_US
    trace.change("A", 5)
    (witness,) = trace.witnesses()
    assert "asks nobody" in witness


def test_data_dropped_without_permission() -> None:
    """A store may drop the data of an existing folder only after the answer of a holder that has all of it, with what has come
    since the request (RP-2, DU-1)."""
    trace = trace_of_holders(ReplicasDroppedWithPermission)
    has, claimed = numbers("A", 4, 5), numbers("A", 4)
    for serial, row, broken in ((1, has, 0), (2, claimed, 1)):
        trace.add(ReplicaPending, "A", folder=FOLDER)
        sends(trace, "A", serial, MailKind.STATUS_REQUEST, ALL, marks=("delete-pending",), row=claimed)
        gets(trace, "A", sends(trace, "B", serial, MailKind.STATUS, ("A",), marks=("retained",), row=row))
        says(trace, "B", row)
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
    """A tombstone may be dropped only past its age and when every holder has said that it has it (DL-4)."""
    for days, tellers, broken in ((181, "BC", 0), (181, "B", 1), (179, "BC", 1)):
        trace = trace_of_holders(TombstonesLiveLongEnough)
        made = deletion(trace, object=number("A", 105))
        for store in tellers:
            says(trace, store, made.number)
        trace.at += days * DAY_US
        trace.add(TombstoneDropped, "A", folder=FOLDER, object=made.object, number=made.number)
        assert len(trace.witnesses()) == broken


def test_a_tombstone_that_hides_a_folder() -> None:
    """A folder's tombstone must stay while a folder is under it (DL-4, HI-6)."""
    trace = trace_of_holders(TombstonesLiveLongEnough)
    folder_version(trace, "A", 8, object=number("A", 108), operation="create", parent=FOLDER, replicas=("A",))
    made = deletion(trace, "1-1", object=FOLDER, kind="folder")
    for store in "BC":
        says(trace, store, made.number, "1-1")
    trace.at += 181 * DAY_US
    trace.add(TombstoneDropped, "A", folder="1-1", object=FOLDER, number=made.number)
    (witness,) = trace.witnesses()
    assert "which hides" in witness


def test_numbers_from_before_a_replica_began_are_not_its_own() -> None:
    """A store that left and came back must not claim its earlier numbers until other stores send them (CN-6)."""
    trace = trace_of_holders(OwnRowIsTrue)
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
    """A cycle is cut at its latest version, a hidden folder has no place, and age decides between folders of one name (HI-7,
    HI-6)."""
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
    versions = versions_of(one) | versions_of(other) | versions_of(twin)
    paths = {other.object: "Other", one.object: "Other/One", twin.object: "Other (2)"}
    reads(trace, versions, paths)
    assert trace.witnesses() == []
    reads(trace, versions, {**paths, other.object: "Other (2)", twin.object: "Other"})
    assert len(trace.witnesses()) == 2
    reads(trace, versions_of(one), {one.object: "One"})
    assert len(trace.witnesses()) == 4  # no living folder is above it, but it is still held


def reads(trace: Trace, versions: dict[str, Any], paths: dict[str, str]) -> None:
    tree = tuple(FolderView(id_, path, ("A",), None, (), "normal", False, True) for id_, path in paths.items())
    trace.folder("A", folder="1-1", versions=versions, tree=tree)


# -- retries


def test_a_retry_that_is_not_made() -> None:
    """When an entry's time-out ends, the store must ask a source that claims some of it, or wait for a slot (BF-3, BF-6)."""
    trace = trace_of_holders(TimeoutsSendRequests)
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
    assert witness.endswith("reached its time-out 3, but no request went to B")


def test_a_source_that_has_nothing_is_not_asked_again_at_once() -> None:
    """After an empty answer another source is asked. A leaving store may have lost what it claimed when it left (BF-5)."""
    trace = trace_of_holders(TimeoutsSendRequests)
    says(trace, "B", numbers("A", 1))
    trace.add(RequestEnded, "A", folder=FOLDER, entry=1, source="B", how="empty")
    trace.array("A", entry())
    assert trace.witnesses() == []
    says(trace, "C", numbers("A", 1))
    trace.add(RequestEnded, "A", folder=FOLDER, entry=1, source="B", how="empty")
    trace.array("A", entry())
    (witness,) = trace.witnesses()
    assert witness.endswith("got nothing from B, but no request went to C")


def test_a_silent_source_that_stays_up() -> None:
    """A source that sent nothing within the retry time-out must be marked down (BF-4)."""
    trace = trace_of_holders(SilentSourcesGoDown)
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


def test_the_last_replica_is_taken_off_only_by_force() -> None:
    """A list becomes empty only when its last store is deleted by force (RP-2, RP-6)."""
    trace = lab(LastReplicasStay)
    made = folder_version(trace, "A", 1, replicas=("A",), supersedes=(number("B", 9),))
    trace.add(StoreDeleted, "A", store="A", forced=True)
    folder_version(trace, "A", 2, replicas=(), supersedes=(made.number,))
    trace.at += 1
    folder_version(trace, "A", 3, replicas=(), supersedes=(number("A", 2),))
    assert trace.witnesses() == []
    folder_version(trace, "B", 1, replicas=(), supersedes=(made.number,))
    (witness,) = trace.witnesses()
    assert witness.startswith("B took the last store off the replica list of ")
