"""A simulated lab behind the HTTP server of a lab, so that a test is the same in a simulated, an embedded and a process lab.

Each change (by a user, an administrator, or a fault that ends) also runs what is then due at this instant, as the nodes of a
live lab do while their clock is paused. While the clock moves or runs (`pflab.simulation.running_clock`), the lab answers
requests between two instants.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from node.errors import InternalError
from pflab.errors import LabError, NotIdle
from pflab.faults.mail_capture import RecentMails
from pflab.lab.served_lab import InProcessLab
from pflab.runs.backups import BACKUPS
from pflab.runs.continued import Earlier, link_all
from pflab.runs.lab_state import LabState, ServerStatus, write_state
from pflab.simulation.running_clock import RunningClock
from pflab.simulation.simulator import Simulator
from traces.labtime import END_AT, checked_rate
from traces.segments import list_segments

if TYPE_CHECKING:
    from node.store.node import Node
    from pflab.runs.run_folder import RunFolder
    from topology.model import Topology
    from traces.labtime import LabTime

T = TypeVar("T")

log = logging.getLogger("pflab.simulation")


@dataclass(frozen=True, slots=True)
class SimulatedHost:
    """A running server of a simulated lab, as the routes of the HTTP API need it."""

    _lab: SimulatedLab
    name: str

    @property
    def rate(self) -> float:
        return self._lab.rate

    @property
    def now(self) -> LabTime:
        return self._lab.now

    @property
    def activity(self) -> int:
        return self.read(lambda node: node.stimuli)

    @property
    def failure(self) -> Exception | None:
        return self._lab.failure_of(self.name)

    def do(self, fn: Callable[[Node, LabTime], T]) -> T:
        return self._lab.change(self.name, fn)

    async def share(self, fn: Callable[[Node, LabTime], T], size: int) -> T:
        return self.do(fn)

    def read(self, fn: Callable[[Node], T]) -> T:
        return self._lab.read(self.name, fn)


class SimulatedLab(Simulator, InProcessLab):
    """A simulated lab that an HTTP server can serve.

    folder: its run folder.
    run: the run's id, by default the name of the folder.
    earlier: the run that this one continues, whose databases and traces the run folder has.
    most_events: see `pflab.runs.recorder`.
    monotonic, sleep: real time, for a clock that runs.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        seed: int = 1,
        run: str | None = None,
        earlier: Earlier | None = None,
        most_events: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.recent_mails = RecentMails()
        super().__init__(
            topology,
            folder=folder,
            seed=seed,
            run=(run or folder.name) if earlier is None else earlier.end.run,
            earlier=() if earlier is None else earlier.events,
            keep=[self.recent_mails.keep],
            most_events=most_events,
        )
        self._earlier_end = None if earlier is None else earlier.end
        self._stopped = frozenset() if earlier is None else earlier.stopped
        self._run_folder = folder
        self.decide = self._network.decide
        self._clock = RunningClock(self._pass_time, self._clock_failed, monotonic, sleep)
        self._runs_due = False
        self.begun = False

    @property
    def history(self) -> str:
        return self._run_folder.name

    # --- servers

    def host_of(self, name: str) -> SimulatedHost:
        self._servers.node(name)
        return SimulatedHost(self, name)

    def smtp_of(self, name: str) -> None:
        self._servers.node(name)

    def failure_of(self, name: str) -> Exception | None:
        return self._failures.get(name) if self.running(name) else None

    # --- changes, each with what it makes due at once

    async def do(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        return self.change(name, fn)

    def change(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        """Apply one stimulus, as `do` does."""
        result = self._do(name, fn)
        self._run_due()
        return result

    async def start(self, name: str) -> None:
        await super().start(name)
        self._run_due()

    def _update_directories(self) -> None:
        super()._update_directories()
        self._run_due()

    def _run_due(self) -> None:
        """Run what is due. If a server fails at it, only this server is to blame, and not the request; the next move of the
        clock raises the error."""
        if self.begun and not self._runs_due:
            with suppress(InternalError, NotIdle):
                self._run_instant()

    def _run_instant(self) -> None:
        self._runs_due = True
        try:
            super()._run_instant()
        finally:
            self._runs_due = False

    # --- time

    warping: bool = False

    @contextmanager
    def _moving(self) -> Iterator[None]:
        self.warping = True
        try:
            yield
        finally:
            self.warping = False

    @property
    def rate(self) -> float:
        return self._clock.rate

    async def set_rate(self, rate: float) -> None:
        rate = checked_rate(rate)
        await self._clock.stop()
        if rate:
            self._clock.run(rate)
        self.record.clock_changed("rate" if rate else "pause", rate, self._now)

    async def _pass_time(self, by_us: int) -> None:
        """Move the running clock: do what comes due meanwhile, each at its time."""
        to_at = min(END_AT, self._now + by_us)
        while (due_at := self._next_due()) is not None and due_at <= to_at:
            await self._jump(max(due_at, self._now))
        self._now = to_at

    def _clock_failed(self, error: Exception) -> None:
        """Pause the clock. The next move of the clock raises the error of what is due."""
        log.error("the clock is paused: %s", error, exc_info=error)
        self.record.clock_changed("pause", 0.0, self._now)

    async def step(self, limit_at: LabTime | None = None) -> bool:
        with self._moving():
            await self._clock.stop()
            return await super().step(limit_at)

    async def advance(self, to_at: LabTime) -> None:
        with self._moving():
            await self._clock.stop()
            await super().advance(to_at)

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        with self._moving():
            await self._clock.stop()
            return await super().until(predicate, limit_at)

    async def _jump(self, due_at: LabTime) -> None:
        await super()._jump(due_at)
        await asyncio.sleep(0)

    # --- opening and closing

    async def up(self) -> None:
        if self._earlier_end is None:
            await super().up()
        else:
            self._resume(self._earlier_end)
        write_state(self._run_folder.path, self._state())
        self.begun = True
        self._run_due()

    def _resume(self, end: LabState) -> None:
        """Let the servers that ran at the end of the earlier run go on as if nothing had happened, with copies of their
        databases; if the earlier lab stopped them, start them."""
        self._run_folder.write_inputs(self.topology.as_yaml(), self.seed)
        self._now = end.at
        self._recall(end)
        files = {name: self._run_folder.database(name) for name in end.stores}
        stopped = [server for server in self._servers.running() if server.name in self._stopped]
        for server in stopped:
            server.status = ServerStatus.STOPPED
        self._servers.go_on({name: file.read_bytes() for name, file in files.items() if file.exists()})
        for server in stopped:
            self._start_node(self._slot[server.name])

    async def _end(self) -> None:
        await self._clock.stop()
        end = self._state()
        self.begun = False
        await super()._end()
        self._write_databases(self._run_folder)
        write_state(self._run_folder.path, end)

    def _write_databases(self, folder: RunFolder) -> None:
        for name, content in self._servers.databases().items():
            folder.write_database(name, content)

    # --- saved labs

    async def copy_into(self, folder: RunFolder, *, traces: bool = True) -> None:
        if traces:
            for server in self._servers.running():
                if server.node is not None:
                    server.node.export()  # events that are only in a database belong to the traces too
        self._write_databases(folder)
        if traces:
            link_all((path for _, path in list_segments(self._run_folder.traces)), folder.traces)
            self.record.write_copy(folder.traces)
        link_all((self._run_folder.path / BACKUPS).glob("*"), folder.path / BACKUPS)
        folder.write_inputs(self.topology.as_yaml(), self.seed)
        write_state(folder.path, self._state())

    async def reset(self, name: str) -> None:
        if self.warping:
            raise LabError("the lab's clock is being moved; wait until it stops")
        await super().reset(name)
        await self._clock.stop()
