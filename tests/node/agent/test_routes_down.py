"""Mail finds another way while a link is down (spec: RT-2)."""

from __future__ import annotations

import pytest

from pflab.faults.fault import Blackhole, Cut, Separation
from pflab.simulation.simulator import Simulator
from topology.file.load import topology_from_text
from traces.labtime import HOUR_US

TRIANGLE = """
organization: Test
sites: [SEA, NYC, LON]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10}
  - {name: SEA-LON, between: [SEA, LON], cost: 10}
  - {name: LON-NYC, between: [LON, NYC], cost: 30}
servers: {A: {site: SEA}, B: {site: NYC}, C: {site: LON}}
folders:
  Projects: {replicas: [A, B]}
"""


@pytest.mark.parametrize("kind", [Cut, Blackhole])
async def test_mail_goes_another_way_while_a_link_is_down(kind: type[Separation]) -> None:
    """A link that goes down or up changes routes (spec: RT-2)."""
    topology = topology_from_text(TRIANGLE)
    lab = Simulator(topology)
    await lab.up()
    lab.faults.inject(kind(connector="SEA-NYC"))
    await lab.do("A", lambda node, now: node.post(now, "Projects", subject="x"))
    await lab.advance(topology.start_at + 3 * HOUR_US)
    assert lab.read("B", lambda node: len(node.messages("Projects"))) == 1
    await lab.close()
