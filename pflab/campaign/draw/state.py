"""The state of a scenario while it is drawn: the folders and messages that its steps create if nothing goes wrong.

A step may still fail when the scenario is played.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from topology.file.load import topology_from_document
from topology.model import Connector, Topology
from traces.labtime import MINUTE_US


@dataclass(slots=True)
class FolderState:
    """A folder: its label, its holders, and the label and time of each of its messages."""

    label: str
    replicas: list[str]
    under: str | None = None
    messages: list[tuple[str, int]] = field(default_factory=list)
    deleted: bool = False


class DrawState:
    """The folders and messages of one scenario so far, and what its motifs need. It never returns the same label twice."""

    def __init__(self, document: dict[str, Any], length_us: int) -> None:
        self.length_us = length_us
        self.topology: Topology = topology_from_document(document, "the organization")
        self.stores = list(self.topology.servers_from_start())
        self.late = [name for name, server in self.topology.servers.items() if server.joins_later]
        self.folders = [
            FolderState(path, list(folder.replicas), folder.parent) for path, folder in self.topology.folders.items()
        ]
        self.settings: dict[str, Any] = {}
        """The settings of the organization that motifs need."""
        self.store_settings: dict[str, dict[str, Any]] = {}
        self.versions: dict[str, str] = {}
        """The versions of servers that motifs need."""
        self.needs_us = 0
        """How long the scenario must last for its motifs."""
        self._serial = 0

    @property
    def connectors(self) -> tuple[Connector, ...]:
        return self.topology.connectors

    def label(self, letter: str) -> str:
        """Return a new label: `m1`, `g2`, ..."""
        self._serial += 1
        return f"{letter}{self._serial}"

    def lasts_until(self, until_us: int) -> None:
        """Make the scenario last at least until `until_us`. It never becomes longer than the days that the campaign allows."""
        self.needs_us = max(self.needs_us, until_us)

    def existing(self) -> list[FolderState]:
        return [folder for folder in self.folders if not folder.deleted]

    def instant(self, draw: random.Random, low: float = 0.0, high: float = 1.0) -> int:
        """Return a random whole minute between two fractions of the scenario's length."""
        return draw.randint(int(self.length_us * low), int(self.length_us * high)) // MINUTE_US * MINUTE_US
