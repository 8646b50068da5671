"""What the face of a lab needs of it."""

from __future__ import annotations

from abc import abstractmethod

from node.asks import Address
from pflab.coordinator import Coordinator
from pflab.keptmail import HopGate
from pflab.lab import Lab


class FacedLab(Lab):
    """What the face needs beyond a lab: a coordinator, and where the nodes are."""

    coordinator: Coordinator
    gate: HopGate

    @abstractmethod
    def smtp_of(self, name: str) -> Address:
        """Where a running server listens for mail. Raises LabError, NotRunning."""
