"""The labs of lessons where processes have sockets: their servers exchange mails by SMTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pflab.drivers.live import LiveLab
from transport.smtp.connections import Connections

if TYPE_CHECKING:
    from pflab.lessons.classroom import MakeLab
    from pflab.runs.run_folder import RunFolder
    from topology.model import Topology

CONNECTIONS: Final = 32
"""The most SMTP connections that the labs of all lessons have open together. The user's lab has its own limit."""


def live_labs() -> MakeLab:
    """Return what makes live labs for a classroom."""
    connections = Connections(CONNECTIONS)

    def make(topology: Topology, folder: RunFolder, run: str) -> LiveLab:
        return LiveLab(topology, folder=folder, run=run, connections=connections)

    return make
