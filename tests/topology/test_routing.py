"""Routes: least cost, one copy across each connector, the same answer everywhere (spec: RT-1)."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topology.file.load import topology_from_text
from topology.model import Topology
from topology.routing import RouteError, Routing

LINE = """
sites: [SEA, NYC, LON]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10, bridgeheads: {NYC: D}}
  - {name: NYC-LON, between: [NYC, LON], cost: 50, affinity: none}
servers:
  A: {site: SEA}
  B: {site: SEA}
  C: {site: NYC}
  D: {site: NYC}
  E: {site: LON}
"""


def route(topology: Topology, *servers: str) -> list[tuple[str, str | None]]:
    hops = Routing(topology).hops(*servers)
    assert hops is not None
    return [(hop.server, None if hop.connector is None else hop.connector.name) for hop in hops]


def test_mail_goes_from_bridgehead_to_bridgehead() -> None:
    """Mail goes from the sender to the local bridgehead, to the connector's remote bridgehead, and on to the next
    connector's."""
    topology = topology_from_text(LINE)
    assert route(topology, "B", "E") == [("A", None), ("D", "SEA-NYC"), ("C", None), ("E", "NYC-LON")]
    assert route(topology, "A", "C") == [("D", "SEA-NYC"), ("C", None)]
    assert route(topology, "E", "B") == [("C", "NYC-LON"), ("D", None), ("A", "SEA-NYC"), ("B", None)]


def test_within_a_site_mail_goes_directly() -> None:
    """Mail to a server of the same site goes there directly, whichever server is bridgehead."""
    topology = topology_from_text(LINE)
    assert route(topology, "B", "A") == [("A", None)]
    assert route(topology, "B", "B") == []


def test_a_direct_connector_has_no_local_bridgehead() -> None:
    """Direct relay: any server of the site crosses the connector itself."""
    topology = topology_from_text(LINE.replace("cost: 10", "cost: 10, kind: direct"))
    assert route(topology, "B", "E") == [("D", "SEA-NYC"), ("C", None), ("E", "NYC-LON")]


def test_a_server_has_no_hop_to_itself() -> None:
    """Mail for the server itself is delivered, not sent; asking for a hop is a mistake."""
    with pytest.raises(RouteError, match="needs no hop"):
        Routing(topology_from_text(LINE)).next_hop("A", "A")


def test_costs_add_up_along_the_path() -> None:
    """The cost of a path is the sum of its connectors' costs, 0 within a site, the same in both directions."""
    routing = Routing(topology_from_text(LINE))
    assert routing.site_cost("SEA", "SEA") == 0
    assert routing.site_cost("SEA", "LON") == routing.site_cost("LON", "SEA") == 60


def test_the_cheaper_way_round_is_taken() -> None:
    """RT-1: least cost wins over fewer connectors."""
    text = LINE.replace("servers:", "  - {between: [SEA, LON], cost: 61}\nservers:")
    assert route(topology_from_text(text), "A", "E")[0] == ("D", "SEA-NYC")
    text = text.replace("61", "59")
    assert route(topology_from_text(text), "A", "E") == [("E", "SEA-LON")]


def test_ties_go_to_fewer_connectors_and_then_by_name() -> None:
    """Every server breaks ties alike: fewer connectors, then the names, whatever the order of the file."""
    text = LINE.replace("servers:", "  - {between: [SEA, LON], cost: 60}\nservers:")
    assert route(topology_from_text(text), "A", "E") == [("E", "SEA-LON")]
    for names in (("zebra", "apple"), ("apple", "zebra")):
        parallel = "".join(f"  - {{name: {name}, between: [SEA, NYC], cost: 3}}\n" for name in names)
        topology = topology_from_text(LINE.replace("servers:", f"{parallel}servers:"))
        assert route(topology, "A", "C")[0] == ("C", "apple")


def test_a_link_that_is_down_changes_routes() -> None:
    """RT-2: without a connector mail takes another route, or none; with it again, the old one."""
    text = LINE.replace("servers:", "  - {between: [SEA, LON], cost: 100}\nservers:")
    routing = Routing(topology_from_text(text))
    down = routing.with_down(frozenset({"NYC-LON"}))
    assert [edge.name for edge in down.path("NYC", "LON") or ()] == ["SEA-NYC", "SEA-LON"]
    cut = down.with_down(frozenset({"NYC-LON", "SEA-LON"}))
    assert cut.path("SEA", "LON") is None
    assert cut.site_cost("SEA", "LON") is None
    assert cut.next_hop("A", "E") is None
    assert cut.hops("A", "E") is None
    assert cut.next_hop("A", "B") is not None
    assert cut.with_down(frozenset()).site_cost("SEA", "LON") == 60


def test_affinity_follows_connectors_that_allow_referrals() -> None:
    """RT-4: 2000 and later add affinities along the path, 5.5 knows only direct ones; without a path there is no affinity."""
    text = LINE.replace("cost: 10,", "cost: 10, affinity: 3,").replace(
        "servers:", "  - {between: [NYC, LON], name: referrals, cost: 100, affinity: 4}\nservers:"
    )
    routing = Routing(topology_from_text(text))
    assert routing.affinity_cost("SEA", "LON") == 7
    assert routing.affinity_cost("SEA", "LON", transitive=False) is None
    assert routing.affinity_cost("NYC", "LON", transitive=False) == 4
    assert routing.affinity_cost("SEA", "SEA") == routing.affinity_cost("SEA", "SEA", transitive=False) == 0
    assert Routing(topology_from_text(LINE)).affinity_cost("NYC", "LON") is None
    assert routing.with_down(frozenset({"SEA-NYC"})).affinity_cost("SEA", "LON") == 7


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        (lambda routing: routing.site_cost("SAE", "LON"), 'not a site; did you mean "SEA"'),
        (lambda routing: routing.site_cost("SEA", "LNO"), 'not a site; did you mean "LON"'),
        (lambda routing: routing.affinity_cost("SEA", "X"), "not a site"),
        (lambda routing: routing.hops("X", "A"), "not a server"),
        (lambda routing: routing.with_down(frozenset({"SEA-NCY"})), "not a connector; did you mean"),
    ],
)
def test_unknown_names_are_mistakes(question: object, complaint: str) -> None:
    """A misspelt name is an error, and not an answer of "no route"."""
    assert callable(question)
    with pytest.raises(RouteError, match=complaint):
        question(Routing(topology_from_text(LINE)))


@st.composite
def organizations(draw: st.DrawFn) -> Topology:
    """One to six sites of one to three servers, joined by a random tree and some more connectors."""
    sites = [f"S{number}" for number in range(draw(st.integers(1, 6)))]
    pairs = [(sites[draw(st.integers(0, number - 1))], sites[number]) for number in range(1, len(sites))]
    if len(sites) > 1:
        more = st.tuples(st.sampled_from(sites), st.sampled_from(sites)).filter(lambda pair: pair[0] != pair[1])
        pairs += draw(st.lists(more, max_size=6))
    names = draw(st.permutations([f"c{number}" for number in range(len(pairs))]))
    connectors = [
        f"  - {{name: {name}, between: [{one}, {other}], cost: {draw(st.integers(1, 4))}}}"
        for name, (one, other) in zip(names, pairs, strict=True)
    ]
    servers = [f"  {site}-{number}: {{site: {site}}}" for site in sites for number in range(draw(st.integers(1, 3)))]
    listed = "\n".join(["connectors:", *connectors]) if connectors else "connectors: []"
    return topology_from_text("\n".join([f"sites: [{', '.join(sites)}]", listed, "servers:", *servers]))


@given(organizations())
def test_hop_by_hop_is_the_path_that_the_sender_saw(topology: Topology) -> None:
    """Every relay decides by itself, and the mail crosses exactly the connectors of the sender's best path."""
    routing = Routing(topology)
    for sender, receiver in product(topology.servers, repeat=2):
        hops = Routing(topology).hops(sender, receiver)
        path = routing.path(topology.servers[sender].site, topology.servers[receiver].site)
        assert hops is not None
        assert path is not None
        assert tuple(hop.connector for hop in hops if hop.connector is not None) == path
        assert len({hop.server for hop in hops}) == len(hops)


@given(organizations())
def test_no_way_is_cheaper_than_the_route(topology: Topology) -> None:
    """The costs equal those of the shortest paths by another algorithm (Floyd-Warshall)."""
    far = 10**9
    cost = {pair: 0 if pair[0] == pair[1] else far for pair in product(topology.sites, repeat=2)}
    for edge in topology.connectors:
        for pair in (edge.between, edge.between[::-1]):
            cost[pair] = min(cost[pair], edge.cost)
    for via, one, other in product(topology.sites, repeat=3):
        cost[one, other] = min(cost[one, other], cost[one, via] + cost[via, other])
    routing = Routing(topology)
    for (one, other), expected in cost.items():
        assert routing.site_cost(one, other) == expected


@given(organizations(), st.data())
def test_one_copy_crosses_each_connector(topology: Topology, data: st.DataObject) -> None:
    """OUT-5, RT-1: grouped by next hop at each server, a mail to many crosses every connector at most once."""
    routing = Routing(topology)
    sender = data.draw(st.sampled_from(sorted(topology.servers)))
    waiting = [(sender, frozenset(topology.servers) - {sender})]
    crossed = []
    reached = set()
    while waiting:
        here, recipients = waiting.pop()
        reached |= {here} & recipients
        groups: dict[object, set[str]] = {}
        for recipient in recipients - {here}:
            groups.setdefault(routing.next_hop(here, recipient), set()).add(recipient)
        for hop, behind in groups.items():
            assert hop is not None
            crossed += [hop.connector.name] if hop.connector is not None else []  # type: ignore[attr-defined]
            waiting.append((hop.server, frozenset(behind)))  # type: ignore[attr-defined]
    assert len(crossed) == len(set(crossed))
    assert reached == set(topology.servers) - {sender}
