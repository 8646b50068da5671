"""The organizations that a lab has had one after the other, and which of them each store knows (RT-6)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from pflab.terms.event_handlers import event_handler, event_taker_of
from topology.file.load import topology_from_text
from topology.model import Topology
from topology.routing import Routing
from traces.events import OrganizationChanged, OrganizationRead

if TYPE_CHECKING:
    from pflab.invariants.evidence.backups import Backups


class Organizations:
    """The routes of each organization. `take` adds an event.

    topology: the organization as the lab began.

    A store that is restored knows the organization that its backup knew, until it reads the present one.
    """

    def __init__(self, topology: Topology, backups: Backups) -> None:
        self.present = topology
        """The organization after its last change."""
        self.with_removed = topology
        """The same with all servers that the lab has ever had, each as it was last."""
        self._routings = {0: Routing(topology)}
        self._revisions: Counter[str] = backups.follow(Counter())
        self.take = event_taker_of(self)

    def routing(self, store: str) -> Routing:
        """Return the routes of the organization that a store knows, with every link up."""
        return self._routings[self._revisions[store]]

    def is_behind(self, store: str) -> bool:
        """Return whether a store has not read the last change of the organization."""
        return self._revisions[store] < self.present.revision

    def takes_time(self, connector: str) -> bool:
        """Return whether mail ever took time to cross the connector with this name."""
        versions = [routing.connector(connector) for routing in self._routings.values()]
        return any(version is not None and (version.latency_us or version.bandwidth) for version in versions)

    @event_handler
    def _changed(self, event: OrganizationChanged) -> None:
        self.present = topology_from_text(event.topology)
        servers = {**self.with_removed.servers, **self.present.servers}
        self.with_removed = replace(self.present, servers=servers)
        self._routings[event.revision] = Routing(self.present)

    @event_handler
    def _read(self, event: OrganizationRead) -> None:
        self._revisions[event.node] = event.revision
