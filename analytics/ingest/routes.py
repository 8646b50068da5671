"""The least costs between the sites of a topology (RT-1, RT-4). They are computed where the topology is read: once for a run,
the same for both engines, and from each site in one search. A query of tables would take thousands of times as long.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

FAR: Final = 2**31
"""A sum of this size means that there is no route. No connector costs so much."""

DIGITS: Final = 10
"""How many digits a number below FAR has at most."""

MOST_SITES: Final = 1000
"""A topology with more sites gets no routes: pflab permits 200, and a false trace must not fill the memory."""

Links = Mapping[str, list[tuple[str, int]]]
"""Site to the sites beside it, each with the weight of the connector."""


class Route(msgspec.Struct, frozen=True):
    """The least sums from one site to another.

    cost: of mail.
    affinity: of referrals, over the connectors that allow them; None if there is no such route.
    """

    home: str
    there: str
    cost: int | None
    affinity: int | None


def routes(topology: object) -> list[Route]:
    """Return a route for each pair of sites with servers, also if none leads from one to the other.

    topology: as read from JSON. Parts that do not have pflab's form are left out.
    """
    servers = _values(_get(topology, "servers", {}))
    sites = sorted({site for server in servers if isinstance(site := _get(server, "site", None), str)})
    if len(sites) > MOST_SITES:
        return []
    connectors = _values(_get(topology, "connectors", []))
    by_cost = _links(connectors, lambda connector: _get(connector, "cost", None))
    by_affinity = _links(connectors, lambda connector: _whole(_get(connector, "affinity", None)))
    site_routes: list[Route] = []
    for home in sites:
        costs, affinities = _least(home, by_cost), _least(home, by_affinity)
        site_routes += (Route(home, there, costs.get(there), affinities.get(there)) for there in sites)
    return site_routes


def _links(connectors: list[Any], weight: Callable[[Any], Any]) -> Links:
    links: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for connector in connectors:
        between, added = _get(connector, "between", None), weight(connector)
        if not isinstance(between, list) or type(added) is not int or not 0 <= added < FAR:
            continue
        match between:
            case [str(a), str(b), *_]:
                links[a].append((b, added))
                links[b].append((a, added))
    return links


def _least(home: str, links: Links) -> dict[str, int]:
    """Return the least sum to each site that can be reached (Dijkstra's algorithm)."""
    least: dict[str, int] = {}
    waiting = [(0, home)]
    while waiting:
        cost, site = heapq.heappop(waiting)
        if site in least or cost >= FAR:
            continue
        least[site] = cost
        for neighbour, added in links.get(site, ()):
            if neighbour not in least:
                heapq.heappush(waiting, (cost + added, neighbour))
    return least


def _get(value: object, name: str, otherwise: object) -> Any:
    return value.get(name, otherwise) if isinstance(value, dict) else otherwise


def _values(value: object) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _whole(text: Any) -> int | None:
    """Return a whole number, also from a text of digits; None for another text, such as `none`."""
    is_digits = isinstance(text, str) and len(text) <= DIGITS and text.isascii() and text.isdigit()
    return int(text) if is_digits or type(text) is int else None
