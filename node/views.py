"""The results of a store's reads: frozen values for people, programs and tests. The agent never uses them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from topology.arguments import MOST_NAMES, MOST_POSTS, BodyText, Line
from topology.natural_order import natural_order
from traces.labtime import LabTime


@dataclass(frozen=True, slots=True)
class FolderView:
    id: str
    path: str
    replicas: tuple[str, ...]
    schedule: str | None
    contacts: tuple[str, ...]
    priority: str
    hidden: bool
    held_here: bool
    address: str | None = None  # for mail to the folder; None if the folder accepts no mail
    resolve: str = "default"  # spec: CF-4
    age_limit: str | None = None  # such as 30 d
    warning_limit: str | None = None  # such as 10 MB (spec: AD-2)
    post_limit: str | None = None
    item_limit: str | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class MessageView:
    id: str
    subject: str
    sender: str
    number: str  # as people see it: A-100
    change: str  # as traces write it: <guid hex>:<counter>
    modified_at: LabTime
    in_conflict: bool  # as the folder shows it: False if its last writer wins (spec: CF-4)
    versions: tuple[str, ...]  # the changes of all kept versions; the one shown is first
    size: int
    associated: bool
    numbers: tuple[str, ...] = ()  # of all kept versions, as people see them; the one shown is first


def number_order(number: str) -> tuple[tuple[tuple[int, int, str], ...], int]:
    """Return a sort key for numbers as people see them: by stores, S2 before S10; of one store, A-9 before A-10."""
    store, _, counter = number.rpartition("-")
    return natural_order(store), int(counter)


def in_order_of_change(messages: Iterable[MessageView]) -> list[MessageView]:
    """Return messages in the order of their last changes; those of one instant in the order of their numbers."""
    return sorted(messages, key=lambda message: (message.modified_at, number_order(message.number)))


@dataclass(frozen=True, slots=True)
class NumberedMessage:
    """A message of a mailbox: its UID, the change of the version that is shown, and a user's flags on this version."""

    uid: int
    id: str
    change: str
    modified_at: LabTime
    flags: int  # see node.store.mailboxes.Flags


@dataclass(frozen=True, slots=True)
class MailboxView:
    """A folder as one user sees it by IMAP, in order of UIDs.

    complete: every message has a UID, and every UID a message. If it is False, `Node.number_messages` adds and removes UIDs.
    """

    validity: int
    next_uid: int
    complete: bool
    messages: tuple[NumberedMessage, ...]


@dataclass(frozen=True, slots=True)
class VersionView:
    """One kept version of a message. A message in conflict has several."""

    folder: str  # its path
    message: str
    number: str  # as people see it: A-100
    change: str  # as traces write it
    store: str  # on which the version was made
    modified_at: LabTime
    shown: bool
    subject: str
    sender: str
    body: str
    size: int
    attachments: tuple[tuple[str, int], ...]  # name and bytes
    includes: tuple[str, ...]  # the predecessor change list: the last change of each store that the version includes
    associated: bool
    properties: tuple[str, ...]  # every property of the item, one a line


@dataclass(frozen=True, slots=True)
class RetainedView:
    """A deleted message or folder that the store retains (spec: DL-5)."""

    folder: str  # the path of the message's folder, or of the folder itself
    message: str | None  # the id of the message, None for a folder
    subject: str
    number: str  # of the version that was deleted, as people see it: A-100
    numbers: tuple[str, ...]  # of all its changes
    messages: int  # how many messages are retained with a folder
    deleted_at: LabTime
    until_at: LabTime  # when the store stops retaining it


@dataclass(frozen=True, slots=True)
class SettingView:
    """A setting of a store by its real name. Values are texts, such as `6 h` or `absent`."""

    name: str
    value: str
    default: str
    next_value: str | None  # the value from the store's next start on, if that is another one
    effective: bool  # False: this version has no such setting
    place: str
    does: str


@dataclass(frozen=True, slots=True)
class RowView:
    """One row of the replication state table (spec: RST-1, RST-2)."""

    store: str
    is_local: bool
    numbers: str  # A-1..100, B-50
    numbers_fai: str
    last_sent: str | None  # only in the store's own row
    heard_at: LabTime | None  # only in the rows of other holders; None: no mail yet
    cnset: str = ""  # the sets as traces write them
    cnset_fai: str = ""


@dataclass(frozen=True, slots=True)
class StateView:
    folder: str
    path: str
    store: str
    rows: tuple[RowView, ...]
    pending: bool = False  # the store's own replica is delete-pending (spec: RP-2)
    leavers: tuple[RowView, ...] = ()  # what leaving stores claim until this store has it (spec: RP-2)


@dataclass(frozen=True, slots=True)
class SourceView:
    """Another store, with the facts that decide the choice of backfill sources (spec: BF-3).

    cost: least routing cost; None: no route.
    affinity: least sum of referral costs (2000 only); None: no affinity.
    transit_us: how long its mail takes on average; None: no mail of it has arrived.
    backfilled_at: when this store last sent it a request; None: never.
    unavailable: it is marked down, because it did not answer a request (spec: BF-4).
    """

    store: str
    site: str
    version: str
    cost: int | None
    affinity: int | None
    transit_us: int | None
    backfilled_at: LabTime | None
    unavailable: bool
    preferred: bool
    addressed: bool  # False: it has no mail address yet, so it is never asked (spec: ML-1)


class SyncState(StrEnum):
    """The replication status of a replica, by its name in tools and answers (spec: RST-3)."""

    IN_SYNC = "in sync"
    BEHIND = "behind"
    LOCALLY_MODIFIED = "locally modified"
    NOT_HEARD = "not yet heard"


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """A replica of a folder, as the store that answers knows it.

    missing: what the store that answers knows to exist, and the replica lacks as far as it has reported.
    received_at: when the last mail of the replica's store about the folder arrived.
    transmission_us: how long the mails of that store take on average (spec: RT-3). Both are None for the answering store
        itself.
    """

    store: str
    sync: SyncState
    pending: bool  # delete-pending (spec: RP-2)
    missing: str
    missing_fai: str
    received_at: LabTime | None
    transmission_us: int | None


@dataclass(frozen=True, slots=True)
class FolderStatus:
    """The replication status of a folder at one store: its own replica first, then the others (spec: RST-3)."""

    folder: str
    path: str
    store: str
    unsent: str  # the store's own changes that wait for their broadcast
    replicas: tuple[ReplicaStatus, ...]


@dataclass(frozen=True, slots=True)
class InstanceView:
    """A replica on a store, with its statistics. A message in conflict is one item, with the size of all kept versions."""

    folder: str
    path: str
    store: str
    pending: bool  # it is being removed, and waits until another store has all of it (spec: RP-2)
    items: int
    associated: int
    size: int
    changed_at: LabTime | None  # the last modification of an item or its deletion; None: the replica is empty
    leavers: tuple[str, ...] = ()  # the stores that are removing their replicas, and may have what this store lacks


@dataclass(frozen=True, slots=True)
class RequestView:
    source: str
    numbers: str
    sent_at: LabTime
    retry_at: LabTime


@dataclass(frozen=True, slots=True)
class EntryView:
    """One entry of the backfill array (spec: BF-2)."""

    id: int
    folder: str
    path: str
    missing: str
    missing_fai: str
    made_at: LabTime
    due_at: LabTime
    attempts: int
    local: bool
    waiting_for_slot: bool
    requests: tuple[RequestView, ...]
    cnset: str = ""  # the sets as traces write them
    cnset_fai: str = ""


@dataclass(frozen=True, slots=True)
class QueueView:
    id: int
    next_hop: str
    connector: str | None
    recipients: tuple[str, ...]
    subject: str
    due_at: LabTime
    attempts: int
    size: int
    sender: str = ""  # the address of the store that wrote the mail
    message_id: str = ""
    frozen: bool = False  # by an administrator: it is neither tried nor expires (spec: RT-5)


@dataclass(frozen=True, slots=True)
class BadMailView:
    id: int
    at: LabTime
    sender: str
    reason: str
    size: int


@dataclass(frozen=True, slots=True)
class NoticeView:
    """A mail to people in the lab's mailbox."""

    at: LabTime
    recipient: str
    subject: str
    body: str
    sender: str = ""
    id: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class LogView:
    """An entry of the store's application log (spec: EV-1).

    `logging`: the diagnostics level from which Exchange writes the entry.
    """

    id: int
    at: LabTime
    event: int
    level: str
    source: str
    category: str
    logging: str
    text: str


@dataclass(frozen=True, slots=True)
class DirectoryEntryView:
    """The directory object of a store (spec: ML-1).

    dn               its name: in the Configuration container of Active Directory, or in the directory of 5.5
    object_class     its class in that directory
    legacy_dn        its name as 5.5 would have it; the entries of the application log name it so
    owning_tree      the name of the object of its tree (msExchOwningPFTree); None in the directory of 5.5, and if not linked
    linked           whether the object names its tree (spec: ML-8)
    doubled          whether there is a second object of the store (spec: ML-8)
    mail             the primary SMTP address; None if the entry has no address
    proxy_addresses  all addresses: `SMTP:` the primary one, `smtp:` secondary ones, `X400:` the X.400 address
    stamp_due_at     when the entry gets its next address; None if no stamping is due
    """

    store: str
    dn: str
    object_class: str
    legacy_dn: str
    owning_tree: str | None
    mail: str | None
    proxy_addresses: tuple[str, ...]
    joined_at: LabTime
    linked: bool = True
    doubled: bool = False
    stamp_due_at: LabTime | None = None


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The knowledge of a store about a folder, for digests (spec: CV-1). Numbers and sets are texts as in traces."""

    folder: str
    holds: bool
    numbers: str
    numbers_fai: str
    versions: dict[str, tuple[tuple[str, str], ...]]  # object -> ((change, digest), ...) ascending
    shown: dict[str, str]  # object -> the change of the version shown
    tombstones: tuple[str, ...]
    expired: tuple[str, ...] = ()  # objects deleted by an age limit (spec: DL-3)


@dataclass(frozen=True, slots=True)
class Post:
    """A message to post."""

    subject: Line
    body: BodyText = ""
    sender: Line = ""
    attachments: Annotated[tuple[tuple[str, bytes], ...], Meta(max_length=MOST_NAMES)] = ()


SomePosts = Annotated[Sequence[Post], Meta(min_length=1, max_length=MOST_POSTS)]
"""The messages of a batch."""


@dataclass(frozen=True, slots=True)
class Made:
    """A message or folder that was created by a change.

    id: of the message or folder.
    number: as people see it, such as A-100.
    change: as traces write it.
    """

    id: str
    number: str
    change: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A change of a message or folder; the fields are those of Made."""

    number: str
    change: str


@dataclass(frozen=True, slots=True)
class BatchMade:
    """The messages of a batch, in order; the fields are those of Made."""

    ids: list[str]
    numbers: list[str]
    changes: list[str]


@dataclass(frozen=True, slots=True)
class Resolved:
    """The changes that ended a conflict; the first one is the change that ended it. The fields are those of Made."""

    numbers: list[str]
    changes: list[str]


@dataclass(frozen=True, slots=True)
class FolderDeleted:
    """The path of a folder that was deleted with everything below it."""

    deleted: str


@dataclass(frozen=True, slots=True)
class MailSent:
    """The Message-ID of a mail."""

    message_id: str


@dataclass(frozen=True, slots=True)
class Configured:
    """Settings that were changed.

    configured: their names.
    notices: a line for each value that was out of range, with the value that is used instead.
    """

    configured: list[str]
    notices: list[str]


@dataclass(frozen=True, slots=True)
class SentAgain:
    """Changes of a folder that were sent again (spec: AD-1).

    to: the stores that get them.
    numbers: the change numbers that the mails claim, as people read them.
    """

    folder: str
    to: list[str]
    numbers: str


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """What an administrator did with mails that wait to be sent (spec: RT-5).

    mails: their ids in the queue.
    """

    order: str
    mails: list[int]


@dataclass(frozen=True, slots=True)
class StatusRequested:
    """The stores that must answer a request for the status of a folder (spec: AD-1)."""

    folder: str
    asked: list[str]


@dataclass(frozen=True, slots=True)
class FoldersChanged:
    """The changes that an order for many folders has made (spec: AD-1).

    folders: the paths of the changed folders.
    numbers, changes: of their changes, in the same order, as in Made.
    kept: folders that were not changed, because they would have no replica.
    """

    folders: list[str]
    numbers: list[str]
    changes: list[str]
    kept: list[str]
