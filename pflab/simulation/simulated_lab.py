"""A simulated lab behind the HTTP server of a lab, so that a test is the same in a simulated, an embedded and a process lab.

The clock is always paused. Each change (by a user, an administrator, or a fault that ends) also runs what is then due at this
instant, as the nodes of a live lab do while their clock is paused. While the clock moves, the lab answers requests between two
instants.

A snapshot is a value in memory. A reset ends the run history, and begins another one in a run folder of its own, as in an
embedded lab: the stores start again on copies of their databases, so the record has their restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import msgspec

from node.errors import InternalError
from pflab.errors import LabError, NotIdle
from pflab.faults.mail_capture import RecentMails
from pflab.lab.served_lab import ServedLab
from pflab.lab.servers import ServerStatus
from pflab.runs.continued import Earlier, RunSettings, RunState, keep_state, link_all
from pflab.runs.saved import check_free, check_name, none_of
from pflab.simulation.simulator import Simulator
from traces.segments import SegmentName, list_segments, write_segment

if TYPE_CHECKING:
    from pathlib import Path

    from node.store.node import Node
    from pflab.lab.recorded_lab import Backup
    from pflab.runs.run_folder import RunFolder
    from topology.model import Topology
    from traces.events import Event
    from traces.labtime import LabTime

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Saved:
    """A saved lab.

    databases   the database of each store that has ever started
    backups     the backups that this history can restore; backups_made: how many names have been given
    events      the events of the whole run
    own         the segment of the lab's own events in this run history: its name and its lines
    segments    the closed segments of this run history
    """

    state: RunState
    databases: Mapping[str, bytes]
    backups: Mapping[str, Backup]
    backups_made: int
    events: tuple[Event, ...]
    own: tuple[SegmentName, tuple[bytes, ...]]
    segments: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class SimulatedHost:
    """A running server of a simulated lab, as the routes of the HTTP API need it."""

    _lab: SimulatedLab
    name: str
    rate: float = field(default=0.0, init=False)

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

    def read(self, fn: Callable[[Node], T]) -> T:
        return self._lab.read(self.name, fn)


class _PausedClock:
    """The clock of a simulated lab: it never runs, and moves only by jumps."""

    rate = 0.0

    def __init__(self, lab: SimulatedLab) -> None:
        self._lab = lab
        self.warping = False

    async def set_rate(self, rate: float) -> None:
        if rate:
            raise LabError(
                f"the clock of a simulated lab cannot run (rate {rate:g}); it is paused, and moves by step, advance and until"
            )
        self._lab.record.clock_changed("pause", 0.0, self._lab.now)

    async def step(self, limit_at: LabTime | None = None) -> bool:
        with self.moving():
            return await self._lab.step(limit_at)

    @contextmanager
    def moving(self) -> Iterator[None]:
        self.warping = True
        try:
            yield
        finally:
            self.warping = False


class SimulatedLab(Simulator, ServedLab):
    """A simulated lab that an HTTP server can serve.

    folder: its run folder.
    next_folder: makes the run folder of the history that begins with a reset. The run's id is the name of the first folder.
    earlier: the run that this one continues, whose databases and traces the run folder has.
    most_events: see `pflab.runs.recorder`.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        next_folder: Callable[[], RunFolder],
        seed: int = 1,
        earlier: Earlier | None = None,
        most_events: int | None = None,
    ) -> None:
        self._next_folder = next_folder
        self._earlier_end = None if earlier is None else earlier.end
        run = folder.name if earlier is None else earlier.end.run
        self._begin = partial(super().__init__, topology, seed=seed, run=run, most_events=most_events)
        self._snapshots: dict[str, _Saved] = {}
        self._begin_in(folder, () if earlier is None else earlier.events)

    def _begin_in(self, folder: RunFolder, earlier: Sequence[Event] = ()) -> None:
        """Begin a run history, with servers that have not started."""
        self.recent_mails = RecentMails()
        self._begin(folder=folder, earlier=earlier, keep=[self.recent_mails.keep])
        self._run_folder = folder
        self.decide = self._network.decide
        self.coordinator = self._clock_moves = _PausedClock(self)
        self._verdict = None
        self._runs_due = False
        self.begun = False

    @property
    def history(self) -> str:
        return self._run_folder.name

    # --- servers

    def host_of(self, name: str) -> SimulatedHost:
        """Return the host of a running server.

        Raises LabError if the lab has no server of this name, and NotRunning if the server does not run.
        """
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
        done = self._do(name, fn)
        self._run_due()
        return done

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

    async def advance(self, to_at: LabTime) -> None:
        with self._clock_moves.moving():
            await super().advance(to_at)

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        with self._clock_moves.moving():
            return await super().until(predicate, limit_at)

    async def _jump(self, due_at: LabTime) -> None:
        await super()._jump(due_at)
        await asyncio.sleep(0)

    # --- opening and closing

    async def up(self) -> None:
        if self._earlier_end is None:
            await super().up()
            keep_state(self._run_folder.path, self._run_state())
            self.begun = True
        else:
            files = {name: self._run_folder.database(name) for name in self.names}
            databases = {name: file.read_bytes() for name, file in files.items() if file.exists()}
            self._resume(self._earlier_end, databases)

    async def _end(self) -> None:
        end = self._run_state()
        self.begun = False
        await super()._end()
        for name, content in self._databases().items():
            self._run_folder.write_database(name, content)
        keep_state(self._run_folder.path, end)

    def _run_state(self) -> RunState:
        active = tuple(fault.id for fault in self.faults.active())
        settings = RunSettings(driver="simulator", keeps_mails=self._run_folder.keeps_mails)
        return RunState(self.run, self.now, self._servers.as_document(), self.faults.number, active, settings)

    def _databases(self) -> dict[str, bytes]:
        return {each.name: each.node.backup() for each in self._servers.all() if each.node is not None}

    # --- snapshots

    async def save(self, name: str, *, replace: bool = False) -> None:
        """Save a snapshot. Raises Taken if the name exists, LabError if the name is wrong."""
        check_name(name)
        check_free(name, self.saved(), replace=replace)
        self._snapshots[name] = _Saved(
            state=msgspec.convert(msgspec.to_builtins(self._run_state()), RunState),  # a copy
            databases=self._databases(),
            backups=dict(self._backups),
            backups_made=self.record.backups,
            events=tuple(self.record.events()),
            own=self.record.own_segment(),
            segments=tuple(path for _, path in list_segments(self._run_folder.traces)),
        )

    def saved(self) -> Sequence[str]:
        return sorted(self._snapshots)

    async def reset(self, name: str) -> None:
        """End this run history, and begin one that continues from a snapshot. Raises LabError if there is no such snapshot, or
        while the clock moves."""
        saved = self._snapshots.get(name)
        if saved is None:
            raise none_of(name, self.saved())
        if self.coordinator.warping:
            raise LabError("the lab's clock is being moved; wait until it stops")
        folder = self._next_folder()
        link_all(saved.segments, folder.traces)
        segment, lines = saved.own
        if lines:
            write_segment(folder.traces, segment, lines, durable=False)
        await self.close()
        self._begin_in(folder, saved.events)
        self._backups = dict(saved.backups)
        self.record.number_backups_after(saved.backups_made)
        self._resume(saved.state, saved.databases)

    def _resume(self, state: RunState, databases: Mapping[str, bytes]) -> None:
        """Start the servers that ran in this state, on these databases. The faults of the state are over."""
        self._run_folder.write_inputs(self.topology.as_yaml(), self.seed)
        self._now = state.at
        self._servers.recall(state.servers)
        self._servers.take_over(databases)
        self.faults.number_after(state.faults)
        ran = self._servers.running()
        for server in ran:
            server.status = ServerStatus.STOPPED
        for fault in state.active:
            self._fault_healed(fault)
        for server in ran:
            self._start_node(self._slot[server.name])
        keep_state(self._run_folder.path, self._run_state())
        self.begun = True
        self._run_due()
