"""Events of the replication agent: rows, backfill, status, replicas, losses, visible folders."""

from typing import ClassVar, Literal

import msgspec

from traces.events.header import Event
from traces.labtime import LabTime


class RowReplaced(Event, frozen=True, kw_only=True, tag="row.replaced"):
    """The row of `store` was replaced by the row in its mail, which has `sent_at` and `sent_number` (spec: RST-4)."""

    folder: str
    store: str
    cnset: str
    cnset_fai: str
    sent_at: LabTime
    sent_number: int


class EntryMade(Event, frozen=True, kw_only=True, tag="entry.made"):
    """A backfill array entry was made (spec: BF-2).

    local: stores of the same site have these changes, and otherwise none of them.
    parent: the entry that had these changes until now, when the site got them; 0 if they were found missing now.
    """

    folder: str
    entry: int
    cnset: str
    cnset_fai: str
    local: bool
    due_at: LabTime
    parent: int = 0


class EntrySatisfied(Event, frozen=True, kw_only=True, tag="entry.satisfied"):
    """Nothing of the entry is missing any more."""

    folder: str
    entry: int


class EntryPruned(Event, frozen=True, kw_only=True, tag="entry.pruned"):
    """These change numbers were removed from the entry although they did not arrive (spec: RST-4, HI-6)."""

    folder: str
    entry: int
    cnset: str
    cnset_fai: str
    reason: str


class EntryTimedOut(Event, frozen=True, kw_only=True, tag="entry.timed_out"):
    """The time-out of an entry ended.

    attempt: 1 for the first request, 2 for the first retry, ...
    """

    folder: str
    entry: int
    attempt: int


class RequestSent(Event, frozen=True, kw_only=True, tag="request.sent"):
    """A backfill request for one folder was sent to one source (spec: BF-6)."""

    folder: str
    entry: int
    source: str
    cnset: str
    cnset_fai: str
    retry_at: LabTime


class RequestEnded(Event, frozen=True, kw_only=True, tag="request.ended"):
    """A backfill request ended; its slot is free again."""

    folder: str
    entry: int
    source: str
    how: Literal["satisfied", "retry", "empty", "pruned", "expired"]


class ExpiredEverywhere(Event, frozen=True, kw_only=True, tag="expired.everywhere"):
    """Every holder has reported that the items of these change numbers have expired; they count as received (spec: DL-3)."""

    folder: str
    cnset: str
    cnset_fai: str


class ContentSuspended(Event, frozen=True, kw_only=True, tag="content.suspended"):
    """Content replication is suspended on this store (spec: RP-5)."""


class ContentResumed(Event, frozen=True, kw_only=True, tag="content.resumed"):
    """Content replication continues where it stopped (spec: RP-5)."""


class RequestRefused(Event, frozen=True, kw_only=True, tag="request.refused"):
    """A backfill request for content is not answered, because content replication is suspended (spec: RP-5)."""

    folder: str
    requester: str
    request_mail: str


class RequestDeferred(Event, frozen=True, kw_only=True, tag="request.deferred"):
    """A request waits, because the limit of outstanding requests is reached (spec: BF-6)."""

    folder: str
    entry: int


class RequestAnswered(Event, frozen=True, kw_only=True, tag="request.answered"):
    """A backfill request was answered (spec: BF-5).

    mails: how many were sent.
    cnset: the change numbers that they account for.
    request_mail: the request's Message-ID; expired:.
    requested numbers whose items have expired here (spec: DL-3).
    """

    folder: str
    requester: str
    cnset: str
    mails: int
    request_mail: str
    expired: str = ""


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The state of a server when a choice was made.

    cost: None if the server is unreachable or unknown.
    has: how many of the wanted change numbers it claims.
    passed_over: why it was not chosen; '' if it was chosen.
    near: it is in the chooser's site.
    group: the search group of Exchange 2000, or the step that listed a responder; 0 for none.
    has_all: it claims every change that the chooser misses in the folder.
    affinity: the sum of referral costs; None if referrals are not possible.
    transit_us: how long its mail takes; None if unknown.
    backfilled_at: when it was last asked; 0 for never.
    guid: the GUID of its directory entry, which decides ties.
    active: it has sent mail and is not down.
    added_at: when its replica was added.
    leaving: it is not on the replica list any more, and keeps its data until another store has all of it.
    """

    store: str
    down: bool
    preferred: bool
    cost: int | None
    version: str
    has: int
    passed_over: str
    site: str = ""
    near: bool = False
    group: int = 0
    has_all: bool = False
    affinity: int | None = None
    transit_us: int | None = None
    backfilled_at: LabTime = 0
    guid: str = ""
    active: bool = False
    added_at: LabTime | None = None
    leaving: bool = False


class SourcesConsidered(Event, frozen=True, kw_only=True, tag="sources.considered"):
    """Backfill sources were chosen for one entry (spec: BF-3).

    candidates: in the order of the choice.
    method: the method of the server version; '' in traces before 1.3, which have only the sorted list.
    cnset: the change numbers to request.
    missing: all change numbers that the store misses in the folder.
    one_by_one: the changes that the first source does not have wait for the retry time-out.
    """

    folder: str
    entry: int
    candidates: tuple[Candidate, ...]
    chosen: tuple[str, ...]
    method: str = ""
    cnset: str = ""
    cnset_fai: str = ""
    missing: str = ""
    missing_fai: str = ""
    one_by_one: bool = False


class RespondersConsidered(Event, frozen=True, kw_only=True, tag="responders.considered"):
    """The required responders of a status request were chosen (spec: ST-4).

    method: `all holders` or `six steps`.
    limit: the most that the server version lists, 0 for all.
    """

    folder: str
    candidates: tuple[Candidate, ...]
    chosen: tuple[str, ...]
    method: str = ""
    limit: int = 0


class SourceDown(Event, frozen=True, kw_only=True, tag="source.down"):
    """A store was marked down: it did not answer before the retry time-out (spec: BF-4)."""

    store: str
    folder: str


class SourceUp(Event, frozen=True, kw_only=True, tag="source.up"):
    """A mail arrived from a store that was marked down (spec: BF-4)."""

    store: str


class StatusDue(Event, frozen=True, kw_only=True, tag="status.due"):
    """A status check found that these folders were without updates for long enough (spec: ST-1).

    last_update_at: the latest update.
    """

    folders: tuple[str, ...]
    last_update_at: LabTime


class StatusMissed(Event, frozen=True, kw_only=True, tag="status.missed"):
    """A status check was due while the store was stopped. The store makes this check now (spec: ST-1)."""


class StatusOrdered(Event, frozen=True, kw_only=True, tag="status.ordered"):
    """An administrator ordered Synchronize Hierarchy or Synchronize Content: the store requests the folder's status now
    (spec: AD-1). Since 1.9."""

    folder: str


class ChangesResent(Event, frozen=True, kw_only=True, tag="changes.resent"):
    """An administrator ordered Send Hierarchy or Send Contents: the store sends the folder's changes since `since_at` again
    (spec: AD-1). Since 1.9.

    stores: to which stores.
    cnset: what the mails claim together, with the holes between the changes.
    """

    folder: str
    stores: tuple[str, ...]
    since_at: LabTime
    cnset: str
    cnset_fai: str


class ReplicaAdded(Event, frozen=True, kw_only=True, tag="replica.added"):
    """`store` now holds the folder (spec: RP-1)."""

    folder: str
    store: str


class ReplicaPending(Event, frozen=True, kw_only=True, tag="replica.pending"):
    """This store was removed from the replica list and waits until it may delete the data (spec: RP-2)."""

    folder: str


class ReplicaDropped(Event, frozen=True, kw_only=True, tag="replica.dropped"):
    """This store has deleted the data.

    cnset: the change numbers that it had.
    """

    folder: str
    cnset: str


class AddressStamped(Event, frozen=True, kw_only=True, tag="address.stamped"):
    """The recipient update service gave `store` its mail address (spec: ML-1)."""

    store: str
    address: str


class AddressMissing(Event, frozen=True, kw_only=True, tag="address.missing"):
    """The directory has an entry of `store` without a mail address: it is not stamped yet, or its addresses were removed. Or it
    is the entry of the node itself, and its object is damaged, so that the node cannot send (spec: ML-8).

    reason: why, in words (spec: ML-1).
    """

    store: str
    reason: str


class AddressLacking(Event, frozen=True, kw_only=True, tag="address.lacking"):
    """A mail was not sent to `stores`, because their entries in the directory have no address. If the node itself is one of
    them, the mail was sent to nobody (spec: ML-1)."""

    message_type: int
    folders: tuple[str, ...]
    stores: tuple[str, ...]


class TreeLinked(Event, frozen=True, kw_only=True, tag="tree.linked"):
    """The object of `store` in the directory names the public folder tree of its store again, or no tree any more (spec: ML-8).
    Since 1.12.
    """

    store: str
    linked: bool


class TreeLacking(Event, frozen=True, kw_only=True, tag="tree.lacking"):
    """The objects of `stores` name no public folder tree (spec: ML-8). So a mail about the hierarchy was not sent to them. If
    `folder` is another folder, they are holders of it, and nothing about it was sent to anybody. Since 1.12.
    """

    message_type: int
    folder: str
    stores: tuple[str, ...]


class StoreDeleted(Event, frozen=True, kw_only=True, tag="store.deleted"):
    """A store was deleted from the directory.

    forced: it was still on replica lists. Only the server where it was deleted sets this field (spec: RP-6).
    directory_object: which object of this name it was: 0, and one more each time the store is created again (spec: RP-7).
    """

    store: str
    forced: bool
    directory_object: int = 0


class Loss(Event, frozen=True, kw_only=True, tag="loss"):
    """Changes were lost for a reason that DU-1 allows."""

    UNSENT: ClassVar[str] = "unsent, and newer than the backup"
    """The reason after a restore."""

    folder: str
    cnset: str
    reason: str


class FolderShown(Event, frozen=True, kw_only=True, tag="folder.shown"):
    """The folder became visible at `path`."""

    folder: str
    path: str


class FolderMoved(Event, frozen=True, kw_only=True, tag="folder.moved"):
    """The visible folder is at another path now: it, or a folder above, has another name or place, or its name is no longer
    that of another folder beside it, or has become one (spec: HI-7). Since 1.11.
    """

    folder: str
    path: str


class FolderHidden(Event, frozen=True, kw_only=True, tag="folder.hidden"):
    """The folder, last visible at `path`, became hidden, because its parent is deleted or unknown (spec: HI-6)."""

    folder: str
    path: str


class PostRefused(Event, frozen=True, kw_only=True, tag="post.refused"):
    """A user's post or edit was refused by a storage limit of the folder, and not acknowledged (spec: AD-2)."""

    folder: str
    reason: str


ReplicationEvent = (
    RowReplaced
    | EntryMade
    | EntrySatisfied
    | EntryPruned
    | EntryTimedOut
    | RequestSent
    | RequestEnded
    | RequestDeferred
    | ContentSuspended
    | ContentResumed
    | RequestRefused
    | ExpiredEverywhere
    | RequestAnswered
    | SourcesConsidered
    | RespondersConsidered
    | SourceDown
    | SourceUp
    | StatusDue
    | StatusMissed
    | StatusOrdered
    | ChangesResent
    | ReplicaAdded
    | ReplicaPending
    | ReplicaDropped
    | AddressStamped
    | AddressMissing
    | AddressLacking
    | TreeLinked
    | TreeLacking
    | StoreDeleted
    | Loss
    | FolderShown
    | FolderMoved
    | FolderHidden
    | PostRefused
)
