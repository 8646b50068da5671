"""Which way mail goes: least cost over the connectors, by way of bridgeheads (spec: RT-1).

Every server routes for itself; so that mail never circles, all of them must choose alike. The best path is the
first by (cost, number of connectors, names of the connectors in order), which has two properties: it is one
and the same wherever it is computed, and the rest of a best path is itself the best path from there. Costs are
at least 1, so every connector crossed brings the mail nearer. That holds among servers that know of the same connectors
to be down (spec: RT-2). With each hop a server learns what the last one knew, so a mail that went back and forth would
soon meet servers that all know the same; only across a relay nothing can be told, hence `tells_links`.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from topology.enums import ConnectorKind
from topology.model import Connector, Topology
from topology.problems import TopologyBaseError, did_you_mean, quoted

_Rank = tuple[int, int, tuple[str, ...]]


class RouteError(TopologyBaseError):
    """A question about a server, site or connector that the topology does not have."""


@dataclass(frozen=True, slots=True)
class NextHop:
    """The server to hand a mail to next. connector: what it crosses on the way there; None within a site."""

    server: str
    connector: Connector | None


class Routing:
    """Routes of a topology, less the connectors that are down. Immutable; answers are kept once computed.

    Methods raise RouteError for names that the topology does not have.
    """

    def __init__(self, topology: Topology, down: frozenset[str] = frozenset()) -> None:
        self._topology = topology
        self.down = down
        known = {connector.name for connector in topology.connectors}
        for name in sorted(down):
            _require(name, known, "connector")
        self._sites = frozenset(topology.sites)
        self._site_of = {name: server.site for name, server in topology.servers.items()}
        # spec: ML-6
        links = [each for each in topology.connectors if each.kind is ConnectorKind.SMTP_RELAY]
        self.relays = frozenset(each.name for each in links)
        """Names of the connectors that go through an ordinary mail server, down or not."""
        self.relay_ends = frozenset(server for each in links for server in each.bridgeheads)
        """The servers at their ends."""
        up = [connector for connector in topology.connectors if connector.name not in down]
        self._neighbours = _neighbours(up)
        # spec: RT-4; referrals follow the configuration, whatever links are up.
        self._all_neighbours = _neighbours(topology.connectors)
        self.tells_links = not any(self.bridged(frozenset({each.name})) for each in links)
        """Whether links may be told of: no relay lies on a ring, so that mail which has crossed one never comes back."""
        self._paths: dict[str, dict[str, tuple[Connector, ...]]] = {}
        self._affinities: dict[str, dict[str, tuple[Connector, ...]]] = {}

    def with_down(self, down: frozenset[str]) -> "Routing":
        """The routes with exactly these connectors down (by name)."""
        return Routing(self._topology, down)

    def bridged(self, down: frozenset[str]) -> frozenset[str]:
        """Those of the connectors `down` that mail can go round while all of them are down.

        A connector that joins what nothing else joins is no better left than used.
        """
        # spec: RT-2
        left = _neighbours(each for each in self._topology.connectors if each.name not in down)
        return frozenset(
            each.name for each in self._topology.connectors if each.name in down and _joined(left, *each.between)
        )

    def connector(self, name: str) -> Connector | None:
        """The connector of that name, if the organization has one."""
        return next((each for each in self._topology.connectors if each.name == name), None)

    def has(self, server: str) -> bool:
        """Whether there is a server of that name."""
        return server in self._site_of

    def crosses(self, server: str, connector: Connector) -> bool:
        """Whether mail of others or its own leaves `server` over the connector."""
        site = self._home(server)
        if site not in connector.between:
            return False
        return connector.kind is ConnectorKind.DIRECT or connector.bridgehead(site) == server

    def neighbours(self, server: str) -> tuple[NextHop, ...]:
        """The servers that are one hop away, those behind relays left out, in the order of the topology."""
        site = self._home(server)
        near = [NextHop(name, None) for name, home in self._site_of.items() if home == site and name != server]
        links = [each for each in self._topology.connectors if each.name not in self.relays]
        far = [NextHop(each.bridgehead(each.other_site(site)), each) for each in links if self.crosses(server, each)]
        return (*near, *far)

    def path(self, a: str, b: str) -> tuple[Connector, ...] | None:
        """The connectors from site `a` to site `b`, in order; () within a site; None if there is no way."""
        self._require_site(b)
        return self._paths_from(a).get(b)

    def site_cost(self, a: str, b: str) -> int | None:
        """The cost of mail from site `a` to site `b`: 0 within a site, None if there is no way."""
        path = self.path(a, b)
        return None if path is None else sum(connector.cost for connector in path)

    def affinity_cost(self, a: str, b: str, *, transitive: bool = True) -> int | None:
        """The least sum of affinities of connectors from site `a` to site `b` that allow referrals; None: no
        affinity. Not transitive, as in 5.5: only a connector that joins the two directly (spec: RT-4)."""
        self._require_site(a)
        self._require_site(b)
        if not transitive and a != b:
            direct = [edge.affinity for edge, other in self._all_neighbours.get(a, ()) if other == b]
            return min((affinity for affinity in direct if affinity is not None), default=None)
        if a not in self._affinities:
            self._affinities[a] = _best_paths(a, self._all_neighbours, lambda edge: edge.affinity)
        path = self._affinities[a].get(b)
        return None if path is None else sum(edge.affinity or 0 for edge in path)

    def next_hop(self, from_server: str, to_server: str) -> NextHop | None:
        """Where `from_server` hands on a mail for `to_server`; None if there is no way.

        To the site's bridgehead of the path's first connector (in the site, hence without connector), from
        there over the connector to the bridgehead at its other end, and so on; a server of the same site is
        handed its mail directly. A connector of kind direct is crossed by any server of the site itself.
        All recipients behind a connector have the same next hop, so that one copy crosses it.
        RouteError also if the two are the same server.
        """
        # spec: RT-1
        here, there = self._home(from_server), self._home(to_server)
        if from_server == to_server:
            raise RouteError(f"no hop leads from {quoted(from_server)} to itself; deliver it there")
        path = self.path(here, there)
        if path is None:
            return None
        if not path:
            return NextHop(to_server, None)
        first = path[0]
        bridgehead = first.bridgehead(here)
        if from_server == bridgehead or first.kind is ConnectorKind.DIRECT:
            return NextHop(first.bridgehead(first.other_site(here)), first)
        return NextHop(bridgehead, None)

    def hops(self, from_server: str, to_server: str) -> tuple[NextHop, ...] | None:
        """All hops of a mail, in order; () if the two are the same; None if there is no way."""
        self._home(to_server)
        hops: list[NextHop] = []
        here = from_server
        while here != to_server:
            hop = self.next_hop(here, to_server)
            if hop is None:
                return None
            hops.append(hop)
            here = hop.server
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


def _require(name: str, known: Iterable[str], what: str) -> None:
    names = known if isinstance(known, dict | frozenset | set) else set(known)
    if name not in names:
        raise RouteError(f"{quoted(name)} is not a {what}; {did_you_mean(name, sorted(names))}")


_Neighbours = dict[str, list[tuple[Connector, str]]]


def _neighbours(connectors: Iterable[Connector]) -> _Neighbours:
    """Site to the connectors at it, each with the site at the other end."""
    found: _Neighbours = {}
    for connector in connectors:
        for site in connector.between:
            found.setdefault(site, []).append((connector, connector.other_site(site)))
    return found


def _joined(neighbours: _Neighbours, a: str, b: str) -> bool:
    return b in _best_paths(a, neighbours, lambda edge: edge.cost)


def _best_paths(
    start: str, neighbours: _Neighbours, weight: Callable[[Connector], int | None]
) -> dict[str, tuple[Connector, ...]]:
    """Dijkstra's algorithm from `start`; a connector of weight None is not used."""
    best: dict[str, tuple[Connector, ...]] = {}
    # The names in the rank settle every tie between paths to one site, so paths themselves are never compared.
    waiting: list[tuple[_Rank, str, tuple[Connector, ...]]] = [((0, 0, ()), start, ())]
    while waiting:
        (cost, length, names), site, path = heapq.heappop(waiting)
        if site in best:
            continue
        best[site] = path
        for connector, other in neighbours.get(site, ()):
            added = weight(connector)
            if added is not None and other not in best:
                rank = (cost + added, length + 1, (*names, connector.name))
                heapq.heappush(waiting, (rank, other, (*path, connector)))
    return best
