"""The monitor of a campaign: it also computes the digest of all events, and counts the branches that the lab reaches."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from pflab.campaign.coverage import BranchCounter
from pflab.invariants.invariant import FolderReading, Invariant
from pflab.invariants.registry import INVARIANTS
from pflab.oracle.monitor import Monitor
from traces.events import Event

if TYPE_CHECKING:
    from pflab.simulation.simulator import Simulator

_ENCODER = msgspec.json.Encoder()


class CampaignMonitor(Monitor):
    """Checks the invariants of the lab of one seed."""

    def __init__(self, lab: Simulator, invariants: Sequence[type[Invariant]] = INVARIANTS) -> None:
        super().__init__(lab, invariants)
        self.branches = BranchCounter(self.facts)
        self._digest = hashlib.sha256()

    @property
    def digest(self) -> str:
        """A hash of all events so far. The same scenario gives the same digest in every process."""
        return self._digest.hexdigest()

    def take(self, event: Event) -> None:
        super().take(event)
        self._digest.update(_ENCODER.encode(event))
        self.branches.event(event)

    def check_folder(self, reading: FolderReading) -> None:
        super().check_folder(reading)
        self.branches.folder(reading)
