"""The interface of a lab: all nodes of one organization under one clock, whichever driver runs them.

| driver | where the nodes run | lab time |
|---|---|---|
| `pflab.simulation.simulator.Simulator` | in this thread, on a seeded network | jumps |
| `pflab.simulation.simulated_lab.SimulatedLab` | the same, behind an HTTP server | jumps |
| `pflab.drivers.live.LiveLab` | in this event loop, with sockets and databases | runs or warps |
| `pflab.drivers.processes.ProcessLab` | in processes that the lab starts | runs or warps |
| `pflab.containers.managed_lab.ManagedLab` | in processes that another program, such as Docker, keeps alive | runs or warps |
| `pflab.drivers.existing_lab.ExistingLab` | in a lab that is reached over HTTP | as in that lab |

Scenarios, the oracle, tests and the command line use only this interface. One conformance suite (`tests/drivers`) runs on every
driver. A lab with an HTTP server implements `pflab.lab.served_lab.ServedLab` as well.

    async with Simulator(topology, seed=7) as lab:                 # or LiveLab(topology, seed=7, folder=...)
        message = await lab.do("A", lambda node, now: node.post(now, "Projects", subject="Hello"))
        await lab.advance(lab.now + 15 * MINUTE_US)
        print(lab.read("B", lambda node: node.messages("Projects")))

Times are lab times (µs since 1970, UTC: TM-2). Lab time only goes forward (TM-1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias, TypeVar, Unpack

if TYPE_CHECKING:
    from node.store.node import Node
    from pflab.faults.fault_plan import FaultPlan
    from pflab.lab.remote_faults import RemoteFaults
    from pflab.lab.remote_node import RemoteNode
    from topology.arguments import ConnectorFields, PolicyFields, ServerFields
    from topology.model import Topology
    from topology.settings.values import RawSetting
    from traces.events import Event
    from traces.labtime import LabTime

T = TypeVar("T")

LabNode: TypeAlias = "Node | RemoteNode"
"""The node that a user of a lab calls: in this process, or in another process."""


class Lab(ABC):
    """A running organization. Use it as an async context manager: entering starts the nodes, leaving closes the lab."""

    topology: Topology
    """The organization as the lab began."""
    faults: FaultPlan | RemoteFaults

    @property
    def organization(self) -> Topology:
        """The organization after its last change (RT-6)."""
        return self.topology

    events_in_order: bool = False
    """Whether `events` has the events of all nodes in the order of their commits, which invariants need. Events that come from
    other processes are sorted by lab time and Lamport number: a sender's event that a mail has left can precede the receiver's
    event that it has arrived."""

    jitter_us: int = 0
    """The longest time that the network itself delays a mail on each hop, beyond what the topology says."""

    verdict: str = "none"
    """What `run.ended` records: 'passed', 'failed', 'unknown' or 'none'. The code that judges the run sets it before
    `close`."""

    async def __aenter__(self) -> Self:
        try:
            await self.up()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # --- identity

    @property
    @abstractmethod
    def now(self) -> LabTime:
        """The present lab time."""

    @property
    @abstractmethod
    def run(self) -> str:
        """The run's id, as in the header of every event."""

    @property
    @abstractmethod
    def folder(self) -> Path:
        """The run folder. Raises LabError if this lab has no folder here."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """All servers in the order of the topology, running or not."""

    @abstractmethod
    def running(self, name: str) -> bool:
        """Return whether the server runs. Raises LabError for a name that the topology does not have."""

    def clock_of(self, name: str) -> LabTime:
        """Return what a server's own clock shows."""
        del name
        return self.now

    def silent(self, name: str) -> bool:
        """Return whether a running server answers nobody at present."""
        del name
        return False

    # --- users

    @abstractmethod
    async def do(self, name: str, fn: Callable[[LabNode, LabTime], T]) -> T:
        """Apply one stimulus to a running node at the present lab time.

        The mails that it causes leave at once if the clock runs, otherwise at the next `settle`, `advance` or `until`.
        Raises node.errors.NotRunning if the node is stopped, and every NodeError of the node.
        """

    @abstractmethod
    async def mail(self, name: str, sender: str, recipients: Sequence[str], content: bytes) -> Mapping[str, str]:
        """Send ordinary mail to a server, as a mail program outside the organization does; on return the mail is durable.

        Returns the refused recipients, each with the server's reply. Raises node.errors.MailRefused if the server refuses the
        mail or all recipients, and Misuse for what is not a mail address.
        """

    @abstractmethod
    def read(self, name: str, fn: Callable[[LabNode], T]) -> T:
        """Read a running node's state. Raises node.errors.NotRunning if the node is stopped."""

    # --- time

    @property
    @abstractmethod
    def rate(self) -> float:
        """Lab seconds for each real second; 0 while the clock is paused or warps."""

    @abstractmethod
    async def set_rate(self, rate: float) -> None:
        """Let the clock run at a rate from the present instant; 0 pauses it.

        Raises TimeTextError for a rate that is out of range, and LabError in a simulator, whose clock cannot run.
        """

    async def pause(self) -> None:
        """Stop the clock where it is."""
        await self.set_rate(0.0)

    @abstractmethod
    async def settle(self) -> None:
        """Do everything due at the present instant, until all mail that can arrive now has arrived. The clock does
        not move.

        Raises NotIdle if the lab does not become quiet within its limits.
        """

    @abstractmethod
    async def step(self, limit_at: LabTime | None = None) -> bool:
        """Jump to the next instant at which anything is due, and do it; the clock stops there.

        If nothing is due by `limit_at`, set the clock to `limit_at` and return False. Return False also if nothing is due at
        all. Raises NotIdle if the lab does not become quiet.
        """

    @abstractmethod
    async def advance(self, to_at: LabTime) -> None:
        """Warp: jump from due time to due time while the lab is quiet, up to and including `to_at`; the clock stops there.

        Raises LabError if `to_at` lies in the past, and NotIdle if the lab does not become quiet.
        """

    @abstractmethod
    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        """Warp until `predicate()` is true. The lab calls it when all is quiet at the present instant, and after each jump.

        Returns True when the predicate is true, and the clock stays there. Otherwise returns False, with the clock at
        `limit_at`.
        """

    # --- start and stop

    @abstractmethod
    async def stop(self, name: str) -> None:
        """Stop a node cleanly (event node.stopped). Its peers cannot deliver mail to it; they retry.

        Raises node.errors.NotRunning if the node is stopped already.
        """

    @abstractmethod
    async def kill(self, name: str) -> None:
        """Kill a node at once. Uncommitted work is lost. `start` brings the node back."""

    @abstractmethod
    async def start(self, name: str) -> None:
        """Start a stopped or killed node, or a `joins: later` server for the first time.

        A first start adds the store to the directory: the lab tells every other running node (`Node.join`) at once, and each
        stopped node when that node starts (RP-3). Raises LabError if the node runs already.
        """

    async def configure(self, name: str, values: Mapping[str, RawSetting]) -> None:
        """Change settings of a running store, by their real names; null removes one.

        Raises NodeError if the store refuses them or does not run.
        """
        await self.do(name, lambda node, now: node.configure(now, values))

    @abstractmethod
    async def delete_store(self, name: str, *, on: str, force: bool = False) -> None:
        """Delete a stopped store from the directory, as an administrator of the store `on`. The deleted store never starts
        again (RP-6); `create_store` makes a new one of its name.

        The lab tells running stores at once, and other stores when they start. Raises LabError if the store `name` runs, and
        Misuse if it holds replicas, unless `force` is true.
        """

    @abstractmethod
    async def create_store(self, name: str) -> None:
        """Create a new, empty store for a server whose store was deleted from the directory, and start it (RP-7).

        The store has a new replica GUID and a new directory object, and is in no replica list. It gets the hierarchy as any new
        store does (RP-3). Backups of the deleted store are no backups of this one. If the start fails, `start` repeats it.
        Raises LabError if the server has a store.
        """

    @abstractmethod
    async def set_recipient_policy(
        self, *, recipient_update: str | None = None, domain: str | None = None, at_once: bool = False
    ) -> None:
        """Change the recipient policy, as an administrator of the organization (ML-1).

        recipient_update: how often the recipient update service runs, as in a topology file.
        domain: the domain of the addresses that it stamps from now on.
        at_once: stamp now all entries that wait.

        Raises LabError for a wrong value.
        """

    @abstractmethod
    async def add_policy(self, name: str, **fields: Unpack[PolicyFields]) -> None:
        """Add a recipient policy, as an administrator of the organization (ML-1).

        Raises LabError for a wrong or missing property, and if there is a policy of this name.
        """

    @abstractmethod
    async def change_policy(self, name: str, **fields: Unpack[PolicyFields]) -> None:
        """Change the domain, the filter or the priority of a recipient policy (ML-1). The Default Policy can only get another
        domain. Raises LabError for a wrong property, and if there is no policy of this name."""

    @abstractmethod
    async def remove_policy(self, name: str) -> None:
        """Remove a recipient policy (ML-1). Raises LabError if there is no policy of this name, and for the Default Policy."""

    @abstractmethod
    async def add_site(self, name: str) -> None:
        """Add a site without servers, as an administrator of the organization (RT-6). Raises LabError for a wrong name."""

    @abstractmethod
    async def remove_site(self, name: str) -> None:
        """Remove a site (RT-6). Raises LabError if there is no such site, or if it has a server."""

    @abstractmethod
    async def add_server(self, name: str, **fields: Unpack[ServerFields]) -> None:
        """Add a server to the organization (RT-6). Its store joins when the server is started.

        All running stores know it at once, and the others when they start. Raises LabError for a wrong value.
        """

    @abstractmethod
    async def remove_server(self, name: str) -> None:
        """Remove a server that has no store, because it has never started or its store was deleted (RP-9).

        It is no longer one of the lab's servers, its backups are gone, and faults that name it end. A server of its name can be
        added again, in any site and of any version; its first start creates a new store (RP-7). Raises LabError if there is no
        such server, if it runs, if its store is in the directory, if mail takes its way over it, or if it is the last one.
        """

    @abstractmethod
    async def add_connector(self, name: str, **fields: Unpack[ConnectorFields]) -> None:
        """Add a connector between two sites, as an administrator of the organization (RT-6).

        All running stores know it at once, and the others when they start. Raises LabError for a wrong value.
        """

    @abstractmethod
    async def change_connector(self, name: str, **fields: Unpack[ConnectorFields]) -> None:
        """Change properties of a connector (RT-6). What is not given stays as it is.

        Mail that crosses it arrives as before. Mail that waits takes the new routes. Raises LabError as `add_connector` does.
        """

    @abstractmethod
    async def remove_connector(self, name: str) -> None:
        """Remove a connector (RT-6). Mail that waits for it takes another way, or waits for one. Raises LabError if there is no
        such connector."""

    @abstractmethod
    async def backup(self, name: str) -> str:
        """Make a backup of a running node's database; return the backup's id. Raises NotRunning if the node does not run."""

    @abstractmethod
    async def restore(self, name: str, backup: str) -> None:
        """Start a node on one of its backups; kill the node first if it runs. RP-4 says what the node does then.

        On the backup of another server, the node only shows that server's store, and never replicates (RP-8). Raises LabError
        for a backup that does not exist.
        """

    # --- events

    @abstractmethod
    def events(self, since: int = 0) -> Sequence[Event]:
        """Return the events of all nodes and of "lab" itself in the order they were committed, from index `since` on."""

    # --- opening and closing

    @abstractmethod
    async def up(self) -> None:
        """Start every server that does not join later, at the topology's start. Called at the start of `async with`."""

    @abstractmethod
    async def close(self) -> None:
        """Stop everything and write the traces as closed segments. Called at the end of `async with`; a second call does
        nothing."""
