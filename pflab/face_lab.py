"""What the face of a lab needs of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pflab.coordinator import Coordinator
from pflab.keptmail import HopGate
from pflab.lab import Lab
from topology import Topology


class FacedLab(Lab):
    """What the face needs beyond a lab: a coordinator, where the nodes are, and which events are held (keptlab)."""

    coordinator: Coordinator
    gate: HopGate
    held_from: int
    event_count: int
    renew: Callable[[Topology | None], Awaitable[None]]


class LedFace(FacedLab):
    """What the face needs of a lab whose nodes are elsewhere."""

    begun: bool
