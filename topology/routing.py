"""Routes of mail: the path of least cost over the connectors, from bridgehead to bridgehead (spec: RT-1).

Every server computes routes for itself, and mail must never circle. So all servers must choose the same path. The best path is
the first by (cost, number of connectors, names of the connectors in order). This order has two properties: every server
computes the same path, and the rest of a best path is the best path from there. Costs are at least 1, so each connector
brings a mail nearer to its destination.

The order has these properties only while all servers agree on which connectors are down (spec: RT-2). At each hop the
next server learns what the previous server knew, so the servers on the way of a mail soon agree. Servers cannot send
reports through a relay, and 5.5 and 2007 ignore reports; see `tells_links`.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from topology.enums import ConnectorKind, ServerVersion
from topology.model import Connector, Topology
from topology.problems import TopologyBaseError, did_you_mean, quoted

IGNORE_LINKS: Final = frozenset({ServerVersion.V5_5, ServerVersion.V2007})
"""The versions whose routes do not depend on which links are down."""

_Rank = tuple[int, int, tuple[str, ...]]


class RouteError(TopologyBaseError):
    """The topology does not have the server, site or connector in question."""


@dataclass(frozen=True, slots=True)
class NextHop:
    """The next server for a mail.

    connector: the connector that it crosses; None within a site.
    """

    server: str
    connector: Connector | None


class Routing:
    """The routes of a topology without the connectors that are down. Immutable; computed paths are cached.

    Methods raise RouteError for names that the topology does not have.
    """

    def __init__(self, topology: Topology, down: frozenset[str] = frozenset()) -> None:
        self._topology = topology
        self.domain = topology.domain
        """The organization's mail domain."""
        self.down = down
        names = {connector.name for connector in topology.connectors}
        for name in sorted(down):
            _require(name, names, "connector")
        self._sites = frozenset(topology.sites)
        self._site_of = {name: server.site for name, server in topology.servers.items()}
        # spec: ML-6
        links = [connector for connector in topology.connectors if connector.kind is ConnectorKind.SMTP_RELAY]
        self.relays = {connector.name: connector.relay for connector in links}
        """All connectors that go through a foreign mail server, down or not, each with the server's host:port if given."""
        self.relay_ends = frozenset(server for connector in links for server in connector.bridgeheads)
        """The servers at the ends of these connectors."""
        self.organization = topology.organization
        self.x400 = {
            connector.name: frozenset(connector.bridgeheads)
            for connector in topology.connectors
            if connector.kind is ConnectorKind.X400
        }
        """The X.400 connectors by name, each with the servers at its ends."""
        up = [connector for connector in topology.connectors if connector.name not in down]
        self._neighbours = _neighbours(up)
        # spec: RT-4; referrals follow the configuration, also over links that are down.
        self._all_neighbours = _neighbours(topology.connectors)
        self.tells_links = not any(
            self.bridged(frozenset({connector.name}))
            for connector in topology.connectors
            if self._hides_links(connector)
        )
        """Whether servers report links that are down. They do not if a ring has a relay, or a server that ignores links that
        are down, because then mail could circle."""
        self._paths: dict[str, dict[str, tuple[Connector, ...]]] = {}
        self._affinities: dict[str, dict[str, tuple[Connector, ...]]] = {}

    def _hides_links(self, connector: Connector) -> bool:
        """Return whether a server at one end does not learn, or does not consider, what the server at the other end knows."""
        ends = [self._topology.servers[name].version for name in connector.bridgeheads]
        return connector.name in self.relays or any(server in IGNORE_LINKS for server in ends)

    def with_down(self, down: frozenset[str]) -> "Routing":
        """Return the routes with exactly these connectors down, given by name."""
        return Routing(self._topology, down)

    def bridged(self, down: frozenset[str]) -> frozenset[str]:
        """Return those connectors of `down` that mail can bypass while all of `down` are down.

        Mail keeps using a connector that is the only way between two parts, because without it there is no route.
        """
        # spec: RT-2
        neighbours = _neighbours(connector for connector in self._topology.connectors if connector.name not in down)
        return frozenset(
            connector.name
            for connector in self._topology.connectors
            if connector.name in down and _joined(neighbours, *connector.between)
        )

    @property
    def connectors(self) -> tuple[Connector, ...]:
        """All connectors, down or not."""
        return self._topology.connectors

    def connector(self, name: str) -> Connector | None:
        """Return the connector with this name, or None."""
        return next((candidate for candidate in self._topology.connectors if candidate.name == name), None)

    def has(self, server: str) -> bool:
        """Return whether there is a server with this name."""
        return server in self._site_of

    def crosses(self, server: str, connector: Connector) -> bool:
        """Return whether `server` sends mail over the connector: its own mail, or the mail of other servers."""
        site = self._home(server)
        if site not in connector.between:
            return False
        return connector.kind is ConnectorKind.DIRECT or connector.bridgehead(site) == server

    def neighbours(self, server: str) -> tuple[NextHop, ...]:
        """Return the servers one hop away, without those behind relays, in the order of the topology."""
        site = self._home(server)
        near = [NextHop(name, None) for name, home in self._site_of.items() if home == site and name != server]
        links = [connector for connector in self._topology.connectors if connector.name not in self.relays]
        far = [
            NextHop(connector.bridgehead(connector.other_site(site)), connector)
            for connector in links
            if self.crosses(server, connector)
        ]
        return (*near, *far)

    def path(self, a: str, b: str) -> tuple[Connector, ...] | None:
        """Return the connectors from site `a` to site `b`, in order; () within a site; None without a path."""
        self._require_site(b)
        return self._paths_from(a).get(b)

    def site_cost(self, a: str, b: str) -> int | None:
        """Return the cost of mail from site `a` to site `b`: 0 within a site; None without a path."""
        path = self.path(a, b)
        return None if path is None else sum(connector.cost for connector in path)

    def affinity_cost(self, a: str, b: str, *, transitive: bool = True) -> int | None:
        """Return the least sum of affinities from site `a` to site `b`, over connectors that allow referrals; None if
        there is none. If referrals are not transitive, as in 5.5, only a connector between the two sites counts (spec:
        RT-4)."""
        self._require_site(a)
        self._require_site(b)
        if not transitive and a != b:
            direct = [edge.affinity for edge, neighbour in self._all_neighbours.get(a, ()) if neighbour == b]
            return min((affinity for affinity in direct if affinity is not None), default=None)
        if a not in self._affinities:
            self._affinities[a] = _best_paths(a, self._all_neighbours, lambda edge: edge.affinity)
        path = self._affinities[a].get(b)
        return None if path is None else sum(edge.affinity or 0 for edge in path)

    def next_hop(self, from_server: str, to_server: str) -> NextHop | None:
        """Return the server to which `from_server` hands a mail for `to_server`; None without a path.

        Within a site the mail goes directly. Mail to another site goes first to the bridgehead of this site for the first
        connector, then over the connector to the bridgehead at the other end, and so on. A connector of kind direct needs no
        bridgehead in the sender's site: each server sends over it. All recipients behind a connector have the same next hop, so
        one copy crosses it.

        Raises RouteError also if both are the same server.
        """
        # spec: RT-1
        site, far_site = self._home(from_server), self._home(to_server)
        if from_server == to_server:
            raise RouteError(f"the mail is already at {quoted(from_server)}, which needs no hop; deliver it there")
        path = self.path(site, far_site)
        if path is None:
            return None
        if not path:
            return NextHop(to_server, None)
        first = path[0]
        bridgehead = first.bridgehead(site)
        if from_server == bridgehead or first.kind is ConnectorKind.DIRECT:
            return NextHop(first.bridgehead(first.other_site(site)), first)
        return NextHop(bridgehead, None)

    def hops(self, from_server: str, to_server: str) -> tuple[NextHop, ...] | None:
        """Return all hops of a mail, in order; () if both servers are the same; None without a path."""
        self._home(to_server)
        hops: list[NextHop] = []
        server = from_server
        while server != to_server:
            hop = self.next_hop(server, to_server)
            if hop is None:
                return None
            hops.append(hop)
            server = hop.server
        return tuple(hops)

    def _home(self, server: str) -> str:
        _require(server, self._site_of, "server")
        return self._site_of[server]

    def _require_site(self, site: str) -> None:
        _require(site, self._sites, "site")

    def _paths_from(self, site: str) -> dict[str, tuple[Connector, ...]]:
        paths = self._paths.get(site)
        if paths is None:
            self._require_site(site)
            paths = self._paths[site] = _best_paths(site, self._neighbours, lambda edge: edge.cost)
        return paths


def _require(name: str, known_names: Iterable[str], kind: str) -> None:
    names = known_names if isinstance(known_names, dict | frozenset | set) else set(known_names)
    if name not in names:
        raise RouteError(f"{quoted(name)} is not a {kind}; {did_you_mean(name, sorted(names))}")


_Neighbours = dict[str, list[tuple[Connector, str]]]


def _neighbours(connectors: Iterable[Connector]) -> _Neighbours:
    """Map each site to its connectors, each with the site at the other end."""
    neighbours: _Neighbours = {}
    for connector in connectors:
        for site in connector.between:
            neighbours.setdefault(site, []).append((connector, connector.other_site(site)))
    return neighbours


def _joined(neighbours: _Neighbours, a: str, b: str) -> bool:
    return b in _best_paths(a, neighbours, lambda edge: edge.cost)


def _best_paths(
    start: str, neighbours: _Neighbours, weight: Callable[[Connector], int | None]
) -> dict[str, tuple[Connector, ...]]:
    """Run Dijkstra's algorithm from `start`; a connector with weight None is not used."""
    best: dict[str, tuple[Connector, ...]] = {}
    # The names in the rank decide every tie between paths to one site, so the paths themselves are never compared.
    waiting: list[tuple[_Rank, str, tuple[Connector, ...]]] = [((0, 0, ()), start, ())]
    while waiting:
        (cost, length, names), site, path = heapq.heappop(waiting)
        if site in best:
            continue
        best[site] = path
        for connector, neighbour in neighbours.get(site, ()):
            added = weight(connector)
            if added is not None and neighbour not in best:
                rank = (cost + added, length + 1, (*names, connector.name))
                heapq.heappush(waiting, (rank, neighbour, (*path, connector)))
    return best
