"""A lab: a whole organization of nodes under one clock, whichever driver runs it.

Four drivers implement `Lab`:

| driver | servers | clock |
|---|---|---|
| `pflab.simulation.simulator.Simulator` | in this thread, on a seeded network | jumps |
| `pflab.drivers.live.LiveLab` | in this event loop, with sockets and databases | runs or warps |
| `pflab.drivers.processes.ProcessLab` | a process each | runs or warps |
| `pflab.containers.managed_lab.ManagedLab` | processes that somebody else keeps alive | runs or warps |

Scenarios, the oracle, tests and the command line know only this interface, and one conformance suite (`tests/drivers`) holds
all drivers to it.

    async with Simulator(topology, seed=7) as lab:                 # or LiveLab(topology, seed=7, folder=...)
        message = await lab.do("A", lambda node, now: node.post(now, "Projects", subject="Hello"))
        await lab.advance(lab.now + 15 * MINUTE_US)
        print(lab.read("B", lambda node: node.messages("Projects")))

Times are lab times (µs since 1970, UTC: TM-2) and only go forward (TM-1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from node.state.database import Database
from pflab.errors import LabError
from traces.events import BackupMade, BackupRestored

if TYPE_CHECKING:
    from node.store.node import Node
    from pflab.faults.fault_plan import FaultPlan
    from topology import RawSetting, Topology
    from traces.events import Event
    from traces.labtime import LabTime

T = TypeVar("T")

STRANGER = "mail.outside.test"
"""Who hands in ordinary mail: no server of any organization."""


class Lab(ABC):
    """A running organization. Use it as an async context manager: entering starts the nodes, leaving closes the lab."""

    topology: Topology
    faults: FaultPlan
    _backups: list[tuple[str, bytes]]

    def __init__(self) -> None:
        self._backups = []

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

    # --- what it is

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
        """The run folder. Raises LabError for a simulated lab that was given none."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """All servers of the topology, in its order, running or not."""

    @abstractmethod
    def running(self, name: str) -> bool:
        """Whether the server runs at present. Raises LabError for a name that the topology does not have."""

    # --- users

    @abstractmethod
    async def do(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        """One stimulus on a running node at the present lab time; what it mails leaves at once, if the clock runs, or
        at the next `settle`, `advance` or `until`.

        Raises node.errors.NotRunning if the node is stopped; every NodeError of the node comes through.
        """

    @abstractmethod
    async def mail(self, name: str, sender: str, recipients: Sequence[str], content: bytes) -> None:
        """Hand ordinary mail to a server as a stranger's mail program would; when it returns the mail is durable there.

        Raises node.errors.MailRefused if the server does not take it.
        """

    @abstractmethod
    def read(self, name: str, fn: Callable[[Node], T]) -> T:
        """Read a running node's state. Raises node.errors.NotRunning if it is stopped."""

    # --- time

    @abstractmethod
    async def settle(self) -> None:
        """Do everything due at the present instant, until all mail that can arrive now has arrived. The clock does
        not move.

        Raises NotIdle when that does not end within the named limits.
        """

    @abstractmethod
    async def advance(self, to_at: LabTime) -> None:
        """Warp: jump from due time to due time while quiet, up to and including `to_at`, then stand still there.

        Raises LabError if `to_at` lies in the past, NotIdle as `settle`.
        """

    @abstractmethod
    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        """Warp until `predicate()` holds; it is asked when all is quiet at the present instant and again after each
        jump.

        Returns True, the clock standing where it first held; False with the clock at `limit_at` if it never did.
        """

    # --- life and death

    @abstractmethod
    async def stop(self, name: str) -> None:
        """Stop a node in order (event node.stopped); mail for it is refused and tried again by its senders.

        Raises node.errors.NotRunning if it is stopped already.
        """

    @abstractmethod
    async def kill(self, name: str) -> None:
        """Let a node die at once, without a goodbye: what was not committed is gone. `start` brings it back."""

    @abstractmethod
    async def start(self, name: str) -> None:
        """Start a stopped or killed node, or a `joins: later` server for the first time.

        A first start enters the store in the directory: every other running node is told (`Node.join`), a stopped one
        when it starts (RP-3). Raises LabError if it runs already.
        """

    async def configure(self, name: str, values: Mapping[str, RawSetting]) -> None:
        """New settings of a running store, by their real names; null takes one away. Raises NodeError."""
        await self.do(name, lambda node, now: node.configure(now, values))

    @abstractmethod
    async def delete_store(self, name: str, *, on: str, force: bool = False) -> None:
        """Delete a stopped store from the directory, by an administrator of the store `on`; it never starts again (RP-6).

        The others hear of it at once, those that do not run when they start. Raises Misuse while it holds replicas, unless
        by force; LabError while it runs.
        """

    async def backup(self, name: str) -> str:
        """Keep a copy of a running node's database as it stands; the id of the backup. Raises NotRunning."""
        content = self.read(name, lambda node: node.backup())
        self._backups.append((name, content))
        backup = f"backup-{len(self._backups)}"
        self._note(BackupMade, store=name, backup=backup, through=Database.recorded_through(content))
        return backup

    async def restore(self, name: str, backup: str) -> None:
        """Let a node start on a backup of it; one that runs is killed first. RP-4 says what it does then.

        Raises LabError for a backup that is not there or is another server's.
        """
        index = backup.removeprefix("backup-")
        found = self._backups[int(index) - 1] if index.isdigit() and 0 < int(index) <= len(self._backups) else None
        if found is None or found[0] != name:
            mine = [f"backup-{number}" for number, each in enumerate(self._backups, start=1) if each[0] == name]
            raise LabError(f"{backup!r} is no backup of {name}; there is {', '.join(mine) or 'none'}")
        if self.running(name):
            await self.kill(name)
        self._will_restore(name, found[1])
        self._note(BackupRestored, store=name, backup=backup)
        await self.start(name)

    @abstractmethod
    def _will_restore(self, name: str, content: bytes) -> None:
        """The next start of the server is from this database."""

    # --- what happened

    @abstractmethod
    def _note(self, kind: type[Event], **fields: object) -> None:
        """Record an event of the lab itself."""

    @abstractmethod
    def events(self, since: int = 0) -> Sequence[Event]:
        """The events of all nodes and of "lab" itself in the order they were committed, from index `since` on."""

    # --- beginning and end

    @abstractmethod
    async def up(self) -> None:
        """Start every server that does not join later, at the topology's start. Called on entering."""

    @abstractmethod
    async def close(self) -> None:
        """Stop everything, write the traces (closed segments). Called on leaving; a second call does nothing."""

    jitter_us: int = 0
    """How long the network itself may keep a mail on each hop, beyond what the topology says."""

    verdict: str = "none"
    """What `run.ended` says; who judges the run sets it before `close`: 'passed', 'failed', 'unknown' or 'none'."""
