"""The servers of a lab: the status of each, and which directory updates each still needs.

States of a server (`ServerStatus`):

| from | event | to |
|---|---|---|
| ABSENT | first start; a late joiner enters the directory | RUNNING |
| RUNNING | stopped cleanly | STOPPED |
| RUNNING | killed, crashed, or its process died | KILLED |
| STOPPED, KILLED | started, perhaps on a backup | RUNNING |
| STOPPED, KILLED | its deleted store is created again | ABSENT, and it enters the directory at its next start |
| ABSENT; STOPPED, KILLED after its store was deleted | removed (RP-9) | no longer in the list |

A server whose store was deleted from the directory does not start (RP-6) until a new store is created (RP-7). If a server was
removed, and another one of its name was added, the first start of that one creates a new store. A server gets
each directory update once (RP-3): while it runs, or at its next start if it was down. A server that starts on a backup gets the
updates that the backup may lack. `EmbeddedServers` adds the nodes, for drivers whose nodes run in their own process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from node.codec.signing import Identity, LabAuthority, derived_seed
from node.errors import CannotWrite, NotRunning
from node.state.directory import StoreObject
from node.store.node import Node
from pflab.errors import LabError, NotThere
from pflab.lab.directory import OrganizationDirectory
from pflab.runs.lab_state import LabState, ServerState, ServerStatus
from topology.changes import at_start_of
from topology.model import Topology
from traces.events import Event
from traces.labtime import LabTime

if TYPE_CHECKING:
    from pflab.lab.lab import LabNode
    from pflab.runs.run_folder import RunFolder


class NodeFactory(Protocol):
    """Makes a node that is not open yet. The class `node.store.node.Node` is a factory; tests have others."""

    def __call__(
        self,
        name: str,
        *,
        topology: Topology,
        database: Path | None,
        run: str,
        seed: bytes,
        identity: Identity,
        durability: Literal["full", "normal"],
        on_events: Callable[[Sequence[Event]], None],
        real_time: Callable[[], float] | None,
        traces_dir: Path | None,
    ) -> Node: ...


@dataclass(slots=True)
class LabServer:
    """One server. `node` is None until the node is first made. It is always None if the node runs in another process."""

    name: str
    status: ServerStatus = ServerStatus.ABSENT
    node: Node | None = None
    known: dict[str, StoreObject] = field(default_factory=dict)
    """The directory objects that the lab sent to this server, by store."""
    known_deleted: list[str] = field(default_factory=list)
    """The deleted stores that are no longer in this server's directory."""
    revision: int = 0
    """The revision of the organization that this server knows (RT-6)."""
    backup: str | None = None
    """The id of the backup that its next start uses (RP-4)."""
    is_empty: bool = False
    """Whether its store was created again and has not started: its next start begins with an empty database (RP-7)."""
    copy_of: str | None = None
    """The server whose store it shows, because that store's backup was restored here (RP-8)."""
    kill_fault: str | None = None
    """The id of the fault that represents the kill of this server. The next start heals this fault."""
    life: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the server starts, stops, is killed or restored, and while the lab is saved (`RecordedLab`)."""

    def forget(self) -> None:
        """Forget which directory updates the server has, because the backup on which it starts may lack them."""
        self.known.clear()
        self.known_deleted.clear()
        self.revision = 0


@dataclass(frozen=True, slots=True)
class DirectoryUpdate:
    """A change of the directory that a running server does not know yet.

    object   the store's object; None if the store was deleted
    missing  why the object has no address, if it has none
    """

    server: LabServer
    store: str
    object: StoreObject | None
    missing: str = ""

    @property
    def words(self) -> str:
        """What the server does not know yet."""
        return f"{self.store} {'was deleted' if self.object is None else 'has another entry in the directory'}"

    def apply(self, node: LabNode, now: LabTime) -> None:
        if self.object is not None:
            node.enter(now, self.store, self.object, self.missing)  # spec: RP-3, RP-7, ML-1, ML-8
        else:
            node.left(now, self.store)  # spec: RP-6

    def mark_applied(self) -> None:
        if self.object is not None:
            self.server.known[self.store] = self.object
        else:
            self.server.known_deleted.append(self.store)


@dataclass(frozen=True, slots=True)
class OrganizationUpdate:
    """A change of the organization that a running server does not know yet."""

    server: LabServer
    topology: Topology

    @property
    def words(self) -> str:
        return "the organization was changed"

    def apply(self, node: LabNode, now: LabTime) -> None:
        node.reorganize(now, self.topology)  # spec: RT-6

    def mark_applied(self) -> None:
        self.server.revision = self.topology.revision


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """The settings with which all nodes of a lab are made.

    folder: None means databases in memory and no traces.
    """

    topology: Topology
    run: str
    secret: int | str
    on_events: Callable[[Sequence[Event]], None]
    make_node: NodeFactory
    folder: RunFolder | None
    databases_on_disk: bool
    durability: Literal["full", "normal"] = "normal"
    real_time: Callable[[], float] | None = None


class Servers:
    """All servers of a lab in the order of the topology, without their nodes."""

    def __init__(self, topology: Topology) -> None:
        self._began = self._topology = topology
        self._servers = {name: LabServer(name) for name in topology.servers}
        self.directory = OrganizationDirectory(topology)
        self._joined: list[str] = []
        self._deleted: list[str] = []
        self._created: list[str] = []

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._servers)

    def server(self, name: str) -> LabServer:
        """Return a server. Raises NotThere for a name that the topology does not have."""
        server = self._servers.get(name)
        if server is None:
            raise NotThere(f"there is no server {name!r} in this lab; it has {', '.join(self._servers)}")
        return server

    def all(self) -> list[LabServer]:
        return list(self._servers.values())

    def running(self) -> list[LabServer]:
        return [server for server in self._servers.values() if server.status is ServerStatus.RUNNING]

    def present_at_start(self) -> list[LabServer]:
        """Return the servers that do not join later."""
        return [server for server in self._servers.values() if not self._joins_later(server.name)]

    def started(self, server: LabServer, now: LabTime) -> None:
        """Mark a server as running. The first start of a late joiner, or of a store that was created again, adds the store to
        the directory."""
        if server.status is ServerStatus.ABSENT and (self._joins_later(server.name) or server.is_empty):
            self._joined.append(server.name)
            self.directory.join(server.name, now)
        server.status, server.is_empty = ServerStatus.RUNNING, False

    def deleted(self, name: str) -> bool:
        """Return whether the server's store was deleted from the directory."""
        return name in self._deleted

    def lacks_first_store(self, server: LabServer) -> bool:
        """Return whether a server that was added has no store yet, and an earlier server of its name had one (RP-9)."""
        return server.status is ServerStatus.ABSENT and self.deleted(server.name)

    def delete(self, name: str, on: str) -> None:
        """Mark a store as deleted from the directory, by an administrator of the server `on`."""
        self._deleted.append(name)
        self.server(on).known_deleted.append(name)

    def create(self, server: LabServer) -> int:
        """Create a store again that was deleted from the directory: a new directory object, and an empty database. Return the
        number of the object (RP-7). All servers get its entry when the store has started.

        Raises LabError if the server has a store.
        """
        name = server.name
        if not self.deleted(name):
            raise LabError(f"server {name} has a store; a new one can be created after its store was deleted")
        self._deleted.remove(name)
        self._created.append(name)
        if name in self._joined:
            self._joined.remove(name)
        for other in self._servers.values():
            other.known.pop(name, None)
            if name in other.known_deleted:
                other.known_deleted.remove(name)
        server.status, server.is_empty, server.backup, server.copy_of = ServerStatus.ABSENT, True, None, None
        server.forget()
        return self.number_of(name)

    def number_of(self, name: str) -> int:
        """Return which directory object of its name a store has: 0, and one more each time it was created again."""
        return self._created.count(name)

    def reorganize(self, topology: Topology) -> None:
        """Take a changed organization. The running servers get it as an update, and the others at their start."""
        self._topology = topology
        for server in [server for server in self._servers.values() if server.name not in topology.servers]:
            self._remove(server)
        self.directory.reorganize(topology)
        for name in topology.servers:
            if name not in self._servers:
                self._servers[name] = LabServer(name)

    def _remove(self, server: LabServer) -> None:
        """Forget a server without a store. Its deleted store stays deleted for the servers that have not heard of it."""
        del self._servers[server.name]
        if server.is_empty:
            self._deleted.append(server.name)
        if server.name in self._joined:
            self._joined.remove(server.name)
        for other in self._servers.values():
            other.known.pop(server.name, None)
        self.directory.forget(server.name)

    def organization_at_start(self, name: str) -> Topology:
        """Return the organization in which a server begins: that of the lab's beginning, or for a server that was added
        later, perhaps in place of one that was removed, the present one."""
        return at_start_of(name, self._began, self._topology)

    def pending_updates(self) -> list[DirectoryUpdate | OrganizationUpdate]:
        """Return the updates that running servers do not have yet, in the order to apply them (RP-3, RP-6, RT-6).

        A store gets its own entry last: it sends mail as soon as it has an address, and must know by then which stores there
        are.
        """
        organization = [
            OrganizationUpdate(server, self._topology)
            for server in self.running()
            if server.revision < self._topology.revision
        ]
        return [*organization, *self._directory_updates()]

    def _directory_updates(self) -> list[DirectoryUpdate]:
        deletions = [
            DirectoryUpdate(server, store, None)
            for store in self._deleted
            for server in self.running()
            if store not in server.known_deleted
        ]
        first = [server.name for server in self.present_at_start() if not self.number_of(server.name)]
        changed = [name for name in first if self.directory.is_changed(name)]
        entries = [
            DirectoryUpdate(server, store, object_, self.directory.missing(store))
            for store in [*self._joined, *changed]
            if store not in self._deleted
            for object_ in [self.directory.object_of(store, self.number_of(store))]
            for server in self.running()
            if server.known.get(store) != object_
        ]
        return deletions + sorted(entries, key=lambda update: update.store == update.server.name)

    def check_removable(self, server: LabServer) -> None:
        """Raise LabError if a server runs, or if its store is in the directory."""  # spec: RP-9
        if server.status is ServerStatus.RUNNING:
            raise LabError(f"server {server.name} is running; stop it, and delete its store, before you remove it")
        if server.status is not ServerStatus.ABSENT and not self.deleted(server.name):
            raise LabError(
                f"the store of server {server.name} is in the directory; delete the store first, as an administrator of"
                " another server"
            )

    def check_may_start(self, server: LabServer) -> None:
        """Raise LabError if the server's store was deleted from the directory."""
        if self.deleted(server.name):
            raise LabError(
                f"server {server.name} does not start: its store was deleted from the directory; create a new store for it"
            )

    # --- a lab that continues

    @property
    def states(self) -> dict[str, ServerState]:
        """The state of each server."""
        return {
            server.name: ServerState(
                server.status,
                dict(server.known),
                tuple(server.known_deleted),
                server.backup,
                server.kill_fault,
                is_empty=server.is_empty,
                copy_of=server.copy_of,
                revision=server.revision,
            )
            for server in self._servers.values()
        }

    @property
    def joined(self) -> tuple[str, ...]:
        """The stores that joined later, in order."""
        return tuple(self._joined)

    @property
    def deleted_stores(self) -> tuple[str, ...]:
        """The stores that were deleted from the directory, in order."""
        return tuple(self._deleted)

    @property
    def created_stores(self) -> tuple[str, ...]:
        """The stores that were created again, in order; a store is in it once for each time."""
        return tuple(self._created)

    def recall(self, state: LabState) -> None:
        """Continue with the states of an earlier lab."""
        self._joined, self._deleted, self._created = list(state.joined), list(state.deleted), list(state.created)
        self.directory.recall(state.directory)
        for name, earlier in state.servers.items():
            server = self._servers[name]
            server.status, server.backup, server.kill_fault = earlier.status, earlier.backup, earlier.kill_fault
            server.known, server.known_deleted = dict(earlier.known), list(earlier.known_deleted)
            server.is_empty, server.copy_of = earlier.is_empty, earlier.copy_of
            server.revision = earlier.revision

    def _joins_later(self, name: str) -> bool:
        return self._topology.servers[name].joins_later


class EmbeddedServers(Servers):
    """The servers of a lab with their nodes in this process."""

    def __init__(self, plan: NodeSettings) -> None:
        super().__init__(plan.topology)
        self._plan = plan
        self._left: dict[str, bytes] = {}
        """The databases in memory of servers that were removed. The store of a later server of the name continues its trace."""
        self._authority = authority_of(plan.secret)

    def node(self, name: str) -> Node:
        """Return the node of a running server.

        Raises LabError if the lab has no server of this name, and NotRunning if the server does not run.
        """
        server = self.server(name)
        if server.status is not ServerStatus.RUNNING or server.node is None:
            raise NotRunning(f"server {name} {server.status.words}; start it first")
        return server.node

    def start(self, server: LabServer, now: LabTime, backup: bytes | None = None) -> Node:
        """Open the node of a server that does not run. This is the node's first stimulus.

        backup: the database on which it starts, if not its own.

        Raises LabError if the server runs already, or if its store was deleted from the directory.
        """
        if server.status is ServerStatus.RUNNING:
            raise LabError(f"server {server.name} is running already")
        self.check_may_start(server)
        node = server.node
        if backup is not None:
            if node is None:
                node = server.node = self._make(server.name)
                if server.name in self._left:
                    node.take_over(self._left.pop(server.name))
            node.restore(now, backup)
            server.backup = None
            server.forget()
        elif node is not None and server.status is ServerStatus.KILLED:
            node.reopen(now)
        else:
            # After a clean stop a new node opens the database file. If the database is in memory, the old node still has it.
            if node is None or self._plan.databases_on_disk:
                node = server.node = self._make(server.name)
            node.open(now)
        self.started(server, now)
        return node

    def take_over(self, databases: Mapping[str, bytes]) -> None:
        """Make the nodes of these servers, which have not started in this lab, with copies of databases. Keep the databases of
        servers that were removed."""
        for name, content in databases.items():
            if name not in self._servers or self.lacks_first_store(self._servers[name]):
                self._left[name] = content
                continue
            node = self.server(name).node = self._make(name)
            node.take_over(content)

    def databases(self) -> dict[str, bytes]:
        """Return a copy of the database of each store that has ever started, also of removed servers."""
        nodes = {server.name: server.node for server in self._servers.values() if server.node is not None}
        return {**self._left, **{name: node.backup() for name, node in nodes.items()}}

    def _remove(self, server: LabServer) -> None:
        super()._remove(server)
        if server.node is not None and not self._plan.databases_on_disk:
            self._left[server.name] = server.node.backup()

    def go_on(self, databases: Mapping[str, bytes]) -> None:
        """Take over copies of databases, and run the nodes of the running servers as if nothing had interrupted them."""
        running = {server.name for server in self.running()}
        self.take_over({name: content for name, content in databases.items() if name not in running})
        for name in running:
            node = self.server(name).node = self._make(name)
            node.go_on(databases[name])

    def stop(self, server: LabServer, now: LabTime) -> None:
        """Stop a running server's node cleanly."""
        assert server.node is not None
        server.status = ServerStatus.STOPPED
        server.node.close(now)

    def kill(self, server: LabServer) -> None:
        """Kill a running server's node. Its committed events go to the trace now, because it may never start again."""
        assert server.node is not None
        server.status = ServerStatus.KILLED
        with suppress(CannotWrite):  # the events stay in the database
            server.node.export()
        server.node.abandon()

    def _make(self, name: str) -> Node:
        plan = self._plan
        folder = plan.folder
        return plan.make_node(
            name,
            topology=self.organization_at_start(name),
            database=folder.database(name) if folder is not None and plan.databases_on_disk else None,
            run=plan.run,
            seed=derived_seed(plan.secret, f"node {name}"),
            identity=self._authority.identity(name),
            durability=plan.durability,
            on_events=plan.on_events,
            real_time=plan.real_time,
            traces_dir=folder.traces if folder is not None else None,
        )


def authority_of(secret: int | str) -> LabAuthority:
    """Return the authority that issues the keys of a lab's stores."""
    return LabAuthority(derived_seed(secret, "authority"))
