"""What a file may say and this pflab cannot run yet, told with its line before anything starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from node.profile import PROFILES
from topology.problems import PathItem, Problem, quoted

if TYPE_CHECKING:
    from topology import Topology
    from topology.yaml_source import YamlSource


def not_built(organization: Topology, source: YamlSource, under: Sequence[PathItem] = ()) -> list[Problem]:
    """One problem for each server of a version whose behaviour is not built. `under`: where in `source` the topology
    stands."""
    right = f"this pflab runs {', '.join(map(quoted, PROFILES))}"
    return [
        source.problem((*under, "servers", name, "version"), f"{quoted(server.version)} cannot be run yet", right)
        for name, server in organization.servers.items()
        if str(server.version) not in PROFILES
    ]
