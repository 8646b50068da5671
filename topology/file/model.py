"""What may stand in a topology file: the model that files are validated against.

What the model cannot see, such as a site that nobody defined, is in `checks`; `model` has what a file means
once all defaults are filled in. The JSON Schema for editors comes out of this model, hence the descriptions.
"""

from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

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
    Instant,
    JoinsWord,
    KindWord,
    Latency,
    OrganizationName,
    PriorityWord,
    RawSettings,
    ResolveWord,
    ScheduleField,
    ServerName,
    SiteName,
    Size,
    Version,
    none_as_empty,
)
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
# A Tuesday, three weeks after Exchange 2003 appeared; fixed, so that runs are repeatable (spec: TM-1).
DEFAULT_START_AT: Final[LabTime] = parse_instant("2003-10-21T00:00Z")


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys_without_value(cls, data: Any) -> Any:
        """A key with nothing after it is as good as left out."""
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if value is not None or key not in cls.model_fields}


class ConnectorEntry(_Entry):
    """A connector joins two sites, both ways; one copy of a mail crosses it for all recipients behind it."""

    name: ConnectorName | None = Field(None, description="default: its two sites, as SEA-NYC")
    kind: KindWord = Field(ConnectorKind.ROUTING_GROUP, description="default routing-group")
    between: list[SiteName] = Field(description="its two sites", min_length=2, max_length=2)
    cost: int = Field(1, ge=1, le=MAX_COST, description="mail takes the path of least cost; default 1")
    latency: Latency = Field(0, description="lab time on the way; default 0 ms")
    bandwidth: Bandwidth | None = Field(None, description="lab time by size; default: no limit")
    schedule: ScheduleField = Field(ALWAYS, description="when mail may cross; default always")
    affinity: Affinity | None = Field(
        None, description="cost of public folder referrals over it, or none; default: its cost"
    )
    size_limit: Size | None = Field(None, description="largest mail; default: no limit")
    bridgeheads: dict[SiteName, ServerName] = Field(
        {}, description="site to server; default: the first server of the site in this file"
    )


class ServerEntry(_Entry):
    """A server with its public folder store."""

    site: SiteName | None = Field(None, description="needed when there are several sites")
    version: Version = Field(ServerVersion.V2003, description='"5.5", "2000", "2003" or "2007"; default "2003"')
    settings: RawSettings = Field({}, description="by real name; over the organization's")
    joins: JoinsWord = Field(Joins.START, description="later: a new store, started by a step or a person")


class FolderEntry(_Entry):
    """A public folder that is there from the start."""

    replicas: list[ServerName] | None = Field(
        None,
        min_length=1,
        description="its holders, the first being its home; default: all servers from start",
    )
    schedule: ScheduleField | None = Field(None, description="default: the store's schedule")
    contacts: list[Address] = Field([], max_length=MAX_CONTACTS, description="told of conflicts")
    alias: Alias | None = Field(
        None, description="of its mail address, before the @; none: it has no address; default: made of its name"
    )
    priority: PriorityWord = Field(FolderPriority.NORMAL, description="of its mails; default normal")
    age_limit: Age | None = Field(None, description="age at which its messages expire; default: never")
    replica_age_limits: dict[ServerName, Age] = Field(
        {}, description="age limits of single replicas, by server; they go before those of store and folder"
    )
    resolve: ResolveWord = Field(ResolveMethod.DEFAULT, description="how conflicts are shown; default default")


class TopologyFile(_Entry):
    """An organization of public folder stores: sites, connectors, servers, folders, settings."""

    organization: OrganizationName = Field(DEFAULT_ORGANIZATION, description="its name")
    domain: Domain = Field(DEFAULT_DOMAIN, description="of its mail addresses")
    start: Instant = Field(DEFAULT_START_AT, description="when the lab's time begins, in UTC")
    sites: list[SiteName] | None = Field(
        None, min_length=1, max_length=MAX_SITES, description="default: those that servers name, or a single one"
    )
    connectors: list[ConnectorEntry] = Field([], max_length=MAX_CONNECTORS)
    servers: dict[ServerName, Annotated[ServerEntry, BeforeValidator(none_as_empty)]] = Field(
        min_length=1, max_length=MAX_SERVERS
    )
    folders: dict[FolderPath, Annotated[FolderEntry, BeforeValidator(none_as_empty)]] = Field(
        {}, max_length=MAX_FOLDERS, description="by path, as Projects/Archive; a parent has its own entry"
    )
    settings: RawSettings = Field({}, description="for all servers, by real name")
