"""What the face of a lab needs of it."""

from __future__ import annotations

from pflab.coordinator import Coordinator
from pflab.keptmail import HopGate
from pflab.lab import Lab


class FacedLab(Lab):
    """What the face needs beyond a lab: a coordinator, where the nodes are, and which events are held (keptlab)."""

    coordinator: Coordinator
    gate: HopGate
    held_from: int
    event_count: int


class LedFace(FacedLab):
    """What the face needs of a lab whose nodes are elsewhere."""

    begun: bool
