"""The organization as data: topology file, validated model, settings, schedules and routes.

Imported by: `transport`, `node` and `pflab`. The names in `__all__` are public.
"""

from topology.enums import ALL_VERSIONS, ConnectorKind, FolderPriority, Joins, ResolveMethod, ServerVersion
from topology.file.load import load_topology, topology_from_text
from topology.file.schema import schema_text, topology_schema
from topology.file.yaml_source import YamlSource, read_yaml
from topology.model import Connector, Folder, Server, Topology
from topology.problems import Position, Problem, ProblemsError, TopologyBaseError, TopologyError, ValueTextError
from topology.routing import NextHop, RouteError, Routing
from topology.schedule import ALWAYS, NEVER, ReplicationStyle, Schedule, parse_schedule
from topology.settings.catalogue import SPECS, find_spec
from topology.settings.spec import Kind, Place, SettingSpec
from topology.settings.values import NotDefault, RawSetting, Settings

__all__ = [
    "ALL_VERSIONS",
    "ALWAYS",
    "NEVER",
    "SPECS",
    "Connector",
    "ConnectorKind",
    "Folder",
    "FolderPriority",
    "Joins",
    "Kind",
    "NextHop",
    "NotDefault",
    "Place",
    "Position",
    "Problem",
    "ProblemsError",
    "RawSetting",
    "ReplicationStyle",
    "ResolveMethod",
    "RouteError",
    "Routing",
    "Schedule",
    "Server",
    "ServerVersion",
    "SettingSpec",
    "Settings",
    "Topology",
    "TopologyBaseError",
    "TopologyError",
    "ValueTextError",
    "YamlSource",
    "find_spec",
    "load_topology",
    "parse_schedule",
    "read_yaml",
    "schema_text",
    "topology_from_text",
    "topology_schema",
]
