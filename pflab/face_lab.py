"""What the face of a lab needs of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from node.asks import Address
from pflab.coordinator import Coordinator
from pflab.keptmail import HopGate
from pflab.lab import Lab
from topology import Topology
from traces.labtime import LabTime


@dataclass(frozen=True, slots=True)
class Shipped:
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
    gate: HopGate
    held_from: int
    event_count: int
    renew: Callable[[Topology | None], Awaitable[None]]
    ship: Callable[[], Awaitable[Shipped]]
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
