"""What every driver of a lab keeps: the record of the run, and of each server how it stands.

What the face of a lab needs of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from node.api.http_client import Address
from pflab.errors import LabError
from pflab.faults.mail_capture import DecideNow
from pflab.lab.coordinator import Coordinator
from pflab.lab.lab import Lab
from pflab.lab.servers import LabServer, Servers, ServerStatus
from topology import Topology
from traces.labtime import LabTime

if TYPE_CHECKING:
    from pflab.runs.recorder import Record
    from topology import Topology
    from traces.events import Event


class RecordedLab(Lab):
    """A lab with a record and a roll of its servers; drivers say how these rise, and what there is to end."""

    _servers: Servers

    def __init__(self, topology: Topology, *, seed: int, run: str, record: Record) -> None:
        super().__init__()
        self.topology = topology
        self.seed = seed
        self._run = run
        self._record = record
        self._kills: dict[str, str] = {}
        """Killed server to the fault that stands for it."""
        self._closed = False

    # --- what it is

    @property
    def run(self) -> str:
        return self._run

    @property
    def names(self) -> tuple[str, ...]:
        return self._servers.names

    def running(self, name: str) -> bool:
        return self._servers.server(name).status is ServerStatus.RUNNING

    async def renew(self, topology: Topology | None) -> None:
        """Begin anew, with another organization perhaps. Raises LabError for a lab that cannot."""
        raise LabError("this lab cannot begin anew; end it and bring up another")

    # --- back to an earlier instant

    @property
    def history(self) -> str:
        """Which course of events this is: the run, unless the lab went back to an earlier instant of it."""
        return self.run

    async def save(self, name: str, *, replace: bool = False) -> None:
        """Keep all as it stands under a name, in the place of what has it if that is said. Raises LabError for a lab that
        cannot."""
        raise LabError("this lab cannot be saved; one that pflab coordinate leads can, as in containers")

    async def reset(self, name: str) -> None:
        """Go back to where it was saved. Raises LabError."""
        raise LabError(f"no lab was saved as {name!r}; one that pflab coordinate leads can be, as in containers")

    def saved(self) -> Sequence[str]:
        """The names under which this lab was saved."""
        return ()

    # --- traces

    async def ship(self) -> ExportedTraces:
        """Write all that has happened into closed segments. Raises LabError for a lab that writes them at its end."""
        raise LabError("this lab writes its traces when it ends")

    def keep_verdict(self, verdict: Mapping[str, Any]) -> None:
        """What a judge of the traces says of this run. Raises LabError if it is of another."""
        if verdict.get("run") != self.history:
            raise LabError(f"the verdict is of the run {verdict.get('run')}, and this is {self.history}")
        self._verdict = dict(verdict)

    def kept_verdict(self) -> Mapping[str, Any] | None:
        """The last one; None if nobody has judged this run."""
        return self._verdict

    _verdict: Mapping[str, Any] | None = None

    # --- life and death

    async def start(self, name: str) -> None:
        await self._start(self._servers.server(name))
        if name in self._kills:
            self.faults.heal(self._kills.pop(name))

    @abstractmethod
    async def _start(self, server: LabServer) -> None:
        """Bring up a server that does not run. Raises LabError if it does."""

    async def delete_store(self, name: str, *, on: str, force: bool = False) -> None:
        if self.running(name):
            raise LabError(f"{name} runs; stop it before it is deleted")
        if self._servers.deleted(name):
            raise LabError(f"{name} was deleted before")
        await self.do(on, lambda node, now: node.delete_store(now, name, force=force))
        self._servers.delete(name, on)
        self._update_directories()

    @abstractmethod
    def _update_directories(self) -> None:
        """Tell the servers that run what they do not know of the directory; others hear it when they start."""

    def _will_restore(self, name: str, content: bytes) -> None:
        self._servers.server(name).restores = content

    # --- what happened

    async def catch_up(self) -> None:
        """Take in what has happened up to now, where the lab does not hear of it by itself."""

    def events(self, since: int = 0) -> Sequence[Event]:
        return self._record.events(since)

    @property
    def held_from(self) -> int:
        """The index of the first event that is held; older ones of a lab that stays up long are in the traces alone."""
        return self._record.first

    @property
    def event_count(self) -> int:
        """How many events there have been."""
        return self._record.count

    @property
    def replicas(self) -> Mapping[str, str]:
        """Each replica GUID that a store of this run has had, and the store's name as it is shown."""
        return self._record.replicas

    def _note(self, kind: type[Event], **fields: object) -> None:
        self._record.note(kind, **fields)

    # --- the end

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            await self._end()
        finally:
            self._record.run_ended(self.verdict)
            self._record.close()

    @abstractmethod
    async def _end(self) -> None:
        """Stop every server, and what else runs."""


@dataclass(frozen=True, slots=True)
class ExportedTraces:
    """Traces of a run that goes on, whole up to an instant.

    traces: the folder of the run below that of all traces, "" if there is but this run. events: how many there have been in
    all. away: servers of which that cannot be said, because they do not answer.
    """

    run: str
    traces: str
    at: LabTime
    events: int
    away: tuple[str, ...]


class FacedLab(Lab):
    """What the face needs beyond a lab: a coordinator, where the nodes are, and which events are held (keptlab)."""

    coordinator: Coordinator
    decide: DecideNow
    held_from: int
    event_count: int
    renew: Callable[[Topology | None], Awaitable[None]]
    ship: Callable[[], Awaitable[ExportedTraces]]
    keep_verdict: Callable[[Mapping[str, Any]], None]
    kept_verdict: Callable[[], Mapping[str, Any] | None]
    history: str
    replicas: Mapping[str, str]
    save: Callable[..., Awaitable[None]]
    reset: Callable[[str], Awaitable[None]]
    saved: Callable[[], Sequence[str]]

    @abstractmethod
    async def catch_up(self) -> None:
        """Take in what has happened up to now, where the lab does not hear of it by itself."""

    @abstractmethod
    def smtp_of(self, name: str) -> Address:
        """Where a running server listens for mail. Raises LabError, NotRunning."""


class LedFace(FacedLab):
    """What the face needs of a lab whose nodes are elsewhere."""

    begun: bool
