"""The servers of a lab and their lives: which runs, which is stopped, killed or has not joined yet, and who must be
told of a join.

Drivers with nodes in their own process bring servers up through here, so a restart means the same under both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from node.codec.signing import Identity, LabAuthority, derived_seed
from node.errors import CannotWrite, NotRunning
from pflab.errors import LabError
from topology import Topology
from traces.events import Event
from traces.labtime import LabTime

if TYPE_CHECKING:
    from node.store.node import Node
    from pflab.runs.run_folder import RunFolder


class NodeFactory(Protocol):
    """Makes a node that is not open yet; `node.store.node.Node` is one, a test's toy another."""

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


class ServerStatus(StrEnum):
    """Where a server stands between two stimuli."""

    ABSENT = "has not joined yet"
    RUNNING = "is running"
    STOPPED = "is stopped"
    KILLED = "was killed"


@dataclass(slots=True)
class LabServer:
    """One server. `node` is None until it is first made."""

    name: str
    status: ServerStatus = ServerStatus.ABSENT
    node: Node | None = None
    told: list[str] = field(default_factory=list)
    """The late joiners it has been told of."""
    known_deleted: list[str] = field(default_factory=list)
    """The stores of which it was told that they were deleted from the directory."""
    restores: bytes | None = None
    """The backup that its next rise starts from (RP-4)."""

    def forget(self) -> None:
        """What the backup that it starts from does not know must be said again."""
        self.told.clear()
        self.known_deleted.clear()


@dataclass(frozen=True, slots=True)
class DirectoryUpdate:
    """Of the directory, for a running server that does not know it yet: a store has joined, or was deleted."""

    server: LabServer
    store: str
    joined: bool

    def tell(self, node: Node, now: LabTime) -> None:
        if self.joined:
            node.join(now, self.store)  # spec: RP-3
        else:
            node.left(now, self.store)  # spec: RP-6

    def heard(self) -> None:
        """It is told no more."""
        (self.server.told if self.joined else self.server.known_deleted).append(self.store)


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """What every node of a lab is made with. `folder` None: databases in memory, no traces."""

    topology: Topology
    run: str
    seed: int
    on_events: Callable[[Sequence[Event]], None]
    make_node: NodeFactory
    folder: RunFolder | None
    databases_on_disk: bool
    durability: Literal["full", "normal"] = "normal"
    real_time: Callable[[], float] | None = None


class Servers:
    """All servers of a lab in the topology's order, and how each stands; nothing of their nodes."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._servers = {name: LabServer(name) for name in topology.servers}
        self._joined: list[str] = []
        self._deleted: list[str] = []

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._servers)

    def server(self, name: str) -> LabServer:
        """Raises LabError for a name that the topology does not have."""
        found = self._servers.get(name)
        if found is None:
            raise LabError(f"there is no server {name!r} in this lab; there is {', '.join(self._servers)}")
        return found

    def all(self) -> list[LabServer]:
        return list(self._servers.values())

    def running(self) -> list[LabServer]:
        return [server for server in self._servers.values() if server.status is ServerStatus.RUNNING]

    def present_at_start(self) -> list[LabServer]:
        """The servers that the organization begins with."""
        return [server for server in self._servers.values() if not self._joins_later(server.name)]

    def started(self, server: LabServer) -> None:
        """It runs from now on. A late joiner's first rise enters it in the directory; `pending_updates` says who must hear."""
        if server.status is ServerStatus.ABSENT and self._joins_later(server.name):
            self._joined.append(server.name)
        server.status = ServerStatus.RUNNING

    def deleted(self, name: str) -> bool:
        """Whether the server's store was deleted from the directory."""
        return name in self._deleted

    def delete(self, name: str, on: str) -> None:
        """A store was deleted from the directory, at the server `on`; `pending_updates` says who must hear."""
        self._deleted.append(name)
        self.server(on).known_deleted.append(name)

    def pending_updates(self) -> list[DirectoryUpdate]:
        """What running servers still have to be told of the directory (RP-3, RP-6), in order: a store that was stopped, or is
        back from a backup, or joins, hears of earlier deletions as of earlier joiners."""
        joined = [store for store in self._joined if store not in self._deleted]
        updates = [
            DirectoryUpdate(server, store, True)
            for store in joined
            for server in self.running()
            if store != server.name and store not in server.told
        ]
        return updates + [
            DirectoryUpdate(server, store, False)
            for store in self._deleted
            for server in self.running()
            if store not in server.known_deleted
        ]

    def check_may_start(self, server: LabServer) -> None:
        """Raises LabError for a server that runs, or whose store was deleted."""
        if server.status is ServerStatus.RUNNING:
            raise LabError(f"server {server.name} is running already")
        if self.deleted(server.name):
            raise LabError(f"server {server.name} does not start: its store was deleted from the directory")

    # --- a lab that goes on after its coordinator

    def as_document(self) -> dict[str, Any]:
        """How all servers stand, for `recall`."""
        servers = {
            server.name: {"standing": server.status.name, "told": server.told, "told gone": server.known_deleted}
            for server in self._servers.values()
        }
        return {"joined": self._joined, "deleted": self._deleted, "servers": servers}

    def recall(self, document: Mapping[str, Any]) -> None:
        """The servers stand as they did when the document was written."""
        self._joined, self._deleted = list(document["joined"]), list(document["deleted"])
        for name, each in document["servers"].items():
            self._servers[name].status = ServerStatus[each["standing"]]
            self._servers[name].told = list(each["told"])
            self._servers[name].known_deleted = list(each["told gone"])

    def _joins_later(self, name: str) -> bool:
        return self._topology.servers[name].joins_later


class EmbeddedServers(Servers):
    """The servers of a lab with their nodes, in this process."""

    def __init__(self, plan: NodeSettings) -> None:
        super().__init__(plan.topology)
        self._plan = plan
        self._authority = authority_of(plan.seed)

    def node(self, name: str) -> Node:
        """The node of a running server. Raises LabError, NotRunning."""
        server = self.server(name)
        if server.status is not ServerStatus.RUNNING or server.node is None:
            raise NotRunning(f"server {name} {server.status.value}; start it first")
        return server.node

    def start(self, server: LabServer, now: LabTime) -> Node:
        """Open the node of a server that does not run; its first stimulus."""
        self.check_may_start(server)
        node = server.node
        if node is not None and server.restores is not None:
            node.restore(now, server.restores)
            server.restores = None
            server.forget()
        elif node is not None and server.status is ServerStatus.KILLED:
            node.reopen(now)
        else:
            # After an orderly stop nothing is left but the database; one in memory is the old node's.
            if node is None or self._plan.databases_on_disk:
                node = server.node = self._make(server.name)
            node.open(now)
        self.started(server)
        return node

    def stop(self, server: LabServer, now: LabTime) -> None:
        """Stop a running server's node in order."""
        assert server.node is not None
        server.status = ServerStatus.STOPPED
        server.node.close(now)

    def kill(self, server: LabServer) -> None:
        """Let a running server's node die. What it committed goes to the trace now, for it may never start again."""
        assert server.node is not None
        server.status = ServerStatus.KILLED
        with suppress(CannotWrite):  # then it stays in the database
            server.node.export()
        server.node.abandon()

    def _make(self, name: str) -> Node:
        plan = self._plan
        folder = plan.folder
        return plan.make_node(
            name,
            topology=plan.topology,
            database=folder.database(name) if folder is not None and plan.databases_on_disk else None,
            run=plan.run,
            seed=derived_seed(plan.seed, f"node {name}"),
            identity=self._authority.identity(name),
            durability=plan.durability,
            on_events=plan.on_events,
            real_time=plan.real_time,
            traces_dir=folder.traces if folder is not None else None,
        )


def authority_of(seed: int) -> LabAuthority:
    """Who issues the keys of a lab's stores."""
    return LabAuthority(derived_seed(seed, "authority"))


def default_node(name: str, **made_with: Any) -> Node:
    """The real node."""
    from node.store.node import Node  # noqa: PLC0415 - so that toys can be run where the real one cannot be

    return Node(name, **made_with)
