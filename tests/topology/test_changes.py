"""Changes of an organization that has begun (RT-6): each is another topology, and each mistake one clear line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from topology.changes import (
    ChangeError,
    connector_added,
    connector_changed,
    connector_removed,
    server_added,
    server_removed,
    site_added,
    site_removed,
    start_of,
    successor,
)
from topology.enums import ConnectorKind, ServerVersion
from topology.file.load import topology_from_text
from topology.model import Connector, Topology
from traces.labtime import DAY_US, SECOND_US

BEGAN = topology_from_text(
    """
organization: Contoso
domain: contoso.test
sites: [SEA, NYC, LON]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}, D: {site: LON}}
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10, bandwidth: 64 kbit/s, size_limit: 1 MB, senders: [kim@contoso.test]}
  - {name: SEA-LON, between: [SEA, LON], cost: 20, affinity: 5}
folders: {Projects: {replicas: [A, C]}}
"""
)


def of(topology: Topology, name: str) -> Connector:
    (connector,) = (connector for connector in topology.connectors if connector.name == name)
    return connector


def test_a_change_is_another_topology() -> None:
    """RT-6: the topology before stays as it was, and only the connector and the revision differ."""
    after = connector_changed(BEGAN, "SEA-NYC", {"cost": 3, "latency": "2 s", "kind": "x400"})
    assert (of(BEGAN, "SEA-NYC").cost, BEGAN.revision, after.revision) == (10, 0, 1)
    connector = of(after, "SEA-NYC")
    assert (connector.cost, connector.latency_us, connector.kind) == (3, 2 * SECOND_US, ConnectorKind.X400)
    assert of(after, "SEA-LON") == of(BEGAN, "SEA-LON")
    assert (after.servers, after.folders) == (BEGAN.servers, BEGAN.folders)
    assert connector_changed(after, "SEA-NYC", {"cost": 4}).revision == 2


def test_a_changed_topology_can_be_read_again() -> None:
    """A store keeps the organization as text, with its revision."""
    after = connector_removed(BEGAN, "SEA-LON")
    again = topology_from_text(after.as_json())
    assert again == after and again.revision == 1


def test_an_affinity_that_is_the_cost_follows_it() -> None:
    """RT-4: the default of an affinity is the cost, and an affinity that somebody has chosen stays."""
    assert of(connector_changed(BEGAN, "SEA-NYC", {"cost": 3}), "SEA-NYC").affinity == 3
    assert of(connector_changed(BEGAN, "SEA-LON", {"cost": 3}), "SEA-LON").affinity == 5


def test_limits_are_taken_away() -> None:
    """`none` and an empty list of senders take a limit away."""
    after = connector_changed(BEGAN, "SEA-NYC", {"bandwidth": "none", "size_limit": "none", "senders": []})
    connector = of(after, "SEA-NYC")
    assert (connector.bandwidth, connector.size_limit, connector.senders) == (None, None, None)


def test_one_bridgehead_changes_and_the_other_stays() -> None:
    """A change names the ends that it changes."""
    assert of(connector_changed(BEGAN, "SEA-NYC", {"bridgeheads": {"SEA": "B"}}), "SEA-NYC").bridgeheads == ("B", "C")


def test_a_new_connector_has_the_defaults_of_a_file() -> None:
    """RT-6: what a new connector does not say is as in a topology file."""
    connector = of(connector_added(BEGAN, "cable", {"between": ["NYC", "LON"], "bandwidth": "none"}), "cable")
    assert (connector.cost, connector.latency_us, connector.bridgeheads) == (1, 0, ("C", "D"))
    assert connector.bandwidth is None and connector.schedule.is_always


def test_a_new_server_joins_later_with_the_defaults_of_a_file() -> None:
    """RT-6, RP-3: a server is added in a new site, to which no connector leads yet. The organization's settings are its too."""
    after = server_added(
        site_added(BEGAN, "PAR"), "F", {"site": "PAR", "version": "5.5", "settings": {"age limit": "3 d"}}
    )
    server = after.servers["F"]
    assert (server.site, server.version, server.joins_later, after.revision) == ("PAR", ServerVersion.V5_5, True, 2)
    assert server.settings.age_limit_us == 3 * DAY_US
    assert list(after.servers) == ["A", "B", "C", "D", "F"]
    assert topology_from_text(after.as_json()) == after == successor(BEGAN, after.as_json())
    assert of(connector_added(after, "line", {"between": ["SEA", "PAR"]}), "line").bridgeheads == ("A", "F")


def test_a_site_without_servers_is_removed() -> None:
    """RT-6: what was added by mistake goes away again."""
    after = site_removed(site_added(BEGAN, "PAR"), "PAR")
    assert (after.sites, after.revision) == (BEGAN.sites, 2)


def test_a_server_is_removed_and_another_gets_its_name() -> None:
    """RP-9: the others keep their ports, and what the lab began with stays as it was, also lists with the removed server. A
    server of its name is another one, in any site and of any version."""
    line = connector_removed(BEGAN, "SEA-NYC")
    after = server_removed(line, "C")
    assert [(server.name, server.place) for server in after.servers.values()] == [("A", 0), ("B", 1), ("D", 3)]
    assert after.folders == BEGAN.folders and "C" in after.folders["Projects"].replicas
    again = server_added(after, "C", {"site": "SEA", "version": "5.5"})
    assert list(again.servers) == ["A", "B", "D", "C"]
    assert (again.servers["C"].joins_later, again.servers["C"].place) == (True, 4)
    for topology in (after, again):
        assert topology_from_text(topology.as_json()) == topology == successor(BEGAN, topology.as_json())
        assert successor(topology, line.as_json()) == line


def test_servers_that_were_there_at_the_start_may_all_be_removed() -> None:
    """RT-6: an organization that has only servers which were added later is one."""
    organization = server_added(topology_from_text("servers: {A: }"), "B", {})
    assert list(server_removed(organization, "A").servers) == ["B"]


def test_a_lab_can_begin_with_what_has_become_of_another() -> None:
    """RT-6: servers that have a store now are there from the start, and the others join later. Folders are on those of their
    servers that have a store, or on all; the file is sound, also if it has sites without a connector."""
    apart = connector_removed(connector_removed(BEGAN, "SEA-NYC"), "SEA-LON")
    after = server_removed(server_added(server_added(apart, "F", {"site": "SEA"}), "G", {"site": "SEA"}), "C")
    start = start_of(after, {"A", "D", "F"})
    assert topology_from_text(start.as_yaml()) == start and start.revision == 0
    assert start.servers_from_start() == ("A", "D", "F")
    assert [name for name, server in start.servers.items() if server.joins_later] == ["B", "G"]
    assert [server.place for server in start.servers.values()] == [0, 1, 2, 3, 4]
    assert start.folders["Projects"].replicas == ("A",)
    assert start_of(after, {"D", "F"}).folders["Projects"].replicas == ("D", "F")
    assert len(start.notices()) == 1


def test_a_store_that_knows_less_is_of_the_same_lab() -> None:
    """A store that begins with the present organization may find an older one in its database."""
    before = site_added(BEGAN, "PAR")
    after = server_added(before, "F", {"site": "PAR"})
    assert successor(after, before.as_json()) == before


def test_the_last_connector_of_a_site_can_be_removed() -> None:
    """RT-6: the mail of a site without connectors waits for one."""
    after = connector_removed(connector_removed(BEGAN, "SEA-NYC"), "SEA-LON")
    assert after.connectors == () and after.revision == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: site_added(BEGAN, "SEA"), 'there is a site "SEA" already'),
        (lambda: site_added(BEGAN, "a/b"), '"a/b" is not a name for a site'),
        (lambda: site_removed(BEGAN, "OSL"), 'there is no site "OSL"'),
        (lambda: site_removed(BEGAN, "SEA"), "the site SEA has A, B; only a site without a server can be removed"),
        (lambda: server_removed(BEGAN, "Z"), 'there is no server "Z"'),
        (lambda: server_removed(BEGAN, "C"), "the server C is a bridgehead of SEA-NYC"),
        (lambda: server_removed(topology_from_text("servers: {A: }"), "A"), "A is the last server"),
        (lambda: server_added(BEGAN, "A", {"site": "SEA"}), 'there is a server "A" already'),
        (lambda: server_added(BEGAN, "a", {"site": "SEA"}), 'is already there as "A"'),
        (lambda: server_added(BEGAN, "F", {}), "the server has no site, but the topology has several"),
        (lambda: server_added(BEGAN, "F", {"site": "OSL"}), '"OSL" is not a site'),
        (lambda: server_added(BEGAN, "F", {"site": "SEA", "version": "2010"}), "version"),
        (lambda: server_added(BEGAN, "F", {"site": "SEA", "settings": {"nothing": 1}}), "nothing"),
        (lambda: connector_added(BEGAN, "SEA-NYC", {"between": ["SEA", "NYC"]}), "there is a connector"),
        (lambda: connector_added(BEGAN, "cable", {}), "between"),
        (lambda: connector_added(BEGAN, "cable", {"between": ["SEA", "OSL"]}), "OSL"),
        (lambda: connector_added(BEGAN, "cable", {"between": ["SEA", "SEA"]}), "both ends are the same site"),
        (lambda: connector_added(BEGAN, "cable", {"between": ["SEA", "NYC"], "cost": 0}), "cost"),
        (lambda: connector_changed(BEGAN, "SEA-NYK", {"cost": 3}), "SEA-NYC"),
        (lambda: connector_changed(BEGAN, "SEA-NYC", {"between": ["SEA", "LON"]}), "remove it and add another one"),
        (lambda: connector_changed(BEGAN, "SEA-NYC", {"cost": 10}), "is so already"),
        (lambda: connector_changed(BEGAN, "SEA-NYC", {"latency": "soon"}), "soon"),
        (lambda: connector_changed(BEGAN, "SEA-NYC", {"schedule": "sometimes"}), "sometimes"),
        (lambda: connector_changed(BEGAN, "SEA-NYC", {"bridgeheads": {"SEA": "D"}}), "D"),
        (lambda: connector_changed(BEGAN, "SEA-NYC", {"bridgeheads": {"LON": "D"}}), "LON"),
        (lambda: connector_removed(BEGAN, "cable"), "there is no connector"),
    ],
)
def test_each_mistake_is_one_clear_line(change: Callable[[], Topology], words: str) -> None:
    """RT-6: the text says what is wrong and what would be right, in one line."""
    with pytest.raises(ChangeError) as caught:
        change()
    text = str(caught.value)
    assert words in text and "\n" not in text
    assert ";" in text or "already" in text
