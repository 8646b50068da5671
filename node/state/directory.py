"""The directory as a store reads it: the stores with their sites, versions and addresses.

The topology lists the stores that may join. The table `directory` lists those that have joined, and the address that the
recipient update service has stamped on each entry (spec: ML-1). The lab does not model the replication of the directory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from node.errors import Misuse
from node.seeded_ids import guid_from
from topology.model import Topology
from topology.routing import Routing
from traces.events import AddressStamped
from traces.labtime import LabTime
from transport.sql import Connection
from transport.stimulus import Stimulus


@dataclass(frozen=True, slots=True)
class StoreEntry:
    name: str
    site: str
    version: str
    guid: bytes  # of the directory entry; the smaller GUID wins a tie (spec: BF-3)
    address: str | None
    joined_at: LabTime


class Directory:
    """The stores that have joined the organization."""

    def __init__(self, topology: Topology, conn: Connection) -> None:
        self._topology = topology
        self.routing = Routing(topology)
        self._entries: dict[str, StoreEntry] = {}
        self._server_of: dict[str, str] = {}
        for row in conn.exec_driver_sql("SELECT store, address, joined_at FROM directory ORDER BY store"):
            self._enter(*row)

    def _enter(self, store: str, address: str | None, joined_at: LabTime) -> None:
        self._entries[store] = self._entry(store, address, joined_at)
        if address is not None:
            self._server_of[address.lower()] = store

    def _entry(self, store: str, address: str | None, joined_at: LabTime) -> StoreEntry:
        server = self._topology.servers.get(store)
        if server is None:
            raise Misuse(
                f"the database has the server {store!r}, but the topology does not; use the topology that the lab began with"
            )
        guid = guid_from(self._topology.organization.encode()[:64], "store entry", store)
        return StoreEntry(store, server.site, str(server.version), guid, address, joined_at)

    def join(self, s: Stimulus, store: str, now: LabTime) -> None:
        """Add a store's entry and stamp its address. Do nothing if the store already has an entry."""
        if store in self._entries:
            return
        if store not in self._topology.servers:
            raise Misuse(
                f"{store} is not a server of the topology; its servers are {', '.join(self._topology.servers)}"
            )
        address = self._topology.address_of(store)  # spec: ML-1
        s.conn.exec_driver_sql(
            "INSERT INTO directory (store, joined_at, address) VALUES (?, ?, ?)", (store, now, address)
        )
        self._enter(store, address, now)
        s.trace.record(AddressStamped, store=store, address=address)

    def leave(self, s: Stimulus, store: str) -> None:
        """Delete a store's entry (spec: RP-6)."""
        entry = self._entries.pop(store)
        if entry.address is not None:
            del self._server_of[entry.address.lower()]
        s.conn.exec_driver_sql("DELETE FROM directory WHERE store = ?", (store,))

    @property
    def organization(self) -> str:
        return self._topology.organization

    def stores(self) -> list[str]:
        return sorted(self._entries)

    def get(self, store: str) -> StoreEntry | None:
        return self._entries.get(store)

    def address(self, store: str) -> str | None:
        entry = self._entries.get(store)
        return entry.address if entry else None

    def server_of(self, address: str) -> str | None:
        """Return the server of a store's mail address, or None if no store has the address (spec: ML-7)."""
        return self._server_of.get(address.lower())

    def same_site(self, one: str, other: str) -> bool:
        a, b = self._entries.get(one), self._entries.get(other)
        return a is not None and b is not None and a.site == b.site

    def cost(self, one: str, other: str) -> int | None:
        """Return the lowest routing cost between two stores: 0 within a site, None if there is no route (spec: RT-4)."""
        a, b = self._entries.get(one), self._entries.get(other)
        if a is None or b is None:
            return None
        return self.routing.site_cost(a.site, b.site)

    def affinity(self, one: str, other: str) -> int | None:
        """Return the lowest sum of referral costs between two stores, or None if they have no affinity (spec: RT-4)."""
        a, b = self._entries.get(one), self._entries.get(other)
        return self.routing.affinity_cost(a.site, b.site) if a is not None and b is not None else None

    def referred(self, one: str, stores: Sequence[str], *, transitive: bool) -> list[str]:
        """Return the stores in the order in which a user of store `one` is referred to them (spec: RT-4).

        Stores of the same site are first, then the others by referral cost. Stores without a referral are last. `transitive`:
        a referral may cross several connectors.
        """
        here = self._entries[one].site

        def rank(store: str) -> tuple[bool, bool, int, bytes]:
            entry = self._entries[store]
            cost = self.routing.affinity_cost(here, entry.site, transitive=transitive)
            return entry.site != here, cost is None, cost or 0, entry.guid

        return sorted(stores, key=rank)
