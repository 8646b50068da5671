"""An organization as the rest of the program sees it: every default filled in, every name known to exist."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from topology.enums import ConnectorKind, FolderPriority, Joins, ResolveMethod, ServerVersion
from topology.quantities import format_bandwidth, format_size
from topology.schedule import Schedule
from topology.settings.values import RawSetting, Settings
from traces.labtime import LabTime, format_duration, format_instant

STORE_ADDRESS_SUFFIX: Final = "-IS"


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector between two sites (spec: RT-1), usable both ways.

    latency_us in lab time; bandwidth in bit/s and size_limit in bytes, None: no limit; affinity: the cost of
    referrals over it, None: it allows none (spec: RT-4); bridgeheads: the server at either end, in the order
    of `between`.
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
    bridgeheads: tuple[str, str]

    def other_site(self, site: str) -> str:
        """The site at the other end. ValueError if `site` is at neither."""
        return self.between[1 - self.between.index(site)]

    def bridgehead(self, site: str) -> str:
        """The server that serves the connector in `site`. ValueError if `site` is at neither end."""
        return self.bridgeheads[self.between.index(site)]

    def transfer_us(self, size: int) -> int:
        """How long `size` bytes occupy the connector, rounded up; 0 without a limit. Latency comes on top."""
        if self.bandwidth is None:
            return 0
        return -(-size * 8 * 1_000_000 // self.bandwidth)


@dataclass(frozen=True, slots=True)
class Server:
    """A server with its public folder store. settings: with the organization's; own_settings: as in the file."""

    name: str
    site: str
    version: ServerVersion
    joins: Joins
    settings: Settings
    own_settings: Mapping[str, RawSetting] = field(default_factory=dict)

    @property
    def joins_later(self) -> bool:
        return self.joins is Joins.LATER


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is there from the start.

    schedule: None for each store's own (spec: OUT-1); alias: of its mail address, None for the one that its name makes,
    '' for a folder that takes no mail (spec: ML-5).
    """

    path: str
    replicas: tuple[str, ...]
    schedule: Schedule | None
    contacts: tuple[str, ...]
    priority: FolderPriority
    resolve: ResolveMethod
    alias: str | None = None
    age_limit_us: int | None = None
    """Age at which its messages expire, on stores that say nothing else (spec: DL-3)."""
    replica_age_limits_us: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def parent(self) -> str | None:
        """The path of the folder above; None at the top of the tree."""
        return self.path.rpartition("/")[0] or None


@dataclass(frozen=True, slots=True)
class Topology:
    """An organization. Mappings are in the order of the file, which the defaults depend on; treat them as frozen.

    folders come with every parent before its children.
    """

    organization: str
    domain: str
    start_at: LabTime
    sites: tuple[str, ...]
    connectors: tuple[Connector, ...]
    servers: Mapping[str, Server]
    folders: Mapping[str, Folder]
    settings: Mapping[str, RawSetting]

    def address_of(self, server: str) -> str:
        """The mail address of a store, `<server>-IS@<domain>` (spec: ML-1)."""
        return f"{server}{STORE_ADDRESS_SUFFIX}@{self.domain}"

    def servers_in(self, site: str) -> tuple[str, ...]:
        """In the order of the file."""
        return tuple(name for name, server in self.servers.items() if server.site == site)

    def servers_from_start(self) -> tuple[str, ...]:
        """Those that do not join later, in the order of the file."""
        return tuple(name for name, server in self.servers.items() if not server.joins_later)

    def notices(self) -> list[str]:
        """What became of settings that could not be taken as given (spec: SE-1), one line each."""
        return [f"{name}: {notice}" for name, server in self.servers.items() for notice in server.settings.notices]

    def as_document(self) -> dict[str, Any]:
        """The file's form with every default written out; `topology_from_text` makes the same topology of it."""
        return {
            "organization": self.organization,
            "domain": self.domain,
            "start": format_instant(self.start_at),
            "sites": list(self.sites),
            "connectors": [_connector_document(connector) for connector in self.connectors],
            "servers": {name: _server_document(server) for name, server in self.servers.items()},
            "folders": {path: _folder_document(folder) for path, folder in self.folders.items()},
            "settings": dict(self.settings),
        }

    def as_yaml(self) -> str:
        """`as_document` as YAML, for people."""
        return yaml.dump(self.as_document(), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)

    def as_json(self) -> str:
        """`as_document` as JSON on one line, which is YAML, too: the canonical text, for `run.started`."""
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
    return document


def _server_document(server: Server) -> dict[str, Any]:
    return {
        "site": server.site,
        "version": str(server.version),
        "joins": str(server.joins),
        "settings": dict(server.own_settings),
    }


def _folder_document(folder: Folder) -> dict[str, Any]:
    document: dict[str, Any] = {
        "replicas": list(folder.replicas),
        "contacts": list(folder.contacts),
        "priority": str(folder.priority),
        "resolve": str(folder.resolve),
    }
    if folder.alias is not None:
        document["alias"] = folder.alias or "none"
    if folder.age_limit_us is not None:
        document["age_limit"] = format_duration(folder.age_limit_us)
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
    """Writes in quotes whatever YAML 1.1 or 1.2 would not read as the text that it is."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text_node(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # A first digit, sign or dot may begin a number, an instant or a duration to one reader or another.
    style = '"' if text[:1] in "0123456789+-.~" else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text_node)
