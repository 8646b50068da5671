"""The organization as data: topology file, validated model, settings, schedules and routes.

Imported by: `transport`, `node` and `pflab`.
Public: the names below for the whole; `model`, `schedule`, `routing`, `settings`, `enums`, `problems` for their parts.
"""

from topology.file.load import load_topology, topology_from_text
from topology.model import Topology
from topology.problems import ProblemsError, TopologyError

__all__ = ["ProblemsError", "Topology", "TopologyError", "load_topology", "topology_from_text"]
