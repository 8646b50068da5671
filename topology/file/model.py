"""The model of a topology file, with every key that a file may have.

The model checks each value alone. `topology.file.checks` finds mistakes between values, such as a site that is not
defined. `topology.model` has the validated topology, with all defaults. The JSON Schema for editors is generated from
this model and its descriptions.
"""

from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from topology.arguments import MOST_LETTERS
from topology.enums import ConnectorKind, FolderPriority, Joins, ResolveMethod, ServerVersion
from topology.file.fields import (
    MAX_COST,
    Address,
    Affinity,
    Age,
    Alias,
    Bandwidth,
    ConnectorName,
    Domain,
    FolderPath,
    Host,
    Instant,
    JoinsWord,
    KindWord,
    Latency,
    OrganizationName,
    PolicyName,
    PriorityWord,
    RawSettings,
    ResolveWord,
    ScheduleField,
    ServerName,
    SiteName,
    Size,
    StorageLimit,
    UpdateInterval,
    Version,
    none_as_empty,
)
from topology.recipient_policy import MAX_POLICIES
from topology.schedule import ALWAYS
from traces.labtime import LabTime, parse_instant

MAX_SERVERS: Final = 500
MAX_SITES: Final = 200
MAX_CONNECTORS: Final = 1000
MAX_FOLDERS: Final = 5000
MAX_CONTACTS: Final = 50

DEFAULT_ORGANIZATION: Final = "Contoso"
DEFAULT_DOMAIN: Final = "contoso.test"
# The name that Active Directory gives to the first site.
DEFAULT_SITE: Final = "Default-First-Site-Name"
# A Tuesday, three weeks after the release of Exchange 2003. It is fixed, so that runs can be repeated (spec: TM-1).
DEFAULT_START_AT: Final[LabTime] = parse_instant("2003-10-21T00:00Z")


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys_without_value(cls, data: Any) -> Any:
        """Treat a key without a value like a missing key."""
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if value is not None or key not in cls.model_fields}


class ConnectorEntry(_Entry):
    """A connector joins two sites, both ways; one copy of a mail crosses it for all recipients behind it."""

    name: ConnectorName | None = Field(
        None, description="name of the connector; default: its two sites, such as SEA-NYC"
    )
    kind: KindWord = Field(ConnectorKind.ROUTING_GROUP, description="kind of the connector; default routing-group")
    between: list[SiteName] = Field(description="the two sites that it connects", min_length=2, max_length=2)
    cost: int = Field(1, ge=1, le=MAX_COST, description="mail takes the path of least cost; default 1")
    latency: Latency = Field(0, description="lab time that a mail takes to cross; default 0 ms")
    bandwidth: Bandwidth | None = Field(
        None, description="limits how fast a mail crosses, by its size; default: no limit"
    )
    schedule: ScheduleField = Field(ALWAYS, description="times at which mail crosses; default always")
    affinity: Affinity | None = Field(
        None, description="cost of public folder referrals over this connector, or none; default: its cost"
    )
    size_limit: Size | None = Field(
        None, description="size of the largest mail of a user that crosses; default: no limit"
    )
    senders: list[Address] | None = Field(
        None, max_length=MAX_CONTACTS, description="addresses whose mail crosses, for mail of users; default: all"
    )
    relay: Host | None = Field(
        None,
        description="the foreign mail server (host:port) of an smtp-relay in a live lab; default: the bridgeheads connect",
    )
    bridgeheads: dict[SiteName, ServerName] = Field(
        {}, description="the server at each end, by site; default: the first server of the site in this file"
    )


MOST_PLACES = 10_000
"""The highest place of a server. A lab counts its servers, also those that were removed."""


class FilterEntry(_Entry):
    """The stores to which a recipient policy applies. A part that is left out means all."""

    sites: list[SiteName] = Field([], description="stores in these sites")
    servers: list[ServerName] = Field([], description="stores of these servers")
    versions: list[Version] = Field([], description="stores of these versions of Exchange")


class PolicyEntry(_Entry):
    """A recipient policy: the first one that applies to a store gives it its address."""

    name: PolicyName = Field(description="name of the policy")
    domain: Domain = Field(description="domain of the addresses that it gives")
    filter: FilterEntry = Field(description="the stores to which it applies: sites, servers or versions")


class ServerEntry(_Entry):
    """A server with its public folder store."""

    site: SiteName | None = Field(None, description="site of the server; required if the topology has several sites")
    version: Version = Field(
        ServerVersion.V2003, description='version of Exchange: "5.5", "2000", "2003" or "2007"; default "2003"'
    )
    settings: RawSettings = Field(
        {}, description="settings of this server by their real names; they override those of the topology"
    )
    joins: JoinsWord = Field(
        Joins.START, description="start, or later for a store that a step or a person starts; default start"
    )
    smtp_port: int | None = Field(
        None,
        ge=1,
        le=65535,
        description="port on 127.0.0.1 at which mail programs reach the server; default: a free port",
    )
    place: int | None = Field(
        None,
        ge=0,
        le=MOST_PLACES,
        description="place of its other ports, kept by a lab in which an earlier server was removed",
    )


class FolderEntry(_Entry):
    """A public folder that is there from the start."""

    replicas: list[ServerName] | None = Field(
        None,
        min_length=1,
        description="servers that hold the folder, its home first; default: all servers that join at the start",
    )
    description: Annotated[str, Field(max_length=MOST_LETTERS)] = Field("", description="what the folder is for")
    schedule: ScheduleField | None = Field(
        None, description="when its changes are sent; default: the schedule of the store"
    )
    contacts: list[Address] = Field([], max_length=MAX_CONTACTS, description="addresses that get notices of conflicts")
    alias: Alias | None = Field(
        None,
        description="part of its mail address before the @, or none for no address; default: made from the folder's name",
    )
    priority: PriorityWord = Field(
        FolderPriority.NORMAL, description="priority of its replication mails; default normal"
    )
    age_limit: Age | None = Field(None, description="age at which its messages expire; default: never")
    replica_age_limits: dict[ServerName, Age] = Field(
        {}, description="age limits of single replicas, by server; they override the age limits of store and folder"
    )
    warning_limit: StorageLimit | None = Field(
        None, description="size from which its contacts get a warning each day; default: none"
    )
    post_limit: StorageLimit | None = Field(
        None, description="size from which it accepts no posts (from version 2000 on); default: none"
    )
    item_limit: StorageLimit | None = Field(
        None, description="largest size of a new message (from version 2000 on); default: none"
    )
    resolve: ResolveWord = Field(ResolveMethod.DEFAULT, description="how conflicts are resolved; default: default")


class TopologyFile(_Entry):
    """An organization of public folder stores: sites, connectors, servers, folders, settings."""

    revision: int = Field(0, ge=0, description="how often a lab has changed this organization; default 0")
    organization: OrganizationName = Field(DEFAULT_ORGANIZATION, description="name of the organization")
    domain: Domain = Field(DEFAULT_DOMAIN, description="mail domain of all addresses: that of the Default Policy")
    recipient_policies: list[PolicyEntry] = Field(
        [],
        max_length=MAX_POLICIES,
        description="the other recipient policies, the one with the highest priority first",
    )
    recipient_update: UpdateInterval = Field(
        0,
        description="how often the recipient update service gives new stores of 2000 and 2003 their addresses: always, never, "
        "or every so often, such as 1 h; default always",
    )
    start: Instant = Field(DEFAULT_START_AT, description="lab time at the start, in UTC")
    sites: list[SiteName] | None = Field(
        None,
        min_length=1,
        max_length=MAX_SITES,
        description="names of the sites; default: the sites that servers name, or a single site",
    )
    connectors: list[ConnectorEntry] = Field([], max_length=MAX_CONNECTORS)
    servers: dict[ServerName, Annotated[ServerEntry, BeforeValidator(none_as_empty)]] = Field(
        min_length=1, max_length=MAX_SERVERS
    )
    folders: dict[FolderPath, Annotated[FolderEntry, BeforeValidator(none_as_empty)]] = Field(
        {},
        max_length=MAX_FOLDERS,
        description="folders by path, such as Projects/Archive; each parent has an entry of its own",
    )
    settings: RawSettings = Field({}, description="settings of all servers by their real names")
