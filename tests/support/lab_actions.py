"""What tests of labs do and look at, whichever driver runs the lab."""

from __future__ import annotations

from typing import Any

from pflab.lab.lab import Lab
from traces.events import (
    Event,
)
from traces.labtime import MINUTE_US, parse_instant

START_AT = parse_instant("2003-10-21T00:00Z")
ALWAYS_US = 15 * MINUTE_US

TWO_SITES = """
sites: [SEA, NYC]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10, latency: 80 ms}
servers:
  A: {site: SEA}
  B: {site: SEA}
  C: {site: NYC}
  D: {site: NYC}
folders:
  Projects: {replicas: [A, B, C, D]}
"""

WITH_A_LATE_STORE = """
servers: {A: , B: , C: {joins: later}}
folders:
  Projects: {replicas: [A, B]}
"""


async def post(lab: Lab, server: str, subject: str = "Hello") -> str:
    return await lab.do(server, lambda node, now: node.post(now, "Projects", subject=subject))


def subjects(lab: Lab, server: str, folder: str = "Projects") -> list[str]:
    return sorted(message.subject for message in lab.read(server, lambda node: node.messages(folder)))


def told(lab: Lab, kind: type[Event], node: str | None = None) -> list[Any]:
    """The events of one kind so far, of one node or of all."""
    return [event for event in lab.events() if isinstance(event, kind) and node in {None, event.node}]
