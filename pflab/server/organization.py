"""The organization of a lab over HTTP: its sites, servers, connectors and recipient policies are added, changed and removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta
from msgspec.structs import asdict

from node.api.asgi import Response
from node.api.routing.reading import Body
from node.api.values import json_response
from pflab.lab.served_lab import ServedLab
from pflab.server.present_lab import lab_routes
from topology.arguments import ConnectorWord, Line, Names, VersionWord

SITES: Final = lab_routes("/lab/sites", tag="lab")
"""The sites of the organization."""

NEW_SERVERS: Final = lab_routes("/lab/servers", tag="lab")
"""Servers that are added to the organization, or removed from it."""

CONNECTORS: Final = lab_routes("/lab/connectors", tag="lab")
"""The connectors of the organization."""


POLICY: Final = lab_routes("/lab/recipient-policy", tag="lab")
"""The Default Policy, and the recipient update service."""

POLICIES: Final = lab_routes("/lab/recipient-policies", tag="lab")
"""The recipient policies of the organization."""


class NewSite(Body, frozen=True, kw_only=True):
    """A site without servers."""

    name: Annotated[Line, Meta(examples=["LON"])]


class NewServer(Body, frozen=True, kw_only=True):
    """A server of the organization, in the words of a topology file. Its store joins when the server is started.

    `site`: not needed if the organization has one site only. `version`: by default 2003. `settings`: by their real names.
    `smtp_port`: by default a free port.
    """

    name: Annotated[Line, Meta(examples=["F"])]
    site: Annotated[Line | None, Meta(examples=["LON"])] = None
    version: Annotated[Line | None, Meta(examples=["2007"])] = None
    settings: dict[Line, str | int | float | bool] | None = None
    smtp_port: int | None = None


@SITES.get("")
async def sites(lab: ServedLab) -> Response:
    """Return the names of the sites as they are now."""
    return json_response(list(lab.organization.sites))


@SITES.post("")
async def add_site(lab: ServedLab, body: NewSite) -> Response:
    """Add a site without servers; return all sites."""  # spec: RT-6
    await lab.add_site(body.name)
    return json_response(list(lab.organization.sites))


@SITES.delete("/{name}")
async def remove_site(lab: ServedLab, name: str) -> Response:
    """Remove a site without servers; return the others."""  # spec: RT-6
    await lab.remove_site(name)
    return json_response(list(lab.organization.sites))


@NEW_SERVERS.post("")
async def add_server(lab: ServedLab, body: NewServer) -> Response:
    """Add a server to the organization; return its entry with every default filled in. Its store joins when the server is
    started."""  # spec: RT-6
    fields = {key: value for key, value in asdict(body).items() if key != "name"}
    await lab.add_server(body.name, **fields)
    return json_response(lab.organization.as_document()["servers"][body.name])


@NEW_SERVERS.delete("/{name}")
async def remove_server(lab: ServedLab, name: str) -> Response:
    """Remove a server without a store, which has never started or whose store was deleted; return the names of the
    others."""  # spec: RP-9
    await lab.remove_server(name)
    return json_response(list(lab.organization.servers))


class ConnectorChange(Body, frozen=True, kw_only=True):
    """Properties of a connector, in the words of a topology file. What is not given keeps its default or present value."""

    kind: ConnectorWord | None = None
    cost: Annotated[int | None, Meta(examples=[5])] = None
    latency: Annotated[Line | None, Meta(examples=["2 s"])] = None
    bandwidth: Annotated[Line | None, Meta(examples=["64 kbit/s"])] = None
    schedule: Annotated[Line | None, Meta(examples=["Mon-Fri 20:00-06:00"])] = None
    affinity: int | Line | None = None
    size_limit: Annotated[Line | None, Meta(examples=["1 MB"])] = None
    senders: Names | None = None
    bridgeheads: dict[Line, Line] | None = None

    def fields(self) -> dict[str, Any]:
        """Return what is given."""
        return {name: value for name, value in asdict(self).items() if value is not None}


class NewConnector(ConnectorChange, frozen=True, kw_only=True):
    """A connector between two sites."""

    name: Annotated[Line, Meta(examples=["SEA-LON"])]
    between: Annotated[Names, Meta(examples=[["SEA", "LON"]])]


def _connectors(lab: ServedLab) -> Response:
    return json_response(lab.organization.as_document()["connectors"])


@CONNECTORS.get("")
async def connectors(lab: ServedLab) -> Response:
    """Return the connectors as they are now, with every default filled in."""
    return _connectors(lab)


@CONNECTORS.post("")
async def add(lab: ServedLab, body: NewConnector) -> Response:
    """Add a connector between two sites; return all connectors."""  # spec: RT-6
    await lab.add_connector(**body.fields())
    return _connectors(lab)


@CONNECTORS.patch("/{name}")
async def change(lab: ServedLab, name: str, body: ConnectorChange) -> Response:
    """Change properties of a connector; return all connectors. Mail that waits takes the new routes."""  # spec: RT-6
    await lab.change_connector(name, **body.fields())
    return _connectors(lab)


@CONNECTORS.delete("/{name}")
async def remove(lab: ServedLab, name: str) -> Response:
    """Remove a connector; return the others. Mail that waits for it takes another way, or waits for one."""  # spec: RT-6
    await lab.remove_connector(name)
    return _connectors(lab)


_POLICY = {"domain": "contoso.test", "recipient_update": "always"}


class Policy(Body, frozen=True, kw_only=True):
    """recipient_update: how often the recipient update service runs (always, never, or for example 1 h).
    domain: the domain of the addresses that the Default Policy gives.
    at_once: give all entries that wait their addresses now.
    """

    recipient_update: Annotated[Line | None, Meta(examples=["always"])] = None
    domain: Annotated[Line | None, Meta(examples=["fabrikam.test"])] = None
    at_once: bool = False


@POLICY.get("", answers={200: {"content": {"application/json": {"example": _POLICY}}}})
async def recipient_policy(lab: ServedLab) -> Response:
    """Return the domain of the Default Policy, and how often the recipient update service runs."""  # spec: ML-1
    return json_response(lab.recipient_policy)


@POLICY.post("")
async def change_recipient_policy(lab: ServedLab, body: Policy) -> Response:
    """Change the domain of the Default Policy, or the recipient update service."""  # spec: ML-1
    policy = {"recipient_update": body.recipient_update, "domain": body.domain}
    await lab.set_recipient_policy(**policy, at_once=body.at_once)
    return json_response(policy)


_POLICIES = [
    {"name": "London", "domain": "fabrikam.test", "filter": {"sites": ["LON"]}, "priority": 1},
    {"name": "Default Policy", "domain": "contoso.test", "filter": None, "priority": "lowest"},
]


class Filter(Body, frozen=True, kw_only=True):
    """The stores to which a policy applies: those of these sites, of these servers, and of these versions. What is not given
    means all; at least one is given."""

    sites: Names = ()
    servers: Names = ()
    versions: Annotated[Sequence[VersionWord], Meta(max_length=4)] = ()


class PolicyChange(Body, frozen=True, kw_only=True):
    """Properties of a recipient policy, in the words of a topology file. What is not given keeps its present value.

    `priority`: 1 is the highest.
    """

    domain: Annotated[Line | None, Meta(examples=["fabrikam.test"])] = None
    filter: Annotated[Filter | None, Meta(examples=[{"sites": ["LON"]}])] = None
    priority: Annotated[int | None, Meta(examples=[1])] = None

    def fields(self) -> dict[str, Any]:
        """Return what is given."""
        fields = {name: value for name, value in asdict(self).items() if value is not None}
        return fields if self.filter is None else {**fields, "filter": asdict(self.filter)}


class NewPolicy(PolicyChange, frozen=True, kw_only=True):
    """A recipient policy. By default it comes before the Default Policy only."""

    name: Annotated[Line, Meta(examples=["London"])]


def _policies(lab: ServedLab) -> Response:
    return json_response(lab.recipient_policies.as_documents())


@POLICIES.get("", answers={200: {"content": {"application/json": {"example": _POLICIES}}}})
async def policies(lab: ServedLab) -> Response:
    """Return the recipient policies in the order of their priority. The first one that applies to a store gives it its
    address."""  # spec: ML-1
    return _policies(lab)


@POLICIES.post("")
async def add_policy(lab: ServedLab, body: NewPolicy) -> Response:
    """Add a recipient policy; return all."""  # spec: ML-1
    await lab.add_policy(**body.fields())
    return _policies(lab)


@POLICIES.patch("/{name}")
async def change_policy(lab: ServedLab, name: str, body: PolicyChange) -> Response:
    """Change the domain, the filter or the priority of a recipient policy; return all. The Default Policy can only get another
    domain."""  # spec: ML-1
    await lab.change_policy(name, **body.fields())
    return _policies(lab)


@POLICIES.delete("/{name}")
async def remove_policy(lab: ServedLab, name: str) -> Response:
    """Remove a recipient policy; return the others."""  # spec: ML-1
    await lab.remove_policy(name)
    return _policies(lab)
