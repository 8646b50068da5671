"""Events of the replication agent: rows, backfill, status, replicas, and what administrators must see."""

from typing import Literal

import msgspec

from traces.events.header import Event
from traces.labtime import LabTime


class RowReplaced(Event, frozen=True, kw_only=True, tag="row.replaced"):
    """The row of `store` is now what its mail said; sent_at, sent_number: of that mail (spec: RST-4)."""

    folder: str
    store: str
    cnset: str
    cnset_fai: str
    sent_at: LabTime
    sent_number: int


class EntryMade(Event, frozen=True, kw_only=True, tag="entry.made"):
    """A backfill array entry (spec: BF-2). local: some store of the site has all of it."""

    folder: str
    entry: int
    cnset: str
    cnset_fai: str
    local: bool
    due_at: LabTime


class EntrySatisfied(Event, frozen=True, kw_only=True, tag="entry.satisfied"):
    """Nothing of the entry is missing any more."""

    folder: str
    entry: int


class EntryPruned(Event, frozen=True, kw_only=True, tag="entry.pruned"):
    """These numbers left the entry without having come, and why (spec: RST-4, HI-6)."""

    folder: str
    entry: int
    cnset: str
    cnset_fai: str
    reason: str


class EntryTimedOut(Event, frozen=True, kw_only=True, tag="entry.timed_out"):
    """Its time-out ended; attempt: 1 for the first request, 2 for the first retry, ..."""

    folder: str
    entry: int
    attempt: int


class RequestSent(Event, frozen=True, kw_only=True, tag="request.sent"):
    """One folder, one source (spec: BF-6)."""

    folder: str
    entry: int
    source: str
    cnset: str
    cnset_fai: str
    retry_at: LabTime


class RequestEnded(Event, frozen=True, kw_only=True, tag="request.ended"):
    """Its slot is free again."""

    folder: str
    entry: int
    source: str
    how: Literal["satisfied", "retry", "empty", "pruned", "expired"]


class ExpiredEverywhere(Event, frozen=True, kw_only=True, tag="expired.everywhere"):
    """Every holder has said that these numbers' items expired there: they are accounted for (spec: DL-3)."""

    folder: str
    cnset: str
    cnset_fai: str


class ContentSuspended(Event, frozen=True, kw_only=True, tag="content.suspended"):
    """Content replication stands still on this store (spec: RP-5)."""


class ContentResumed(Event, frozen=True, kw_only=True, tag="content.resumed"):
    """Content replication goes on where it stopped (spec: RP-5)."""


class RequestRefused(Event, frozen=True, kw_only=True, tag="request.refused"):
    """A backfill request for content is not answered: content replication is suspended (spec: RP-5)."""

    folder: str
    requester: str
    request_mail: str


class RequestDeferred(Event, frozen=True, kw_only=True, tag="request.deferred"):
    """The limit of outstanding requests is reached (spec: BF-6)."""

    folder: str
    entry: int


class RequestAnswered(Event, frozen=True, kw_only=True, tag="request.answered"):
    """A backfill request was answered (spec: BF-5).

    mails: how many went out; cnset: what they stand for; request_mail: the request's Message-ID; expired: what has
    expired here (spec: DL-3).
    """

    folder: str
    requester: str
    cnset: str
    mails: int
    request_mail: str
    expired: str = ""


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A server as it stood when a choice was made, in the order of the choice.

    cost: None when unreachable or unknown; has: how many of the numbers in question it claims; passed_over:
    why it was not chosen, '' if it was; near: in the chooser's site; group: the search group of 2000 or the step
    that listed a responder, 0 for none; has_all: it claims all that the chooser misses in the folder; affinity: sum of
    referral costs, None without; transit_us: how long its mail takes, None if unknown; backfilled_at: when it was last
    asked, 0 for never; guid: of its directory entry, by which ties are settled; active: mail has come from it and it is
    not down; added_at: when its replica was added.
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


class SourcesConsidered(Event, frozen=True, kw_only=True, tag="sources.considered"):
    """The choice of backfill sources for one entry (spec: BF-3).

    method: the way of the version, '' in traces before 1.3, which have the sorted list only; cnset: what is to be
    asked for; missing: all that the store misses in the folder; one_by_one: what the one asked does not have waits for
    the retry time-out.
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
    """The choice of required responders of a status request (spec: ST-4).

    method: `all holders` or `six steps`; limit: how many the version lists at most, 0 for all.
    """

    folder: str
    candidates: tuple[Candidate, ...]
    chosen: tuple[str, ...]
    method: str = ""
    limit: int = 0


class SourceDown(Event, frozen=True, kw_only=True, tag="source.down"):
    """The store did not answer before the retry time-out (spec: BF-4)."""

    store: str
    folder: str


class SourceUp(Event, frozen=True, kw_only=True, tag="source.up"):
    """A mail from a store that was marked down (spec: BF-4)."""

    store: str


class StatusDue(Event, frozen=True, kw_only=True, tag="status.due"):
    """A status check found these folders quiet long enough (spec: ST-1); last_update_at: of the newest."""

    folders: tuple[str, ...]
    last_update_at: LabTime


class StatusMissed(Event, frozen=True, kw_only=True, tag="status.missed"):
    """A status check came due while the store was stopped and is made up for now (spec: ST-1)."""


class ReplicaAdded(Event, frozen=True, kw_only=True, tag="replica.added"):
    """`store` now holds the folder (spec: RP-1)."""

    folder: str
    store: str


class ReplicaPending(Event, frozen=True, kw_only=True, tag="replica.pending"):
    """This store was taken off the list and waits for leave to drop the data (spec: RP-2)."""

    folder: str


class ReplicaDropped(Event, frozen=True, kw_only=True, tag="replica.dropped"):
    """The data is gone from here; cnset: what it was."""

    folder: str
    cnset: str


class AddressStamped(Event, frozen=True, kw_only=True, tag="address.stamped"):
    """The recipient update service gave `store` its mail address (spec: ML-1)."""

    store: str
    address: str


class StoreDeleted(Event, frozen=True, kw_only=True, tag="store.deleted"):
    """The store is in the directory no more; forced, at the store where it was done: it still was on lists (spec: RP-6)."""

    store: str
    forced: bool


class Loss(Event, frozen=True, kw_only=True, tag="loss"):
    """Changes are gone for a reason that DU-1 allows, and this says so."""

    folder: str
    cnset: str
    reason: str


class FolderShown(Event, frozen=True, kw_only=True, tag="folder.shown"):
    """The folder is visible at that path."""

    folder: str
    path: str


class FolderHidden(Event, frozen=True, kw_only=True, tag="folder.hidden"):
    """The folder, last seen at that path, no longer hangs under a living parent (spec: HI-6)."""

    folder: str
    path: str


class PostRefused(Event, frozen=True, kw_only=True, tag="post.refused"):
    """A user's post was not taken; it never was acknowledged."""

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
    | ReplicaAdded
    | ReplicaPending
    | ReplicaDropped
    | AddressStamped
    | StoreDeleted
    | Loss
    | FolderShown
    | FolderHidden
    | PostRefused
)
