"""The validated organization: every default is filled in, and every name refers to something that exists."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from topology.arguments import FolderFields
from topology.enums import ConnectorKind, FolderPriority, Joins, ResolveMethod, ServerVersion
from topology.quantities import format_bandwidth, format_size
from topology.recipient_policy import RecipientPolicies, RecipientPolicy, format_recipient_update
from topology.schedule import Schedule
from topology.settings.values import RawSetting, Settings
from traces.labtime import LabTime, format_duration, format_instant

STORE_ADDRESS_SUFFIX: Final = "-IS"


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector between two sites (spec: RT-1), usable both ways.

    latency_us   in lab time
    bandwidth    in bit/s; None for no limit
    size_limit   in bytes; None for no limit
    senders      the addresses whose mail crosses, in lower case; None for all (spec: OUT-7)
    affinity     the cost of referrals over it; None if it allows none (spec: RT-4)
    relay        host:port of the foreign mail server that takes the mail in a live lab, only for `smtp-relay`; None: the
                 bridgeheads connect to each other, and only the sender counts the hop as foreign (spec: ML-6)
    bridgeheads  the server at each end, in the order of `between`
    """

    name: str
    kind: ConnectorKind
    between: tuple[str, str]
    cost: int
    latency_us: int
    bandwidth: int | None
    schedule: Schedule
    affinity: int | None
    size_limit: int | None
    senders: frozenset[str] | None
    relay: str | None
    bridgeheads: tuple[str, str]

    @property
    def times(self) -> tuple[int, int | None, Schedule]:
        """What decides when a mail has crossed: latency, bandwidth, schedule."""
        return self.latency_us, self.bandwidth, self.schedule

    def other_site(self, site: str) -> str:
        """Return the site at the other end. Raises ValueError if `site` is at neither end."""
        return self.between[1 - self.between.index(site)]

    def bridgehead(self, site: str) -> str:
        """Return the bridgehead server in `site`. Raises ValueError if `site` is at neither end."""
        return self.bridgeheads[self.between.index(site)]

    def transfer_us(self, size: int) -> int:
        """Return how long `size` bytes occupy the connector, rounded up; 0 without a bandwidth limit. Latency is not
        included."""
        if self.bandwidth is None:
            return 0
        return -(-size * 8 * 1_000_000 // self.bandwidth)


@dataclass(frozen=True, slots=True)
class Server:
    """A server with its public folder store.

    settings: merged with those of the organization.
    own_settings: as written in the file.
    smtp_port: where a live lab takes mail on 127.0.0.1; None: a free port.
    place: the place of its ports among those of all servers, from 0. It stays if an earlier server is removed.
    """

    name: str
    site: str
    version: ServerVersion
    joins: Joins
    settings: Settings
    place: int
    own_settings: Mapping[str, RawSetting] = field(default_factory=dict)
    smtp_port: int | None = None

    @property
    def joins_later(self) -> bool:
        return self.joins is Joins.LATER


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that exists from the start.

    schedule: None if each store uses its own schedule (spec: OUT-1).
    alias: the local part of the mail address; None if it is made from the name, '' if the folder accepts no mail (spec: ML-5).
    """

    path: str
    replicas: tuple[str, ...]
    schedule: Schedule | None
    contacts: tuple[str, ...]
    priority: FolderPriority
    resolve: ResolveMethod
    alias: str | None = None
    age_limit_us: int | None = None
    """The age at which its messages expire, on stores without their own limit (spec: DL-3)."""
    replica_age_limits_us: Mapping[str, int] = field(default_factory=dict)
    warning_limit_bytes: int | None = None
    """The size from which its contacts get a warning each day (spec: AD-2)."""
    post_limit_bytes: int | None = None
    """The size from which it accepts no posts."""
    item_limit_bytes: int | None = None
    """The largest size of a new message."""
    description: str = ""

    def fields(self) -> FolderFields:
        """Return the properties as people give them, without the replicas."""
        fields: FolderFields = {
            "contacts": list(self.contacts),
            "priority": self.priority.value,
            "resolve": self.resolve.value,
        }
        if self.description:
            fields["description"] = self.description
        if self.alias is not None:
            fields["alias"] = self.alias or "none"
        if self.age_limit_us is not None:
            fields["age_limit"] = format_duration(self.age_limit_us)
        if self.warning_limit_bytes is not None:
            fields["warning_limit"] = format_size(self.warning_limit_bytes)
        if self.post_limit_bytes is not None:
            fields["post_limit"] = format_size(self.post_limit_bytes)
        if self.item_limit_bytes is not None:
            fields["item_limit"] = format_size(self.item_limit_bytes)
        if self.schedule is not None:
            fields["schedule"] = str(self.schedule)
        return fields

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def parent(self) -> str | None:
        """The path of the parent folder; None at the top of the tree."""
        return self.path.rpartition("/")[0] or None


@dataclass(frozen=True, slots=True)
class Topology:
    """An organization. Its mappings keep the order of the file, because defaults depend on the order; do not change the
    mappings.

    In `folders` every parent comes before its children.

    revision: how often the organization was changed since the lab began with it (`topology.changes`).
    """

    organization: str
    domain: str
    start_at: LabTime
    sites: tuple[str, ...]
    connectors: tuple[Connector, ...]
    servers: Mapping[str, Server]
    folders: Mapping[str, Folder]
    settings: Mapping[str, RawSetting]
    recipient_update_us: int | None = 0
    """How often the recipient update service runs; 0: always, None: never (spec: ML-1)."""
    recipient_policies: tuple[RecipientPolicy, ...] = ()
    """The recipient policies besides the Default Policy, in the order of their priority (spec: ML-1)."""
    revision: int = 0

    @property
    def policies(self) -> RecipientPolicies:
        """All recipient policies, as the lab begins."""
        return RecipientPolicies(self.domain, self.recipient_policies)

    def domain_of(self, server: str) -> str:
        """Return the domain of a store's address as the lab begins."""
        return self.policies.domain_of(server, self.servers[server].site, self.servers[server].version)

    def address_of(self, server: str) -> str:
        """Return the mail address of a store as the lab begins, `<server>-IS@<domain>` (spec: ML-1)."""
        return f"{server}{STORE_ADDRESS_SUFFIX}@{self.domain_of(server)}"

    def servers_in(self, site: str) -> tuple[str, ...]:
        """Return the servers of a site in the order of the file."""
        return tuple(name for name, server in self.servers.items() if server.site == site)

    def servers_from_start(self) -> tuple[str, ...]:
        """Return the servers that exist from the start, in the order of the file."""
        return tuple(name for name, server in self.servers.items() if not server.joins_later)

    def notices(self) -> list[str]:
        """Return a line for each setting that was clamped or has no effect (spec: SE-1), and for each group of sites to which
        no connector leads (spec: RT-6)."""
        settings = [f"{name}: {notice}" for name, server in self.servers.items() for notice in server.settings.notices]
        first, *apart = self.site_groups()
        lines = [
            f"no connector leads from {first[0]} to {', '.join(sites)}: mail waits for one that is added"
            for sites in apart
        ]
        return settings + lines

    def site_groups(self) -> list[tuple[str, ...]]:
        """Return the sites with servers in groups, in each of which connectors lead from every site to every other. An
        administrator may remove the last connector between two groups (spec: RT-6)."""
        group_of = {site: site for site in self.sites}

        def root(site: str) -> str:
            while group_of[site] != site:
                site = group_of[site]
            return site

        for connector in self.connectors:
            here, there = connector.between
            group_of[root(there)] = root(here)
        groups: dict[str, list[str]] = {}
        for site in dict.fromkeys(server.site for server in self.servers.values()):
            groups.setdefault(root(site), []).append(site)
        return [tuple(sites) for sites in groups.values()]

    def as_document(self) -> dict[str, Any]:
        """Return the topology in the form of the file, with every default; `topology_from_text` reads it back."""
        return {
            **({"revision": self.revision} if self.revision else {}),
            "organization": self.organization,
            "domain": self.domain,
            "start": format_instant(self.start_at),
            "recipient_update": format_recipient_update(self.recipient_update_us),
            **(
                {"recipient_policies": [policy.as_document() for policy in self.recipient_policies]}
                if self.recipient_policies
                else {}
            ),
            "sites": list(self.sites),
            "connectors": [_connector_document(connector) for connector in self.connectors],
            "servers": {
                name: _server_document(server, index) for index, (name, server) in enumerate(self.servers.items())
            },
            "folders": {path: _folder_document(folder) for path, folder in self.folders.items()},
            "settings": dict(self.settings),
        }

    def as_yaml(self) -> str:
        """Return `as_document` as YAML, for people."""
        return yaml.dump(self.as_document(), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)

    def as_json(self) -> str:
        """Return `as_document` as one line of JSON, which is also YAML: the canonical text, used in `run.started`."""
        return json.dumps(self.as_document(), ensure_ascii=False, separators=(",", ":"))


def _connector_document(connector: Connector) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": connector.name,
        "kind": str(connector.kind),
        "between": list(connector.between),
        "cost": connector.cost,
        "latency": format_duration(connector.latency_us),
        "schedule": _schedule_document(connector.schedule),
        "affinity": "none" if connector.affinity is None else connector.affinity,
        "bridgeheads": dict(zip(connector.between, connector.bridgeheads, strict=True)),
    }
    if connector.bandwidth is not None:
        document["bandwidth"] = format_bandwidth(connector.bandwidth)
    if connector.size_limit is not None:
        document["size_limit"] = format_size(connector.size_limit)
    if connector.senders is not None:
        document["senders"] = sorted(connector.senders)
    if connector.relay is not None:
        document["relay"] = connector.relay
    return document


def _server_document(server: Server, index: int) -> dict[str, Any]:
    document: dict[str, Any] = {
        "site": server.site,
        "version": str(server.version),
        "joins": str(server.joins),
        "settings": dict(server.own_settings),
    }
    if server.smtp_port is not None:
        document["smtp_port"] = server.smtp_port
    if server.place != index:
        document["place"] = server.place
    return document


def _folder_document(folder: Folder) -> dict[str, Any]:
    document: dict[str, Any] = {"replicas": list(folder.replicas), **folder.fields()}
    if folder.replica_age_limits_us:
        limits = folder.replica_age_limits_us.items()
        document["replica_age_limits"] = {store: format_duration(age_us) for store, age_us in limits}
    if folder.schedule is not None:
        document["schedule"] = _schedule_document(folder.schedule)
    return document


def _schedule_document(schedule: Schedule) -> str | list[str]:
    texts = schedule.as_texts()
    return texts[0] if len(texts) == 1 else texts


class _Dumper(yaml.SafeDumper):
    """Quote every text that YAML 1.1 or 1.2 would read as something other than a text."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text_node(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # To some YAML reader a first digit, sign or dot may begin a number or an instant.
    style = '"' if text[:1] in "0123456789+-.~" else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text_node)
