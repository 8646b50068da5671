"""Changes of an organization that has begun: each returns another topology, one revision later.

A change edits the document of the present topology, and the edited document is read as a file is. So a change has the rules of
a topology file, and its mistakes have the words of one.

Example: `connector_changed(topology, "SEA-NYC", {"cost": 5})` is the topology in which SEA-NYC costs 5. Its affinity, which was
its cost, follows.

A server that is added joins later: its store enters the directory when the server is started. So a server that was removed, and
added again under its name, joins later too. A site may be without a server, and may be one to which no connector leads yet.

What must never happen: a change that would not be a topology file, and a change of what stores have read only once, at their
first start: the organization's name, its domain, the folders, and the servers that are there already. The folders are those
with which the lab began, so they may list a server that was removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from topology.enums import Joins
from topology.file.load import topology_from_document, topology_from_text
from topology.model import Connector, Topology
from topology.problems import ProblemsError, TopologyBaseError, did_you_mean, quoted

Document = dict[str, Any]

_ENTRY: Final = re.compile(r"^(connectors|sites)\[\d+\]\.?")
"""The place of a connector or a site in the document, which means nothing to who changes it by its name."""

_WITHOUT: Final = ("bandwidth", "size_limit", "senders")
"""The properties that a connector need not have. `none`, or an empty list, takes them away."""


class ChangeError(TopologyBaseError):
    """The organization cannot be changed so. The text says what is wrong and what would be right."""


def successor(began: Topology, text: str) -> Topology:
    """Return the organization of a lab that began with another topology, from the text of a state or a database.

    Raises ChangeError if the text is no topology, or if no change leads from one to the other.
    """
    try:
        topology = topology_from_text(text, "the organization")
    except ProblemsError as error:
        raise ChangeError(f"the organization cannot be read: {error.lines[0]}") from None
    check_successor(began, topology)
    return topology


def check_successor(began: Topology, topology: Topology) -> None:
    """Raise ChangeError if the second organization has not been changed, or if no change leads from one to the other."""
    earlier, later = sorted((began, topology), key=lambda organization: organization.revision)
    # A server may have been removed, and one that was added joins later.
    same = all(server.joins_later or earlier.servers.get(name) == server for name, server in later.servers.items())
    if not topology.revision or not same or _unchanging(topology) != _unchanging(began):
        raise ChangeError("the organization is not a later one of this lab")


def _unchanging(topology: Topology) -> Topology:
    """Return the topology without what can change."""
    return replace(topology, sites=(), connectors=(), servers={}, revision=0)


def at_start_of(server: str, began: Topology, present: Topology) -> Topology:
    """Return the organization in which a server's store began: that with which the lab began, or for a server that was added
    later, perhaps in place of one that was removed, a later one, of which the present one says the same about this server."""
    return began if began.servers.get(server) == present.servers.get(server) else present


def site_added(topology: Topology, name: str) -> Topology:
    """Return the topology with a new site, which has no server yet. Raises ChangeError."""
    if name in topology.sites:
        raise ChangeError(f"there is a site {quoted(name)} already; choose another name")
    return _edited(topology, lambda document: document["sites"].append(name))


def site_removed(topology: Topology, name: str) -> Topology:
    """Return the topology without a site in which there is no server. Raises ChangeError."""
    if name not in topology.sites:
        raise ChangeError(f"there is no site {quoted(name)}; {did_you_mean(name, topology.sites)}")
    if servers := topology.servers_in(name):
        raise ChangeError(f"the site {name} has {', '.join(servers)}; only a site without a server can be removed")
    return _edited(topology, lambda document: document["sites"].remove(name))


def server_added(topology: Topology, name: str, fields: Mapping[str, Any]) -> Topology:
    """Return the topology with a new server, which joins when it is started. Raises ChangeError."""
    if name in topology.servers:
        raise ChangeError(f"there is a server {quoted(name)} already; choose another name")
    place = 1 + max(server.place for server in topology.servers.values())
    entry = {"joins": "later", "place": place, **{key: value for key, value in fields.items() if value is not None}}
    return _edited(topology, lambda document: document["servers"].update({name: entry}))


def server_removed(topology: Topology, name: str) -> Topology:
    """Return the topology without a server. Raises ChangeError if mail takes its way over the server, or if it is the last
    one."""  # spec: RP-9
    if name not in topology.servers:
        raise ChangeError(f"there is no server {quoted(name)}; {did_you_mean(name, topology.servers)}")
    if len(topology.servers) == 1:
        raise ChangeError(f"{name} is the last server, and an organization has at least one; add another one first")
    if lines := [connector.name for connector in topology.connectors if name in connector.bridgeheads]:
        raise ChangeError(
            f"the server {name} is a bridgehead of {', '.join(lines)}; give each another bridgehead, or remove it, first"
        )

    def change(document: Document) -> None:
        for server in topology.servers.values():
            document["servers"][server.name]["place"] = server.place
        del document["servers"][name]

    return _edited(topology, change)


def connector_added(topology: Topology, name: str, fields: Mapping[str, Any]) -> Topology:
    """Return the topology with a new connector. Raises ChangeError."""
    if _connector(topology, name) is not None:
        raise ChangeError(f"there is a connector {quoted(name)} already; change it, or choose another name")
    properties = {key: value for key, value in fields.items() if value is not None}
    entry = {
        "name": name,
        **{key: value for key, value in properties.items() if key not in _WITHOUT or value not in ("none", [])},
    }
    return _edited(topology, lambda document: document["connectors"].append(entry))


def connector_changed(topology: Topology, name: str, fields: Mapping[str, Any]) -> Topology:
    """Return the topology with other properties of a connector. Raises ChangeError."""
    connector = _known(topology, name)
    properties = {key: value for key, value in fields.items() if value is not None}
    if "between" in properties:
        raise ChangeError(
            f"the connector {name} joins {' and '.join(connector.between)}; remove it and add another one"
        )

    def change(document: Document) -> None:
        entry = next(entry for entry in document["connectors"] if entry["name"] == name)
        if connector.affinity == connector.cost:
            entry.pop("affinity")  # it is the default, and follows the cost
        for key, value in properties.items():
            if key == "bridgeheads":
                entry[key] = {**entry[key], **value}
            elif key in _WITHOUT and value in ("none", []):
                entry.pop(key, None)
            else:
                entry[key] = value

    changed = _edited(topology, change)
    if _connector(changed, name) == connector:
        raise ChangeError(f"the connector {name} is so already")
    return changed


def connector_removed(topology: Topology, name: str) -> Topology:
    """Return the topology without a connector. Raises ChangeError."""
    _known(topology, name)

    def change(document: Document) -> None:
        document["connectors"] = [entry for entry in document["connectors"] if entry["name"] != name]

    return _edited(topology, change)


def start_of(topology: Topology, stores: Collection[str]) -> Topology:
    """Return the organization as a lab can begin with it: the servers that have a store now are there from the start, and the
    others join later. The folders are those with which the lab began, each on those of its servers that have a store; if none
    is left, on all.

    stores: the servers that have a store now.
    """
    present = tuple(name for name in topology.servers if name in stores)
    servers = {
        name: replace(server, joins=Joins.START if name in stores else Joins.LATER, place=place)
        for place, (name, server) in enumerate(topology.servers.items())
    }
    folders = {
        path: replace(
            folder,
            replicas=tuple(store for store in folder.replicas if store in stores) or present,
            replica_age_limits_us={
                store: age_us for store, age_us in folder.replica_age_limits_us.items() if store in stores
            },
        )
        for path, folder in topology.folders.items()
    }
    return replace(topology, revision=0, servers=servers, folders=folders)


def _edited(topology: Topology, edit: Callable[[Document], None]) -> Topology:
    document = topology.as_document()
    edit(document)
    document["revision"] = topology.revision + 1
    try:
        return topology_from_document(document, "the organization")
    except ProblemsError as error:
        # A wrong name is left out, and what is wrong without it stands before it.
        problem = error.problems[-1]
        key = _ENTRY.sub("", problem.path)
        what = f"{key}: {problem.what}" if key else problem.what
        raise ChangeError(f"{what}; {problem.would_be_right}" if problem.would_be_right else what) from None


def _connector(topology: Topology, name: str) -> Connector | None:
    return next((connector for connector in topology.connectors if connector.name == name), None)


def _known(topology: Topology, name: str) -> Connector:
    connector = _connector(topology, name)
    if connector is None:
        names = [connector.name for connector in topology.connectors]
        raise ChangeError(f"there is no connector {quoted(name)}; {did_you_mean(name, names)}")
    return connector
