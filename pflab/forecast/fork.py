"""A copy of a running lab that plays on by itself, in the simulator.

A store is deterministic: what it does follows from its tables, its mail and the time. So a copy of all databases at one
instant, with the lab's state (`pflab.runs.lab_state`), has the same future as the lab, as long as nobody changes either:

    lab       12:00  ---- copy ----------------------------------------->  what really happens
                          |
    fork      12:00       '--> jumps to 12:15, 18:15, ... within milliseconds: what will happen

The stores of a fork do not start: they do not notice that they were copied, so they record no event, and do nothing that a
start would cause. Active faults are copied with everything that they have decided so far. The fork's record has only what
happens in it.

What a fork cannot know, because it is outside of the lab: a mail inside a foreign mail server or to a smart host, the real time
that a mail takes on the wire, and what people will do.

What must never happen: a fork that writes a file of the lab, or takes a port; a change of a fork that its lab notices.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pflab.errors import LabError
from pflab.runs.lab_state import LabState, read_state
from pflab.simulation.simulator import Simulator
from traces.labtime import DAY_US, format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pflab.lab.served_lab import ServedLab
    from topology.model import Topology
    from traces.labtime import LabTime

MOST_DAYS: Final = 400
"""The longest time that a forecast looks ahead. A year of four idle stores takes about a second."""


@dataclass(frozen=True, slots=True)
class Present:
    """A lab at an instant, from which any number of forks can begin.

    secret: what the keys and ids of its stores derive from.
    state: the lab's state.
    databases: the database of each store that has ever started.
    backups: the content of each backup.
    """

    topology: Topology
    secret: int | str
    state: LabState
    databases: Mapping[str, bytes]
    backups: Mapping[str, bytes]

    def fork(self) -> Fork:
        return Fork(self)


class Fork(Simulator):
    """A copy of a lab, in memory."""

    def __init__(self, present: Present) -> None:
        super().__init__(present.topology, secret=present.secret, run=present.state.run)
        self.began_at = present.state.at
        """The lab time of the copy."""
        self._present = present
        self._backups.hold(present.backups)

    async def up(self) -> None:
        self._now = self._present.state.at
        self._recall(self._present.state)
        self._servers.go_on(self._present.databases)
        self._run_instant()

    async def advance(self, to_at: LabTime) -> None:
        self._check_near(to_at)
        await super().advance(to_at)

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        self._check_near(limit_at)
        return await super().until(predicate, limit_at)

    def _check_near(self, at: LabTime) -> None:
        if at - self.began_at > MOST_DAYS * DAY_US:
            raise LabError(f"{format_instant(at)} is too far; a forecast looks at most {MOST_DAYS} days ahead")

    async def _jump(self, due_at: LabTime) -> None:
        await super()._jump(due_at)
        await asyncio.sleep(0)  # the lab goes on beside its fork


async def present_of(lab: ServedLab) -> Present:
    """Copy a lab at an instant. Raises LabError if a server of the lab does not answer."""
    async with lab.copied(traces=False) as folder:
        state = read_state(folder.path)
        databases = {path.stem: path.read_bytes() for path in (folder.path / "databases").glob("*.sqlite")}
        backups = {path.stem: path.read_bytes() for path in (folder.path / "backups").glob("*.sqlite")}
    return Present(lab.topology, lab.secret, state, databases, backups)
