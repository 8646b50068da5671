"""The state of a lab after events that are no longer in memory, as the console builds it from events.

A lab that runs for days keeps only its newest events (`pflab.runs.recorder`). Before it forgets the oldest ones, it applies
them to a checkpoint. A console begins with the checkpoint and applies the events after it, so what it loads depends on the size
of the lab and not on its age.

The handlers are those of the console (`console/state/handlers/`), one for one, because the console has to go on from where a
checkpoint ends. A test builds the same state in both ways, from many runs, and compares them whole. Different are only mails
and changes of the past: of those that nothing shows any more, a checkpoint has the newest.

What must never happen: that a checkpoint depends on anything but the events up to it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any, Final

import msgspec

from node.seeded_ids import setup_guid
from pflab.terms.event_handlers import event_handler, event_handlers_of
from pflab.terms.event_words import Lexicon
from pflab.terms.fault_words import fault_words
from pflab.terms.folder_ids import HIERARCHY, HIERARCHY_NAME
from pflab.terms.mail_types import MailKind
from pflab.terms.number_sets import Numbers, minus, parse_traced, tidy
from traces.events import (
    BackupElsewhere,
    BackupMade,
    BackupRestored,
    ChangeMade,
    ClockChanged,
    ConflictArose,
    ConflictEnded,
    ContentResumed,
    ContentSuspended,
    EntryMade,
    EntryPruned,
    EntrySatisfied,
    EntryTimedOut,
    Event,
    ExpiredEverywhere,
    FaultHealed,
    FaultInjected,
    FolderMoved,
    FolderShown,
    HopDeleted,
    HopDropped,
    HopExpired,
    HopFailed,
    HopReceived,
    HopSent,
    ItemExpired,
    LinkDown,
    LinkUp,
    Loss,
    MailboxDelivered,
    MailFolder,
    MailNotPosted,
    MailPosted,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    NodeStopped,
    OrganizationChanged,
    OrganizationRead,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    RequestDeferred,
    RequestEnded,
    RequestSent,
    RowReplaced,
    RunStarted,
    SettingValue,
    SourceDown,
    SourceUp,
    StoreCreated,
    StoreDeleted,
    TombstoneDropped,
    TombstoneMade,
    VersionApplied,
    VersionFailed,
    VersionHeld,
    VersionIgnored,
)
from traces.labtime import LabTime
from traces.store_names import guid_name, store_of_guid_name

PAST_MAILS: Final = 2_000
PAST_CHANGES: Final = 2_000
"""How many of the newest mails and changes are kept although no queue and no item names them."""


class Row(msgspec.Struct, rename="camel"):
    """What a store knows of another store's replica.

    numbers: as texts, which may name one GUID twice.
    """

    numbers: tuple[str, str]
    sent_at: LabTime
    heard_at: LabTime


class Request(msgspec.Struct, rename="camel"):
    source: str
    at: LabTime
    retry_at: LabTime


class Entry(msgspec.Struct, rename="camel"):
    """An entry of the backfill array."""

    id: int
    missing: Numbers
    local: bool
    made_at: LabTime
    due_at: LabTime
    attempts: int = 0
    waits_for_slot: bool = False
    requests: list[Request] = msgspec.field(default_factory=list)


class Item(msgspec.Struct):
    """A message or a folder that is deleted or in conflict. Of all others there is only the number of the version."""

    number: str
    deleted: bool
    conflict: tuple[str, ...] = ()


class Table(msgspec.Struct, rename="camel"):
    """A store's state of one folder.

    sent: what its last mail said that the store has, as texts.
    """

    numbers: Numbers = msgspec.field(default_factory=dict)
    rows: dict[str, Row] = msgspec.field(default_factory=dict)
    entries: dict[int, Entry] = msgspec.field(default_factory=dict)
    items: dict[str, str | Item] = msgspec.field(default_factory=dict)
    conflicts: list[str] = msgspec.field(default_factory=list)
    pending: bool = False
    dropped: bool = False
    sent_at: LabTime | None = None
    sent: tuple[str, str] = ("", "")


class Queued(msgspec.Struct, rename="camel"):
    """A mail in the queue of a server."""

    since: LabTime
    recipients: list[str]
    failures: int = 0
    retry_at: LabTime | None = None
    reason: str = ""


class Setting(msgspec.Struct):
    value: str
    default: str


class Server(msgspec.Struct):
    name: str
    version: str
    status: str = "not started"
    guid: str = ""
    object: int = 0
    """Which directory object of its name its store has (spec: RP-7)."""
    revision: int = 0
    """The change of the organization that it has read last (spec: RT-6)."""
    named_at: LabTime = msgspec.field(default=-1, name="namedAt")
    """When it changed a folder last, for example its name."""
    paths: dict[str, str] = msgspec.field(default_factory=dict)
    """At which paths it has said that it shows folders; the theory is in console/state/paths.js."""
    shows: str = ""
    """The server whose store it only shows, because the backup of that store was restored here (spec: RP-8)."""
    suspended: bool = False
    tables: dict[str, Table] = msgspec.field(default_factory=dict)
    queue: dict[str, Queued] = msgspec.field(default_factory=dict)
    down: dict[str, LabTime] = msgspec.field(default_factory=dict)
    settings: dict[str, Setting] = msgspec.field(default_factory=dict)

    def table(self, folder: str) -> Table:
        table = self.tables.get(folder)
        if table is None:
            table = self.tables[folder] = Table()
        return table


class Leg(msgspec.Struct, rename="camel"):
    """One hop of a mail. `sent_at` is -1 until the event of its sender is there."""

    source: str = msgspec.field(name="from")
    to: str
    sent_at: LabTime = -1
    arrived_at: LabTime | None = None
    outcome: str = "on its way"
    why: str = ""


class Mail(msgspec.Struct):
    """A mail. `type` is None for ordinary mail."""

    id: str
    type: int | None
    source: str = msgspec.field(name="from")
    to: list[str]
    folders: tuple[MailFolder, ...]
    marks: tuple[str, ...]
    size: int
    at: LabTime
    legs: list[Leg] = msgspec.field(default_factory=list)
    received: list[str] = msgspec.field(default_factory=list)
    sender: str = ""
    subject: str = ""
    returned: list[str] = msgspec.field(default_factory=list)
    deleted: list[str] = msgspec.field(default_factory=list)


class Change(msgspec.Struct):
    folder: str
    object: str
    number: str
    kind: str
    operation: str
    subject: str
    node: str
    at: LabTime
    replicas: tuple[str, ...] | None


class Folder(msgspec.Struct):
    """A folder. `existing` has every change of it that a store has made and not lost.

    first: its path in the organization's beginning; "" if it was made later.
    """

    id: str
    path: str
    replicas: list[str]
    first: str = ""
    deleted: bool = False
    existing: Numbers = msgspec.field(default_factory=dict)


class Fault(msgspec.Struct):
    id: str
    kind: str
    details: dict[str, str | int | float | bool | None]
    words: str
    at: LabTime


class Carried(msgspec.Struct):
    """What a connector has carried of one type of mail."""

    mails: int = 0
    bytes: int = 0


class LabPicture(msgspec.Struct, rename="camel"):
    """A lab after its first `count` events. The fields are those of `LabState` in console/state/lab_state.js.

    topology: the organization after its last change (spec: RT-6), in the form of a topology file.
    """

    count: int = 0
    at: LabTime = 0
    rate: float = 0
    servers: dict[str, Server] = msgspec.field(default_factory=dict)
    folders: dict[str, Folder] = msgspec.field(default_factory=dict)
    stores: dict[str, str] = msgspec.field(default_factory=dict)
    mails: dict[str, Mail] = msgspec.field(default_factory=dict)
    changes: dict[str, Change] = msgspec.field(default_factory=dict)
    faults: dict[str, Fault] = msgspec.field(default_factory=dict)
    backups: dict[str, Server] = msgspec.field(default_factory=dict)
    links_down: dict[str, str] = msgspec.field(default_factory=dict)
    carried: dict[str, dict[str, Carried]] = msgspec.field(default_factory=dict)
    topology: dict[str, Any] = msgspec.field(default_factory=dict)


class Checkpoint:
    """Applies the events of a run, from the first on, to a picture of its lab.

    past_mails, past_changes: how many of those that nothing shows any more are kept

    picture: the lab after these events. names: what they have named.
    """

    def __init__(self, *, past_mails: int = PAST_MAILS, past_changes: int = PAST_CHANGES) -> None:
        self.picture = LabPicture()
        self.names = Lexicon()
        self._past_mails = past_mails
        self._past_changes = past_changes
        self._setup = ""
        self._topology_folders = 0
        self._handlers = event_handlers_of(self)
        self._stores_of: dict[str, str] = {}
        self._changes_left = 0  # when changes were forgotten last

    def take(self, events: Iterable[Event]) -> None:
        """Apply events that follow those before, and forget what is past."""
        picture, names, handlers = self.picture, self.names, self._handlers
        for event in events:
            picture.count += 1
            picture.at = max(picture.at, event.at)
            names.learn(event)
            handler = handlers.get(type(event))
            if handler is not None:
                handler(event)
        self._forget()

    def encoded(self) -> bytes:
        """Return the picture as JSON."""
        return msgspec.json.encode(self.picture)

    def _forget(self) -> None:
        """Forget mails and changes that nothing shows any more, except the newest ones."""
        picture = self.picture
        past = list(picture.mails)[: -self._past_mails] if len(picture.mails) > self._past_mails else []
        queued = {mail for server in picture.servers.values() for mail in server.queue}
        for id_ in past:
            if id_ not in queued and all(leg.outcome != "on its way" for leg in picture.mails[id_].legs):
                del picture.mails[id_]
        if len(picture.changes) > 2 * self._past_changes + self._changes_left:
            numbers = self._shown()
            for number in list(picture.changes)[: -self._past_changes]:
                if number not in numbers:
                    del picture.changes[number]
            self._changes_left = len(picture.changes)

    def _shown(self) -> set[str]:
        """Return the numbers of all versions that a store or a backup shows."""
        numbers: set[str] = set()
        for server in (*self.picture.servers.values(), *self.picture.backups.values()):
            for table in server.tables.values():
                for item in table.items.values():
                    if isinstance(item, str):
                        numbers.add(item)
                    else:
                        numbers.update((item.number, *item.conflict))
        return numbers

    # --- servers, faults, settings, links

    @event_handler
    def _run_started(self, event: RunStarted) -> None:
        if self.picture.servers:
            return  # a coordinator that starts again tells of the same run
        topology = json.loads(event.topology)
        self._setup = setup_guid(topology["organization"]).hex()
        self._topology_folders = len(topology["folders"])
        picture = self.picture
        picture.topology = topology
        for name, server in topology["servers"].items():
            picture.servers[name] = Server(name, server["version"])
        picture.folders[HIERARCHY] = Folder(HIERARCHY, HIERARCHY_NAME, list(topology["servers"]))
        for index, (path, folder) in enumerate(topology["folders"].items(), start=1):
            id_ = f"{self._setup}:{index}"
            picture.folders[id_] = Folder(id_, path, list(folder["replicas"]), path)
            self.names.learn_folder(id_, path, first=True)
        if self._topology_folders:
            add(picture.folders[HIERARCHY].existing, f"{self._setup}:1-{self._topology_folders}")

    @event_handler
    def _clock_changed(self, event: ClockChanged) -> None:
        self.picture.rate = event.rate

    @event_handler
    def _node_started(self, event: NodeStarted) -> None:
        server = self.picture.servers.get(event.node)
        if server is None:
            return
        is_first_store = not server.guid
        server.status, server.version, server.guid = "running", event.version, event.replica_guid
        stores = self.picture.stores
        if event.replica_guid not in stores:
            # spec: RP-4, RP-7
            earlier = sum(store_of_guid_name(name) == event.node for name in stores.values())
            stores[event.replica_guid] = guid_name(event.node, 1 if event.reason == "restart" else earlier + 1)
        if event.reason != "first":
            return
        server.tables, server.paths, server.queue, server.revision = {}, {}, {}, 0
        self._settle_paths()
        # The stores of the start have the folders of the topology; no mail brings them.
        is_of_start = is_first_store and self.picture.topology["servers"][event.node]["joins"] == "start"
        if self._topology_folders and is_of_start:
            hierarchy = server.table(HIERARCHY)
            add(hierarchy.numbers, f"{self._setup}:1-{self._topology_folders}")
            for counter in range(1, self._topology_folders + 1):
                show(hierarchy, f"{self._setup}:{counter}", f"{self._setup}:{counter}")

    @event_handler
    def _node_stopped(self, event: NodeStopped) -> None:
        server = self.picture.servers.get(event.node)
        if server is not None and server.status != "deleted":
            server.status = "killed" if event.how == "kill" else "stopped"

    @event_handler
    def _store_deleted(self, event: StoreDeleted) -> None:
        server = self.picture.servers.get(event.store)
        if server is not None and event.directory_object >= server.object:
            server.status = "deleted"

    @event_handler
    def _store_created(self, event: StoreCreated) -> None:
        server = self.picture.servers.get(event.store)
        if server is not None:
            server.status, server.object, server.shows = "stopped", event.directory_object, ""

    def _set_status(self, name: str, status: str) -> None:
        server = self.picture.servers.get(name)
        if server is not None:
            server.status = status

    @event_handler
    def _fault_injected(self, event: FaultInjected) -> None:
        if event.kind == "kill":
            self._set_status(str(event.details["server"]), "killed")
            return
        words = fault_words(event.kind, event.details)
        self.picture.faults[event.fault] = Fault(event.fault, event.kind, event.details, words, event.at)

    @event_handler
    def _fault_healed(self, event: FaultHealed) -> None:
        self.picture.faults.pop(event.fault, None)

    @event_handler
    def _backup_made(self, event: BackupMade) -> None:
        server = self.picture.servers.get(event.store)
        if server is not None:
            self.picture.backups[event.backup] = deepcopy(server)

    @event_handler
    def _backup_restored(self, event: BackupRestored | BackupElsewhere) -> None:
        server, backup = self.picture.servers.get(event.store), self.picture.backups.get(event.backup)
        if server is not None and backup is not None:
            server.tables, server.queue, server.revision = deepcopy(backup.tables), {}, backup.revision
            server.paths = dict(backup.paths)
            server.shows = event.of if isinstance(event, BackupElsewhere) else ""
            self._settle_paths()

    @event_handler
    def _organization_changed(self, event: OrganizationChanged) -> None:
        self.picture.topology = json.loads(event.topology)
        present, hierarchy = self.picture.topology["servers"], self._folder(HIERARCHY)
        for name in [name for name in self.picture.servers if name not in present]:
            del self.picture.servers[name]
            hierarchy.replicas.remove(name)
        for name, server in present.items():
            if name not in self.picture.servers:
                self.picture.servers[name] = Server(name, server["version"])
                hierarchy.replicas.append(name)
        names = {connector["name"] for connector in self.picture.topology["connectors"]}
        for name in self.picture.links_down.keys() - names:
            del self.picture.links_down[name]

    @event_handler
    def _organization_read(self, event: OrganizationRead) -> None:
        server = self.picture.servers.get(event.node)
        if server is not None:
            server.revision = event.revision

    @event_handler
    def _setting_value(self, event: SettingValue) -> None:
        server = self.picture.servers.get(event.node)
        if server is not None:
            server.settings[event.name] = Setting(event.value, event.default)

    @event_handler
    def _link_down(self, event: LinkDown) -> None:
        self.picture.links_down[event.connector] = event.reason

    @event_handler
    def _link_up(self, event: LinkUp) -> None:
        self.picture.links_down.pop(event.connector, None)

    @event_handler
    def _suspended(self, event: ContentSuspended | ContentResumed) -> None:
        server = self.picture.servers.get(event.node)
        if server is not None:
            server.suspended = isinstance(event, ContentSuspended)

    @event_handler
    def _source_down(self, event: SourceDown) -> None:
        server = self.picture.servers.get(event.node)
        if server is not None:
            server.down[event.store] = event.at

    @event_handler
    def _source_up(self, event: SourceUp) -> None:
        server = self.picture.servers.get(event.node)
        if server is not None:
            server.down.pop(event.store, None)

    # --- changes and versions

    def _table(self, node: str, folder: str) -> Table | None:
        server = self.picture.servers.get(node)
        return None if server is None else server.table(folder)

    def _folder(self, id_: str) -> Folder:
        folder = self.picture.folders.get(id_)
        if folder is None:
            folder = self.picture.folders[id_] = Folder(id_, id_, [])
        return folder

    @event_handler
    def _change_made(self, event: ChangeMade) -> None:
        self.picture.changes[event.number] = Change(
            event.folder,
            event.object,
            event.number,
            event.kind,
            event.operation,
            event.subject,
            event.node,
            event.at,
            event.replicas,
        )
        add(self._folder(event.folder).existing, event.number)
        if event.kind == "folder":
            self._change_folder(event)
        server = self.picture.servers.get(event.node)
        if server is None:
            return
        if event.kind == "folder":
            self._return_to_list(server, event.object, event.number)
            server.named_at = event.at
        table = server.table(event.folder)
        add(table.numbers, event.number)
        show(table, event.object, event.number, deleted=event.operation == "delete")

    def _change_folder(self, event: ChangeMade) -> None:
        folder = self._folder(event.object)
        folder.deleted = event.operation == "delete"
        if event.replicas is not None:
            folder.replicas = list(event.replicas)
        if not event.subject or folder.deleted:
            return
        parent = None if event.parent in {None, HIERARCHY} else self.picture.folders.get(event.parent or "")
        if parent is not None and f"{parent.path}/".startswith(f"{folder.path}/"):
            parent = None  # folders were put below each other at the same time: the last one is at the top
        if event.operation == "create":
            folder.path = f"{parent.path}/{event.subject}" if parent is not None else event.subject

    def _show_at(self, server: Server, id_: str, path: str, *, is_made: bool) -> None:
        """Note at which path a server shows a folder from now on.

        is_made: the server has made the change that gave the folder this path.
        """
        server.paths[id_] = path
        folder = self._folder(id_)
        if is_made:
            folder.path = path
        else:
            self._settle_path(folder)

    def _settle_paths(self) -> None:
        for folder in self.picture.folders.values():
            self._settle_path(folder)

    def _settle_path(self, folder: Folder) -> None:
        """If no server shows the path of a folder any more, call it by the one that most servers show."""
        servers = [server for server in self.picture.servers.values() if server.status != "deleted"]
        counts = Counter(filter(None, (server.paths.get(folder.id, folder.first) for server in servers)))
        if counts and folder.path not in counts:
            folder.path = min(counts, key=lambda path: (-counts[path], path))

    def _return_to_list(self, server: Server, object_: str, number: str) -> None:
        """A store that waits until it may delete its replica stops waiting when it is on the replica list again."""
        table = server.tables.get(object_)
        change = self.picture.changes.get(number)
        if table is not None and table.pending and change is not None and server.name in (change.replicas or ()):
            table.pending = False

    @event_handler
    def _version_applied(self, event: VersionApplied) -> None:
        server = self.picture.servers.get(event.node)
        if server is None:
            return
        table = server.table(event.folder)
        add(table.numbers, event.stands_for)
        if event.kind == "folder":
            self._return_to_list(server, event.object, event.number)
        item = table.items.get(event.object)
        if not isinstance(item, Item) or not item.conflict:
            show(table, event.object, event.number, deleted=event.deleted)

    @event_handler
    def _version_ignored(self, event: VersionIgnored) -> None:
        if event.reason == "no replica":
            return
        table = self._table(event.node, event.folder)
        if table is not None:
            add(table.numbers, event.stands_for)

    @event_handler
    def _version_held(self, event: VersionHeld) -> None:
        self._lack(event.node, event.folder, event.stands_for)

    @event_handler
    def _version_failed(self, event: VersionFailed) -> None:
        if event.folder and event.number:
            self._lack(event.node, event.folder, event.number)

    def _lack(self, node: str, folder: str, cnset: str) -> None:
        """A mail accounts for these numbers, but the store could not take them."""
        table = self._table(node, folder)
        if table is not None:
            table.numbers = minus(table.numbers, parse_traced(cnset))

    @event_handler
    def _expired_everywhere(self, event: ExpiredEverywhere) -> None:
        table = self._table(event.node, event.folder)
        if table is not None:
            add(table.numbers, event.cnset, event.cnset_fai)

    @event_handler
    def _removed(self, event: ItemExpired | TombstoneDropped) -> None:
        table = self._table(event.node, event.folder)
        if table is not None:
            table.items.pop(event.object, None)
            settle(table, event.object)

    @event_handler
    def _tombstone_made(self, event: TombstoneMade) -> None:
        table = self._table(event.node, event.folder)
        if table is not None:
            show(table, event.object, event.number, deleted=True)
        if event.folder == HIERARCHY and event.object in self.picture.folders:
            self.picture.folders[event.object].deleted = True

    @event_handler
    def _conflict_arose(self, event: ConflictArose) -> None:
        table = self._table(event.node, event.folder)
        if table is None:
            return
        table.items[event.object] = Item(event.winner, deleted=False, conflict=event.versions)
        if event.object not in table.conflicts:
            table.conflicts.append(event.object)

    @event_handler
    def _conflict_ended(self, event: ConflictEnded) -> None:
        table = self._table(event.node, event.folder)
        if table is not None:
            item = table.items.get(event.object)
            show(table, event.object, event.number, deleted=isinstance(item, Item) and item.deleted)

    @event_handler
    def _folder_shown(self, event: FolderShown) -> None:
        server = self.picture.servers.get(event.node)
        if server is not None:
            self._show_at(server, event.folder, event.path, is_made=False)

    @event_handler
    def _folder_moved(self, event: FolderMoved) -> None:
        server = self.picture.servers.get(event.node)
        if server is not None:
            self._show_at(server, event.folder, event.path, is_made=server.named_at == event.at)

    @event_handler
    def _replica_added(self, event: ReplicaAdded) -> None:
        folder = self._folder(event.folder)
        if event.store not in folder.replicas:
            folder.replicas = sorted([*folder.replicas, event.store])
        if event.store != event.node:
            return
        table = self._table(event.node, event.folder)
        if table is not None:
            table.pending = table.dropped = False

    @event_handler
    def _replica_pending(self, event: ReplicaPending) -> None:
        folder = self._folder(event.folder)
        folder.replicas = [store for store in folder.replicas if store != event.node]
        table = self._table(event.node, event.folder)
        if table is not None:
            table.pending = True

    @event_handler
    def _replica_dropped(self, event: ReplicaDropped) -> None:
        server = self.picture.servers.get(event.node)
        if server is not None:
            server.tables[event.folder] = Table(dropped=True)

    @event_handler
    def _loss(self, event: Loss) -> None:
        folder = self._folder(event.folder)
        folder.existing = minus(folder.existing, parse_traced(event.cnset))

    # --- rows and the backfill array

    @event_handler
    def _row_replaced(self, event: RowReplaced) -> None:
        table = self._table(event.node, event.folder)
        if table is not None:
            table.rows[event.store] = Row((event.cnset, event.cnset_fai), event.sent_at, event.at)

    @event_handler
    def _entry_made(self, event: EntryMade) -> None:
        table = self._table(event.node, event.folder)
        if table is None:
            return
        missing: Numbers = {}
        add(missing, event.cnset, event.cnset_fai)
        entry = Entry(event.entry, missing, event.local, event.at, event.due_at)
        parent = table.entries.get(event.parent) if event.parent else None
        if parent is not None:
            parent.missing = minus(parent.missing, missing)
            entry.made_at, entry.attempts = parent.made_at, parent.attempts
        table.entries[event.entry] = entry

    @event_handler
    def _entry_satisfied(self, event: EntrySatisfied) -> None:
        table = self._table(event.node, event.folder)
        if table is not None:
            table.entries.pop(event.entry, None)

    def _entry(self, node: str, folder: str, entry: int) -> Entry | None:
        table = self._table(node, folder)
        return None if table is None else table.entries.get(entry)

    @event_handler
    def _entry_pruned(self, event: EntryPruned) -> None:
        entry = self._entry(event.node, event.folder, event.entry)
        if entry is None:
            return
        pruned: Numbers = {}
        add(pruned, event.cnset, event.cnset_fai)
        entry.missing = minus(entry.missing, pruned)
        if not entry.missing:
            del self.picture.servers[event.node].tables[event.folder].entries[event.entry]

    @event_handler
    def _entry_timed_out(self, event: EntryTimedOut) -> None:
        entry = self._entry(event.node, event.folder, event.entry)
        if entry is not None:
            entry.attempts = event.attempt

    @event_handler
    def _request_deferred(self, event: RequestDeferred) -> None:
        entry = self._entry(event.node, event.folder, event.entry)
        if entry is not None:
            entry.waits_for_slot = True

    @event_handler
    def _request_sent(self, event: RequestSent) -> None:
        entry = self._entry(event.node, event.folder, event.entry)
        if entry is not None:
            entry.waits_for_slot = False
            entry.due_at = event.retry_at
            entry.requests.append(Request(event.source, event.at, event.retry_at))

    @event_handler
    def _request_ended(self, event: RequestEnded) -> None:
        entry = self._entry(event.node, event.folder, event.entry)
        if entry is not None:
            entry.requests = [request for request in entry.requests if request.source != event.source]

    # --- mails and queues

    def _store_of(self, address: str) -> str:
        """Return the store of a mail address such as `A-IS@contoso.test`; other addresses are returned as they are."""
        store = self._stores_of.get(address)
        if store is None:
            local = address.partition("@")[0]
            name = local.removesuffix("-IS")
            store = name if name in self.picture.servers and local != name else address
            self._stores_of[address] = store
        return store

    def _mail(
        self,
        event: Event,
        source: str,
        recipients: Sequence[str],
        size: int,
    ) -> Mail | None:
        """Return the mail of an event. A mail that no store submitted is ordinary mail; its recipients are those that any event
        names."""
        if not event.mail:
            return None
        mail = self.picture.mails.get(event.mail)
        if mail is None:
            mail = self.picture.mails[event.mail] = Mail(event.mail, None, source, [], (), (), size, event.at)
        if mail.type is None:
            mail.to += [name for name in map(self._store_of, recipients) if name not in mail.to]
        return mail

    def _enqueue(self, node: str, mail: str, at: LabTime, recipients: Iterable[str]) -> None:
        server = self.picture.servers.get(node)
        if server is not None:
            already = server.queue.get(mail)
            server.queue[mail] = Queued(at, [*(already.recipients if already else ()), *recipients])

    def _dequeue(self, event: Event, recipients: Sequence[str]) -> None:
        """Remove recipients of a mail from the queue of a server."""
        server = self.picture.servers.get(event.node)
        queued = server.queue.get(event.mail) if server is not None and event.mail else None
        if server is not None and queued is not None and event.mail:
            queued.recipients = [address for address in queued.recipients if address not in recipients]
            if not queued.recipients:
                del server.queue[event.mail]

    @event_handler
    def _mail_submitted(self, event: MailSubmitted) -> None:
        if not event.mail:
            return
        to = [self._store_of(address) for address in event.recipients]
        self.picture.mails[event.mail] = Mail(
            event.mail, event.message_type, event.node, to, event.folders, event.marks, event.size, event.at
        )
        self._enqueue(event.node, event.mail, event.at, event.recipients)
        server = self.picture.servers.get(event.node)
        if server is None:
            return
        for claim in event.folders:
            known_table = server.tables.get(claim.folder)
            if not claim.folder or (known_table is not None and known_table.dropped):
                continue
            table = server.table(claim.folder)
            table.sent_at, table.sent = event.at, (claim.row, claim.row_fai)
            add(table.numbers, claim.row, claim.row_fai)

    @event_handler
    def _mail_received(self, event: MailReceived) -> None:
        mail = self._mail(event, event.node, event.recipients, event.size)
        if mail is not None:
            mail.received.append(event.node)
        server = self.picture.servers.get(event.node)
        if server is None or event.message_type == MailKind.BACKFILL_REQUEST:
            return  # a request brings nothing, also to a store that lacks it too
        for claim in event.folders:
            if (claim.cnset or claim.cnset_fai) and self._holds(server, claim.folder):
                add(server.table(claim.folder).numbers, claim.cnset, claim.cnset_fai)

    def _holds(self, server: Server, folder: str) -> bool:
        """Return whether a store has a replica of a folder, or is on its replica list."""
        table = server.tables.get(folder)
        if folder == HIERARCHY or (table is not None and not table.dropped):
            return True
        entry = self.picture.folders.get(folder)
        return entry is not None and server.name in entry.replicas

    @event_handler
    def _hop_sent(self, event: HopSent) -> None:
        self._dequeue(event, event.recipients)
        if event.connector:
            self.picture.links_down.pop(event.connector, None)
        mail = self._mail(event, event.node, event.recipients, event.size)
        if event.connector:
            key = "" if mail is None or mail.type is None else str(mail.type)
            carried = self.picture.carried.setdefault(event.connector, {}).setdefault(key, Carried())
            carried.mails += 1
            carried.bytes += event.size
        if mail is None:
            return
        # The receiver's hop.received can come first: both ends record the same hop.
        leg = next((leg for leg in mail.legs if leg.to == event.next_hop and leg.sent_at < 0), None)
        if leg is None:
            leg = Leg(event.node, event.next_hop)
            mail.legs.append(leg)
        leg.source = event.node
        leg.sent_at = event.at if event.begun_at is None else event.begun_at
        leg.why = leg.why or event.connector or ""

    @event_handler
    def _hop_received(self, event: HopReceived) -> None:
        mail = self._mail(event, event.peer, event.recipients, event.size)
        # From a foreign relay, the peer is not the server at the beginning of the leg.
        self._end_leg(mail, event, event.peer if event.authenticated else "", "arrived", "")
        if mail is not None and not mail.sender:
            mail.sender, mail.subject = event.sender, event.subject
        onward = [address for address in event.recipients if self._store_of(address) != event.node]
        if onward and event.mail:
            self._enqueue(event.node, event.mail, event.at, onward)

    @event_handler
    def _hop_dropped(self, event: HopDropped) -> None:
        mail = self._mail(event, event.node, event.recipients, 0)
        self._end_leg(mail, event, "", "lost", f"fault {event.fault}")

    def _end_leg(self, mail: Mail | None, event: HopReceived | HopDropped, peer: str, outcome: str, why: str) -> None:
        if mail is None:
            return
        under_way = (leg for leg in mail.legs if leg.to == event.node and leg.outcome == "on its way")
        leg = next((leg for leg in under_way if not peer or leg.source == peer), None)
        if leg is None:
            leg = Leg(peer, event.node)
            mail.legs.append(leg)
        leg.arrived_at, leg.outcome, leg.why = event.at, outcome, why or leg.why

    @event_handler
    def _hop_failed(self, event: HopFailed) -> None:
        server = self.picture.servers.get(event.node)
        queued = server.queue.get(event.mail) if server is not None and event.mail else None
        if queued is not None:
            queued.failures += 1
            queued.retry_at, queued.reason = event.retry_at, event.reason

    @event_handler
    def _hop_expired(self, event: HopExpired) -> None:
        self._dequeue(event, event.recipients)
        mail = self._mail(event, event.node, event.recipients, 0)
        if mail is not None:
            mail.returned += event.recipients

    @event_handler
    def _hop_deleted(self, event: HopDeleted) -> None:
        self._dequeue(event, event.recipients)
        mail = self._mail(event, event.node, event.recipients, 0)
        if mail is not None:
            mail.deleted += event.recipients

    @event_handler
    def _mail_posted(self, event: MailPosted) -> None:
        self._delivered(self._mail(event, event.node, _known(event.recipient), 0), event, "")

    @event_handler
    def _mail_not_posted(self, event: MailNotPosted) -> None:
        self._dequeue(event, (event.recipient,))

    @event_handler
    def _mailbox_delivered(self, event: MailboxDelivered) -> None:
        self._delivered(self._mail(event, event.node, (event.recipient,), event.size), event, event.subject)

    def _delivered(self, mail: Mail | None, event: MailPosted | MailboxDelivered, subject: str) -> None:
        """A server has put a mail into a mailbox or a folder."""
        self._dequeue(event, (event.recipient,))
        if mail is not None:
            mail.received.append(event.node)
            mail.sender = mail.sender or event.sender
            mail.subject = mail.subject or subject


def _known(address: str) -> tuple[str, ...]:
    """Return an address, if the event has one."""
    return (address,) if address else ()


@lru_cache(maxsize=16_384)
def _ranges(text: str) -> tuple[tuple[str, tuple[tuple[int, int], ...]], ...]:
    """Read a set from its form in traces. Several stores tell of the same set one after the other."""
    return tuple((guid, tuple(ranges)) for guid, ranges in parse_traced(text).items())


def add(numbers: Numbers, *texts: str) -> None:
    """Add the numbers of sets in the form of traces to a set, in place."""
    for text in texts:
        if not text:
            continue
        for guid, ranges in _ranges(text):
            before = numbers.get(guid)
            if before is None:
                numbers[guid] = list(ranges)
                continue
            last_low, last_high = before[-1]
            low, high = ranges[-1]
            if len(ranges) == 1 and low >= last_low:
                # Most sets grow at their end.
                if low <= last_high + 1:
                    before[-1] = (last_low, max(high, last_high))
                else:
                    before.append((low, high))
            elif before != list(ranges):
                numbers[guid] = tidy((guid, *pair) for pair in (*before, *ranges))[guid]


def show(table: Table, object_: str, number: str, *, deleted: bool = False) -> None:
    """The store shows this version of an object, and no conflict."""
    table.items[object_] = Item(number, deleted=True) if deleted else number
    settle(table, object_)


def settle(table: Table, object_: str) -> None:
    """An object is in no conflict any more, if it was in one."""
    if object_ in table.conflicts:
        table.conflicts.remove(object_)
