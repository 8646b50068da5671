"""Events of objects: changes made here, versions that arrived, conflicts, tombstones."""

from typing import Literal

from traces.events.header import Event
from traces.labtime import LabTime

Kind = Literal["folder", "message", "fai"]
Way = Literal["broadcast", "backfill", "queue"]


class ChangeMade(Event, frozen=True, kw_only=True, tag="change.made"):
    """A user made a change, and the store acknowledged it (spec: CN-2, DU-1).

    supersedes: the change numbers that it directly replaces.
    pcl: the predecessor change list, as a set of single change numbers (spec: CN-3).
    rivals (since 1.10): what the store had of the object, and the version does not include (spec: CF-6).
    digest: the SHA-256 of the item's bytes, '' for a deletion. replicas, parent, resolve (since 1.5): only for folders. mail:
        the mail that became this post.
    """

    folder: str
    object: str
    number: str
    kind: Kind
    operation: Literal["create", "modify", "delete"]
    modified_at: LabTime
    supersedes: tuple[str, ...]
    pcl: str
    digest: str
    subject: str
    replicas: tuple[str, ...] | None = None
    parent: str | None = None
    resolve: str = "default"
    rivals: tuple[str, ...] = ()


class VersionEvent(Event, frozen=True, kw_only=True):
    """A version arrived.

    way: how it arrived.
    rivals (since 1.10): the versions that its predecessor list does not include, whatever its counters are (spec: CF-6).
    stands_for: the change numbers that it accounts for (spec: CN-7).
    """

    folder: str
    object: str
    number: str
    kind: Kind
    pcl: str
    modified_at: LabTime
    way: Way
    stands_for: str
    digest: str
    deleted: bool
    rivals: tuple[str, ...] = ()


class VersionApplied(VersionEvent, frozen=True, kw_only=True, tag="version.applied"):
    """The version was applied here."""


class VersionIgnored(VersionEvent, frozen=True, kw_only=True, tag="version.ignored"):
    """The version changes nothing here (spec: CN-4, IN-3, IN-4)."""

    reason: Literal["old", "duplicate", "tombstoned", "no replica"]


class VersionHeld(VersionEvent, frozen=True, kw_only=True, tag="version.held"):
    """The version waits in the replication message queue (spec: HI-4).

    waits_for: the folder that it needs.
    """

    until_at: LabTime
    waits_for: str


class VersionDropped(VersionEvent, frozen=True, kw_only=True, tag="version.dropped"):
    """A waiting version was discarded: it expired or is not needed. If it is still missing, backfill fetches it (spec:
    HI-4)."""

    reason: str


class VersionFailed(Event, frozen=True, kw_only=True, tag="version.failed"):
    """An item of a mail could not be decoded and was set aside. Its change number is still missing (spec: IN-5)."""

    number: str | None
    reason: str
    folder: str | None = None
    object: str | None = None


class ConflictArose(Event, frozen=True, kw_only=True, tag="conflict.arose"):
    """A conflict began: concurrent versions are kept side by side.

    winner: the number of the version shown (spec: CF-1).
    """

    folder: str
    object: str
    versions: tuple[str, ...]
    winner: str


class ConflictEnded(Event, frozen=True, kw_only=True, tag="conflict.ended"):
    """A conflict ended.

    number: the change number of the only version that is left. by (since 1.9): the folder's contact who resolved it at this
        store, '' if it ended in another way (spec: CF-3).
    """

    folder: str
    object: str
    number: str
    by: str = ""


class ConflictAged(Event, frozen=True, kw_only=True, tag="conflict.aged"):
    """The home store ended an old conflict with the change `number`. The version `winner` stays (spec: CF-5)."""

    folder: str
    object: str
    number: str
    winner: str
    since_at: LabTime
    limit_us: int


class ConflictNotice(Event, frozen=True, kw_only=True, tag="conflict.notice"):
    """A store, as a rule the home store, notified the contacts of a conflict; `contacts` may be empty (spec: CF-2)."""

    folder: str
    object: str
    contacts: tuple[str, ...]
    versions: tuple[str, ...]


class TombstoneMade(Event, frozen=True, kw_only=True, tag="tombstone.made"):
    """The change `number` deleted the object in this store (spec: DL-1)."""

    folder: str
    object: str
    number: str


class ItemExpired(Event, frozen=True, kw_only=True, tag="item.expired"):
    """A version was removed from this replica because of an age limit (`limit_us`); its change number stays (spec: DL-3)."""

    folder: str
    object: str
    number: str
    modified_at: LabTime
    limit_us: int


class ItemRecovered(Event, frozen=True, kw_only=True, tag="item.recovered"):
    """A deleted message or folder was recovered as a new object with the change `number` (spec: DL-5).

    of: the deleted object.
    deleted_at: when this store deleted it.
    retention_us: how long this store retains what it deletes. Since 1.9.
    """

    folder: str
    object: str
    number: str
    of: str
    deleted_at: LabTime
    retention_us: int


class TombstoneDropped(Event, frozen=True, kw_only=True, tag="tombstone.dropped"):
    """A tombstone was removed, because it is old enough and every holder has the deletion (spec: DL-4)."""

    folder: str
    object: str
    number: str


ChangeEvent = (
    ChangeMade
    | ItemExpired
    | ItemRecovered
    | VersionApplied
    | VersionIgnored
    | VersionHeld
    | VersionDropped
    | VersionFailed
    | ConflictAged
    | ConflictArose
    | ConflictEnded
    | ConflictNotice
    | TombstoneMade
    | TombstoneDropped
)
